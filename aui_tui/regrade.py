"""A report card under the other method, from the card alone: for cards whose observations are not at hand.

Everything that earns points can be read back from a card (specification 2.2, 2.6), so the figures are those of a
grading of the observations. A fix that gains points only under the new method, by rounding, has no snippet.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from aui_tui.errors import RecordError
from aui_tui.records import points
from aui_tui.records.card import Points, Recommendation, ReportCard
from aui_tui.records.methods import (
    COMPONENTS,
    FIX_COMPONENT,
    METHODS,
    V02,
    WALLED_CEILING,
    Method,
    grade_of,
    method,
)
from aui_tui.records.tasks import pillar_points
from aui_tui.records.vocabulary import AGENTS_TOTAL, FIXES

SURFACE: Final = ("ssr", "landmarks", "jsonld", "llms")
"""Components that ``detail`` sums up as ``surface``."""


def regrade(card: ReportCard, name: str) -> ReportCard:
    """Return ``card`` under the method called ``name``; itself when it is graded so already.

    Raises BadValue for an unknown method and RecordError for a card that does not add up.
    """
    chosen = method(name)
    if card.method == chosen.name:
        return card
    earned = _earned(card, chosen)
    worked, runs = _worked(card, chosen), card.task_runs or ()
    pillars: Points = {
        pillar.key: sum(earned.get(part, 0) for part in pillar.components) if pillar.components else worked
        for pillar in chosen.pillars
    }
    possible = sum(chosen.points[part] for part in earned) + (chosen.task_pillar.maximum if worked is not None else 0)
    raw = points.percent(sum(earned.values()) + (worked or 0), possible)
    score = min(raw, WALLED_CEILING) if card.stance == "Walled" else raw
    graded = msgspec.structs.replace(
        card,
        method=chosen.name,
        score=score,
        grade=grade_of(score),
        pillars=pillars,
        pillar_max={pillar.key: pillar.maximum for pillar in chosen.pillars},
        recommendations=_recommendations(card, chosen, earned),
    )
    if chosen is not V02:
        unset = msgspec.UNSET
        return msgspec.structs.replace(graded, detail=unset, provisional=unset, task_runs=unset)
    return msgspec.structs.replace(graded, detail=_detail(earned), provisional=worked is None, task_runs=runs)


def _worked(card: ReportCard, to: Method) -> int | None:
    """Return the points of the tasks under ``to``; None where the card does not name its runs."""
    return None if card.unreachable else pillar_points(card.task_runs or (), to.task_pillar.maximum)


def _earned(card: ReportCard, to: Method) -> dict[str, int]:
    """Return the points per component under ``to``; a component that was not measured is absent."""
    if card.unreachable:
        return {}
    known = points.earned(card)
    if known is None:
        raise RecordError(f"{card.host}: the points of this card do not add up, so it cannot be graded again.")
    was = METHODS[card.method]
    earned: dict[str, int] = {
        part: to.points[part] if known[part] == was.points[part] else 0 for part in COMPONENTS if part in known
    }
    if "door" in known:
        earned["door"] = _half_up(to.points["door"] * card.live_served, points.conclusive(card))
    earned["robots"] = _robots(card, known, to)
    if 0 < known["signal"] < was.points["signal"]:
        earned["signal"] = _half_up(to.points["signal"], 2)
    if 0 < known["protocols"] < was.points["protocols"]:
        earned["protocols"] = to.plugin_points
    earned["landmarks"] = _landmarks(card, known["landmarks"], was, to)
    return earned


def _robots(card: ReportCard, known: Mapping[str, int], to: Method) -> int:
    welcome = max(0, 4 * AGENTS_TOTAL - 4 * card.agents_disallowed - card.agents_partial)
    unknown = known["robots"] == 0 and _half_up(METHODS[card.method].points["robots"] * welcome, 4 * AGENTS_TOTAL) > 0
    return 0 if unknown else _half_up(to.points["robots"] * welcome, 4 * AGENTS_TOTAL)


def _landmarks(card: ReportCard, earned: int, was: Method, to: Method) -> int:
    seen = {"main": card.semantic.main > 0, "nav": card.semantic.nav > 0, "aria": card.semantic.aria > 0}
    rest = earned - sum(was.landmarks[part] for part, found in seen.items() if found)
    return sum(to.landmarks[part] for part, found in (seen | {"forms": rest > 0}).items() if found)


def _recommendations(card: ReportCard, to: Method, earned: Mapping[str, int]) -> tuple[Recommendation, ...]:
    old = {fix.k: fix for fix in card.recommendations}
    found = []
    for key in FIXES:
        part = FIX_COMPONENT[key]
        gain = to.points[part] - earned[part] if part in earned else 0
        if gain <= 0:
            continue
        told = old.get(key) or Recommendation(key, "", 0, points.LABELS[part], "", "")
        found.append(msgspec.structs.replace(told, pillar=to.pillar_of(part).label, pts=gain))
    return tuple(sorted(found, key=lambda fix: -fix.pts))


def _detail(earned: Mapping[str, int]) -> Points:
    return {
        "robots": earned.get("robots", 0),
        "door": earned.get("door", 0),
        "signal": earned.get("signal", 0),
        "surface": sum(earned.get(part, 0) for part in SURFACE),
        "protocols": earned.get("protocols", 0),
    }


def _half_up(numerator: int, denominator: int) -> int:
    return (2 * numerator + denominator) // (2 * denominator)
