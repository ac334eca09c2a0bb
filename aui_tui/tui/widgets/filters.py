"""Filters over everything that reaches the terminal: ASCII alone, and no colours."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from aui_tui.model.signs import ASCII

EIGHTHS: Final = "▁▂▃▄▅▆▇"


class AsciiFilter(LineFilter):
    """Gives everything that reaches the terminal its ASCII form of the same width."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments in ASCII; an end of a scroll bar has none of its own, only its colour."""
        return [
            Segment(" " if _is_end(segment) else segment.text.translate(ASCII), segment.style, segment.control)
            for segment in segments
        ]


class NoColorFilter(LineFilter):
    """Takes every colour away and leaves the attributes: no-color.org asks for output without colour codes."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments without colours."""
        return [Segment(text, None if style is None else _plain(style), control) for text, style, control in segments]


def _is_end(segment: Segment) -> bool:
    """Whether a segment is an end of a scroll bar, which part of a cell belongs to."""
    text, style, _ = segment
    return len(text) == 1 and text in EIGHTHS and style is not None and "@mouse.down" in style.meta


@lru_cache(2048)
def _plain(style: Style) -> Style:
    return style.without_color + Style.from_meta(style.meta) if style.meta else style.without_color
