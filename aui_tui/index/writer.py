"""Writing a scan: which one is a host's latest card, how the history is thinned, what changed."""

from __future__ import annotations

import sqlite3
from typing import Final

import msgspec

from aui_tui.index import bitmaps, blobs
from aui_tui.index.bitmaps import tags_of
from aui_tui.index.columns import SUMMARY_AT, Columns, columns_of, columns_of_summary, method_of, search_text_of
from aui_tui.model.card import ReportCard, SiteSummary, epoch_ms
from aui_tui.model.observations import Observations
from aui_tui.model.points import task_points, without_tasks

DAY_MS: Final = 86_400_000
KEEP_ALL_MS: Final = 30 * DAY_MS
"""Every scan of the last 30 days is kept; of older ones the last of each week."""
WEEK_MS: Final = 7 * DAY_MS
DEAD_AFTER_MS: Final = DAY_MS
"""A good card stays the latest until scans without any answer have gone on for this long."""

INCOMPLETE: Final = 2
"""In the column ``dead``: the scan was stopped before its end. 1: it got no answer at all."""

SUMMARY: Final = "ranked, category, stance, score, bits, edge"
TEXT_DELETE: Final = "INSERT INTO site_text (site_text, rowid, hay) VALUES ('delete', ?, ?)"


class Packed(msgspec.Struct, frozen=True, kw_only=True):
    """A scan ready to be written: everything that costs time is done outside the transaction."""

    host: str
    at: int
    columns: Columns
    line: bytes
    grade: str
    dead: bool
    method: str
    card: bytes | None
    observations: bytes | None
    plain: int | None = None
    incomplete: bool = False

    @classmethod
    def of(cls, card: ReportCard, observations: Observations | None) -> Packed:
        """Pack a card and what was seen; the key is ``observations.host``, else ``card.host``."""
        return cls(
            host=observations.host if observations is not None else card.host,
            at=epoch_ms(card.scanned_at),
            columns=columns_of(card, observations),
            line=blobs.pack_line(card),
            grade=card.grade,
            dead=card.probe_dead,
            method=card.method,
            card=blobs.pack_card(card),
            observations=None if observations is None else blobs.pack_observations(observations),
            plain=without_tasks(card) if task_points(card) is not None else None,
            incomplete=observations is not None and observations.incomplete,
        )

    @classmethod
    def of_summary(cls, summary: SiteSummary, *, ranked: bool) -> Packed:
        """Pack a row that another index published; ``ranked`` says from which of its two lists."""
        method = method_of(summary)
        return cls(
            host=summary.host,
            at=epoch_ms(summary.scanned_at),
            columns=columns_of_summary(summary, method, ranked=ranked),
            line=blobs.pack_summary(summary, method),
            grade=summary.grade,
            dead=False,
            method=method,
            card=None,
            observations=None,
        )


