"""The summary columns of a card: what filters and orders read, as small integers."""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType
from typing import Final

import msgspec

from aui_tui.records.card import ReportCard, SiteSummary
from aui_tui.records.match import Facts, facts_of, has_tasks, verdicts
from aui_tui.records.methods import METHODS
from aui_tui.records.observations import Observations
from aui_tui.records.query import CONTRADICTIONS, HAS
from aui_tui.records.vocabulary import CATEGORIES, FIXES, GRADES, STANCES, SURFACES_TOTAL, VERDICTS

OTHER: Final = 9
"""Code of a category that is not in the list (a foreign record)."""

CATEGORY: Final = MappingProxyType({word: code for code, word in enumerate(sorted(CATEGORIES))})
WORD: Final = MappingProxyType({code: word for word, code in CATEGORY.items()})
"""Codes in alphabetical order, so that ordering by code is ordering by word."""
CATEGORY_OF: Final = tuple(CATEGORY)
STANCE: Final = MappingProxyType({word: code for code, word in enumerate(STANCES)})
VERDICT: Final = MappingProxyType({word: code for code, word in enumerate(VERDICTS)})
GRADE: Final = MappingProxyType({word: code for code, word in enumerate(GRADES)})
METHOD: Final = MappingProxyType({word: code for code, word in enumerate(METHODS, start=1)})

VERDICT_WIDTH: Final = 3
VERDICT_UNKNOWN: Final = 7
HAS_AT: Final = VERDICT_WIDTH * SURFACES_TOTAL
FIX_AT: Final = HAS_AT + len(HAS)
CONTRADICTION_AT: Final = FIX_AT + len(FIXES)
GRADE_AT: Final = CONTRADICTION_AT + 1
METHOD_AT: Final = GRADE_AT + 3
SUMMARY_AT: Final = METHOD_AT + 2
TASKS_AT: Final = SUMMARY_AT + 1
DIRECTION_AT: Final = TASKS_AT + 1
"""One bit for each of CONTRADICTIONS; neither is set in a row that a program before them wrote."""


class Columns(msgspec.Struct, frozen=True, kw_only=True):
    """One card's summary columns. ``name``: case folded.

    ``bits`` packs, from bit 0: eight verdicts of three bits, the words of HAS, the fixes, the contradiction, the
    grade (three bits), the method (two bits), whether only a summary is known, whether tasks were run, and the
    directions of the contradiction.
    """

    name: str
    ranked: int
    category: int
    stance: int
    score: int
    bits: int
    edge: str


NOTHING: Final = Facts(has=frozenset(), fixes=frozenset(), edge="", method="", contradictions=frozenset())


def columns_of(card: ReportCard, observations: Observations | None = None) -> Columns:
    """Return the summary columns of ``card``."""
    facts = facts_of(card, observations)
    bits = _packed(card.matrix, card.grade, facts, has_tasks=has_tasks(card))
    return _columns(card, bits, facts.edge, ranked=not card.unreachable)


def columns_of_summary(summary: SiteSummary, method: str, *, ranked: bool) -> Columns:
    """Return the columns of a host of which only the summary and its ``method`` are known.

    Terms about a card find nothing there.
    """
    matrix = summary.matrix
    bits = _bits(tuple(matrix), tuple(matrix.values()), summary.grade, method, has_tasks=has_tasks(summary))
    return _columns(summary, bits | 1 << SUMMARY_AT, "", ranked=ranked)


def method_of(summary: SiteSummary) -> str:
    """Return the name of the method whose pillars a summary has, empty when it is not one of ours."""
    return _method_of(tuple(summary.pillars))


@lru_cache(maxsize=1024)
def _method_of(pillars: tuple[str, ...]) -> str:
    for method in METHODS.values():
        if {pillar.key for pillar in method.pillars} == set(pillars):
            return method.name
    return ""


@lru_cache(maxsize=65536)
def _bits(surfaces: tuple[str, ...], words: tuple[str, ...], grade: str, method: str, *, has_tasks: bool) -> int:
    """Return the packed column of a summary; in a long list most rows have it in common with others."""
    facts = msgspec.structs.replace(NOTHING, method=method)
    return _packed(dict(zip(surfaces, words, strict=True)), grade, facts, has_tasks=has_tasks)


def _packed(matrix: dict[str, str], grade: str, facts: Facts, *, has_tasks: bool) -> int:
    bits = 0
    for position, word in enumerate(verdicts(matrix)):
        bits |= VERDICT.get(word, VERDICT_UNKNOWN) << (VERDICT_WIDTH * position)
    for position, word in enumerate(HAS):
        bits |= (word in facts.has) << (HAS_AT + position)
    for position, key in enumerate(FIXES):
        bits |= (key in facts.fixes) << (FIX_AT + position)
    bits |= bool(facts.contradictions) << CONTRADICTION_AT
    for position, word in enumerate(CONTRADICTIONS):
        bits |= (word in facts.contradictions) << (DIRECTION_AT + position)
    bits |= GRADE.get(grade[:1], 7) << GRADE_AT
    bits |= METHOD.get(facts.method, 0) << METHOD_AT
    bits |= has_tasks << TASKS_AT
    return bits


def _columns(record: ReportCard | SiteSummary, bits: int, edge: str, *, ranked: bool) -> Columns:
    return Columns(
        name=record.name.casefold(),
        ranked=int(ranked),
        category=CATEGORY.get(record.category, OTHER),
        stance=STANCE[record.stance],
        score=record.score,
        bits=bits,
        edge=edge.casefold(),
    )


def search_text_of(host: str, name: str) -> str:
    """Return the text in which free text is looked for, from host and case-folded name; no match spans both."""
    return host if name in host else host + "\n" + name
