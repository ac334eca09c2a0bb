"""The lists of a query as windows over the table ``site``: only the rows of a slice are read."""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from math import inf
from types import MappingProxyType
from typing import Final

import msgspec

from aui_tui.errors import Unavailable
from aui_tui.index.rows import LINE, Line, row_of
from aui_tui.model.decoding import from_json, to_json
from aui_tui.model.listing import Facets, Row
from aui_tui.model.query import Query
from aui_tui.model.surfaces import SLUGS
from aui_tui.model.terms import Term, all_of
from aui_tui.model.vocabulary import CATEGORIES, FATES, NO_GRADE, STANCES
from aui_tui.text import clean

Reader = Callable[[], sqlite3.Connection]
BEST_FIRST: Final = ("in", "part", "told no", "refused", "challenged")
"""The words that say something; the others stand last in either direction."""
TALLIED: Final = frozenset({"stance", "category", "score"})
"""The fields of the query line that the table ``tally`` answers."""
FUTURE_MS: Final = 300_000
"""A scan from further ahead, of a clock that was wrong, is never the newest."""
LIST, OF_ITS_OWN = "list", "own"


class Order(msgspec.Struct, frozen=True):
    """An order of hosts by ``keys``.

    ``index``: which index has hosts by the keys, that of the LIST or one OF_ITS_OWN; empty for none. ``place``: SQL for
    a number that comes before the keys; hosts of all places are mixed in the index. ``last``: the condition of the
    hosts that stand behind all others, also when the order is turned round where they ``stay``.
    """

    keys: tuple[str, ...] = ("score DESC", "host")
    index: str = LIST
    place: str = ""
    last: str = ""
    stay: bool = False

    def by(self, *, turned: bool) -> str:
        """Return the ORDER BY expression."""
        last = [f"({self.last}) IS TRUE"] if self.last else []
        keys = [*([] if self.stay else last), *([self.place] if self.place else []), *self.keys]
        return ", ".join((*(last if self.stay else []), *(map(_turned, keys) if turned else keys)))

    def by_keys(self, *, turned: bool) -> str:
        """Return the ORDER BY expression of hosts that differ in the keys alone."""
        return ", ".join(map(_turned, self.keys) if turned else self.keys)


EVERY_HOST: Final = all_of(())


def _turned(key: str) -> str:
    return key.removesuffix(" DESC") if key.endswith(" DESC") else f"{key} DESC"


def _by_value(expression: str, values: Sequence[str], others: str = "NULL") -> str:
    """Return SQL for the place of ``expression`` among ``values``, and of what is none of them."""
    places = " ".join(f"WHEN '{value}' THEN {place}" for place, value in enumerate(values))
    return f"CASE {expression} {places} ELSE {others} END"


THIN: Final = f"grade = '{NO_GRADE}' AND ranked = 1"
"""The condition of a host without a grade, as its index has it."""
PAST: Final = f"at <= now_ms() + {FUTURE_MS}"
"""The condition of a scan that is not of a clock that was wrong."""


@cache
def order_of(sort: str) -> Order:
    """Return the natural order by ``sort``, one of SORTS or ``matrix.<slug>``.

    ``rank`` and ``score`` highest score first; ``change`` greatest gain first; ``grade`` A first, by its score, hosts
    without one last; ``stance`` Open first; ``host``, ``name`` and ``category`` alphabetical (names without regard to
    case); ``age`` newest first; a matrix column best verdict first. Ties: higher score, then host. Turned round it is
    the exact reverse, but rows without a change, or of whose verdict nothing is known, stay last.
    """
    if sort.startswith("matrix."):
        place = 1 + SLUGS.index(sort.removeprefix("matrix."))
        value = _by_value(f"substr(words, {place}, 1)", [FATES[word] for word in BEST_FIRST])
        return Order(place=value, last=f"{value} IS NULL", stay=True)
    match sort:
        case "change":
            return Order(("change DESC", "score DESC", "host"), "", last="change IS NULL", stay=True)
        case "age":
            return Order(("at DESC", "score DESC", "host"), OF_ITS_OWN, last=f"at > now_ms() + {FUTURE_MS}")
        case "host":
            return Order(("host",), OF_ITS_OWN)
        case "name":
            return Order(("folded", "score DESC", "host"), "")
        case "grade":
            lowest, highest = (
                f"(SELECT {end}(score) FROM site INDEXED BY site_thin WHERE {THIN})" for end in ("min", "max")
            )
            return Order(last=f"grade = '{NO_GRADE}' AND score BETWEEN {lowest} AND {highest}")
        case "stance":
            return Order(place=_by_value("stance", STANCES, str(len(STANCES))))
        case "category":
            return Order(place=_by_value("category", sorted(CATEGORIES), str(len(CATEGORIES))))
    return Order()


