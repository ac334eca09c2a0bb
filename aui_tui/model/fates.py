"""What an assistant gets, in one word of FATES: from a verdict of the records, and what follows from the word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from aui_tui.model.surfaces import SURFACES, Surface, of_surfaces
from aui_tui.model.vocabulary import CHALLENGED, FATES, REFUSED

IN, PART, TOLD_NO, UNCLEAR, NOT_ASKED = "in", "part", "told no", "unclear", "not asked"
"""The words that the outcomes of the record do not have."""
WORST_FIRST: Final = tuple(FATES)
SHUT: Final = frozenset({REFUSED, CHALLENGED, TOLD_NO})
"""Words for an assistant that does not get the page."""
RANK: Final = MappingProxyType({IN: 2, PART: 1} | dict.fromkeys(SHUT, 0))
"""How well a word serves an assistant; where nothing is known there is no rank."""
WORDS: Final = MappingProxyType(
    {
        "allowed": IN,
        "allowed-robots": NOT_ASKED,
        "partial": IN,
        "blocked": REFUSED,
        "walled": CHALLENGED,
        "disallowed": TOLD_NO,
        "untested": UNCLEAR,
    }
)
"""The word on the screen for each verdict of the records; path rules alone leave an assistant in."""


def word_of(verdict: str, source: str = "live", outcome: str = "", *, ran: bool = False) -> str:
    """Return the word for a verdict of the records; an unknown word is unclear.

    ``source`` of its surface: one that robots.txt alone speaks of was not asked, and so was one that drives a browser,
    unless a run of the tasks told (``ran``). ``outcome`` of its probe tells a refusal of everybody from a challenge:
    the record says ``walled`` of both.
    """
    if source == "robots" or (source == "none" and not ran and verdict in ("untested", "walled")):
        return TOLD_NO if verdict == "disallowed" else NOT_ASKED
    return REFUSED if verdict == "walled" and outcome == REFUSED else WORDS.get(verdict, UNCLEAR)


def words_of(matrix: Mapping[str, str]) -> tuple[str, ...]:
    """Return the word of each assistant as far as a ``matrix`` alone tells, in its order; its keys do not matter."""
    return tuple(word_of(verdict, surface.source) for surface, verdict in of_surfaces(matrix))


def gets_in(word: str, source: str = "live") -> bool | None:
    """Whether an assistant of this ``word`` gets in; None where nobody asked, or no answer proves anything.

    ``source`` of its surface: of one that robots.txt alone speaks of that is never known.
    """
    return None if source == "robots" or word in (UNCLEAR, NOT_ASKED) else word not in SHUT


def share_in(counts: Mapping[str, int], surface: Surface) -> tuple[int, int]:
    """Return how many hosts let an assistant in, of how many that it was asked on; 0 of 0 for one never asked.

    ``counts``: hosts per word.
    """
    decided = {word: number for word, number in counts.items() if gets_in(word, surface.source) is not None}
    return sum(number for word, number in decided.items() if gets_in(word)), sum(decided.values())


def turned_away(words: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return the worst of the ``words`` of the assistants, and the short names of all that do not get in.

    Where nobody is turned away: ``unclear`` and those of whom nothing is known, else ``in`` and none.
    """
    away = {surface.label: word for surface, word in zip(SURFACES, words, strict=False) if word in SHUT}
    if away:
        return min(away.values(), key=WORST_FIRST.index), tuple(away)
    unclear = tuple(surface.label for surface, word in zip(SURFACES, words, strict=False) if word == UNCLEAR)
    return (UNCLEAR, unclear) if unclear else (IN, ())
