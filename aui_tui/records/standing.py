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


def estimate(card: ReportCard, fixes: frozenset[str]) -> Standing:
    """Return where the site of ``card`` would stand with ``fixes`` done, by the points that the card names.

    A Walled site keeps to its ceiling until every reason for the stance is mended: agents let in (``wba``) where
    none was served, rules removed (``robots``) where they shut out most agents.
    """
    got, possible = points.totals(card)
    raw = points.percent(got + sum(fix.pts for fix in card.recommendations if fix.k in fixes), possible)
    stance = _stance(card, fixes)
    score = min(raw, WALLED_CEILING) if stance == "Walled" else raw
    return Standing(score, grade_of(score), stance)


def _stance(card: ReportCard, fixes: frozenset[str]) -> str:
    answered = points.conclusive(card)
    shut = card.live_served == 0 and (answered > 0 or card.human_challenged) and "wba" not in fixes
    ruled_out = card.agents_disallowed >= MOST_AGENTS and "robots" not in fixes
    if card.stance == "Walled" and (shut or ruled_out):
        return "Walled"
    served = answered if "wba" in fixes else card.live_served
    open_rules = card.agents_disallowed == 0 or "robots" in fixes
    return "Open" if served == LIVE_TOTAL and open_rules else "Selective"
