"""The figures of the overview as lines: a histogram of grades, shares of stances, counts of failing checks."""

from __future__ import annotations

from typing import Final

from aui_tui.engine.checks import BY_FIX
from aui_tui.records.view import Overview
from aui_tui.records.vocabulary import FIXES, STANCES
from aui_tui.text import fit
from aui_tui.tui import glyphs
from aui_tui.tui.draw import BLANK, Line, Piece, beside, line

NAME: Final = 15
FIGURE: Final = 9
TWO_COLUMNS: Final = 96


def overview(figures: Overview, size: int) -> list[Line]:
    """Return the figures laid out to ``size`` cells."""
    if not figures.hosts:
        return [BLANK, line(("  No host matches, so there is nothing to count.", "muted"))]
    if size < TWO_COLUMNS:
        return [*_grades(figures, size), BLANK, *_stances(figures, size), BLANK, *_failing(figures, size)]
    half = size // 2 - 1
    left = [*_grades(figures, half), BLANK, *_failing(figures, half)]
    return beside(left, _stances(figures, half), half, 2)


def _percent(part: int, whole: int) -> str:
    share = 100 * part / whole if whole else 0.0
    return "<1 %" if 0 < share < 1 else format(share, ".0f") + " %"


def _row(name: str, part: int, whole: int, size: int, role: str, action: str = "", width: int = NAME) -> Line:
    room = max(min(size - width - FIGURE - 9, 40), 6)
    full, rest = glyphs.bar(part, whole, room)
    return (
        Piece(" " + fit(name, width), "" if part else "muted", action),
        Piece(full, role, action),
        Piece(rest, "rest", action),
        Piece(format(part, ",").rjust(FIGURE), "" if part else "muted", action),
        Piece(_percent(part, whole).rjust(6), "muted", action),
    )


def _grades(figures: Overview, size: int) -> list[Line]:
    out = [line((" Grades", "title"))]
    for grade, number in figures.grades.items():
        action = "screen.choose_figure('grade', '" + grade.lower() + "')" if grade in "ABCDF" else ""
        out.append(_row(grade, number, figures.hosts, size, glyphs.role_of(grade[:1]), action))
    return out


def _failing(figures: Overview, size: int) -> list[Line]:
    out = [line((" Commonest failing checks", "title"))]
    width = 32 if size >= 60 else 12
    for key, number in sorted(figures.failing.items(), key=lambda item: (-item[1], item[0])):
        name = BY_FIX[key].lacking if width > NAME and key in BY_FIX else key
        action = "screen.choose_figure('fix', '" + key + "')" if key in FIXES else ""
        out.append(_row(name, number, figures.hosts, size, "bar", action, width))
    return out if len(out) > 1 else [*out, line(("  none", "muted"))]


def _stances(figures: Overview, size: int) -> list[Line]:
    legend = [Piece(" Stances per category", "title"), Piece("  ")]
    for stance in STANCES:
        action = "screen.choose_figure('stance', '" + stance + "')"
        legend.append(Piece(" " + glyphs.STANCE[stance] + " " + stance + " ", glyphs.role_of(stance), action))
    out: list[Line] = [tuple(legend)]
    room = max(min(size - NAME - 27, 40), 6)
    for category, shares in figures.stances.items():
        whole = sum(shares.values())
        action = "screen.choose_figure('category', '" + category + "')" if "'" not in category else ""
        pieces = [Piece(" " + fit(category, NAME), "" if whole else "muted")]
        pieces += _stacked(shares, whole, room)
        for stance in STANCES:
            text = glyphs.STANCE[stance] + format(shares.get(stance, 0), ",")
            pieces.append(Piece(text.rjust(7), glyphs.role_of(stance) if whole else "muted"))
        out.append(tuple(piece._replace(action=action) for piece in pieces))
    return out


def _stacked(shares: dict[str, int], whole: int, room: int) -> list[Piece]:
    """Return one bar whose parts are drawn with the signs of the stances, so that colour is not alone."""
    if not whole:
        return [Piece(glyphs.REST * room, "rest")]
    ends = [0]
    for stance in STANCES:
        ends.append(ends[-1] + shares.get(stance, 0))
    places = [end * room // whole for end in ends]
    return [
        Piece(glyphs.STACK[stance] * (places[number + 1] - places[number]), glyphs.role_of(stance))
        for number, stance in enumerate(STANCES)
    ]
