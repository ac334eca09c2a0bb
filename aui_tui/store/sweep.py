"""The figures of a query by one pass over the rank index: for terms that no set of hosts answers.

All of it happens inside SQLite, which lets other threads run meanwhile and can be stopped at any row.
"""

from __future__ import annotations

import sqlite3
import sys
from typing import NamedTuple

from aui_tui.records.query import Query, leaves
from aui_tui.records.view import Facets
from aui_tui.records.vocabulary import CATEGORIES, STANCES
from aui_tui.store import query_sql


class Sweep(NamedTuple):
    """Hosts per list (unreachable, ranked) and score from 0 to 100, and the facets of the ranked list."""

    scores: tuple[list[int], list[int]]
    facets: Facets


def needed(query: Query, *, trigrams: bool = True) -> bool:
    """Say whether a term of ``query`` has to be looked up host by host; ``trigrams``: there is an index of text."""
    shortest = query_sql.TRIGRAM if trigrams else sys.maxsize
    return any(
        term.field == "fresh" or (term.field == "text" and len(term.value) < shortest) for term in leaves(query.terms)
    )


def sweep(db: sqlite3.Connection, query: Query, now: float) -> Sweep:
    """Return the figures of ``query`` at ``now`` (epoch seconds)."""
    stance, category = query_sql.stance(query.stance), query_sql.category(query.category)
    wanted = [stance & category]
    wanted += [category & query_sql.stance(word) for word in STANCES]
    wanted += [stance & query_sql.category(word) for word in CATEGORIES]
    terms = query_sql.terms(query, now)
    sums = ", ".join(f"sum({condition.sql})" for condition in wanted)
    rows = db.execute(
        f"SELECT ranked, score, {sums} FROM site INDEXED BY site_rank WHERE {terms.sql} GROUP BY ranked, score",
        (*(value for condition in wanted for value in condition.values), *terms.values),
    )
    scores = ([0] * 101, [0] * 101)
    totals = [0] * (len(STANCES) + len(CATEGORIES))
    for ranked, score, chosen, *others in rows:
        scores[ranked][score] = chosen
        if ranked:
            totals = [total + count for total, count in zip(totals, others, strict=True)]
    facets = Facets(
        stance=dict(zip(STANCES, totals, strict=False)),
        category=dict(zip(CATEGORIES, totals[len(STANCES) :], strict=True)),
    )
    return Sweep(scores, facets)