class Writer:
    """Writes scans inside the caller's transaction; ``finish`` must be called before it is committed.

    ``now`` is in milliseconds since the epoch and decides what of the history is thinned.
    """

    def __init__(self, db: sqlite3.Connection, now: int) -> None:
        self._db = db
        self._now = now
        self._sets = bitmaps.Changes()
        self._edges: dict[str, int] = {}

    def finish(self) -> None:
        """Write what was gathered."""
        self._sets.write(self._db)
        self._db.execute("UPDATE meta SET changes = changes + 1")

    def put(self, scan: Packed) -> bool:
        """Write ``scan``; return whether it became the latest card of its host.

        A card replaces a summary of its host; a summary is not written where there is a card or a newer summary.
        """
        db = self._db
        found = db.execute("SELECT id, at, bits FROM site WHERE host = ?", (scan.host,)).fetchone()
        if found is None:
            self._keep(self._insert(scan), scan)
            return True
        site, latest, bits = found
        if scan.card is None and (not bits >> SUMMARY_AT & 1 or scan.at < latest):
            return False
        if bits >> SUMMARY_AT & 1:
            db.execute("DELETE FROM scan WHERE site = ?", (site,))
            latest = -1
        self._keep(site, scan)
        self._thin(site)
        good = not scan.dead and not scan.incomplete
        chosen = scan.at if scan.at > latest and good else choose_latest(db, site)
        if chosen == scan.at:
            self._update(site, scan.host, scan.columns, scan.at, scan.line)
        elif chosen != latest:
            self.promote(site, chosen)
        self._count(site, chosen)
        return bool(chosen == scan.at)

    def promote(self, site: int, at: int) -> None:
        """Make the kept scan at ``at`` the latest card of ``site``. Raises RecordError when it cannot be read."""
        host, card_blob, seen_blob = self._db.execute(
            "SELECT host, CAST(card AS BLOB), CAST(observations AS BLOB) FROM scan JOIN site ON site.id = site "
            "WHERE site = ? AND scan.at = ?",
            (site, at),
        ).fetchone()
        card = blobs.unpack_card(card_blob)
        seen = None if seen_blob is None else blobs.unpack_observations(seen_blob)
        self._update(site, host, columns_of(card, seen), at, blobs.pack_line(card))

    def restore(self, site: int, at: int) -> None:
        """Rebuild everything that is derived from the scans of ``site``, with the scan at ``at`` as its latest."""
        self.promote(site, at)
        self._count(site, at)

    def remove(self, site: int) -> int:
        """Remove ``site`` and its history; return the number of scans removed."""
        db = self._db
        host, name, *values = db.execute(f"SELECT host, name, {SUMMARY} FROM site WHERE id = ?", (site,)).fetchone()
        db.execute(TEXT_DELETE, (site, search_text_of(host, name)))
        self._sets.discard(tags_of(*values), site)
        removed = db.execute("DELETE FROM scan WHERE site = ?", (site,)).rowcount
        db.execute("DELETE FROM line WHERE id = ?", (site,))
        db.execute("DELETE FROM site WHERE id = ?", (site,))
        return removed

    def _insert(self, scan: Packed) -> int:
        db, found = self._db, scan.columns
        values = self._values(found)
        site = db.execute(
            f"INSERT INTO site (host, name, {SUMMARY}, at, change, scans) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, 1)",
            (scan.host, found.name, *values, scan.at),
        ).lastrowid
        assert site is not None
        db.execute("INSERT INTO line (id, line) VALUES (?, ?)", (site, scan.line))
        db.execute("INSERT INTO site_text (rowid, hay) VALUES (?, ?)", (site, search_text_of(scan.host, found.name)))
        self._sets.add(tags_of(*values), site)
        return site

    def _update(self, site: int, host: str, found: Columns, at: int, line: bytes) -> None:
        db = self._db
        name, *before = db.execute(f"SELECT name, {SUMMARY} FROM site WHERE id = ?", (site,)).fetchone()
        values = self._values(found)
        old, new = tags_of(*before), tags_of(*values)
        self._sets.discard(old - new, site)
        self._sets.add(new - old, site)
        if name != found.name:
            db.execute(TEXT_DELETE, (site, search_text_of(host, name)))
            db.execute("INSERT INTO site_text (rowid, hay) VALUES (?, ?)", (site, search_text_of(host, found.name)))
        db.execute(
            f"UPDATE site SET (name, {SUMMARY}, at) = (?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ?",
            (found.name, *values, at, site),
        )
        db.execute("INSERT OR REPLACE INTO line (id, line) VALUES (?, ?)", (site, line))

    def _values(self, found: Columns) -> tuple[int, int, int, int, int, int]:
        edge = self._edge(found.edge)
        return found.ranked, found.category, found.stance, found.score, found.bits, edge

    def _edge(self, text: str) -> int:
        known = self._edges.get(text)
        if known is None:
            row = self._db.execute("SELECT id FROM edge WHERE text = ?", (text,)).fetchone()
            known = row[0] if row else self._db.execute("INSERT INTO edge (text) VALUES (?)", (text,)).lastrowid or 0
            self._edges[text] = known
        return known

    def _keep(self, site: int, scan: Packed) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO scan "
            "(site, at, score, grade, stance, unreachable, dead, method, card, observations, plain) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                site,
                scan.at,
                scan.columns.score,
                scan.grade,
                scan.columns.stance,
                1 - scan.columns.ranked,
                INCOMPLETE if scan.incomplete else int(scan.dead),
                scan.method,
                scan.card,
                scan.observations,
                scan.plain,
            ),
        )

    def _thin(self, site: int) -> None:
        cut = self._now - KEEP_ALL_MS
        self._db.execute(
            "DELETE FROM scan WHERE site = ?1 AND at < ?2 AND at <> (SELECT at FROM site WHERE id = ?1) AND at NOT IN "
            "(SELECT max(at) FROM scan WHERE site = ?1 AND at < ?2 GROUP BY at / ?3)",
            (site, cut, WEEK_MS),
        )

    def _count(self, site: int, latest: int) -> None:
        """Write the number of kept scans and the change of the score since the scan before, under the same method.

        Where only one of the two ran the tasks, the scores without tasks are compared.
        """
        self._db.execute(
            "UPDATE site SET scans = (SELECT count(*) FROM scan WHERE site = ?1), change = ("
            "SELECT CASE WHEN (now.plain IS NULL) = (past.plain IS NULL) THEN now.score - past.score "
            "ELSE coalesce(now.plain, now.score) - coalesce(past.plain, past.score) END "
            "FROM scan AS now, scan AS past WHERE now.site = ?1 AND now.at = ?2 "
            "AND past.site = ?1 AND past.at = (SELECT max(at) FROM scan WHERE site = ?1 AND at < ?2 AND dead = 0) "
            "AND now.method = past.method AND NOT now.unreachable AND NOT past.unreachable) WHERE id = ?1",
            (site, latest),
        )


def choose_latest(db: sqlite3.Connection, site: int) -> int:
    """Return the time of the scan that stands for ``site``: the newest, or the newest with an answer.

    Scans without any answer are passed over while there is an earlier one with answers and they span under 24 h; one
    that was stopped before its end is passed over wherever there is another.
    """
    newest: int = db.execute(
        "SELECT coalesce((SELECT max(at) FROM scan WHERE site = ?1 AND dead < ?2), max(at)) FROM scan WHERE site = ?1",
        (site, INCOMPLETE),
    ).fetchone()[0]
    good: int | None = db.execute("SELECT max(at) FROM scan WHERE site = ? AND dead = 0", (site,)).fetchone()[0]
    if good is None or good == newest:
        return newest
    first_dead: int = db.execute(
        "SELECT min(at) FROM scan WHERE site = ? AND at > ? AND dead = 1", (site, good)
    ).fetchone()[0]
    return newest if newest - first_dead >= DEAD_AFTER_MS else good
