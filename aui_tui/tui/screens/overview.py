"""Figures over a list, drawn: grades, stances per category, the commonest failing checks."""

from __future__ import annotations

from typing import ClassVar

from msgspec.structs import replace as with_fields
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen

from aui_tui.records.query import Query, parse
from aui_tui.records.view import Overview
from aui_tui.tui import messages
from aui_tui.tui.bindings import OVERVIEW
from aui_tui.tui.context import Context, attempt, start
from aui_tui.tui.draw import Line, line
from aui_tui.tui.panes.overview import overview
from aui_tui.tui.state import ListState
from aui_tui.tui.widgets.bars import Bar, KeyBar
from aui_tui.tui.widgets.lines import FigureList
from aui_tui.tui.words import count


class OverviewScreen(Screen[Query | None]):
    """Answers with a narrower query when a figure was chosen, else None."""

    BINDINGS: ClassVar[list[BindingType]] = [*OVERVIEW]
    AUTO_FOCUS = "FigureList"

    def __init__(self, context: Context, query: Query) -> None:
        super().__init__()
        self.context = context
        self._asked = query
        self._figures: Overview | None = None

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        yield Bar(self._title, id="title")
        yield FigureList(id="figures")
        yield KeyBar(id="keys")

    def on_mount(self) -> None:
        """Ask for the figures."""
        start(self, "overview", self._read)

    async def _read(self) -> None:
        figures, problem = await attempt(self.context.service.overview(self._asked))
        self.post_message(messages.OverviewReady(figures) if figures else messages.Notification(problem, "error"))

    def on_overview_ready(self, message: messages.OverviewReady) -> None:
        """Draw the figures."""
        figures = self._figures = message.overview
        self.query_one(FigureList).show(lambda size: overview(figures, size), top=True)
        self.query_one("#title", Bar).refresh()

    def _title(self, _size: int) -> Line:
        words = self._asked.words()
        hosts = count(self._figures.hosts, "host") if self._figures is not None else "reading …"
        return line(" ", ("Overview", "title"), "  ", (hosts, "strong"), ("  " + words if words else "", "muted"))

    def action_choose_figure(self, kind: str, value: str) -> None:
        """Go back to the list, narrowed to the chosen figure."""
        query = self._asked
        if kind == "category":
            query = with_fields(query, category=value)
        elif kind == "stance":
            query = with_fields(query, stance=value)
        else:
            text = " ".join((query.line, kind + ":" + value if value else kind)).strip()
            query = with_fields(query, line=text, terms=parse(text))
        self.dismiss(query)

    def action_back(self) -> None:
        """Go back to the list as it was."""
        self.dismiss(None)

    def command(self) -> str:
        """Return the shell command that prints these figures."""
        plain = with_fields(self._asked, sort="rank", descending=False)
        return ListState(query=plain).command() + " --overview"
