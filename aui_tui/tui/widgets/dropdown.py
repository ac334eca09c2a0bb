"""The list under the query line: the ways in which its last word may go on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from aui_tui.text import fit
from aui_tui.tui.typed import Completion

SHOWN: Final = 8
"""Choices that a drop-down shows."""


ROOM: Final = 16
"""Cells of a choice's own words."""
WIDTH: Final = 42
"""Cells of a choice."""


class DropDown(OptionList):
    """The ways in which the last word may go on, over the list; drawn after the rows that a letter asks for."""

    DEFAULT_CSS = """
    DropDown { layer: above; visibility: hidden; offset: 1 2; width: 46; max-height: 10; background: $surface;
      border: round $primary; padding: 0; }
    """
    can_focus = False

    def __init__(self) -> None:
        super().__init__(id="choices", markup=False)
        self.completions: tuple[Completion, ...] = ()
        self.counts: dict[str, str] = {}
        """By line, how many hosts a choice would leave."""
        self.entered = False
        """Whether the user has moved into it."""
        self._place = 0

    def offer(self, completions: Sequence[Completion]) -> None:
        """Replace the choices, with the cursor on the first, and drop the old counts."""
        self.completions, self.counts, self.entered, self._place = tuple(completions), {}, False, 0

    def draw(self) -> None:
        """Draw the choices with their counts."""
        if self.is_attached and (self.completions or self.visible):
            self.visible = bool(self.completions)
            self.set_options([Option(self._row(choice)) for choice in self.completions])
            self.highlighted = self._place if self.completions else None

    def _row(self, choice: Completion) -> Content:
        count = self.counts.get(choice.line, "")
        words = fit(f"{fit(choice.text, ROOM)} {choice.meaning}", WIDTH - len(count) - 1)
        return Content(" ".join((words, count)))

    def step(self, step: int) -> None:
        """Go to another choice."""
        if self.completions:
            self._place = (self._place + step) % len(self.completions) if self.entered or step < 0 else self._place
            self.highlighted, self.entered = self._place, True

    @property
    def chosen(self) -> Completion | None:
        """The choice under the cursor."""
        return self.completions[self._place] if self.completions else None
