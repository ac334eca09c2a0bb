"""Looking after the index: what is wrong with it, and putting it right."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import msgspec

from aui_tui.errors import RecordError
from aui_tui.store import bitmaps, blobs
from aui_tui.store.backup import Told
from aui_tui.store.columns import SUMMARY_AT, hay_of
from aui_tui.store.reports import Reports
from aui_tui.store.tags import tags_of
from aui_tui.store.writer import SUMMARY, Writer, choose_latest
from aui_tui.text import clean

MAX_PROBLEMS: Final = 20
STEP: Final = 1000


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """What a look at the index found: sentences about what is wrong, and its size.

    ``bytes`` counts the file and its write-ahead log.
    """

    problems: tuple[str, ...]
    hosts: int
    scans: int
    bytes: int


class Repair(msgspec.Struct, frozen=True, kw_only=True):
    """What a repair did.

    ``scans_removed``: cards that could not be read; ``observations_removed``: scans that keep their card alone;
    ``hosts_removed``: those without any scan left.
    """

    scans_removed: int
    observations_removed: int
    hosts_removed: int


def examine(reports: Reports, *, told: Told | None = None) -> Health:
    """Return the health of the index. Reads every kept card, which takes about a second for 20,000 of them.

    Raises Unavailable when the file is locked, or so damaged that it was set aside.
    """
    try:
        with reports.reading() as db:
            problems = [*_of_file(db), *_of_derived(db), *_of_records(db, told)]
            hosts = db.execute("SELECT count(*) FROM site").fetchone()[0]
            scans = db.execute("SELECT count(*) FROM scan").fetchone()[0]
    except sqlite3.Error as error:
        raise reports.database.explain(error, "read") from None
    log = reports.path.with_name(reports.path.name + "-wal")
    size = reports.path.stat().st_size + (log.stat().st_size if log.exists() else 0)
    return Health(problems=tuple(problems[:MAX_PROBLEMS]), hosts=hosts, scans=scans, bytes=size)


def repair(reports: Reports, *, told: Told | None = None) -> Repair:
    """Remove scans that cannot be read and make everything else that is kept of a host from its scans anew.

    One transaction: an interrupted repair changes nothing. Raises Unavailable.
    """
    try:
        with reports.database.writing() as db:
            broken = [found for found in _records(db, told) if found.problem]
            scans = [(found.id,) for found in broken if not found.card]
            blind = [(found.id,) for found in broken if found.card]
            db.executemany("DELETE FROM scan WHERE id = ?", scans)
            db.executemany("UPDATE scan SET observations = NULL WHERE id = ?", blind)
            db.execute("DELETE FROM scan WHERE site NOT IN (SELECT id FROM site)")
            hosts = [row[0] for row in db.execute("SELECT id FROM site WHERE id NOT IN (SELECT site FROM scan)")]
            db.executemany("DELETE FROM site WHERE id = ?", ((identity,) for identity in hosts))
            _rebuild(db)
    except sqlite3.Error as error:
        raise reports.database.explain(error, "repaired") from None
    return Repair(scans_removed=len(scans), observations_removed=len(blind), hosts_removed=len(hosts))


def _rebuild(db: sqlite3.Connection) -> None:
    """Make the summary columns, lines, sets, tallies and the text index anew from the kept scans."""
    db.execute("REINDEX")
    db.execute("DELETE FROM line WHERE id NOT IN (SELECT id FROM site)")
    db.execute("DELETE FROM bitmap")
    db.execute("DELETE FROM tally")
    db.execute("INSERT INTO tally SELECT ranked, category, stance, score, count(*) FROM site GROUP BY 1, 2, 3, 4")
    db.execute("INSERT INTO site_text (site_text) VALUES ('delete-all')")
    sets = bitmaps.Changes()
    for site, host, name, *values in db.execute(f"SELECT id, host, name, {SUMMARY} FROM site").fetchall():
        sets.add(tags_of(*values), site)
        db.execute("INSERT INTO site_text (rowid, hay) VALUES (?, ?)", (site, hay_of(host, name)))
    sets.write(db)
    writer = Writer(db, 0)
    for site, bits in db.execute("SELECT id, bits FROM site").fetchall():
        if not bits >> SUMMARY_AT & 1:
            writer.restore(site, choose_latest(db, site))
    writer.finish()


def _of_file(db: sqlite3.Connection) -> Iterator[str]:
    for (text,) in db.execute(f"PRAGMA integrity_check({MAX_PROBLEMS})"):
        if text != "ok":
            yield f"SQLite finds: {clean(str(text), 200)}."


def _of_derived(db: sqlite3.Connection) -> Iterator[str]:
    """Compare what is derived from the rows of ``site`` with the rows."""
    members: defaultdict[int, list[int]] = defaultdict(list)
    for site, *values in db.execute(f"SELECT id, {SUMMARY} FROM site"):
        for tag in tags_of(*values):
            members[tag].append(site)
    kept = {row[0] for row in db.execute("SELECT DISTINCT tag FROM bitmap")}
    wrong = sum(bitmaps.load(db, tag) != bitmaps.of(members.get(tag, ())) for tag in kept | set(members))
    if wrong:
        yield f"{wrong} of the sets behind the filters disagree with the list of hosts."
    tally = db.execute("SELECT ranked, category, stance, score, hosts FROM tally WHERE hosts <> 0").fetchall()
    counted = db.execute(
        "SELECT ranked, category, stance, score, count(*) FROM site GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4"
    ).fetchall()
    if tally != counted:
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
    found = {row[0] for row in db.execute("SELECT id FROM site ORDER BY id DESC LIMIT 50")}
    for site in found:
        host = db.execute("SELECT host FROM site WHERE id = ?", (site,)).fetchone()[0]
        if len(host) > 2 and not _found_by_text(db, site, host):
            yield "The text search does not find every host."
            return


def _found_by_text(db: sqlite3.Connection, site: int, host: str) -> bool:
    phrase = '"' + host.replace('"', '""') + '"'
    rows = db.execute("SELECT rowid FROM site_text WHERE site_text MATCH ?", (phrase,))
    return any(row[0] == site for row in rows)


def _of_records(db: sqlite3.Connection, told: Told | None) -> Iterator[str]:
    problems: defaultdict[str, int] = defaultdict(int)
    for found in _records(db, told):
        if found.problem:
            problems[found.problem] += 1
    for problem, count in problems.items():
        yield f"Scans that cannot be read: {count}. {problem}"


class _Record(NamedTuple):
    """A kept scan: whether its ``card`` can be read, and what is the ``problem`` with it, if any."""

    id: int
    card: bool
    problem: str


def _records(db: sqlite3.Connection, told: Told | None) -> Iterator[_Record]:
    total = db.execute("SELECT count(*) FROM scan").fetchone()[0]
    done = last = 0
    while True:
        rows = db.execute(
            "SELECT id, CAST(card AS BLOB), CAST(observations AS BLOB) FROM scan WHERE id > ? ORDER BY id LIMIT ?",
            (last, STEP),
        ).fetchall()
        if not rows:
            return
        for identity, card, seen in rows:
            bad = _problem(blobs.unpack_card, card)
            yield _Record(identity, not bad, bad or _problem(blobs.unpack_observations, seen))
        done, last = done + len(rows), rows[-1][0]
        if told is not None:
            told(done, total)


def _problem(unpack: Callable[[bytes], object], blob: bytes | None) -> str:
    try:
        if blob is not None:
            unpack(blob)
    except RecordError as error:
        return str(error)
    return ""
