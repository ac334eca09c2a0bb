"""Arithmetic of points: rounding, percentages, sums of a card, and what its fixes gain."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

import msgspec
from msgspec import UNSET

from aui_tui.model.card import Recommendation, ReportCard
from aui_tui.model.methods import METHODS, MOST_AGENTS, capped, round_half_up
from aui_tui.model.tasks import pillar_points
from aui_tui.model.vocabulary import FIXES, INCONCLUSIVE, LIVE_TOTAL, NO_GRADE, SERVED
from aui_tui.text import count


def percent(earned: int, possible: int) -> int:
    """Return ``earned`` of ``possible`` as a score: round half up of the percentage, 0 of nothing."""
    return round_half_up(100 * earned, possible) if possible else 0


def conclusive(card: ReportCard) -> int:
    """Return the number of live-probed agents whose probe counts at the door; on a foreign card, that got an answer."""
    if card.ledger is not UNSET:
        return card.ledger.conclusive
    return sum(access.outcome != INCONCLUSIVE for access in card.agent_access.values())


def totals(card: ReportCard) -> tuple[int, int]:
    """Return the points earned and measured.

    What was measured is what is earned, what the fixes would gain, and what the tasks lack.
    """
    earned = round(sum(value for value in card.pillars.values() if value is not None))
    return earned, earned + sum(fix.pts for fix in card.recommendations) + lacking(card)


def unmeasured(card: ReportCard) -> int:
    """Return the points of all pillars that were not measured; those of the tasks too where they were not tried."""
    return max(0, round(sum(most or 0 for most in card.pillar_max.values())) - totals(card)[1])


PAGE_CHECKS: Final = ("ssr", "landmarks", "jsonld")
"""The components that are read off the homepage: a wall in its place says nothing of them."""


def unknown(card: ReportCard) -> frozenset[str]:
    """Return the components of which the scan of ``card`` cannot say anything, with "" for what is part of none."""
    if card.unreachable:
        return frozenset(("", *FIXES))
    rules = () if card.robots_known else ("robots", "signal")
    if card.ledger is UNSET:
        return frozenset((*rules, *(PAGE_CHECKS if card.human_challenged else ())))
    return frozenset((*rules, *(entry.component for entry in card.ledger.entries if not entry.measured)))


def of_pillar(card: ReportCard, key: str) -> tuple[float, float] | None:
    """Return the points that a pillar earned and measured; None for one without a value, as tasks alone fill it."""
    value, method = card.pillars[key], METHODS.get(card.method)
    if value is None:
        return None
    most, earned = card.pillar_max.get(key) or 0, value
    if method is None or card.unreachable:
        return earned, most
    if key == method.task_pillar.key:
        return earned, earned + lacking(card)
    label = next((pillar.label for pillar in method.pillars if pillar.key == key), "")
    if not label:
        return earned, most
    return earned, earned + sum(fix.pts for fix in card.recommendations if fix.pillar == label)


def is_graded(card: ReportCard) -> bool:
    """Return whether at least half of the points could be measured: else the score and its letter say too little."""
    return not card.unreachable and 2 * totals(card)[1] >= full(card)


def foresees(card: ReportCard) -> bool:
    """Return whether it can be told what the score becomes with a fix.

    Not where too little is graded, and not where a part of the homepage is seen only when a wall before it is gone.
    """
    return is_graded(card) and (card.human.outcome == SERVED or totals(card)[1] == full(card))


def letter(card: ReportCard) -> str:
    """Return the grade of ``card``; NO_GRADE where less than half could be measured."""
    return card.grade if card.unreachable or is_graded(card) else NO_GRADE


def full(card: ReportCard) -> int:
    """Return the points of the scored pillars, measured or not."""
    return sum(round(card.pillar_max[key] or 0) for key, value in card.pillars.items() if value is not None)


def reach(card: ReportCard) -> tuple[int, int]:
    """Return the lowest and the highest score that the card could have, had all of its pillars been measured."""
    (earned, possible), every = totals(card), full(card)
    return percent(earned, every), capped(percent(earned + every - possible, every), card.stance)


def task_points(card: ReportCard) -> int | None:
    """Return the points of the pillar that tasks fill; None when they were not run or the method is unknown."""
    method = METHODS.get(card.method)
    value = card.pillars.get(method.task_pillar.key) if method is not None else None
    return None if value is None else round(value)


def lacking(card: ReportCard) -> int:
    """Return the points that the tasks lack of those that they measured; 0 when they were not run."""
    points, method = task_points(card), METHODS.get(card.method)
    if points is None or method is None:
        return 0
    entries = card.ledger.entries if card.ledger is not UNSET else ()
    possible = next(
        (entry.possible for entry in entries if entry.pillar == method.task_pillar.key), method.task_pillar.maximum
    )
    measured = pillar_points(card.task_runs or (), method.task_pillar.maximum)
    return max(0, (measured[1] if measured is not None else possible) - points)


def without_tasks(card: ReportCard) -> int:
    """Return the score over the pillars that need no run of the tasks; the score itself when there was none."""
    points = task_points(card)
    if points is None:
        return card.score
    earned, possible = totals(card)
    raw = percent(earned - points, possible - points - lacking(card))
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


UNREACHABLE: Final = Standing(0, "F", "Walled")
"""What the record of an unreachable host says, since its shape demands values (a site that is closed on purpose is
Selective there); everywhere else it has none of them."""


def stance_of(*, served: int, conclusive: int, browser_challenged: bool, only_offers: bool, disallowed: int) -> str:
    """Return the stance of a site, the first that fits.

    ``served`` and ``conclusive`` count live-probed agents. ``only_offers``: each that was turned away got a 402 with
    machine-readable terms. ``disallowed``: agents that robots.txt shuts out.
    """
    turned_away = conclusive > served
    if served == 0 and (browser_challenged or (turned_away and not only_offers)):
        return "Walled"
    if disallowed >= MOST_AGENTS:
        return "Walled"
    return "Open" if served == LIVE_TOTAL and disallowed == 0 else "Selective"


SHUT_OUT, TOLD_OUT, UNREADABLE, UNDECLARED, LACKING = range(5)
"""What a site does to agents, worst first. Last what it cannot declare before it has it, such as a server."""
HARM: Final = MappingProxyType(
    {"wba": SHUT_OUT, "robots": TOLD_OUT, "ssr": UNREADABLE, "landmarks": UNREADABLE, "front-door": LACKING}
)
"""What a site without a fix does to agents; without any other it leaves something undeclared."""


def by_harm(card: ReportCard) -> tuple[Recommendation, ...]:
    """Return the fixes of ``card`` in the order for people: worst harm first, within it most points first.

    The first is the next step, wherever one is named. The record has its own order, by points alone.
    """
    return tuple(sorted(card.recommendations, key=lambda fix: (HARM.get(fix.k, UNDECLARED), -fix.pts)))


def score_after(card: ReportCard, fix: str = "") -> int | None:
    """Return the score of ``card`` with ``fix`` alone, or with all fixes; None of a foreign card, or of another fix."""
    if card.ledger is UNSET:
        return None
    if not fix:
        return card.ledger.best
    return next((entry.after for entry in card.ledger.entries if entry.fix == fix), None)


GRANTED: Final = "if granted"
"""What follows a gain for which somebody else must be asked."""


def raised(before: int, after: int | None, points: int, *, asked: bool) -> str:
    """Return what a score becomes: ``52 → 60``, or ``+4 points`` where the score after it is not known.

    ``asked``: somebody else must be asked for it, so it is GRANTED or does not come.
    """
    words = f"+{count(points, 'point')}" if after is None else f"{before} → {after}"
    return f"{words} {GRANTED}" if asked else words


def gain(card: ReportCard, fix: str = "") -> str:
    """Return what the score becomes with ``fix``; without one, with all fixes of ``card``. Nothing for another fix."""
    keys = frozenset(fix_there.k for fix_there in card.recommendations if fix in ("", fix_there.k))
    return gain_of(card, keys, score_after(card, fix))


def gain_of(card: ReportCard, fixes: frozenset[str], after: int | None) -> str:
    """Return in words that ``card`` would have the score ``after`` with ``fixes``, where it has any of them.

    Of a foreign card, or where the score is not foreseen, only the points are known.
    """
    points = sum(fix.pts for fix in card.recommendations if fix.k in fixes)
    is_asked = bool(fixes & asked_for(card))
    return raised(card.score, after if foresees(card) else None, points, asked=is_asked) if fixes else ""


def asked_for(card: ReportCard) -> frozenset[str]:
    """Return the fixes of ``card`` that somebody else must be asked for."""
    entries = card.ledger.entries if card.ledger is not UNSET else ()
    return frozenset(entry.fix for entry in entries if entry.asked)
