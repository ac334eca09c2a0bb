"""Putting the index right, in steps so short that a crawl goes on beside them."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, TypeVar

import msgspec

from aui_tui.store import bitmaps, blobs
from aui_tui.store.backup import Told
from aui_tui.store.columns import SUMMARY_AT, columns_of, hay_of
from aui_tui.store.reports import Reports
from aui_tui.store.tags import tags_of
from aui_tui.store.upkeep import RECORD, of_file, record_of, records, tally_is_sound, text_is_sound, wrong_sets
from aui_tui.store.writer import SUMMARY, Writer, choose_latest

T = TypeVar("T")
STEP: Final = 200
"""Hosts or scans dealt with in one transaction."""
GAP: Final = 0.1
"""Seconds between two transactions, in which other processes have their turn."""
PATIENCE: Final = 30.0
"""Seconds to wait for another process's lock."""
SHOWN: Final = (
    "SELECT name, ranked, category, stance, score, bits, text, CAST(line AS BLOB) "
    "FROM site LEFT JOIN edge ON edge.id = edge LEFT JOIN line ON line.id = site.id WHERE site.id = ? AND at = ?"
)


class Repair(msgspec.Struct, frozen=True, kw_only=True):
    """What a repair did.

    ``scans_removed``: cards that could not be read; ``observations_removed``: scans that keep their card alone;
    ``hosts_removed``: those without any scan left.
    """

    scans_removed: int
    observations_removed: int
    hosts_removed: int


def repair(reports: Reports, *, told: Told | None = None) -> Repair:
    """Remove scans that cannot be read, and make anew from the others what of a host does not agree with them.

    Each step is a transaction of its own: an interrupted repair is begun again. Raises Unavailable.
    """
    try:
        with reports.reading() as db:
            file_is_sound = not any(of_file(db))
            broken, wrong = _look(db, told)
        if not file_is_sound:
            _step(reports, lambda db: db.execute("REINDEX"))
        scans = observations = 0
        for few in _parted(broken):
            found = _step(reports, partial(_remove, scans=few))
            scans, observations = scans + found[0], observations + found[1]
        hosts, loose = _step(reports, _remove_loose)
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
    return Repair(scans_removed=scans, observations_removed=observations, hosts_removed=hosts)


def _parted(found: list[int]) -> Iterator[list[int]]:
    for start in range(0, len(found), STEP):
        yield found[start : start + STEP]


def _step(reports: Reports, work: Callable[[sqlite3.Connection], T]) -> T:
    """Return ``work(db)`` done in one transaction, and leave the others GAP seconds after it."""
    end = time.monotonic() + PATIENCE
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


def _look(db: sqlite3.Connection, told: Told | None) -> tuple[list[int], set[int]]:
    """Return the scans that are broken, and the hosts whose columns or line are not those of their latest scan."""
    broken, wrong = [], set()
    for found in records(db, told):
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
    """Make columns and lines of ``sites`` anew from their scans; return how many had another name."""
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
    """Make one chunk of every set anew from the columns."""
    db.execute("DELETE FROM bitmap WHERE chunk = ?", (chunk,))
    sets = bitmaps.Changes()
    first = chunk << bitmaps.BITS
    hosts = db.execute(f"SELECT id, {SUMMARY} FROM site WHERE id >= ? AND id < ?", (first, first + bitmaps.CHUNK))
    for site, *values in hosts.fetchall():
        sets.add(tags_of(*values), site)
    sets.write(db)


def _count(db: sqlite3.Connection) -> None:
    """Make the tallies anew from the columns."""
    db.execute("DELETE FROM tally")
    db.execute("INSERT INTO tally SELECT ranked, category, stance, score, count(*) FROM site GROUP BY 1, 2, 3, 4")


def _index_text(db: sqlite3.Connection) -> None:
    db.execute("INSERT INTO site_text (site_text) VALUES ('delete-all')")
    for site, host, name in db.execute("SELECT id, host, name FROM site").fetchall():
        db.execute("INSERT INTO site_text (rowid, hay) VALUES (?, ?)", (site, hay_of(host, name)))
