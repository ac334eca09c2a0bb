"""Fixes: what a recommendation changes, what it gains, and where the site would stand with it. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from aui_tui.engine.checks import BY_FIX, by_fix
from aui_tui.engine.checks.site import Site
from aui_tui.engine.judge import Judgement, judge
from aui_tui.engine.ledger import ledger
from aui_tui.records.card import Recommendation
from aui_tui.records.ledger import Ledger
from aui_tui.records.methods import Method
from aui_tui.records.observations import Observations
from aui_tui.records.standing import Standing


class Prospect(Standing, frozen=True, kw_only=True):
    """Where a site would stand after some fixes, and how its score would come about."""

    ledger: Ledger


def apply(observations: Observations, fixes: Iterable[str]) -> Observations:
    """Return ``observations`` with exactly the facts of ``fixes`` (specification 2.6) changed, each to its best.

    An inconclusive probe stays inconclusive: no fix makes a silent site speak. Raises BadValue for an unknown key.
    """
    for fix in fixes:
        observations = by_fix(fix).fixed(observations)
    return observations


def what_if(observations: Observations, fixes: Iterable[str], method: Method) -> Prospect:
    """Return score, grade and stance under ``method`` once ``fixes`` are carried out."""
    after = apply(observations, fixes)
    judgement = judge(after)
    book = ledger(after, method, judgement)
    return Prospect(score=book.score, grade=book.grade, stance=judgement.stance, ledger=book)


def recommendations(site: Site, book: Ledger, method: Method) -> tuple[Recommendation, ...]:
    """Return the fixes that gain points under ``method``, most points first, then in the specification's order.

    The points of a fix are the pillar points gained when exactly its fact is changed and the site scored again.
    """
    observations, judgement = site.observations, site.judgement
    gains = {entry.fix: _gain(observations, entry.fix, judgement, book, method) for entry in book.entries if entry.fix}
    found = []
    for key in sorted((key for key in BY_FIX if gains.get(key, 0) > 0), key=lambda key: -gains[key]):
        check = BY_FIX[key]
        advice = check.advise(site)
        pillar = method.pillar(check.pillar[method.name]).label
        body = f"{advice.body} {check.proof_for(site)}"
        found.append(Recommendation(key, pillar, gains[key], check.title, body, advice.code))
    return tuple(found)


def _gain(observations: Observations, fix: str, judgement: Judgement, book: Ledger, method: Method) -> int:
    after = apply(observations, (fix,))
    return ledger(after, method, None if BY_FIX[fix].judged else judgement).earned - book.earned
