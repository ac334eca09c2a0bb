"""The base of every widget that draws its own lines: pieces in, one strip out; and filters over all output."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import ClassVar, Final, NamedTuple

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.color import Color, ColorParseError
from textual.content import Content
from textual.filter import LineFilter
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from aui_tui.text import cells
from aui_tui.tui.bindings import FIGURES, FIXES, LINES
from aui_tui.tui.draw import Figure, Line, Piece, figures, marked, pad, plain, pointed, sideways, upright
from aui_tui.tui.glyphs import ASCII
from aui_tui.tui.messages import DataMessage


class Look(NamedTuple):
    """How a role is painted: the theme's variable of its colour, of its background (or none), and whether bold.

    Without colours (NO_COLOR) a role that has a background is drawn in reverse.
    """

    color: str = ""
    background: str = ""
    bold: bool = False


LOOKS: Final = {
    "muted": Look("role-muted"),
    "strong": Look(bold=True),
    "title": Look("primary", bold=True),
    "key": Look("accent", bold=True),
    "accent": Look("accent"),
    "open": Look("role-open"),
    "selective": Look("role-selective"),
    "walled": Look("role-walled"),
    "good": Look("role-good"),
    "warn": Look("role-warn"),
    "critical": Look("role-critical"),
    "bar": Look("role-bar"),
    "rest": Look("role-rest"),
    "header": Look("role-muted", bold=True),
    "cursor": Look("role-cursor", "role-cursor-background", bold=True),
    "chip": Look("role-cursor", "role-cursor-background"),
    "code": Look("role-code"),
    "found": Look("role-cursor", "role-cursor-background", bold=True),
}
"""Everything that a piece can be; the empty role is plain text. Read from the theme, not the style sheet: a component
class for each role would be matched against every rule for every widget, most of the time to the first paint."""


class Painted(Widget):
    """A widget that paints pieces; its own style is worked out once for all the lines of a drawing."""

    _base: Style | None = None

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw the lines of a region."""
        self._base = self.rich_style
        try:
            return super().render_lines(crop)
        finally:
            self._base = None

    @property
    def base(self) -> Style:
        """The widget's own style."""
        return self._base or self.rich_style

    def role(self, name: str) -> Style:
        """Return the style of a role on this widget's background; of the empty role, the widget's own."""
        base = self.base
        return _style(name, base, self._variables, self.app.no_color) if name else base

    @property
    def _variables(self) -> dict[str, str]:
        return self.app.theme_variables

    def strip(self, pieces: Iterable[Piece], width: int, under: str = "") -> Strip:
        """Return one line of exactly ``width`` cells. With ``under`` every piece takes that role (a cursor line)."""
        return self.exact(pad(pieces, width), width, under)

    def exact(self, pieces: Iterable[Piece], width: int, under: str = "") -> Strip:
        """Return a line of pieces that take exactly ``width`` cells already."""
        base, variables, plain = self.base, self._variables, self.app.no_color
        if under:
            style = _style(under, base, variables, plain)
            return Strip([Segment(piece.text, style) for piece in pieces if piece.text], width)
        return Strip(
            [Segment(text, _style(role, base, variables, plain) if role else base) for text, role, _ in pieces if text],
            width,
        )


_KNOWN: dict[tuple[str, Style, str, bool], Style] = {}


def _style(role: str, base: Style, variables: dict[str, str], plain: bool) -> Style:
    """Return ``base`` with what ``role`` changes in it; ``plain``: the colours will not be shown."""
    look = LOOKS[role]
    color, background = variables.get(look.color, ""), variables.get(look.background, "")
    key = (role, base, color + background, plain)
    found = _KNOWN.get(key)
    if found is None:
        if len(_KNOWN) > 2000:
            _KNOWN.clear()
        found = _KNOWN[key] = base + Style(
            color=_color(color),
            bgcolor=_color(background),
            bold=True if look.bold else None,
            reverse=True if plain and look.background else None,
        )
    return found


def _color(text: str) -> RichColor | None:
    try:
        return Color.parse(text).rich_color if text else None
    except ColorParseError:
        return None


class AsciiFilter(LineFilter):
    """Gives everything that reaches the terminal its ASCII form of the same width."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments in ASCII."""
        return [Segment(text.translate(ASCII), style, control) for text, style, control in segments]


