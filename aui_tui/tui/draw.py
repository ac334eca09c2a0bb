"""Lines of text as data: pieces with a role, laid out to a width in terminal cells, and the figures among them.

A widget paints a role in the colour of the theme; a piece is never parsed, so markup in a title stays text.
No Textual here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from aui_tui.text import ELLIPSIS, cells, fit, wrap
from aui_tui.tui import glyphs


class Piece(NamedTuple):
    """Some text, its role, and the action that a click on it runs (a Textual action string), or none."""

    text: str
    role: str = ""
    action: str = ""


Line = tuple[Piece, ...]
BLANK: Final[Line] = ()


def line(*parts: str | tuple[str, str] | Piece) -> Line:
    """Return a line from plain strings and ``(text, role)`` pairs."""
    return tuple(Piece(part) if isinstance(part, str) else Piece(*part) for part in parts)


def acting(pieces: Iterable[Piece], action: str) -> Line:
    """Return the pieces with one action for a click on any of them."""
    return tuple(piece._replace(action=action) for piece in pieces)


def width(pieces: Iterable[Piece]) -> int:
    """Return the cells that the pieces take side by side."""
    return sum(cells(piece.text) for piece in pieces)


def cut(pieces: Iterable[Piece], limit: int) -> Line:
    """Return the pieces cut to at most ``limit`` cells; a cut ends with an ellipsis."""
    out: list[Piece] = []
    room = limit
    for piece in pieces:
        size = cells(piece.text)
        if size <= room:
            out.append(piece)
            room -= size
            continue
        if room > 0:
            out.append(piece._replace(text=fit(piece.text, room)))
        elif out:
            last = out[-1]
            out[-1] = last._replace(text=fit(last.text + ELLIPSIS, cells(last.text)))
        break
    return tuple(out)


def pad(pieces: Iterable[Piece], size: int) -> Line:
    """Return the pieces cut or filled with blanks to exactly ``size`` cells."""
    kept = cut(pieces, size)
    missing = size - width(kept)
    return (*kept, Piece(" " * missing)) if missing > 0 else kept


def spread(left: Iterable[Piece], right: Iterable[Piece], size: int) -> Line:
    """Return ``left`` and ``right`` at the two ends of ``size`` cells; the left part yields when both do not fit."""
    tail = cut(right, size)
    room = size - width(tail)
    return (*pad(left, room), *tail)


def beside(left: Sequence[Line], right: Sequence[Line], left_width: int, gap: int = 1) -> list[Line]:
    """Return two blocks side by side, the left one ``left_width`` cells wide."""
    rows = max(len(left), len(right))
    space = Piece(" " * gap)
    out: list[Line] = []
    for number in range(rows):
        first = left[number] if number < len(left) else BLANK
        second = right[number] if number < len(right) else BLANK
        out.append((*pad(first, left_width), space, *second) if second else cut(first, left_width))
    return out


def hang(head: Sequence[Piece], text: str, size: int, role: str = "") -> list[Line]:
    """Return ``text`` wrapped beside ``head``, further lines indented by the head's width."""
    indent = width(head)
    rows = wrap(text, max(size - indent, 8))
    first: Line = (*head, Piece(rows[0], role))
    blank = Piece(" " * indent)
    return [first, *((blank, Piece(row, role)) for row in rows[1:])]


def paragraph(text: str, size: int, role: str = "") -> list[Line]:
    """Return ``text`` wrapped to ``size`` cells."""
    return [(Piece(row, role),) for row in wrap(text, size)]


def plain(pieces: Iterable[Piece]) -> str:
    """Return the text of the pieces without roles."""
    return "".join(piece.text for piece in pieces)


def marked(pieces: Iterable[Piece], words: str) -> Line:
    """Return the pieces with every occurrence of ``words``, whatever its case, in the role ``found``."""
    line = tuple(pieces)
    text, wanted = plain(line).lower(), words.lower()
    if not wanted or len(text) != len(plain(line)):
        return line
    inside = bytearray(len(text))
    place = text.find(wanted)
    while place >= 0:
        inside[place : place + len(wanted)] = b"\1" * len(wanted)
        place = text.find(wanted, place + len(wanted))
    out: list[Piece] = []
    start = 0
    for piece in line:
        flags = inside[start : start + len(piece.text)]
        start += len(piece.text)
        for hit, group in groupby(zip(flags, piece.text, strict=True), key=lambda pair: pair[0]):
            part = "".join(char for _, char in group)
            out.append(piece._replace(text=part, role="found" if hit else piece.role))
    return tuple(out)


class Figure(NamedTuple):
    """What can be chosen: its action, the number of its line, and its columns from ``start`` up to ``end``."""

    action: str
    line: int
    start: int
    end: int


def figures(lines: Sequence[Line]) -> list[Figure]:
    """Return all figures in reading order; one that stands twice counts where it stands first."""
    found: list[Figure] = []
    seen: set[str] = set()
    for number, row in enumerate(lines):
        place = 0
        for action, pieces in groupby(row, key=lambda piece: piece.action):
            start, place = place, place + width(pieces)
            if action and action not in seen:
                seen.add(action)
                found.append(Figure(action, number, start, place))
    return found


def upright(among: Sequence[Figure], here: Figure, step: int) -> Figure | None:
    """Return the nearest figure above (-1) or below (1) that shares a column with ``here``; None at the end."""
    way = [
        figure
        for figure in among
        if (figure.line - here.line) * step > 0 and figure.start < here.end and here.start < figure.end
    ]
    return min(way, key=lambda figure: (abs(figure.line - here.line), figure.start), default=None)


def sideways(among: Sequence[Figure], here: Figure, step: int) -> Figure | None:
    """Return the figure at the left (-1) or right (1), on the nearest line that has one there; None at the edge."""
    way = [figure for figure in among if (here.end <= figure.start if step > 0 else figure.end <= here.start)]
    return min(way, key=lambda figure: (abs(figure.line - here.line), abs(figure.start - here.start)), default=None)


def pointed(row: Line, action: str) -> Line:
    """Return a line with the figure of ``action`` under the cursor: its first blank is the cursor's sign."""
    out: list[Piece] = []
    sign = glyphs.CURSOR
    for piece in row:
        if piece.action == action:
            text = sign + piece.text[1:] if sign and piece.text.startswith(" ") else piece.text
            piece, sign = piece._replace(text=text, role="cursor"), ""
        out.append(piece)
    return tuple(out)
