"""Figures over a list, in numbered panes: who gets in, scores, stances, servers, what sites lack, what changed."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import Final

from msgspec.structs import replace as with_fields
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content

from aui_tui.model.listing import Row
from aui_tui.model.overview import Move, Moves, Overview
from aui_tui.model.query import Query
from aui_tui.report.overview import overview
from aui_tui.report.sections import Section
from aui_tui.text import count
from aui_tui.tui import glyphs
from aui_tui.tui.bindings import OVERVIEW, bindings
from aui_tui.tui.context import attempt, start
from aui_tui.tui.dashboard import DashboardScreen
from aui_tui.tui.rows import ListEntry, blank, paragraph, term, text, title
from aui_tui.tui.state import Changes, ListState
from aui_tui.tui.tables import table
from aui_tui.tui.widgets.listing import RowList
from aui_tui.tui.words import day

PANES: Final = {
    "Who gets in": ("assistants",),
    "Scores": ("grades", "scores"),
    "Stances": ("stances",),
    "Served by": ("edges",),
    "What sites lack most": ("failing",),
    "Since": ("changes", "turned", "movers"),
}
"""The panes by their titles, and the sections of each."""
COLUMNS: Final = {
    **dict.fromkeys(("score", "grade", "rank"), 2),
    **dict.fromkeys(("stance", "category"), 3),
    **dict.fromkeys(("by", "edge"), 4),
    **dict.fromkeys(("next", "finding"), 5),
    **dict.fromkeys(("change", "disagree"), 6),
}
"""The pane that counts the values of a column of the list; of the others, who gets in."""
TERMS: Final = {
    "grade": "scores",
    "score": "scores",
    "stance": "stance",
    "category": "stance",
    "edge": "served by",
    "fix": "lacking",
    "host": "movers",
    "contradiction": "disagree",
}
"""The term that explains a count, by the field of its query."""
WEEKS_FROM: Final = 100
"""Cells from which the change of the last weeks is read, which takes longer."""
MOVERS: Final = 20
"""Hosts whose score rose most, and as many that fell most, that the last pane names."""
UNASKED: Final = 30_000
"""Hosts up to which the change of each assistant is counted before a day is chosen."""
AGO: Final = (1, 7, 30, 90)
"""Days from which changes may be counted with one key."""


class OverviewScreen(DashboardScreen[Query | None]):
    """Answers with a narrower query when a count was chosen, else None."""

    BINDINGS = bindings(OVERVIEW)
    AUTO_FOCUS = ""
    DEFAULT_CSS = """
    OverviewScreen #figures { layout: vertical; overflow-y: auto; padding: 0 1; scrollbar-size-vertical: 1;
      scrollbar-color: $role-rest; scrollbar-background: $background; }
    OverviewScreen #figures .pane { height: auto; min-height: 4; }
    OverviewScreen.-wide #figures { layout: grid; grid-size: 6; grid-rows: 11 1fr 1fr; overflow-y: hidden; }
    OverviewScreen.-wide #figures .pane { height: 1fr; column-span: 2; }
    OverviewScreen.-wide #figures #figures-1 { column-span: 6; }
    OverviewScreen.-wide #figures #figures-2, OverviewScreen.-wide #figures #figures-3 { column-span: 3; }
    OverviewScreen.-zoomed #figures { layout: vertical; }
    OverviewScreen.-zoomed #figures .pane { display: none; }
    OverviewScreen.-zoomed #figures .pane.-only { display: block; height: 1fr; }
    """
    SCOPED_CSS = False

    def __init__(self, query: Query, opened: str = "", pane: int = 1) -> None:
        """``opened``: the query of the count under the cursor, empty for the first one in ``pane``."""
        super().__init__()
        self._query = query
        self.opened = opened
        self._pane = pane
        self._figures: Overview | None = None
        self._changes = Changes("", Moves())
        self._sections: dict[str, Section] = {}

    def inside(self) -> ComposeResult:
        with Container(id="figures"):
            for number in range(1, len(PANES) + 1):
                yield RowList(opens="List", id=f"figures-{number}", classes="pane")

    def on_mount(self) -> None:
        self.query_one(f"#figures-{self._pane}").focus()
        start(self, "overview", self._read, "")

    async def _read(self, since: str) -> None:
        service = self.context.service
        figures, problem = await attempt(service.overview(self._query))
        moves: Moves | None = None
        if figures is None:
            self.app.notice(problem, "error")
            return
        if since or figures.hosts <= UNASKED:
            moves, problem = await attempt(service.moves(self._query, since, MOVERS))
        if since and moves is None and not problem:
            problem = "This source keeps no earlier scans; it has the change since each scan before."
        if problem:
            self.app.notice(problem, "error")
        if moves is None:
            moves, since = await self._last_moves(figures), ""
        self._show(figures, Changes(since, moves))
        if self.size.width >= WEEKS_FROM:
            weeks, _ = await attempt(service.weeks(self._query))
            if weeks:
                self._show(figures, Changes(since, with_fields(moves, weeks=weeks)))

    async def _last_moves(self, figures: Overview) -> Moves:
        """Return the changes since each scan before, which every list has."""
        query = with_fields(self._query, sort="change", descending=False)
        rising, _ = await attempt(self.context.service.index(query))
        falling, _ = await attempt(self.context.service.index(with_fields(query, descending=True)))
        up = [move_of(row) for row in (rising.ranked[:MOVERS] if rising else ()) if (row.change or 0) > 0]
        down = [move_of(row) for row in (falling.ranked[:MOVERS] if falling else ()) if (row.change or 0) < 0]
        same, unknown = figures.compared - figures.risen - figures.fallen, figures.hosts - figures.compared
        return Moves(
            risen=figures.risen, fallen=figures.fallen, same=same, unknown=unknown, up=tuple(up), down=tuple(down)
        )

    def _show(self, figures: Overview, changes: Changes) -> None:
        first = self._figures is None
        self._figures, self._changes = figures, changes
        self._sections = {section.name: section for section in overview(figures, changes.moves)}
        for number, (name, parts) in enumerate(PANES.items(), 1):
            block = self.query_one(f"#figures-{number}", RowList)
            since = f" {self._since()}" if number == len(PANES) else ""
            block.border_title = Content(f"{number} {name}{since}")
            shown = [self._sections[part] for part in parts if part in self._sections]
            block.write_below(partial(legend, shown[0] if shown else None))
            block.show(partial(pane, shown), top=first)
        self.draw_lines()
        if first and self.opened:
            self.call_after_refresh(self._find_opened)

    def _find_opened(self) -> None:
        """Put the cursor where it was when the list was opened from here."""
        for block in self.query(RowList):
            if block.go_to(self.opened):
                block.focus()
                return

    def title_line(self, size: int) -> Content:
        words = self._query.words()
        left = text((" Overview", "title"), "  ")
        if self._figures is None:
            return text(left, "reading …")
        unreachable = self._figures.unreachable
        facts = [f"{unreachable:,} unreachable"] if unreachable else []
        facts += [words or "all categories", f"changes since {self._since()}"]
        head = text(left, (count(self._figures.hosts, "host"), "strong"))
        if not words and head.cell_length + len("".join(facts)) + 3 * len(facts) > size:
            facts.remove("all categories")
        return text(head, (" · " + " · ".join(facts), "muted"))

    def _since(self) -> str:
        return day(self._changes.since, self.context.clock()) if self._changes.since else "each scan before"

    def foot_line(self, size: int) -> Content:
        field, _, value = self.focused_list.key.partition(":")
        if field == "agent":
            word = value.partition("=")[2].replace("-", " ")
            return term("gets in" if word == "in" else word)
        return term(TERMS.get(field, "overview"))

    def on_row_list_chosen(self, message: RowList.Chosen) -> None:
        """Go back to the list, narrowed to the chosen count; an assistant has several."""
        section = self._sections.get("assistants")
        item = next((item for item in section.items if item.key == message.key), None) if section else None
        if section is None or item is None:
            self._open(message.key)
            return
        counts = zip(item.opens, section.columns, item.cells, strict=False)
        self.app.choose(item.label, {opens: (name, cell) for opens, name, cell in counts if opens}, self._open)

    def _open(self, terms: str) -> None:
        self.opened = terms
        self.dismiss(self._query.narrowed(terms))

    def action_pane(self, number: int) -> None:
        block = self.query_one(f"#figures-{number}", RowList)
        block.focus()
        if self.has_class("-zoomed"):
            self._show_only(number)

    def action_turn(self, step: int) -> None:
        number = int((self.focused_list.id or "figures-1")[-1])
        self.action_pane((number - 1 + step) % len(PANES) + 1)

    def action_zoom(self) -> None:
        self.toggle_class("-zoomed")
        self._show_only(int((self.focused_list.id or "figures-1")[-1]))

    def _show_only(self, number: int) -> None:
        for place in range(1, len(PANES) + 1):
            self.query_one(f"#figures-{place}").set_class(place == number, "-only")

    def action_since(self) -> None:
        now = self.context.clock()
        days = {ago: datetime.fromtimestamp(now - 86400 * ago, UTC).date().isoformat() for ago in AGO}
        named = {day: f"{count(ago, 'day')} ago, {day}" for ago, day in days.items()}
        choices = {"": "each scan before", **named, "?": "another day …"}
        self.app.choose("Changes since", choices, self._count_since, self._changes.since)

    def _count_since(self, since: str) -> None:
        if since == "?":
            hint = "A day (UTC), such as 2026-11-15. Each host is compared with its last scan up to that day."
            self.app.ask("Changes since", hint, self._count_since, example="2026-11-15")
        else:
            start(self, "overview", self._read, since)

    def command(self) -> str:
        plain = with_fields(self._query, sort="rank", descending=False)
        return ListState(query=plain).command() + " --overview"


def pane(parts: list[Section], size: int) -> list[ListEntry]:
    """Return the ``parts`` of a pane one below another, each but the first with its title."""
    if not parts:
        return [paragraph("There is nothing to count.", size, "muted")]
    first, *others = parts
    return [*table(first, size), *(row for part in others for row in (blank(), title(part.title), *table(part, size)))]


def legend(section: Section | None, size: int) -> str:
    """Return what the fillings of the bars mean, for the border of a pane."""
    named = [f"{glyphs.FILLINGS[word]} {word}" for word in (section.bars if section is not None else ())]
    return (" " if size < 100 else "  ").join(mark for mark in named if mark[0] != " ")


def move_of(row: Row) -> Move:
    """Return the change of a row since the scan before."""
    return Move(row.summary.host, row.summary.score - (row.change or 0), row.summary.score)
