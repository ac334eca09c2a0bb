"""What was asked and what came back, as lines: both sides beside one another, one side raw, or the text."""

from __future__ import annotations

from itertools import groupby
from typing import Final

from aui_tui.records.exchanges import Compared, FieldRow, curl, status_line
from aui_tui.records.observations import Exchange
from aui_tui.text import fit
from aui_tui.tui import glyphs
from aui_tui.tui.draw import BLANK, Line, Piece, cut, hang, line, paragraph

NAME: Final = 16
"""Cells of a field's name."""
ONE_SIDE: Final = 70
"""Width below which the agent's side stands alone."""
TITLES: Final = {"asked": "asked", "answered": "answered", "page": "the page"}
SIGNS: Final = {True: glyphs.DISAGREE, False: glyphs.ALIKE, None: " "}
TEXT_ROLES: Final = {"=": "muted", "-": "", "+": "strong"}


def side_by_side(found: Compared, size: int) -> list[Line]:
    """Return all parts laid out to ``size`` cells, what differs first and what is alike muted below it."""
    both = size >= ONE_SIDE and found.left is not found.right
    out: list[Line] = []
    for part, rows in groupby(enumerate(found.rows), key=lambda pair: pair[1].part):
        out += [BLANK] if out else []
        out.append(_heading(TITLES[part], found, size, both=both))
        out += [_row(row, number, size, both=both) for number, row in rows]
    if any(one.side != "=" for one in found.text):
        out += [BLANK, cut(line(("the page, as text", "title"), ("   - browser only   + agent only", "muted")), size)]
        for one in found.text:
            if one.side != "=":
                out += hang((Piece(one.side + " ", "accent"),), one.text, size, TEXT_ROLES[one.side])
    return [*out, BLANK, line(("ask it yourself", "title")), *paragraph(curl(found.right), size, "code")]


def _heading(title: str, found: Compared, size: int, *, both: bool) -> Line:
    room = _room(size)
    if not both:
        return cut((Piece(fit(title, NAME + 2), "title"), Piece(found.right_label, "muted")), size)
    left = fit(found.left_label, room)
    return cut((Piece(fit(title, NAME + 2), "title"), Piece(left + "   " + found.right_label, "muted")), size)


def _room(size: int) -> int:
    return max((size - NAME - 5) // 2, 8)


def _row(row: FieldRow, number: int, size: int, *, both: bool) -> Line:
    action = "screen.whole(" + str(number) + ")"
    role = "muted" if row.differs is False else ""
    value = "code" if row.note == "the id to quote" else role
    sign = Piece(SIGNS[row.differs] + " ", "accent" if row.differs else "muted", action)
    name = Piece("  " + fit(row.name, NAME - 1) + " ", "muted", action)
    note = Piece("   " + row.note if row.note else "", "muted", action)
    if not both:
        return cut((name, sign, Piece(row.right, value, action), note), size)
    room = _room(size)
    left = Piece(fit(row.left, room - 1) + "  ", value, action)
    return cut((name, left, sign, Piece(row.right, value, action), note), size)


def raw(one: Exchange, size: int) -> list[Line]:
    """Return one side as it went over the line, as far as it is kept."""
    out: list[Line] = [line(("> ", "muted"), ("GET " + one.url, "strong"))]
    out += [row for name, value in one.request for row in hang((Piece("> ", "muted"),), name + ": " + value, size)]
    if not one.request:
        out.append(line(("  the fields of this request were not kept; the next scan keeps them", "muted")))
    out.append(BLANK)
    for hop in one.hops:
        words = " ".join((str(hop.status), glyphs.ARROW, hop.location))
        out += hang((Piece("< ", "muted"),), words, size)
    out.append(line(("< ", "muted"), (" ".join((one.http_version, status_line(one))).strip(), "strong")))
    out += [row for name, value in one.headers for row in hang((Piece("< ", "muted"),), name + ": " + value, size)]
    return [cut(row, size) for row in out]


def text(found: Compared, size: int) -> list[Line]:
    """Return the readable text of both sides: what both have, what only one has."""
    if not found.text:
        return [line(("No text is kept of this answer; the next scan keeps it.", "muted"))]
    out: list[Line] = []
    for one in found.text:
        sign = "  " if one.side == "=" else one.side + " "
        out += hang((Piece(sign, "accent"),), one.text, size, TEXT_ROLES[one.side])
    return out


def whole(row: FieldRow, found: Compared, size: int) -> list[Line]:
    """Return both values of a row in full."""
    out: list[Line] = []
    for label, value in ((found.left_label, row.left), (found.right_label, row.right)):
        out += [line((label, "title")), *paragraph(value, size), BLANK]
    return [*out, *([line((row.note, "muted"))] if row.note else [])]
