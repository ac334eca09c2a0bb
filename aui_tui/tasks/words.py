"""How a task ended, in words: one sentence per reason, and what a developer would change. The sentences are data."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

import msgspec

from aui_tui.engine.wording import fill
from aui_tui.records.decoding import convert
from aui_tui.records.tasks import BLOCKED
from aui_tui.tasks.outline import Node
from aui_tui.text import clean

LONGEST = 400
"""Characters of a sentence."""


class Reason(msgspec.Struct, frozen=True):
    """One reason: the sentence on what happened and, for a blocked task, the sentence on what to change."""

    note: str
    change: str = ""


@cache
def reasons() -> Mapping[str, Reason]:
    """Return the packaged sentences by reason."""
    data = tomllib.loads(files("aui_tui.tasks").joinpath("reasons.toml").read_text(encoding="utf-8"))
    return convert(data, dict[str, Reason])


@dataclass(frozen=True, slots=True)
class Ending:
    """How a task ended: outcome, reason with its facts, the element at fault, and whether half the points are earned.

    ``url`` is the page, ``snippet`` the element's start tag.
    """

    outcome: str
    reason: str
    facts: Mapping[str, str] = field(default_factory=dict)
    half: bool = False
    node: Node | None = None
    url: str = ""
    snippet: str = ""

    @property
    def note(self) -> str:
        """One sentence on what happened, with a full stop."""
        return _sentence(reasons()[self.reason].note, self.facts)

    @property
    def change(self) -> str:
        """One sentence on what to change, empty where the task was not blocked."""
        template = reasons()[self.reason].change if self.outcome == BLOCKED else ""
        return _sentence(template, self.facts) if template else ""


def _sentence(template: str, facts: Mapping[str, str]) -> str:
    text = fill(template, {name: clean(value, 120) for name, value in facts.items()})
    return clean(text, LONGEST).rstrip(".") + "."
