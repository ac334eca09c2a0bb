"""The index on disk: the latest card of every host, every kept scan, and lists over them."""

from __future__ import annotations

import os
import sqlite3
import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from aui_tui.errors import NeverScanned, NoCard, RecordError
from aui_tui.index.database import Database, code_of
from aui_tui.index.lists import (
    FILLED,
    NO_FACETS,
    PAST,
    RARE,
    THIN,
    IdWindow,
    facets_of,
    filters,
    find_and_count,
    find_first,
    find_hosts,
    read_rows,
    unused,
)
from aui_tui.index.rows import COLUMNS, search_text
from aui_tui.index.schema import AFTER, BEFORE, COMPARABLE, ROUTE
from aui_tui.model.decoding import to_json
from aui_tui.model.listing import Facets, IndexView, Row
from aui_tui.model.methods import REVISION
from aui_tui.model.times import epoch_ms, stamp
from aui_tui.model.vocabulary import CATEGORIES, STANCES

if TYPE_CHECKING:
    from aui_tui.index.packed import Packed
    from aui_tui.model.card import ReportCard
    from aui_tui.model.observations import Observations
    from aui_tui.model.overview import Moves, Overview
    from aui_tui.model.query import Query
    from aui_tui.model.report import HistoryPoint, HostReport
    from aui_tui.model.visits import Visits

DAY_MS: Final = 86_400_000
WEEK_MS: Final = 7 * DAY_MS
KEEP_ALL_MS: Final = 30 * DAY_MS
"""Every scan of the last 30 days is kept; of older ones the last of each week."""
DEAD_AFTER_MS: Final = DAY_MS
"""A good card stays the latest until scans without any answer have gone on for this long."""
INCOMPLETE: Final = 2
"""In the column ``dead`` of ``scan``: the scan was stopped before its end. 1: it got no answer at all."""
LONG: Final = 20_000
"""From this many hosts on, the first rows of a query are shown before the figures."""
FIRST: Final = 60
"""Rows of a first page: more than a tall terminal shows."""
SOON: Final = 0.06
"""Seconds after which the rows that were found until then are shown."""
REGRADED: Final = 20
"""Scans that are graded again in one transaction."""
SETTLED: Final = 1.5
"""Seconds after a write from which its time identifies the state of the index."""

TEXT_DELETE: Final = "INSERT INTO site_text (site_text, rowid, hay) VALUES ('delete', ?, ?)"
CHANGED: Final = ", ".join(f"{column} = excluded.{column}" for column in COLUMNS if column != "host")
PUT: Final = (
    f"INSERT INTO site ({', '.join(COLUMNS)}, scans) VALUES (:{', :'.join(COLUMNS)}, 1) "
    f"ON CONFLICT (host) DO UPDATE SET {CHANGED} RETURNING id"
)
KEEP: Final = (
    "INSERT OR REPLACE INTO scan "
    "(site, at, score, grade, stance, unreachable, dead, method, card, observations, plain, aside) "
    "VALUES (:site, :at, :score, :grade, :stance, :unreachable, :dead, :method, :card, :observations, :plain, :aside)"
)
BLOBS: Final = "CAST(card AS BLOB), CAST(observations AS BLOB)"
COUNT: Final = "UPDATE meta SET changes = changes + 1, at = now_ms()"


class Recent(msgspec.Struct, frozen=True):
    """The category of a host (empty for a foreign one) and the epoch seconds of its newest kept scan."""

    category: str
    at: float


