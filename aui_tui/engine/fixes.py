"""Fixes as changes of fact: what the observations would be once a recommendation is carried out. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from aui_tui.engine.judge import judge
from aui_tui.engine.points import ledger
from aui_tui.records.ledger import Ledger
from aui_tui.records.methods import Method
from aui_tui.records.observations import (
    BROWSER,
    CHALLENGED,
    REFUSED,
    Exchange,
    Observations,
    RobotsPolicy,
)
from aui_tui.records.standing import Standing
from aui_tui.records.vocabulary import FIXES, choose

OPEN_SIGNAL: Final = "search=yes, ai-input=yes, ai-train=no"
"""The Content-Signal value that the recommendation proposes."""

JUDGED: Final = frozenset({"wba", "robots"})
"""The fixes that change what a judgement rests on; the others change points alone."""


class Prospect(Standing, frozen=True, kw_only=True):
    """Where a site would stand after some fixes, and how its score would come about."""

    ledger: Ledger


def apply(observations: Observations, fixes: Iterable[str]) -> Observations:
    """Return ``observations`` with exactly the facts of ``fixes`` (specification 2.6) changed, each to its best.

    An inconclusive probe stays inconclusive: no fix makes a silent site speak. Raises BadValue for an unknown key.
    """
    for fix in fixes:
        observations = _FLIPS[choose("fix", fix, FIXES)](observations)
    return observations


def what_if(observations: Observations, fixes: Iterable[str], method: Method) -> Prospect:
    """Return score, grade and stance under ``method`` once ``fixes`` are carried out."""
    after = apply(observations, fixes)
    judgement = judge(after)
    book = ledger(after, method, judgement)
    return Prospect(score=book.score, grade=book.grade, stance=judgement.stance, ledger=book)


def _wba(observations: Observations) -> Observations:
    if observations.unreachable:
        return observations
    return replace(observations, exchanges=tuple(_let_in(exchange) for exchange in observations.exchanges))


def _let_in(exchange: Exchange) -> Exchange:
    homepage = exchange.name == BROWSER or exchange.name.startswith("agent_")
    if not homepage or exchange.outcome not in (CHALLENGED, REFUSED):
        return exchange
    return replace(exchange, status=200, challenge=None, terms=False, error="", detail="", attempts=())


def _robots(observations: Observations) -> Observations:
    robots = observations.robots
    opened = replace(
        robots,
        kind="rules" if robots.kind == "unknown" else robots.kind,
        agents=tuple(_open(policy) for policy in robots.agents),
        wildcard_block=False,
        wildcard_line=0,
    )
    changed = replace(observations, robots=opened)
    if robots.kind != "unknown":
        return changed
    exchanges = tuple(
        replace(exchange, status=200, error="", detail="") if exchange.name == "robots" else exchange
        for exchange in observations.exchanges
    )
    return replace(changed, exchanges=exchanges)


def _open(policy: RobotsPolicy) -> RobotsPolicy:
    own = "unlisted" if policy.policy == "unlisted" else "allowed"
    return replace(policy, policy=own, effective="open", line=0, rule="")


def _signal(observations: Observations) -> Observations:
    robots = observations.robots
    return replace(observations, robots=replace(robots, signal=OPEN_SIGNAL, signal_line=robots.signal_line or 1))


def _ssr(observations: Observations) -> Observations:
    return replace(observations, page=replace(observations.page, noscript_shell=False))


def _landmarks(observations: Observations) -> Observations:
    page = observations.page
    seen = replace(
        page.semantic, main=max(1, page.semantic.main), nav=max(1, page.semantic.nav), aria=max(1, page.semantic.aria)
    )
    return replace(observations, page=replace(page, semantic=seen, forms_unlabelled=0))


def _jsonld(observations: Observations) -> Observations:
    return replace(observations, page=replace(observations.page, jsonld=max(1, observations.page.jsonld)))


def _llms(observations: Observations) -> Observations:
    return replace(observations, files=replace(observations.files, llms=True))


def _front_door(observations: Observations) -> Observations:
    return replace(observations, files=replace(observations.files, ucp=True))


_FLIPS: Final[MappingProxyType[str, Callable[[Observations], Observations]]] = MappingProxyType(
    {
        "wba": _wba,
        "front-door": _front_door,
        "llms": _llms,
        "jsonld": _jsonld,
        "landmarks": _landmarks,
        "ssr": _ssr,
        "signal": _signal,
        "robots": _robots,
    }
)