RARE: Final = 3000
"""Fewer hosts than this are taken from the index that has them, and looked at one by one; of more it is quicker to look
at every host."""
NO_FACETS: Final = Facets(stance=dict.fromkeys(STANCES, 0), category=dict.fromkeys(CATEGORIES, 0))
"""What stands behind the filters while it is being counted."""
FILLED: Final = MappingProxyType(
    {
        "change": "change <> 0",
        "category": "category <> ''",
        "disagree": "contradictions <> ''",
        "by": " OR ".join(f"instr(words, '{FATES[word]}')" for word in ("refused", "challenged", "told no")),
        "next": "fixes <> ''",
    }
)
"""Columns of a list that may be empty, each with the hosts for which it is filled."""


def filters(query: Query) -> tuple[Term, ...]:
    """Return the filters of a query beside its line; an unreachable host has no stance."""
    category = (Term("category = ?", (query.category,)),) if query.category else ()
    return (*category, Term("ranked AND stance = ?", (query.stance,))) if query.stance else category


def narrowed(db: sqlite3.Connection, query: Query) -> tuple[str, Term]:
    """Return the table to ask and the terms of ``query``: hosts by their ids where an index has fewer than RARE."""
    for term in query.terms:
        if term.among:
            sql, values = f"SELECT count(*) FROM ({term.among} LIMIT {RARE})", term.among_values
            if db.execute(sql, values).fetchone()[0] < RARE:
                return "site NOT INDEXED", all_of((Term(f"id IN ({term.among})", values), *query.terms))
    return "site", all_of(query.terms)


def _is_tallied(term: Term) -> bool:
    """Say whether the table ``tally`` answers a term: it names nothing but columns of it."""
    return bool(term.fields) and term.fields <= TALLIED


def _tallied(query: Query, *, ranked: bool) -> Term:
    """Return the condition over the table ``tally`` of the hosts of ``query``, and of others where it cannot tell."""
    return all_of((Term(f"ranked = {ranked:d} AND hosts > 0"), *filters(query), *filter(_is_tallied, query.terms)))


def _hosts(db: sqlite3.Connection, query: Query, *, ranked: bool) -> tuple[str, Term]:
    """Return the table to ask and the condition of the ranked or the unreachable hosts of ``query``."""
    table, terms = narrowed(db, query)
    scores = EVERY_HOST
    if filters(query) or any(map(_is_tallied, query.terms)):
        where = _tallied(query, ranked=ranked)
        sql = f"SELECT min(score), max(score) FROM tally WHERE {where.sql}"
        lowest, highest = db.execute(sql, where.values).fetchone()
        scores = Term("0") if lowest is None else Term("score BETWEEN ? AND ?", (lowest, highest))
    return table, all_of((Term(f"ranked = {ranked:d}"), scores, *filters(query), terms))


def _first_place(db: sqlite3.Connection, query: Query, *, ranked: bool) -> int:
    """Return the place before which no host of ``query`` stands in an order that has places."""
    if query.sort not in TALLIED:
        return len(BEST_FIRST) - 1 if query.descending else 0
    where = _tallied(query, ranked=ranked)
    end = "max" if query.descending else "min"
    sql = f"SELECT ifnull({end}({order_of(query.sort).place}), 0) FROM tally WHERE {where.sql}"
    place: int = db.execute(sql, where.values).fetchone()[0]
    return place


def _every(db: sqlite3.Connection, query: Query, columns: str, *, ranked: bool, limit: int = -1) -> sqlite3.Cursor:
    """Return ``columns`` of the ranked or the unreachable hosts of ``query`` in order."""
    table, hosts = _hosts(db, query, ranked=ranked)
    by = order_of(query.sort).by(turned=query.descending)
    return db.execute(f"SELECT {columns} FROM {table} WHERE {hosts.sql} ORDER BY {by} LIMIT {limit}", hosts.values)


def find_hosts(db: sqlite3.Connection, query: Query, *, ranked: bool) -> array[int]:
    """Return the ids of the ranked or the unreachable hosts of ``query`` in order."""
    return array("q", chain.from_iterable(_every(db, query, "id", ranked=ranked)))


