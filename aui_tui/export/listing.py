"""An index on its way out: rows that are read as they are written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import msgspec

from aui_tui.records.card import Index, summary_without_volatile
from aui_tui.records.view import IndexView, Row, rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The two lists of an index (specification 4.1), read once; ``title`` says in words what was asked for."""

    scanned_at: str
    ranked: Iterable[Row]
    unreachable: Iterable[Row]
    title: str = ""

    def without_volatile(self) -> Listing:
        """Return the same listing without what changes from run to run in a row's evidence."""
        ranked, unreachable = map(_steady, self.ranked), map(_steady, self.unreachable)
        return replace(self, ranked=ranked, unreachable=unreachable)

    @classmethod
    def of_view(cls, view: IndexView, limit: int = 0) -> Listing:
        """Return the answer of a service, at most ``limit`` rows of each list (0: all), read page by page."""
        return cls(
            scanned_at=view.scanned_at,
            ranked=rows(view.ranked, limit),
            unreachable=rows(view.unreachable, limit),
            title=view.query.words(),
        )

    @classmethod
    def of_index(cls, index: Index, title: str = "") -> Listing:
        """Return a whole Index record, its rows ranked by their order of scores ("1, 2, 2, 4")."""
        return cls(
            scanned_at=index.scanned_at,
            ranked=_ranked(index),
            unreachable=(Row(summary=summary) for summary in index.unreachable),
            title=title,
        )


def _steady(row: Row) -> Row:
    return msgspec.structs.replace(row, summary=summary_without_volatile(row.summary))


def _ranked(index: Index) -> Iterator[Row]:
    rank, score = 0, -1
    for position, summary in enumerate(index.ranked, 1):
        if summary.score != score:
            rank, score = position, summary.score
        yield Row(summary=summary, rank=rank)
