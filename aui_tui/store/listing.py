"""Somebody else's index in a private database: every question about it has the answer that our own index would give."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

import msgspec

from aui_tui.errors import Unavailable
from aui_tui.records.card import ReportCard, SiteSummary
from aui_tui.records.match import check_answerable
from aui_tui.records.query import Query
from aui_tui.records.times import epoch_ms, stamp
from aui_tui.records.view import IndexView, Overview
from aui_tui.store import bitmaps, blobs
from aui_tui.store.bitmaps import Selection
from aui_tui.store.columns import Columns, columns_of, columns_of_summary, method_of
from aui_tui.store.database import schema, statements
from aui_tui.store.lists import IdWindow, RankWindow, index_view
from aui_tui.text import clean

CACHED: Final = 16 * 1024
"""KiB of pages that are held in memory; the rest lies in a file that has no name and goes with this process."""

SiteRow = tuple[int, str, str, int, int, int, int, int, int, int]
"""Id, host, name, list, category, stance, score, bits, edge, time: the columns of the table ``site``."""


@contextmanager
def explained() -> Iterator[None]:
    """Raise Unavailable with a sentence for what SQLite reports, such as a full disk."""
    try:
        yield
    except sqlite3.Error as error:
        raise Unavailable(f"The list cannot be kept in a temporary file: {clean(str(error), 120)}.") from None


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
        return figures if self._with_cards else msgspec.structs.replace(figures, failing={}, edges={})

    @explained()
    def position(self, host: str, query: Query, *, now: float) -> int:
        """Return the index of ``host`` in its list of ``query``, -1 when it is absent."""
        found = self._db.execute("SELECT id FROM site WHERE host = ?", (host,)).fetchone()
        if found is None:
            return -1
        view = self.view(query, now=now)
        return max(
            w.position(found[0]) for w in (view.ranked, view.unreachable) if isinstance(w, IdWindow | RankWindow)
        )

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
