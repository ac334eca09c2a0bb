"""Figures over a list, in numbered panes: who gets in, scores, stances, edges, what sites lack, what changed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import ClassVar, Final

from msgspec.structs import replace as with_fields
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen

from aui_tui.model.query import Query
from aui_tui.model.view import Move, Moves, Overview, Row
from aui_tui.service.protocol import HasMoves
from aui_tui.text import count
from aui_tui.tui import messages
from aui_tui.tui.bindings import OVERVIEW
from aui_tui.tui.context import Context, attempt, start
from aui_tui.tui.draw import Line, Piece, cut, line, width
from aui_tui.tui.panes.overview import FOOT, STACKED, narrowed, overview
from aui_tui.tui.screens.windows import AskScreen, Choice, ChooseScreen
from aui_tui.tui.state import Changes, ListState
from aui_tui.tui.widgets.bars import Bar, KeyBar
from aui_tui.tui.widgets.lines import FigureList
from aui_tui.tui.words import day, term

MOVERS: Final = 20
"""Hosts whose score rose most, and as many that fell most, that the last pane names."""
UNASKED: Final = 30_000
"""Hosts up to which the change of each assistant is counted before a day is chosen."""
AGO: Final = (1, 7, 30, 90)
"""Days from which changes may be counted with one key."""


class OverviewScreen(Screen[Query | None]):
    """Answers with a narrower query when a figure was chosen, else None."""

    BINDINGS: ClassVar[list[BindingType]] = [*OVERVIEW]
    AUTO_FOCUS = "FigureList"

    def __init__(self, context: Context, query: Query) -> None:
        super().__init__()
        self.context = context
        self._asked = query
        self._figures: Overview | None = None
        self._changes: Changes | None = None
        self._pane = 1
        self._only = 0

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        yield Bar(self._title, id="title")
        yield FigureList(id="figures")
        yield Bar(self._foot, id="foot")
        yield KeyBar(id="keys")

    def on_mount(self) -> None:
        """Ask for the figures."""
        start(self, "overview", self._read, "")

    async def _read(self, since: str) -> None:
        figures, problem = await attempt(self.context.service.overview(self._asked))
        if figures is None:
            self.post_message(messages.Notification(problem, "error"))
            return
        moves, problem = await (self._moves_since(since) if since else self._last_moves(figures))
        if moves is None:
            self.post_message(messages.Notification(problem, "error"))
            moves, since = (await self._last_moves(figures))[0], ""
        self.post_message(messages.OverviewReady(figures, Changes(since, moves or Moves())))
        service = self.context.service
        if moves is None or not isinstance(service, HasMoves):
            return
        if not since and figures.hosts <= UNASKED:
            found, _ = await attempt(service.moves(self._asked, "", 0))
            if found is not None:
                moves = with_fields(moves, agents=found.agents)
                self.post_message(messages.OverviewReady(figures, Changes("", moves)))
        if self.size.width >= STACKED:
            weeks, _ = await attempt(service.weeks(self._asked))
            if weeks:
                self.post_message(messages.OverviewReady(figures, Changes(since, with_fields(moves, weeks=weeks))))

    async def _moves_since(self, since: str) -> tuple[Moves | None, str]:
        service = self.context.service
        if not isinstance(service, HasMoves):
            return None, "This source keeps no earlier scans; it has the change since each scan before."
        return await attempt(service.moves(self._asked, since, MOVERS))

    async def _last_moves(self, figures: Overview) -> tuple[Moves, str]:
        """Return the changes since each scan before, which every list has."""
        asked = with_fields(self._asked, sort="change", descending=False)
        rising, _ = await attempt(self.context.service.index(asked))
        falling, _ = await attempt(self.context.service.index(with_fields(asked, descending=True)))
        up = [move_of(row) for row in (rising.ranked[:MOVERS] if rising else ()) if (row.change or 0) > 0]
        down = [move_of(row) for row in (falling.ranked[:MOVERS] if falling else ()) if (row.change or 0) < 0]
        same = figures.hosts - figures.risen - figures.fallen
        return Moves(risen=figures.risen, fallen=figures.fallen, same=same, up=tuple(up), down=tuple(down)), ""

    def on_overview_ready(self, message: messages.OverviewReady) -> None:
        """Draw the figures."""
        first = self._figures is None
        self._figures, self._changes = message.overview, message.changes
        self._draw(top=first)

    def _draw(self, *, top: bool = False) -> None:
        figures, changes = self._figures, self._changes
        if figures is None or changes is None:
            return
        shown = self.query_one(FigureList)
        height = shown.size.height
        shown.show(lambda size: overview(figures, changes, size, height, only=self._only), top=top)
        for bar in self.query(Bar):
            bar.refresh()

    def on_resize(self) -> None:
        """Lay the panes out for the new height."""
        self.call_after_refresh(self._draw)

    def on_figure_list_moved(self) -> None:
        """Let the foot follow the cursor."""
        self.query_one("#foot", Bar).refresh()

    def _title(self, size: int) -> Line:
        words = self._asked.words()
        left = line(" ", ("Overview", "title"), "  ")
        if self._figures is None or self._changes is None:
            return (*left, Piece("reading …"))
        gone = self._figures.unreachable
        facts = [f"{gone:,} unreachable"] if gone else []
        facts += [words or "all categories", f"changes since {self._since()}"]
        head = (*left, Piece(count(self._figures.hosts, "host"), "strong"))
        if not words and width(head) + len("".join(facts)) + 3 * len(facts) > size:
            facts.remove("all categories")
        return cut((*head, Piece(" · " + " · ".join(facts), "muted")), size)

    def _since(self) -> str:
        since = self._changes.since if self._changes is not None else ""
        return day(since, self.context.clock()) if since else "each scan before"

    def _foot(self, size: int) -> Line:
        here = self.query_one(FigureList).here
        parts = here.action.split("'") if here is not None else []
        return term(FOOT.get(parts[1], "overview") if len(parts) > 1 else "overview", size)

    def action_choose_figure(self, kind: str, value: str) -> None:
        """Go back to the list, narrowed to the chosen figure."""
        self.dismiss(narrowed(self._asked, kind, value))

    def action_pane(self, number: int) -> None:
        """Put the cursor on the first figure of a pane."""
        shown = self.query_one(FigureList)
        self._pane = number
        if self._only:
            self._only = number
            self._draw(top=True)
        among = shown.figures_under(f" {number} ")
        if among:
            shown.go_to(min(among, key=lambda figure: (figure.line, figure.start)))

    def action_zoom(self) -> None:
        """Give one pane the whole screen, or share it again."""
        self._only = 0 if self._only else self._pane
        self._draw(top=True)

    def action_since(self) -> None:
        """Choose from when on changes are counted."""
        now = self.context.clock()
        days = {ago: datetime.fromtimestamp(now - 86400 * ago, UTC).date().isoformat() for ago in AGO}
        choices = [Choice(day, f"{count(ago, 'day')} ago, {day}") for ago, day in days.items()]
        choices = [Choice("-", "each scan before"), *choices, Choice("?", "another day …")]
        current = (self._changes.since if self._changes is not None else "") or "-"
        self.app.push_screen(ChooseScreen("Changes since", choices, current), self._count_since)

    def _count_since(self, since: str | None) -> None:
        if since == "?":
            hint = "A day (UTC), such as 2026-11-15. Each host is compared with its last scan up to that day."
            self.app.push_screen(AskScreen("Changes since", hint, "", "2026-11-15"), self._count_since)
        elif since is not None:
            start(self, "overview", self._read, "" if since == "-" else since)

    def command(self) -> str:
        """Return the shell command that prints these figures."""
        plain = with_fields(self._asked, sort="rank", descending=False)
        return ListState(query=plain).command() + " --overview"


def move_of(row: Row) -> Move:
    """Return the change of a row since the scan before."""
    return Move(row.summary.host, row.summary.score - (row.change or 0), row.summary.score)