class NoColorFilter(LineFilter):
    """Takes every colour away and leaves the attributes: no-color.org asks for output without colour codes."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments without colours."""
        return [Segment(text, None if style is None else _plain(style), control) for text, style, control in segments]


@lru_cache(2048)
def _plain(style: Style) -> Style:
    return style.without_color + Style.from_meta(style.meta) if style.meta else style.without_color


Block = Callable[[int], Sequence[Line]]


def nothing(_width: int) -> Sequence[Line]:
    """Return an empty block."""
    return ()


class Lines(ScrollView, Painted, can_focus=True):
    """Text that is laid out to the width and scrolled with the keys or the wheel."""

    DEFAULT_CSS = """
    Lines { height: 1fr; overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; scrollbar-size-horizontal: 0;
        scrollbar-gutter: stable; }
    """

    def __init__(self, block: Block = nothing, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002  # Textual's
        super().__init__(id=id, classes=classes)
        self._block = block
        self._lines: Sequence[Line] = ()
        self._laid = -1
        self._below: Callable[[int], str] | None = None
        self._sought = ""
        self._hits: list[int] = []

    def show(self, block: Block, *, top: bool = False) -> None:
        """Lay out another block; ``top`` scrolls back to its first line."""
        self._block = block
        self._laid = -1
        self._layout()
        if top:
            self.scroll_to(0, 0, animate=False, immediate=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the lines that the block takes in ``width`` cells."""
        room = width - self.styles.scrollbar_size_vertical
        return len(self._lines if room == self._laid else self._block(room)) if room > 0 else 0

    def write_below(self, words: Callable[[int], str]) -> None:
        """Write into the lower edge of the frame what ``words`` gives for the width, now and when that changes."""
        self._below = words
        self._caption()

    def _caption(self) -> None:
        if self._below is not None and self.size.width:
            self.border_subtitle = Content(self._below(self.size.width))

    def on_resize(self, _event: events.Resize) -> None:
        """Lay out again when the width has changed; ``-cramped`` is a pane without room for a line."""
        self._layout()
        self._caption()
        self.set_class(self.size.height < 1, "-cramped")

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
        return [plain(row) for row in self._lines]

    def row(self, number: int) -> Line:
        """Return the line of that number as it is drawn."""
        return self._lines[number]

    def render_line(self, y: int) -> Strip:
        """Draw the line at ``y`` of the part in sight."""
        width = self.size.width
        number = y + self.scroll_offset.y
        if not 0 <= number < len(self._lines):
            return Strip.blank(width, self.base)
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


class FigureList(TextPane):
    """The figure under the cursor is known by its action, so that it stays when the lines are laid out again."""

    BINDINGS: ClassVar[list[BindingType]] = [*FIGURES]
    _action = ""

    class Moved(Message):
        """The cursor stands on another figure, or the list has the focus now."""

    def on_focus(self) -> None:
        """Draw the cursor, and say where it stands."""
        self.refresh()
        self.post_message(self.Moved())

    def on_blur(self) -> None:
        """Take the cursor away."""
        self.refresh()

    def row(self, number: int) -> Line:
        """Return a line as it is drawn."""
        here = self.here if self.has_focus else None
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

    def figures_under(self, title: str) -> list[Figure]:
        """Return the figures under the piece in the role ``title`` that begins with ``title``.

        They reach up to the next title on its line.
        """
        for number, row in enumerate(self._lines):
            ends = accumulate((cells(piece.text) for piece in row), initial=0)
            titles = [(place, piece.text) for place, piece in zip(ends, row, strict=False) if piece.role == "title"]
            for start, text in titles:
                if text.startswith(title):
                    end = min((place for place, _ in titles if place > start), default=sys.maxsize)
                    return [f for f in self.figures if f.line > number and f.end > start and f.start < end - 2]
        return []

    def go_to(self, figure: Figure) -> None:
        """Put the cursor on a figure."""
        self._action = figure.action
        self._reveal(figure.line)
        self.refresh()
        self.post_message(self.Moved())

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


class FixList(TextPane):
    """Up and down choose a fix, space supposes it done."""

    BINDINGS: ClassVar[list[BindingType]] = [*FIXES]

    class Stepped(DataMessage):
        """A neighbouring fix is wanted."""

        step: int

    def action_step(self, step: int) -> None:
        """Choose a neighbouring fix."""
        self.post_message(self.Stepped(step))
