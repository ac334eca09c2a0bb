"""The line that seeks words in a pane."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input

from aui_tui.text import count
from aui_tui.tui.bindings import FIND, bindings
from aui_tui.tui.rows import text
from aui_tui.tui.widgets.bars import Bar
from aui_tui.tui.widgets.listing import RowList


class FindBar(Horizontal):
    """Seeks words in a listing and says how many rows have them; hidden while nothing is sought."""

    BINDINGS = bindings(FIND)
    DEFAULT_CSS = """
    FindBar { height: 1; display: none; background: $panel; }
    FindBar.-open { display: block; }
    FindBar Bar { background: $panel; }
    FindBar Input { width: 30; height: 1; border: none; padding: 0 1; background: $surface; color: $foreground; }
    FindBar Input:focus { background-tint: $foreground 0%; }
    .-tiny FindBar Input { width: 22; }
    """
    SCOPED_CSS = False

    def __init__(self) -> None:
        super().__init__()
        self._pane: RowList | None = None
        self._matches: list[int] = []
        self._place = 0

    def compose(self) -> ComposeResult:
        yield Input(placeholder="find in this pane", compact=True, max_length=100, select_on_focus=False)
        yield Bar(self._count)

    def _count(self, _size: int) -> Content:
        if not self.query_one(Input).value:
            return Content("")
        if not self._matches:
            return text(("nothing found", "warn"))
        many = len(self._matches)
        words = f"{self._place + 1} of {count(many, 'line')}" if many > 1 else "1 line"
        return text((words, "muted"))

    def open(self, pane: RowList) -> None:
        """Seek in ``pane``."""
        self.close()
        self._pane = pane
        self.add_class("-open")
        self.query_one(Input).focus()

    def close(self) -> None:
        """Seek no longer; the marks go."""
        if self._pane is not None:
            self._pane.find("")
            self._pane = None
            self.query_one(Input).value = ""
            self.remove_class("-open")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Find as the user types."""
        event.stop()
        self._matches = self._pane.find(event.value) if self._pane is not None else []
        self._place = 0
        self.action_step(0)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_step(1)

    def action_step(self, step: int) -> None:
        if self._pane is not None and self._matches:
            self._place = (self._place + step) % len(self._matches)
            self._pane.scroll_to_row(self._matches[self._place])
        elif step:
            self.notify("There is no line to go to: nothing is found.", markup=False)
        self.query_one(Bar).refresh()

    def action_leave(self) -> None:
        pane = self._pane
        self.close()
        if pane is not None:
            pane.focus()
