"""``scan``: look at a site now, take the answer of the last 24 hours, or replay a recording."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Final

import typer

from aui_tui.cli import sources, streams
from aui_tui.cli.gating import GateOptions, Gating
from aui_tui.cli.options import (
    ConnectionOptions,
    Method,
    Pace,
    category_of,
    example,
    given,
    method_of,
    one_of,
    run_of,
    taking,
    words,
)
from aui_tui.cli.output import CardForm, FormOptions, emit
from aui_tui.cli.run import Run, fail
from aui_tui.cli.sources import counts, opened
from aui_tui.errors import AuiError, BadValue, ConfigError, InvalidHost, PrivateHost
from aui_tui.model import labels
from aui_tui.model.observations import Observations, ProbeEvent, Progress
from aui_tui.model.options import ScanOptions
from aui_tui.model.view import HostReport
from aui_tui.model.vocabulary import CATEGORIES
from aui_tui.report.gates import Outcome, worst
from aui_tui.service.protocol import Service
from aui_tui.settings import Settings
from aui_tui.text import clean

if TYPE_CHECKING:
    from rich.text import Text

    from aui_tui.report.options import Refusal
    from aui_tui.scan.policy import ScanPolicy

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
        if event.state == "done":
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


_tape = partial(typer.Option, rich_help_panel="Recordings")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tape:
    """Where a scan is recorded, or which recording is replayed; both empty for an ordinary scan."""

    record: Annotated[
        str, _tape("--record", metavar="FILE", help="Record what the scan saw in FILE, for --replay.")
    ] = ""
    replay: Annotated[str, _tape("--replay", metavar="FILE", help="Grade the recording in FILE, without network.")] = ""

    def asked(self, urls: Sequence[str], settings: Settings) -> tuple[str, ...]:
        """Return what there is to do: ``urls``, or the recording alone. Raises BadValue and ConfigError."""
        one_of(record=self.record, replay=self.replay)
        if "\0" in self.record:
            raise BadValue("--record must be the path of a file.")
        if self.replay and urls:
            raise BadValue("--replay grades a recording and scans nothing; leave the host out.")
        if self.record and len(urls) > 1:
            raise BadValue("--record records one scan; name one host.")
        if self.record and settings.source:
            raise ConfigError(
                "--record cannot be used with --source; leave out --source to record a scan from this machine."
            )
        if not urls and not self.replay:
            raise BadValue("Name a host to scan, such as example.com.")
        return tuple(urls) or (self.replay,)

    def keep(self, answer: HostReport) -> None:
        """Write what ``answer`` rests on, whole or not at all. Raises ConfigError."""
        if not self.record:
            return
        if answer.observations is None:
            raise ConfigError(
                "The observations of this scan are not kept, so it cannot be recorded; scan again with --force."
            )
        from aui_tui.model.observations import Recording, encode_recording
        from aui_tui.report.atomic import replace

        card = answer.card
        kept = Recording(observations=answer.observations, name=card.name, category=card.category, seed=card.seed)
        replace(Path(self.record).expanduser(), [encode_recording(kept).decode()])

    def answer(self, settings: Settings, *, method: str = "", category: str = "") -> HostReport:
        """Return the card of the recording; nothing is stored and no scan is spent. Raises ConfigError, RecordError."""
        from aui_tui.checks.scoring import Labels, grade_card
        from aui_tui.model.observations import decode_recording

        kept = decode_recording(sources.read_bytes(self.replay))
        labels = Labels(
            name=kept.name, category=category or kept.category, seed=kept.seed, base_url=settings.base_url.rstrip("/")
        )
        card = grade_card(kept.observations, method or settings.method, labels=labels)
        return HostReport(card=card, source="replay", observations=kept.observations)


_signing = partial(typer.Option, rich_help_panel="Signed probes of your own sites")


@dataclass(frozen=True, slots=True, kw_only=True)
class Signing:
    """Whether probes are signed with the user's key, and where that key is published."""

    sign: Annotated[
        bool, _signing("--sign", help="Ask again, signed with your key, as each agent that was turned away.")
    ] = False
    signature_agent: Annotated[
        str, _signing("--signature-agent", metavar="URL", help="Where your key is published.")
    ] = ""

    def policy(self, folder: Path, access: ScanPolicy | None) -> ScanPolicy | None:
        """Return ``access`` with the key kept in ``folder`` for --sign. Raises BadValue and ConfigError."""
        if self.signature_agent and not self.sign:
            raise BadValue("--signature-agent needs --sign; add --sign.")
        if not self.sign:
            return access
        from aui_tui.scan.policy import PUBLIC
        from aui_tui.scan.signing import Signer, checked_agent, read_key

        agent = checked_agent(self.signature_agent) if self.signature_agent else ""
        return dataclasses.replace(access or PUBLIC, signer=Signer(read_key(folder), agent))


Force = Annotated[
    bool, typer.Option("--force", help="Scan again, even if the last answer is recent; uses one of ten scans an hour.")
]
Category = Annotated[
    str, typer.Option("--category", metavar="NAME", **words(CATEGORIES, "Category of the site in the index"))
]


_tasks = partial(typer.Option, rich_help_panel="Tasks in a browser (extra “browser”)")
Tasks = Annotated[
    bool, _tasks("--tasks", help="Try six tasks in a browser: read, follow, search, contact, form, offer.")
]
Act = Annotated[bool, _tasks("--act", help="Press “add to cart” once; for hosts of your own.")]
Declared = Annotated[
    bool,
    typer.Option("--declared", help="Also ask what the site declares for agents; at most 18 requests, never scored."),
]


UNAUTHORIZED: Final = 401
UNKNOWN_ISSUER: Final = ("local issuer certificate", "self-signed certificate", "self signed certificate")
"""What OpenSSL says of a certificate whose issuer it does not know."""


