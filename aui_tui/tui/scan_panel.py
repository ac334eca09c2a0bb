"""Scans as frozen data and as rows: those that run, and the log of one that has ended."""

from __future__ import annotations

from shlex import quote
from typing import Final

import msgspec
from msgspec.structs import asdict
from textual.content import Content
from textual.worker import Worker

from aui_tui.model import labels
from aui_tui.model.card import ReportCard
from aui_tui.model.labels import seconds
from aui_tui.model.observations import FILE_PROBES, Exchange, probe_names
from aui_tui.model.points import comparable
from aui_tui.model.progress import PROBE_SECONDS, ProbeEvent
from aui_tui.model.report import HostReport
from aui_tui.model.tasks import TaskEvent, run_of, task_label
from aui_tui.text import clean, count, fit
from aui_tui.tui.rows import ListEntry, blank, entry, marked, pad, paragraph, spread, text, title
from aui_tui.tui.words import clock


class Probe(ProbeEvent, frozen=True, kw_only=True):
    """One probe as its last event says, ``state`` empty before the first; ``since`` is when it started."""

    state: str = ""
    since: float = 0.0

    def row(self, now: float) -> Content:
        """Return the probe as a row of the checklist, the limit counting while it waits."""
        label = labels.name(self.name).ljust(NAME)
        if self.state == "done" and self.name != "cache":
            return _answer(self.outcome, self, self.note)
        if self.state == "done":
            words = "asking the site" if self.outcome == "miss" else self.note or self.outcome
            return text(marked(self.outcome), f" {label} ", words)
        if not self.state:
            return text((f"· {label}", "muted"))
        waited = max(now - self.since, 0.0)
        words = f"in {self.wait - waited:.0f} s: {self.note}"
        if waited >= self.wait:
            prefix = "asked again " if self.state == "retrying" else ""
            words = f"{prefix}{min(waited - self.wait, PROBE_SECONDS):.1f}/{PROBE_SECONDS:.0f} s"
        return text(("…", "accent"), f" {label} ", (words, "muted"))


def _answer(word: str, probe: Probe | Exchange, note: str) -> Content:
    """Return a probe that has ended as a row, with the sign of ``word``."""
    sign, tone = marked(word)
    figures = (f"{probe.status or 'none':>4}", tone), (f"{seconds(probe.elapsed_ms):>9}  {note}", "muted")
    return text((sign, tone), f" {fit(labels.name(probe.name), NAME)} ", *figures)


class Scan(msgspec.Struct, eq=False):
    """A scan of this session: ``state`` is running, done, failed or cancelled; ``words`` say how it ended.

    ``force``: it skips the 24 h cache. ``listed``: ``url`` is a host of the index. ``quiet``: one of many, whose good
    end is not reported. ``page``: the screen it was asked for on, where its card opens. ``before``: the card of the
    scan before.
    """

    url: str
    force: bool = False
    listed: bool = False
    quiet: bool = False
    page: object = None
    probes: dict[str, Probe] = msgspec.field(
        default_factory=lambda: {name: Probe(name=name) for name in ("cache", *probe_names())}
    )
    state: str = "running"
    words: str = ""
    answer: HostReport | None = None
    before: ReportCard | None = None
    problem: Exception | None = None
    worker: Worker[None] | None = None

    @property
    def running(self) -> bool:
        """The end is not known yet."""
        return self.state == "running"

    @property
    def finished(self) -> int:
        """Probes that came to their end."""
        return sum(probe.state == "done" for probe in self.probes.values())

    def follow(self, event: ProbeEvent, now: float) -> None:
        """Take in what has happened; a probe of another name joins the list."""
        old = self.probes.get(event.name, Probe(name=clean(event.name, 40)))
        since = now if event.state in ("started", "retrying") else old.since
        fields = asdict(event) | {"name": old.name, "note": clean(event.note, 120)}
        self.probes[old.name] = Probe(**fields, since=since)

    def concerns(self, host: str) -> bool:
        """Whether this is a scan of ``host``."""
        return self.url == host or (self.answer is not None and self.answer.card.host == host)


class RunningTasks(msgspec.Struct, frozen=True):
    """A run of the tasks on ``host`` that is under way, or has just ended: what it reported so far."""

    host: str
    events: tuple[TaskEvent, ...] = ()
    running: bool = True

    def rows(self) -> list[ListEntry]:
        """Return the tasks that have ended, then the steps of the one under way."""
        ended: list[ListEntry] = []
        under_way: dict[str, list[ListEntry]] = {}
        for event in self.events:
            label = task_label(event.task)
            if event.state == "ended" and event.result is not None:
                word = run_of(event.result).word
                ended.append(entry(f"{fit(label, 26)} ", marked(word), (f" {word}", "muted")))
                under_way.pop(label, None)
            elif event.state == "started":
                under_way[label] = []
            elif event.state == "step" and event.step is not None:
                named = f" “{event.step.name}”" if event.step.name else ""
                step = entry((f"    {event.step.verb} {event.step.role}{named} {event.step.note}", "muted"))
                under_way.setdefault(label, []).append(step)
        waiting = under_way or {"The browser is starting; it reads and searches, and sends no form.": []}
        now = [row for label, steps in waiting.items() for row in (entry(("… ", "accent"), label), *steps)]
        return [*ended, *now, entry(("esc stops and keeps the results", "muted"))] if self.running else ended


