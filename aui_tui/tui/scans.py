"""Scans that run or have just ended, as frozen data: one line per probe."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec
from msgspec.structs import replace

from aui_tui.records import labels
from aui_tui.records.observations import BROWSER, FILE_PROBES, ProbeEvent
from aui_tui.records.registry import registry
from aui_tui.records.tasks import TASK, TaskEvent
from aui_tui.records.view import ScanAnswer
from aui_tui.text import clean, fit
from aui_tui.tui import glyphs
from aui_tui.tui.draw import Line, Piece, cut, line
from aui_tui.tui.words import seconds

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
        if waited < self.wait:
            left = format(self.wait - waited, ".0f")
            return line((glyphs.WAIT, "accent"), " ", label, " ", (f"in {left} s: {self.note}", "muted"))
        waited = min(waited - self.wait, PROBE_LIMIT)
        words = " ".join((format(waited, ".1f") + "/" + format(PROBE_LIMIT, ".0f"), "s"))
        if self.state == "retrying":
            words = "asked again " + words
        return line((glyphs.WAIT, "accent"), " ", label, " ", (words, "muted"))

    def _done(self, label: str) -> Line:
        role = glyphs.role_of(self.outcome)
        sign = glyphs.OUTCOME.get(self.outcome, glyphs.DOT)
        if self.name == "cache":
            return line((sign, role), " ", label, " ", self.note or self.outcome)
        status = str(self.status) if self.status else "none"
        parts = [Piece(sign, role), Piece(" "), Piece(label), Piece(" "), Piece(status.rjust(4), role)]
        parts.append(Piece(seconds(self.elapsed_ms).rjust(9), "muted"))
        if self.note:
            parts.append(Piece("  " + self.note, "muted"))
        return tuple(parts)


class Scan(msgspec.Struct, frozen=True):
    """A scan: ``state`` is running, done, failed or cancelled; ``words`` say how it ended."""

    number: int
    url: str
    started: float
    probes: tuple[Probe, ...]
    state: str = "running"
    words: str = ""
    ended: float = 0.0
    answer: ScanAnswer | None = None
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
        known[old.name] = Probe(
            old.name,
            event.state,
            since,
            event.status,
            event.elapsed_ms,
            event.outcome,
            clean(event.note, 120),
            event.wait,
        )
        return replace(self, probes=tuple(known.values()))

    def closed(self, state: str, words: str, now: float, answer: ScanAnswer | None = None) -> Scan:
        """Return the scan after its end."""
        return replace(self, state=state, words=words, ended=now, answer=answer)

    def concerns(self, host: str) -> bool:
        """Whether this is a scan of ``host``."""
        return self.url == host or (self.answer is not None and self.answer.card.host == host)


class TaskRun(msgspec.Struct, frozen=True):
    """A run of the tasks on ``host`` that is under way, or has just ended: what it told so far."""

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
                named = " “" + event.step.name + "”" if event.step.name else ""
                words = " ".join((event.step.verb, event.step.role + named, event.step.note))
                steps.append(cut(line("    ", (words, "muted")), size))
        if task:
            out += [line((glyphs.WAIT + " ", "accent"), task), *steps]
        if not self.events:
            out = [
                line((glyphs.WAIT + " ", "accent"), "The browser is starting; nothing is sent but to read and search.")
            ]
        return [*out, line(("esc stops and keeps what was found", "muted"))] if self.running else out


def changed(scans: tuple[Scan, ...], number: int, change: Callable[[Scan], Scan]) -> tuple[Scan, ...]:
    """Return ``scans`` with scan ``number`` changed while it runs; one that has ended stays as it is."""
    return tuple(change(scan) if scan.number == number and scan.running else scan for scan in scans)
