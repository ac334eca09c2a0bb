"""Indexes of earlier schema versions brought to the present one, inside one transaction: a killed one begins again.

Scans and visits stay as they are; every other table is made anew. Versions 1 to 3 kept what filters read as bits in
``site`` and what a list shows as MessagePack in ``line``; later ones have plain columns, which are copied. What no
column held is written when the scans are graded again, as they all are: the new ``meta`` names no revision.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import msgspec

from aui_tui.index import rows
from aui_tui.index.schema import schema
from aui_tui.model.decoding import from_msgpack
from aui_tui.model.query import CONTRADICTIONS, HAS
from aui_tui.model.registry import surfaces
from aui_tui.model.vocabulary import FIXES, STANCES, VERDICTS

PLAIN: Final = 4
"""The first version with plain columns."""
# Places of the bits: eight verdicts of three bits, then one bit each
HAS_AT: Final = 24
FIX_AT: Final = 33
CONTRADICTION_AT: Final = 41
TASKS_AT: Final = 48
DIRECTION_AT: Final = 49

OLD: Final = (
    "SELECT site.id, host, name, ranked, stance, score, bits, site.at, change, scans, CAST(line AS BLOB), edge.text "
    "FROM old_site AS site LEFT JOIN line ON line.id = site.id LEFT JOIN edge ON edge.id = edge"
)


class OldRow(msgspec.Struct, frozen=True, array_like=True):
    """What the table ``line`` held. ``matrix``: our eight verdicts as digits, or a map with other keys or words."""

    name: str
    category: str
    grade: str
    stance: str
    pillars: dict[str, int | float | None]
    matrix: str | dict[str, str]
    scanned_at: str
    top_evidence: str
    url: str
    method: str
    edge: str = ""
    best_fix: str = ""
    best_points: int = 0
    live: tuple[int, ...] = ()


def migrate(db: sqlite3.Connection, version: int) -> None:
    """Bring a file of ``version`` to the present one."""
    if version < 3:
        db.execute("ALTER TABLE scan ADD COLUMN plain INTEGER")
    db.execute("CREATE TABLE old_site AS SELECT * FROM site")
    for part in schema():
        if part.kind == "view":
            db.execute(f"DROP VIEW IF EXISTS {part.name}")
    for name in ("site", "tally", "bitmap", "site_text", "meta"):
        db.execute(f"DROP TABLE IF EXISTS {name}")
    kept = {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    for part in schema():
        if part.name not in kept:
            db.execute(part.sql)
    if version < PLAIN:
        for site in _from_bits(db):
            db.execute(f"INSERT INTO site ({', '.join(site)}) VALUES (:{', :'.join(site)})", site)
    else:
        sql = "SELECT name FROM pragma_table_info('old_site') JOIN pragma_table_info('site') USING (name)"
        columns = ", ".join(name for (name,) in db.execute(sql))
        db.execute(f"INSERT INTO site ({columns}) SELECT {columns} FROM old_site")
    for site, host, folded in db.execute("SELECT id, host, folded FROM site"):
        db.execute("INSERT INTO site_text (rowid, hay) VALUES (?, ?)", (site, rows.search_text(host, folded)))
    for name in ("old_site", "line", "edge"):
        db.execute(f"DROP TABLE IF EXISTS {name}")


def _from_bits(db: sqlite3.Connection) -> Iterator[dict[str, rows.Value]]:
    """Yield the columns of every host of a file without them; one whose line is damaged keeps its history alone."""
    for site, host, folded, ranked, stance, score, bits, at, change, scans, line, edge in db.execute(OLD):
        with suppress(msgspec.MsgspecError, ValueError, TypeError):
            old = from_msgpack(line, OldRow)
            found = _of_bits(bits) | _of_line(old) | {"id": site, "host": host, "folded": folded, "ranked": ranked}
            found |= {"stance": STANCES[stance], "score": score, "at": at, "change": change, "scans": scans}
            yield found | {"edge": old.edge or edge or "", "crawlers": "", "server": ""}


def _of_bits(bits: int) -> dict[str, rows.Value]:
    def words(first: int, among: tuple[str, ...]) -> str:
        return rows.joined(word for place, word in enumerate(among) if bits >> first + place & 1)

    verdicts: list[rows.Value] = [
        VERDICTS[code] if (code := bits >> 3 * place & 7) < len(VERDICTS) else "" for place in range(8)
    ]
    directions = words(DIRECTION_AT, CONTRADICTIONS)
    if not directions and bits >> CONTRADICTION_AT & 1:  # a row from before there were directions
        live = [verdict for surface, verdict in zip(surfaces(), verdicts, strict=True) if surface.live]
        held = {"out": {"blocked", "walled"} & {*live}, "in": {"disallowed"} & {*live}}
        directions = rows.joined(word for word in CONTRADICTIONS if held[word])
    return dict(zip(rows.AGENTS, verdicts, strict=True)) | {
        "has": words(HAS_AT, HAS),
        "fixes": words(FIX_AT, FIXES),
        "contradictions": directions,
        "tasks": bits >> TASKS_AT & 1,
    }


def _of_line(line: OldRow) -> dict[str, rows.Value]:
    foreign = isinstance(line.matrix, dict)
    return {
        "name": line.name,
        "category": line.category,
        "grade": line.grade,
        "method": line.method,
        "matrix": json.dumps(line.matrix) if foreign else "",
        "pillars": json.dumps(line.pillars),
        "top_evidence": line.top_evidence,
        "url": line.url,
        "best_fix": line.best_fix,
        "best_points": line.best_points,
        "live": json.dumps(line.live),
    }
