"""Arithmetic of points: rounding, percentages, what a card says of them by itself, and what its fixes would gain."""

from __future__ import annotations

import msgspec

from aui_tui.model.card import ReportCard
from aui_tui.model.methods import METHODS, MOST_AGENTS, capped, grade_of, round_half_up
from aui_tui.model.observations import INCONCLUSIVE
from aui_tui.model.registry import registry
from aui_tui.model.vocabulary import LIVE_TOTAL


def percent(got: int, possible: int) -> int:
    """Return ``got`` of ``possible`` as a score: round half up of the percentage, 0 of nothing."""
    return round_half_up(100 * got, possible) if possible else 0


def conclusive(card: ReportCard) -> int:
    """Return the number of live-probed agents whose probe counts at the door.

    Such a probe ended with a page, a refusal or a challenge, and was not left without a verdict by the site's limits
    (a status, and ``untested`` in the matrix). Where agents are to be let in although every one with an answer was
    served, those without an answer were dropped, which counts too.
    """
    live = {surface.live: verdict for surface, verdict in zip(registry().surfaces, card.matrix.values(), strict=False)}
    keys = [agent.key for agent in registry().live]
    answered = sum(
        (access.outcome != INCONCLUSIVE or live.get(key) == "blocked") and live.get(key) != "untested"
        for key, access in zip(keys, card.agent_access.values(), strict=False)
    )
    dropped = card.live_served == answered and any(fix.k == "wba" for fix in card.recommendations)
    return LIVE_TOTAL if dropped and not card.human_challenged and answered < LIVE_TOTAL else answered


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
    return capped(raw, card.stance)


def comparable(before: ReportCard, after: ReportCard) -> tuple[int, int]:
    """Return both scores over the pillars that both cards have: without tasks where only one has them."""
    if (task_points(before) is None) == (task_points(after) is None):
        return before.score, after.score
    return without_tasks(before), without_tasks(after)


def uneven(before: ReportCard, after: ReportCard) -> str:
    """Return one sentence when only one of the cards has tasks, so that their scores leave the tasks out."""
    tried = [task_points(card) is not None for card in (before, after)]
    if tried[0] == tried[1]:
        return ""
    which = "earlier" if tried[0] else "later"
    return f"Only the {which} scan ran the tasks: the scores compare the other pillars."


class Standing(msgspec.Struct, frozen=True):
    """Score, grade and stance of a site."""

    score: int
    grade: str
    stance: str


def stance_of(*, served: int, conclusive: int, browser_challenged: bool, only_offers: bool, disallowed: int) -> str:
    """Return the stance of a site, the first that fits (method.md "Stance").

    ``served`` and ``conclusive`` count live-probed agents. ``only_offers``: each that was turned away got a 402 with
    machine-readable terms. ``disallowed``: agents that robots.txt shuts out.
    """
    turned_away = conclusive > served
    if served == 0 and (browser_challenged or (turned_away and not only_offers)):
        return "Walled"
    if disallowed >= MOST_AGENTS:
        return "Walled"
    return "Open" if served == LIVE_TOTAL and disallowed == 0 else "Selective"


def gain_words(points: int, before: int, after: int) -> str:
    """Return what a fix gains: ``+4 points, score 52 -> 60``. Points count in its pillar, the score from 0 to 100."""
    return f"+{points} {'point' if points == 1 else 'points'}, score {before} -> {after}"


def gain(card: ReportCard, fix: str) -> str:
    """Return what ``fix`` alone gains on ``card``, in words; empty when it gains nothing there."""
    points_of = {item.k: item.pts for item in card.recommendations}
    return gain_words(points_of[fix], card.score, estimate(card, frozenset({fix})).score) if fix in points_of else ""


def gain_of_all(card: ReportCard) -> str:
    """Return what all fixes of ``card`` together gain, in words."""
    every = frozenset(fix.k for fix in card.recommendations)
    points_of_all = sum(fix.pts for fix in card.recommendations)
    return gain_words(points_of_all, card.score, estimate(card, every).score)


def estimate(card: ReportCard, fixes: frozenset[str]) -> Standing:
    """Return where the site of ``card`` would stand with ``fixes`` done, by the points that the card names.

    A card does not say which refusals were offers to pay; its stance does, where no agent was served.
    """
    got, possible = totals(card)
    raw = percent(got + sum(fix.pts for fix in card.recommendations if fix.k in fixes), possible)
    answered = conclusive(card)
    let_in = "wba" in fixes
    stance = stance_of(
        served=answered if let_in else card.live_served,
        conclusive=answered,
        browser_challenged=card.human_challenged and not let_in,
        only_offers=card.stance != "Walled",
        disallowed=0 if "robots" in fixes else card.agents_disallowed,
    )
    score = capped(raw, stance)
    return Standing(score, grade_of(score), stance)
