"""The lists of a query as windows over the table ``site``: only the rows of a slice are read."""

from __future__ import annotations

import re
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
from aui_tui.index.rows import COLUMNS, LINE, Line, row_of
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
TALLIES: Final = MappingProxyType(
    {
        "tally": frozenset({"ranked", "category", "stance", "score"}),
        "tally_words": frozenset({"ranked", "stance", "words", "score"}),
    }
)
"""The tables that count hosts, with the columns of ``site`` by which they do."""
COLUMN: Final = re.compile(rf"\b(?:{'|'.join((*COLUMNS, 'change', 'scans'))})\b")
FUTURE_MS: Final = 300_000
"""A scan from further ahead, of a clock that was wrong, is never the newest."""


class Order(msgspec.Struct, frozen=True):
    """An order of hosts by ``keys``.

    ``own``: the table whose own index has hosts by the keys, where that is not the index of the list; without those
    that ``stay`` last. ``place``: SQL for a number that comes before the keys, from columns of a tally; hosts of all
    places are mixed in the index. ``last``: the condition of the hosts that stand behind all others, also when the
    order is turned round where they ``stay``.
    """

    keys: tuple[str, ...] = ("score DESC", "host")
    own: str = ""
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
            own = "site WHERE change IS NOT NULL"
            return Order(("change DESC", "score DESC", "host"), own, last="change IS NULL", stay=True)
        case "age":
            return Order(("at DESC", "score DESC", "host"), "site", last=f"at > now_ms() + {FUTURE_MS}")
        case "host":
            return Order(("host",), "site")
        case "name":
            return Order(("folded", "score DESC", "host"), "site")
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


def _answers(tally: str, sql: str) -> bool:
    """Say whether a tally answers ``sql``: it names nothing but columns of it."""
    return TALLIES[tally].issuperset(COLUMN.findall(sql))


def _tallied(query: Query) -> tuple[str, tuple[Term, ...]]:
    """Return the tally that answers most of ``query`` in its order, its line first, and the terms that it answers."""
    terms = (*filters(query), *query.terms)
    able = [tally for tally in TALLIES if _answers(tally, order_of(query.sort).place)]
    answered = {tally: tuple(term for term in terms if _answers(tally, term.sql)) for tally in able}
    tally = max(able, key=lambda tally: (len({*answered[tally]}.intersection(query.terms)), len(answered[tally])))
    return tally, answered[tally]


def _known(db: sqlite3.Connection, query: Query, columns: str, *, ranked: bool) -> sqlite3.Cursor:
    """Return the different ``columns`` of hosts of ``query``, and of others where no tally can tell."""
    tally, terms = _tallied(query)
    where = all_of((Term(f"ranked = {ranked:d}"), *terms))
    return db.execute(f"SELECT DISTINCT {columns} FROM {tally} WHERE {where.sql}", where.values)


def _scored(scores: Iterable[int]) -> Term:
    """Return the condition of one of ``scores``: SQLite reads them in order by the index of the list."""
    values = tuple(scores)
    return Term(f"score IN ({', '.join('?' * len(values))})", values)


def _scores(db: sqlite3.Connection, query: Query, *, ranked: bool) -> Term:
    """Return the condition of the scores that hosts of ``query`` have, as far as a tally can tell."""
    if not _tallied(query)[1]:
        return EVERY_HOST
    return _scored(chain.from_iterable(_known(db, query, "score", ranked=ranked)))


def _places(db: sqlite3.Connection, query: Query, *, ranked: bool) -> dict[int | None, list[int]]:
    """Return the places of hosts of ``query``, the first one first, each with scores, as far as a tally can tell."""
    places = defaultdict[int | None, list[int]](list)
    for place, score in _known(db, query, f"{order_of(query.sort).place}, score", ranked=ranked):
        places[place].append(score)
    sign = -1 if query.descending else 1
    return dict(sorted(places.items(), key=lambda found: inf if found[0] is None else sign * found[0]))


def _hosts(db: sqlite3.Connection, query: Query, *, ranked: bool) -> tuple[str, Term]:
    """Return the table to ask and the condition of the ranked or the unreachable hosts of ``query``."""
    table, terms = narrowed(db, query)
    return table, all_of((Term(f"ranked = {ranked:d}"), *filters(query), terms))


def _every(db: sqlite3.Connection, query: Query, columns: str, *, ranked: bool, limit: int = -1) -> sqlite3.Cursor:
    """Return ``columns`` of the ranked or the unreachable hosts of ``query`` in order."""
    table, hosts = _hosts(db, query, ranked=ranked)
    hosts = all_of((hosts, _scores(db, query, ranked=ranked)))
    by = order_of(query.sort).by(turned=query.descending)
    return db.execute(f"SELECT {columns} FROM {table} WHERE {hosts.sql} ORDER BY {by} LIMIT {limit}", hosts.values)


def find_hosts(db: sqlite3.Connection, query: Query, *, ranked: bool) -> array[int]:
    """Return the ids of the ranked or the unreachable hosts of ``query`` in order."""
    return array("q", chain.from_iterable(_every(db, query, "id", ranked=ranked)))


