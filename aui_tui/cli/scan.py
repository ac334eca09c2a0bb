"""``scan``: look at a site now, or take the answer of the last 24 hours."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Final

import typer

from aui_tui.cli import options, streams
from aui_tui.cli.gating import Gating
from aui_tui.cli.output import CardForm, emit, path_of
from aui_tui.cli.reach import checked, policy_of
from aui_tui.cli.run import Run, fail
from aui_tui.cli.sources import opened
from aui_tui.errors import AuiError, BadValue, ConfigError, InvalidHost, PrivateHost
from aui_tui.model import labels
from aui_tui.model.observations import Observations, ProbeEvent, Progress
from aui_tui.model.options import ScanOptions
from aui_tui.model.view import HostReport
from aui_tui.report.gates import Gates, Outcome, worst
from aui_tui.service.protocol import Service
from aui_tui.text import clean

if TYPE_CHECKING:
    from rich.text import Text

    from aui_tui.report.options import Refusal

app = typer.Typer()


MARKS: Final = MappingProxyType(
    {
        "served": ("✓", "green"),
        "found": ("✓", "green"),
        "hit": ("✓", "green"),
        "challenged": ("✗", "red"),
        "refused": ("✗", "red"),
        "inconclusive": ("?", "yellow"),
    }
)
"""Symbol and colour of an outcome."""
QUIET_OUTCOME: Final = ("·", "dim")
LIMIT: Final = 12
"""Seconds a probe may take (specification 8)."""


def outcome_words(event: ProbeEvent) -> str:
    """Return the outcome of a finished probe, such as ``403 challenged, cloudflare``."""
    parts = [str(event.status)] if event.status else []
    parts += [event.outcome] if event.outcome else []
    return " ".join(parts) + (f", {event.note}" if event.note else "")


@contextmanager
def narrated(host: str, *, quiet: bool) -> Iterator[Progress | None]:
    """Yield the callback that reports the progress of a scan of ``host``; None when ``quiet``."""
    host = clean(host, 253)
    if quiet or sys.stderr is None:
        yield None
    elif sys.stderr.isatty():
        with _live(host) as tell:
            yield tell
    else:
        yield _plain(host)


def _plain(host: str) -> Progress:
    def tell(event: ProbeEvent) -> None:
        if event.name == "cache" and event.outcome == "miss":
            streams.say(f"{host}: asking the site")
        elif event.state == "done":
            took = f" {event.elapsed_ms / 1000:.2f} s" if event.elapsed_ms else ""
            streams.say(f"{host}: {labels.probe(event.name)}: {outcome_words(event)}{took}")
        elif event.state == "retrying" and event.note.startswith("at "):
            if event.name == "browser":
                streams.say(f"{host}: once more {event.note}")
        elif event.state == "retrying":
            when = f" in {event.wait:.0f} s" if event.wait >= 1 else ""
            why = f" ({event.note})" if event.note else ""
            streams.say(f"{host}: {labels.probe(event.name)}: once more, alone{when}{why}")

    return tell


class _Checklist:
    """The probes of one scan in the order in which they began."""

    def __init__(self, host: str) -> None:
        self.host = host
        self.began: dict[str, float] = {}
        self.events: dict[str, ProbeEvent] = {}

    def tell(self, event: ProbeEvent) -> None:
        if event.state != "done" or event.name not in self.began:
            self.began[event.name] = time.monotonic()
        self.events[event.name] = event

    def __rich__(self) -> Text:
        from rich.text import Text

        text = Text(f"scan  {self.host}\n", no_wrap=True, overflow="ellipsis")
        for name, event in self.events.items():
            mark, style = MARKS.get(event.outcome, QUIET_OUTCOME) if event.state == "done" else ("…", "cyan")
            text.append(f"  {mark} ", style)
            text.append(f"{labels.probe(name):<14} ")
            if event.state == "done":
                took = f"  {event.elapsed_ms / 1000:.2f} s" if event.elapsed_ms else ""
                text.append(f"{outcome_words(event)}{took}\n")
            else:
                waited = time.monotonic() - self.began[name]
                if waited < event.wait:
                    text.append(f"once more in {event.wait - waited:.0f} s: {event.note}\n", "dim")
                    continue
                waited -= event.wait
                again = "once more, " if event.state == "retrying" else ""
                text.append(f"{again}{waited:.1f}/{LIMIT} s\n", "dim")
        return text


@contextmanager
def _live(host: str) -> Iterator[Progress]:
    from rich.console import Console
    from rich.live import Live

    checklist = _Checklist(host)
    console = Console(stderr=True, highlight=False)
    with Live(checklist, console=console, refresh_per_second=10, transient=True):
        yield checklist.tell


RECORDING: Final = ".recording"
"""Ending of a file that keeps what a scan saw."""
UNAUTHORIZED: Final = 401
UNKNOWN_ISSUER: Final = ("local issuer certificate", "self-signed certificate", "self signed certificate")
"""What OpenSSL says of a certificate whose issuer it does not know."""


def note_of(answer: HostReport) -> str:
    """Return in words where an answer came from; empty for a scan made now."""
    if answer.source == "cache":
        return f"from the cache, {labels.span(answer.age)} old (--force scans again)"
    return "shared with another caller's scan" if answer.source == "shared" else ""


async def scan_one(run: Run, service: Service, url: str, asked: ScanOptions) -> HostReport:
    """Scan ``url`` with progress and report its warnings. Raises AuiError."""
    try:
        if asked.tasks and service.is_local:
            report = await _scan_with_tasks(run, service, url, asked)
        else:
            with narrated(url, quiet=run.quiet) as progress:
                report = await service.scan(url, asked, progress=progress)
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


async def _scan_with_tasks(run: Run, service: Service, url: str, asked: ScanOptions) -> HostReport:
    """Scan ``url`` and run the tasks, each step reported on a line of its own. Raises AuiError."""
    from aui_tui.cli.tasks import narrator

    progress = None if run.quiet else _plain(clean(url, 253))
    return await service.scan(url, asked, progress=progress, live=narrator(url, quiet=run.quiet))


def hints(seen: Observations) -> Iterator[str]:
    """Yield which option would let a scan of the user's own site see more than a sign-in or a refused certificate."""
    browser = seen.homepages[0] if seen.homepages else None
    if browser is None:
        return
    if browser.status == UNAUTHORIZED and "credentials" not in seen.limits:
        yield (
            f"{seen.host} asks for a password (401). If it is yours, basic_auth_env or headers of "
            f'[sites."{seen.host}"] in the settings file send it.'
        )
    if browser.error == "tls" and any(words in browser.detail for words in UNKNOWN_ISSUER):
        yield (
            f"{seen.host} has a certificate from an issuer that is not known here. If it is yours, AUI_TUI_CACERT=FILE "
            "trusts the certificates in FILE too."
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
    """The results of the scans of one command, printed as it comes or at the end, as ``form`` can."""

    def __init__(self, form: CardForm, gating: Gating, *, many: bool) -> None:
        self._form, self._gating, self._many = form, gating, many
        self.reports: list[HostReport] = []
        self._outcomes: list[Outcome] = []
        self._refused: list[Refusal] = []
        self.codes: list[int] = []

    def add(self, answer: HostReport, outcome: Outcome) -> None:
        """Take in one finished scan and what the gates said of it."""
        if self._form.streams:
            self._emit(self._form.chunks([answer], notes={answer.card.host: note_of(answer)}))
        self.reports.append(answer)
        self._outcomes.append(outcome)
        self.codes.append(outcome.exit_code)

    def refuse(self, url: str, error: AuiError) -> None:
        """Report that ``url`` gave no card; one of several hosts gets an entry of its own."""
        from aui_tui.report.options import Refusal

        self.codes.append(fail(error))
        if not self._many:
            return
        refused = Refusal(clean(url, 253), error.title, error.http_status, str(error))
        if self._form.streams:
            self._emit(self._form.chunks((), refused=[refused]))
        self._refused.append(refused)

    def _emit(self, chunks: Iterator[str]) -> None:
        between = (self.reports or self._refused) and not self._form.record
        emit(chain(["\n"] if between else [], chunks), None)

    def end(self) -> int:
        """Print what had to wait for the last scan, and return the exit code of the command."""
        if (self.reports or self._refused) and not self._form.streams:
            chunks = self._form.chunks(
                self.reports,
                notes={one.card.host: note_of(one) for one in self.reports},
                gates=self._gating.by_host(self._outcomes),
                many=self._many,
                refused=self._refused,
            )
            emit(chunks, self._form.path)
        return worst(self.codes)


def show_in_browser(run: Run, report: HostReport, written: Path | None) -> None:
    """Open the HTML report of one host, written into the data folder unless it is ``written`` already."""
    import webbrowser

    if written is None or written.suffix.lower() != ".html":
        from aui_tui.report.formats import write_cards

        folder = run.settings.data_dir / "reports"
        folder.mkdir(parents=True, exist_ok=True)
        written = folder / f"{re.sub(r'[^a-z0-9.-]', '_', report.card.host)}.html"
        emit(write_cards("html", [report.card]), written)
    opened_it = webbrowser.open(written.resolve().as_uri())
    streams.say(f"{'Opened' if opened_it else 'No browser could be opened; the report is'} {written}")


@app.command("scan", epilog="Example: aui-tui scan example.com --fail-grade C")
def scan(
    context: typer.Context,
    url: Annotated[
        list[str], typer.Argument(metavar="URL...", help="Hosts or http(s) addresses, such as example.com.")
    ],
    force: options.Force = False,
    method: options.Method = "",
    category: options.SiteCategory = "",
    tasks: options.Tasks = False,
    act: options.Act = False,
    open_: Annotated[bool, typer.Option("--open", help="Write the HTML report and open it.")] = False,
    allow_private: options.AllowPrivate = False,
    connect_to: options.ConnectTo = None,
    control: options.Control = "auto",
    via: options.Via = None,
    fail_under: options.FailUnder = None,
    fail_grade: options.FailGrade = None,
    require_stance: options.RequireStance = None,
    must_serve: options.MustServe = None,
    fail_on: options.FailOn = None,
    no_regress: options.NoRegress = None,
    as_json: options.Json = False,
    details: options.Details = False,
    output: options.File = "",
) -> int:
    """Scan a site as a browser and as AI agents, and print its report card.

    A scan with a gate always asks the site. --output FILE.recording keeps what was seen, for regrade.
    """
    run = options.run_of(context)
    gates = Gates.of(
        fail_under=fail_under,
        fail_grade=fail_grade,
        require_stance=require_stance,
        must_serve=must_serve,
        fail_on=fail_on,
        no_regress=no_regress is not None,
    )
    if act and not tasks:
        raise BadValue("--act is for the tasks: add --tasks.")
    checked(run, control, via)
    gating = Gating.of(run, gates, no_regress)
    recording = output.endswith(RECORDING)
    if recording and len(url) > 1:
        raise BadValue("A recording holds one scan; name one host.")
    recorded = path_of(output) if recording else None
    form = CardForm.of(run, as_json=as_json, details=details, output="" if recording else output)
    asked = ScanOptions(
        force=force or bool(gates),
        method=options.method_of(method),
        category=options.category_of(category),
        tasks=tasks,
        act=act,
        declared=run.settings.declared,
    )
    batch = Batch(form, gating, many=len(url) > 1)

    async def work() -> None:
        for one in url:
            try:
                access = policy_of(
                    run, one, allow_private=allow_private, connect_to=connect_to, control=control, via=via
                )
                async with opened(run, access) as service:
                    found = await scan_one(run, service, one, asked)
                    if recorded is not None:
                        emit([recording_of(found).decode()], recorded)
                    outcome = await gating.judge(service, found.card)
            except AuiError as error:
                batch.refuse(one, error)
            else:
                batch.add(found, outcome)

    run.wait(work())
    code = batch.end()
    for report in batch.reports if open_ else ():
        show_in_browser(run, report, form.path)
    return code
