"""Scans as frozen data and as lines: those that run, and the log of one that has ended. No Textual here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec
from msgspec.structs import replace

from aui_tui.model import labels
from aui_tui.model.observations import BROWSER, FILE_PROBES, SERVED, Exchange, ProbeEvent
from aui_tui.model.registry import registry
from aui_tui.model.tasks import TASK, TaskEvent
from aui_tui.model.view import HostReport
from aui_tui.text import clean, count, fit
from aui_tui.tui import glyphs
from aui_tui.tui.draw import BLANK, Line, Piece, acting, cut, hang, line, pad, spread
from aui_tui.tui.words import clock, seconds, span

PROBE_LIMIT: Final = 12.0
"""Seconds in all that one probe has (specification 8)."""


def probe_names() -> tuple[str, ...]:
    """Return the names of all probes in the order of a checklist."""
    return ("cache", BROWSER, *(agent.key for agent in registry().live), *FILE_PROBES)


class Probe(msgspec.Struct, frozen=True):
    """One probe: ``state`` is empty before it starts, then that of the last event; ``since`` is when it started."""

    name: str
    state: str = ""
    since: float = 0.0
    status: int = 0
    elapsed_ms: int = 0
    outcome: str = ""
    note: str = ""
    wait: float = 0.0

    def line(self, now: float, label_width: int = 14) -> Line:
        """Return the probe as a line of the checklist, the limit counting while it waits."""
        label = labels.probe(self.name).ljust(label_width)
        if self.state == "done":
            return self._done(label)
        if not self.state:
            return line((glyphs.DOT, "muted"), " ", (label, "muted"))
        waited = max(now - self.since, 0.0)
        words = f"in {self.wait - waited:.0f} s: {self.note}"
        if waited >= self.wait:
            again = "asked again " if self.state == "retrying" else ""
            words = f"{again}{min(waited - self.wait, PROBE_LIMIT):.1f}/{PROBE_LIMIT:.0f} s"
        return line((glyphs.WAIT, "accent"), " ", label, " ", (words, "muted"))

    def _done(self, label: str) -> Line:
        role = glyphs.role_of(self.outcome)
        sign = glyphs.OUTCOME.get(self.outcome, glyphs.DOT)
        if self.name == "cache":
            return line((sign, role), " ", label, " ", self.note or self.outcome)
        figures = (f"{self.status or 'none':>4}", role), (f"{seconds(self.elapsed_ms):>9}", "muted")
        return line((sign, role), " ", label, " ", *figures, (f"  {self.note}" if self.note else "", "muted"))


class Scan(msgspec.Struct, frozen=True):
    """A scan: ``state`` is running, done, failed or cancelled; ``words`` say how it ended."""

    number: int
    url: str
    started: float
    probes: tuple[Probe, ...]
    state: str = "running"
    words: str = ""
    ended: float = 0.0
    answer: HostReport | None = None
    listed: bool = False
    quiet: bool = False

    @classmethod
    def begin(cls, number: int, url: str, now: float, *, listed: bool = False, quiet: bool = False) -> Scan:
        """Return a scan of which nothing is known yet; of a ``quiet`` one among many a good end is not reported."""
        probes = tuple(Probe(name) for name in probe_names())
        return cls(number, clean(url, 200), now, probes, listed=listed, quiet=quiet)

    @property
    def running(self) -> bool:
        """The end is not known yet."""
        return self.state == "running"

    @property
    def finished(self) -> int:
        """Probes that came to their end."""
        return sum(probe.state == "done" for probe in self.probes)

    def moved(self, event: ProbeEvent, now: float) -> Scan:
        """Return the scan after ``event``; a probe of another name joins the list."""
        known = {probe.name: probe for probe in self.probes}
        old = known.get(event.name, Probe(clean(event.name, 40)))
        since = now if event.state in ("started", "retrying") else old.since
        told = (event.status, event.elapsed_ms, event.outcome, clean(event.note, 120), event.wait)
        known[old.name] = Probe(old.name, event.state, since, *told)
        return replace(self, probes=tuple(known.values()))

    def closed(self, state: str, words: str, now: float, answer: HostReport | None = None) -> Scan:
        """Return the scan after its end."""
        return replace(self, state=state, words=words, ended=now, answer=answer)

    def concerns(self, host: str) -> bool:
        """Whether this is a scan of ``host``."""
        return self.url == host or (self.answer is not None and self.answer.card.host == host)


class TaskRun(msgspec.Struct, frozen=True):
    """A run of the tasks on ``host`` that is under way, or has just ended: what it reported so far."""

    host: str
    events: tuple[TaskEvent, ...] = ()
    running: bool = True

    def lines(self, size: int) -> list[Line]:
        """Return the tasks that have ended, then the steps of the one under way, laid out to ``size`` cells."""
        out: list[Line] = []
        steps: list[Line] = []
        task = ""
        for event in self.events:
            label = TASK[event.task].label if event.task in TASK else event.task
            if event.state == "ended" and event.result is not None:
                words = {"done": "✓ done", "blocked": "✗ stuck"}.get(event.result.outcome, event.result.outcome)
                out.append(line(fit(label, 26), (words, "muted")))
                steps, task = [], ""
            elif event.state == "started":
                task = label
            elif event.state == "step" and event.step is not None:
                named = f" “{event.step.name}”" if event.step.name else ""
                words = f"{event.step.verb} {event.step.role}{named} {event.step.note}"
                steps.append(cut(line("    ", (words, "muted")), size))
        wait = (f"{glyphs.WAIT} ", "accent")
        if task:
            out += [line(wait, task), *steps]
        if not self.events:
            out = [line(wait, "The browser is starting; it reads and searches, and sends no form.")]
        return [*out, line(("esc stops and keeps what was found", "muted"))] if self.running else out


def changed(scans: tuple[Scan, ...], number: int, change: Callable[[Scan], Scan]) -> tuple[Scan, ...]:
    """Return ``scans`` with scan ``number`` changed while it runs; one that has ended stays as it is."""
    return tuple(change(scan) if scan.number == number and scan.running else scan for scan in scans)


# The end of a scan


def ended_words(scan: Scan, answer: HostReport | None, error: str) -> tuple[str, str]:
    """Return the state in which a scan ended and one sentence on it."""
    if answer is None:
        return ("failed", error) if error else ("cancelled", _cancelled(scan))
    card = answer.card
    words = f"{card.host}: {card.score}/100 {card.grade} {card.stance}."
    if card.unreachable:
        words = f"{card.host} could not be reached: {card.top_evidence}"
    if answer.source == "cache":
        old = span(answer.age)
        words += f" From the cache, {'just made' if old == 'now' else f'{old} old'}; f scans again."
    return "done", words


def _cancelled(scan: Scan) -> str:
    """Return what a cancelled scan left: nothing, or what was seen once the browser had its page."""
    done = {probe.name: probe.outcome for probe in scan.probes if probe.state == "done"}
    if done.get(BROWSER) == SERVED:
        return f"Scan of {scan.url} cancelled; what was seen is kept, marked incomplete."
    cost = "" if any(probe.status for probe in scan.probes) else " It cost nothing."
    return f"Scan of {scan.url} cancelled; nothing was stored.{cost}"


# Running scans

COLUMN: Final = 38
"""Cells of one column of the checklist."""


def strip_line(scan: Scan, width: int, *, detail: bool) -> Line:
    """Return a scan in one line: host, the probes as signs where ``detail`` asks for them, how far it is."""
    left = line(" ", ("scan", "accent"), " ", (scan.url, "strong"), "  ")
    right = line((f"{scan.finished}/{len(scan.probes)} probes {glyphs.DOT} esc cancels ", "muted"))
    if not detail:
        return spread(left, right, width)
    parts: list[Piece] = [*left]
    for probe in scan.probes:
        sign, role = glyphs.DOT, "muted"
        if probe.state == "done":
            sign, role = glyphs.OUTCOME.get(probe.outcome, glyphs.DOT), glyphs.role_of(probe.outcome)
        elif probe.state:
            sign, role = glyphs.WAIT, "accent"
        parts += [Piece(labels.probe(probe.name) + " ", "muted"), Piece(sign + "  ", role)]
    return spread(parts, right, width)


def checklist(scan: Scan, width: int, now: float) -> list[Line]:
    """Return one cell per probe, in as many columns as fit, filled downwards."""
    columns = max(width // COLUMN, 1)
    rows = -(-len(scan.probes) // columns)
    room = width // columns
    out: list[Line] = []
    for row in range(rows):
        parts: list[Piece] = []
        for probe in scan.probes[row::rows]:
            parts.extend(pad((Piece("  "), *probe.line(now)), room))
        out.append(tuple(parts))
    return out


# The log


NAME = 14


def scan_log(dossier: HostReport, size: int) -> list[Line]:
    """Return the kept exchanges of a scan laid out to ``size`` cells."""
    card = dossier.card
    made = f"{card.scanned_at[:10]} {clock(card.scanned_at)}  {seconds(card.elapsed_ms)} in all, from {card.vantage}"
    out: list[Line] = [cut(line((made, "muted")), size)]
    seen = dossier.observations
    if seen is None:
        return [*out, BLANK, *hang((), "This source keeps no probes. Press s to scan the host from here.", size)]
    for exchange in seen.exchanges:
        out.extend(_exchange(exchange, size))
    for warning in (*seen.warnings, *seen.files.notes):
        out.extend(hang((Piece("! ", "warn"),), warning, size))
    return out


def scan_lines(scan: Scan, size: int, now: float) -> list[Line]:
    """Return a scan of this session laid out to ``size`` cells."""
    out: list[Line] = [cut(line((scan.url, "strong")), size)]
    out += [cut(probe.line(now), size) for probe in scan.probes]
    tail = scan.words or f"{scan.finished} of {len(scan.probes)} probes {glyphs.DOT} esc cancels"
    return [*out, BLANK, *hang((), tail, size, "muted")]


def _exchange(exchange: Exchange, size: int) -> list[Line]:
    is_file = exchange.name in ("robots", "llms", "ai-plugin", "ucp", "mcp")
    outcome = exchange.outcome
    quiet = is_file and outcome in ("refused", "inconclusive") and exchange.status in (404, 410)
    sign, role = (glyphs.DOT, "muted") if quiet else (glyphs.OUTCOME[outcome], glyphs.role_of(outcome))
    head = line(
        (f"  {sign} ", role),
        f"{fit(labels.probe(exchange.name), NAME)} ",
        (f"{exchange.status or 'none':>4}", role),
        (f"{seconds(exchange.elapsed_ms):>9}  {_notes(exchange)}", "muted"),
    )
    out: list[Line] = [acting(cut(head, size), f"screen.exchange('{exchange.name}')")]
    if exchange.detail:
        out += hang((Piece("    "),), exchange.detail, size, "muted")
    if exchange.challenge is not None:
        found = exchange.challenge
        words = [found.vendor, "challenge:", found.signal]
        if exchange.another_page:
            words = ["another page than the browser’s:", found.signal]
        if found.reference:
            words += ["reference", found.reference]
        out += hang((Piece("    "),), " ".join(words), size, "warn")
    return out


def _notes(exchange: Exchange) -> str:
    parts = []
    if exchange.attempts:
        parts.append("asked twice")
    if exchange.hops:
        parts.append(count(len(exchange.hops), "redirect"))
    if exchange.cut:
        parts.append("body cut")
    return ", ".join(parts)
