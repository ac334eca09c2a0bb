"""The lists of a query: which way of reading them is quick for how many hosts."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from aui_tui.records.query import Query
from aui_tui.records.times import stamp
from aui_tui.records.view import Facets, IndexView
from aui_tui.records.vocabulary import CATEGORIES, STANCES
from aui_tui.store import bitmaps, columns, query_sql
from aui_tui.store.query_sql import Condition
from aui_tui.store.selection import Selection
from aui_tui.store.windows import IdWindow, RankWindow, Reader, ids

FEW: Final = 5000
"""Up to so many hosts are put in order at once; longer lists in rank order are read from the index."""

RANK_ORDERS: Final = frozenset({"rank", "score"})


def index_view(
    db: sqlite3.Connection, reader: Reader, query: Query, now: float, sets: dict[int, int] | None = None
) -> IndexView:
    """Return the lists of ``query`` from ``db``, which is inside a read transaction; slices come from ``reader``.

    ``sets`` keeps tagged sets for the next query to the same state of the index.
    """
    newest: int | None = db.execute("SELECT max(at) FROM site").fetchone()[0]
    ranks = competition_ranks(db)
    sets = {} if sets is None else sets
    selection = Selection(db, query, now, sets) if query.terms else None
    windows = [_window(db, reader, query, now, ranked, ranks, selection, sets) for ranked in (1, 0)]
    return IndexView(
        query=query,
        scanned_at=stamp(now if newest is None else newest / 1000),
        ranked=windows[0],
        unreachable=windows[1],
        facets=selection.facets() if selection is not None else _facets(db, query),
    )


def competition_ranks(db: sqlite3.Connection) -> list[int]:
    """Return, for each score from 0 to 100, the competition rank of a host with it in the whole ranked list."""
    hosts = _per_score(db, Condition("ranked = 1"))
    above = list(accumulate(reversed(hosts), initial=0))
    return [1 + above[100 - score] for score in range(101)]


def _window(
    db: sqlite3.Connection,
    reader: Reader,
    query: Query,
    now: float,
    ranked: int,
    ranks: Sequence[int],
    selection: Selection | None,
    sets: dict[int, int],
) -> IdWindow | RankWindow:
    condition = query_sql.conditions(query, now)
    listed = Condition("ranked = ?", (ranked,))
    order = query_sql.order(query)
    if selection is None:
        scores = _per_score(db, listed & query_sql.category(query.category) & query_sql.stance(query.stance))
        if sum(scores) <= FEW and (query.category or query.stance):
            return _few(db, reader, Selection(db, query, now, sets).chosen(ranked), order, ranks)
        if query.sort in RANK_ORDERS:
            return RankWindow(reader, condition, ranked=ranked, scores=scores, ranks=ranks, descending=query.descending)
    else:
        found = selection.chosen(ranked)
        if found.bit_count() <= FEW:
            return _few(db, reader, found, order, ranks)
        if query.sort in RANK_ORDERS:
            return RankWindow(
                reader,
                condition,
                ranked=ranked,
                scores=selection.per_score(found),
                ranks=ranks,
                descending=query.descending,
            )
    chosen = listed & condition
    rows = db.execute(f"SELECT id FROM site WHERE {chosen.sql} ORDER BY {order}", chosen.values)
    return IdWindow(reader, ids(rows), ranks)


def _few(db: sqlite3.Connection, reader: Reader, found: int, order: str, ranks: Sequence[int]) -> IdWindow:
    wanted = json.dumps(list(bitmaps.members(found)))
    rows = db.execute(f"SELECT id FROM site WHERE id IN (SELECT value FROM json_each(?)) ORDER BY {order}", (wanted,))
    return IdWindow(reader, ids(rows), ranks)


def _per_score(db: sqlite3.Connection, condition: Condition) -> list[int]:
    hosts = [0] * 101
    for score, count in db.execute(
        f"SELECT score, sum(hosts) FROM tally WHERE {condition.sql} GROUP BY score", condition.values
    ):
        hosts[score] = count
    return hosts


def _facets(db: sqlite3.Connection, query: Query) -> Facets:
    """Return the facets of a query without terms."""
    ranked = Condition("ranked = 1")
    stance = dict.fromkeys(STANCES, 0)
    category = dict.fromkeys(CATEGORIES, 0)
    by_stance = ranked & query_sql.category(query.category)
    for code, count in db.execute(
        f"SELECT stance, sum(hosts) FROM tally WHERE {by_stance.sql} GROUP BY stance", by_stance.values
    ):
        stance[STANCES[code]] = count
    by_category = ranked & query_sql.stance(query.stance)
    for code, count in db.execute(
        f"SELECT category, sum(hosts) FROM tally WHERE {by_category.sql} GROUP BY category", by_category.values
    ):
        if code < len(columns.CATEGORY_OF):
            category[columns.CATEGORY_OF[code]] = count
    return Facets(stance=stance, category=category)
