"""The list of hosts: draws only the rows in sight and reads them in slices (Line API)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style

from aui_tui.model.listing import Row
from aui_tui.text import fit
from aui_tui.tui import glyphs
from aui_tui.tui.bindings import NEEDS, TABLE, bindings
from aui_tui.tui.columns import Cell, Column, cell, columns
from aui_tui.tui.rows import STYLES
from aui_tui.tui.state import ListState

LARGEST_FIRST: Final = frozenset({"score", "change"})
"""Columns whose natural order begins with the largest value: ▾ falls from top to bottom, ▴ rises."""
HEADER: Final = 1
"""Lines above the first row."""


class HostTable(ScrollView, can_focus=True):
    """Rows of a window with a cursor, marks and a heading whose columns sort."""

    DEFAULT_CSS = """
    HostTable { height: 1fr; width: 1fr; overflow-x: hidden; overflow-y: scroll; scrollbar-size-vertical: 1; }
    """
    BINDINGS = bindings(TABLE)

    class Moved(Message):
        """The cursor stands on another row, or on none in an empty list."""

    class Opened(Message):
        """The row under the cursor was chosen."""

    class SortRequested(Message):
        """A heading was clicked: its sort key."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, clock: Callable[[], float], state: ListState) -> None:
        super().__init__(id="table")
        self._clock = clock
        self._now = 0.0
        self._ground = Style()
        self._styles: dict[tuple[str, bool], RichStyle] = {}
        self._shown: tuple[Column, ...] = ()
        self._state = state
        self._page: tuple[int, Sequence[Row]] = (0, ())
        self._most = 0
        """Rows of the longest list so far: ranks are those of the whole index, so their column never shrinks."""
        self._wanted: tuple[str, ...] = ()
        self._place = -1
        self.cursor = 0

    def show(self, state: ListState, cursor: int, chosen: tuple[str, ...] = ()) -> None:
        """Show another state with the cursor on row ``cursor``, kept at its height on the screen where possible.

        ``chosen`` are the columns that the user wants.
        """
        if (state.mode, state.unused, chosen) != (self._state.mode, self._state.unused, self._wanted):
            self._place = -1
        height = self.cursor - self.scroll_offset.y
        self._state, self._wanted = state, chosen
        self._most = max(self._most, len(self))
        self._page = (0, ())
        self._now = self._clock()
        self.cursor = max(0, min(cursor, len(self) - 1))
        self._measure()
        self.scroll_to(y=max(self.cursor - height, 0), animate=False, immediate=True)
        self._keep_in_sight()
        self.refresh()
        self.post_message(self.Moved())

    def _measure(self) -> None:
        """Give the scroll bar the new length; it is always there, so the screen need not be laid out for that."""
        size = Size(0, len(self) + HEADER)
        self.set_reactive(HostTable.virtual_size, size)
        self.vertical_scrollbar.window_virtual_size = size.height

    def redraw_ages(self) -> None:
        """Draw the ages of the scans anew, as of now."""
        self._now = self._clock()
        self.refresh()

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        return self.row_at(self.cursor) if len(self) else None

    def __len__(self) -> int:
        return len(self._state.window) if self._state.window is not None else 0

    def __bool__(self) -> bool:
        return True

    def row_at(self, index: int) -> Row | None:
        """Return row ``index``, read with the pages beside it; None when the source has fewer rows by now."""
        start, rows = self._page
        if not start <= index < start + len(rows) and self._state.window is not None:
            height = max(self.size.height, 1)
            start = max(0, index - height)
            rows = self._state.window[start : index + height]
            self._page = (start, rows)
        return rows[index - start] if 0 <= index - start < len(rows) else None

    def on_resize(self, _event: events.Resize) -> None:
        self._keep_in_sight()

    @property
    def _columns(self) -> tuple[Column, ...]:
        """The columns for the width that the table has now: the first frame comes before it knows a width."""
        width = self.scrollable_content_region.width
        return columns(self._state.mode, width, self._most, self._wanted, self._state.unused) if width > 0 else ()

    @property
    def column(self) -> Column | None:
        """The column under the cursor, None while that was not moved."""
        columns = self._columns
        return columns[self._place] if 0 <= self._place < len(columns) else None

    @property
    def sorted_column(self) -> Column | None:
        """The column that the list is ordered by, the first one where that is not on show."""
        columns, key = self._columns, self._state.query.sort
        return next((column for column in columns if column.sort == key), columns[0] if columns else None)

    def sort_beside(self, key: str, step: int) -> str:
        """Return the sort key ``step`` visible columns to the right of that of ``key``; around the end."""
        keys = [column.sort for column in self._columns if column.sort] or [key]
        place = keys.index(key) if key in keys else 0
        return keys[(place + step) % len(keys)]

    def action_column(self, step: int) -> None:
        columns = self._columns
        if columns:
            current = self.column or self.sorted_column
            place = columns.index(current) if current in columns else 0
            self._place = max(0, min(place + step, len(columns) - 1))
            self.refresh()
            self.post_message(self.Moved())

    def _keep_in_sight(self) -> None:
        top, height = self.scroll_offset.y, self.size.height - HEADER
        if height <= 0:
            return
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False, immediate=True)
        elif self.cursor >= top + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False, immediate=True)

    def move_to(self, index: int) -> None:
        """Put the cursor on row ``index``, or on the nearest there is."""
        old, new = self.cursor, max(0, min(index, len(self) - 1))
        if old == new:
            return
        self.cursor = new
        self._keep_in_sight()
        for number in (old, new):
            self.refresh(Region(0, number - self.scroll_offset.y + HEADER, self.size.width, 1))
        self.post_message(self.Moved())

    def action_move(self, step: int) -> None:
        self.move_to(self.cursor + step)

    def action_page(self, step: int) -> None:
        self.move_to(self.cursor + step * max(1, self.size.height - HEADER - 1))

    def action_jump(self, index: int) -> None:
        self.move_to(index if index >= 0 else len(self) - 1)

    def action_open(self) -> None:
        if len(self):
            self.post_message(self.Opened())
        else:
            self.notify(NEEDS["host"], markup=False)

    def on_click(self, event: events.Click) -> None:
        """Sort by a heading, go to a row, open it with a double click."""
        if event.y < HEADER:
            key = self._heading_at(event.x)
            if key:
                self.post_message(self.SortRequested(key))
            return
        index = event.y - HEADER + self.scroll_offset.y
        if 0 <= index < len(self):
            self.move_to(index)
            if event.chain > 1:
                self.action_open()

    def _heading_at(self, x: int) -> str:
        x -= 1
        for column in self._columns:
            if x <= column.width:
                return column.sort
            x -= column.width + 1
        return ""

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw the lines of ``crop``, all on the same ground and in the same columns."""
        self._ground, self._shown, self._styles = self.visual_style, self._columns, {}
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Draw the heading or a row."""
        width = self.size.width
        index = y - HEADER + self.scroll_offset.y
        if not len(self):
            return Strip.blank(width, self._ground.rich_style)
        if y < HEADER:
            return self._paint(self._heading(), width)
        row = self.row_at(index) if index < len(self) else None
        if row is None:
            return Strip.blank(width, self._ground.rich_style)
        return self._paint(self._cells(row, index, width), width, highlighted=index == self.cursor)

    def _paint(self, cells: Sequence[Cell], width: int, *, highlighted: bool = False) -> Strip:
        """Return cells as one strip of ``width`` cells; ``highlighted``: under the cursor, its tones kept."""
        segments = [Segment(part.text, self._style_of(part.role, highlighted)) for part in cells]
        return Strip(segments).adjust_cell_length(width, self._style_of("", highlighted))

    def _style_of(self, role: str, highlighted: bool) -> RichStyle:
        """Return the style of a role, made once for all lines that are drawn together."""
        made = self._styles.get((role, highlighted))
        if made is None:
            style = self.app.stylesheet.parse_style
            cursor = self._ground + style(STYLES["found"]) + Style(reverse=True if self.app.no_color else None)
            plain = role == "chip" or (highlighted and role in PLAIN_HERE)
            ground = cursor if highlighted else self._ground
            made = (cursor if plain else ground + style(STYLES[role])).rich_style
            self._styles[role, highlighted] = made
        return made

    def _heading(self) -> list[Cell]:
        out = [Cell(" ")]
        key, turned = self._state.query.sort, self._state.query.descending
        if key == "rank" and not any(column.sort == "rank" for column in self._shown):
            key = "score"
        current = self.column
        for column in self._shown:
            label = column.label
            if column.sort == key and key:
                mark = glyphs.FALLING if (key in LARGEST_FIRST) is not turned else glyphs.RISING
                label += f" {mark}" if len(label) + 2 <= column.width + 1 else mark
            room = max(column.width, min(len(label), column.width + 1))  # the sign may take the gap
            words = fit(label, room, right=column.right)
            out += [
                Cell(words, "chip" if column == current else "header"),
                Cell(" " * (column.width + 1 - room), "header"),
            ]
        return out

    def _cells(self, row: Row, index: int, size: int) -> list[Cell]:
        """Return a row as pieces of at most ``size`` cells."""
        marked = row.summary.host in self._state.marks
        lead = glyphs.MARK if marked else glyphs.CURSOR if index == self.cursor else " "
        out = [Cell(lead, "accent")]
        for column in self._shown:
            piece = cell(column, row, self._now)
            out.append(Cell(fit(piece.text, column.width, right=column.right) + " ", piece.role))
        return out


PLAIN_HERE: Final = frozenset({"", "muted", "strong", "header", "accent"})
"""Roles that take the colour of the cursor under it; the tones of verdicts stay."""
