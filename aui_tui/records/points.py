"""The points of a card, component by component, read back from the record alone.

A card names the points that each fix would gain, and earned points and open points of a method sum to its maximum
(specification 2.3, 2.6); so what a component earned is its full points less those of its fix.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from aui_tui.records.card import AgentAccess, ReportCard
from aui_tui.records.methods import COMPONENTS, FIX_COMPONENT, METHODS, WALLED_CEILING
from aui_tui.records.observations import INCONCLUSIVE

LABELS: Final = MappingProxyType(
    {
        "door": "Agents served",
        "robots": "robots.txt rules for agents",
        "signal": "Content-Signal",
        "ssr": "Readable without scripts",
        "landmarks": "Landmarks and form labels",
        "jsonld": "JSON-LD",
        "llms": "llms.txt",
        "protocols": "Front door (UCP or MCP)",
        "tasks": "Tasks done in a browser",
    }
)
"""Each component in words."""


def earned(card: ReportCard) -> dict[str, int] | None:
    """Return the points per component; ``door`` is absent when no agent's probe was conclusive.

    None when the method is unknown or the card does not add up (a record of another service).
    """
    method = METHODS.get(card.method)
    if method is None:
        return None
    open_points = {FIX_COMPONENT[fix.k]: fix.pts for fix in card.recommendations if fix.k in FIX_COMPONENT}
    points = {name: method.points[name] - open_points.get(name, 0) for name in COMPONENTS}
    if not conclusive(card):
        del points["door"]
    sums = {p.key: sum(points.get(name, 0) for name in p.components) for p in method.pillars if p.components}
    tried = method.task_pillar.key
    scored = {key: value for key, value in card.pillars.items() if value is not None and key != tried}
    return points if scored == sums and min(points.values()) >= 0 else None


def silent(access: AgentAccess) -> bool:
    """Return whether a live probe ended inconclusive: no answer, or a redirect that leads nowhere."""
    return access.outcome == INCONCLUSIVE


def conclusive(card: ReportCard) -> int:
    """Return the number of live-probed agents whose probe ended with a page, a refusal or a challenge."""
    return sum(not silent(access) for access in card.agent_access.values())


def totals(card: ReportCard) -> tuple[int, int]:
    """Return the points earned and possible over the pillars that are scored.

    What is possible is what is earned, what the fixes would gain, and what the tasks lack.
    """
    got = sum(value for value in card.pillars.values() if value is not None)
    return round(got), round(got) + sum(fix.pts for fix in card.recommendations) + lacking(card)


def task_points(card: ReportCard) -> int | None:
    """Return the points of the pillar that tasks fill; None when they were not run or the method is unknown."""
    method = METHODS.get(card.method)
    value = card.pillars.get(method.task_pillar.key) if method is not None else None
    return None if value is None else round(value)


def lacking(card: ReportCard) -> int:
    """Return the points that the tasks lack; 0 when they were not run."""
    points, method = task_points(card), METHODS.get(card.method)
    return 0 if points is None or method is None else max(0, method.task_pillar.maximum - points)


def without_tasks(card: ReportCard) -> int:
    """Return the score over the pillars that need no run of the tasks; the score itself when there was none."""
    points = task_points(card)
    if points is None:
        return card.score
    got, possible = totals(card)
    raw = percent(got - points, possible - points - lacking(card))
    return min(raw, WALLED_CEILING) if card.stance == "Walled" else raw


def comparable(before: ReportCard, after: ReportCard) -> tuple[int, int]:
    """Return both scores over the pillars that both cards have: without tasks where only one has them."""
    if (task_points(before) is None) == (task_points(after) is None):
        return before.score, after.score
    return without_tasks(before), without_tasks(after)


def percent(got: int, possible: int) -> int:
    """Return ``got`` of ``possible`` as a score: round half up of the percentage, 0 of nothing."""
    return (200 * got + possible) // (2 * possible) if possible else 0
