"""A list of rows laid out to its width: moves from choosable row to choosable row, else scrolls, and finds words."""

from __future__ import annotations

from collections.abc import Callable

from rich.segment import Segment
from textual import events
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from aui_tui.tui import glyphs
from aui_tui.tui.bindings import LINES, bindings
from aui_tui.tui.rows import STYLES, Build, ListEntry, found_in


class RowList(OptionList):
    """Rows of a function of the width. The chosen row is known by its key, so that it stays when rows change."""

    ALLOW_SELECT = True
    BINDINGS = bindings(LINES)
    DEFAULT_CSS = """
    RowList { height: 1fr; border: none; padding: 0; background: $background; color: $foreground; overflow-x: hidden;
      text-wrap: nowrap; text-overflow: ellipsis;
      scrollbar-color: $role-rest; scrollbar-background: $background; scrollbar-size: 0 1;
      scrollbar-gutter: stable; link-style: none; link-style-hover: none; }
    RowList:focus { border: none; background-tint: $foreground 0%; }
    RowList > .option-list--option, RowList > .option-list--option-disabled { padding: 0; color: $foreground; }
    RowList > .option-list--option-hover { background: $background; }
    RowList > .option-list--option-highlighted { color: $foreground; background: $background; text-style: none; }
    RowList:focus > .option-list--option-highlighted { color: $role-cursor; background: $role-cursor-background;
      text-style: bold; }
    RowList.pane { border: round $role-rest; border-title-color: $primary; border-subtitle-color: $role-muted;
      padding: 0 1; }
    RowList.pane:focus { border: round $primary; border-title-style: bold reverse; }
    """

    class Moved(Message):
        """The cursor stands on another row, or the list has the focus now."""

    class Chosen(Message):
        """A row was chosen with enter or the mouse."""

        def __init__(self, listing: RowList) -> None:
            super().__init__()
            self.listing, self.key = listing, listing.key

    def __init__(
        self,
        build: Build = lambda _size: (),
        *,
        opens: str = "Open",
        marks_first: bool = False,
        id: str | None = None,  # noqa: A002  # Textual's
        classes: str | None = None,
    ) -> None:
        """``opens``: the name of what enter does with a row, in the line of keys.

        ``marks_first``: the first figure of a row is marked as any other, as it does not stand for the row.
        """
        super().__init__(markup=False, id=id, classes=classes)
        self.auto_links = False
        self.opens, self._marks_first = opens, marks_first
        self._build_rows = build
        self.rows: tuple[ListEntry, ...] = ()
        self._laid_out = -1
        self._drawn: int | None = None
        self._stop = 0
        self._words = ""
        self._below: Callable[[int], str] | None = None
        self._at = ""

    def show(self, build: Build, *, top: bool = False, at: str = "") -> None:
        """Lay out other rows; ``top`` goes to the first, or to the row or figure with the key ``at``."""
        self._build_rows, self._laid_out = build, -1
        self._lay_out()
        if top:
            self.highlighted = next((place for place, row in enumerate(self.rows) if row.key), None)
            self.scroll_to(0, 0, animate=False, immediate=True)
            self._at = at
            self._begin()

    def _begin(self) -> None:
        """Put the cursor where it begins, once the rows are laid out."""
        if self._at and self.rows:
            self.go_to(self._at)
            self._at = ""

    def write_below(self, words: Callable[[int], str]) -> None:
        """Write into the lower edge of the frame what ``words`` gives for the width, now and when that changes."""
        self._below = words
        self._caption()

    def _caption(self) -> None:
        if self._below is not None and self.size.width:
            self.border_subtitle = Content(self._below(self.size.width))

    def on_resize(self) -> None:
        self._lay_out()
        self._caption()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw the rows, laid out to the width of this very frame: the size that Textual tells comes after it."""
        if self.scrollable_content_region.width != self._laid_out:
            self.on_resize()
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Draw a line with its selected part and the offsets that a selection by mouse needs."""
        strip, line = super().render_line(y), self.scroll_offset.y + y
        span = self.text_selection.get_span(line) if self.text_selection is not None else None
        if span is not None:
            start, end = span[0], strip.cell_length if span[1] == -1 else min(span[1], strip.cell_length)
            style = self.screen.get_component_rich_style("screen--selection")
            chosen = Strip(Segment.apply_style(strip.crop(start, end), post_style=style), max(end - start, 0))
            strip = Strip.join([strip.crop(0, start), chosen, strip.crop(end)])
        return strip.apply_offsets(0, line)

    def get_selection(self, selection: Selection) -> tuple[str, str]:
        """Return what is selected of the rows."""
        lines = selection.extract("\n".join(self.texts)).split("\n")
        return "\n".join(line.rstrip() for line in lines), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

    def _lay_out(self) -> None:
        size = self.scrollable_content_region.width
        if size <= 0 or size == self._laid_out:
            return
        self._laid_out = size
        rows = tuple(self._build_rows(size))
        if rows == self.rows:
            return
        key, top = self.key, self.scroll_offset.y
        self.rows = rows
        self.set_reactive(OptionList.highlighted, None)  # or the row in its place would be drawn with the cursor
        self.set_options([Option(self._prompt(place), disabled=not row.key) for place, row in enumerate(rows)])
        if not rows:
            self.clear_options()  # Textual draws nothing over what was there
        places = [place for place, row in enumerate(rows) if row.key]
        if not (key and (self.go_to(key) or self.go_to(key.removeprefix("+")))):
            self.highlighted = places[0] if places else None
        self.scroll_to(0, top, animate=False, immediate=True)
        self._begin()

    def _prompt(self, place: int) -> Content:
        content = self.rows[place].content
        content = found_in(content, self._words) if self._words else content
        stops = self.rows[place].stops
        for number, stop in enumerate(stops if len(stops) > 1 else ()):
            content = content.stylize(Style.from_meta({"stop": number}), stop.start, stop.end)
        if place != self.highlighted:
            return content
        if self.has_focus:  # muted on the ground of the cursor cannot be read in sixteen colours; verdicts keep theirs
            content = Content(content.plain, [span for span in content.spans if span.style != STYLES["muted"]])
        marked = self._stop or (self._marks_first and self.has_focus)
        if marked and self._stop < len(stops):
            content = content.stylize("reverse", stops[self._stop].start, stops[self._stop].end)
        return Content.assemble((glyphs.CURSOR, "$accent"), content[1:]) if content.plain.startswith(" ") else content

    def _draw_row(self, place: int | None) -> None:
        if place is not None and place < min(len(self.rows), self.option_count):
            self.replace_option_prompt_at_index(place, self._prompt(place))

    def watch_highlighted(self, highlighted: int | None) -> None:
        """Draw the cursor's sign, and tell."""
        super().watch_highlighted(highlighted)
        before, self._drawn, self._stop = self._drawn, highlighted, 0
        for place in {before, highlighted}:
            self._draw_row(place)
        self.post_message(self.Moved())

    @property
    def key(self) -> str:
        """The key of the row under the cursor, empty without one."""
        place = self.highlighted
        if place is None or place >= len(self.rows):
            return ""
        row = self.rows[place]
        return row.stops[self._stop].key if self._stop < len(row.stops) else row.key

    @property
    def row_text(self) -> str:
        """The row under the cursor as plain text."""
        place = self.highlighted
        if place is None or place >= len(self.rows):
            return ""
        return " ".join(self.rows[place].content.plain.split())

    @property
    def texts(self) -> list[str]:
        """The rows as plain text."""
        return [row.content.plain for row in self.rows]

    def watch_has_focus(self, focused: bool) -> None:  # ``on_focus`` runs before Textual sets ``has_focus``
        super().watch_has_focus(focused)
        self._draw_row(self.highlighted)
        if focused:
            self.post_message(self.Moved())

    def on_click(self, event: events.Click) -> None:
        """Go to the figure under the mouse; Textual then chooses its row, unless the mouse has selected text."""
        if self.screen.get_selected_text():
            event.prevent_default()
            return
        place, stop = event.style.meta.get("option"), event.style.meta.get("stop")
        if place is not None and stop is not None:
            self.highlighted = place
            self._stop = stop
            self._draw_row(place)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.post_message(self.Chosen(self))

    def go_to(self, key: str) -> bool:
        """Put the cursor on the row or figure with that key; return whether there is one."""
        for place, row in enumerate(self.rows):
            keys = [stop.key for stop in row.stops] or [row.key.removeprefix("+")]
            if key in keys:
                self.highlighted = place
                self.action_side(keys.index(key) - self._stop)
                return True
        return False

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the lines that the rows take, also before they are laid out."""
        room = width - self.styles.scrollbar_size_vertical
        return sum(row.content.plain.count("\n") + 1 for row in self._build_rows(room)) if room > 0 else 0

    # Keys

    def action_select(self) -> None:
        if self.highlighted is None:
            self.notify("There is nothing to open here.", markup=False)
        super().action_select()

    def action_side(self, step: int) -> None:
        place = self.highlighted
        if place is not None and self.rows[place].stops:
            self._stop = max(0, min(self._stop + step, len(self.rows[place].stops) - 1))
            self._draw_row(place)
            self.post_message(self.Moved())

    def action_step(self, step: int) -> None:
        places = [place for place, row in enumerate(self.rows) if row.key]
        current = self.highlighted
        way = [place for place in places if current is None or (place - current) * step > 0]
        if way:
            self.highlighted = min(way) if step > 0 else max(way)
        else:
            self.scroll_to(y=self.scroll_offset.y + step, animate=False, immediate=True)

    def action_page(self, step: int) -> None:
        y = self.scroll_offset.y + step * max(self.size.height - 1, 1)
        self.scroll_to(y=y, animate=False, immediate=True)

    def action_jump(self, index: int) -> None:
        places = [place for place, row in enumerate(self.rows) if row.key]
        if places:
            self.highlighted = places[0] if index >= 0 else places[-1]
        self.scroll_to(y=0 if index >= 0 else self.virtual_size.height, animate=False, immediate=True)

    # Finding

    def find(self, words: str) -> list[int]:
        """Mark ``words`` and return the rows that have them."""
        self._words, needle = words, words.lower()
        for place in range(len(self.rows)):
            self._draw_row(place)
        return [number for number, row in enumerate(self.texts) if needle and needle in row.lower()]

    def scroll_to_row(self, number: int) -> None:
        """Bring a row into sight."""
        above = sum(row.content.plain.count("\n") + 1 for row in self.rows[:number])
        if not self.scroll_offset.y <= above < self.scroll_offset.y + max(self.size.height, 1):
            self.scroll_to(y=max(above - self.size.height // 2, 0), animate=False, immediate=True)
