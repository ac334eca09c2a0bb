"""Which rows of an index satisfy a query, and in which order they stand: pure predicates and keys."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from aui_tui.errors import BadValue
from aui_tui.records.card import ReportCard, SiteSummary
from aui_tui.records.codec import names_of
from aui_tui.records.methods import METHODS
from aui_tui.records.observations import CHALLENGED, INCONCLUSIVE, REFUSED, SERVED, Observations
from aui_tui.records.query import ALL, Query, Term, leaves
from aui_tui.records.registry import registry
from aui_tui.records.times import age, epoch_ms
from aui_tui.records.view import Row
from aui_tui.records.vocabulary import CATEGORIES, GRADES, STANCES

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


SHUT: Final = frozenset({REFUSED, CHALLENGED})


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """Answers to the terms ``has``, ``signal``, ``fix``, ``edge``, ``method`` and ``contradiction`` of one card.

    ``has``: members of ``query.HAS``; ``fixes``: members of ``vocabulary.FIXES``; ``edge``: the card's field.
    """

    has: frozenset[str]
    fixes: frozenset[str]
    edge: str
    method: str
    contradictions: frozenset[str]


def facts_of(card: ReportCard, observations: Observations | None = None) -> Facts:
    """Return the facts of ``card``; ``observations`` make ``contradictions`` exact where robots.txt names an agent."""
    holds = {
        "llms": "llms.txt" in card.files,
        "ai-plugin": "ai-plugin.json" in card.files,
        "jsonld": card.jsonld > 0,
        "main": card.semantic.main > 0,
        "nav": card.semantic.nav > 0,
        "forms": card.semantic.forms > 0,
        "signal": card.content_signal,
        "wildcard": card.wildcard_block,
        "shell": card.noscript_shell,
    }
    return Facts(
        has=frozenset(word for word, held in holds.items() if held),
        fixes=frozenset(item.k for item in card.recommendations),
        edge=card.edge,
        method=card.method,
        contradictions=contradictions(card, observations),
    )


def contradictions(card: ReportCard, observations: Observations | None = None) -> frozenset[str]:
    """Say how robots.txt and the edge disagree about a live-probed agent.

    ``out``: robots.txt leaves an agent every path and its probe was refused or challenged. ``in``: robots.txt shuts it
    out (own group, else ``*``; RFC 9309 2.2.1) and its probe was served.
    """
    policies, outcomes = _seen(observations) if observations is not None else _told(card)
    pairs = tuple(zip(policies, outcomes, strict=False))
    out = any(policy == "open" and outcome in SHUT for policy, outcome in pairs)
    let_in = any(policy == "blocked" and outcome == SERVED for policy, outcome in pairs)
    return frozenset(word for word, held in (("out", out), ("in", let_in)) if held)


def _seen(observations: Observations) -> tuple[list[str], list[str]]:
    live = registry().live
    wanted = {agent.token for agent in live}
    effective = {policy.token: policy.effective for policy in observations.robots.agents if policy.token in wanted}
    fallback = "unknown" if observations.robots.kind == "unknown" else "open"
    outcomes = {exchange.name: exchange.outcome for exchange in observations.live}
    return (
        [effective.get(agent.token, fallback) for agent in live],
        [outcomes.get(agent.key, INCONCLUSIVE) for agent in live],
    )


def _told(card: ReportCard) -> tuple[list[str], list[str]]:
    known = 200 <= card.robots_status <= 499
    words = list(card.ua_policy.values())[: len(names_of("agent_access"))]
    policies = ["unknown" if not known else _effective(word, card.wildcard_block) for word in words]
    return policies, [access.outcome for access in card.agent_access.values()]


def _effective(policy: str, wildcard_block: bool) -> str:
    if policy == "unlisted":
        return "blocked" if wildcard_block else "open"
    return policy


BEST_VERDICT_FIRST: Final = ("allowed", "allowed-robots", "partial", "disallowed", "blocked", "walled")
"""The verdicts that say something; ``untested`` and a word of the future stand last in either direction."""
_CATEGORIES: Final = tuple(sorted(CATEGORIES))


def ordered(rows: Iterable[Row], query: Query) -> list[Row]:
    """Return ``rows`` in the order of ``query.sort``.

    Natural directions: ``rank`` and ``score`` highest score first; ``change`` greatest gain first; ``grade`` A first;
    ``stance`` Open first; ``host``, ``name`` and ``category`` alphabetical (names without regard to case); ``age``
    newest first; a matrix column best verdict first. Ties: higher score, then host. ``descending`` is the exact
    reverse, but rows without a change, or of whose verdict nothing is known, stay last.
    """
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