class Store:
    """Report cards in the SQLite database at ``path``.

    Every method may raise Unavailable with one sentence when the file is locked, full or damaged. Methods may be
    called from any thread; reading waits for no writer. A damaged file is set aside and a new one begun.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.database = Database(path)
        self._word = os.urandom(6).hex()
        self._unused_of_all: tuple[tuple[int, int], frozenset[str]] = (-1, 0), frozenset()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about the file, such as that a damaged one was set aside."""
        return tuple(self.database.warnings)

    def close(self) -> None:
        """Close the file."""
        self.database.close()

    def stamp(self) -> str:
        """Return a word that changes with every change of the index; it means nothing to another process."""
        changes = self.database.value("SELECT changes FROM meta")
        return f"{self._word}-{self.database.generation}-{changes}"

    def changed(self) -> float | None:
        """Return the epoch seconds of the last change of the index, by any process; None while it may change again.

        A time in whole seconds tells two changes apart only once the second is over.
        """
        at = self._read("SELECT CAST(at AS INTEGER) FROM meta")[0][0] / 1000
        return at if time.time() - at > SETTLED else None

    # Writing

    def put(self, card: ReportCard, observations: Observations | None = None, *, aside: int = 0) -> bool:
        """Keep a scan; return whether it became the host's latest card. ``aside``: as in ``ScanKey``.

        The key is ``observations.host``, else ``card.host``. A scan with the same host and time is replaced. A scan
        without any answer (``probe_dead``) goes to the history only, while a good card is kept and such scans have
        not yet gone on for 24 h.
        """
        from aui_tui.index.packed import Packed  # a list is shown without it, and so are the imports below

        return self.put_packed([Packed.of(card, observations, aside)]) == 1

    def put_many(self, scans: Iterable[tuple[ReportCard, Observations | None]]) -> int:
        """Keep scans in one transaction; return how many became their host's latest card."""
        from aui_tui.index.packed import Packed

        return self.put_packed([Packed.of(card, observations) for card, observations in scans])

    def put_packed(self, scans: Sequence[Packed]) -> int:
        """Keep packed scans in one transaction; return how many became their host's latest card.

        A card replaces a summary of its host, unless a visitor's scan went aside. A summary is not kept where there is
        a card, or a summary as new.
        """
        with self.database.writing() as db:
            latest = sum(self._put(db, scan) for scan in scans)
            db.execute(COUNT)
            return latest

    def _put(self, db: sqlite3.Connection, scan: Packed) -> bool:
        at = scan.columns["at"]
        row = db.execute(
            "SELECT id, at, (SELECT count(card) FROM scan WHERE site = site.id) FROM site WHERE host = ?",
            (scan.host,),
        ).fetchone()
        if row is None:
            _keep(db, _write(db, scan.columns), scan)
            return True
        site, latest, cards = row
        if (scan.aside > 1 and not cards) or (scan.card is None and (cards or at <= latest)):
            return False
        if not cards:
            db.execute("DELETE FROM scan WHERE site = ?", (site,))
        _keep(db, site, scan)
        oldest = round(time.time() * 1000) - KEEP_ALL_MS
        db.execute(
            "DELETE FROM scan WHERE site = :site AND at < :oldest AND at <> :shown AND at NOT IN "
            "(SELECT max(at) FROM scan WHERE site = :site AND at < :oldest GROUP BY at / :week, aside)",
            {"site": site, "oldest": oldest, "shown": latest if cards else at, "week": WEEK_MS},
        )
        chosen = _latest(db, site)
        if chosen == at:
            _write(db, scan.columns)
        elif chosen != latest:
            from aui_tui.index import compression
            from aui_tui.index.packed import columns_of

            card, observations = db.execute(
                f"SELECT {BLOBS} FROM scan WHERE site = ? AND at = ?", (site, chosen)
            ).fetchone()
            _write(
                db,
                columns_of(
                    compression.unpack_card(card),
                    None if observations is None else compression.unpack_observations(observations),
                ),
            )
        _compare(db, site, chosen)
        return bool(chosen == at)

    def forget(self, host: str) -> int:
        """Remove ``host``, its history and its visits; return the number of scans removed. Raises NeverScanned."""
        with self.database.writing() as db:
            visits = db.execute("DELETE FROM visits WHERE host = ?", (host,)).rowcount
            row = db.execute("SELECT id, CAST(folded AS TEXT) FROM site WHERE host = ?", (host,)).fetchone()
            if row is None and not visits:
                raise NeverScanned(host)
            db.execute(COUNT)
            if row is None:
                return 0
            site, folded = row
            db.execute(TEXT_DELETE, (site, search_text(host, folded)))
            db.execute("DELETE FROM site WHERE id = ?", (site,))
            return db.execute("DELETE FROM scan WHERE site = ?", (site,)).rowcount

    def put_visits(self, record: Visits) -> None:
        """Keep what the access logs of ``record.host`` say, instead of what was kept before."""
        with self.database.writing() as db:
            values = (record.host, epoch_ms(record.read_at), msgspec.json.encode(record))
            db.execute("INSERT OR REPLACE INTO visits (host, at, record) VALUES (?, ?, ?)", values)
            db.execute(COUNT)

    def regrade(self, grade: Callable[[ReportCard, Observations], ReportCard], *, seconds: float) -> tuple[int, int]:
        """Keep scans anew that were kept before the present revision, the newest first, for about ``seconds``.

        Those with observations are graded again. Returns how many were, and how many are left for the next call.
        """
        end, done = time.monotonic() + seconds, 0
        revision, below = self._read("SELECT CAST(revision AS INTEGER), CAST(ungraded AS INTEGER) FROM meta")[0]
        if revision < REVISION:
            with self.database.writing() as db:
                sql = "UPDATE meta SET revision = ?, ungraded = (SELECT 1 + ifnull(max(id), 0) FROM scan)"
                below = db.execute(f"{sql} RETURNING ungraded", (REVISION,)).fetchall()[0][0]
        while below and time.monotonic() < end:
            from aui_tui.index import compression
            from aui_tui.index.packed import Packed

            sql = f"SELECT id, {BLOBS}, aside FROM scan WHERE id < ? AND card IS NOT NULL ORDER BY id DESC LIMIT ?"
            rows = self._read(sql, (below, REGRADED))
            scans = []
            for _, card, packed, aside in rows:
                with suppress(RecordError):
                    unpacked_card, observations = (
                        compression.unpack_card(card),
                        compression.unpack_observations(packed) if packed else None,
                    )
                    scans.append(
                        Packed.of(
                            grade(unpacked_card, observations) if observations else unpacked_card, observations, aside
                        )
                    )
            below, done = rows[-1][0] if rows else 0, done + len(scans)
            with self.database.writing() as db:
                for scan in scans:
                    self._put(db, scan)
                db.execute(f"{COUNT}, ungraded = min(ungraded, ?)", (below,))
        return done, int(self._read("SELECT count(*) FROM scan WHERE id < ?", (below,))[0][0]) if below else 0

    # One host

    def get(self, host: str, at: str = "") -> HostReport:
        """Return the latest scan of ``host``, or the kept one with ``scanned_at`` equal to ``at``: what was kept of it.

        Raises NeverScanned; NoCard where only a summary is known.
        """
        when, values = ("scan.at = ?", (host, epoch_ms(at))) if at else ("scan.at = site.at", (host,))
        return self._scan(host, f"{when} LIMIT 1", values)

    def previous(self, host: str, at: str) -> HostReport | None:
        """Return the kept scan of ``host`` before the one at ``at``; None when there is none."""
        with suppress(NeverScanned):
            return self._scan(
                host, f"scan.at < ? AND dead = 0 AND {ROUTE} ORDER BY scan.at DESC LIMIT 1", (host, epoch_ms(at))
            )
        return None

    def _scan(self, host: str, when: str, values: Sequence[object]) -> HostReport:
        rows = self._read(f"SELECT {BLOBS} FROM site JOIN scan ON site = site.id WHERE host = ? AND {when}", values)
        if not rows:
            raise NeverScanned(host)
        card, packed = rows[0]
        if card is None:
            raise NoCard(host)
        from aui_tui.index import compression
        from aui_tui.model.report import HostReport

        observations = None
        with suppress(RecordError):
            observations = None if packed is None else compression.unpack_observations(packed)
        try:
            return HostReport(card=compression.unpack_card(card), observations=observations)
        except RecordError:
            raise NeverScanned(host) from None

    def history(self, host: str) -> tuple[HistoryPoint, ...]:
        """Return the kept scans of ``host``, oldest first, damaged ones left out; empty when it was never scanned."""
        from aui_tui.model.report import HistoryPoint

        rows = self._read(
            "SELECT scan.at, scan.score, scan.grade, scan.stance, unreachable, plain, dead = 2 FROM scan "
            "JOIN site ON site.id = site WHERE host = ? AND scan.stance IN (0, 1, 2) AND typeof(scan.at) = 'integer' "
            f"AND typeof(scan.score) = 'integer' AND {ROUTE} ORDER BY scan.at",
            (host,),
        )
        return tuple(
            HistoryPoint(
                scanned_at=stamp(at / 1000),
                score=score,
                grade=grade,
                stance=STANCES[stance],
                unreachable=bool(unreachable),
                plain=plain,
                incomplete=bool(incomplete),
            )
            for at, score, grade, stance, unreachable, plain, incomplete in rows
        )

    def row(self, host: str) -> Row:
        """Return the list row of ``host``. Raises NeverScanned."""
        with self.database.reading() as db:
            row = db.execute("SELECT id FROM site WHERE host = ?", (host,)).fetchone()
            listed = read_rows(db, row, _ranks(db)) if row else []
        if not listed:
            raise NeverScanned(host)
        return listed[0]

    def visits(self, host: str) -> Visits | None:
        """Return what the access logs of ``host`` said last; None when none was read or the record is broken."""
        from aui_tui.model.visits import decode_visits

        rows = self._read("SELECT CAST(record AS BLOB) FROM visits WHERE host = ?", (host,))
        try:
            return decode_visits(rows[0][0]) if rows else None
        except RecordError:
            return None

    def recent(self, hosts: Sequence[str]) -> dict[str, Recent]:
        """Return what is known of those of ``hosts`` that were ever scanned."""
        rows = self._read(
            "SELECT host, category, (SELECT CAST(max(at) AS INTEGER) FROM scan "
            f"WHERE site = site.id AND {PAST} AND {ROUTE}) FROM site "
            "WHERE host IN (SELECT value FROM json_each(?))",
            (to_json(list(hosts)),),
        )
        return {
            host: Recent(category if category in CATEGORIES else "", (at or 0) / 1000) for host, category, at in rows
        }

    # Lists

    def index(self, query: Query, stop: Callable[[], bool] | None = None) -> IndexView:
        """Return the lists of ``query`` and the counts behind its filters. Raises Unavailable once ``stop`` says so."""
        with self.database.reading(stop) as db:
            return self._whole(db, query)

    def first_page(self, query: Query, stop: Callable[[], bool] | None = None) -> IndexView:
        """Return the first rows of ``query``, its figures come with ``index``; the whole answer where it comes as soon.

        After SOON it returns the rows found so far, or the first one found. Scans that are still to be graded again
        (``regrade``) take long too.
        """
        end = time.monotonic() + SOON
        found: array[int] = array("q")

        def enough() -> bool:
            return len(found) > 0 and time.monotonic() > end

        with self.database.reading(lambda: enough() or (stop is not None and stop())) as db:
            sql = "SELECT revision = ? AND NOT ungraded FROM meta"
            graded = db.execute(sql, (REVISION,)).fetchone()[0]
            if graded and db.execute("SELECT total(hosts) FROM tally").fetchone()[0] < LONG:
                return self._whole(db, query)
            whole = graded and not filters(query)
            lists = []
            for ranked in (True, False):
                found = array("q")
                lists.append(found)
                try:
                    find_first(db, query, found, ranked=ranked, limit=FIRST)
                except sqlite3.OperationalError as error:
                    if code_of(error) != sqlite3.SQLITE_INTERRUPT or not enough():
                        raise
                    whole = False
                whole = whole and len(found) < FIRST
            found = array("q")  # what follows is read to its end
            if not whole:
                return self._view(db, query, lists)
            return self._view(db, query, lists, facets_of(db, lists[0]), unused(db, FILLED, lists[0]))

    def _whole(self, db: sqlite3.Connection, query: Query) -> IndexView:
        ranked, counted = find_and_count(db, query)
        unreachable = find_hosts(db, query, ranked=False)
        return self._view(db, query, (ranked, unreachable), counted, self._unused(db, ranked))

    def _view(
        self,
        db: sqlite3.Connection,
        query: Query,
        lists: Iterable[Sequence[int]],
        counted: Facets | None = None,
        empty: frozenset[str] = frozenset(),
    ) -> IndexView:
        """Return the answer with the ids of its lists, their first ones alone while nothing is ``counted``."""
        ranks = _ranks(db)
        ranked, unreachable = (IdWindow(self.database.reader, ids, ranks, query) for ids in lists)
        sql = f"SELECT max(at) FROM site WHERE typeof(at) = 'integer' AND {PAST}"
        newest: int | None = db.execute(sql).fetchone()[0]
        return IndexView(
            query=query,
            scanned_at=stamp(time.time() if newest is None else newest / 1000),
            ranked=ranked,
            unreachable=unreachable,
            facets=counted or NO_FACETS,
            counting=counted is None,
            unused=empty,
        )

    def _unused(self, db: sqlite3.Connection, ids: Sequence[int]) -> frozenset[str]:
        """Return the columns that are empty in the whole index, known until that changes, or in a short list ``ids``.

        To look for a value that no host of a long list has would take as long as to list them.
        """
        version = self.database.generation, db.execute("SELECT changes FROM meta").fetchone()[0]
        if self._unused_of_all[0] != version:
            self._unused_of_all = version, unused(db, FILLED)
        columns = self._unused_of_all[1]
        return columns | unused(db, FILLED.keys() - columns, ids) if len(ids) < RARE else columns

    def _read(self, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        with self.database.reading() as db:
            return db.execute(sql, values).fetchall()

    # Figures

    def overview(self, query: Query) -> Overview:
        """Return figures over the ranked rows of ``query``."""
        from aui_tui.index.figures import overview  # a list is shown without them

        with self.database.reading() as db:
            return overview(db, query)

    def moves(self, query: Query, since: str, most: int) -> Moves:
        """Return how the ranked hosts of ``query`` changed since the day ``since`` (see ``figures.moves``)."""
        from aui_tui.index.figures import moves  # a list is shown without them

        with self.database.reading() as db:
            return moves(db, query, since, most)

    def weeks(self, query: Query) -> dict[str, tuple[int, ...]]:
        """Return ``Moves.weeks`` for the ranked hosts of ``query``; empty where too many scans count."""
        from aui_tui.index.figures import weeks  # a list is shown without them

        with self.database.reading() as db:
            return weeks(db, query, time.time())


def _ranks(db: sqlite3.Connection) -> list[int]:
    """Return, for each score from 0 to 100, the competition rank of a graded host with it in the whole list."""
    hosts = Counter(dict(db.execute("SELECT score, sum(hosts) FROM tally WHERE ranked GROUP BY score").fetchall()))
    # without statistics SQLite takes the index of the list instead, and goes through all of it
    thin = f"SELECT score, count(*) FROM site INDEXED BY site_thin WHERE {THIN} GROUP BY score"
    hosts.subtract(dict(db.execute(thin).fetchall()))
    above = list(accumulate((hosts.get(score, 0) for score in range(100, -1, -1)), initial=0))
    return [1 + above[100 - score] for score in range(101)]


def _keep(db: sqlite3.Connection, site: int, scan: Packed) -> None:
    """Write a scan into the history of ``site``."""
    values = scan.columns | {
        "site": site,
        "stance": STANCES.index(scan.columns["stance"]),
        "unreachable": 1 - scan.columns["ranked"],
        "dead": INCOMPLETE if scan.incomplete else int(scan.dead),
        "card": scan.card,
        "observations": scan.observations,
        "plain": scan.plain,
        "aside": scan.aside,
    }
    db.execute(KEEP, values)


def _write(db: sqlite3.Connection, columns: Mapping[str, Any]) -> int:
    """Write what a scan says of its host, and the text in which it is found; return the id of the host."""
    host, folded = columns["host"], columns["folded"]
    before = db.execute("SELECT id, CAST(folded AS TEXT) FROM site WHERE host = ?", (host,)).fetchone()
    site: int = db.execute(PUT, columns).fetchall()[0][0]
    if before is not None and before[1] != folded:
        db.execute(TEXT_DELETE, (site, search_text(host, before[1])))
    if before is None or before[1] != folded:
        db.execute("INSERT INTO site_text (rowid, hay) VALUES (?, ?)", (site, search_text(host, folded)))
    return site


def _latest(db: sqlite3.Connection, site: int) -> int:
    """Return the time of the scan that stands for ``site``: the newest, or the newest with an answer.

    Of those by its default route where there are any. Scans without any answer are passed over while there is an
    earlier one with answers and they span under 24 h; those that were stopped before their end, or lie in the future
    (a clock that was wrong), wherever there is another.
    """
    good, newest, stopped, future = db.execute(
        f"SELECT max(at) FILTER (WHERE dead = 0 AND {PAST}), max(at) FILTER (WHERE dead < {INCOMPLETE} AND {PAST}), "
        f"max(at) FILTER (WHERE {PAST}), min(at) FROM scan WHERE site = ? AND typeof(at) = 'integer' AND {ROUTE}",
        (site,),
    ).fetchone()
    if good is None or good == newest:
        return int(next(at for at in (newest, stopped, future) if at is not None))
    sql = f"SELECT min(at) FROM scan WHERE site = ? AND at > ? AND dead NOT IN (0, {INCOMPLETE}) AND {PAST} AND {ROUTE}"
    first_dead: int = db.execute(sql, (site, good)).fetchone()[0]
    return int(newest if newest - first_dead >= DEAD_AFTER_MS else good)


def _compare(db: sqlite3.Connection, site: int, latest: int) -> None:
    """Write the number of kept scans and the change of the score since the scan before, under the same method."""
    db.execute(
        f"UPDATE site SET scans = (SELECT count(*) FROM scan WHERE site = :site AND {ROUTE}), change = ("
        f"SELECT {AFTER} - {BEFORE} FROM scan AS now, scan AS past WHERE now.site = :site "
        "AND now.at = :at AND past.site = :site AND past.at = "
        "(SELECT max(at) FROM scan WHERE site = :site AND at < :at AND dead = 0 AND aside = now.aside) "
        f"AND {COMPARABLE}) WHERE id = :site",
        {"site": site, "at": latest},
    )
