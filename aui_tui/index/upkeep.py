"""What is wrong with the index, its repair, and its backup, in steps so short that a crawl goes on beside them."""

from __future__ import annotations

import contextlib
import secrets
import shutil
import sqlite3
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import msgspec

from aui_tui.errors import ConfigError, RecordError, Unavailable
from aui_tui.index import bitmaps, blobs
from aui_tui.index.bitmaps import tags_of
from aui_tui.index.columns import SUMMARY_AT, columns_of, phrase, search_text_of
from aui_tui.index.database import PAGE, Database
from aui_tui.index.reports import Reports
from aui_tui.index.writer import SUMMARY, Writer, choose_latest
from aui_tui.model.card import ReportCard
from aui_tui.model.observations import Observations
from aui_tui.model.visits import Visits, decode_visits
from aui_tui.text import clean

PAGES: Final = 2048
"""Pages copied in one step; between steps the index may be written to."""

OnProgress = Callable[[int, int], None]
"""Called with how much is done, of how much."""


def unseen(done: int, of: int) -> None:
    """Show no progress."""


def backup(reports: Reports, target: Path, *, overwrite: bool = False, progress: OnProgress = unseen) -> int:
    """Copy the whole index to the file ``target`` and return its size in bytes.

    ``target`` appears when it is complete: an interrupted copy leaves nothing behind. Raises ConfigError when it exists
    and ``overwrite`` is not given, or cannot be written; Unavailable when the index cannot be read.
    """
    shown = clean(str(target), 200)
    if target.exists() and not overwrite:
        raise ConfigError(f"{shown} exists already; choose another name or overwrite it.")
    if target.is_dir() or (target.exists() and target.samefile(reports.path)):
        raise ConfigError(f"{shown} cannot be the backup of this index.")
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        _copy(reports, partial, progress)
        partial.replace(target)
        return target.stat().st_size
    except OSError as error:
        raise ConfigError(f"{shown} cannot be written: {clean(error.strerror or str(error), 120)}.") from None
    finally:
        for suffix in ("", "-journal", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                Path(f"{partial}{suffix}").unlink()


def _copy(reports: Reports, partial: Path, progress: OnProgress) -> None:
    def step(status: int, remaining: int, total: int) -> None:
        progress(total - remaining, total)

    source = reports.database.reader()
    partial.touch(mode=0o600, exist_ok=False)
    copy = sqlite3.connect(partial)
    try:
        source.backup(copy, pages=PAGES, progress=step, sleep=0.01)
        copy.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error as error:
        raise Unavailable(f"The index could not be copied: {clean(str(error), 120)}.") from None
    finally:
        copy.close()


BATCH: Final = 500
STRIDE: Final = 256
MISSES: Final = 4096
"""Ids in a row without a result after which the rest is skipped, where the file cannot say its largest id."""
SIZES: Final = slice(28, 40)
"""Octets of the header that tell size and free list; zero makes SQLite go by the size of the file (format 1.3.7)."""

SCANS: Final = "SELECT CAST(card AS BLOB), CAST(observations AS BLOB) FROM scan WHERE id BETWEEN ? AND ?"


class Salvaged(msgspec.Struct, frozen=True, kw_only=True):
    """Scans that were ``kept`` from a damaged file, and how many were ``lost`` as far as it can tell.

    ``visits``: hosts whose visits in access logs were kept.
    """

    kept: int
    lost: int
    visits: int = 0


def salvage(damaged: Path, reports: Reports, *, progress: OnProgress = unseen) -> Salvaged:
    """Put every scan and the visits that can be read in the file ``damaged`` into ``reports``; the file stays as it is.

    A scan that is there already stays, and so do newer visits. Raises Unavailable when ``reports`` cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix=".salvage-", dir=reports.path.parent) as scratch:
        copy = Path(scratch) / "copy.db"
        for suffix in ("", "-wal"):
            side = Path(f"{damaged}{suffix}")
            if side.exists():
                shutil.copyfile(side, f"{copy}{suffix}")
        if not _opens(copy):
            Path(f"{copy}-wal").unlink(missing_ok=True)
            _give_head(copy, Path(scratch) / "fresh.db")
        kept = lost = 0
        batch: list[tuple[ReportCard, Observations | None]] = []
        for scan in _scans(copy, progress):
            if scan is None:
                lost += 1
                continue
            batch.append(scan)
            if len(batch) >= BATCH:
                kept += _put(reports, batch)
                batch = []
        kept += _put(reports, batch)
        visits = _visits(copy)
        for record in visits.values():
            reports.put_visits(record, unless_newer=True)
        return Salvaged(kept=kept, lost=lost, visits=len(visits))


def _put(reports: Reports, batch: list[tuple[ReportCard, Observations | None]]) -> int:
    fresh = [item for item in batch if not reports.has(item[1].host if item[1] else item[0].host, item[0].scanned_at)]
    reports.put_many(fresh)
    return len(batch)


def _opens(file: Path) -> bool:
    try:
        with closing(sqlite3.connect(file)) as db:
            db.execute("SELECT id FROM scan LIMIT 1").fetchone()
    except sqlite3.Error:
        return False
    return True


def _give_head(file: Path, scratch: Path) -> None:
    """Replace the first page, which holds the schema, with that of a new file: the tables lie at the same pages."""
    Database(scratch).close()
    head = bytearray(scratch.read_bytes()[:PAGE])
    head[SIZES] = bytes(len(head[SIZES]))
    with file.open("r+b") as stream:
        stream.write(head)


def _scans(file: Path, progress: OnProgress) -> Iterator[tuple[ReportCard, Observations | None] | None]:
    """Yield every scan of the file, None for one that is there but cannot be read."""
    with closing(sqlite3.connect(file)) as db:
        last = _largest(db)
        first, empty = 1, 0
        while (first <= last) if last else (empty < MISSES):
            rows, broken = _rows(db, first, first + STRIDE - 1)
            empty = 0 if rows else empty + STRIDE
            for card, seen in rows:
                if card is not None:
                    yield _read(card, seen)
            yield from [None] * broken
            first += STRIDE
            progress(min(first - 1, last), last)


def _visits(file: Path) -> dict[str, Visits]:
    """Return the visits of the file by host, read from both ends as far as the pages are sound."""
    found: dict[str, Visits] = {}
    with closing(sqlite3.connect(file)) as db:
        for order in ("ASC", "DESC"):
            with contextlib.suppress(sqlite3.Error):
                for host, data in db.execute(f"SELECT host, CAST(record AS BLOB) FROM visits ORDER BY host {order}"):
                    with contextlib.suppress(RecordError):
                        record = decode_visits(data)
                        if record.host == host:
                            found[host] = record
    return found


def _largest(db: sqlite3.Connection) -> int:
    try:
        return int(db.execute("SELECT max(id) FROM scan").fetchone()[0] or 0)
    except sqlite3.Error:
        return 0


def _rows(db: sqlite3.Connection, first: int, last: int) -> tuple[list[tuple[bytes | None, bytes | None]], int]:
    """Return the rows with ids from ``first`` to ``last``, and how many of them are on damaged pages."""
    try:
        return db.execute(SCANS, (first, last)).fetchall(), 0
    except sqlite3.Error:
        pass
    found, broken = [], 0
    for identity in range(first, last + 1):
        try:
            found += db.execute(SCANS, (identity, identity)).fetchall()
        except sqlite3.Error:
            broken += 1
    return found, broken


def _read(card: bytes, seen: bytes | None) -> tuple[ReportCard, Observations | None] | None:
    try:
        record = blobs.unpack_card(card)
    except RecordError:
        return None
    try:
        return record, None if seen is None else blobs.unpack_observations(seen)
    except RecordError:
        return record, None


MAX_PROBLEMS: Final = 20
STEP: Final = 1000
RECORD: Final = "SELECT id, site, at, CAST(card AS BLOB), CAST(observations AS BLOB) FROM scan"


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """What a look at the index found: sentences about what is wrong, and its size.

    ``bytes`` counts the file and its write-ahead log.
    """

    problems: tuple[str, ...]
    hosts: int
    scans: int
    bytes: int


def examine(reports: Reports, *, progress: OnProgress = unseen) -> Health:
    """Return the health of the index. Reads every kept card, which takes about a second for 2,000 of them.

    Raises Unavailable when the file is locked, or so damaged that it was set aside.
    """
    try:
        with reports.reading() as db:
            problems = [*of_file(db), *_of_derived(db), *_of_records(db, progress), *_of_visits(db)]
            hosts = db.execute("SELECT count(*) FROM site").fetchone()[0]
            scans = db.execute("SELECT count(*) FROM scan").fetchone()[0]
    except sqlite3.Error as error:
        raise reports.database.explain(error, "read") from None
    log = reports.path.with_name(reports.path.name + "-wal")
    size = reports.path.stat().st_size + (log.stat().st_size if log.exists() else 0)
    return Health(problems=tuple(problems[:MAX_PROBLEMS]), hosts=hosts, scans=scans, bytes=size)


def of_file(db: sqlite3.Connection) -> Iterator[str]:
    """Yield what SQLite finds wrong with the file."""
    for (text,) in db.execute(f"PRAGMA integrity_check({MAX_PROBLEMS})"):
        if text != "ok":
            yield f"SQLite finds: {clean(str(text), 200)}."


def _of_derived(db: sqlite3.Connection) -> Iterator[str]:
    """Compare what is derived from the rows of ``site`` with the rows."""
    wrong = wrong_sets(db)
    if wrong:
        yield f"{wrong} of the sets behind the filters disagree with the list of hosts."
    if not tally_is_sound(db):
        yield "The counts behind the filters disagree with the list of hosts."
    for what, sql in (
        ("Hosts without a line in the list", "SELECT count(*) FROM site WHERE id NOT IN (SELECT id FROM line)"),
        ("Lines without a host", "SELECT count(*) FROM line WHERE id NOT IN (SELECT id FROM site)"),
        ("Scans without a host", "SELECT count(*) FROM scan WHERE site NOT IN (SELECT id FROM site)"),
        (
            "Hosts without the scan behind their card",
            "SELECT count(*) FROM site WHERE NOT EXISTS (SELECT 1 FROM scan WHERE site = site.id AND at = site.at)",
        ),
    ):
        count = db.execute(sql).fetchone()[0]
        if count:
            yield f"{what}: {count}."
    if not text_is_sound(db):
        yield "The text search does not find every host."


def wrong_sets(db: sqlite3.Connection) -> int:
    """Return how many of the tagged sets disagree with the rows of ``site``."""
    members: defaultdict[int, list[int]] = defaultdict(list)
    for site, *values in db.execute(f"SELECT id, {SUMMARY} FROM site"):
        for tag in tags_of(*values):
            members[tag].append(site)
    kept = {row[0] for row in db.execute("SELECT DISTINCT tag FROM bitmap")}
    return sum(bitmaps.load(db, tag) != bitmaps.of(members.get(tag, ())) for tag in kept | set(members))


def tally_is_sound(db: sqlite3.Connection) -> bool:
    """Say whether the tallies agree with the rows of ``site``."""
    order = "ORDER BY 1, 2, 3, 4"
    kept = db.execute(f"SELECT ranked, category, stance, score, hosts FROM tally WHERE hosts <> 0 {order}").fetchall()
    counted = f"SELECT ranked, category, stance, score, count(*) FROM site GROUP BY 1, 2, 3, 4 {order}"
    return kept == db.execute(counted).fetchall()


def text_is_sound(db: sqlite3.Connection) -> bool:
    """Say whether the text search finds the newest hosts."""
    newest = db.execute("SELECT id, host FROM site ORDER BY id DESC LIMIT 50").fetchall()
    return all(_is_found(db, site, host) for site, host in newest if len(host) > 2)


def _is_found(db: sqlite3.Connection, site: int, host: str) -> bool:
    rows = db.execute("SELECT rowid FROM site_text WHERE site_text MATCH ?", (phrase(host),))
    return any(row[0] == site for row in rows)


def _of_records(db: sqlite3.Connection, progress: OnProgress) -> Iterator[str]:
    problems: defaultdict[str, int] = defaultdict(int)
    for found in records(db, progress):
        if found.problem:
            problems[found.problem] += 1
    for problem, count in problems.items():
        yield f"Scans that cannot be read: {count}. {problem}"


def _of_visits(db: sqlite3.Connection) -> Iterator[str]:
    broken = len(_broken_visits(db))
    if broken:
        yield f"Hosts whose visits cannot be read: {broken}."


def _broken_visits(db: sqlite3.Connection) -> list[str]:
    """Return the hosts whose record of visits cannot be read, or is another host's."""
    broken = []
    for host, data in db.execute("SELECT host, CAST(record AS BLOB) FROM visits"):
        try:
            sound = decode_visits(data).host == host
        except RecordError:
            sound = False
        if not sound:
            broken.append(host)
    return broken


class Record(NamedTuple):
    """A kept scan as far as it can be read, and what is the ``problem`` with it, if any."""

    id: int
    site: int
    at: int
    card: ReportCard | None
    seen: Observations | None
    problem: str


def records(db: sqlite3.Connection, progress: OnProgress) -> Iterator[Record]:
    """Yield every kept scan."""
    total = db.execute("SELECT count(*) FROM scan").fetchone()[0]
    done = last = 0
    while True:
        rows = db.execute(f"{RECORD} WHERE id > ? ORDER BY id LIMIT ?", (last, STEP)).fetchall()
        if not rows:
            return
        yield from (record_of(*row) for row in rows)
        done, last = done + len(rows), rows[-1][0]
        progress(done, total)


def record_of(identity: int, site: int, at: int, card_blob: bytes | None, seen_blob: bytes | None) -> Record:
    """Return the state of a row of RECORD."""
    card = seen = None
    try:
        card = None if card_blob is None else blobs.unpack_card(card_blob)
        seen = None if seen_blob is None else blobs.unpack_observations(seen_blob)
    except RecordError as error:
        return Record(identity, site, at, card, seen, str(error))
    return Record(identity, site, at, card, seen, "")


T = TypeVar("T")
REPAIR_STEP: Final = 200
"""Hosts or scans dealt with in one transaction."""
GAP: Final = 0.1
"""Seconds between two transactions, in which other processes have their turn."""
LOCK_WAIT: Final = 30.0
"""Seconds to wait for another process's lock."""
SHOWN: Final = (
    "SELECT name, ranked, category, stance, score, bits, text, CAST(line AS BLOB) "
    "FROM site LEFT JOIN edge ON edge.id = edge LEFT JOIN line ON line.id = site.id WHERE site.id = ? AND at = ?"
)


class Repair(msgspec.Struct, frozen=True, kw_only=True):
    """What a repair did.

    ``scans_removed``: cards that could not be read; ``observations_removed``: scans that keep their card alone;
    ``hosts_removed``: those without any scan left; ``visits_removed``: visits that could not be read.
    """

    scans_removed: int
    observations_removed: int
    hosts_removed: int
    visits_removed: int = 0


def repair(reports: Reports, *, progress: OnProgress = unseen) -> Repair:
    """Remove scans that cannot be read, and rebuild what is derived from the others where it does not agree with them.

    Each step is a transaction of its own: an interrupted repair is begun again. Raises Unavailable.
    """
    try:
        with reports.reading() as db:
            file_is_sound = not any(of_file(db))
            broken, wrong = _look(db, progress)
        if not file_is_sound:
            _step(reports, lambda db: db.execute("REINDEX"))
        scans = observations = 0
        for few in _parted(broken):
            found = _step(reports, partial(_remove, scans=few))
            scans, observations = scans + found[0], observations + found[1]
        hosts, loose = _step(reports, _remove_loose)
        visits = _step(reports, _remove_visits)
        renamed = 0
        with reports.reading() as db:
            wrong |= _out_of_date(db)
        for few in _parted(sorted(wrong)):
            renamed += _step(reports, partial(_restore, sites=few))
        with reports.reading() as db:
            chunks = _chunks(db) if wrong_sets(db) else 0
            tally, text = tally_is_sound(db), text_is_sound(db) and not loose and not renamed
        for chunk in range(chunks):
            _step(reports, partial(_gather, chunk=chunk))
        if not tally:
            _step(reports, _count)
        if not text:
            _step(reports, _index_text)
    except sqlite3.Error as error:
        raise reports.database.explain(error, "repaired") from None
    return Repair(scans_removed=scans, observations_removed=observations, hosts_removed=hosts, visits_removed=visits)


def _parted(found: list[int]) -> Iterator[list[int]]:
    for start in range(0, len(found), REPAIR_STEP):
        yield found[start : start + REPAIR_STEP]


def _step(reports: Reports, work: Callable[[sqlite3.Connection], T]) -> T:
    """Return ``work(db)`` done in one transaction, and leave the others GAP seconds after it."""
    end = time.monotonic() + LOCK_WAIT
    while True:
        try:
            with reports.database.writing() as db:
                done = work(db)
                db.execute("UPDATE meta SET changes = changes + 1")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
        else:
            time.sleep(GAP)
            return done


def _remove(db: sqlite3.Connection, scans: list[int]) -> tuple[int, int]:
    """Remove those of ``scans`` that are still broken; return how many, and how many keep their card."""
    removed = blinded = 0
    for identity in scans:
        row = db.execute(f"{RECORD} WHERE id = ?", (identity,)).fetchone()
        if row is None or not record_of(*row).problem:
            continue
        if record_of(*row).card is not None:
            db.execute("UPDATE scan SET observations = NULL WHERE id = ?", (identity,))
            blinded += 1
        else:
            db.execute("DELETE FROM scan WHERE id = ?", (identity,))
            removed += 1
    return removed, blinded


def _remove_loose(db: sqlite3.Connection) -> tuple[int, int]:
    """Remove hosts without a scan, and scans and lines without a host; return how many hosts and how many others."""
    writer = Writer(db, 0)
    hosts = db.execute("SELECT id FROM site WHERE id NOT IN (SELECT site FROM scan)").fetchall()
    for (site,) in hosts:
        writer.remove(site)
    writer.finish()
    rows = db.execute("DELETE FROM scan WHERE site NOT IN (SELECT id FROM site)").rowcount
    rows += db.execute("DELETE FROM line WHERE id NOT IN (SELECT id FROM site)").rowcount
    return len(hosts), rows


def _remove_visits(db: sqlite3.Connection) -> int:
    """Remove the visits that cannot be read; return of how many hosts."""
    broken = _broken_visits(db)
    db.executemany("DELETE FROM visits WHERE host = ?", [(host,) for host in broken])
    return len(broken)


def _look(db: sqlite3.Connection, progress: OnProgress) -> tuple[list[int], set[int]]:
    """Return the scans that are broken, and the hosts whose columns or line are not those of their latest scan."""
    broken, wrong = [], set()
    for found in records(db, progress):
        if found.problem:
            broken.append(found.id)
        if found.card is None:
            continue
        row = db.execute(SHOWN, (found.site, found.at)).fetchone()
        if row is not None:
            *columns, line = row
            made = [*msgspec.structs.astuple(columns_of(found.card, found.seen))]
            if columns != made or line != blobs.pack_line(found.card):
                wrong.add(found.site)
    return broken, wrong


def _out_of_date(db: sqlite3.Connection) -> set[int]:
    """Return the hosts with another number of scans than is written, or with another latest one."""
    rows = db.execute(
        "SELECT id, at, scans <> (SELECT count(*) FROM scan WHERE site = site.id) FROM site WHERE NOT bits >> ? & 1",
        (SUMMARY_AT,),
    ).fetchall()
    return {site for site, at, miscounted in rows if miscounted or at != choose_latest(db, site)}


def _restore(db: sqlite3.Connection, sites: list[int]) -> int:
    """Rebuild columns and lines of ``sites`` from their scans; return how many had another name."""
    writer, renamed = Writer(db, 0), 0
    for site in sites:
        before = db.execute("SELECT name FROM site WHERE id = ?", (site,)).fetchone()
        if before is not None:
            writer.restore(site, choose_latest(db, site))
            renamed += db.execute("SELECT name FROM site WHERE id = ?", (site,)).fetchone() != before
    writer.finish()
    return renamed


def _chunks(db: sqlite3.Connection) -> int:
    """Return the number of chunks in which the sets lie, those included that should not be there."""
    last: int = db.execute("SELECT coalesce(max(id), 0) FROM site").fetchone()[0] >> bitmaps.BITS
    kept: int = db.execute("SELECT coalesce(max(chunk), 0) FROM bitmap").fetchone()[0]
    return 1 + max(last, kept)


def _gather(db: sqlite3.Connection, chunk: int) -> None:
    """Rebuild one chunk of every set from the columns."""
    db.execute("DELETE FROM bitmap WHERE chunk = ?", (chunk,))
    sets = bitmaps.Changes()
    first = chunk << bitmaps.BITS
    hosts = db.execute(f"SELECT id, {SUMMARY} FROM site WHERE id >= ? AND id < ?", (first, first + bitmaps.CHUNK))
    for site, *values in hosts.fetchall():
        sets.add(tags_of(*values), site)
    sets.write(db)


def _count(db: sqlite3.Connection) -> None:
    """Rebuild the counts from the columns."""
    db.execute("DELETE FROM tally")
    db.execute("INSERT INTO tally SELECT ranked, category, stance, score, count(*) FROM site GROUP BY 1, 2, 3, 4")


def _index_text(db: sqlite3.Connection) -> None:
    db.execute("INSERT INTO site_text (site_text) VALUES ('delete-all')")
    for site, host, name in db.execute("SELECT id, host, name FROM site").fetchall():
        db.execute("INSERT INTO site_text (rowid, hay) VALUES (?, ?)", (site, search_text_of(host, name)))
