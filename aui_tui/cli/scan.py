"""``scan``: look at a site now, take the answer of the last 24 hours, or replay a recording."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Final

import typer

from aui_tui.cli import cardfiles, complete, streams, words
from aui_tui.cli.gating import (
    INCONCLUSIVE,
    FailGrade,
    FailOn,
    FailUnder,
    FirstRun,
    Gating,
    MustServe,
    NoRegress,
    RequireStance,
)
from aui_tui.cli.options import Config, DataDir, Debug, Method, Quiet, Source, example, method_of, run_of
from aui_tui.cli.output import CardForm, Deterministic, Fields, File, FormatName, Json, KeyNames, Linear, emit
from aui_tui.cli.reach import AllowPrivate, BasicAuth, CaFile, ConnectTo, Header, Insecure, NoLimit, Pace, reach_of
from aui_tui.cli.run import Run, fail
from aui_tui.cli.services import counts, opened
from aui_tui.errors import AuiError, BadValue, ConfigError, InvalidHost
from aui_tui.gates import Outcome, worst
from aui_tui.records import labels
from aui_tui.records.card import ReportCard
from aui_tui.records.observations import Observations
from aui_tui.records.progress import ProbeEvent, Progress
from aui_tui.records.view import ScanAnswer
from aui_tui.records.vocabulary import CATEGORIES, choose
from aui_tui.service.protocol import RunsTasks, Service
from aui_tui.settings import Settings
from aui_tui.text import clean

if TYPE_CHECKING:
    from rich.text import Text

    from aui_tui.engine.policy import ScanPolicy
    from aui_tui.export.options import Refusal

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
    """Return what became of a finished probe, such as ``403 challenged, cloudflare``."""
    parts = [str(event.status)] if event.status else []
    parts += [event.outcome] if event.outcome else []
    return " ".join(parts) + (f", {event.note}" if event.note else "")


@contextmanager
def narrated(host: str, *, quiet: bool) -> Iterator[Progress | None]:
    """Yield the callback that tells the progress of a scan of ``host``; None when ``quiet``."""
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
            text.append(f"{labels.probe(name):<15}")
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


TAPE: Final = "Recordings"
_option = partial(typer.Option, rich_help_panel=TAPE)

Record = Annotated[str, _option("--record", metavar="FILE", help="Keep what the scan saw in FILE, to replay.")]
Replay = Annotated[str, _option("--replay", metavar="FILE", help="Grade the scan kept in FILE, no network.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tape:
    """Where a scan is recorded, or which recording is replayed; both empty for an ordinary scan."""

    record: str
    replay: str

    @classmethod
    def of(cls, context: typer.Context) -> Tape:
        """Return the tape that the options ask for. Raises BadValue."""
        record, replay = context.params["record_to"], context.params["replay_of"]
        if record and replay:
            raise BadValue("Choose one of --record and --replay.")
        if "\0" in record:
            raise BadValue("--record names no path.")
        return cls(record=record, replay=replay)

    def asked(self, urls: Sequence[str], settings: Settings) -> tuple[str, ...]:
        """Return what there is to do: ``urls``, or the recording alone. Raises BadValue and ConfigError."""
        if self.replay and urls:
            raise BadValue("--replay reads a recording instead of scanning; name no host beside it.")
        if self.record and len(urls) > 1:
            raise BadValue("--record keeps one scan; name one host.")
        if self.record and settings.source:
            raise ConfigError("A published index does not tell what its scan saw; only a scan made here is recorded.")
        if not urls and not self.replay:
            raise BadValue("Name a host to scan, such as example.com.")
        return tuple(urls) or (self.replay,)

    def keep(self, answer: ScanAnswer) -> None:
        """Write what ``answer`` rests on, whole or not at all. Raises ConfigError."""
        if not self.record:
            return
        if answer.observations is None:
            raise ConfigError("What this scan saw is not kept, so it cannot be recorded.")
        from aui_tui.export.atomic import replace
        from aui_tui.records.recording import Recording, encode

        card = answer.card
        kept = Recording(observations=answer.observations, name=card.name, category=card.category, seed=card.seed)
        replace(Path(self.record).expanduser(), [encode(kept).decode()])

    def answer(self, settings: Settings, *, method: str = "", category: str = "") -> ScanAnswer:
        """Return the card of the recording; nothing is stored and no scan is spent. Raises ConfigError, RecordError."""
        from aui_tui.engine.scoring import Labels, grade_card
        from aui_tui.records.recording import decode

        kept = decode(cardfiles.read_bytes(self.replay))
        labels = Labels(
            name=kept.name, category=category or kept.category, seed=kept.seed, base_url=settings.base_url.rstrip("/")
        )
        card = grade_card(kept.observations, method or settings.method, labels=labels)
        return ScanAnswer(card=card, source="replay", observations=kept.observations)


SIGNING: Final = "Signed probes of your own sites"
Sign = Annotated[
    bool,
    typer.Option("--sign", help="Ask again with your key for agents turned away.", rich_help_panel=SIGNING),
]
SignatureAgent = Annotated[
    str,
    typer.Option("--signature-agent", metavar="URL", help="Where your key is published.", rich_help_panel=SIGNING),
]
Force = Annotated[bool, typer.Option("--force", help="Scan again; costs one of the ten an hour.")]
Category = Annotated[
    str,
    typer.Option("--category", metavar="NAME", help="File the site under it.", autocompletion=complete.of(CATEGORIES)),
]


TRY: Final = "Tasks in a browser (extra “browser”)"
Tasks = Annotated[
    bool,
    typer.Option(
        "--tasks", rich_help_panel=TRY, help="Try six tasks in a browser: read, follow, search, contact, form, offer."
    ),
]
Act = Annotated[
    bool,
    typer.Option(
        "--act",
        rich_help_panel=TRY,
        help="Press “add to cart” once; for hosts of your own.",
    ),
]

UNAUTHORIZED: Final = 401
UNKNOWN_ISSUER: Final = ("local issuer certificate", "self-signed certificate", "self signed certificate")
"""What OpenSSL says of a certificate whose issuer it does not know."""


def note_of(answer: ScanAnswer) -> str:
    """Return in words where an answer came from; empty for a scan made now."""
    if answer.source == "cache":
        return f"from the cache, {words.age(answer.age)} old (--force scans again)"
    return "shared with another caller's scan" if answer.source == "shared" else ""


def _admitted(url: str) -> bool:
    """Return whether ``--allow-private`` would admit ``url``."""
    from aui_tui.engine.target import parse

    try:
        parse(url, allow_private=True)
    except InvalidHost:
        return False
    return True


async def scan_one(
    run: Run,
    service: Service,
    url: str,
    *,
    force: bool = False,
    method: str = "",
    category: str = "",
    tasks: bool = False,
    act: bool = False,
) -> ScanAnswer:
    """Scan ``url`` with progress and tell its warnings; ``tasks`` are run after it. Raises AuiError."""
    try:
        if tasks:
            answer = await _scan_with_tasks(run, service, url, force=force, method=method, category=category, act=act)
        else:
            with narrated(url, quiet=run.quiet) as progress:
                answer = await service.scan(url, force=force, method=method, category=category, progress=progress)
    except InvalidHost as error:
        if run.settings.source or not _admitted(url):
            raise
        raise InvalidHost(f"{error} If it is yours, --allow-private scans it.") from None
    for sentence in answer.warnings:
        streams.say(sentence)
    if answer.observations is not None and not run.settings.source:
        for sentence in hints(answer.observations):
            streams.say(sentence)
    return answer


async def _scan_with_tasks(
    run: Run, service: Service, url: str, *, force: bool, method: str, category: str, act: bool
) -> ScanAnswer:
    """Scan ``url`` and run the tasks, each step told on a line of its own. Raises AuiError."""
    if not isinstance(service, RunsTasks):
        raise ConfigError("A published index runs no tasks; leave out --source to run them from this machine.")
    from aui_tui.cli.tasks import narrator, sandbox_warning

    if warning := sandbox_warning():
        streams.say(warning)
    return await service.run_tasks(
        url,
        act=act,
        force=force,
        method=method,
        category=category,
        progress=None if run.quiet else _plain(clean(url, 253)),
        live=narrator(url, quiet=run.quiet),
    )


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
    return BadValue(f"--no-limit is for hosts of your own, and {clean(url, 253)} is public: leave --no-limit out.")


def refusal(url: str, error: AuiError) -> Refusal:
    """Return what is written for a host of several that gave no card."""
    from aui_tui.export.options import Refusal

    return Refusal(clean(url, 253), error.title, error.http_status, str(error))


@dataclass(slots=True)
class Batch:
    """What the scans of one command have brought so far."""

    cards: list[ReportCard] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)
    outcomes: list[Outcome] = field(default_factory=list)
    codes: list[int] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)

    def between(self, form: CardForm) -> list[str]:
        """Return what parts the next card from what was printed before."""
        return ["\n"] if (self.cards or self.refused) and not form.record else []

    def add(self, answer: ScanAnswer, outcome: Outcome) -> None:
        """Take in one finished scan and what the gates said of it."""
        card = answer.card
        self.cards.append(card)
        self.notes[card.host] = note_of(answer)
        self.outcomes.append(outcome)
        self.codes.append(outcome.exit_code)


def signing_access(run: Run, access: ScanPolicy | None, *, sign: bool, agent: str) -> ScanPolicy | None:
    """Return ``access`` with the user's key for --sign. Raises BadValue and ConfigError."""
    if agent and not sign:
        raise BadValue("--signature-agent goes with --sign.")
    if not sign:
        return access
    from aui_tui.engine.policy import PUBLIC
    from aui_tui.engine.signing import Signer, checked_agent, read_key

    signer = Signer(read_key(run.settings.data_dir), checked_agent(agent) if agent else "")
    return dataclasses.replace(access or PUBLIC, signer=signer)


