"""The scoring methods as data: rounding, pillars, grades and ceilings.

The checks say what fills a pillar: each names its pillar and its points under every method.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

import msgspec

from aui_tui.model.vocabulary import choose


def round_half_up(numerator: int, denominator: int) -> int:
    """Return ``numerator / denominator`` rounded half up, both non-negative, without a float."""
    return (2 * numerator + denominator) // (2 * denominator)


REVISION: Final = 6
"""Of how facts become points and findings. Cards of an earlier revision are graded again from what was seen."""


class Pillar(msgspec.Struct, frozen=True):
    """A pillar: key on the wire, label on recommendations, and maximum points.

    The one filled ``by_tasks`` has a value only when tasks were run; else it is null.
    """

    key: str
    label: str
    maximum: int
    by_tasks: bool = False


class Method(msgspec.Struct, frozen=True):
    """A scoring method: its name and its pillars in order."""

    name: str
    pillars: tuple[Pillar, ...]

    def pillar(self, key: str) -> Pillar:
        """Return the pillar called ``key`` on the wire."""
        return next(pillar for pillar in self.pillars if pillar.key == key)

    @property
    def task_pillar(self) -> Pillar:
        """The pillar that a run of the tasks fills (``records.tasks``); null in a record without one."""
        return next(pillar for pillar in self.pillars if pillar.by_tasks)


V01: Final = Method(
    name="v0.1",
    pillars=(
        Pillar("access", "Access", 40),
        Pillar("consent", "Consent", 10),
        Pillar("surface", "Surface", 25),
        Pillar("protocols", "Protocols", 15),
        Pillar("task", "Task", 10, by_tasks=True),
    ),
)

V02: Final = Method(
    name="v0.2",
    pillars=(
        Pillar("works", "Works", 50, by_tasks=True),
        Pillar("welcome", "Welcome", 25),
        Pillar("built", "Built", 25),
    ),
)

METHODS: Final = MappingProxyType({"v0.1": V01, "v0.2": V02})
DEFAULT_METHOD: Final = "v0.2"
GRADE_FLOORS: Final = ((90, "A"), (80, "B"), (70, "C"), (60, "D"), (0, "F"))
FLOORS: Final = MappingProxyType({letter: floor for floor, letter in GRADE_FLOORS})
"""The least score of each grade."""
WALLED_CEILING: Final = 59
"""A walled site scores at most this."""
MOST_AGENTS: Final = 10
"""From this many disallowed agents of the 19 a site is Walled."""


def method(name: str) -> Method:
    """Return the method called ``name``. Raises BadValue naming the known ones."""
    return METHODS[choose("method", name, tuple(METHODS))]


def capped(score: int, stance: str) -> int:
    """Return ``score``, at most WALLED_CEILING where the ``stance`` is Walled."""
    return min(score, WALLED_CEILING) if stance == "Walled" else score


def grade_of(score: int) -> str:
    """Return the letter for an integer score from 0 to 100."""
    return next(letter for floor, letter in GRADE_FLOORS if score >= floor)
