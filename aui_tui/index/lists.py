"""The lists of a query as windows over the table ``site``: only the rows of a slice are read."""

from __future__ import annotations

import sqlite3
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from aui_tui.model.terms import Term, all_of
from aui_tui.model.vocabulary import CATEGORIES, FATES, STANCES
from aui_tui.text import clean

Reader = Callable[[], sqlite3.Connection]
BEST_FIRST: Final = ("in", "part", "told no", "refused", "challenged")
"""The words that say something; the others stand last in either direction."""
FUTURE_MS: Final = 300_000
"""A scan from further ahead, of a clock that was wrong, is never the newest."""
KEYS: Final = MappingProxyType(
    {
        "rank": "",
        "score": "",
        "change": "-change",
        "age": f"-iif(at > now_ms() + {FUTURE_MS}, 0, at)",
        "name": "folded",
        "grade": "substr(grade, 1, 1)",
        "category": f"CASE WHEN category IN ({', '.join(map(repr, CATEGORIES))}) THEN category ELSE '~' END",
    }
)
"""What a list is ordered by, the smallest first, where it is not the column itself; empty for the order by score."""


def order_of(query: Query) -> str:
    """Return the ORDER BY expression of ``query``.

    Natural directions: ``rank`` and ``score`` highest score first; ``change`` greatest gain first; ``grade`` A first;
    ``stance`` Open first; ``host``, ``name`` and ``category`` alphabetical (names without regard to case); ``age``
    newest first; a matrix column best verdict first. Ties: higher score, then host. ``descending`` is the exact
    reverse, but rows without a change, or of whose verdict nothing is known, stay last.
    """
    key = KEYS.get(query.sort, query.sort)
    if query.sort.startswith("matrix."):
        places = " ".join(f"WHEN '{FATES[word]}' THEN {place}" for place, word in enumerate(BEST_FIRST))
        key = f"CASE substr(words, {1 + SLUGS.index(query.sort.removeprefix('matrix.'))}, 1) {places} END"
    keys = [*([key] if key else []), *([] if key == "host" else ["score DESC", "host"])]
    if query.descending:
        keys = [
            expression.removesuffix(" DESC") if expression.endswith(" DESC") else f"{expression} DESC"
            for expression in keys
        ]
    return (f"{key} IS NULL, " if key else "") + ", ".join(keys)


RARE: Final = 3000
"""Fewer hosts than this are taken from the index of text, and looked at one by one; of more it is quicker to look at
every host."""
TRIGRAM: Final = 3
"""Shortest text in characters that the index of text can find."""
TALLIED: Final = frozenset({"stance", "category", "score"})
"""The fields of the query line that the table ``tally`` answers."""
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
    """Return the table to ask and the terms of ``query``: by the index of text if a text is in fewer than RARE."""
    for term in query.terms:
        if len(term.text) >= TRIGRAM:
            phrase = '"' + term.text.replace('"', '""') + '"'  # one FTS5 string: a substring for trigrams
            matching = "SELECT rowid FROM site_text WHERE site_text MATCH ?"
            if db.execute(f"SELECT count(*) FROM ({matching} LIMIT {RARE})", (phrase,)).fetchone()[0] < RARE:
                return "site NOT INDEXED", all_of((Term(f"id IN ({matching})", (phrase,)), *query.terms))
    return "site", all_of(query.terms)


def _is_tallied(term: Term) -> bool:
    """Say whether the table ``tally`` answers a term: it names nothing but columns of it."""
    return bool(term.fields) and term.fields <= TALLIED


def _within(db: sqlite3.Connection, query: Query, *, ranked: bool) -> Term:
    """Return the condition that a score is one that hosts of ``query`` have: hosts with another one are not read."""
    tallied = (*filters(query), *filter(_is_tallied, query.terms))
    if not tallied:
        return all_of(())
    where = all_of((Term(f"ranked = {ranked:d} AND hosts > 0"), *tallied))
    lowest, highest = db.execute(f"SELECT min(score), max(score) FROM tally WHERE {where.sql}", where.values).fetchone()
    return Term("0") if lowest is None else Term("score BETWEEN ? AND ?", (lowest, highest))


def _ordered(db: sqlite3.Connection, query: Query, columns: str, *, ranked: bool, limit: int = 0) -> sqlite3.Cursor:
    """Return ``columns`` of the ranked or the unreachable hosts of ``query`` in order, of ``limit`` hosts (0: all)."""
    table, terms = narrowed(db, query)
    where = all_of((Term(f"ranked = {ranked:d}"), _within(db, query, ranked=ranked), *filters(query), terms))
    sql = f"SELECT {columns} FROM {table} WHERE {where.sql} ORDER BY {order_of(query)} LIMIT {limit or -1}"
    return db.execute(sql, where.values)


def find_hosts(db: sqlite3.Connection, query: Query, *, ranked: bool) -> array[int]:
    """Return the ids of the ranked or the unreachable hosts of ``query`` in order."""
    return array("q", chain.from_iterable(_ordered(db, query, "id", ranked=ranked)))


def find_first(db: sqlite3.Connection, query: Query, found: array[int], *, ranked: bool, limit: int) -> None:
    """Append the ids of the first ``limit`` hosts to ``found``, each as it is found.

    Where SQLite is interrupted, ``found`` has those that come first in the list.
    """
    found.extend(chain.from_iterable(_ordered(db, query, "id", ranked=ranked, limit=limit)))


def find_and_count(db: sqlite3.Connection, query: Query) -> tuple[array[int], Facets]:
    """Return the ids of the ranked hosts of ``query`` in order, and the counts behind its filters."""
    if filters(query) or all(map(_is_tallied, query.terms)):
        return find_hosts(db, query, ranked=True), facets(db, query)
    ids, kinds = array("q"), Counter[tuple[str, str]]()
    for identity, category, stance in _ordered(db, query, "id, category, stance", ranked=True):
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
    """The hosts with the given ids, in their order. Rows of hosts that have gone since are left out."""

    def __init__(self, reader: Reader, ids: Sequence[int], ranks: Sequence[int]) -> None:
        self._reader = reader
        self._ids = ids
        self._ranks = ranks

    def __len__(self) -> int:
        return len(self._ids)

    def find(self, host: str) -> int:
        """Return the place of ``host``, -1 where it is absent."""
        row = self._reader().execute("SELECT id FROM site WHERE host = ?", (host,)).fetchone()
        try:
            return self._ids.index(row[0]) if row is not None else -1
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
