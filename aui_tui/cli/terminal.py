"""What the terminal can show: the dashboard or not; colours, symbols and lines of a width."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

import msgspec

from aui_tui.model.signs import ASCII, sign
from aui_tui.text import cells, wrap

DUMB: Final = ("dumb", "unknown")
"""Values of TERM for which Textual's size of the screen is not the terminal's, so that it draws without end."""


def no_screen() -> str:
    """Return why the dashboard cannot be shown, empty where it can.

    It needs a terminal, where Textual draws on standard error, or ``web``.
    """
    if os.environ.get("TEXTUAL_DRIVER", "").endswith(":WebDriver"):
        return ""
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.__stderr__)):
        return "This is not a terminal, and the dashboard needs one for standard input, output and error"
    term = os.environ.get("TERM", "").lower()
    return f"The dashboard cannot be drawn on a terminal of the kind TERM={term}" if term in DUMB else ""


STYLES: Final = MappingProxyType(
    {
        "bold": "1",
        "dim": "2",
        "good": "32",
        "warn": "33",
        "critical": "31",
        "muted": "2",
        "accent": "36",
        "open": "32",
        "selective": "33",
        "walled": "31",
    }
)
"""The colours of the styles, among them the tones of the table of signs."""


MIN_WIDTH: Final = 40
MAX_WIDTH: Final = 100


class Paint(msgspec.Struct, frozen=True):
    """How to write: ``width`` in cells, with ``colour`` or without, with symbols or in ``ascii`` only."""

    width: int = 80
    colour: bool = False
    ascii: bool = False

    @classmethod
    def for_output(cls, *, ascii_only: bool = False) -> Paint:
        """Return the paint that standard output can take: colour on a terminal unless NO_COLOR is set."""
        terminal = bool(sys.stdout and sys.stdout.isatty())
        width = shutil.get_terminal_size((80, 24)).columns if terminal or "COLUMNS" in os.environ else 80
        coloured = terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") not in DUMB
        return cls(width=max(MIN_WIDTH, min(width, MAX_WIDTH)), colour=coloured, ascii=ascii_only)

    def style(self, text: str, style: str) -> str:
        """Return ``text`` in one of STYLES; an empty style leaves it alone."""
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if self.colour and style else text

    def plain(self, text: str) -> str:
        """Return ``text`` as a command prints it: arrows as they are typed, all in ASCII where that is wanted."""
        text = text.replace("→", "->")
        return text.translate(ASCII) if self.ascii else text

    def glyph(self, word: str) -> str:
        """Return the sign of a word, the neutral one for an unknown word."""
        word_sign = sign(word)
        return word_sign.ascii if self.ascii else word_sign.sign

    def marked(self, word: str) -> str:
        """Return ``word`` after its sign, in its colour."""
        return self.style(f"{self.glyph(word)} {word}", sign(word).tone)

    def heading(self, text: str) -> str:
        """Return a heading line."""
        return self.style(text, "bold")

    def hanging(self, first: str, text: str, *, style: str = "") -> Iterator[str]:
        """Yield ``text`` wrapped to the width after ``first``, later lines indented by as much."""
        indent = cells(first)
        for number, line in enumerate(wrap(self.plain(" ".join(text.split())), max(self.width - indent, 10))):
            yield (self.style(first, style) if number == 0 else " " * indent) + line
