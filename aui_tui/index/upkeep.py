"""The check of the index and its backup, both in steps so short that a crawl goes on beside them."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from aui_tui.errors import ConfigError, RecordError, Unavailable
from aui_tui.files import check_new, check_place, whole
from aui_tui.index import compression
from aui_tui.index.store import Store
from aui_tui.model.visits import decode_visits
from aui_tui.text import clean

PAGES: Final = 2048
"""Pages copied in one step; between steps the index may be written to."""

OnProgress = Callable[[int, int], None]
"""Called with how much is done, of how much."""


def unseen(done: int, of: int) -> None:
    """Show no progress."""


def backup(store: Store, target: Path, *, overwrite: bool = False, progress: OnProgress = unseen) -> int:
    """Copy the whole index to the file ``target`` and return its size in bytes.

    ``target`` appears when it is complete: an interrupted copy leaves nothing behind. Raises BadValue when it exists
    and ``overwrite`` is not given, ConfigError when it cannot be written, Unavailable when the index cannot be read.
    """
    check_place(target)
    if not overwrite:
        check_new(target)
    elif target.exists() and target.samefile(store.path):
        raise ConfigError(f"{clean(target, 200)} cannot be the backup of this index.")
    with whole(target, new=not overwrite) as partial:
        _copy(store, partial, progress)
        return partial.stat().st_size


def _copy(store: Store, partial: Path, progress: OnProgress) -> None:
    def step(status: int, remaining: int, total: int) -> None:
        progress(total - remaining, total)

    source = store.database.reader()
    partial.touch(mode=0o600, exist_ok=False)
    copy = sqlite3.connect(partial)
    try:
        copy.execute("PRAGMA journal_mode = OFF")  # what is not whole goes, so no file beside it is of use
        source.backup(copy, pages=PAGES, progress=step, sleep=0.01)
        copy.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error as error:
        raise Unavailable(f"The index could not be copied: {clean(error, 120)}.") from None
    finally:
        copy.close()


MAX_PROBLEMS: Final = 20
STEP: Final = 1000
"""Scans read at a time."""


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """What a look at the index found: sentences about what is wrong, and its size.

    ``bytes`` counts the file and its write-ahead log.
    """

    problems: tuple[str, ...]
    hosts: int
    scans: int
    bytes: int


COUNTS: Final = (
    (
        "Lists, categories, stances and scores whose count is wrong",
        "SELECT count(*) FROM (SELECT ranked, category, stance, score, count(*) FROM site GROUP BY 1, 2, 3, 4 EXCEPT "
        "SELECT * FROM tally)",
    ),
    (
        "Lists, stances, answers and scores whose count is wrong",
        "SELECT count(*) FROM (SELECT ranked, stance, words, score, count(*) FROM site GROUP BY 1, 2, 3, 4 EXCEPT "
        "SELECT * FROM tally_words)",
    ),
    ("Scans without a host", "SELECT count(*) FROM scan WHERE site NOT IN (SELECT id FROM site)"),
    (
        "Hosts without the scan behind their card",
        "SELECT count(*) FROM site WHERE NOT EXISTS (SELECT 1 FROM scan WHERE site = site.id AND at = site.at)",
    ),
    (
        "Hosts that the text search does not find",
        "SELECT count(*) FROM (SELECT id, host FROM site WHERE length(host) > 2 ORDER BY id DESC LIMIT 50) AS newest "
        "WHERE id NOT IN (SELECT rowid FROM site_text WHERE site_text MATCH '\"' || newest.host || '\"')",
    ),
)
"""What must be zero."""


def examine(store: Store, *, progress: OnProgress = unseen) -> Health:
    """Return the health of the index. Reads every kept card, which takes about a second for 2,000 of them.

    Raises Unavailable when the file is locked, or so damaged that it was set aside.
    """
    with store.database.reading(seconds=float("inf")) as db:
        problems = [
            f"SQLite finds: {clean(str(text), 200)}."
            for (text,) in db.execute(f"PRAGMA integrity_check({MAX_PROBLEMS})")
            if text != "ok"
        ]
        counted = Counter({what: db.execute(sql).fetchone()[0] for what, sql in COUNTS})
        counted.update(_broken(db, progress))
        problems += [f"{what}: {count}." for what, count in counted.items() if count]
        hosts, scans = (db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("site", "scan"))
    log = store.path.with_name(store.path.name + "-wal")
    size = store.path.stat().st_size + (log.stat().st_size if log.exists() else 0)
    return Health(problems=tuple(problems[:MAX_PROBLEMS]), hosts=hosts, scans=scans, bytes=size)


def _broken(db: sqlite3.Connection, progress: OnProgress) -> Iterator[str]:
    """Yield a word for every record that cannot be read."""
    total, done, last = db.execute("SELECT count(*) FROM scan").fetchone()[0], 0, 0
    sql = "SELECT id, CAST(card AS BLOB), CAST(observations AS BLOB) FROM scan WHERE id > ? ORDER BY id LIMIT ?"
    while rows := db.execute(sql, (last, STEP)).fetchall():
        for _, card, observations in rows:
            try:
                if card is not None:
                    compression.unpack_card(card)
                if observations is not None:
                    compression.unpack_observations(observations)
            except RecordError:
                yield "Scans that cannot be read"
        done, last = done + len(rows), rows[-1][0]
        progress(done, total)
    for host, data in db.execute("SELECT host, CAST(record AS BLOB) FROM visits"):
        try:
            sound = decode_visits(data).host == host
        except RecordError:
            sound = False
        if not sound:
            yield "Hosts whose visits cannot be read"
