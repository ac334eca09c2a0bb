"""``scan``: look at a site now, or take the answer of the last 24 hours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import typer

from aui_tui.cli import options, progress, streams
from aui_tui.cli.gating import Gating
from aui_tui.cli.output import CardForm, emit, path_of
from aui_tui.cli.parser import App, run_for
from aui_tui.cli.run import Run, fail
from aui_tui.cli.site_options import pages_of, policy_of
from aui_tui.cli.sources import opened
from aui_tui.errors import AuiError, BadValue, ConfigError, InvalidHost, PrivateHost
from aui_tui.files import create
from aui_tui.index.folder import places
from aui_tui.model import labels
from aui_tui.model.observations import Observations
from aui_tui.model.options import ScanOptions
from aui_tui.model.report import HostReport
from aui_tui.report.export import write_cards
from aui_tui.report.formats import HostResult, Refusal
from aui_tui.report.gates import worst
from aui_tui.service.protocol import Service
from aui_tui.text import clean

app = App()


RECORDING: Final = ".recording"
"""Ending of a file that keeps what a scan saw."""
UNAUTHORIZED: Final = 401
UNKNOWN_ISSUER: Final = ("local issuer certificate", "self-signed certificate", "self signed certificate")
"""What OpenSSL says of a certificate whose issuer it does not know."""


def note_of(answer: HostReport) -> str:
    """Return in words where an answer came from; empty for a scan made now."""
    if answer.source == "cache":
        return f"answer {labels.dated(answer.age)}, from the cache (--force scans again)"
    return "shared with another caller's scan" if answer.source == "shared" else ""


async def scan_one(run: Run, service: Service, url: str, options: ScanOptions) -> HostReport:
    """Scan ``url`` with progress and report its warnings. Raises AuiError."""
    if run.settings.declared and run.settings.source:
        raise ConfigError("The setting declared cannot be used with --source; leave out --source to scan from here.")
    try:
        if options.tasks and service.is_local:
            lines, steps = progress.probe_lines(url, quiet=run.quiet), progress.task_steps(url, quiet=run.quiet)
            report = await service.scan(url, options, progress=lines, live=steps)
        else:
            with progress.probes(url, quiet=run.quiet) as probes:
                report = await service.scan(url, options, progress=probes)
    except PrivateHost as error:
        if run.settings.source:
            raise
        raise InvalidHost(f"{error} If it is yours, --allow-private scans it.") from None
    for sentence in report.warnings:
        streams.say(sentence)
    if report.observations is not None and not run.settings.source:
        for sentence in hints(report.observations):
            streams.say(sentence)
    return report


def hints(observations: Observations) -> Iterator[str]:
    """Yield which option would let a scan of the user's own site see more than a sign-in or a refused certificate."""
    browser = observations.homepages[0] if observations.homepages else None
    if browser is None:
        return
    if browser.status == UNAUTHORIZED and "credentials" not in observations.limits:
        yield (
            f"{observations.host} asks for a password (401). If it is yours, basic_auth_env or headers of "
            f'[sites."{observations.host}"] in the settings file send it.'
        )
    if browser.error == "tls" and any(words in browser.detail for words in UNKNOWN_ISSUER):
        yield (
            f"{observations.host} has a certificate from an issuer that is not known here. If it is yours, "
            "AUI_TUI_CACERT=FILE trusts the certificates in FILE too."
        )


def recording_of(answer: HostReport) -> bytes:
    """Return what ``answer`` rests on, for ``regrade``. Raises ConfigError where that is not kept."""
    from aui_tui.model.observations import Recording, encode_recording

    if answer.observations is None:
        raise ConfigError(
            "The observations of this scan are not kept, so it cannot be recorded; scan again with --force."
        )
    card = answer.card
    return encode_recording(
        Recording(observations=answer.observations, name=card.name, category=card.category, seed=card.seed)
    )


