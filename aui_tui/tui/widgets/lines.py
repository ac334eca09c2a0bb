"""A scrollable block of lines made by a function of the width."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from aui_tui.text import cells
from aui_tui.tui.draw import Line, marked
from aui_tui.tui.widgets.painted import Painted

Block = Callable[[int], Sequence[Line]]


def nothing(_width: int) -> Sequence[Line]:
    """Return an empty block."""
    return ()


class Lines(ScrollView, Painted, can_focus=True):
    """Text that is laid out to the width and scrolled with the keys or the wheel."""

    DEFAULT_CSS = """
    Lines { height: 1fr; overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1;
        scrollbar-gutter: stable; }
    """

    def __init__(self, block: Block = nothing, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._block = block
        self._lines: Sequence[Line] = ()
        self._laid = -1
        self._sought = ""
        self._hits: list[int] = []

    def show(self, block: Block, *, top: bool = False) -> None:
        """Lay out another block; ``top`` scrolls back to its first line."""
        self._block = block
        self._laid = -1
        self._layout()
        if top:
            self.scroll_to(0, 0, animate=False, immediate=True)

    def on_resize(self, _event: events.Resize) -> None:
        """Lay out again when the width has changed."""
        self._layout()

    def _layout(self) -> None:
        size = self.scrollable_content_region.width
        if size <= 0:
            return
        if size != self._laid:
            self._lines = self._block(size)
            self._laid = size
            self._hits = self._search()
            self.virtual_size = Size(size, len(self._lines))
        self.refresh()

    def find(self, words: str) -> tuple[int, int]:
        """Mark ``words`` and go to the first line with them from the one in sight on.

        Return the place of that line among those that have the words, and how many do.
        """
        self._sought = words
        self._hits = self._search()
        self.refresh()
        top = self.scroll_offset.y
        place = next((place for place, hit in enumerate(self._hits) if hit >= top), 0)
        self.find_next(place)
        return place, len(self._hits)

    def find_next(self, place: int) -> None:
        """Go to line ``place`` of those found, counting on from the last to the first."""
        if self._hits:
            self._reveal(self._hits[place % len(self._hits)])

    def _search(self) -> list[int]:
        wanted = self._sought.lower()
        return [number for number, text in enumerate(self.texts) if wanted in text.lower()] if wanted else []

    def _reveal(self, number: int) -> None:
        top, height = self.scroll_offset.y, max(self.size.height, 1)
        if not top <= number < top + height:
            self.scroll_to(y=max(number - height // 2, 0), animate=False, immediate=True)

    @property
    def texts(self) -> list[str]:
        """The lines as plain text."""
        return ["".join(piece.text for piece in row) for row in self._lines]

    def row(self, number: int) -> Line:
        """Return the line of that number as it is drawn."""
        return self._lines[number]

    def render_line(self, y: int) -> Strip:
        """Draw the line at ``y`` of the part in sight."""
        width = self.size.width
        number = y + self.scroll_offset.y
        if not 0 <= number < len(self._lines):
            return Strip.blank(width, self.rich_style)
        row = self.row(number)
        return self.strip(marked(row, self._sought) if self._sought else row, width)

    async def on_click(self, event: events.Click) -> None:
        """Run the action of the piece under the pointer."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        number, x = offset.y + self.scroll_offset.y, offset.x
        for piece in self._lines[number] if 0 <= number < len(self._lines) else ():
            x -= cells(piece.text)
            if x < 0:
                if piece.action:
                    event.stop()
                    await self.run_action(piece.action)
                return
