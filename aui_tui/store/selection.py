"""Which hosts a query selects, as bitmaps, and how many fall on each choice."""

from __future__ import annotations

import sqlite3
from functools import reduce
from operator import and_, or_
from typing import Final

import msgspec

from aui_tui.records.codec import names_of
from aui_tui.records.query import ALL, Query, Term
from aui_tui.records.view import Facets, Overview, decades
from aui_tui.records.vocabulary import CATEGORIES, FIXES, GRADES, STANCES, VERDICTS
from aui_tui.store import bitmaps, columns, query_sql, tags

EDGES: Final = 24
"""Edges that an overview counts at most."""


class Selection:
    """The hosts of ``query`` at ``now`` (epoch seconds), read from ``db`` inside one transaction.

    ``sets`` are tagged sets of the same state of the index; those that are read are added to it. ``trigrams``: there
    is an index of text.
    """

    def __init__(
        self,
        db: sqlite3.Connection,
        query: Query,
        now: float,
        sets: dict[int, int] | None = None,
        *,
        trigrams: bool = True,
    ) -> None:
        self._trigrams = trigrams
        self._db = db
        self._now = now
        self._query = query
        self._sets: dict[int, int] = {} if sets is None else sets
        self.everything = self.tagged(tags.RANKED) | self.tagged(tags.RANKED + 1)
        self.terms = reduce(and_, (self._of(term) for term in query.terms), self.everything)
        """Hosts that satisfy the query line, in both lists and under any filter."""

    def tagged(self, tag: int) -> int:
        """Return the set of a tag."""
        found = self._sets.get(tag)
        if found is None:
            found = self._sets[tag] = bitmaps.load(self._db, tag)
        return found

    def chosen(self, ranked: int) -> int:
        """Return the hosts of one list under all filters."""
        return self.terms & self.tagged(tags.RANKED + ranked) & self._category() & self._stance()

    def facets(self) -> Facets:
        """Return how many ranked hosts each choice would give under the other filters."""
        ranked = self.terms & self.tagged(tags.RANKED + 1)
        by_stance, by_category = ranked & self._category(), ranked & self._stance()
        return Facets(
            stance={word: self._share(by_stance, tags.STANCE + columns.STANCE[word]) for word in STANCES},
            category={word: self._share(by_category, tags.CATEGORY + columns.CATEGORY[word]) for word in CATEGORIES},
        )

    def overview(self) -> Overview:
        """Return figures over the ranked hosts under all filters."""
        found = self.chosen(1)
        stances = {}
        for category in CATEGORIES:
            inside = found & self.tagged(tags.CATEGORY + columns.CATEGORY[category])
            stances[category] = {word: self._share(inside, tags.STANCE + columns.STANCE[word]) for word in STANCES}
        return Overview(
            grades={word: self._share(found, tags.GRADE + columns.GRADE[word]) for word in GRADES},
            stances=stances,
            failing={key: self._share(found, tags.FIX + place) for place, key in enumerate(FIXES)},
            hosts=found.bit_count(),
            verdicts=self._verdicts(found),
            scores=decades(self.per_score(found)),
            edges=self._edge_counts(found),
            contradictions=self._share(found, tags.CONTRADICTION),
            risen=self._changed(found, ">"),
            fallen=self._changed(found, "<"),
            unreachable=self.chosen(0).bit_count(),
        )

    def _verdicts(self, found: int) -> dict[str, dict[str, int]]:
        """Return the hosts per verdict of each surface of the matrix."""
        return {
            slug: {
                word: count
                for code, word in enumerate(VERDICTS)
                if (count := self._share(found, tags.VERDICT + 8 * place + code))
            }
            for place, slug in enumerate(names_of("matrix"))
        }

    def _edge_counts(self, found: int) -> dict[str, int]:
        """Return the most frequent edges of the index with their hosts among ``found``; an empty name means none."""
        rows = self._db.execute(
            "SELECT edge.id, text FROM edge JOIN site ON site.edge = edge.id GROUP BY edge.id "
            "ORDER BY count(*) DESC LIMIT ?",
            (EDGES,),
        ).fetchall()
        counts = {text: self._share(found, tags.EDGE + identity) for identity, text in rows}
        return dict(sorted(((text, n) for text, n in counts.items() if n), key=lambda item: -item[1]))

    def _changed(self, found: int, way: str) -> int:
        rows = self._db.execute(f"SELECT id FROM site NOT INDEXED WHERE change {way} 0")
        return (bitmaps.of(row[0] for row in rows) & found).bit_count()

    def per_score(self, found: int) -> list[int]:
        """Return how many members of ``found`` have each score from 0 to 100."""
        return [self._share(found, tags.SCORE + score) for score in range(101)]

    def _share(self, found: int, tag: int) -> int:
        return (found & self.tagged(tag)).bit_count()

    def _category(self) -> int:
        word = self._query.category
        return self.tagged(tags.CATEGORY + columns.CATEGORY[word]) if word else self.everything

    def _stance(self) -> int:
        word = self._query.stance
        return self.tagged(tags.STANCE + columns.STANCE[word]) if word else self.everything

    def _of(self, term: Term) -> int:
        if term.parts:
            whole = reduce(and_ if term.field == ALL else or_, map(self._of, term.parts))
            return self.everything & ~whole if term.negated else whole
        if term.field == "signal" and term.value == "no":
            term = msgspec.structs.replace(term, value="yes", negated=not term.negated)
        wanted = self._edges(term.value) if term.field == "edge" else tags.wanted(term)
        if wanted is None:
            found = self._asked(msgspec.structs.replace(term, negated=False))
        else:
            found = reduce(or_, map(self.tagged, wanted), 0)
        return self.everything & ~found if term.negated else self.everything & found

    def _edges(self, text: str) -> tuple[int, ...]:
        rows = self._db.execute("SELECT id FROM edge WHERE instr(text, ?)", (text,))
        return tuple(tags.EDGE + row[0] for row in rows)

    def _asked(self, term: Term) -> int:
        """Return the hosts of a term that only SQL can answer."""
        if self._trigrams and term.field == "text" and len(term.value) >= query_sql.TRIGRAM:
            rows = self._db.execute(
                "SELECT rowid FROM site_text WHERE site_text MATCH ?", (query_sql.phrase(term.value),)
            )
        else:
            condition = query_sql.of_term(term, self._now)
            rows = self._db.execute(f"SELECT id FROM site WHERE {condition.sql}", condition.values)
        return bitmaps.of(row[0] for row in rows)