class Batch:
    """The results of the scans of one command, printed as they come or at the end, as ``form`` can."""

    def __init__(self, form: CardForm, *, many: bool) -> None:
        self._form, self._many = form, many
        self.results: list[HostResult] = []
        self.codes: list[int] = []

    def add(self, result: HostResult) -> None:
        """Take in what came of one host."""
        if self._form.streams:
            emit(self._form.chunks([result], below=bool(self.results)), None)
        self.results.append(result)

    def refuse(self, url: str, error: AuiError) -> None:
        """Report that ``url`` gave no card; one of several hosts gets an entry of its own."""
        self.codes.append(fail(error))
        if self._many:
            self.add(HostResult(Refusal(clean(url, 253), error.title, error.http_status, str(error))))

    def end(self) -> int:
        """Print what had to wait for the last scan, and return the exit code of the command."""
        if self.results and not self._form.streams:
            self._form.write(self.results, many=self._many)
        return worst(self.codes)


def show_in_browser(run: Run, report: HostReport, written: Path | None) -> None:
    """Open the HTML report of one host, written into the data folder unless it is ``written`` already."""
    import webbrowser

    if written is None or written.suffix.lower() != ".html":
        written = places(run.settings.data_dir).reports / f"{re.sub(r'[^a-z0-9.-]', '_', report.card.host)}.html"
        create(written, write_cards("html", [report]), force=True)
    opened_it = webbrowser.open(written.resolve().as_uri())
    streams.say(f"{'Opened' if opened_it else 'No browser could be opened; the report is'} {written}")


@app.command("scan", epilog="Example: aui-tui scan example.com --fail-grade C")
def scan(
    context: typer.Context,
    url: Annotated[
        list[str], typer.Argument(metavar="URL...", help="Hosts or http(s) addresses, such as example.com.")
    ],
    force: options.Force = False,
    cached: options.Cached = False,
    method: options.Method = "",
    category: options.SiteCategory = "",
    tasks: options.Tasks = False,
    act: options.Act = False,
    open_: Annotated[bool, typer.Option("--open", help="Write the HTML report and open it.")] = False,
    allow_private: options.AllowPrivate = False,
    connect_to: options.ConnectTo = None,
    page: options.Page = None,
    fail_under: options.FailUnder = None,
    fail_grade: options.FailGrade = None,
    require_stance: options.RequireStance = None,
    must_serve: options.MustServe = None,
    must_block: options.MustBlock = None,
    fail_on: options.FailOn = None,
    no_regress: options.NoRegress = None,
    as_json: options.Json = False,
    details: options.Details = False,
    output: options.Files = None,
) -> int:
    """Scan a site as a browser and as AI agents, and print its report card.

    A scan with a gate always asks the site. --output takes .md, .html, .sarif, .xml (JUnit) and others;
    FILE.recording keeps what was seen, for regrade. --page PATH, up to ten times, asks who gets other pages too;
    --pages N chooses N of the sitemap and the homepage, at most 30, and says per section who gets in.

    Settings (aui-tui config): control, via, pace, declared, open_agents, pages, sign.
    """
    run = run_for(context)
    if cached and force:
        raise BadValue("--cached takes a kept answer and --force does not: leave one out.")
    if act and not tasks:
        raise BadValue("--act is for the tasks: add --tasks.")
    named = {address: pages_of(address, page or ()) for address in url}
    gating = Gating.of(run, context.params)
    recording = next((name for name in output or () if name.endswith(RECORDING)), "")
    if recording and len(url) > 1:
        raise BadValue("A recording holds one scan; name one host.")
    recorded = path_of(recording) if recording else None
    form = CardForm.of(run, context.params | {"output": [name for name in output or () if name != recording]})
    scan_options = ScanOptions(
        force=force or bool(gating.gates),
        afresh=not cached,
        method=method,
        category=category,
        tasks=tasks,
        act=act,
    )
    batch = Batch(form, many=len(url) > 1)

    async def work() -> None:
        for address in url:
            try:
                access = policy_of(run, allow_private=allow_private, connect_to=connect_to, pages=named[address])
                async with opened(run, access) as service:
                    report = await scan_one(run, service, address, scan_options)
                    if recorded is not None:
                        emit([recording_of(report).decode()], recorded)
                    outcome = await gating.judge(service, report)
            except AuiError as error:
                batch.refuse(address, error)
            else:
                batch.codes.append(outcome.exit_code)
                batch.add(HostResult(report, note=note_of(report), outcome=outcome if gating.gates else None))

    run.wait(work())
    code = batch.end()
    for result in batch.results if open_ else ():
        if isinstance(result.answer, HostReport):
            show_in_browser(run, result.answer, form.path)
    return code
