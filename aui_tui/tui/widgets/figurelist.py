"""A block of lines with figures in it: keys go from one to the next and choose it, as a click does."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType

from aui_tui.tui.bindings import FIGURES
from aui_tui.tui.draw import Line
from aui_tui.tui.figures import Figure, figures, pointed, sideways, upright
from aui_tui.tui.widgets.textpane import TextPane


class FigureList(TextPane):
    """The figure under the cursor is known by its action, so that it stays when the lines are laid out anew."""

    BINDINGS: ClassVar[list[BindingType]] = [*FIGURES]
    _action = ""

    def row(self, number: int) -> Line:
        """Return a line as it is drawn."""
        here = self.here
        row = super().row(number)
        return pointed(row, here.action) if here is not None and here.line == number else row

    @property
    def figures(self) -> list[Figure]:
        """All figures in reading order."""
        return figures(self._lines)

    @property
    def here(self) -> Figure | None:
        """The figure under the cursor, in the beginning the topmost at the left edge; None without any."""
        among = self.figures
        first = min(among, key=lambda figure: (figure.start, figure.line), default=None)
        return next((figure for figure in among if figure.action == self._action), first)

    def go_to(self, figure: Figure) -> None:
        """Put the cursor on a figure."""
        self._action = figure.action
        self._reveal(figure.line)
        self.refresh()

    def action_step(self, step: int) -> None:
        """Go to the figure above or below; past the last one, scroll."""
        here = self.here
        found = upright(self.figures, here, step) if here is not None else None
        if found is not None:
            self.go_to(found)
        else:
            super().action_step(step)

    def action_side(self, step: int) -> None:
        """Go to the figure at the left or right."""
        here = self.here
        found = sideways(self.figures, here, step) if here is not None else None
        if found is not None:
            self.go_to(found)

    def action_turn(self, step: int) -> None:
        """Go to the next or the previous figure in reading order, from the last to the first."""
        among, here = self.figures, self.here
        if here is not None:
            self.go_to(among[(among.index(here) + step) % len(among)])

    def action_page(self, step: int) -> None:
        """Go to the figure nearest to one page on."""
        here = self.here
        if here is not None:
            line = here.line + step * max(self.size.height - 1, 1)
            self.go_to(min(self.figures, key=lambda figure: (abs(figure.line - line), abs(figure.start - here.start))))

    def action_jump(self, index: int) -> None:
        """Go to the first or, with -1, the last figure."""
        super().action_jump(index)
        among = self.figures
        if among:
            self.go_to(among[index])

    async def action_choose(self) -> None:
        """Do what a click on the figure under the cursor does."""
        here = self.here
        if here is not None:
            await self.run_action(here.action)
