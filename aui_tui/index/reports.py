"""The index on disk: the latest card of every host, every kept scan, and lists over them."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from aui_tui.errors import BadValue, NeverScanned, NoCard, RecordError
from aui_tui.index import blobs, columns
from aui_tui.index.bitmaps import Selection, members
from aui_tui.index.columns import WORD
from aui_tui.index.database import BUSY, Database
from aui_tui.index.lists import IdWindow, competition_ranks, first_page, index_view, position, rows
from aui_tui.model.agents import gets_in
from aui_tui.model.card import ReportCard, epoch_ms, stamp
from aui_tui.model.codec import names_of
from aui_tui.model.observations import Observations
from aui_tui.model.points import percent
from aui_tui.model.query import Query, leaves
from aui_tui.model.view import HistoryPoint, IndexView, Move, Moves, Overview, Row
from aui_tui.model.visits import Visits, decode_visits, encode_visits
from aui_tui.model.vocabulary import STANCES
from aui_tui.text import clean

if TYPE_CHECKING:
    from aui_tui.index.writer import Packed

BLOBS: Final = "CAST(card AS BLOB), CAST(observations AS BLOB)"
SINCE: Final = (
    "SELECT site.id, host, CASE WHEN (now.plain IS NULL) = (past.plain IS NULL) THEN past.score "
    "ELSE coalesce(past.plain, past.score) END, CASE WHEN (now.plain IS NULL) = (past.plain IS NULL) THEN now.score "
    "ELSE coalesce(now.plain, now.score) END, bits, nullif(past.id, now.id) "
    "FROM site JOIN scan AS now ON now.site = site.id AND now.at = site.at "
    "JOIN scan AS past ON past.site = site.id "
    "AND past.at = (SELECT max(at) FROM scan WHERE site = site.id AND at < coalesce(?1, site.at) AND dead = 0) "
    "WHERE ranked = 1 AND now.method = past.method AND NOT now.unreachable AND NOT past.unreachable"
)
"""Hosts that had a scan before a time, else one before their last: id, host, comparable scores then and now, the bits
of their verdicts now, and the id of the scan then, none where it is the last one."""
LAST: Final = (
    "SELECT id, max(at) FROM scan WHERE site IN (SELECT value FROM json_each(?)) AND at <= ? AND dead = 0 GROUP BY site"
)
"""The last scan of each site up to a time."""
WEEKS: Final = 12
COMPARED: Final = 20_000
"""Hosts whose verdicts of an earlier scan are read at most, some forty microseconds each."""
STEPS: Final = 20_000
"""Instructions of SQLite's machine between two questions whether to stop, about a millisecond."""
VIEWS: Final = 8
"""Views that are kept for asking again while nothing has changed."""
HELD: Final = 1_500_000
"""Ids that they hold together at most, eight octets each."""
SETTLED: Final = 1.5
"""Seconds after a write from which its time identifies the state of the index."""
SETS: Final = 200
"""Tagged sets that are kept in the same way, an eighth of an octet for each host."""

State = tuple[int, int]
"""Which file, and how many transactions have changed it."""


class Scan(NamedTuple):
    """A kept scan: the card and, where they are kept, the observations."""

    card: ReportCard
    observations: Observations | None


class Recent(NamedTuple):
    """The category of a host (empty for a foreign one) and the epoch seconds of its newest kept scan."""

    category: str
    at: float


