"""The line that finds words in one pane."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input

from aui_tui.tui.bindings import FIND
from aui_tui.tui.draw import Line, line
from aui_tui.tui.widgets.bar import Bar
from aui_tui.tui.widgets.lines import Lines
from aui_tui.tui.words import count


class FindLine(Input):
    """An input of one line without a frame."""

    BINDINGS: ClassVar[list[BindingType]] = [*FIND]

    class Stepped(Message):
        """Another line found is wanted."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    class Left(Message):
        """The person leaves the line."""

    def action_step(self, step: int) -> None:
        """Ask for another line found."""
        self.post_message(self.Stepped(step))

    def action_leave(self) -> None:
        """Leave the line."""
        self.post_message(self.Left())


class FindBar(Horizontal):
    """Shown while something is sought; the pane marks it and goes from line to line."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._pane: Lines | None = None
        self._found = 0
        self._place = 0

    def compose(self) -> ComposeResult:
        """Lay out the line and the count."""
        yield FindLine(placeholder="find in this pane", compact=True, max_length=100, select_on_focus=False)
        yield Bar(self._count)

    def _count(self, _size: int) -> Line:
        if not self.query_one(FindLine).value:
            return ()
        if not self._found:
            return line(("nothing found", "warn"))
        words = " ".join((str(self._place + 1), "of", count(self._found, "line"))) if self._found > 1 else "1 line"
        return line((words, "muted"))

    def open(self, pane: Lines) -> None:
        """Seek in ``pane``."""
        self.close()
        self._pane = pane
        self.add_class("-open")
        self.query_one(FindLine).focus()

    def close(self) -> None:
        """Seek no longer; the marks go."""
        if self._pane is not None:
            self._pane.find("")
            self._pane = None
            self.query_one(FindLine).value = ""
            self.remove_class("-open")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Find as the person types."""
        event.stop()
        self._place, self._found = self._pane.find(event.value) if self._pane is not None else (0, 0)
        self.query_one(Bar).refresh()

    def on_find_line_stepped(self, message: FindLine.Stepped) -> None:
        """Go to the next line found, or to the one before."""
        if self._pane is not None and self._found:
            self._place = (self._place + message.step) % self._found
            self._pane.find_next(self._place)
            self.query_one(Bar).refresh()

    def on_find_line_left(self) -> None:
        """Go back to the pane."""
        pane = self._pane
        self.close()
        if pane is not None:
            pane.focus()
