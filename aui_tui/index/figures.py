"""Figures over the hosts of a query: counts, what changed since a day, who got in week by week."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date, timedelta
from typing import Any, Final

import msgspec

from aui_tui.errors import BadValue, RecordError
from aui_tui.index import compression
from aui_tui.index.lists import filters, narrowed
from aui_tui.index.packed import verdicts_of
from aui_tui.index.rows import WORD_OF
from aui_tui.index.schema import AFTER, BEFORE, COMPARABLE, ROUTE
from aui_tui.model.decoding import from_json, to_json
from aui_tui.model.fates import TOLD_NO, UNCLEAR, gets_in, word_of
from aui_tui.model.overview import Move, Moves, Overview, decades
from aui_tui.model.points import percent
from aui_tui.model.query import Query
from aui_tui.model.surfaces import SLUGS, SURFACES
from aui_tui.model.terms import Term, all_of
from aui_tui.model.times import epoch_ms
from aui_tui.model.verdicts import AWAY
from aui_tui.model.vocabulary import CATEGORIES, FIXES, GRADES, LIVE_TOTAL, REFUSED, STANCES
from aui_tui.text import clean

EDGES: Final = 24
"""Edges that an overview counts at most."""
WEEKS: Final = 12
COMPARED: Final = 20_000
"""Hosts whose verdicts of an earlier scan are read at most, some forty microseconds each."""
PAIRS: Final = f"""
    SELECT site.host, {BEFORE}, {AFTER}, nullif(past.id, now.id), words
    FROM (SELECT id, host, at, words FROM site WHERE {{condition}}) AS site
    JOIN scan AS now ON now.site = site.id AND now.at = site.at
    JOIN scan AS past ON past.site = site.id
    AND past.at = (SELECT max(at) FROM scan WHERE site = site.id AND at < coalesce(?, site.at) AND dead = 0
    AND aside = now.aside)
    WHERE {COMPARABLE}
