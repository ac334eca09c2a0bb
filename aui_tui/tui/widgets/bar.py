"""Lines across the screen: title, filters, details; any piece may be clicked."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from textual import events
from textual.strip import Strip

from aui_tui.text import cells
from aui_tui.tui.draw import Line, Piece
from aui_tui.tui.widgets.painted import Painted

Layout = Callable[[int], Line]


class Bar(Painted):
    """One line made by a function of the width. A click runs the action of the piece under it."""

    DEFAULT_CSS = """
    Bar { height: 1; width: 1fr; }
    """

    def __init__(self, layout: Layout | None = None, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._layout: Layout = layout or (lambda _width: ())
        self._shown: Line = ()

    def show(self, layout: Layout) -> None:
        """Draw with another function of the width."""
        self._layout = layout
        self.refresh()

    def pieces(self, width: int) -> Iterable[Piece]:
        """Return what to draw in ``width`` cells."""
        return self._layout(width)

    def render_line(self, y: int) -> Strip:
        """Draw line ``y``; only the first has text."""
        width = self.size.width
        if y:
            return Strip.blank(width, self.rich_style)
        self._shown = tuple(self.pieces(width))
        return self.strip(self._shown, width)

    def piece_at(self, x: int) -> Piece | None:
        """Return the piece drawn at column ``x``."""
        for piece in self._shown:
            x -= cells(piece.text)
            if x < 0:
                return piece
        return None

    async def on_click(self, event: events.Click) -> None:
        """Run the action of the piece under the pointer."""
        piece = self.piece_at(event.x)
        if piece is not None and piece.action:
            event.stop()
            await self.run_action(piece.action)
