"""The lists of a query as windows over the table ``site``: only the rows of a slice are read."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from aui_tui.errors import Unavailable
from aui_tui.index.rows import READ, row_of
from aui_tui.model.query import Query
from aui_tui.model.view import Row
from aui_tui.model.vocabulary import CATEGORIES
from aui_tui.text import clean

Reader = Callable[[], sqlite3.Connection]
AMONG: Final = "id IN (SELECT value FROM json_each(?))"
BEST_VERDICT_FIRST: Final = ("allowed", "allowed-robots", "partial", "disallowed", "blocked", "walled")
"""The verdicts that say something; ``untested`` and an unknown word stand last in either direction."""


def order_of(query: Query) -> str:
    """Return the ORDER BY expression of ``query``.

    Natural directions: ``rank`` and ``score`` highest score first; ``change`` greatest gain first; ``grade`` A first;
    ``stance`` Open first; ``host``, ``name`` and ``category`` alphabetical (names without regard to case); ``age``
    newest first; a matrix column best verdict first. Ties: higher score, then host. ``descending`` is the exact
    reverse, but rows without a change, or of whose verdict nothing is known, stay last.
    """
    first, key, down = "", query.sort, query.sort in ("change", "age")
    if query.sort.startswith("matrix."):
        column = query.sort.removeprefix("matrix.")
        known = ", ".join(f"'{word}'" for word in BEST_VERDICT_FIRST)
        cases = " ".join(f"WHEN '{word}' THEN {place}" for place, word in enumerate(BEST_VERDICT_FIRST))
        first, key = f"{column} NOT IN ({known}), ", f"CASE {column} {cases} END"
    elif query.sort == "change":
        first = "change IS NULL, "
    elif query.sort in ("rank", "score"):
        key = ""
    if query.sort == "category":
        key = f"CASE WHEN category IN ({', '.join(map(repr, CATEGORIES))}) THEN category ELSE '~' END"
    key = {"name": "folded", "age": "at", "grade": "substr(grade, 1, 1)"}.get(key, key)
    keys = [(key, down)] * bool(key) + ([] if key == "host" else [("score", True), ("host", False)])
    return first + ", ".join(f"{sql}{' DESC' if falls != query.descending else ''}" for sql, falls in keys)


class IdWindow:
    """The hosts with the given ids, in their order. Rows of hosts that have gone since are left out."""

    def __init__(self, reader: Reader, ids: Iterable[int], ranks: Sequence[int]) -> None:
        self._reader = reader
        self._ids = array("q", ids)
        self._ranks = ranks

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, span: slice, /) -> Sequence[Row]:
        return read_rows(self._reader(), self._ids[span], self._ranks)

    def position(self, identity: int) -> int:
        """Return the place of an id, -1 when it is absent."""
        try:
            return self._ids.index(identity)
        except ValueError:
            return -1


def read_rows(db: sqlite3.Connection, ids: Sequence[int], ranks: Sequence[int]) -> list[Row]:
    """Return the lines of ``ids`` in their order; ``ranks`` gives the competition rank of each score.

    Hosts that are gone and lines that are damaged are left out. Raises Unavailable.
    """
    found = {}
    try:
        listed = db.execute(
            f"SELECT id, {', '.join(READ)} FROM site WHERE {AMONG}", (json.dumps(list(ids)),)
        ).fetchall()
    except sqlite3.Error as error:
        raise Unavailable(f"The index could not be read: {clean(str(error), 120)}.") from None
    for identity, *values in listed:
        try:
            found[identity] = row_of(values, ranks)
        except (ValueError, TypeError, LookupError):
            continue
    return [found[identity] for identity in ids if identity in found]
