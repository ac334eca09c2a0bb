"""The query line; what it means is loaded once something is typed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from rich.highlighter import Highlighter
from rich.text import Text
from textual.geometry import Size
from textual.message import Message
from textual.reactive import Reactive
from textual.widgets import Input

from aui_tui.tui.bindings import QUERY, bindings

if TYPE_CHECKING:
    from aui_tui.tui.typed import Completion
    from aui_tui.tui.widgets.dropdown import DropDown


class Wrong(Highlighter):
    """Underlines the words of a query line that cannot be read."""

    def highlight(self, text: Text) -> None:
        """Mark what is wrong, unless it is still being typed."""
        from aui_tui.tui.typed import read_line

        reading = read_line(text.plain)
        if not reading.open_end:
            for start, end in reading.spans:
                text.stylize("underline bold", start, end)


NO_CHOICE: Final = "No term goes on like this: there is no choice to take."


class QueryLine(Input):
    """An input of one line without a frame."""

    BINDINGS = bindings(QUERY)
    virtual_size: Reactive[Size] = Reactive(Size(0, 0))
    """Its width comes from the style sheet, so a letter, unlike Textual's own, does not lay out the screen again."""

    class Left(Message):
        """The user leaves the line; ``keep`` says whether the search stays."""

        def __init__(self, keep: bool) -> None:
            super().__init__()
            self.keep = keep

    def __init__(self, value: str) -> None:
        super().__init__(
            value,
            placeholder="/ host or name",
            highlighter=Wrong(),
            max_length=500,
            select_on_focus=False,
            id="query",
        )

    @cached_property
    def drop_down(self) -> DropDown:
        """The choices, which lie over the screen from the first visit on: the first frame needs none."""
        from aui_tui.tui.widgets.dropdown import DropDown

        return DropDown()

    class Entered(Message):
        """The user went into the line."""

    async def on_focus(self) -> None:
        from aui_tui.tui.typed import choices

        if not self.drop_down.is_attached:
            await self.screen.mount(self.drop_down)
        self.screen.add_class("-searching")
        self.cursor_position = len(self.value)
        self._offer(() if self.value else choices(""))
        self.post_message(self.Entered())

    def on_blur(self) -> None:
        self.screen.remove_class("-searching")
        self._offer(())

    def _offer(self, completions: Sequence[Completion]) -> None:
        self.drop_down.offer(completions)
        self.drop_down.draw()

    def action_leave(self, keep: bool) -> None:
        entered = self.drop_down.entered
        self._offer(())
        if keep or not entered:
            self.post_message(self.Left(keep))

    def action_step(self, step: int) -> None:
        if self.drop_down.completions:
            self.drop_down.step(step)
        else:
            self.notify(NO_CHOICE, markup=False)

    def action_complete(self) -> None:
        completion = self.drop_down.chosen
        if completion is None:
            self.notify(NO_CHOICE, markup=False)
        else:
            self.value = completion.line
            self.cursor_position = len(completion.line)