class Reports:
    """Report cards in the SQLite database at ``path``.

    Every method may raise Unavailable with one sentence when the file is locked, full or damaged. Methods may be
    called from any thread; reading waits for no writer. A damaged file is set aside and a new one begun.
    """

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time, busy: float = BUSY) -> None:
        self._clock = clock
        self.database = Database(path, clock=clock, busy=busy)
        self._guard = threading.Lock()
        self._sets: tuple[State, dict[int, int]] = ((-1, -1), {})
        self._views: dict[Query, tuple[State, IndexView]] = {}
        self.path = path
        self._word = os.urandom(6).hex()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about the file, such as that a damaged one was set aside."""
        return tuple(self.database.warnings)

    def close(self) -> None:
        """Close the file."""
        self.database.close()

    def stamp(self) -> str:
        """Return a word that changes with every change of the index; it means nothing to another process."""
        try:
            generation, changes = self._state(self.database.reader())
        except sqlite3.Error as error:
            raise self.database.explain(error, "read") from None
        return f"{self._word}-{generation}-{changes}"

    def changed(self) -> float | None:
        """Return the epoch seconds of the last write to the index, by any process; None while that may go on.

        A time in whole seconds tells two changes apart only once the second is over.
        """
        try:
            log = self.path.with_name(self.path.name + "-wal")
            at = max(file.stat().st_mtime for file in (self.path, log) if file.exists())
        except (OSError, ValueError):
            return None
        return at if time.time() - at > SETTLED else None

    def put(self, card: ReportCard, observations: Observations | None = None) -> bool:
        """Keep a scan; return whether it became the host's latest card.

        The key is ``observations.host``, else ``card.host``. A scan with the same host and time is replaced. A scan
        without any answer (``probe_dead``) goes to the history only, while a good card is kept and such scans have
        not yet gone on for 24 h.
        """
        return self.put_many([(card, observations)]) == 1

    def put_many(self, scans: Iterable[tuple[ReportCard, Observations | None]]) -> int:
        """Keep scans in one transaction; return how many became their host's latest card."""
        from aui_tui.index.writer import Packed

        return self.put_packed([Packed.of(card, observations) for card, observations in scans])

    def put_packed(self, scans: Sequence[Packed]) -> int:
        """Keep packed scans in one transaction; return how many became their host's latest card."""
        from aui_tui.index.writer import Writer

        with self._writing() as db:
            writer = Writer(db, round(self._clock() * 1000))
            kept = sum(writer.put(item) for item in scans)
            writer.finish()
            return kept

    def get(self, host: str, at: str = "") -> Scan:
        """Return the latest scan of ``host``, or the kept one with ``scanned_at`` equal to ``at``.

        Raises NeverScanned.
        """
        if at:
            sql = f"SELECT {BLOBS} FROM scan JOIN site ON site = site.id WHERE host = ? AND scan.at = ?"
            values: tuple[object, ...] = (host, epoch_ms(at))
        else:
            sql = f"SELECT {BLOBS} FROM site JOIN scan ON scan.site = site.id AND scan.at = site.at WHERE host = ?"
            values = (host,)
        return self._scan(host, sql, values)

    def has(self, host: str, at: str) -> bool:
        """Say whether the scan of ``host`` with that ``scanned_at`` is kept with its card."""
        return bool(
            self._read(
                "SELECT 1 FROM scan JOIN site ON site = site.id WHERE host = ? AND scan.at = ? AND card IS NOT NULL",
                (host, epoch_ms(at)),
            )
        )

    def previous(self, host: str, at: str) -> Scan | None:
        """Return the kept scan of ``host`` before the one at ``at``; None when there is none."""
        sql = (
            f"SELECT {BLOBS} FROM scan JOIN site ON site = site.id WHERE host = ? AND scan.at < ? "
            "AND dead = 0 ORDER BY scan.at DESC LIMIT 1"
        )
        try:
            return self._scan(host, sql, (host, epoch_ms(at)))
        except NeverScanned:
            return None

    def history(self, host: str) -> tuple[HistoryPoint, ...]:
        """Return the kept scans of ``host``, oldest first; empty when it was never scanned."""
        rows = self._read(
            "SELECT scan.at, scan.score, grade, scan.stance, unreachable, plain, dead = 2 FROM scan "
            "JOIN site ON site = site.id WHERE host = ? ORDER BY scan.at",
            (host,),
        )
        return tuple(
            HistoryPoint(
                scanned_at=stamp(at / 1000),
                score=score,
                grade=grade,
                stance=STANCES[stance],
                unreachable=bool(gone),
                plain=plain,
                incomplete=bool(incomplete),
            )
            for at, score, grade, stance, gone, plain, incomplete in rows
        )

    def row(self, host: str) -> Row:
        """Return the list row of ``host``. Raises NeverScanned."""
        with self.reading() as db:
            found = db.execute("SELECT id FROM site WHERE host = ?", (host,)).fetchone()
            listed = rows(db, found, competition_ranks(db)) if found else []
        if not listed:
            raise NeverScanned(host)
        return listed[0]

    def hosts(self) -> Iterator[tuple[str, float]]:
        """Yield every host and the epoch seconds of its latest card, by host."""
        for host, at in self._read("SELECT host, at FROM site ORDER BY host"):
            yield host, at / 1000

    def recent(self, hosts: Sequence[str]) -> dict[str, Recent]:
        """Return what is known of those of ``hosts`` that were ever scanned; at most a few hundred at a time."""
        marks = ", ".join("?" * len(hosts))
        found = self._read(
            f"SELECT host, category, (SELECT max(at) FROM scan WHERE site = site.id) FROM site WHERE host IN ({marks})",
            hosts,
        )
        return {host: Recent(WORD.get(category, ""), (at or 0) / 1000) for host, category, at in found}

    def index(self, query: Query, stop: Callable[[], bool] | None = None) -> IndexView:
        """Return the lists of ``query`` and the counts behind its filters. Raises Unavailable once ``stop`` says so."""
        with self.reading(stop) as db:
            return self._index(db, query)

    def first_page(self, query: Query, stop: Callable[[], bool] | None = None) -> IndexView | None:
        """Return the first rows of ``query``, its figures come with ``index``; None where those come as soon."""
        with self.reading(stop) as db:
            return None if query in self._views else first_page(db, self.database.reader, query, self._clock())

    def overview(self, query: Query) -> Overview:
        """Return figures over the ranked rows of ``query``."""
        with self.reading() as db:
            state = self._state(db)
            return Selection(db, query, self._clock(), self._tagged(state)).overview()

    def moves(self, query: Query, since: str, most: int) -> Moves:
        """Return how the ranked hosts of ``query`` changed since the day ``since``, ``most`` of each kind named.

        Each is compared with its last scan up to the end of that day (UTC), without one with its scan before. Raises
        BadValue for what is not a day.
        """
        try:
            day = date.fromisoformat(since) if since else None
        except ValueError:
            raise BadValue(f"A day is written as 2026-11-15, not {clean(since, 40)!r}.") from None
        end = None if day is None else epoch_ms((day + timedelta(days=1)).isoformat())
        found: list[Move] = []
        bits_by_scan: dict[int, int] = {}
        with self.reading() as db:
            chosen = Selection(db, query, self._clock(), self._tagged(self._state(db))).chosen(1)
            octets = chosen.to_bytes(chosen.bit_length() // 8 + 1, "little")
            for site, host, before, after, bits, past in db.execute(SINCE, (end,)):
                if site >> 3 < len(octets) and octets[site >> 3] >> (site & 7) & 1:
                    found.append(Move(host, before, after))
                    if past is not None:
                        bits_by_scan[past] = bits
            agents = self._turned(db, bits_by_scan) if len(bits_by_scan) <= COMPARED else {}
        order = sorted(found, key=lambda move: (move.before - move.after, move.host))
        risen = sum(move.after > move.before for move in found)
        fallen = sum(move.after < move.before for move in found)
        return Moves(
            risen=risen,
            fallen=fallen,
            same=len(found) - risen - fallen,
            unknown=chosen.bit_count() - len(found),
            up=tuple(order[: min(most, risen)]),
            down=tuple(order[::-1][: min(most, fallen)]),
            agents=agents,
        )

    def _turned(self, db: sqlite3.Connection, now: Mapping[int, int]) -> dict[str, tuple[int, int]]:
        """Return by surface how many hosts let it in now and did not, and the other way round.

        ``now`` gives for each earlier scan the bits of its host's verdicts today.
        """
        let, shut = Counter[str](), Counter[str]()
        slugs = names_of("matrix")
        for scan, then in _verdicts(db, now):
            for slug, before, after in zip(slugs, then, columns.verdicts_in(now[scan]), strict=False):
                was, got = gets_in(before), gets_in(after)
                let[slug] += was is False and got is True
                shut[slug] += was is True and got is False
        return {slug: (let[slug], shut[slug]) for slug in slugs}

    def weeks(self, query: Query) -> dict[str, tuple[int, ...]]:
        """Return ``Moves.weeks`` for the ranked hosts of ``query``; empty where more than COMPARED scans count."""
        now = self._clock()
        weeks_of: defaultdict[int, list[int]] = defaultdict(list)
        with self.reading() as db:
            chosen = Selection(db, query, now, self._tagged(self._state(db))).chosen(1)
            if chosen.bit_count() > COMPARED:
                return {}
            sites = json.dumps([*members(chosen)])
            for week in range(WEEKS):
                end = round((now - (WEEKS - 1 - week) * 7 * 86400) * 1000)
                for scan, _ in db.execute(LAST, (sites, end)):
                    weeks_of[scan].append(week)
            if len(weeks_of) > COMPARED:
                return {}
            known = {slug: [0] * WEEKS for slug in names_of("matrix")}
            inside = {slug: [0] * WEEKS for slug in known}
            for scan, verdicts in _verdicts(db, weeks_of):
                for slug, verdict in zip(known, verdicts, strict=False):
                    got = gets_in(verdict)
                    for week in weeks_of[scan]:
                        known[slug][week] += got is not None
                        inside[slug][week] += got is True
        return {
            slug: tuple(percent(got, of) if of else -1 for got, of in zip(inside[slug], known[slug], strict=True))
            for slug in known
        }

    def position(self, host: str, query: Query) -> int:
        """Return the index of ``host`` in the ranked (else unreachable) list of ``query``, -1 when it is absent."""
        with self.reading() as db:
            found = db.execute("SELECT id FROM site WHERE host = ?", (host,)).fetchone()
            if found is None:
                return -1
            return position(self._index(db, query), found[0])

    def forget(self, host: str) -> int:
        """Remove ``host``, its history and its visits; return the number of scans removed. Raises NeverScanned."""
        from aui_tui.index.writer import Writer

        with self._writing() as db:
            found = db.execute("SELECT id FROM site WHERE host = ?", (host,)).fetchone()
            visits = db.execute("DELETE FROM visits WHERE host = ?", (host,)).rowcount
            if found is None:
                if not visits:
                    raise NeverScanned(host)
                db.execute("UPDATE meta SET changes = changes + 1")
                return 0
            writer = Writer(db, round(self._clock() * 1000))
            removed = writer.remove(found[0])
            writer.finish()
            return removed

    def put_visits(self, record: Visits, *, unless_newer: bool = False) -> None:
        """Keep what the access logs of ``record.host`` say, instead of what was kept before.

        ``unless_newer``: a kept record that was read at the same time or later stays.
        """
        conflict = "DO UPDATE SET at = excluded.at, record = excluded.record"
        condition = " WHERE excluded.at > visits.at" if unless_newer else ""
        with self._writing() as db:
            values = (record.host, epoch_ms(record.read_at), encode_visits(record))
            sql = f"INSERT INTO visits (host, at, record) VALUES (?, ?, ?) ON CONFLICT {conflict}{condition}"
            db.execute(sql, values)
            db.execute("UPDATE meta SET changes = changes + 1")

    def visits(self, host: str) -> Visits | None:
        """Return what the access logs of ``host`` said last; None when none was read or the record is broken."""
        found = self._read("SELECT record FROM visits WHERE host = ?", (host,))
        try:
            return decode_visits(found[0][0]) if found else None
        except RecordError:
            return None

    def _index(self, db: sqlite3.Connection, query: Query) -> IndexView:
        """Return the lists of ``query``: those made before while nothing has changed and time plays no part."""
        state = self._state(db)
        timeless = state[1] > 0 and all(term.field != "fresh" for term in leaves(query.terms))
        known = self._views.get(query) if timeless else None
        if known is not None and known[0] == state:
            return known[1]
        view = index_view(db, self.database.reader, query, self._clock(), self._tagged(state))
        if timeless:
            with self._guard:
                self._views.pop(query, None)
                self._views[query] = (state, view)
                while len(self._views) > VIEWS or sum(_ids(kept) for _, kept in self._views.values()) > HELD:
                    del self._views[next(iter(self._views))]
        return view

    def _state(self, db: sqlite3.Connection) -> State:
        return self.database.generation, db.execute("SELECT changes FROM meta").fetchone()[0]

    def _tagged(self, state: State) -> dict[int, int]:
        """Return the tagged sets that are kept for this state of the index."""
        with self._guard:
            if self._sets[0] != state or len(self._sets[1]) > SETS:
                self._sets = (state, {})
            return self._sets[1]

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Give the writing connection inside one transaction; a fault of the file is reported as Unavailable."""
        try:
            with self.database.writing() as db:
                yield db
        except (sqlite3.Error, OSError) as error:
            raise self.database.explain(error, "written") from None

    @contextmanager
    def reading(self, stop: Callable[[], bool] | None = None) -> Iterator[sqlite3.Connection]:
        """Give this thread's reader inside one transaction, so that all that is read belongs together.

        ``stop`` is asked about once a millisecond whether what is read is still wanted.
        """
        try:
            db = self.database.reader()
            db.execute("BEGIN")
            db.set_progress_handler(stop, STEPS)
            try:
                yield db
            finally:
                db.set_progress_handler(None, 0)
                db.execute("COMMIT")
        except sqlite3.Error as error:
            raise self.database.explain(error, "read") from None

    def _scan(self, host: str, sql: str, values: tuple[object, ...]) -> Scan:
        rows = self._read(sql, values)
        if not rows:
            raise NeverScanned(host)
        card, observations = rows[0]
        if card is None:
            raise NoCard(host)
        try:
            kept = blobs.unpack_observations(observations) if observations is not None else None
        except RecordError:
            kept = None
        try:
            return Scan(blobs.unpack_card(card), kept)
        except RecordError:
            raise NeverScanned(host) from None

    def _read(self, sql: str, values: Iterable[object] = ()) -> list[tuple[Any, ...]]:
        try:
            return self.database.reader().execute(sql, tuple(values)).fetchall()
        except sqlite3.Error as error:
            raise self.database.explain(error, "read") from None


def _ids(view: IndexView) -> int:
    """Return how many ids the windows of ``view`` hold."""
    return sum(len(window) for window in (view.ranked, view.unreachable) if isinstance(window, IdWindow))


def _verdicts(db: sqlite3.Connection, scans: Iterable[int]) -> Iterator[tuple[int, list[str]]]:
    """Yield ``scans`` with the verdicts of their cards; damaged cards and those without one are left out."""
    chosen = json.dumps([*scans])
    for scan, blob in db.execute("SELECT id, card FROM scan WHERE id IN (SELECT value FROM json_each(?))", (chosen,)):
        if blob is not None:
            with suppress(RecordError):
                yield scan, columns.verdicts(blobs.unpack_matrix(blob))