# The end of a scan


def ended_words(scan: Scan, error: str) -> tuple[str, str]:
    """Return the state in which a scan ended and one sentence on it."""
    report, before = scan.answer, scan.before
    if report is None:
        return ("failed", error) if error else ("cancelled", f"Scan of {scan.url} cancelled.")
    card = report.card
    if card.unreachable:
        words = card.top_evidence
        return "done", words if words.startswith(card.host) else f"{card.host} could not be reached: {words}"
    result = f"{card.host}: {labels.result(card)}."
    if report.source == "cache":
        return "done", f"{result} Answer {labels.dated(report.age)}. f asks the site again."
    if before is None or before.unreachable:
        return "done", result
    was, now = comparable(before, card)
    if was == now:
        return "done", f"{card.host}: {now}, as before."
    return "done", f"{card.host}: {was} → {now}, d shows why."


# Running scans

COLUMN: Final = 38
"""Cells of one column of the checklist."""
NAME: Final = 14
"""Cells of a probe's name."""


def strip(scan: Scan, width: int, *, detail: bool) -> Content:
    """Return a scan in one row: host, the probes as signs where ``detail`` asks for them, how far it is."""
    left = text((" scan ", "accent"), (scan.url, "strong"), "  ")
    right = text((f"{scan.finished}/{len(scan.probes)} probes · esc cancels ", "muted"))
    for probe in scan.probes.values() if detail else ():
        mark = marked(probe.outcome if probe.state == "done" else "waiting" if probe.state else "absent")
        left = text(left, (f"{labels.name(probe.name)} ", "muted"), mark, "  ")
    return spread(left, right, width)


def checklist(scan: Scan, width: int, now: float) -> list[Content]:
    """Return one cell per probe, in as many columns as fit, filled downwards."""
    columns, probes = max(width // COLUMN, 1), list(scan.probes.values())
    rows, room = -(-len(probes) // columns), width // columns
    return [text(*(pad(text("  ", probe.row(now)), room) for probe in probes[row::rows])) for row in range(rows)]


# The log


def unseen(host: str) -> str:
    """Return what a source that has the card of ``host`` alone does not know, and how to know it."""
    return f"This source gives the card without what was asked and answered. In the shell: aui-tui scan {quote(host)}"


def scan_log(report: HostReport, size: int) -> list[ListEntry]:
    """Return the kept exchanges of a scan, chosen by the name of their probe."""
    card, observations = report.card, report.observations
    made = f"{card.scanned_at[:10]} {clock(card.scanned_at)}  {seconds(card.elapsed_ms)} in all, from {card.vantage}"
    out = [entry((made, "muted"))]
    if observations is None:
        return [*out, blank(), paragraph(unseen(card.host), size)]
    for exchange in observations.exchanges:
        out += _exchange(exchange, size)
    return out + [
        paragraph(words, size, head=("! ", "warn")) for words in (*observations.warnings, *observations.files.notes)
    ]


def scan_rows(scan: Scan, size: int, now: float) -> list[ListEntry]:
    """Return a scan of this session."""
    tail = scan.words or f"{scan.finished} of {len(scan.probes)} probes · esc cancels"
    probes = (entry(probe.row(now)) for probe in scan.probes.values())
    return [title(scan.url), *probes, blank(), paragraph(tail, size, "muted")]


def _exchange(exchange: Exchange, size: int) -> list[ListEntry]:
    is_file = exchange.name in FILE_PROBES
    quiet = is_file and exchange.outcome in ("refused", "inconclusive") and exchange.status in (404, 410)
    head = _answer("absent" if quiet else exchange.outcome, exchange, _notes(exchange))
    out = [entry("  ", head, key=exchange.name)]
    if exchange.detail:
        out.append(paragraph(exchange.detail, size, "muted", "    "))
    if exchange.challenge is not None:
        challenge = exchange.challenge
        words = [labels.vendor(challenge.vendor).name, "challenge:", challenge.signal]
        if exchange.another_page:
            words = ["another page than the browser’s:", challenge.signal]
        words += ["reference", challenge.reference] if challenge.reference else []
        out.append(paragraph(" ".join(words), size, "warn", "    "))
    return out


def _notes(exchange: Exchange) -> str:
    parts = ["asked twice"] if exchange.attempts else []
    parts += [count(len(exchange.hops), "redirect")] if exchange.hops else []
    return ", ".join([*parts, *(["body cut"] if exchange.cut else [])])
