"""A copy of the index while it is in use, and what can still be read of one that was set aside."""

from __future__ import annotations

import contextlib
import secrets
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import msgspec

from aui_tui.errors import ConfigError, RecordError, Unavailable
from aui_tui.records.card import ReportCard
from aui_tui.records.observations import Observations
from aui_tui.records.visits import Visits, decode_visits
from aui_tui.store import blobs
from aui_tui.store.database import PAGE, Database
from aui_tui.store.reports import Reports
from aui_tui.text import clean

PAGES: Final = 2048
"""Pages copied in one step; between steps the index may be written to."""

OnProgress = Callable[[int, int], None]
"""Called with how much is done, of how much."""


def backup(reports: Reports, target: Path, *, overwrite: bool = False, progress: OnProgress | None = None) -> int:
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


def _copy(reports: Reports, partial: Path, progress: OnProgress | None) -> None:
    def step(status: int, remaining: int, total: int) -> None:
        if progress is not None:
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
"""Ids in a row that give nothing before the rest is given up, where the file cannot say its largest."""
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


def salvage(damaged: Path, reports: Reports, *, progress: OnProgress | None = None) -> Salvaged:
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


def _scans(file: Path, progress: OnProgress | None) -> Iterator[tuple[ReportCard, Observations | None] | None]:
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
            if progress is not None:
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
