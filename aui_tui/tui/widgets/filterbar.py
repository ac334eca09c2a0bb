"""The line of filters: the query line and the chips beside it."""

from __future__ import annotations

from typing import Final

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input

from aui_tui.tui.widgets.bar import Bar, Layout
from aui_tui.tui.widgets.queryline import QueryLine

SEARCHING: Final = "-searching"


class FilterBar(Horizontal):
    """While the query line has the focus it takes the room of the chips on a narrow screen."""

    class Entered(Message):
        """The person went into the query line."""

    class Typed(Message):
        """The query line reads ``text`` now."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Left(Message):
        """The person left the query line; ``keep`` says whether the search stays."""

        def __init__(self, keep: bool) -> None:
            super().__init__()
            self.keep = keep

    def __init__(self, line: str, chips: Layout, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._line = QueryLine(line)
        self._chips = Bar(chips, id="chips")

    def compose(self) -> ComposeResult:
        """Lay out line and chips."""
        yield self._line
        yield self._chips

    @property
    def searching(self) -> bool:
        """Whether the query line has the focus."""
        return self.has_class(SEARCHING)

    @property
    def text(self) -> str:
        """What the query line reads."""
        return self._line.value

    def enter(self) -> None:
        """Go into the query line, the cursor behind its last character."""
        self._line.focus()
        self._line.cursor_position = len(self._line.value)

    def write(self, text: str) -> None:
        """Change the query line without telling."""
        with self._line.prevent(Input.Changed):
            self._line.value = text

    def redraw(self) -> None:
        """Draw the chips again."""
        self._chips.refresh()

    def on_descendant_focus(self, _event: events.DescendantFocus) -> None:
        """Give the line its room, and tell."""
        if not self.searching:
            self.add_class(SEARCHING)
            self.post_message(self.Entered())

    def on_descendant_blur(self, _event: events.DescendantBlur) -> None:
        """Give the chips their room again."""
        self.remove_class(SEARCHING)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Tell what is typed."""
        event.stop()
        self.post_message(self.Typed(event.value))

    def on_query_line_left(self, message: QueryLine.Left) -> None:
        """Tell that the person leaves."""
        message.stop()
        self.remove_class(SEARCHING)
        self.post_message(self.Left(message.keep))