LOOKED: Final = 2000
"""Hosts that are looked at through an index other than that of the list, which does not have the other columns."""
DEARER: Final = 10
"""How many times as long that takes for a host."""


def find_first(db: sqlite3.Connection, query: Query, found: array[int], *, ranked: bool, limit: int) -> None:
    """Append the ids of the first ``limit`` hosts to ``found``, each as it is found.

    An index that has hosts in this order is read until there are as many. Of an order without one every host is looked
    at, and so it is where few hosts of that index are of ``query``. Where SQLite is interrupted, ``found`` has those
    that come first in the list.
    """
    order, turned = order_of(query.sort), query.descending
    table, hosts = _hosts(db, query, ranked=ranked)
    known = all(map(_is_tallied, query.terms))
    if table == "site" and (order.index == LIST or (order.stay and known)):
        # terms of which nothing is known may choose few hosts: each is looked at once then
        parts = _parts(order, turned=turned) if known or not order.place else (EVERY_HOST,)
        _along_the_list(db, query, hosts, parts, found, ranked=ranked, limit=limit)
        return
    if table == "site" and order.index == OF_ITS_OWN and _are_dense(db, query, ranked=ranked, limit=limit):
        near = f"(SELECT id AS near FROM site ORDER BY {order.by_keys(turned=turned)} LIMIT {LOOKED})"
        sql = f"SELECT id FROM {near} CROSS JOIN site ON id = near WHERE {hosts.sql} LIMIT {limit}"
        found.extend(chain.from_iterable(db.execute(sql, hosts.values)))
    if len(found) < limit:
        found[:] = array("q", chain.from_iterable(_every(db, query, "id", ranked=ranked, limit=limit)))


def _are_dense(db: sqlite3.Connection, query: Query, *, ranked: bool, limit: int) -> bool:
    """Say whether ``limit`` hosts of ``query`` are soon found through another index, as far as the tally knows."""
    last = order_of(query.sort).last
    if last and db.execute(f"SELECT EXISTS (SELECT 1 FROM site WHERE {last})").fetchone()[0]:
        return False  # that index has them elsewhere
    where = _tallied(query, ranked=ranked)
    sql = f"SELECT total(hosts), total(hosts * (ranked = {ranked:d})), total(hosts * ({where.sql})) FROM tally"
    every, listed, wanted = db.execute(sql, where.values).fetchone()
    return bool(wanted * listed > DEARER * limit * every)


def _parts(order: Order, *, turned: bool) -> tuple[Term, ...]:
    """Return the hosts that can be read one after another."""
    if not order.last:
        return (EVERY_HOST,)
    others, last = Term(f"({order.last}) IS NOT TRUE"), Term(order.last)
    return (last, others) if turned and not order.stay else (others, last)


def _along_the_list(
    db: sqlite3.Connection,
    query: Query,
    hosts: Term,
    parts: Sequence[Term],
    found: array[int],
    *,
    ranked: bool,
    limit: int,
) -> None:
    """Append the first of ``hosts`` as ``find_first`` does, part by part."""
    order, turned = order_of(query.sort), query.descending
    for part in parts:
        where = all_of((hosts, part))
        place, first, most = "0", 0, limit - len(found)
        if order.place and part.sql != order.last:
            place, first, most = order.place, _first_place(db, query, ranked=ranked), -1
        sql = f"SELECT id, {place} FROM site WHERE {where.sql} ORDER BY {order.by_keys(turned=turned)} LIMIT {most}"
        others = defaultdict[int | None, list[int]](list)
        for identity, at in db.execute(sql, where.values):
            if at == first:
                found.append(identity)
                if len(found) == limit:
                    return
            elif len(others[at]) < limit:
                others[at].append(identity)
        for at in sorted(others, key=lambda at: inf if at is None else abs(at - first)):
            found.extend(others[at][: limit - len(found)])


def find_and_count(db: sqlite3.Connection, query: Query) -> tuple[array[int], Facets]:
    """Return the ids of the ranked hosts of ``query`` in order, and the counts behind its filters."""
    if filters(query) or all(map(_is_tallied, query.terms)):
        return find_hosts(db, query, ranked=True), facets(db, query)
    ids, kinds = array("q"), Counter[tuple[str, str]]()
    for identity, category, stance in _every(db, query, "id, category, stance", ranked=True):
        ids.append(identity)
        kinds[category, stance] += 1
    return ids, _facets(query, kinds)


