"""Which rows satisfy a query, and in which order they stand, in plain Python: what the SQL of an index is held to."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from aui_tui.index.columns import BEST_VERDICT_FIRST, Facts, has_tasks, verdicts
from aui_tui.index.lists import NEEDS_CARD
from aui_tui.model.agents import gets_in
from aui_tui.model.card import SiteSummary, age, epoch_ms
from aui_tui.model.codec import names_of
from aui_tui.model.query import ALL, NEW, Query, Term
from aui_tui.model.registry import surfaces
from aui_tui.model.view import Row, decades
from aui_tui.model.vocabulary import CATEGORIES, GRADES, STANCES, TURNED_AWAY

_COMPARE: Final[dict[str, Callable[[float, float], bool]]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def matches(summary: SiteSummary, query: Query, *, now: float, facts: Facts, change: int | None = None) -> bool:
    """Say whether a row is in the lists of ``query``; ``now`` is in epoch seconds."""
    if query.category and summary.category != query.category:
        return False
    if query.stance and summary.stance != query.stance:
        return False
    return all(holds(term, summary, now=now, facts=facts, change=change) for term in query.terms)


def holds(term: Term, summary: SiteSummary, *, now: float, facts: Facts, change: int | None = None) -> bool:
    """Say whether one term holds, its negation included."""
    if term.parts:
        every = all if term.field == ALL else any
        return every([holds(part, summary, now=now, facts=facts, change=change) for part in term.parts]) != term.negated
    if term.field == "change":
        return _of_change(term, change) != term.negated
    if term.field in NEEDS_CARD:
        return _of_card(term, facts) != term.negated
    return _of_summary(term, summary, now) != term.negated


def _of_change(term: Term, change: int | None) -> bool:
    if term.value == NEW or change is None:
        return term.value == NEW and change is None
    return _COMPARE[term.op](change, term.number)


def _of_card(term: Term, facts: Facts) -> bool:
    match term.field:
        case "has":
            return term.value in facts.has
        case "signal":
            return ("signal" in facts.has) == (term.value == "yes")
        case "fix":
            return term.value in facts.fixes
        case "edge":
            return term.value in facts.edge.casefold()
        case "method":
            return facts.method.casefold() == term.value
        case _:
            return term.value in facts.contradictions or (not term.value and bool(facts.contradictions))


def _of_summary(term: Term, summary: SiteSummary, now: float) -> bool:
    match term.field:
        case "stance":
            return summary.stance == term.value
        case "category":
            return summary.category == term.value
        case "agent":
            return verdict(summary, term.key) == term.value
        case "score":
            return _COMPARE[term.op](summary.score, term.number)
        case "grade":
            return summary.grade[:1] == term.value
        case "tasks":
            return has_tasks(summary) == (term.value == "yes")
        case "fresh":
            return _COMPARE[term.op](age(summary.scanned_at, now), term.number)
        case _:
            return term.value in summary.host.casefold() or term.value in summary.name.casefold()


def verdict(summary: SiteSummary, slug: str) -> str:
    """Return the verdict of our surface ``slug``; empty when the matrix has none for it."""
    names = names_of("matrix")
    return verdicts(summary.matrix)[names.index(slug)] if slug in names else ""


_CATEGORIES: Final = tuple(sorted(CATEGORIES))


def ordered(rows: Iterable[Row], query: Query) -> list[Row]:
    """Return ``rows`` in the order that ``columns.order`` describes."""
    lists: tuple[list[Row], list[Row]] = [], []
    for row in rows:
        lists[_unknown(row, query.sort)].append(row)
    return [
        row for part in lists for row in sorted(part, key=lambda row: _key(row, query.sort), reverse=query.descending)
    ]


def _unknown(row: Row, sort: str) -> bool:
    if sort == "change":
        return row.change is None
    slug = sort.removeprefix("matrix.")
    return slug != sort and verdict(row.summary, slug) not in BEST_VERDICT_FIRST


def _rank(row: Row) -> tuple[int, str]:
    return -row.summary.score, row.summary.host


def _key(row: Row, sort: str) -> tuple[Any, ...]:
    summary = row.summary
    match sort:
        case "rank" | "score":
            return _rank(row)
        case "change":
            return -(row.change or 0), *_rank(row)
        case "host":
            return (summary.host,)
        case "name":
            return summary.name.casefold(), *_rank(row)
        case "category":
            return _place(_CATEGORIES, summary.category), *_rank(row)
        case "grade":
            return _place(GRADES, summary.grade[:1]), *_rank(row)
        case "stance":
            return _place(STANCES, summary.stance), *_rank(row)
        case "age":
            return -epoch_ms(summary.scanned_at), *_rank(row)
        case _:
            return _place(BEST_VERDICT_FIRST, verdict(summary, sort.removeprefix("matrix."))), *_rank(row)


def _place(words: tuple[str, ...], word: str) -> int:
    return words.index(word) if word in words else len(words)


def counted(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the fields of an overview that follow from the rows of a list alone."""
    scores = [0] * 101
    verdicts: dict[str, Counter[str]] = {surface.slug: Counter() for surface in surfaces()}
    shut: dict[str, dict[str, tuple[int, int]]] = {slug: dict.fromkeys(CATEGORIES, (0, 0)) for slug in verdicts}
    for row in rows:
        scores[row.summary.score] += 1
        for slug, verdict in zip(verdicts, row.summary.matrix.values(), strict=False):
            verdicts[slug][verdict] += 1
            inside = gets_in(verdict)
            if inside is not None and row.summary.category in shut[slug]:
                out, known = shut[slug][row.summary.category]
                shut[slug][row.summary.category] = (out + (not inside), known + 1)
    edges = Counter(row.edge for row in rows)

    def refuses(row: Row) -> bool:
        return any(verdict in TURNED_AWAY for verdict in row.summary.matrix.values())

    return {
        "verdicts": {slug: dict(found) for slug, found in verdicts.items()},
        "scores": decades(scores),
        "edges": dict(edges.most_common(24)),
        "refusing": dict(Counter(row.edge for row in rows if refuses(row))),
        "shut": shut,
        "risen": sum((row.change or 0) > 0 for row in rows),
        "fallen": sum((row.change or 0) < 0 for row in rows),
    }
