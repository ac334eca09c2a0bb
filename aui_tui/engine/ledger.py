"""The ledger: what each check earns, why, and what the sums become. Integers throughout.

From observations exactly; from a card alone as far as it names its points: earned points and open points of a method
sum to its maximum (specification 2.3, 2.6), so what a component earned is its full points less those of its fix.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, combinations
from typing import Final

from aui_tui.engine import tasks
from aui_tui.engine.checks import BY_FIX, CHECKS, Check
from aui_tui.engine.judge import Judgement, judge
from aui_tui.records.card import Points, ReportCard
from aui_tui.records.ledger import Entry, Ledger
from aui_tui.records.methods import METHODS, WALLED_CEILING, Method, grade_of
from aui_tui.records.observations import Observations
from aui_tui.records.points import conclusive, percent

TOGETHER: Final = (("robots", "signal"), ("ssr", "landmarks", "jsonld"), ("llms",), ("protocols",))
"""Components that are measured, or not measured, by the same request."""


def ledger(observations: Observations, method: Method, judgement: Judgement | None = None) -> Ledger:
    """Return every component of the score with its reason, and the score itself.

    Of an unreachable site nothing is measured: every component counts on neither side and the score is 0.
    """
    verdict = judgement or judge(observations)
    entries = (
        *(_entry(check, observations, verdict, method.name) for check in CHECKS),
        *tasks.entries(observations, method.task_pillar),
    )
    earned = sum(entry.earned for entry in entries)
    possible = sum(entry.possible for entry in entries if entry.measured)
    raw = percent(earned, possible)
    score = min(raw, WALLED_CEILING) if verdict.stance == "Walled" else raw
    return Ledger(
        method=method.name,
        entries=entries,
        earned=earned,
        possible=possible,
        raw=raw,
        score=score,
        capped=score < raw,
        grade=grade_of(score),
    )


def _entry(check: Check, observations: Observations, judgement: Judgement, method: str) -> Entry:
    possible = check.points[method]
    if judgement.unreachable:
        points, reason = None, "The site gave no usable answer, so nothing was measured."
    else:
        points, reason = check.measure(observations, judgement, method)
    return Entry(
        component=check.component,
        pillar=check.pillar[method],
        earned=points or 0,
        possible=possible,
        reason=reason,
        measured=points is not None,
        fix=check.fix if points is not None and points < possible else "",
    )


def pillars(earned: Mapping[str, int], method: Method, tasks: int | None = None) -> Points:
    """Return the points per pillar key from those ``earned`` per component and those of the ``tasks``.

    None stands for the pillar of the tasks when they were not run.
    """
    return {pillar.key: tasks if pillar.by_tasks else _pillar(earned, method, pillar.key) for pillar in method.pillars}


def _pillar(earned: Mapping[str, int], method: Method, key: str) -> int:
    return sum(earned.get(check.component, 0) for check in CHECKS if check.pillar[method.name] == key)


def detail(earned: Mapping[str, int]) -> Points:
    """Return the numbers of ``detail`` (specification 2.3) from the points ``earned`` per component."""
    sums: Points = dict.fromkeys(("robots", "door", "signal", "surface", "protocols"), 0)
    for check in CHECKS:
        sums[check.detail] = (sums[check.detail] or 0) + earned.get(check.component, 0)
    return sums


def earned(card: ReportCard) -> dict[str, int] | None:
    """Return the points per component of a card; what was not measured is absent, as is ``door`` without a verdict.

    A card does not name what was not measured. But what was asked together is lost together, and no two sets of it
    have the same points, so the sums of the pillars say what it was. None when the method is unknown or the card does
    not add up (a record of another service).
    """
    method = METHODS.get(card.method)
    if method is None:
        return None
    left = {BY_FIX[fix.k].component: fix.pts for fix in card.recommendations if fix.k in BY_FIX}
    points = {check.component: check.points[method.name] - left.get(check.component, 0) for check in CHECKS}
    if not conclusive(card):
        del points["door"]
    tried = method.task_pillar.key
    scored = {key: value for key, value in card.pillars.items() if value is not None and key != tried}
    if min(points.values()) < 0:
        return None
    asked = [part for part in TOGETHER if not left.keys() & set(part)]
    for count in range(len(asked) + 1):
        for lost in combinations(asked, count):
            gone = set(chain.from_iterable(lost))
            kept = {component: value for component, value in points.items() if component not in gone}
            if scored == {key: value for key, value in pillars(kept, method).items() if value is not None}:
                return kept
    return None
