"""Evidence: what was found, in fixed sentences, critical first, then warn, then good. Pure.

The sentences stand in ``sentences.toml``; the modules of this package choose among them and give the facts.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import msgspec

from aui_tui.engine.evidence.door import door, unreachable
from aui_tui.engine.evidence.finding import Finding
from aui_tui.engine.evidence.page import agent_files, page
from aui_tui.engine.evidence.robots import robots
from aui_tui.engine.evidence.tasks import tasks
from aui_tui.engine.judge import Judgement
from aui_tui.engine.wording import fill, sentence
from aui_tui.records.card import Evidence
from aui_tui.records.observations import Observations

__all__ = ["Sentence", "evidence", "sentences"]


class Sentence(msgspec.Struct, frozen=True, kw_only=True):
    """One fixed sentence: its id, its severity ``t`` and its text with places ``<<name>>``."""

    id: str
    t: str
    text: str


@cache
def sentences() -> Mapping[str, tuple[int, Sentence]]:
    """Return the packaged sentences by id, each with its place in the order of a card."""
    data = tomllib.loads(files("aui_tui.engine.evidence").joinpath("sentences.toml").read_text(encoding="utf-8"))
    return {line.id: (place, line) for place, line in enumerate(msgspec.convert(data["line"], tuple[Sentence, ...]))}


def evidence(observations: Observations, judgement: Judgement) -> tuple[Evidence, ...]:
    """Return the findings of one scan; at least one. Every text is a sentence without markup, told once."""
    found: list[Finding] = []
    if judgement.unreachable:
        found += unreachable(observations)
    else:
        found += door(observations, judgement)
        found += robots(observations, judgement)
        found += page(observations, judgement)
        found += agent_files(observations)
        found += tasks(observations)
    found += (Finding(limit) for limit in observations.limits if limit in sentences())
    found += (Finding("warning", {"note": sentence(note)}) for note in observations.warnings if note.strip())
    found.sort(key=lambda finding: sentences()[finding.id][0])
    return tuple(dict.fromkeys(_line(finding) for finding in found))


def _line(finding: Finding) -> Evidence:
    line = sentences()[finding.id][1]
    return Evidence(t=line.t, text=fill(line.text, finding.facts))
