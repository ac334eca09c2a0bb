"""The checks: every component of the score, one module each.

To add one, write a module with a ``CHECK``, and add its name to NAMES and its key to ``vocabulary.FIXES``. The ledger,
the evidence, the recommendations, what-if, the plan and the explanation of the method are loops over this list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Final

from aui_tui.checks.check import TITLE, Check, Earned, Piece, Sentence, sentence_list
from aui_tui.checks.site import Site
from aui_tui.model.card import Finding
from aui_tui.model.vocabulary import FIXES, choose

__all__ = [
    "BY_FIX",
    "CHECKS",
    "TITLE",
    "Check",
    "Earned",
    "Finding",
    "Piece",
    "Sentence",
    "Site",
    "by_fix",
    "label",
    "points",
    "sentence_list",
]

NAMES: Final = (
    "door",
    "robots",
    "signal",
    "ssr",
    "landmarks",
    "jsonld",
    "llms",
    "protocols",
)
"""The modules of the checks, in the order of the ledger and of the evidence."""

CHECKS: Final[tuple[Check, ...]] = tuple(import_module(f"{__name__}.{name}").CHECK for name in NAMES)


def _by_fix(checks: Sequence[Check]) -> Mapping[str, Check]:
    """Return ``checks`` by their keys in the order of FIXES.

    Raises ValueError where their keys are not those of FIXES, and where two checks have one key or two sentences have
    one id: a finding of one check would be told as the other's.
    """
    owners: dict[str, str] = {}
    keys = [check.fix for check in checks]
    for check in checks:
        if keys.count(check.fix) > 1:
            raise ValueError(f"Two checks have the key {check.fix}: give the new one a key of its own.")
        for line in check.sentences:
            if line.id in owners:
                raise ValueError(
                    f"The sentence id {line.id} of the check {check.fix} is also one of {owners[line.id]}: rename it."
                )
            owners[line.id] = check.fix
    check_by_fix = {check.fix: check for check in checks}
    if check_by_fix.keys() != set(FIXES):
        names = ", ".join(sorted(check_by_fix.keys() ^ set(FIXES)))
        raise ValueError(f"The checks and FIXES in model/vocabulary.py must have the same keys. One lacks: {names}.")
    return MappingProxyType({key: check_by_fix[key] for key in FIXES})


BY_FIX: Final = _by_fix(CHECKS)
"""All checks by recommendation key, in the order in which records name them."""


def by_fix(key: str) -> Check:
    """Return the check that the recommendation ``key`` completes. Raises BadValue."""
    return BY_FIX[choose("fix", key, tuple(BY_FIX))]


def label(key: str) -> str:
    """Return what the component or fix ``key`` is called; a foreign key as it is."""
    return BY_FIX[key].label if key in BY_FIX else key


def points(method: str) -> dict[str, int]:
    """Return the full points of every component under ``method``."""
    return {check.fix: check.points[method] for check in CHECKS}
