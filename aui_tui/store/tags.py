"""The numbered sets that a host is a member of by its summary columns, and the sets that a term asks for."""

from __future__ import annotations

import operator
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from aui_tui.records.codec import names_of
from aui_tui.records.query import HAS, Term
from aui_tui.records.vocabulary import FIXES, SURFACES_TOTAL
from aui_tui.store import columns

RANKED: Final = 0
"""``RANKED + 1`` are the hosts of the ranked list, ``RANKED`` the unreachable ones."""
CATEGORY: Final = 10
STANCE: Final = 20
GRADE: Final = 30
METHOD: Final = 40
CONTRADICTION: Final = 50
TASKS: Final = 51
HAS_WORD: Final = 60
FIX: Final = 80
VERDICT: Final = 100
SCORE: Final = 200
EDGE: Final = 1 << 20
"""First number of each kind; a code or position is added."""

_COMPARE: Final = MappingProxyType(
    {"=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
)


def tags_of(ranked: int, category: int, stance: int, score: int, bits: int, edge: int) -> frozenset[int]:
    """Return the sets of a host with these summary columns; ``edge`` is its row in the table of that name."""
    return tags_of_bits(bits) | {RANKED + ranked, CATEGORY + category, STANCE + stance, SCORE + score, EDGE + edge}


@lru_cache(maxsize=8192)
def tags_of_bits(bits: int) -> frozenset[int]:
    """Return the sets of a host that follow from the packed column ``bits``."""
    found = {GRADE + (bits >> columns.GRADE_AT & 7), METHOD + (bits >> columns.METHOD_AT & 3)}
    found |= {VERDICT + 8 * n + (bits >> columns.VERDICT_WIDTH * n & 7) for n in range(SURFACES_TOTAL)}
    found |= {HAS_WORD + n for n in range(len(HAS)) if bits >> columns.HAS_AT + n & 1}
    found |= {FIX + n for n in range(len(FIXES)) if bits >> columns.FIX_AT + n & 1}
    if bits >> columns.CONTRADICTION_AT & 1:
        found.add(CONTRADICTION)
    if bits >> columns.TASKS_AT & 1:
        found.add(TASKS)
    return frozenset(found)


def wanted(term: Term) -> tuple[int, ...] | None:
    """Return the sets of which one must hold for ``term``, its negation aside; None when no set can tell.

    ``edge``, ``fresh`` and free text have no sets of their own numbers.
    """
    match term.field:
        case "stance":
            return (STANCE + columns.STANCE[term.value],)
        case "category":
            return (CATEGORY + columns.CATEGORY[term.value],)
        case "agent":
            place = names_of("matrix").index(term.key)
            return (VERDICT + 8 * place + columns.VERDICT[term.value],)
        case "score":
            compare = _COMPARE[term.op]
            return tuple(SCORE + score for score in range(101) if compare(score, term.number))
        case "grade":
            return (GRADE + columns.GRADE[term.value],)
        case "has":
            return (HAS_WORD + HAS.index(term.value),)
        case "signal" if term.value == "yes":
            return (HAS_WORD + HAS.index("signal"),)
        case "method":
            return (METHOD + columns.METHOD[term.value],) if term.value in columns.METHOD else ()
        case "fix":
            return (FIX + FIXES.index(term.value),)
        case "contradiction" if not term.value:
            return (CONTRADICTION,)
        case "tasks" if term.value == "yes":
            return (TASKS,)
        case _:
            return None