@app.command("scan", epilog=example("aui-tui scan example.com --fail-grade C"))
def scan(
    context: typer.Context,
    as_json: Json = False,
    linear: Linear = False,
    format_name: FormatName = "",
    output: File = "",
    fields: Fields = "",
    deterministic: Deterministic = False,
    keys: KeyNames = "names",
    fail_under: FailUnder = None,
    fail_grade: FailGrade = None,
    require_stance: RequireStance = None,
    must_serve: MustServe = None,
    fail_on: FailOn = None,
    no_regress: NoRegress = None,
    first_run: FirstRun = INCONCLUSIVE,
    allow_private: AllowPrivate = False,
    connect_to: ConnectTo = None,
    header: Header = None,
    basic_auth_env: BasicAuth = None,
    cacert: CaFile = None,
    insecure: Insecure = False,
    no_limit: NoLimit = False,
    pace: Pace = 0.0,
    record_to: Record = "",
    replay_of: Replay = "",
    url: Annotated[list[str] | None, typer.Argument(metavar="URL...", help="Hosts or http(s) addresses.")] = None,
    sign: Sign = False,
    signature_agent: SignatureAgent = "",
    force: Force = False,
    method: Method = "",
    category: Category = "",
    tasks: Tasks = False,
    act: Act = False,
    data_dir: DataDir = None,
    source: Source = None,
    config_file: Config = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> int:
    """Scan a site as a browser and as AI agents, and print its report card."""
    run = run_of(context)
    form = CardForm.of(context)
    gating = Gating.of(context)
    access = signing_access(run, reach_of(context), sign=sign, agent=signature_agent)
    tape = Tape.of(context)
    method = method_of(method)
    category = choose("category", category, CATEGORIES) if category else ""
    if act and not tasks:
        raise BadValue("--act is a part of the tasks: give --tasks too.")
    if tasks and tape.replay:
        raise BadValue("--replay reads a recording instead of scanning: leave --tasks out.")
    asked = tape.asked(url or (), run.settings)
    batch = Batch()

    async def work() -> None:
        async with opened(run, access) as service:
            for one in asked:
                try:
                    if tape.replay:
                        answer = tape.answer(run.settings, method=method, category=category)
                    else:
                        if access is not None and access.no_limit and await counts(service, one):
                            raise not_own(one)
                        answer = await scan_one(
                            run, service, one, force=force, method=method, category=category, tasks=tasks, act=act
                        )
                    tape.keep(answer)
                    outcome = await gating.judge(service, answer.card)
                except AuiError as error:
                    batch.codes.append(fail(error))
                    if len(asked) > 1:
                        if form.streams:
                            emit(
                                chain(batch.between(form), form.chunks(run, (), refused=[refusal(one, error)])),
                                None,
                            )
                        batch.refused.append(refusal(one, error))
                    continue
                if form.streams:
                    notes = {answer.card.host: note_of(answer)}
                    between = batch.between(form)
                    emit(chain(between, form.chunks(run, [answer.card], notes=notes)), None)
                batch.add(answer, outcome)

    run.wait(work())
    if (batch.cards or batch.refused) and not form.streams:
        many = len(asked) > 1
        gates = gating.told(batch.outcomes)
        chunks = form.chunks(run, batch.cards, notes=batch.notes, gates=gates, many=many, refused=batch.refused)
        emit(chunks, form.path)
    return worst(batch.codes)
