"""Rows of text laid out to a width in cells: Textual's Content in the colours of the theme."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec
from textual.content import Content

from aui_tui.model.signs import sign
from aui_tui.text import cells, wrap
from aui_tui.tui import glyphs
from aui_tui.tui.words import TERMS

STYLES: Final = {
    "": "",
    "strong": "bold",
    "title": "bold $primary",
    "header": "bold $role-muted",
    "key": "bold $accent",
    "accent": "$accent",
    "found": "bold $role-cursor on $role-cursor-background",
} | {
    tone: f"$role-{tone}"
    for tone in ("muted", "open", "selective", "walled", "good", "warn", "critical", "bar", "rest", "code")
}
"""The style of each role that a text may have: a colour of the theme, read when it is drawn."""


class Stop(msgspec.Struct, frozen=True):
    """A figure of a row: its key, and the characters from ``start`` up to ``end`` that it takes."""

    key: str
    start: int
    end: int


class ListEntry(msgspec.Struct, frozen=True):
    """A row of a list; one with a ``key`` can be chosen. ``stops``: its figures, the first of which has that key."""

    content: Content
    key: str = ""
    stops: tuple[Stop, ...] = ()


Build = Callable[[int], Sequence[ListEntry]]
"""Rows for a width in cells."""
Part = str | Content | tuple[str, str] | tuple[str, str, str]
"""Plain text, content, ``(text, role)``, or a figure of a row: ``(text, role, key)``, none for an empty key."""


def text(*parts: Part) -> Content:
    """Return the parts side by side."""
    return Content.assemble(*((part[0], STYLES[part[1]]) if isinstance(part, tuple) else part for part in parts))


def entry(*parts: Part, key: str = "") -> ListEntry:
    """Return the parts side by side as one row; the width of the list cuts it."""
    stops: list[Stop] = []
    place = 0
    for part in parts:
        size = len(part[0] if isinstance(part, tuple) else part)
        if isinstance(part, tuple) and len(part) > 2 and part[2]:
            stops.append(Stop(part[2], place, place + size))
        place += size
    return ListEntry(text(*parts), stops[0].key if stops else key, tuple(stops))


def cut(content: Content, size: int) -> Content:
    """Return one row of at most ``size`` cells; what is cut ends in an ellipsis."""
    return content.truncate(max(size, 0), ellipsis=True)


def pad(content: Content, size: int) -> Content:
    """Return one row of exactly ``size`` cells."""
    return content.truncate(max(size, 0), ellipsis=True, pad=True)


def fitting(size: int, forms: Iterable[Content]) -> Content:
    """Return the first of ``forms`` that has room in ``size`` cells, else the last; those behind it are not made."""
    form = Content("")
    for form in forms:
        if form.cell_length <= size:
            break
    return form


def spread(left: Content, right: Content, size: int) -> Content:
    """Return ``left`` and ``right`` at the two ends of ``size`` cells; the left part yields."""
    tail = cut(right, size)
    return text(pad(left, size - tail.cell_length), tail)


def edges(name: Content, rest: Content, facts: Sequence[str], size: int) -> Content:
    """Return name and ``rest`` at the left, facts at the right; facts go first, the last of them stays longest.

    What has still no room takes it from the end of the name.
    """
    shown = [fact for fact in facts if fact]
    while len(shown) > 1 and cells(" · ".join(shown)) + 3 > size - name.cell_length - rest.cell_length:
        shown.pop(-2)
    right = text((f"  {' · '.join(shown)} ", "muted"))
    room = size - rest.cell_length - right.cell_length
    if room < min(name.cell_length, 17):
        right, room = Content(""), size - rest.cell_length
    return spread(text(cut(name, max(room, 17)), rest), right, size)


def hang(head: Part, words: str, size: int, role: str = "") -> Content:
    """Return ``words`` wrapped beside ``head``, further rows indented by its width."""
    indent = text(head).cell_length
    rows = wrap(words, max(size - indent, 8))
    return text(head, (("\n" + " " * indent).join(rows), role))


def paragraph(words: str, size: int, role: str = "", head: Part = "") -> ListEntry:
    """Return ``words`` wrapped to ``size`` cells beside ``head``."""
    return entry(hang(head, words, size, role))


def term(name: str, sentence: str = "") -> Content:
    """Return a term in bold and its sentence."""
    return text(" ", (name, "strong"), "  ", sentence or TERMS.get(name, ""))


def blank() -> ListEntry:
    """Return an empty row."""
    return entry(" ")


def title(words: str, note: str = "") -> ListEntry:
    """Return a heading between rows."""
    return entry((words, "title"), (f"  {note}", "muted"))


def rule(words: str, note: str, size: int) -> ListEntry:
    """Return a heading on a line across ``size`` cells."""
    head = text(("── ", "rest"), (words, "title"), (f"  {note} " if note else " ", "muted"))
    return entry(head, ("─" * max(size - head.cell_length, 0), "rest"))


def in_full(values: Iterable[tuple[str, str]], size: int) -> list[ListEntry]:
    """Return values in full, each under its name."""
    out = [line for name, value in values for line in (blank(), title(name), paragraph(value, size))]
    return out[1:]


def marked(word: str) -> tuple[str, str]:
    """Return the sign of a word with its tone."""
    word_sign = sign(word)
    return word_sign.sign, word_sign.tone


def bar(value: float, most: float, size: int) -> Content:
    """Return a bar of ``size`` cells."""
    full, rest = glyphs.bar(value, most, size)
    return text((full, "bar"), (rest, "rest"))


def found_in(content: Content, words: str) -> Content:
    """Return the content with every occurrence of ``words``, whatever its case, marked."""
    return content.highlight_regex("(?i)" + re.escape(words), style=STYLES["found"])
