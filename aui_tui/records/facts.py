"""What the query language asks about a card beyond its summary."""

from __future__ import annotations

from typing import Final

import msgspec

from aui_tui.records.card import ReportCard
from aui_tui.records.codec import names_of
from aui_tui.records.observations import CHALLENGED, INCONCLUSIVE, REFUSED, SERVED, Observations
from aui_tui.records.registry import registry

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
