"""The lists of a query: which way of reading them is quick for how many hosts, and the slices in which they are read.

A query that no set of hosts answers is counted by one pass over the rank index. It happens inside SQLite, which lets
other threads run meanwhile and can be stopped at any row.

Somebody else's index lies in a private database: every question about it has the answer that our own index would give.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from typing import Any, Final, NamedTuple

import msgspec

from aui_tui.errors import BadValue, RecordError, Unavailable
from aui_tui.index import bitmaps, blobs, columns
from aui_tui.index.bitmaps import Selection
from aui_tui.index.blobs import unpack_row
from aui_tui.index.columns import Columns, Condition, columns_of, columns_of_summary, method_of
from aui_tui.index.database import schema, statements
from aui_tui.model.card import ReportCard, SiteSummary, epoch_ms, stamp
from aui_tui.model.query import Query, leaves
from aui_tui.model.view import Facets, IndexView, Overview, Row
from aui_tui.model.vocabulary import CATEGORIES, STANCES
from aui_tui.text import clean

Reader = Callable[[], sqlite3.Connection]

ROWS: Final = (
    "SELECT site.id, host, score, ranked, change, scans, CAST(line AS BLOB) FROM site JOIN line ON line.id = site.id "
    "WHERE site.id IN (SELECT value FROM json_each(?))"
)


class IdWindow:
    """The hosts with the given ids, in their order. Rows of hosts that have gone since are left out."""

    def __init__(self, reader: Reader, ids: Sequence[int], ranks: Sequence[int]) -> None:
        self._reader = reader
        self._ids = ids
        self._ranks = ranks

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, span: slice, /) -> Sequence[Row]:
        return rows(self._reader(), self._ids[span], self._ranks)

    def position(self, identity: int) -> int:
        """Return the place of an id, -1 when it is absent."""
        try:
            return self._ids.index(identity)
        except ValueError:
            return -1


class RankWindow:
    """The hosts of one list that satisfy ``condition``, highest score first, or lowest first when ``descending``.

    ``scores`` says how many there are of each score from 0 to 100: with it a slice is found without counting rows.
    """

    def __init__(
        self,
        reader: Reader,
        condition: Condition,
        *,
        ranked: int,
        scores: Sequence[int],
        ranks: Sequence[int],
        descending: bool = False,
    ) -> None:
        self._reader = reader
        self._condition = condition
        self._ranked = ranked
        self._ranks = ranks
        self._descending = descending
        self._scores = range(101) if descending else range(100, -1, -1)
        self._ends = list(accumulate(scores[score] for score in self._scores))
        """Rows up to and including each score, in the order of the list."""

    def __len__(self) -> int:
        return self._ends[-1]

    def __getitem__(self, span: slice, /) -> Sequence[Row]:
        start, stop, step = span.indices(len(self))
        if step < 0:
            return list(reversed(self[stop + 1 : start + 1]))[::-step]
        if stop <= start:
            return []
        group = bisect_right(self._ends, start)
        skip = start - (self._ends[group - 1] if group else 0)
        compare, order = (">=", "score, host DESC") if self._descending else ("<=", "score DESC, host")
        reader = self._reader()
        found = _guarded(
            lambda: reader.execute(
                f"SELECT id FROM site INDEXED BY site_rank WHERE ranked = ? AND score {compare} ? "
                f"AND {self._condition.sql} ORDER BY {order} LIMIT ? OFFSET ?",
                (self._ranked, self._scores[group], *self._condition.values, stop - start, skip),
            ).fetchall()
        )
        return rows(reader, [row[0] for row in found][::step], self._ranks)

    def position(self, identity: int) -> int:
        """Return the place of an id, -1 when it is absent."""
        reader = self._reader()
        values = (identity, self._ranked, *self._condition.values)
        host = reader.execute(
            f"SELECT score, host FROM site WHERE id = ? AND ranked = ? AND {self._condition.sql}", values
        ).fetchone()
        if host is None:
            return -1
        group = self._scores.index(host[0])
        compare = ">" if self._descending else "<"
        before: int = reader.execute(
            f"SELECT count(*) FROM site INDEXED BY site_rank WHERE ranked = ? AND score = ? AND host {compare} ? "
            f"AND {self._condition.sql}",
            (self._ranked, *host, *self._condition.values),
        ).fetchone()[0]
        return before + (self._ends[group - 1] if group else 0)


def position(view: IndexView, identity: int) -> int:
    """Return the place of the host with this id in its list of ``view``, -1 when it is absent."""
    windows = (view.ranked, view.unreachable)
    return max(window.position(identity) for window in windows if isinstance(window, IdWindow | RankWindow))


def rows(reader: sqlite3.Connection, ids: Sequence[int], ranks: Sequence[int]) -> list[Row]:
    """Return the list rows of ``ids`` in their order; ``ranks`` gives the competition rank of each score.

    Hosts that are gone and lines that are damaged are left out.
    """
    if not ids:
        return []
    found = {}
    for identity, host, score, ranked, change, scans, line in _guarded(
        lambda: reader.execute(ROWS, (json.dumps(list(ids)),)).fetchall()
    ):
        rank = ranks[score] if ranked else 0
        try:
            found[identity] = unpack_row(host, score, line, rank=rank, change=change, scans=scans)
        except RecordError:
            continue
    return [found[identity] for identity in ids if identity in found]


def ids(found: Iterable[tuple[int]]) -> array[int]:
    """Return the ids of a cursor over one column."""
    return array("q", (row[0] for row in found))


def _guarded(read: Callable[[], list[tuple[Any, ...]]]) -> list[tuple[Any, ...]]:
    try:
        return read()
    except sqlite3.Error as error:
        raise Unavailable(f"The index could not be read: {clean(str(error), 120)}.") from None


FEW: Final = 5000
"""Up to this many hosts are sorted at once; longer lists in rank order are read from the index."""

KNOWN: Final = 1 << 32
"""Added to a change, so that zero says that there is none."""
RANK_ORDERS: Final = frozenset({"rank", "score"})

LONG: Final = 20_000
"""From this many hosts on, the first rows are shown before the figures."""
FIRST: Final = 60
"""Rows of a first_page: more than a tall terminal shows."""
PROBE: Final = 20_000
"""Rows in which a first_page looks for them where the text index may be quicker."""
RARE: Final = 1000
"""Fewer hosts than this are found more quickly by the text index than by looking through the list for them."""


def index_view(
    db: sqlite3.Connection,
    reader: Reader,
    query: Query,
    now: float,
    sets: dict[int, int] | None = None,
    *,
    trigrams: bool = True,
) -> IndexView:
    """Return the lists of ``query`` from ``db``, which is inside a read transaction; slices come from ``reader``.

    ``sets`` keeps tagged sets for the next query to the same state of the index. ``trigrams``: there is an index of
    text, else free text is looked for host by host.
    """
    newest: int | None = db.execute("SELECT max(at) FROM site").fetchone()[0]
    ranks = competition_ranks(db)
    sets = {} if sets is None else sets
    found: Selection | Sweep | None = None
    if query.terms:
        found = sweep(db, query, now) if needed(query, trigrams=trigrams) else Selection(db, query, now, sets)
    windows = [_window(db, reader, query, now, ranked, ranks, found, sets) for ranked in (1, 0)]
    return IndexView(
        query=query,
        scanned_at=stamp(now if newest is None else newest / 1000),
        ranked=windows[0],
        unreachable=windows[1],
        facets=_facets(db, query) if found is None else found.facets if isinstance(found, Sweep) else found.facets(),
    )


def first_page(db: sqlite3.Connection, reader: Reader, query: Query, now: float) -> IndexView | None:
    """Return the first rows of the lists of ``query``, None where ``index_view`` has all of them as quickly."""
    slow = any(term.field in ("text", "fresh") for term in leaves(query.terms))
    if not slow or query.sort not in RANK_ORDERS or _hosts(db) < LONG:
        return None
    condition = columns.conditions(query, now)
    order = "score, host DESC" if query.descending else "score DESC, host"
    more = ", change" if any(term.field == "change" for term in leaves(query.terms)) else ""
    probe = -1 if needed(query) else PROBE
    if probe > 0 and _rare(db, query):
        return None
    ranks = competition_ranks(db)
    windows = []
    for ranked in (1, 0):
        rows = db.execute(
            f"SELECT id FROM (SELECT id, host, name, category, stance, score, bits, edge, at{more} FROM site "
            f"INDEXED BY site_rank WHERE ranked = ? ORDER BY {order} LIMIT ?) WHERE {condition.sql} LIMIT ?",
            (ranked, probe, *condition.values, FIRST),
        )
        windows.append(IdWindow(reader, ids(rows), ranks))
        if ranked and probe > 0 and len(windows[0]) < FIRST:
            return None
    none_yet = Facets(stance=dict.fromkeys(STANCES, 0), category=dict.fromkeys(CATEGORIES, 0))
    newest: int = db.execute("SELECT max(at) FROM site").fetchone()[0]
    return IndexView(
        query=query,
        scanned_at=stamp(newest / 1000),
        ranked=windows[0],
        unreachable=windows[1],
        facets=none_yet,
        counting=True,
    )


def _rare(db: sqlite3.Connection, query: Query) -> bool:
    """Whether the text index names fewer than RARE hosts for a word that every host of ``query`` must have."""
    counted = "SELECT count(*) FROM (SELECT rowid FROM site_text WHERE site_text MATCH ? LIMIT ?)"
    words = [term.value for term in query.terms if term.field == "text" and not term.negated]
    return any(db.execute(counted, (columns.phrase(word), RARE)).fetchone()[0] < RARE for word in words)


def _hosts(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT total(hosts) FROM tally").fetchone()[0])


def competition_ranks(db: sqlite3.Connection) -> list[int]:
    """Return, for each score from 0 to 100, the competition rank of a host with it in the whole ranked list."""
    hosts = _per_score(db, Condition("ranked = 1"))
    above = list(accumulate(reversed(hosts), initial=0))
    return [1 + above[100 - score] for score in range(101)]


def _window(
    db: sqlite3.Connection,
    reader: Reader,
    query: Query,
    now: float,
    ranked: int,
    ranks: Sequence[int],
    found: Selection | Sweep | None,
    sets: dict[int, int],
) -> IdWindow | RankWindow:
    condition = columns.conditions(query, now)
    listed = Condition("ranked = ?", (ranked,))
    order = columns.order(query)
    if isinstance(found, Selection):
        chosen = found.chosen(ranked)
        if chosen.bit_count() <= FEW:
            return _few(db, reader, chosen, order, ranks)
        scores = found.per_score(chosen)
    elif found is not None:
        scores = found.scores[ranked]
    else:
        scores = _per_score(db, listed & columns.category(query.category) & columns.stance(query.stance))
        if sum(scores) <= FEW and (query.category or query.stance):
            return _few(db, reader, Selection(db, query, now, sets).chosen(ranked), order, ranks)
    few = isinstance(found, Sweep) and sum(scores) <= FEW
    if query.sort in RANK_ORDERS and not few:
        return RankWindow(reader, condition, ranked=ranked, scores=scores, ranks=ranks, descending=query.descending)
    if few and not sum(scores):
        return IdWindow(reader, ids(()), ranks)
    wanted = listed & condition
    if query.sort == "change" and ranked and not few:
        return IdWindow(reader, _by_change(db, wanted, descending=query.descending), ranks)
    rows = db.execute(f"SELECT id FROM site WHERE {wanted.sql} ORDER BY {order}", wanted.values)
    return IdWindow(reader, ids(rows), ranks)


def _by_change(db: sqlite3.Connection, wanted: Condition, *, descending: bool) -> Sequence[int]:
    """Return the ids of ``wanted`` by change, then rank, those without a change last.

    No index holds the change. The hosts are read in rank order, which is at hand, and laid on one pile a change: at a
    million hosts a third of the time that SQLite takes to sort them.
    """
    newest: int = db.execute("SELECT ifnull(max(id), 0) FROM site").fetchone()[0]
    changes = array("q", bytes(8 * (newest + 1)))
    for identity, change in db.execute("SELECT id, change FROM site NOT INDEXED WHERE change IS NOT NULL"):
        changes[identity] = KNOWN + change
    order = "score, host DESC" if descending else "score DESC, host"
    piles: dict[int, array[int]] = {}
    for (identity,) in db.execute(
        f"SELECT id FROM site INDEXED BY site_rank WHERE {wanted.sql} ORDER BY {order}", wanted.values
    ):
        piles.setdefault(changes[identity], array("q")).append(identity)
    unknown = piles.pop(0, array("q"))
    found = array("q")
    for change in sorted(piles, reverse=not descending):
        found.extend(piles[change])
    return found + unknown


def _few(db: sqlite3.Connection, reader: Reader, found: int, order: str, ranks: Sequence[int]) -> IdWindow:
    wanted = json.dumps(list(bitmaps.members(found)))
    rows = db.execute(f"SELECT id FROM site WHERE id IN (SELECT value FROM json_each(?)) ORDER BY {order}", (wanted,))
    return IdWindow(reader, ids(rows), ranks)


def _counted(db: sqlite3.Connection, column: str, condition: Condition) -> dict[int, int]:
    """Return the hosts of ``condition``, one on the columns of the table ``tally``, by ``column``."""
    sql = f"SELECT {column}, sum(hosts) FROM tally WHERE {condition.sql} GROUP BY {column}"
    return dict(db.execute(sql, condition.values).fetchall())


def _per_score(db: sqlite3.Connection, condition: Condition) -> list[int]:
    found = _counted(db, "score", condition)
    return [found.get(score, 0) for score in range(101)]


def _facets(db: sqlite3.Connection, query: Query) -> Facets:
    """Return the facets of a query without terms."""
    ranked = Condition("ranked = 1")
    by_stance = _counted(db, "stance", ranked & columns.category(query.category))
    by_category = _counted(db, "category", ranked & columns.stance(query.stance))
    return Facets(
        stance={word: by_stance.get(columns.STANCE[word], 0) for word in STANCES},
        category={word: by_category.get(columns.CATEGORY[word], 0) for word in CATEGORIES},
    )


class Sweep(NamedTuple):
    """Hosts per list (unreachable, ranked) and score from 0 to 100, and the facets of the ranked list."""

    scores: tuple[list[int], list[int]]
    facets: Facets


def needed(query: Query, *, trigrams: bool = True) -> bool:
    """Say whether a term of ``query`` has to be looked up host by host; ``trigrams``: there is an index of text."""
    shortest = columns.TRIGRAM if trigrams else sys.maxsize
    return any(
        term.field == "fresh" or (term.field == "text" and len(term.value) < shortest) for term in leaves(query.terms)
    )


def sweep(db: sqlite3.Connection, query: Query, now: float) -> Sweep:
    """Return the figures of ``query`` at ``now`` (epoch seconds)."""
    stance, category = columns.stance(query.stance), columns.category(query.category)
    wanted = [stance & category]
    wanted += [category & columns.stance(word) for word in STANCES]
    wanted += [stance & columns.category(word) for word in CATEGORIES]
    terms = columns.terms(query, now)
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


CACHED: Final = 16 * 1024
"""KiB of pages that are held in memory; the rest is in a file without a name that ends with this process."""

NEEDS_CARD: Final = frozenset({"has", "signal", "fix", "contradiction", "change", "edge", "method"})
"""Terms that a summary alone (specification 2.1) cannot answer."""

SiteRow = tuple[int, str, str, int, int, int, int, int, int, int]
"""Id, host, name, list, category, stance, score, bits, edge, time: the columns of the table ``site``."""


@contextmanager
def explained() -> Iterator[None]:
    """Raise Unavailable with a sentence for what SQLite reports, such as a full disk."""
    try:
        yield
    except sqlite3.Error as error:
        raise Unavailable(f"The list cannot be kept in a temporary file: {clean(str(error), 120)}.") from None


def check_answerable(query: Query) -> None:
    """Raise BadValue when a term of ``query`` needs more than summaries."""
    for term in leaves(query.terms):
        if term.field in NEEDS_CARD:
            sentence = f"This source lists summaries only, so the query term {term.field}: cannot be answered."
            raise BadValue(sentence)


class Listing:
    """Rows of an index, one for each host: ``add`` them, then ``finish``, then ask. Every step may raise Unavailable.

    Memory does not grow with the rows. Cards answer every term of the query language; where only summaries are known,
    a term about a card raises BadValue.
    """

    def __init__(self) -> None:
        self._db = sqlite3.connect("", isolation_level=None, check_same_thread=False, cached_statements=256)
        for setting in ("journal_mode = OFF", "synchronous = OFF", "temp_store = 1", f"cache_size = -{CACHED}"):
            self._db.execute(f"PRAGMA {setting}")
        for statement in statements(schema()):
            self._db.execute(statement)
        self._indexes = self._bare()
        self._db.execute("BEGIN")
        self._sites: list[SiteRow] = []
        self._lines: list[tuple[int, bytes]] = []
        self._edges: dict[str, int] = {}
        self._next = 1
        self._sets: dict[int, int] = {}
        self._with_cards = False
        self.size = 0
        """Rows of both lists."""
        self.repeated = 0
        """Rows that were left out because their host had one already."""
        self.scanned_at = ""

    def add(self, summary: SiteSummary, *, ranked: bool) -> None:
        """Add a row of one of the two lists; the first row of a host counts."""
        method = method_of(summary)
        line = blobs.pack_summary(summary, method)
        self._take(summary.host, summary.scanned_at, columns_of_summary(summary, method, ranked=ranked), line)

    def add_card(self, card: ReportCard) -> None:
        """Add the row of a card to the list that it belongs to."""
        self._with_cards = True
        self._take(card.host, card.scanned_at, columns_of(card), blobs.pack_line(card))

    @explained()
    def finish(self, scanned_at: str = "") -> Listing:
        """Make the list ready for questions; ``scanned_at`` is the index's own time, else that of its newest row."""
        self._flush()
        db = self._db
        db.execute(
            "INSERT INTO tally (ranked, category, stance, score, hosts) "
            "SELECT ranked, category, stance, score, count(*) FROM site GROUP BY 1, 2, 3, 4"
        )
        for statement in self._indexes:
            db.execute(statement)
        db.execute("COMMIT")
        db.execute("PRAGMA query_only = 1")
        self.size, newest = db.execute("SELECT count(*), max(at) FROM site").fetchone()
        self.scanned_at = scanned_at or ("" if newest is None else stamp(newest / 1000))
        return self

    @explained()
    def view(self, query: Query, *, now: float, notice: str = "") -> IndexView:
        """Return the answer to ``query``. Raises BadValue for a term that this source cannot answer."""
        self._check(query)
        view = index_view(self._db, lambda: self._db, query, now, self._sets, trigrams=False)
        return msgspec.structs.replace(view, scanned_at=self.scanned_at or view.scanned_at, notice=notice)

    @explained()
    def overview(self, query: Query, *, now: float) -> Overview:
        """Return figures over the ranked rows of ``query``; what only cards hold is empty where none are known."""
        self._check(query)
        figures = Selection(self._db, query, now, self._sets, trigrams=False).overview()
        if self._with_cards:
            return figures
        return msgspec.structs.replace(figures, failing={}, edges={}, disagree={}, refusing={})

    @explained()
    def position(self, host: str, query: Query, *, now: float) -> int:
        """Return the index of ``host`` in its list of ``query``, -1 when it is absent."""
        found = self._db.execute("SELECT id FROM site WHERE host = ?", (host,)).fetchone()
        if found is None:
            return -1
        return position(self.view(query, now=now), found[0])

    def _bare(self) -> list[str]:
        """Drop what makes many rows slow to add; return the SQL of the indexes, to be made again at the end."""
        db = self._db
        named = db.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
        for kind, name, _ in named:
            if kind in ("index", "trigger"):
                db.execute(f"DROP {kind} {name}")
        db.execute("DROP TABLE site_text")
        return [sql for kind, _, sql in named if kind == "index"]

    def _check(self, query: Query) -> None:
        if not self._with_cards:
            check_answerable(query)

    def _take(self, host: str, scanned_at: str, found: Columns, line: bytes) -> None:
        identity, at = self._next, epoch_ms(scanned_at)
        edge = self._edge(found.edge)
        self._sites.append(
            (identity, host, found.name, found.ranked, found.category, found.stance, found.score, found.bits, edge, at)
        )
        self._lines.append((identity, line))
        self._next += 1
        if not self._next % bitmaps.CHUNK:
            self._flush()

    def _edge(self, text: str) -> int:
        known = self._edges.get(text)
        if known is None:
            known = self._edges[text] = len(self._edges) + 1
            self._db.execute("INSERT INTO edge (id, text) VALUES (?, ?)", (known, text))
        return known

    @explained()
    def _flush(self) -> None:
        sites, lines = self._sites, self._lines
        self._sites, self._lines = [], []
        if not sites:
            return
        first, last = sites[0][0], sites[-1][0]
        before = self._db.total_changes
        self._db.executemany(
            "INSERT OR IGNORE INTO site "
            "(id, host, name, ranked, category, stance, score, bits, edge, at, change, scans) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, 1)",
            sites,
        )
        missing = len(sites) - (self._db.total_changes - before)
        if missing:
            self.repeated += missing
            found = self._db.execute("SELECT id FROM site WHERE id BETWEEN ? AND ?", (first, last))
            kept = {row[0] for row in found}
            sites = [site for site in sites if site[0] in kept]
            lines = [line for line in lines if line[0] in kept]
        self._db.executemany("INSERT INTO line (id, line) VALUES (?, ?)", lines)
        bitmaps.write_chunk(self._db, first >> bitmaps.BITS, _members(sites))


def _members(sites: Iterable[SiteRow]) -> Iterator[tuple[Iterable[int], list[int]]]:
    """Yield ids with the tags that they have in common."""
    by_bits: defaultdict[int, list[int]] = defaultdict(list)
    by_choice: defaultdict[tuple[int, int, int, int], list[int]] = defaultdict(list)
    by_score: defaultdict[int, list[int]] = defaultdict(list)
    for identity, _, _, ranked, category, stance, score, bits, edge, _ in sites:
        by_bits[bits].append(identity)
        by_choice[ranked, category, stance, edge].append(identity)
        by_score[score].append(identity)
    for bits, ids in by_bits.items():
        yield bitmaps.tags_of_bits(bits), ids
    for (ranked, category, stance, edge), ids in by_choice.items():
        yield (bitmaps.RANKED + ranked, bitmaps.CATEGORY + category, bitmaps.STANCE + stance, bitmaps.EDGE + edge), ids
    for score, ids in by_score.items():
        yield (bitmaps.SCORE + score,), ids