LOOKED: Final = 100
"""One of so many hosts of a list is looked at through another index: without the other columns there, that takes ten to
twenty times as long for a host."""
MOST_LOOKED: Final = 5000
"""Hosts that are looked at so at most: a search without a match would wait for them."""


def find_first(db: sqlite3.Connection, query: Query, found: array[int], *, ranked: bool, limit: int) -> None:
    """Append the ids of the first ``limit`` hosts to ``found``, each as it is found.

    An index that has hosts in this order is read until there are as many. Where few hosts of an index other than that
    of the list are of ``query``, every host is looked at. Where SQLite is interrupted, ``found`` has those that come
    first in the list.
    """
    order, turned = order_of(query.sort), query.descending
    table, hosts = _hosts(db, query, ranked=ranked)
    if table == "site" and not order.own:
        _along_the_list(db, query, hosts, found, ranked=ranked, limit=limit)
        return
    hosts = all_of((hosts, _scores(db, query, ranked=ranked)))
    behind = f"SELECT EXISTS (SELECT 1 FROM site WHERE {order.last})"
    elsewhere = order.last and not order.stay and db.execute(behind).fetchone()[0]  # in the index
    if table == "site" and not elsewhere:
        part = f"min(CAST(total(hosts) / {LOOKED} AS INTEGER), {MOST_LOOKED})"
        most = f"(SELECT {part} FROM tally WHERE ranked = {ranked:d})"
        near = f"(SELECT id AS near FROM {order.own} ORDER BY {order.by_keys(turned=turned)} LIMIT {most})"
        sql = f"SELECT id FROM {near} CROSS JOIN site ON id = near WHERE {hosts.sql} LIMIT {limit}"
        found.extend(chain.from_iterable(db.execute(sql, hosts.values)))
        if order.stay and db.execute(f"SELECT id FROM {order.own} LIMIT 1 OFFSET {most}").fetchone() is None:
            _read(db, query, all_of((hosts, Term(order.last))), found, limit)
            return
    if len(found) < limit:
        found[:] = array("q", chain.from_iterable(_every(db, query, "id", ranked=ranked, limit=limit)))


def _read(db: sqlite3.Connection, query: Query, hosts: Term, found: array[int], limit: int) -> None:
    """Append ``hosts``, which differ in the keys of the order alone, until there are ``limit``."""
    by = order_of(query.sort).by_keys(turned=query.descending)
    sql = f"SELECT id FROM site WHERE {hosts.sql} ORDER BY {by} LIMIT {limit - len(found)}"
    found.extend(chain.from_iterable(db.execute(sql, hosts.values)))


def _along_the_list(
    db: sqlite3.Connection, query: Query, hosts: Term, found: array[int], *, ranked: bool, limit: int
) -> None:
    """Append the first of ``hosts`` as ``find_first`` does, part by part.

    Terms of which no tally knows anything may choose few hosts of a place: each host is looked at once then.
    """
    order, turned = order_of(query.sort), query.descending
    if not order.place:
        hosts = all_of((hosts, _scores(db, query, ranked=ranked)))
        for part in _parts(order, turned=turned):
            _read(db, query, all_of((hosts, part)), found, limit)
        return
    places = _places(db, query, ranked=ranked)
    if set(query.terms).issubset(_tallied(query)[1]):
        for place, scores in places.items():
            part = Term(f"{order.place} IS {'NULL' if place is None else place}")
            _read(db, query, all_of((hosts, part, _scored(scores))), found, limit)
        return
    hosts = all_of((hosts, _scores(db, query, ranked=ranked)))
    sql = f"SELECT id, {order.place} FROM site WHERE {hosts.sql} ORDER BY {order.by_keys(turned=turned)}"
    first, others = next(iter(places), None), defaultdict[int | None, list[int]](list)
    for identity, place in db.execute(sql, hosts.values):
        if place == first:
            found.append(identity)
            if len(found) == limit:
                return
        elif len(others[place]) < limit:
            others[place].append(identity)
    for place in places:
        found.extend(others[place][: limit - len(found)])


def _parts(order: Order, *, turned: bool) -> tuple[Term, ...]:
    """Return the hosts that can be read one after another."""
    if not order.last:
        return (EVERY_HOST,)
    others, last = Term(f"({order.last}) IS NOT TRUE"), Term(order.last)
    return (last, others) if turned else (others, last)


def find_and_count(db: sqlite3.Connection, query: Query) -> tuple[array[int], Facets]:
    """Return the ids of the ranked hosts of ``query`` in order, and the counts behind its filters."""
    if filters(query) or all(_answers("tally", term.sql) for term in query.terms):
        return find_hosts(db, query, ranked=True), facets(db, query)
    ids, kinds = array("q"), Counter[tuple[str, str]]()
    for identity, category, stance in _every(db, query, "id, category, stance", ranked=True):
        ids.append(identity)
        kinds[category, stance] += 1
    return ids, _facets(query, kinds)


def facets(db: sqlite3.Connection, query: Query) -> Facets:
    """Return how many ranked hosts each choice would give under the line and the other filters of ``query``."""
    if all(_answers("tally", term.sql) for term in query.terms):
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
