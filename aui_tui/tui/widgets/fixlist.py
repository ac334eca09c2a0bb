"""The pane of fixes: its keys choose and mark, the screen keeps which."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message

from aui_tui.tui.bindings import FIXES
from aui_tui.tui.widgets.textpane import TextPane


class FixList(TextPane):
    """Up and down choose a fix, space supposes it done."""

    BINDINGS: ClassVar[list[BindingType]] = [*FIXES]

    class Stepped(Message):
        """A neighbouring fix is wanted."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    class Chosen(Message):
        """Fix ``number`` from 0 is wanted."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    class Ticked(Message):
        """The chosen fix is supposed to be done, or no longer."""

    def action_step(self, step: int) -> None:
        """Choose a neighbouring fix."""
        self.post_message(self.Stepped(step))

    def action_choose_fix(self, number: int) -> None:
        """Choose fix ``number`` from 0."""
        self.post_message(self.Chosen(number))

    def action_tick(self) -> None:
        """Suppose the chosen fix done, or no longer."""
        self.post_message(self.Ticked())
