"""The lists of a query as windows over the table ``site``: only the rows of a slice are read."""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from types import MappingProxyType
from typing import Final

import msgspec

from aui_tui.errors import Unavailable
from aui_tui.index.rows import LINE, Line, row_of
from aui_tui.model.decoding import from_json, to_json
from aui_tui.model.listing import Facets, Row
from aui_tui.model.query import Query
from aui_tui.model.surfaces import SLUGS
from aui_tui.model.terms import Term, all_of, opposite
from aui_tui.model.vocabulary import CATEGORIES, FATES, NO_GRADE, STANCES
from aui_tui.text import clean

Reader = Callable[[], sqlite3.Connection]
BEST_FIRST: Final = ("in", "part", "told no", "refused", "challenged")
"""The words that say something; the others stand last in either direction."""
TALLIED: Final = frozenset({"stance", "category", "score"})
"""The fields of the query line that the table ``tally`` answers."""
FUTURE_MS: Final = 300_000
"""A scan from further ahead, of a clock that was wrong, is never the newest."""


class Band(msgspec.Struct, frozen=True):
    """Hosts that stand together in a list: which ones, and whether an index other than that of the list orders them."""

    hosts: Term
    other_index: bool = False


EVERY_HOST: Final = Band(all_of(()))


class Order(msgspec.Struct, frozen=True):
    """An order of hosts: ``bands`` of them, one after another, and the ``keys`` that order each of them.

    ``lead``: the keys that tell the bands apart. ``stays``: the last band stays there when the order is turned round.
    """

    keys: tuple[str, ...] = ("score DESC", "host")
    bands: tuple[Band, ...] = (EVERY_HOST,)
    lead: tuple[str, ...] = ()
    stays: bool = False

    @property
    def whole(self) -> str:
        """The ORDER BY expression of all bands together."""
        return ", ".join((*self.lead, *self.keys))

    @property
    def each(self) -> tuple[tuple[Band, str], ...]:
        """Each band with its ORDER BY expression."""
        return tuple((band, ", ".join(self.keys)) for band in self.bands)

    @property
    def at_once(self) -> tuple[tuple[Band, str], ...]:
        """All bands as one with what orders it, without the last band where that ``stays``, which is read after it."""
        if not self.stays:
            return ((EVERY_HOST, self.whole),)
        others = Band(opposite(self.bands[-1].hosts)) if len(self.bands) > 2 else self.bands[0]
        return (others, self.whole), self.each[-1]

    def turned(self) -> Order:
        """Return the order turned round."""
        end = len(self.bands) - self.stays
        return Order(
            keys=tuple(map(_turned, self.keys)),
            bands=(*self.bands[:end][::-1], *self.bands[end:]),
            lead=(*self.lead[: self.stays], *map(_turned, self.lead[self.stays :])),
            stays=self.stays,
        )


def _turned(key: str) -> str:
    return key.removesuffix(" DESC") if key.endswith(" DESC") else f"{key} DESC"


def _by_value(expression: str, values: Sequence[str], *, stays: bool = False) -> Order:
    """Return the order by ``values`` of an SQL expression; hosts with none of them are the last band."""
    fields = frozenset({expression}) & TALLIED
    literals = [f"'{value}'" for value in values]
    bands = [Band(Term(f"{expression} = {value}", fields=fields)) for value in literals]
    others = Band(Term(f"{expression} NOT IN ({', '.join(literals)})", fields=fields))
    places = " ".join(f"WHEN {value} THEN {place}" for place, value in enumerate(literals))
    case = f"CASE {expression} {places} END"
    return Order(bands=(*bands, others), lead=(f"{case} IS NULL", case), stays=stays)


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
        return _by_value(f"substr(words, {place}, 1)", [FATES[word] for word in BEST_FIRST], stays=True)
    match sort:
        case "change":
            bands = (Band(Term("change IS NOT NULL")), Band(Term("change IS NULL")))
            return Order(("change DESC", "score DESC", "host"), bands, lead=("change IS NULL",), stays=True)
        case "age":
            ahead = f"at > now_ms() + {FUTURE_MS}"
            bands = (Band(Term(PAST), other_index=True), Band(Term(ahead), other_index=True))
            return Order(("at DESC", "score DESC", "host"), bands, lead=(ahead,))
        case "host":
            return Order(("host",), (Band(all_of(()), other_index=True),))
        case "name":
            return Order(("folded", "score DESC", "host"))
        case "grade":
            none = f"grade = '{NO_GRADE}'"
            lowest, highest = (
                f"(SELECT {end}(score) FROM site INDEXED BY site_thin WHERE {THIN})" for end in ("min", "max")
            )
            without = Term(f"{none} AND score BETWEEN {lowest} AND {highest}")
            return Order(bands=(Band(Term(f"NOT {none}")), Band(without)), lead=(none,))
        case "stance":
            return _by_value("stance", STANCES)
        case "category":
            return _by_value("category", sorted(CATEGORIES))
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


