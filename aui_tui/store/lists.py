"""The lists of a query: which way of reading them is quick for how many hosts."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from aui_tui.records.query import Query, leaves
from aui_tui.records.times import stamp
from aui_tui.records.view import Facets, IndexView
from aui_tui.records.vocabulary import CATEGORIES, STANCES
from aui_tui.store import bitmaps, columns, query_sql
from aui_tui.store.query_sql import Condition
from aui_tui.store.selection import Selection
from aui_tui.store.sweep import Sweep, needed, sweep
from aui_tui.store.windows import IdWindow, RankWindow, Reader, ids

FEW: Final = 5000
"""Up to this many hosts are sorted at once; longer lists in rank order are read from the index."""

KNOWN: Final = 1 << 32
"""Added to a change, so that zero says that there is none."""
RANK_ORDERS: Final = frozenset({"rank", "score"})

LONG: Final = 20_000
"""From this many hosts on, the first rows are shown before the figures."""
FIRST: Final = 60
"""Rows of a first_page: more than a tall terminal shows."""
PROBE: Final = 20_000
"""Rows in which a first_page looks for them where the text index may be quicker."""


def index_view(
    db: sqlite3.Connection,
    reader: Reader,
    query: Query,
    now: float,
    sets: dict[int, int] | None = None,
    *,
    trigrams: bool = True,
) -> IndexView:
    """Return the lists of ``query`` from ``db``, which is inside a read transaction; slices come from ``reader``.

    ``sets`` keeps tagged sets for the next query to the same state of the index. ``trigrams``: there is an index of
    text, else free text is looked for host by host.
    """
    newest: int | None = db.execute("SELECT max(at) FROM site").fetchone()[0]
    ranks = competition_ranks(db)
    sets = {} if sets is None else sets
    found: Selection | Sweep | None = None
    if query.terms:
        found = sweep(db, query, now) if needed(query, trigrams=trigrams) else Selection(db, query, now, sets)
    windows = [_window(db, reader, query, now, ranked, ranks, found, sets) for ranked in (1, 0)]
    return IndexView(
        query=query,
        scanned_at=stamp(now if newest is None else newest / 1000),
        ranked=windows[0],
        unreachable=windows[1],
        facets=_facets(db, query) if found is None else found.facets if isinstance(found, Sweep) else found.facets(),
    )


def first_page(db: sqlite3.Connection, reader: Reader, query: Query, now: float) -> IndexView | None:
    """Return the first rows of the lists of ``query``, None where ``index_view`` has all of them as quickly."""
    slow = any(term.field in ("text", "fresh") for term in leaves(query.terms))
    if not slow or query.sort not in RANK_ORDERS or _hosts(db) < LONG:
        return None
    condition = query_sql.conditions(query, now)
    order = "score, host DESC" if query.descending else "score DESC, host"
    probe = -1 if needed(query) else PROBE
    ranks = competition_ranks(db)
    windows = []
    for ranked in (1, 0):
        rows = db.execute(
            "SELECT id FROM (SELECT id, host, name, category, stance, score, bits, edge, at FROM site "
            f"INDEXED BY site_rank WHERE ranked = ? ORDER BY {order} LIMIT ?) WHERE {condition.sql} LIMIT ?",
            (ranked, probe, *condition.values, FIRST),
        )
        windows.append(IdWindow(reader, ids(rows), ranks))
        if ranked and probe > 0 and len(windows[0]) < FIRST:
            return None
    none_yet = Facets(stance=dict.fromkeys(STANCES, 0), category=dict.fromkeys(CATEGORIES, 0))
    newest: int = db.execute("SELECT max(at) FROM site").fetchone()[0]
    return IndexView(
        query=query,
        scanned_at=stamp(newest / 1000),
        ranked=windows[0],
        unreachable=windows[1],
        facets=none_yet,
        counting=True,
    )


def _hosts(db: sqlite3.Connection) -> int:
    return db.execute("SELECT total(hosts) FROM tally").fetchone()[0]  # type: ignore[no-any-return]


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
    found: Selection | Sweep | None,
    sets: dict[int, int],
) -> IdWindow | RankWindow:
    condition = query_sql.conditions(query, now)
    listed = Condition("ranked = ?", (ranked,))
    order = query_sql.order(query)
    if isinstance(found, Selection):
        chosen = found.chosen(ranked)
        if chosen.bit_count() <= FEW:
            return _few(db, reader, chosen, order, ranks)
        scores = found.per_score(chosen)
    elif found is not None:
        scores = found.scores[ranked]
    else:
        scores = _per_score(db, listed & query_sql.category(query.category) & query_sql.stance(query.stance))
        if sum(scores) <= FEW and (query.category or query.stance):
            return _few(db, reader, Selection(db, query, now, sets).chosen(ranked), order, ranks)
    few = isinstance(found, Sweep) and sum(scores) <= FEW
    if query.sort in RANK_ORDERS and not few:
        return RankWindow(reader, condition, ranked=ranked, scores=scores, ranks=ranks, descending=query.descending)
    if few and not sum(scores):
        return IdWindow(reader, ids(()), ranks)
    wanted = listed & condition
    if query.sort == "change" and ranked and not few:
        return IdWindow(reader, _by_change(db, wanted, descending=query.descending), ranks)
    rows = db.execute(f"SELECT id FROM site WHERE {wanted.sql} ORDER BY {order}", wanted.values)
    return IdWindow(reader, ids(rows), ranks)


def _by_change(db: sqlite3.Connection, wanted: Condition, *, descending: bool) -> Sequence[int]:
    """Return the ids of ``wanted`` by change, then rank, those without a change last.

    No index holds the change. The hosts are read in rank order, which is at hand, and laid on one pile a change: at a
    million hosts a third of the time that SQLite takes to sort them.
    """
    newest: int = db.execute("SELECT ifnull(max(id), 0) FROM site").fetchone()[0]
    changes = array("q", bytes(8 * (newest + 1)))
    for identity, change in db.execute("SELECT id, change FROM site NOT INDEXED WHERE change IS NOT NULL"):
        changes[identity] = KNOWN + change
    order = "score, host DESC" if descending else "score DESC, host"
    piles: dict[int, array[int]] = {}
    for (identity,) in db.execute(
        f"SELECT id FROM site INDEXED BY site_rank WHERE {wanted.sql} ORDER BY {order}", wanted.values
    ):
        piles.setdefault(changes[identity], array("q")).append(identity)
    unknown = piles.pop(0, array("q"))
    found = array("q")
    for change in sorted(piles, reverse=not descending):
        found.extend(piles[change])
    return found + unknown


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
