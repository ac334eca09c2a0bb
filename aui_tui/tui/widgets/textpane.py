"""A block of lines with its own keys for scrolling."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType

from aui_tui.tui.bindings import LINES
from aui_tui.tui.widgets.lines import Lines


class TextPane(Lines):
    """Scrolls by line, by page and to the ends."""

    BINDINGS: ClassVar[list[BindingType]] = [*LINES]

    def action_step(self, step: int) -> None:
        """Scroll by ``step`` lines."""
        self.scroll_to(y=self.scroll_offset.y + step, animate=False, immediate=True)

    def action_page(self, step: int) -> None:
        """Scroll by ``step`` pages."""
        self.scroll_to(y=self.scroll_offset.y + step * max(self.size.height - 1, 1), animate=False, immediate=True)

    def action_jump(self, index: int) -> None:
        """Scroll to the first line, or with -1 to the last."""
        self.scroll_to(y=0 if index >= 0 else self.virtual_size.height, animate=False, immediate=True)
