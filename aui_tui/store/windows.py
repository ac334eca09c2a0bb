"""Lists that are read in slices: by the order of ranks, or from a list of ids."""

from __future__ import annotations

import json
import sqlite3
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any, Final

from aui_tui.errors import RecordError, Unavailable
from aui_tui.records.view import Row
from aui_tui.store.blobs import unpack_row
from aui_tui.store.query_sql import Condition
from aui_tui.text import clean

Reader = Callable[[], sqlite3.Connection]

ROWS: Final = (
    "SELECT site.id, host, score, ranked, change, scans, CAST(line AS BLOB) FROM site JOIN line ON line.id = site.id "
    "WHERE site.id IN (SELECT value FROM json_each(?))"
)


class IdWindow:
    """The hosts with the given ids, in their order. Rows of hosts that have gone since are left out."""

    def __init__(self, reader: Reader, ids: Sequence[int], ranks: Sequence[int]) -> None:
        self._reader = reader
        self._ids = ids
        self._ranks = ranks

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, span: slice, /) -> Sequence[Row]:
        return rows(self._reader(), self._ids[span], self._ranks)

    def position(self, identity: int) -> int:
        """Return the place of an id, -1 when it is absent."""
        try:
            return self._ids.index(identity)
        except ValueError:
            return -1


class RankWindow:
    """The hosts of one list that satisfy ``condition``, highest score first, or lowest first when ``descending``.

    ``scores`` tells how many there are of each score from 0 to 100: with it a slice is found without counting rows.
    """

    def __init__(
        self,
        reader: Reader,
        condition: Condition,
        *,
        ranked: int,
        scores: Sequence[int],
        ranks: Sequence[int],
        descending: bool = False,
    ) -> None:
        self._reader = reader
        self._condition = condition
        self._ranked = ranked
        self._ranks = ranks
        self._descending = descending
        self._scores = range(101) if descending else range(100, -1, -1)
        self._ends = list(accumulate(scores[score] for score in self._scores))
        """Rows up to and including each score, in the order of the list."""

    def __len__(self) -> int:
        return self._ends[-1]

    def __getitem__(self, span: slice, /) -> Sequence[Row]:
        start, stop, step = span.indices(len(self))
        if step < 0:
            return list(reversed(self[stop + 1 : start + 1]))[::-step]
        if stop <= start:
            return []
        group = bisect_right(self._ends, start)
        skip = start - (self._ends[group - 1] if group else 0)
        compare, order = (">=", "score, host DESC") if self._descending else ("<=", "score DESC, host")
        reader = self._reader()
        found = _guarded(
            lambda: reader.execute(
                f"SELECT id FROM site INDEXED BY site_rank WHERE ranked = ? AND score {compare} ? "
                f"AND {self._condition.sql} ORDER BY {order} LIMIT ? OFFSET ?",
                (self._ranked, self._scores[group], *self._condition.values, stop - start, skip),
            ).fetchall()
        )
        return rows(reader, [row[0] for row in found][::step], self._ranks)

    def position(self, identity: int) -> int:
        """Return the place of an id, -1 when it is absent."""
        reader = self._reader()
        values = (identity, self._ranked, *self._condition.values)
        host = reader.execute(
            f"SELECT score, host FROM site WHERE id = ? AND ranked = ? AND {self._condition.sql}", values
        ).fetchone()
        if host is None:
            return -1
        group = self._scores.index(host[0])
        compare = ">" if self._descending else "<"
        before: int = reader.execute(
            f"SELECT count(*) FROM site INDEXED BY site_rank WHERE ranked = ? AND score = ? AND host {compare} ? "
            f"AND {self._condition.sql}",
            (self._ranked, *host, *self._condition.values),
        ).fetchone()[0]
        return before + (self._ends[group - 1] if group else 0)


def rows(reader: sqlite3.Connection, ids: Sequence[int], ranks: Sequence[int]) -> list[Row]:
    """Return the list rows of ``ids`` in their order; ``ranks`` gives the competition rank of each score.

    Hosts that are gone and lines that are damaged are left out.
    """
    if not ids:
        return []
    found = {}
    for identity, host, score, ranked, change, scans, line in _guarded(
        lambda: reader.execute(ROWS, (json.dumps(list(ids)),)).fetchall()
    ):
        rank = ranks[score] if ranked else 0
        try:
            found[identity] = unpack_row(host, score, line, rank=rank, change=change, scans=scans)
        except RecordError:
            continue
    return [found[identity] for identity in ids if identity in found]


def ids(found: Iterable[tuple[int]]) -> array[int]:
    """Return the ids of a cursor over one column."""
    return array("q", (row[0] for row in found))


def _guarded(read: Callable[[], list[tuple[Any, ...]]]) -> list[tuple[Any, ...]]:
    try:
        return read()
    except sqlite3.Error as error:
        raise Unavailable(f"The index could not be read: {clean(str(error), 120)}.") from None
