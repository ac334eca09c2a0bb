"""Where a site stands, or would stand once some of its recommendations are carried out."""

from __future__ import annotations

import msgspec

from aui_tui.records import points
from aui_tui.records.card import ReportCard
from aui_tui.records.methods import MOST_AGENTS, WALLED_CEILING, grade_of
from aui_tui.records.vocabulary import LIVE_TOTAL


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
    got, possible = points.totals(card)
    raw = points.percent(got + sum(fix.pts for fix in card.recommendations if fix.k in fixes), possible)
    answered = points.conclusive(card)
    let_in = "wba" in fixes
    stance = stance_of(
        served=answered if let_in else card.live_served,
        conclusive=answered,
        browser_challenged=card.human_challenged and not let_in,
        only_offers=card.stance != "Walled",
        disallowed=0 if "robots" in fixes else card.agents_disallowed,
    )
    score = min(raw, WALLED_CEILING) if stance == "Walled" else raw
    return Standing(score, grade_of(score), stance)
