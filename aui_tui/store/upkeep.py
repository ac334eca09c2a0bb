"""What is wrong with the index."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from aui_tui.errors import RecordError
from aui_tui.records.card import ReportCard
from aui_tui.records.observations import Observations
from aui_tui.store import bitmaps, blobs
from aui_tui.store.backup import Told
from aui_tui.store.reports import Reports
from aui_tui.store.tags import tags_of
from aui_tui.store.writer import SUMMARY
from aui_tui.text import clean

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


def examine(reports: Reports, *, told: Told | None = None) -> Health:
    """Return the health of the index. Reads every kept card, which takes about a second for 2,000 of them.

    Raises Unavailable when the file is locked, or so damaged that it was set aside.
    """
    try:
        with reports.reading() as db:
            problems = [*of_file(db), *_of_derived(db), *_of_records(db, told)]
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
    phrase = '"' + host.replace('"', '""') + '"'
    rows = db.execute("SELECT rowid FROM site_text WHERE site_text MATCH ?", (phrase,))
    return any(row[0] == site for row in rows)


def _of_records(db: sqlite3.Connection, told: Told | None) -> Iterator[str]:
    problems: defaultdict[str, int] = defaultdict(int)
    for found in records(db, told):
        if found.problem:
            problems[found.problem] += 1
    for problem, count in problems.items():
        yield f"Scans that cannot be read: {count}. {problem}"


class Record(NamedTuple):
    """A kept scan as far as it can be read, and what is the ``problem`` with it, if any."""

    id: int
    site: int
    at: int
    card: ReportCard | None
    seen: Observations | None
    problem: str


def records(db: sqlite3.Connection, told: Told | None) -> Iterator[Record]:
    """Yield every kept scan."""
    total = db.execute("SELECT count(*) FROM scan").fetchone()[0]
    done = last = 0
    while True:
        rows = db.execute(f"{RECORD} WHERE id > ? ORDER BY id LIMIT ?", (last, STEP)).fetchall()
        if not rows:
            return
        yield from (record_of(*row) for row in rows)
        done, last = done + len(rows), rows[-1][0]
        if told is not None:
            told(done, total)


def record_of(identity: int, site: int, at: int, card_blob: bytes | None, seen_blob: bytes | None) -> Record:
    """Return what a row of RECORD is worth."""
    card = seen = None
    try:
        card = None if card_blob is None else blobs.unpack_card(card_blob)
        seen = None if seen_blob is None else blobs.unpack_observations(seen_blob)
    except RecordError as error:
        return Record(identity, site, at, card, seen, str(error))
    return Record(identity, site, at, card, seen, "")
