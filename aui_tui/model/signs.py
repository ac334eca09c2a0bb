"""One sign, its ASCII twin and one tone for each word that people read on screens, on pages and in reports.

A sign always stands beside its word, so that neither shape nor colour is ever alone.
"""

from __future__ import annotations

import unicodedata
from types import MappingProxyType
from typing import Final

import msgspec

from aui_tui.text import cells


class Sign(msgspec.Struct, frozen=True):
    """``sign`` and ``ascii``: one cell each. ``tone``: a stance in small letters, ``good``, ``warn``, ``critical``,
    ``muted`` or ``accent``; empty for plain."""

    sign: str
    ascii: str
    tone: str = ""


SIGNS: Final = MappingProxyType(
    {
        "Open": Sign("◉", "O", "open"),
        "Selective": Sign("◐", "S", "selective"),
        "Walled": Sign("◌", "W", "walled"),
        "unreachable": Sign("–", "-", "warn"),
        "in": Sign("✓", "+", "good"),
        "part": Sign("~", "~", "good"),
        "refused": Sign("✗", "x", "critical"),
        "challenged": Sign("#", "#", "critical"),
        "told no": Sign("⊘", "/", "critical"),
        "unclear": Sign("?", "?", "warn"),
        "not asked": Sign("·", ".", "muted"),
        "disagree": Sign("≠", "%", "accent"),
        "agree": Sign("=", "=", "good"),
        "rose": Sign("▴", "^", "good"),
        "fell": Sign("▾", "v", "critical"),
        "yes": Sign("✓", "+", "good"),
        "no": Sign("⊘", "/", "critical"),
        "critical": Sign("✗", "x", "critical"),
        "warn": Sign("!", "!", "warn"),
        "good": Sign("✓", "+", "good"),
        "note": Sign("i", "i", "muted"),
        "done": Sign("✓", "+", "good"),
        "partly": Sign("~", "~", "warn"),
        "blocked": Sign("✗", "x", "critical"),
        "not offered": Sign("·", ".", "muted"),
        "needs --act": Sign("?", "?", "warn"),
        "stuck": Sign("✗", "x", "critical"),
        "absent": Sign("·", ".", "muted"),
        "waiting": Sign("…", ":", "muted"),
        "served": Sign("✓", "+", "good"),
        "found": Sign("✓", "+", "good"),
        "hit": Sign("✓", "+", "good"),
        "miss": Sign("·", ".", "muted"),
        "inconclusive": Sign("?", "?", "warn"),
        "passed": Sign("✓", "+", "good"),
        "failed": Sign("✗", "x", "critical"),
    }
)
"""By word: stances, what an assistant gets, what robots.txt says, severities, tasks, answers to probes, gates."""
GRADES: Final = MappingProxyType({"A": "good", "B": "good", "C": "warn", "D": "critical", "F": "critical"})
"""The tone of each grade."""
PLAIN: Final = Sign("·", ".")
"""The sign of a word that is not in the table, such as one of a later version."""

_TWINS: Final = {one.sign: one.ascii for one in SIGNS.values() if not one.sign.isascii()} | {
    "—": "-", "→": ">", "←": "<", "↑": "^", "↓": "v", "▸": ">", "▪": "@", "×": "x", "Δ": "d",
    "━": "=", "┄": ".",
    "█": "+", "▓": "~", "▒": "x", "░": "-", "▁": "_", "▂": "_", "▃": "-", "▄": "-", "▅": "=", "▆": "=", "▇": "=",
    "›": ">", "“": '"', "”": '"', "’": "'", "\ufffd": "?",
}  # fmt: skip


class _Ascii(dict[int, str]):
    """A translation table to ASCII that keeps the width of every character it meets."""

    def __missing__(self, code: int) -> str:
        self[code] = value = self._form(chr(code))
        return value

    @staticmethod
    def _form(char: str) -> str:
        if char.isascii():
            return char
        size = cells(char)
        if char in _TWINS or not size:
            return _TWINS.get(char, "")
        if "\u2500" <= char <= "\u257f":
            return _box(unicodedata.name(char, ""))
        if "\u2580" <= char <= "\u259f":
            return " "
        folded = "".join(c for c in unicodedata.normalize("NFKD", char) if c.isascii() and c.isprintable())
        return folded if len(folded) == size else "?" * size


def _box(name: str) -> str:
    """Return a line; corners and crossings are level, as ``+`` says that somebody gets in."""
    return "|" if name.endswith("VERTICAL") else "-"


ASCII: Final = _Ascii()
"""``str.translate`` with this table gives ASCII of the same width in cells."""


def sign(word: str) -> Sign:
    """Return the sign of ``word``, PLAIN for one without."""
    return SIGNS.get(word, PLAIN)
