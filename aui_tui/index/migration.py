"""Indexes of earlier schema versions brought to the present one, inside one transaction: a killed one begins again.

Versions 1 to 3 kept what filters read as bits in ``site`` and what a list shows as MessagePack in ``line``. The scans
and their cards stay as they are. What no column held is written when they are graded again, as they all are: the new
``meta`` names no revision.
"""

from __future__ import annotations

import json
import sqlite3
from typing import Final

import msgspec

from aui_tui.index import rows
from aui_tui.index.schema import VERSION, schema
from aui_tui.model.decoding import msgpack_decoder
from aui_tui.model.query import CONTRADICTIONS, HAS
from aui_tui.model.registry import surfaces
from aui_tui.model.vocabulary import FIXES, STANCES, VERDICTS

PLAIN: Final = 4
"""The first version with plain columns."""
_CASES: Final = " ".join(
    f"WHEN '{stance}' = stance AND '{category}' IN (category, '') THEN '{chr(code)}'"
    for code, (category, stance) in rows.KINDS.items()
)
STEPS: Final = {
    5: (
        "ALTER TABLE meta ADD COLUMN revision INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE meta ADD COLUMN ungraded INTEGER NOT NULL DEFAULT 0",
    ),
    6: ("ALTER TABLE site ADD COLUMN kind TEXT",),
    7: (
        "DROP INDEX site_list",
        "DROP INDEX site_at",
        "ALTER TABLE site DROP COLUMN kind",
        "ALTER TABLE site ADD COLUMN kind TEXT NOT NULL DEFAULT ''",
        f"UPDATE site SET kind = CASE {_CASES} ELSE '' END",
        *(part.sql for part in schema() if part.name == "site_at"),
    ),
    8: ("DROP INDEX IF EXISTS site_list", *(part.sql for part in schema() if part.name == "site_list")),
}
"""What each version since changed. After a new column of ``site`` comes ``UPDATE meta SET revision = 0``: then every
row is written anew from its card."""
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


_LINES: Final = msgpack_decoder(OldRow)


def migrate(db: sqlite3.Connection, version: int) -> None:
    """Bring a file of ``version`` to the present one."""
    if version < PLAIN:
        _to_columns(db, version)
        return
    for number in range(version + 1, VERSION + 1):
        for sql in STEPS[number]:
            db.execute(sql)


def _to_columns(db: sqlite3.Connection, version: int) -> None:
    """Give a file of ``version`` plain columns; hosts whose line is damaged keep their history alone."""
    if version < 3:
        db.execute("ALTER TABLE scan ADD COLUMN plain INTEGER")
    for kind, name in db.execute("SELECT type, name FROM sqlite_schema WHERE sql IS NOT NULL").fetchall():
        if kind in ("index", "trigger", "view"):
            db.execute(f'DROP {kind} "{name}"')
    for name in ("tally", "bitmap", "site_text", "meta"):
        db.execute(f"DROP TABLE {name}")
    db.execute("ALTER TABLE site RENAME TO old_site")
    kept = {"scan"} | ({"visits"} if version > 1 else set())
    made = [part for part in schema() if part.name not in kept]
    for part in made:
        if part.kind == "table":
            db.execute(part.sql)
    for site, host, folded, ranked, stance, score, bits, at, change, scans, line, edge in db.execute(OLD):
        try:
            old = _LINES.decode(line)
        except (msgspec.MsgspecError, ValueError, TypeError):
            continue
        found = _of_bits(bits) | _of_line(old) | {"crawlers": "", "server": ""}
        found |= {"host": host, "folded": folded, "ranked": ranked, "stance": STANCES[stance], "score": score, "at": at}
        found["edge"] = old.edge or edge or ""
        found["kind"] = rows.kind_of(old.category, STANCES[stance])
        found |= {"id": site, "change": change, "scans": scans}
        marks = ", ".join("?" * len(found))
        db.execute(f"INSERT INTO site ({', '.join(found)}) VALUES ({marks})", tuple(found.values()))
        db.execute("INSERT INTO site_text (rowid, hay) VALUES (?, ?)", (site, rows.search_text(host, folded)))
    db.execute("INSERT INTO tally SELECT ranked, category, stance, score, count(*) FROM site GROUP BY 1, 2, 3, 4")
    for part in made:
        if part.kind != "table":
            db.execute(part.sql)
    for name in ("old_site", "line", "edge"):
        db.execute(f"DROP TABLE {name}")


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
