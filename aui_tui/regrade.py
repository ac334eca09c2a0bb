"""A report card under the other method, from the card alone: for cards whose observations are not at hand.

Everything that earns points can be read back from a card (specification 2.2, 2.6), so the figures are those of a
grading of the observations. A fix that gains points only under the new method, by rounding, has no snippet.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from aui_tui.engine.checks import BY_COMPONENT, BY_FIX, CardPoints
from aui_tui.engine.checks import points as points_of
from aui_tui.engine.ledger import detail, pillars
from aui_tui.engine.ledger import earned as earned_on
from aui_tui.errors import RecordError
from aui_tui.records import points
from aui_tui.records.card import Recommendation, ReportCard
from aui_tui.records.methods import V02, WALLED_CEILING, Method, grade_of, method
from aui_tui.records.tasks import pillar_points


def regrade(card: ReportCard, name: str) -> ReportCard:
    """Return ``card`` under the method called ``name``; itself when it is graded so already.

    Raises BadValue for an unknown method and RecordError for a card that does not add up.
    """
    chosen = method(name)
    if card.method == chosen.name:
        return card
    earned = _earned(card, chosen)
    worked, runs = _worked(card, chosen), card.task_runs or ()
    full = points_of(chosen.name)
    possible = sum(full[part] for part in earned) + (chosen.task_pillar.maximum if worked is not None else 0)
    raw = points.percent(sum(earned.values()) + (worked or 0), possible)
    score = min(raw, WALLED_CEILING) if card.stance == "Walled" else raw
    graded = msgspec.structs.replace(
        card,
        method=chosen.name,
        score=score,
        grade=grade_of(score),
        pillars=pillars(earned, chosen, worked),
        pillar_max={pillar.key: pillar.maximum for pillar in chosen.pillars},
        recommendations=_recommendations(card, chosen, earned),
    )
    if chosen is not V02:
        unset = msgspec.UNSET
        return msgspec.structs.replace(graded, detail=unset, provisional=unset, task_runs=unset)
    return msgspec.structs.replace(graded, detail=detail(earned), provisional=worked is None, task_runs=runs)


def _worked(card: ReportCard, to: Method) -> int | None:
    """Return the points of the tasks under ``to``; None where the card does not name its runs."""
    return None if card.unreachable else pillar_points(card.task_runs or (), to.task_pillar.maximum)


def _earned(card: ReportCard, to: Method) -> dict[str, int]:
    """Return the points per component under ``to``; a component that was not measured is absent."""
    if card.unreachable:
        return {}
    known = earned_on(card)
    if known is None:
        raise RecordError(f"{card.host}: the points of this card do not add up, so it cannot be graded again.")
    return {
        part: BY_COMPONENT[part].convert(CardPoints(card, card.method, got), to.name) for part, got in known.items()
    }


def _recommendations(card: ReportCard, to: Method, earned: Mapping[str, int]) -> tuple[Recommendation, ...]:
    old = {fix.k: fix for fix in card.recommendations}
    found = []
    for key, check in BY_FIX.items():
        gain = check.points[to.name] - earned[check.component] if check.component in earned else 0
        if gain <= 0:
            continue
        known = old.get(key) or Recommendation(key, "", 0, check.label, "", "")
        pillar = to.pillar(check.pillar[to.name]).label
        found.append(msgspec.structs.replace(known, pillar=pillar, pts=gain))
    return tuple(sorted(found, key=lambda fix: -fix.pts))
