"""The order of an index's rows: the natural direction of every column, and its reverse."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from aui_tui.records.match import verdict
from aui_tui.records.query import Query
from aui_tui.records.times import epoch_ms
from aui_tui.records.view import Row
from aui_tui.records.vocabulary import CATEGORIES, GRADES, STANCES

BEST_VERDICT_FIRST: Final = ("allowed", "allowed-robots", "partial", "disallowed", "blocked", "walled")
"""The verdicts that say something; ``untested`` and a word of the future stand last in either direction."""
_CATEGORIES: Final = tuple(sorted(CATEGORIES))


def ordered(rows: Iterable[Row], query: Query) -> list[Row]:
    """Return ``rows`` in the order of ``query.sort``.

    Natural directions: ``rank`` and ``score`` highest score first; ``change`` greatest gain first; ``grade`` A first;
    ``stance`` Open first; ``host``, ``name`` and ``category`` alphabetical (names without regard to case); ``age``
    newest first; a matrix column best verdict first. Ties: higher score, then host. ``descending`` is the exact
    reverse, but rows without a change, or of whose verdict nothing is known, stay last.
    """
    lists: tuple[list[Row], list[Row]] = [], []
    for row in rows:
        lists[_unknown(row, query.sort)].append(row)
    return [
        row for part in lists for row in sorted(part, key=lambda row: _key(row, query.sort), reverse=query.descending)
    ]


def _unknown(row: Row, sort: str) -> bool:
    if sort == "change":
        return row.change is None
    slug = sort.removeprefix("matrix.")
    return slug != sort and verdict(row.summary, slug) not in BEST_VERDICT_FIRST


def _rank(row: Row) -> tuple[int, str]:
    return -row.summary.score, row.summary.host


def _key(row: Row, sort: str) -> tuple[Any, ...]:
    summary = row.summary
    match sort:
        case "rank" | "score":
            return _rank(row)
        case "change":
            return -(row.change or 0), *_rank(row)
        case "host":
            return (summary.host,)
        case "name":
            return summary.name.casefold(), *_rank(row)
        case "category":
            return _place(_CATEGORIES, summary.category), *_rank(row)
        case "grade":
            return _place(GRADES, summary.grade[:1]), *_rank(row)
        case "stance":
            return _place(STANCES, summary.stance), *_rank(row)
        case "age":
            return -epoch_ms(summary.scanned_at), *_rank(row)
        case _:
            return _place(BEST_VERDICT_FIRST, verdict(summary, sort.removeprefix("matrix."))), *_rank(row)


def _place(words: tuple[str, ...], word: str) -> int:
    return words.index(word) if word in words else len(words)
