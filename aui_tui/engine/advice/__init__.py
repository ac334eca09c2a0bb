"""Recommendations: the fixes that would gain points, with a snippet for this site (specification 2.6). Pure."""

from __future__ import annotations

from aui_tui.engine.advice.site import Site
from aui_tui.engine.advice.snippets import write
from aui_tui.engine.advice.texts import texts
from aui_tui.engine.fixes import JUDGED, apply
from aui_tui.engine.judge import Judgement
from aui_tui.engine.points import ledger
from aui_tui.records.card import Recommendation
from aui_tui.records.ledger import Ledger
from aui_tui.records.methods import FIX_COMPONENT, Method
from aui_tui.records.observations import Observations
from aui_tui.records.vocabulary import FIXES

__all__ = ["Site", "gains", "recommendations"]


def gains(observations: Observations, judgement: Judgement, book: Ledger, method: Method) -> dict[str, int]:
    """Return the pillar points that each fix alone would gain; a component that lacks nothing gains none."""
    points = dict.fromkeys(FIXES, 0)
    for fix in (entry.fix for entry in book.entries if entry.fix):
        after = apply(observations, (fix,))
        points[fix] = ledger(after, method, None if fix in JUDGED else judgement).earned - book.earned
    return points


def recommendations(
    observations: Observations, judgement: Judgement, book: Ledger, method: Method, *, name: str, category: str
) -> tuple[Recommendation, ...]:
    """Return the fixes that gain points under ``method``, most points first, then in the specification's order.

    The points of a fix are the pillar points gained when exactly its fact is changed and the site scored again.
    ``name`` and ``category`` of the site make the snippets its own.
    """
    points = gains(observations, judgement, book, method)
    site = Site(observations, judgement, name, category)
    found = []
    for fix in sorted(FIXES, key=lambda fix: -points[fix]):
        if points[fix] <= 0:
            continue
        body, code = write(fix, site)
        label = method.pillar_of(FIX_COMPONENT[fix]).label
        found.append(Recommendation(fix, label, points[fix], texts().title[fix], body, code))
    return tuple(found)