def facets(db: sqlite3.Connection, query: Query) -> Facets:
    """Return how many ranked hosts each choice would give under the line and the other filters of ``query``."""
    if all(map(_is_tallied, query.terms)):
        table, terms, hosts = "tally", all_of(query.terms), "sum(hosts)"
    else:
        table, terms, hosts = *narrowed(db, query), "count(*)"
    sql = f"SELECT category, stance, {hosts} FROM {table} WHERE ranked = 1 AND {terms.sql} GROUP BY category, stance"
    return _facets(query, {(category, stance): number for category, stance, number in db.execute(sql, terms.values)})


def facets_of(db: sqlite3.Connection, ids: Sequence[int]) -> Facets:
    """Return how many of the hosts ``ids`` each choice would give."""
    sql = "SELECT category, stance FROM site WHERE id IN (SELECT value FROM json_each(?))"
    return _facets(Query(), Counter(db.execute(sql, (to_json(list(ids)),))))


def _facets(query: Query, kinds: Mapping[tuple[str, str], int]) -> Facets:
    stances, categories = dict.fromkeys(STANCES, 0), dict.fromkeys(CATEGORIES, 0)
    for (category, stance), number in kinds.items():
        if stance in stances and query.category in ("", category):
            stances[stance] += number
        if category in categories and query.stance in ("", stance):
            categories[category] += number
    return Facets(stance=stances, category=categories)


def unused(db: sqlite3.Connection, columns: Iterable[str], ids: Sequence[int] | None = None) -> frozenset[str]:
    """Return those of ``columns``, keys of FILLED, that are empty for every ranked host, or for each of ``ids``."""
    where, values = ("ranked = 1", ()) if ids is None else ("id IN (SELECT value FROM json_each(?))", (str([*ids]),))
    queries = (
        (column, f"SELECT EXISTS (SELECT 1 FROM site WHERE ({FILLED[column]}) AND {where})") for column in columns
    )
    return frozenset(column for column, sql in queries if not db.execute(sql, values).fetchone()[0])


class IdWindow:
    """The hosts with the given ids, in the order of ``query``. Rows of hosts that have gone since are left out."""

    def __init__(self, reader: Reader, ids: Sequence[int], ranks: Sequence[int], query: Query) -> None:
        self._reader = reader
        self._ids = ids
        self._ranks = ranks
        self._query = query

    def __len__(self) -> int:
        return len(self._ids)

    def find(self, host: str) -> int:
        """Return the place of ``host``, -1 where it is absent."""
        db = self._reader()
        row = db.execute("SELECT id FROM site WHERE host = ?", (host,)).fetchone()
        if row is None:
            return -1
        by = order_of(self._query.sort).by(turned=self._query.descending)
        sql = f"SELECT id FROM site WHERE id IN (?, ?) ORDER BY {by} LIMIT 1"

        def reached(place: int) -> bool:
            return bool(db.execute(sql, (row[0], self._ids[place])).fetchone()[0] == row[0])

        place = bisect_left(range(len(self._ids)), True, key=reached)
        if place < len(self._ids) and self._ids[place] == row[0]:
            return place
        try:
            return self._ids.index(row[0])  # hosts have changed since the list was read
        except ValueError:
            return -1

    def __getitem__(self, span: slice, /) -> Sequence[Row]:
        return read_rows(self._reader(), self._ids[span], self._ranks)


def read_rows(db: sqlite3.Connection, ids: Sequence[int], ranks: Sequence[int]) -> list[Row]:
    """Return the lines of ``ids`` in their order; ``ranks`` gives the competition rank of each score.

    Hosts that are gone and lines that are damaged are left out. Raises Unavailable.
    """
    sql = f"SELECT json_group_array({LINE}) FROM json_each(?) AS wanted CROSS JOIN site ON site.id = wanted.value"
    try:
        listed = from_json(db.execute(sql, (to_json(list(ids)),)).fetchone()[0], list[Line])
    except (sqlite3.Error, msgspec.MsgspecError) as error:
        if isinstance(error, sqlite3.Error) and "JSON" not in str(error):
            raise Unavailable(f"The index could not be read: {clean(error, 120)}.") from None
        return [row for identity in ids for row in read_rows(db, [identity], ranks)] if len(ids) > 1 else []
    return [row_of(line, ranks) for line in listed]
