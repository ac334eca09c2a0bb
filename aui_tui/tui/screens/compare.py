"""Two or more hosts side by side: what differs first, what is alike folded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from shlex import quote
from typing import Final, NamedTuple

from textual.app import ComposeResult
from textual.content import Content

from aui_tui.model import agents, labels
from aui_tui.model.card import ReportCard
from aui_tui.model.labels import ago
from aui_tui.model.registry import surfaces
from aui_tui.model.report import HostReport
from aui_tui.model.signs import sign
from aui_tui.report import sections
from aui_tui.text import cells, count, fit, joined
from aui_tui.tui import glyphs
from aui_tui.tui.bindings import COMPARE
from aui_tui.tui.context import attempt, start
from aui_tui.tui.dashboard import DashboardScreen
from aui_tui.tui.export import ExportJob
from aui_tui.tui.rows import ListEntry, Part, entry, in_full, paragraph, rule, spread, term, text
from aui_tui.tui.screens.exchange import opened
from aui_tui.tui.screens.windows import ReadScreen
from aui_tui.tui.widgets.listing import RowList
from aui_tui.tui.words import TERMS


class Value(NamedTuple):
    """What one card says in a line, and its tone; ``note``: the line of robots.txt it comes from, never compared."""

    text: str
    tone: str = ""
    note: str = ""


class ComparedLine(NamedTuple):
    """One line: its name and what each card says."""

    name: str
    values: tuple[Value, ...]

    @property
    def differs(self) -> bool:
        """Whether the cards disagree."""
        return len({value.text for value in self.values}) > 1


class CompareScreen(DashboardScreen[None]):
    """Reads the cards of ``hosts`` one after another and shows those that are there."""

    BINDINGS = COMPARE
    AUTO_FOCUS = "RowList"

    def __init__(self, hosts: tuple[str, ...]) -> None:
        super().__init__()
        self._hosts = hosts
        self.reports: list[HostReport] = []
        """What was read, in order."""
        self._lines: list[ComparedLine] = []
        self._every = False

    def inside(self) -> ComposeResult:
        yield RowList(opens="Evidence", id="figures", classes="pane")

    def on_mount(self) -> None:
        self.watch(self.app, "aged", lambda: self._draw(), init=False)
        start(self, "compare", self._read)

    async def _read(self) -> None:
        for host in self._hosts:
            report, problem = await attempt(self.context.service.site(host))
            if report is None:
                self.app.notice(problem, "error")
            else:
                self.reports.append(report)
                self._draw(top=True)

    def _draw(self, *, top: bool = False) -> None:
        reports, every, block = [*self.reports], self._every, self.here
        found = self._lines = lines(reports, self.context.clock())
        block.border_title = Content(joined(report.card.host for report in reports))
        block.border_subtitle = Content(LEGEND)
        block.show(lambda size: compare(reports, found, size, every=every), top=top)
        self.draw_lines()

    def title_line(self, size: int) -> Content:
        left = text((" Compare", "title"), f"  {count(len(self._hosts), 'site')}")
        words = f"{sum(row.differs for row in self._lines)} of {len(self._lines)} lines differ "
        return spread(left, text((words, "muted")), size)

    def _here(self) -> tuple[ComparedLine | None, int]:
        """Return the line under the cursor, and the place of the site there."""
        place, _, name = self.here.key.partition(" ")
        row = next((row for row in self._lines if row.name == name), None)
        return row, int(place or 0)

    def foot_line(self, size: int) -> Content:
        row, place = self._here()
        if row is None:
            return term("disagree", "What the sites do not have in common; a shows all lines.")
        word, note = row.values[place].text[2:], row.values[place].note
        words = " · ".join(value.text for value in row.values)
        said = f"{TERMS[word][:-1]} ({note})." if note else ""
        return term(word, said) if word in TERMS else term(row.name, words)

    def on_row_list_chosen(self) -> None:
        """Show what is behind the verdict of a site, of any other line what each site says in full."""
        row, place = self._here()
        surface = next((one.slug for one in surfaces() if row is not None and one.label == row.name), "")
        if surface:
            self.app.push_screen(opened(self.reports[place], surface))
        elif row is not None:
            said = [(one.card.host, value.text) for one, value in zip(self.reports, row.values, strict=True)]
            self.app.push_screen(ReadScreen(row.name, partial(in_full, said)))

    def action_site(self, step: int) -> None:
        self.here.action_side(step)

    def action_export(self) -> None:
        self.app.export(ExportJob("list", "compared.json", hosts=self._hosts))

    def action_browse(self) -> None:
        if self.reports:
            self.app.browse(self.reports[self._here()[1]].card.host)

    def action_every(self) -> None:
        self._every = not self._every
        self._draw()

    def command(self) -> str:
        first, *others = map(quote, self._hosts)
        return "; ".join(f"aui-tui diff {first} {other}" for other in others)


TO_DO: Final = Value("to do", "warn")
LABEL: Final = 20
BAR: Final = 16
"""Cells of a bar of points."""
POINTS: Final = re.compile(r"(\d+)/(\d+)")
LEGEND: Final = f"{glyphs.DISAGREE} differs  = alike"


def compare(
    reports: Sequence[HostReport], found: Sequence[ComparedLine], size: int, *, every: bool = False
) -> list[ListEntry]:
    """Return the sites side by side in ``size`` cells, what differs first; ``every``: also line by line what is not."""
    if not reports:
        return []
    label = 2 * LABEL if size >= 110 else LABEL if size >= 70 else 13
    room = max((size - label - 4) // len(reports) - 1, 8)
    differ, alike = [row for row in found if row.differs], [row for row in found if not row.differs]
    heads = "".join(fit(_head(report, room), room) + " " for report in reports)
    out = [
        paragraph(sentence(reports), size, "strong"),
        rule(f"{glyphs.DISAGREE} what differs", "", size),
        entry(" " * (label + 4), (heads, "title")),
        *(_row(row, label, room) for row in differ),
        rule(f"= what is alike: {count(len(alike), 'line')}", "a folds them" if every else "a shows them", size),
    ]
    if every:
        return [*out, *(_row(row, label, room) for row in alike)]
    names: dict[Value, list[str]] = {}
    for row in alike:
        names.setdefault(row.values[0]._replace(note=""), []).append(row.name)
    said = (_said(", ".join(names[value]), value) for value in names if value.text != "–")
    return [*out, paragraph(" · ".join(said), size, "muted")]


def _head(report: HostReport, room: int) -> str:
    """Return host and score, the host alone where they have no room."""
    both = f"{report.card.host}  {_score(report.card)}"
    return both if cells(both) <= room else report.card.host


def _score(card: ReportCard) -> str:
    return "–" if card.unreachable else labels.score(card.score, card.grade)


def _said(names: str, value: Value) -> str:
    """Return what all cards say in some lines: ``Claude, Amazon ✓ in``, of fixes ``to do: Add an /llms.txt file``."""
    return f"{value.text}: {names}" if value == TO_DO else f"{names} {value.text}"


def _row(row: ComparedLine, label: int, room: int) -> ListEntry:
    mark = (f"{glyphs.DISAGREE} ", "accent") if row.differs else ("= ", "muted")
    parts: list[Part] = ["  ", mark, fit(row.name, label - 1) + " "]
    for place, value in enumerate(row.values):
        words = fit(_in_room(value, room), room).rstrip()
        parts += [(words, value.tone, f"{place} {row.name}"), " " * (room + 1 - cells(words))]
    return entry(*parts)


def _in_room(value: Value, room: int) -> str:
    """Return a value with its note as far as there is room, points such as ``18/25`` with a bar of them."""
    words = value.text
    points = POINTS.match(words)
    if value.note:
        forms = (f"{words:<11}{note}" for note in (value.note, value.note.partition(",")[0]))
        return next((form for form in forms if cells(form) <= room), words)
    if not points or room < 12:
        return words
    full, rest = glyphs.bar(int(points[1]), int(points[2]), min(room - 6, BAR))
    return f"{words:<5} {full}{rest}"


def sentence(reports: Sequence[HostReport]) -> str:
    """Return in one sentence who is turned away by all of the sites, and by which of them alone."""
    out = {report.card.host: _turned_away(report) for report in reports if not report.card.unreachable}
    if not out:
        return "None of them could be reached."
    first, *others = out.values()
    every = [name for name in first if others and all(name in other for other in others)]
    all_of = "Both" if len(out) == 2 else "All"
    parts = [f"{all_of} turn {_away(every, *out.values())}"] if every else []
    for host, names in out.items():
        own = [name for name in names if name not in every]
        if own:
            parts.append(f"{host} {'also ' if every else ''}turns {_away(own, names)}")
    words = "; ".join(parts) or "No assistant is turned away by any of them"
    return f"{words}."


def _turned_away(report: HostReport) -> dict[str, str]:
    """Return the assistants that a site turns away, and how."""
    every = agents.each(report.card, report.observations)
    return {name: one.verdict for one in every if one.verdict in agents.SHUT for name in one.names}


def _away(names: Sequence[str], *sites: Mapping[str, str]) -> str:
    """Return that assistants are turned away, and where nothing else does it that robots.txt does."""
    told = all(words[name] == agents.TOLD_NO for words in sites for name in names)
    return f"{joined(names)} away{' by robots.txt' if told else ''}"


def lines(reports: Sequence[HostReport], now: float) -> list[ComparedLine]:
    """Return every line of a comparison: who gets in, points, facts, fixes."""
    said = [dict(_lines(report, now)) for report in reports]
    fixes = {fix.title for report in reports for fix in report.card.recommendations}
    nothing = Value(f"{sign('good').sign} nothing to do", "good")
    return [
        ComparedLine(name, tuple(one.get(name, nothing if name in fixes else Value("–", "muted")) for one in said))
        for name in dict.fromkeys(name for one in said for name in one)
    ]


def _lines(report: HostReport, now: float) -> Iterator[tuple[str, Value]]:
    """Yield what one report says, by the name of the line."""
    card, word = report.card, "unreachable" if report.card.unreachable else report.card.stance
    points = sections.points(report)
    rows = agents.agent_rows(card, report.observations)
    every = agents.each(card, report.observations) if not card.unreachable else ()
    for surface, one in zip(surfaces(), every, strict=False):
        found = sign(one.verdict)
        by = (row for row in rows if row.line and row.verdict == one.verdict in (agents.TOLD_NO, agents.PART))
        row = next((row for row in by if row.key in (surface.live, *surface.agents)), None)
        note = f"line {row.line}, “{row.rule}”" if row is not None else ""
        yield surface.label, Value(f"{found.sign} {one.verdict}", found.tone, note)
    yield from ((item.label, Value(item.cells[1])) for item in (points.items if points is not None else ()))
    yield "Category", Value(card.category)
    yield "Method", Value(card.method)
    facts = (item for item in sections.facts(report).items if item.label not in ("Title", "Limit"))
    yield from ((item.label, Value(item.text)) for item in facts)
    yield "Stance", Value(word, sign(word).tone)
    yield "Score", Value(_score(card), "strong")
    yield "Scanned", Value(ago(card.scanned_at, now))
    yield from ((fix.title, TO_DO) for fix in card.recommendations)