"""
"""Hosts that had a scan before a time, else one before their last: comparable scores then and now, the id of the scan
then (none where it is the last one), and the verdicts of now."""
LIVE: Final = tuple(surface.slug for surface in SURFACES if surface.live)
_KINDS: Final = ("category", "stance", "substr(grade, 1, 1)", "lower(edge)", "words")
_FAULTS: Final = ("CAST(fixes AS TEXT)", "CAST(contradictions AS TEXT)", "(change > 0) - (change < 0)", "words")
"""The groups in which an overview counts hosts: a hundred hosts share one. SQLite would sort all hosts for that."""


def overview(db: sqlite3.Connection, query: Query) -> Overview:
    """Return figures over the ranked rows of ``query``."""
    table, terms = narrowed(db, query)
    where = all_of((*filters(query), terms))
    lists = f"SELECT count(*) FROM {table} WHERE ranked = 0 AND {where.sql}"
    unreachable: int = db.execute(lists, where.values).fetchone()[0]
    where = all_of((Term("ranked = 1"), where))

    def counted(*columns: str) -> Counter[Any]:
        sql = f"SELECT {', '.join(columns)} FROM {table} WHERE {where.sql}"
        return Counter(db.execute(sql, where.values))

    scores = counted("score")
    return Overview(
        hosts=scores.total(),
        scores=decades([scores[score,] for score in range(101)]),
        unreachable=unreachable,
        **_by_kind(counted(*_KINDS)),
        **_by_fault(counted(*_FAULTS)),
    )


def moves(db: sqlite3.Connection, query: Query, since: str, most: int) -> Moves:
    """Return how the ranked hosts of ``query`` changed since the day ``since``, ``most`` of each kind named.

    Each is compared with its last scan up to the end of that day (UTC), without one with its scan before. Raises
    BadValue for what is not a day.
    """
    try:
        day = date.fromisoformat(since) if since else None
    except ValueError:
        raise BadValue(f"A day is written as 2026-11-15, not {clean(since, 40)!r}.") from None
    end = None if day is None else epoch_ms((day + timedelta(days=1)).isoformat())
    compared: list[Move] = []
    now_by_scan: dict[int, str] = {}
    where = all_of((Term("ranked"), *filters(query), *query.terms))
    hosts: int = db.execute(f"SELECT count(*) FROM site WHERE {where.sql}", where.values).fetchone()[0]
    sql = PAIRS.format(condition=where.sql)
    for host, before, after, past, letters in db.execute(sql, (*where.values, end)):
        compared.append(Move(host, before, after))
        if past is not None:
            now_by_scan[past] = letters
    agents = _turned(db, now_by_scan) if len(now_by_scan) <= COMPARED else {}
    order = sorted(compared, key=lambda move: (move.before - move.after, move.host))
    risen = sum(move.after > move.before for move in compared)
    fallen = sum(move.after < move.before for move in compared)
    return Moves(
        risen=risen,
        fallen=fallen,
        same=len(compared) - risen - fallen,
        unknown=hosts - len(compared),
        up=tuple(order[: min(most, risen)]),
        down=tuple(order[::-1][: min(most, fallen)]),
        agents=agents,
    )


def weeks(db: sqlite3.Connection, query: Query, now: float) -> dict[str, tuple[int, ...]]:
    """Return ``Moves.weeks`` for the ranked hosts of ``query``; empty where more than COMPARED scans count."""
    weeks_of: defaultdict[int, list[int]] = defaultdict(list)
    where = all_of((Term("ranked"), *filters(query), *query.terms))
    sql = f"SELECT id FROM site WHERE {where.sql} LIMIT {COMPARED + 1}"
    sites = [row[0] for row in db.execute(sql, where.values)]
    if len(sites) > COMPARED:
        return {}
    for week in range(WEEKS):
        end = round((now - (WEEKS - 1 - week) * 7 * 86400) * 1000)
        for scan, _ in db.execute(
            "SELECT id, max(at) FROM scan WHERE site IN (SELECT value FROM json_each(?)) AND at <= ? AND dead = 0 "
            f"AND {ROUTE} GROUP BY site",
            (to_json(sites), end),
        ):
            weeks_of[scan].append(week)
    if len(weeks_of) > COMPARED:
        return {}
    measured = {slug: [0] * WEEKS for slug in SLUGS}
    inside = {slug: [0] * WEEKS for slug in SLUGS}
    for scan, words in _words(db, weeks_of):
        for surface, word in zip(SURFACES, words, strict=False):
            slug, is_in = surface.slug, gets_in(word, surface.source)
            for week in weeks_of[scan]:
                measured[slug][week] += is_in is not None
                inside[slug][week] += is_in is True
    return {
        slug: tuple(percent(number, of) if of else -1 for number, of in zip(inside[slug], measured[slug], strict=True))
        for slug in SLUGS
    }


def _by_kind(kinds: Mapping[Any, int]) -> dict[str, Any]:
    """Return the figures of an overview that follow from category, stance, grade, edge and verdicts of hosts."""
    grades, stances = dict.fromkeys(GRADES, 0), {word: dict.fromkeys(STANCES, 0) for word in CATEGORIES}
    verdicts: dict[str, Counter[str]] = {slug: Counter() for slug in SLUGS}
    shut = {slug: {word: [0, 0] for word in CATEGORIES} for slug in SLUGS}
    edges, refusing = Counter[str](), Counter[str]()
    for (category, stance, grade, edge, letters), number in kinds.items():
        edges[edge] += number
        refusing[edge] += number * any(word in AWAY for word in map(WORD_OF.get, letters))
        if grade in grades:
            grades[grade] += number
        if stance in stances.get(category, ()):
            stances[category][stance] += number
        for surface, letter in zip(SURFACES, letters, strict=False):
            slug, word = surface.slug, WORD_OF.get(letter, UNCLEAR)
            inside = gets_in(word, surface.source)
            verdicts[slug][word] += number
            if category in stances and inside is not None:
                shut[slug][category][0] += number * (not inside)
                shut[slug][category][1] += number
    most = dict(sorted(edges.items(), key=lambda pair: (-pair[1], pair[0]))[:EDGES])
    return {
        "edges": most,
        "refusing": {edge: refusing[edge] for edge in most if refusing[edge]},
        "grades": grades,
        "stances": stances,
        "verdicts": {slug: dict(counts) for slug, counts in verdicts.items()},
        "shut": {slug: {word: (out, of) for word, (out, of) in counts.items()} for slug, counts in shut.items()},
    }


def _by_fault(faults: Mapping[Any, int]) -> dict[str, Any]:
    """Return the figures of an overview on fixes, contradictions and changes of groups of hosts."""
    failing, disagree = dict.fromkeys(FIXES, 0), {slug: [0, 0] for slug in LIVE}
    contradicting = risen = fallen = compared = 0
    for (fixes, contradictions, change, letters), number in faults.items():
        for fix in failing:
            failing[fix] += number * (f",{fix}," in fixes)
        contradicting += number * bool(contradictions)
        risen += number * (change == 1)
        fallen += number * (change == -1)
        compared += number * (change is not None)
        for surface, letter in zip(SURFACES, letters, strict=False):
            if surface.live:
                word = WORD_OF.get(letter, UNCLEAR)
                disagree[surface.slug][0] += number * (",out," in contradictions and word in AWAY)
                disagree[surface.slug][1] += number * (",in," in contradictions and word == TOLD_NO)
    return {
        "failing": failing,
        "contradictions": contradicting,
        "risen": risen,
        "fallen": fallen,
        "compared": compared,
        "disagree": {slug: (out, into) for slug, (out, into) in disagree.items()},
    }


class _Ledger(msgspec.Struct, frozen=True):
    conclusive: int = 0


class _Access(msgspec.Struct, frozen=True):
    status: int = 0


class _Matrix(msgspec.Struct):
    """What of a card says who gets in."""

    matrix: dict[str, str] = {}
    agent_access: dict[str, _Access] = {}
    ledger: _Ledger = _Ledger()
    task_runs: list[msgspec.Raw] = []

    def words(self) -> Iterator[str]:
        """Yield what each assistant got, as far as these parts tell."""
        statuses = dict(zip(LIVE, (access.status for access in self.agent_access.values()), strict=False))
        for surface, verdict in zip(SURFACES, verdicts_of(self.matrix), strict=True):
            word = word_of(verdict, surface.source, ran=bool(self.task_runs))
            dropped = self.ledger.conclusive == LIVE_TOTAL and statuses.get(surface.slug) == 0
            yield REFUSED if word == UNCLEAR and dropped else word


def _words(db: sqlite3.Connection, scans: Iterable[int]) -> Iterator[tuple[int, list[str]]]:
    """Yield ``scans`` with the words of their cards; damaged cards and those without one are left out."""
    sql = "SELECT id, CAST(card AS BLOB) FROM scan WHERE id IN (SELECT value FROM json_each(?)) AND card IS NOT NULL"
    for scan, blob in db.execute(sql, (to_json([*scans]),)):
        with suppress(RecordError, msgspec.MsgspecError):
            yield scan, [*from_json(compression.inflate(blob, compression.CARD), _Matrix).words()]


def _turned(db: sqlite3.Connection, now: Mapping[int, str]) -> dict[str, tuple[int, int]]:
    """Return by surface how many hosts let it in now and did not, and the other way round.

    ``now`` gives for each earlier scan the letters of its host today.
    """
    let, shut = Counter[str](), Counter[str]()
    for scan, then in _words(db, now):
        for surface, before, letter in zip(SURFACES, then, now[scan], strict=False):
            was = gets_in(before, surface.source)
            is_in = gets_in(WORD_OF.get(letter, UNCLEAR), surface.source)
            let[surface.slug] += was is False and is_in is True
            shut[surface.slug] += was is True and is_in is False
    return {slug: (let[slug], shut[slug]) for slug in SLUGS}
