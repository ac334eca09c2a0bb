"""What is changed in everything that is drawn, on its way to the terminal."""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from aui_tui.tui.glyphs import ASCII


class AsciiFilter(LineFilter):
    """Gives everything that reaches the terminal its ASCII form of the same width."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments in ASCII."""
        return [Segment(text.translate(ASCII), style, control) for text, style, control in segments]
