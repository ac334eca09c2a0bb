"""Which columns a list has, which of them fit, and what each says of a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from aui_tui.records.registry import registry
from aui_tui.records.view import Row
from aui_tui.tui import glyphs
from aui_tui.tui.draw import Piece
from aui_tui.tui.words import age, signed

Mode = Literal["ranked", "unreachable", "matrix"]


class Column(msgspec.Struct, frozen=True):
    """A column: key, heading, width in cells, alignment, the sort key behind its heading.

    ``drop``: order in which columns leave a narrow list, 0 for one that never does. ``flex``: share of the room
    that is left over; ``most``: the widest it grows, 0 for no limit.
    """

    key: str
    label: str
    width: int
    right: bool = False
    sort: str = ""
    drop: int = 0
    flex: int = 0
    most: int = 0


STANCE_WIDTH: Final = 11
WORD_WIDTH: Final = 14
"""A matrix column this wide says the verdict in words as well."""

RANKED: Final = (
    Column("rank", "#", 4, right=True, sort="rank", drop=5),
    Column("score", "Score", 5, right=True, sort="score"),
    Column("change", "Δ", 4, right=True, sort="change", drop=4),
    Column("grade", "Gr", 2, sort="grade"),
    Column("stance", "Stance", STANCE_WIDTH, sort="stance"),
    Column("host", "Host", 20, sort="host", flex=3, most=44),
    Column("category", "Category", 14, sort="category", drop=3),
    Column("age", "Age", 4, right=True, sort="age", drop=2),
    Column("finding", "First finding", 34, drop=1, flex=5),
)
UNREACHABLE: Final = (
    Column("score", "Score", 5, right=True, drop=4),
    Column("grade", "Gr", 2, drop=5),
    Column("stance", "Stance", 6),
    Column("host", "Host", 18, sort="host", flex=2, most=40),
    Column("category", "Category", 14, sort="category", drop=1),
    Column("age", "Age", 4, right=True, sort="age", drop=2),
    Column("reason", "Reason", 30, flex=3),
)


def columns(mode: Mode, width: int, rows: int) -> tuple[Column, ...]:
    """Return the columns of ``mode`` that fit ``width`` cells in a list of ``rows`` rows, each with its final width.

    Columns leave in the order Age, Category, Δ, # (after the wide-screen findings); the stance stays.
    """
    if mode == "matrix":
        return _matrix(width, rows)
    wanted = list(UNREACHABLE if mode == "unreachable" else RANKED)
    if mode == "ranked":
        wanted[0] = replace(wanted[0], width=max(wanted[0].width, len(format(rows, ","))))
    while _need(wanted) > width:
        leaving = min((c for c in wanted if c.drop), key=lambda c: c.drop, default=None)
        if leaving is None:
            break
        wanted.remove(leaving)
    return _grown(wanted, width)


def _need(wanted: Sequence[Column]) -> int:
    return 1 + sum(column.width + 1 for column in wanted)


def _grown(wanted: Sequence[Column], width: int) -> tuple[Column, ...]:
    """Give the room that is left to the flexible columns by their shares; shrink the last of them when short."""
    out = list(wanted)
    for _ in range(len(out)):
        room = width - _need(out)
        flexible = [c for c in out if c.flex and (not c.most or c.width < c.most)]
        if room <= 0 or not flexible:
            break
        shares = sum(c.flex for c in flexible)
        for column in flexible:
            extra = max(room * column.flex // shares, 1)
            if column.most:
                extra = min(extra, column.most - column.width)
            extra = min(extra, width - _need(out))
            out[out.index(column)] = replace(column, width=column.width + extra)
    short = _need(out) - width
    if short > 0:
        last = max((i for i, c in enumerate(out) if c.flex), key=lambda i: out[i].width, default=-1)
        if last >= 0:
            out[last] = replace(out[last], width=max(out[last].width - short, 4))
    return tuple(out)


def _matrix(width: int, rows: int) -> tuple[Column, ...]:
    surfaces = registry().surfaces
    fixed = [
        Column("rank", "#", max(4, len(format(rows, ","))), right=True, sort="rank", drop=1),
        Column("score", "Score", 5, right=True, sort="score", drop=2),
        Column("stance", "Stance", STANCE_WIDTH, sort="stance"),
        Column("host", "Host", 16, sort="host", flex=1, most=36),
    ]
    count = len(surfaces)
    while _need(fixed) + 2 * count > width and any(c.drop for c in fixed):
        fixed.remove(min((c for c in fixed if c.drop), key=lambda c: c.drop))
    each = min(max((width - _need(fixed) - 4) // count - 1, 1), WORD_WIDTH)
    labelled = [
        Column(
            "matrix." + surface.slug,
            str(number) if each < 5 else " ".join((str(number), surface.label)),
            each,
            sort="matrix." + surface.slug,
        )
        for number, surface in enumerate(surfaces, 1)
    ]
    host = _grown(fixed, width - count * (each + 1))
    return (*host, *labelled)


def cell(column: Column, row: Row, now: float) -> Piece:
    """Return what ``column`` says of ``row``; ``now`` is epoch seconds."""
    maker = _CELLS.get(column.key)
    if maker is not None:
        return maker(row, now)
    slug = column.key.removeprefix("matrix.")
    verdict = verdict_of(row, slug)
    sign = glyphs.VERDICT.get(verdict, glyphs.UNKNOWN)
    text = " ".join((sign, verdict)) if column.width >= WORD_WIDTH else sign
    return Piece(text, glyphs.role_of(verdict))


def verdict_of(row: Row, slug: str) -> str:
    """Return the verdict of one of our surfaces; a foreign matrix is read by position."""
    matrix = row.summary.matrix
    if slug in matrix:
        return matrix[slug]
    place = next((i for i, surface in enumerate(registry().surfaces) if surface.slug == slug), -1)
    values = tuple(matrix.values())
    return values[place] if 0 <= place < len(values) else "untested"


def _reached(row: Row) -> bool:
    return row.rank > 0


def _rank(row: Row, _now: float) -> Piece:
    return Piece(format(row.rank, ",") if row.rank else glyphs.DASH, "muted")


def _score(row: Row, _now: float) -> Piece:
    return Piece(str(row.summary.score), "strong") if _reached(row) else Piece(glyphs.DASH, "muted")


def _change(row: Row, _now: float) -> Piece:
    text = signed(row.change) if _reached(row) else ""
    return Piece(text, "good" if text.startswith("+") else "critical")


def _grade(row: Row, _now: float) -> Piece:
    grade = row.summary.grade
    return Piece(grade, glyphs.role_of(grade[:1])) if _reached(row) else Piece(glyphs.DASH, "muted")


def _stance(row: Row, _now: float) -> Piece:
    stance = row.summary.stance
    if not _reached(row):
        return Piece(glyphs.DASH, "muted")
    return Piece(" ".join((glyphs.STANCE.get(stance, glyphs.UNKNOWN), stance)), glyphs.role_of(stance))


def _host(row: Row, _now: float) -> Piece:
    return Piece(row.summary.host, "strong")


def _category(row: Row, _now: float) -> Piece:
    return Piece(row.summary.category)


def _age(row: Row, now: float) -> Piece:
    return Piece(age(row.summary.scanned_at, now), "muted")


def _finding(row: Row, _now: float) -> Piece:
    return Piece(row.summary.top_evidence, "muted")


def _reason(row: Row, _now: float) -> Piece:
    return Piece(row.summary.top_evidence.removeprefix(row.summary.host + " could not be judged: "))


_CELLS: Final = {
    "rank": _rank,
    "score": _score,
    "change": _change,
    "grade": _grade,
    "stance": _stance,
    "host": _host,
    "category": _category,
    "age": _age,
    "finding": _finding,
    "reason": _reason,
}
