"""The cheapest way to a grade: the fewest fixes that reach it, the easier ones first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from pathlib import Path
from textwrap import wrap
from typing import Final

import msgspec

from aui_tui.engine.checks import BY_FIX
from aui_tui.errors import BadValue, Unavailable
from aui_tui.export.atomic import create
from aui_tui.records.card import Recommendation, ReportCard
from aui_tui.records.methods import FLOORS, GRADE_FLOORS
from aui_tui.records.standing import Standing, estimate
from aui_tui.records.vocabulary import GRADES, choose

ROBOTS: Final = "robots.txt"
WIDTH: Final = 78
"""Columns of a plan in plain text."""


WhatIf = Callable[[frozenset[str]], Standing]
"""Reckons where a site would stand with the named fixes done."""


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One fix of a plan, and where the site stands with it and those before it."""

    fix: Recommendation
    score: int
    grade: str
    stance: str


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """The steps from where a site stands to ``target`` points; ``reached`` is False when no fixes lead there."""

    host: str
    method: str
    score: int
    grade: str
    stance: str
    target: int
    goal: str
    steps: tuple[Step, ...] = ()
    reached: bool = True

    @property
    def after(self) -> tuple[int, str, str]:
        """Score, grade and stance with all steps done."""
        last = self.steps[-1] if self.steps else self
        return last.score, last.grade, last.stance


def plan(card: ReportCard, *, grade: str = "", score: int | None = None, what_if: WhatIf | None = None) -> Plan:
    """Return the cheapest plan from ``card`` to ``grade`` or ``score``; to the next grade when neither is named.

    ``what_if`` reckons exactly, from the observations; without it the card's own points are used.
    Raises BadValue for a wrong target and Unavailable for a card without a measurement.
    """
    if card.unreachable:
        raise Unavailable(f"{card.host} could not be measured, so there is nothing to plan from.")
    target, goal = _target(card, grade, score)
    reckon = what_if or (lambda fixes: estimate(card, fixes))
    chosen, reached = _cheapest(card, target, reckon)
    return Plan(
        host=card.host,
        method=card.method,
        score=card.score,
        grade=card.grade,
        stance=card.stance,
        target=target,
        goal=goal,
        steps=tuple(_steps(chosen, reckon)),
        reached=reached,
    )


def _target(card: ReportCard, grade: str, score: int | None) -> tuple[int, str]:
    if grade and score is not None:
        raise BadValue("A plan has one target: a grade or a score.")
    if score is not None:
        if not 0 <= score <= 100:
            raise BadValue(f"A plan takes a score from 0 to 100, not {score}.")
        return score, f"{score} points"
    if grade:
        letter = choose("grade", grade, GRADES)
        return FLOORS[letter], f"grade {letter}"
    better = [(floor, letter) for floor, letter in GRADE_FLOORS if floor > card.score]
    return (better[-1][0], f"grade {better[-1][1]}") if better else (100, "100 points")


def _cheapest(card: ReportCard, target: int, reckon: WhatIf) -> tuple[list[Recommendation], bool]:
    """Return the fewest fixes that reach ``target``, of these the least work; all that help when none do."""
    if card.score >= target:
        return [], True
    fixes = sorted((fix for fix in card.recommendations if fix.k in BY_FIX), key=_effort)
    for size in range(1, len(fixes) + 1):
        enough = [group for group in combinations(fixes, size) if reckon(_keys(group)).score >= target]
        if enough:
            return list(min(enough, key=lambda group: sum(map(_effort, group)))), True
    return fixes, False


def _effort(fix: Recommendation) -> int:
    return BY_FIX[fix.k].effort


def _keys(fixes: Iterable[Recommendation]) -> frozenset[str]:
    return frozenset(fix.k for fix in fixes)


def _steps(fixes: list[Recommendation], reckon: WhatIf) -> Iterator[Step]:
    for number, fix in enumerate(fixes, 1):
        standing = reckon(_keys(fixes[:number]))
        yield Step(fix=fix, score=standing.score, grade=standing.grade, stance=standing.stance)


def lines(found: Plan) -> Iterator[str]:
    """Yield the plan as plain text."""
    yield f"{found.host}: score {found.score}, grade {found.grade}, {found.stance}; goal {found.goal}"
    if not found.steps:
        yield "The goal is reached already." if found.reached else "No fix gains points here."
        return
    for number, step in enumerate(found.steps, 1):
        fix = step.fix
        yield f"{number}. +{fix.pts} {fix.pillar}: {fix.title} ({fix.k})"
        yield from wrap(fix.body, WIDTH, initial_indent="   ", subsequent_indent="   ", break_on_hyphens=False)
        yield f"   then score {step.score}, grade {step.grade}, {step.stance}"
    if not found.reached:
        yield f"All fixes together lead to {found.after[0]} points; {found.goal} is out of their reach."


def as_json(found: Plan) -> str:
    """Return the plan as one JSON object."""
    plain = msgspec.to_builtins(found) | dict(
        zip(("score_after", "grade_after", "stance_after"), found.after, strict=True)
    )
    return msgspec.json.format(msgspec.json.encode(plain), indent=2).decode() + "\n"


def write_snippets(found: Plan, folder: Path, *, force: bool = False) -> list[Path]:
    """Write the snippets to ``folder`` and return the files; none is written when one is there already.

    Raises BadValue naming the file that is there (``force`` replaces it) and ConfigError when it cannot be written.
    """
    wanted = contents(found)
    for name in wanted:
        if not force and (folder / name).is_symlink() | (folder / name).exists():
            raise BadValue(f"{folder / name} is already there; --force replaces it.")
    return [create(folder, name, [text], force=force) for name, text in wanted.items()]


def contents(found: Plan) -> dict[str, str]:
    """Return the text of each file by its name; the groups for robots.txt make one valid file (RFC 9309, 2.1)."""
    parts: dict[str, list[str]] = {}
    for step in found.steps:
        code = step.fix.code.strip("\n")
        if not code.strip():
            continue
        if step.fix.k == "signal" and not code.startswith("User-agent:"):
            code = f"User-agent: *\n{code}"
        parts.setdefault(BY_FIX[step.fix.k].file, []).append(code)
    if ROBOTS in parts:
        parts[ROBOTS].insert(0, f"# For the robots.txt of {found.host}; the plan says which lines these replace.")
    return {name: "\n\n".join(codes) + "\n" for name, codes in parts.items()}
