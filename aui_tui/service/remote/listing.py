"""A whole index held in memory, and every question about it answered by the pure predicates of the records."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final
from urllib.parse import quote

import msgspec

from aui_tui.records.card import Index, ReportCard, SiteSummary
from aui_tui.records.facts import Facts as CardFacts
from aui_tui.records.facts import facts_of
from aui_tui.records.match import matches
from aui_tui.records.methods import METHODS
from aui_tui.records.order import ordered
from aui_tui.records.query import Query
from aui_tui.records.times import stamp
from aui_tui.records.view import Facets, IndexView, Overview, Row, counted
from aui_tui.records.vocabulary import CATEGORIES, FIXES, GRADES, STANCES

_METHOD_OF: Final = {frozenset(p.key for p in method.pillars): name for name, method in METHODS.items()}


class Listing:
    """The rows of an index.

    ``scanned_at`` is empty for an index without a time. ``facts`` by host answer the terms that a summary cannot;
    without them such terms raise BadValue.
    """

    def __init__(
        self,
        ranked: Iterable[Row],
        unreachable: Iterable[Row],
        scanned_at: str = "",
        facts: Mapping[str, CardFacts] = MappingProxyType({}),
    ) -> None:
        self.ranked = tuple(_ranked(ordered(ranked, Query())))
        self.unreachable = tuple(ordered(unreachable, Query()))
        newest = max((row.summary.scanned_at for row in (*self.ranked, *self.unreachable)), default="")
        self.scanned_at = scanned_at or newest
        self._facts = facts

    @classmethod
    def of_index(cls, index: Index, base_url: str = "") -> Listing:
        """Return the listing of an Index record; rows without a page have one under ``base_url``."""
        return cls(
            (row_of(summary, base_url) for summary in index.ranked),
            (row_of(summary, base_url) for summary in index.unreachable),
            index.scanned_at,
        )

    @classmethod
    def of_cards(cls, cards: Iterable[ReportCard]) -> Listing:
        """Return the listing of full cards, one for each host."""
        kept = tuple(cards)
        return cls(
            (_card_row(card) for card in kept if not card.unreachable),
            (_card_row(card) for card in kept if card.unreachable),
            facts={card.host: facts_of(card) for card in kept},
        )

    @property
    def size(self) -> int:
        """Rows of both lists."""
        return len(self.ranked) + len(self.unreachable)

    def view(self, query: Query, *, notice: str = "", now: float | None = None) -> IndexView:
        """Return the answer to ``query``. Raises BadValue for a term that this source cannot answer."""
        now = time.time() if now is None else now
        return IndexView(
            query=query,
            scanned_at=self.scanned_at or stamp(now),
            ranked=self._held(self.ranked, query, now),
            unreachable=self._held(self.unreachable, query, now),
            facets=self._facets(query, now),
            notice=notice,
        )

    def overview(self, query: Query, *, now: float | None = None) -> Overview:
        """Return figures over the ranked rows of ``query``; what only cards tell is empty where none are known."""
        rows = self._held(self.ranked, query, time.time() if now is None else now)
        grades = dict.fromkeys(GRADES, 0)
        stances = {category: dict.fromkeys(STANCES, 0) for category in CATEGORIES}
        failing = dict.fromkeys(FIXES, 0) if self._facts else {}
        for row in rows:
            summary = row.summary
            grades[summary.grade[:1]] = grades.get(summary.grade[:1], 0) + 1
            stances.setdefault(summary.category, dict.fromkeys(STANCES, 0))[summary.stance] += 1
            for key in self._fixes(summary.host):
                failing[key] = failing.get(key, 0) + 1
        asked = time.time() if now is None else now
        figures = Overview(
            grades=grades,
            stances=stances,
            failing=failing,
            hosts=len(rows),
            unreachable=len(self._held(self.unreachable, query, asked)),
            contradictions=sum(bool(self._contradictions(row.summary.host)) for row in rows),
            **counted(rows),
        )
        return figures if self._facts else msgspec.structs.replace(figures, edges={})

    def position(self, host: str, query: Query, *, now: float | None = None) -> int:
        """Return the index of ``host`` in its list of ``query``, -1 when it is absent."""
        now = time.time() if now is None else now
        for rows in (self.ranked, self.unreachable):
            for place, row in enumerate(self._held(rows, query, now)):
                if row.summary.host == host:
                    return place
        return -1

    def _held(self, rows: Sequence[Row], query: Query, now: float) -> list[Row]:
        return ordered((row for row in rows if self._matches(row.summary, query, now)), query)

    def _matches(self, summary: SiteSummary, query: Query, now: float) -> bool:
        return matches(summary, query, now=now, facts=self._facts.get(summary.host))

    def _fixes(self, host: str) -> frozenset[str]:
        facts = self._facts.get(host)
        return facts.fixes if facts is not None else frozenset()

    def _contradictions(self, host: str) -> frozenset[str]:
        facts = self._facts.get(host)
        return facts.contradictions if facts is not None else frozenset()

    def _facets(self, query: Query, now: float) -> Facets:
        stance = dict.fromkeys(STANCES, 0)
        category = dict.fromkeys(CATEGORIES, 0)
        neither = msgspec.structs.replace(query, stance="", category="")
        for row in self.ranked:
            summary = row.summary
            if not self._matches(summary, neither, now):
                continue
            if query.category in ("", summary.category):
                stance[summary.stance] = stance.get(summary.stance, 0) + 1
            if query.stance in ("", summary.stance):
                category[summary.category] = category.get(summary.category, 0) + 1
        return Facets(stance=stance, category=category)


def row_of(summary: SiteSummary, base_url: str = "") -> Row:
    """Return the list row of a summary; its method follows from the names of its pillars."""
    page = page_of(base_url, summary.url, summary.host)
    if page != summary.url:
        summary = msgspec.structs.replace(summary, url=page)
    return Row(summary=summary, method=_METHOD_OF.get(frozenset(summary.pillars), ""))


def page_of(base_url: str, url: str, host: str) -> str:
    """Return ``url`` when it is a web address, else the page of ``host`` under ``base_url``."""
    if url.startswith(("https://", "http://")):
        return url
    return f"{base_url}/site/{quote(host, safe='.:-')}" if base_url else ""


def _card_row(card: ReportCard) -> Row:
    best = card.recommendations[0] if card.recommendations else None
    return Row(
        summary=card.summary(),
        method=card.method,
        edge=card.edge,
        best_fix=best.title if best else "",
        best_points=best.pts if best else 0,
        live=tuple(access.status for access in card.agent_access.values()),
    )


def _ranked(rows: Sequence[Row]) -> Iterable[Row]:
    """Yield rows, highest score first, with their competition ranks ("1, 2, 2, 4")."""
    rank, score = 0, -1
    for place, row in enumerate(rows, 1):
        if row.summary.score != score:
            rank, score = place, row.summary.score
        yield msgspec.structs.replace(row, rank=rank)
