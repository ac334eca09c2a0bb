"""The signs that the dashboard draws, each one cell wide, and their ASCII forms.

A sign always stands beside its word or in a column with a legend, so that colour and shape are never alone.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

from aui_tui.text import cells

STANCE: Final = MappingProxyType({"Open": "◉", "Selective": "◍", "Walled": "◌"})
VERDICT: Final = MappingProxyType(
    {
        "in": "✓",
        "part": "~",
        "refused": "✗",
        "challenged": "#",
        "told no": "⊘",
        "unclear": "?",
        "not tested": "·",
    }
)
"""One sign per word of ``records.agents``."""
SAYS: Final = MappingProxyType({"yes": "✓", "part": "~", "no": "⊘", "?": "?"})
"""What robots.txt says."""
DISAGREE: Final = "≠"
ALIKE: Final = "="
PROVISIONAL: Final = "*"
CRITICAL: Final = "✗"
WARN: Final = "!"
SEVERITY: Final = MappingProxyType({"critical": CRITICAL, "warn": WARN, "good": "✓"})
OUTCOME: Final = MappingProxyType(
    {
        "served": "✓",
        "found": "✓",
        "hit": "✓",
        "challenged": "#",
        "refused": "✗",
        "inconclusive": "?",
        "absent": "·",
        "miss": "·",
    }
)
SPARK: Final = "▁▂▃▄▅▆▇█"
STACK: Final = MappingProxyType({"Open": "█", "Selective": "▓", "Walled": "░"})
"""Fillings of a stacked bar, one per stance."""
FULL: Final = "█"
REST: Final = "░"
CURSOR: Final = "▸"
MARK: Final = "▪"
RISING: Final = "▴"
FALLING: Final = "▾"
DOT: Final = "·"
DASH: Final = "–"
ARROW: Final = "→"
WAIT: Final = "…"
UNKNOWN: Final = "?"

ROLE: Final = MappingProxyType(
    {
        "Open": "open",
        "Selective": "selective",
        "Walled": "walled",
        "in": "good",
        "part": "good",
        "told no": "critical",
        "unclear": "warn",
        "not tested": "muted",
        "yes": "good",
        "no": "critical",
        "?": "warn",
        "critical": "critical",
        "warn": "warn",
        "good": "good",
        "served": "good",
        "found": "good",
        "hit": "good",
        "challenged": "critical",
        "refused": "critical",
        "inconclusive": "warn",
        "absent": "muted",
        "miss": "muted",
        "A": "good",
        "B": "good",
        "C": "warn",
        "D": "critical",
        "F": "critical",
    }
)
"""The role in which each word of a record is painted; a word that is not here is plain."""


def role_of(word: str) -> str:
    """Return the role of a stance, verdict, severity, outcome or grade; plain for a word of the future."""
    return ROLE.get(word, "")


def bar(value: float, maximum: float, size: int) -> tuple[str, str]:
    """Return the full and the empty part of a bar of ``size`` cells; a value over zero fills at least one cell."""
    if maximum <= 0 or size <= 0:
        return "", REST * max(size, 0)
    share = min(max(value / maximum, 0.0), 1.0)
    full = round(share * size)
    if 0 < share < 1:
        full = min(max(full, 1), size - 1) if size > 1 else full
    return FULL * full, REST * (size - full)


def spark(values: Sequence[int], low: int = 0, high: int = 100) -> str:
    """Return one column per value between ``low`` and ``high``."""
    span = max(high - low, 1)
    top = len(SPARK) - 1
    return "".join(SPARK[min(max((value - low) * top // span, 0), top)] for value in values)


_SIGNS: Final = {
    "◉": "O",
    "◍": "~",
    "◌": "x",
    "✓": "+",
    "✗": "x",
    "⊘": "o",
    "·": ".",
    "–": "-",
    "—": "-",
    "…": "~",
    "▸": ">",
    "▪": "*",
    "▴": "^",
    "▾": "v",
    "→": ">",
    "←": "<",
    "↑": "^",
    "↓": "v",
    "█": "#",
    "▓": "=",
    "░": "-",
    "▁": "_",
    "▂": "_",
    "▃": "-",
    "▄": "-",
    "▅": "=",
    "▆": "=",
    "▇": "#",
    "×": "x",
    "Δ": "d",
    "≠": "!",
    "▒": "%",
    "\ufffd": "?",
}


class _Ascii(dict[int, str]):
    """A translation table to ASCII that keeps the width of every character it meets."""

    def __missing__(self, code: int) -> str:
        value = self._form(chr(code))
        self[code] = value
        return value

    @staticmethod
    def _form(char: str) -> str:
        if char.isascii():
            return char
        if char in _SIGNS:
            return _SIGNS[char]
        size = cells(char)
        if size == 0:
            return ""
        if "\u2500" <= char <= "\u257f":
            return _box(unicodedata.name(char, ""))
        if "\u2580" <= char <= "\u259f":
            return " "
        folded = "".join(c for c in unicodedata.normalize("NFKD", char) if c.isascii() and c.isprintable())
        return folded if len(folded) == size else "?" * size


def _box(name: str) -> str:
    if "HORIZONTAL" in name and "VERTICAL" not in name:
        return "-"
    return "|" if "VERTICAL" in name and "HORIZONTAL" not in name and "ARC" not in name else "+"


ASCII: Final = _Ascii()
"""``str.translate`` with this table gives ASCII of the same width in cells."""