def _within(db: sqlite3.Connection, query: Query, band: Term, *, ranked: bool) -> Term:
    """Return the condition that a score is one that hosts of ``query`` in ``band`` have: no others are read."""
    tallied = (*filters(query), *filter(_is_tallied, (*query.terms, band)))
    if not tallied:
        return all_of(())
    where = all_of((Term(f"ranked = {ranked:d} AND hosts > 0"), *tallied))
    lowest, highest = db.execute(f"SELECT min(score), max(score) FROM tally WHERE {where.sql}", where.values).fetchone()
    return Term("0") if lowest is None else Term("score BETWEEN ? AND ?", (lowest, highest))


def _order(query: Query) -> Order:
    """Return the order that ``query`` asks for."""
    natural = order_of(query.sort)
    return natural.turned() if query.descending else natural


def has_bands(query: Query) -> bool:
    """Say whether it may be quicker to read the first hosts of ``query`` band by band than to put all in order."""
    order = order_of(query.sort)
    return [band for band, _ in order.each] != [band for band, _ in order.at_once]


def _ordered(
    db: sqlite3.Connection, query: Query, columns: str, bands: Iterable[tuple[Band, str]], *, ranked: bool
) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    """Yield a statement, and its values, for each of ``bands``, given with what orders it.

    They give ``columns`` of the ranked or the unreachable hosts of ``query``. There is one for few hosts.
    """
    table, terms = narrowed(db, query)
    for band, keys in bands if table == "site" else ((EVERY_HOST, _order(query).whole),):
        within = _within(db, query, band.hosts, ranked=ranked)
        # the plus sign keeps SQLite from the index of the list, which begins with this column
        hosts = Term(f"{'+' * band.other_index}ranked = {ranked:d}")
        where = all_of((hosts, within, *filters(query), terms, band.hosts))
        yield f"SELECT {columns} FROM {table} WHERE {where.sql} ORDER BY {keys}", where.values


def _every(db: sqlite3.Connection, query: Query, columns: str, *, ranked: bool) -> sqlite3.Cursor:
    """Return ``columns`` of the ranked or the unreachable hosts of ``query`` in order."""
    (statement,) = _ordered(db, query, columns, ((EVERY_HOST, _order(query).whole),), ranked=ranked)
    return db.execute(*statement)


def find_hosts(db: sqlite3.Connection, query: Query, *, ranked: bool) -> array[int]:
    """Return the ids of the ranked or the unreachable hosts of ``query`` in order."""
    return array("q", chain.from_iterable(_every(db, query, "id", ranked=ranked)))


def find_first(
    db: sqlite3.Connection, query: Query, found: array[int], *, ranked: bool, limit: int, banded: bool = False
) -> None:
    """Append the ids of the first ``limit`` hosts to ``found``, each as it is found.

    ``banded``: by indexes that have hosts in this order, which takes long for hosts that are far between; else by
    looking at every host. Where SQLite is interrupted, ``found`` has those that come first in the list.
    """
    order = _order(query)
    for sql, values in _ordered(db, query, "id", order.each if banded else order.at_once, ranked=ranked):
        found.extend(chain.from_iterable(db.execute(f"{sql} LIMIT {limit - len(found)}", values)))
        if len(found) == limit:
            return


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
        sql = f"SELECT id FROM site WHERE id IN (?, ?) ORDER BY {_order(self._query).whole} LIMIT 1"

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