def note_of(answer: HostReport) -> str:
    """Return in words where an answer came from; empty for a scan made now."""
    if answer.source == "cache":
        return f"from the cache, {labels.span(answer.age)} old (--force scans again)"
    return "shared with another caller's scan" if answer.source == "shared" else ""


async def scan_one(run: Run, service: Service, url: str, options: ScanOptions) -> HostReport:
    """Scan ``url`` with progress and report its warnings. Raises AuiError."""
    try:
        if options.tasks and service.is_local:
            report = await _scan_with_tasks(run, service, url, options)
        else:
            with narrated(url, quiet=run.quiet) as progress:
                report = await service.scan(url, options, progress=progress)
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


async def _scan_with_tasks(run: Run, service: Service, url: str, options: ScanOptions) -> HostReport:
    """Scan ``url`` and run the tasks, each step reported on a line of its own. Raises AuiError."""
    from aui_tui.cli.tasks import narrator, sandbox_warning

    if warning := sandbox_warning():
        streams.say(warning)
    progress = None if run.quiet else _plain(clean(url, 253))
    return await service.scan(url, options, progress=progress, live=narrator(url, quiet=run.quiet))


def hints(seen: Observations) -> Iterator[str]:
    """Yield which option would let a scan of the user's own site see more than a sign-in or a refused certificate."""
    browser = seen.homepages[0] if seen.homepages else None
    if browser is None:
        return
    if browser.status == UNAUTHORIZED and "credentials" not in seen.limits:
        yield (
            f"{seen.host} asks for a password (401). If it is yours, --basic-auth-env VARIABLE sends the user:password "
            "that the variable holds, and --header another field."
        )
    if browser.error == "tls" and any(words in browser.detail for words in UNKNOWN_ISSUER):
        yield (
            f"{seen.host} has a certificate from an issuer that is not known here. If it is yours, --cacert FILE "
            "trusts the certificates in FILE too."
        )


def not_own(url: str) -> BadValue:
    """Return the error for ``--no-limit`` on a public host."""
    return BadValue(f"--no-limit is for hosts of your own, and {clean(url, 253)} is public; leave --no-limit out.")


class Batch:
    """The results of the scans of one command, printed as it comes or at the end, as ``form`` can."""

    def __init__(self, run: Run, form: CardForm, gating: Gating, *, many: bool) -> None:
        self._run, self._form, self._gating, self._many = run, form, gating, many
        self._reports: list[HostReport] = []
        self._notes: dict[str, str] = {}
        self._outcomes: list[Outcome] = []
        self._refused: list[Refusal] = []
        self.codes: list[int] = []

    def add(self, answer: HostReport, outcome: Outcome) -> None:
        """Take in one finished scan and what the gates said of it."""
        notes = {answer.card.host: note_of(answer)}
        if self._form.streams:
            self._emit(self._form.chunks(self._run, [answer], notes=notes))
        self._reports.append(answer)
        self._notes |= notes
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
            self._emit(self._form.chunks(self._run, (), refused=[refused]))
        self._refused.append(refused)

    def _emit(self, chunks: Iterator[str]) -> None:
        between = (self._reports or self._refused) and not self._form.record
        emit(chain(["\n"] if between else [], chunks), None)

    def end(self) -> int:
        """Print what had to wait for the last scan, and return the exit code of the command."""
        if (self._reports or self._refused) and not self._form.streams:
            chunks = self._form.chunks(
                self._run,
                self._reports,
                notes=self._notes,
                gates=self._gating.by_host(self._outcomes),
                many=self._many,
                refused=self._refused,
            )
            emit(chunks, self._form.path)
        return worst(self.codes)


@app.command(
    "scan",
    cls=taking(FormOptions, GateOptions, ConnectionOptions, Tape, Signing),
    epilog=example("aui-tui scan example.com --fail-grade C"),
)
def scan(
    context: typer.Context,
    url: Annotated[list[str] | None, typer.Argument(metavar="URL...", help="Hosts or http(s) addresses.")] = None,
    pace: Pace = 0.0,
    force: Force = False,
    method: Method = "",
    category: Category = "",
    tasks: Tasks = False,
    act: Act = False,
    declared: Declared = False,
) -> int:
    """Scan a site as a browser and as AI agents, and print its report card."""
    run = run_of(context)
    form, gating, tape = CardForm.of(context), Gating.of(context), given(context, Tape)
    access = given(context, ConnectionOptions).policy(pace)
    access = given(context, Signing).policy(run.settings.data_dir, access)
    options = ScanOptions(
        force=force or bool(gating.gates),
        method=method_of(method),
        category=category_of(category),
        tasks=tasks,
        act=act,
        declared=declared,
    )
    if act and not tasks:
        raise BadValue("--act needs --tasks; add --tasks.")
    if tape.replay and (tasks or declared):
        name = "--tasks" if tasks else "--declared"
        raise BadValue(f"{name} cannot be used with --replay; leave one of them out.")
    urls = tape.asked(url or (), run.settings)
    batch = Batch(run, form, gating, many=len(urls) > 1)

    async def answer(service: Service, one: str) -> HostReport:
        if tape.replay:
            return tape.answer(run.settings, method=options.method, category=options.category)
        if access is not None and access.no_limit and await counts(service, one):
            raise not_own(one)
        return await scan_one(run, service, one, options)

    async def work() -> None:
        async with opened(run, access) as service:
            for one in urls:
                try:
                    found = await answer(service, one)
                    tape.keep(found)
                    outcome = await gating.judge(service, found.card)
                except AuiError as error:
                    batch.refuse(one, error)
                else:
                    batch.add(found, outcome)

    run.wait(work())
    return batch.end()
