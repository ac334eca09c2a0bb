"""The scoring methods as data: pillars, their components and the points of each (specification 2.3)."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from aui_tui.records.vocabulary import choose


@dataclass(frozen=True, slots=True)
class Pillar:
    """A pillar: key on the wire, label on recommendations, maximum points, and the components that fill it.

    The pillar without components is filled by a run of the tasks; without a run its value is null.
    """

    key: str
    label: str
    maximum: int
    components: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Method:
    """A scoring method: its name, its pillars in order, and the full points of each component."""

    name: str
    pillars: tuple[Pillar, ...]
    points: MappingProxyType[str, int]
    landmarks: MappingProxyType[str, int]
    """Points of the parts of the component ``landmarks``."""
    plugin_points: int
    """Points of ``protocols`` when only a legacy ai-plugin.json is found."""

    def pillar_of(self, component: str) -> Pillar:
        """Return the pillar that ``component`` counts towards."""
        return next(p for p in self.pillars if component in p.components)

    @property
    def task_pillar(self) -> Pillar:
        """The pillar that a run of the tasks fills (``records.tasks``); null in a record without one."""
        return next(p for p in self.pillars if not p.components)


COMPONENTS: Final = ("door", "robots", "signal", "ssr", "landmarks", "jsonld", "llms", "protocols")
"""Everything that earns points, in the order of the ledger."""

FIX_COMPONENT: Final = MappingProxyType(
    {
        "wba": "door",
        "front-door": "protocols",
        "llms": "llms",
        "jsonld": "jsonld",
        "landmarks": "landmarks",
        "ssr": "ssr",
        "signal": "signal",
        "robots": "robots",
    }
)
"""Which component each recommendation key (specification 2.6) completes."""

V01: Final = Method(
    name="v0.1",
    pillars=(
        Pillar("access", "Access", 40, ("door", "robots")),
        Pillar("consent", "Consent", 10, ("signal",)),
        Pillar("surface", "Surface", 25, ("ssr", "landmarks", "jsonld", "llms")),
        Pillar("protocols", "Protocols", 15, ("protocols",)),
        Pillar("task", "Task", 10, ()),
    ),
    points=MappingProxyType(
        {
            "door": 24,
            "robots": 16,
            "signal": 10,
            "ssr": 9,
            "landmarks": 6,
            "jsonld": 5,
            "llms": 5,
            "protocols": 15,
        }
    ),
    landmarks=MappingProxyType({"main": 2, "nav": 1, "aria": 1, "forms": 2}),
    plugin_points=5,
)

V02: Final = Method(
    name="v0.2",
    pillars=(
        Pillar("works", "Works", 50, ()),
        Pillar("welcome", "Welcome", 25, ("robots", "door", "signal")),
        Pillar("built", "Built", 25, ("ssr", "landmarks", "jsonld", "llms", "protocols")),
    ),
    points=MappingProxyType(
        {
            "door": 12,
            "robots": 9,
            "signal": 4,
            "ssr": 5,
            "landmarks": 4,
            "jsonld": 3,
            "llms": 3,
            "protocols": 10,
        }
    ),
    landmarks=MappingProxyType({"main": 1, "nav": 1, "aria": 1, "forms": 1}),
    plugin_points=3,
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


def grade_of(score: int) -> str:
    """Return the letter for an integer score from 0 to 100."""
    return next(letter for floor, letter in GRADE_FLOORS if score >= floor)
