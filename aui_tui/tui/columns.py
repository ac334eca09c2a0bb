"""The columns of a list: which of them fit, and what each says of a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from aui_tui.model.fates import UNCLEAR, turned_away
from aui_tui.model.listing import Row
from aui_tui.model.signs import GRADES, sign
from aui_tui.model.surfaces import SURFACES
from aui_tui.tui import glyphs
from aui_tui.tui.words import age, signed

Mode = Literal["ranked", "unreachable", "matrix"]


class Column(msgspec.Struct, frozen=True):
    """A column: key, heading, width in cells, alignment, the sort key behind its heading.

    ``drop``: order in which columns leave a narrow list, 0 for one that never does. ``most``: the widest that it grows
    in the room that is left over, 0 for one that does not.
    """

    key: str
    label: str
    width: int
    right: bool = False
    sort: str = ""
    drop: int = 0
    most: int = 0


class Cell(msgspec.Struct, frozen=True):
    """What a column says of a row, and its role."""

    text: str
    role: str = ""


STANCE_WIDTH: Final = 11
WORD_WIDTH: Final = 12
"""A matrix column this wide says the verdict in words as well."""
EVERYBODY: Final = 138
"""Width of a list from which every assistant has a column of its own."""

ROOMY: Final = 88
"""Width of a list from which most names of hosts stand whole, in HOST_WIDTH cells."""
HOST_WIDTH: Final = 30
WIDEST: Final = 400

RANKED: Final = (
    Column("rank", "#", 4, right=True, sort="rank", drop=6),
    Column("score", "Score", 5, right=True, sort="score"),
    Column("change", "Δ", 4, right=True, sort="change", drop=5),
    Column("grade", "G", 1, sort="grade"),
    Column("stance", "Stance", STANCE_WIDTH, sort="stance"),
    Column("host", "Host", 18, sort="host", most=40),
    Column("category", "Category", 14, sort="category", drop=1),
    Column("out", "Gets in", 11, drop=7, most=16),
    Column("disagree", glyphs.DISAGREE, 1, drop=4),
    Column("by", "by", 10, drop=3),
    Column("age", "Age", 4, right=True, sort="age", drop=2),
)
CHOICES: Final = (
    Column("next", "Next", 34, drop=1, most=48),
    Column("scans", "Scans", 5, right=True),
    Column("name", "Name", 20, most=30),
    Column("finding", "First finding", 34, drop=1, most=WIDEST),
    Column("method", "Method", 6),
    Column("edge", "Served by", 14),
)
"""Columns that are not there from the beginning; the surfaces of the matrix are others."""
UNREACHABLE: Final = (
    Column("host", "Host", 18, sort="host", most=40),
    Column("reason", "Reason", 26, most=WIDEST),
    Column("category", "Category", 14, sort="category", drop=2),
    Column("age", "Age", 4, right=True, sort="age", drop=1),
)
MATRIX: Final = (
    Column("rank", "#", 4, right=True, sort="rank", drop=1),
    Column("score", "Score", 6, right=True, sort="score", drop=2),
    Column("stance", "Stance", STANCE_WIDTH, sort="stance"),
    Column("host", "Host", 16, sort="host", most=36),
)
"""The columns of the matrix before those of the assistants, which are numbered."""


def columns(
    mode: Mode, width: int, rows: int, chosen: Sequence[str] = (), unused: Set[str] = frozenset()
) -> tuple[Column, ...]:
    """Return the columns of ``mode`` that fit ``width`` cells in a list of ``rows`` rows, each with its final width.

    ``chosen``: keys of the columns that the user wants, empty for those as delivered, without the ``unused`` ones.
    Columns leave in the order Category, Age, by, ≠, Δ, #; score, stance and host stay.
    """
    shown = [*MATRIX] if mode == "matrix" else [*UNREACHABLE] if mode == "unreachable" else _ranked(width, chosen)
    if mode == "ranked" and not chosen:
        shown = [column for column in shown if column.key not in unused]
    if shown[0].key == "rank":
        shown[0] = replace(shown[0], width=max(shown[0].width, len(format(rows, ","))))
    count = len(SURFACES) if mode == "matrix" else 0
    while _need(shown) + 2 * count > width:
        leaving = min((c for c in shown if c.drop), key=lambda c: c.drop, default=None)
        if leaving is None and chosen and mode == "ranked" and len(shown) > 1:
            leaving = [column for column in shown if column.key != "host"][-1]
        if leaving is None:
            break
        shown.remove(leaving)
    if not count:
        return _grown(shown, width)
    each = min(max((width - _need(shown)) // count - 1, 1), WORD_WIDTH + 2)
    numbered = (
        replace(column, label=str(number) if each < 8 else f"{number} {column.label}")
        for number, column in enumerate(_surfaces(each), 1)
    )
    return (*_grown(shown, width - count * (each + 1)), *numbered)


def every_column() -> tuple[Column, ...]:
    """Return every column that a ranked list may have, in their order."""
    return (*RANKED, *CHOICES, *_surfaces(WORD_WIDTH))


def _ranked(width: int, chosen: Sequence[str]) -> list[Column]:
    if chosen:
        by_key = {column.key: column for column in every_column()}
        return [by_key[key] for key in chosen if key in by_key] or list(RANKED)
    if width < EVERYBODY:
        host = HOST_WIDTH if width >= ROOMY else 18
        return [replace(column, width=host) if column.key == "host" else column for column in RANKED]
    live = [column for column, surface in zip(_surfaces(WORD_WIDTH), SURFACES, strict=True) if surface.live]
    place = next(number for number, column in enumerate(RANKED) if column.key == "out")
    return [*RANKED[:place], *live, *RANKED[place + 1 :], CHOICES[0]]


def _surfaces(each: int) -> list[Column]:
    keys = ((f"matrix.{surface.slug}", surface.label) for surface in SURFACES)
    return [Column(key, short, each, sort=key) for key, short in keys]


def _need(shown: Sequence[Column]) -> int:
    """Return the cells of the cursor and of the columns with a gap between them."""
    return sum(column.width + 1 for column in shown)


def _grown(shown: Sequence[Column], width: int) -> tuple[Column, ...]:
    """Give the room that is left to the host, then to other columns that may grow; the host yields when it is short."""
    room = width - _need(shown)
    grown: dict[str, Column] = {}
    for column in sorted(shown, key=lambda column: column.key != "host"):
        extra = max(min(room, column.most - column.width), 4 - column.width) if column.most else 0
        grown[column.key] = replace(column, width=column.width + extra)
        room -= extra
    return tuple(grown[column.key] for column in shown)


def cell(column: Column, row: Row, now: float) -> Cell:
    """Return what ``column`` says of ``row``; ``now`` is epoch seconds."""
    if row.unreachable and column.key in OF_SCORE:
        return Cell("–", "muted")
    maker = _CELLS.get(column.key)
    if maker is not None:
        return maker(row, now)
    slug = column.key.removeprefix("matrix.")
    word = verdict_of(row, slug)
    word_sign = sign(word)
    return Cell(f"{word_sign.sign} {word}" if column.width >= WORD_WIDTH else word_sign.sign, word_sign.tone)


def verdict_of(row: Row, slug: str) -> str:
    """Return the word for the verdict of one of our surfaces; a foreign matrix is read by position."""
    pairs = zip(SURFACES, row.verdicts, strict=False)
    return next((word for surface, word in pairs if surface.slug == slug), UNCLEAR)


def _score(row: Row, _now: float) -> Cell:
    partly = 0 < row.measured < 100 or None in row.summary.pillars.values()
    return Cell(str(row.summary.score) + ("*" if partly else " "), "strong")


def _change(row: Row, _now: float) -> Cell:
    text = "" if row.unreachable else signed(row.change)
    return Cell(text, "good" if text.startswith("+") else "critical")


def _stance(row: Row, _now: float) -> Cell:
    stance = row.summary.stance
    return Cell(f"{sign(stance).sign} {stance}", sign(stance).tone)


def _out(row: Row, _now: float) -> Cell:
    word, names = turned_away(row.verdicts)
    mark, role = sign(word).sign, sign(word).tone
    if len(names) < 2:
        return Cell(f"{mark} {names[0] if names else 'all'}", role)
    if word == "unclear":
        return Cell(f"{mark} {len(names)} {word}", role)
    total = sum(surface.source != "none" for surface in SURFACES)
    return Cell(f"{mark} nobody" if len(names) >= total else f"{mark} {len(names)} out", role)


def _by(row: Row, _now: float) -> Cell:
    """Return who turns away: robots.txt, or what answers for the site."""
    word, names = turned_away(row.verdicts)
    if not names or word == "unclear":
        return Cell("")
    return Cell("robots.txt" if word == "told no" else row.edge or "the site", "muted")


_CELLS: Final[dict[str, Callable[[Row, float], Cell]]] = {
    "rank": lambda row, _: Cell(format(row.rank, ",") if row.rank else "–", "muted"),
    "score": _score,
    "change": _change,
    "grade": lambda row, _: Cell(row.summary.grade, GRADES.get(row.summary.grade[:1], "")),
    "stance": _stance,
    "host": lambda row, _: Cell(row.summary.host, "strong"),
    "category": lambda row, _: Cell(row.summary.category),
    "age": lambda row, now: Cell(age(row.summary.scanned_at, now), "muted"),
    "finding": lambda row, _: Cell(row.summary.top_evidence, "muted"),
    "out": _out,
    "disagree": lambda row, _: Cell(glyphs.DISAGREE if row.disagree else "", "accent"),
    "by": _by,
    "next": lambda row, _: Cell(row.best_fix),
    "scans": lambda row, _: Cell(str(row.scans), "muted"),
    "name": lambda row, _: Cell(row.summary.name),
    "method": lambda row, _: Cell(row.method, "muted"),
    "edge": lambda row, _: Cell(row.edge, "muted"),
    "reason": lambda row, _: Cell(row.reason),
}
OF_SCORE: Final = frozenset({"rank", "score", "grade", "stance"})
"""Columns that an unreachable host has nothing for."""
