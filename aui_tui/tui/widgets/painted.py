"""The base of every widget that draws its own lines: pieces in, one strip out; and filters over all output."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color, ColorParseError
from textual.filter import LineFilter
from textual.strip import Strip
from textual.widget import Widget

from aui_tui.tui.draw import Piece, pad
from aui_tui.tui.glyphs import ASCII


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
"""Every role of ``draw.ROLES``. Read from the theme, not the style sheet: a component class for each role would be
matched against every rule for every widget, which is most of the time to the first paint."""


class Painted(Widget):
    """A widget that paints pieces."""

    def role(self, name: str) -> Style:
        """Return the style of a role on this widget's background; of the empty role, the widget's own."""
        base = self.rich_style
        return _style(name, base, self._variables, self.app.no_color) if name else base

    @property
    def _variables(self) -> dict[str, str]:
        return self.app.theme_variables

    def strip(self, pieces: Iterable[Piece], width: int, under: str = "") -> Strip:
        """Return one line of exactly ``width`` cells. With ``under`` every piece takes that role (a cursor line)."""
        return self.exact(pad(pieces, width), width, under)

    def exact(self, pieces: Iterable[Piece], width: int, under: str = "") -> Strip:
        """Return a line of pieces that take exactly ``width`` cells already."""
        base, variables, plain = self.rich_style, self._variables, self.app.no_color
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
