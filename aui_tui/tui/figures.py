"""Figures among lines: the runs of pieces that share an action, and the way from one to the next. No Textual here."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from aui_tui.tui import glyphs
from aui_tui.tui.draw import Line, Piece, width


class Figure(NamedTuple):
    """What can be chosen: its action, the number of its line, and its columns from ``start`` up to ``end``."""

    action: str
    line: int
    start: int
    end: int


def figures(lines: Sequence[Line]) -> list[Figure]:
    """Return all figures in reading order."""
    found: list[Figure] = []
    for number, row in enumerate(lines):
        place = 0
        for action, pieces in groupby(row, key=lambda piece: piece.action):
            start, place = place, place + width(pieces)
            if action:
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
