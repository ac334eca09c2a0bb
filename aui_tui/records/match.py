"""Whether one row of an index satisfies a query: the meaning of every filter and term, as a pure predicate."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Final

from aui_tui.errors import BadValue
from aui_tui.records.card import ReportCard, SiteSummary
from aui_tui.records.codec import names_of
from aui_tui.records.facts import Facts
from aui_tui.records.methods import METHODS
from aui_tui.records.query import ALL, Query, Term, leaves
from aui_tui.records.times import age

NEEDS_CARD: Final = frozenset({"has", "signal", "fix", "contradiction", "edge", "method"})
"""Terms that a summary alone (specification 2.1) cannot answer."""

_COMPARE: Final[dict[str, Callable[[float, float], bool]]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def check_answerable(query: Query) -> None:
    """Raise BadValue when a term of ``query`` needs more than summaries."""
    for term in leaves(query.terms):
        if term.field in NEEDS_CARD:
            raise _unanswerable(term)


def _unanswerable(term: Term) -> BadValue:
    return BadValue(f"This source lists summaries only, so the query term {term.field}: cannot be answered.")


def matches(summary: SiteSummary, query: Query, *, now: float, facts: Facts | None = None) -> bool:
    """Say whether a row is in the lists of ``query``; ``now`` is in epoch seconds.

    Raises BadValue when a term needs ``facts`` and the source has none.
    """
    if query.category and summary.category != query.category:
        return False
    if query.stance and summary.stance != query.stance:
        return False
    return all(holds(term, summary, now=now, facts=facts) for term in query.terms)


def holds(term: Term, summary: SiteSummary, *, now: float, facts: Facts | None = None) -> bool:
    """Say whether one term holds, its negation included. Raises BadValue as :func:`matches`."""
    if term.parts:
        every = all if term.field == ALL else any
        return every([holds(part, summary, now=now, facts=facts) for part in term.parts]) != term.negated
    if term.field in NEEDS_CARD:
        if facts is None:
            raise _unanswerable(term)
        return _of_card(term, facts) != term.negated
    return _of_summary(term, summary, now) != term.negated


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


def has_tasks(summary: SiteSummary | ReportCard) -> bool:
    """Say whether tasks were run on the site: the pillar that they fill has points."""
    return not {None}.issuperset(map(summary.pillars.get, _TASK_PILLARS))


_TASK_PILLARS: Final = tuple({method.task_pillar.key for method in METHODS.values()})


def verdict(summary: SiteSummary, slug: str) -> str:
    """Return the verdict of our surface ``slug``; empty when the matrix has none for it."""
    names = names_of("matrix")
    return verdicts(summary.matrix)[names.index(slug)] if slug in names else ""


def verdicts(matrix: dict[str, str]) -> list[str]:
    """Return the verdicts of our surfaces in order; a matrix with other keys counts by position."""
    names = names_of("matrix")
    if tuple(matrix) == names:
        return list(matrix.values())
    values = [*matrix.values(), *("",) * len(names)]
    return [matrix.get(name, values[place]) for place, name in enumerate(names)]
