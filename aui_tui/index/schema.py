"""The tables of an index: the statements of ``schema.sql``, whether a file is made of them, and which scans count."""

from __future__ import annotations

import re
import sqlite3
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

VERSION: Final = 2
"""Schema version of this program, kept in ``PRAGMA user_version``; a file of another version is refused."""
TABLES: Final = ("site", "scan", "visits", "meta", "tally", "tally_words", "site_text")
BEFORE, AFTER = (
    f"CAST(CASE WHEN (now.plain IS NULL) = (past.plain IS NULL) THEN {scan}.score "
    f"ELSE coalesce({scan}.plain, {scan}.score) END AS INTEGER)"
    for scan in ("past", "now")
)
"""The scores of two scans as they compare: both without tasks where only one of the two ran them."""
ROUTE: Final = "aside = (SELECT min(aside) FROM scan AS other WHERE other.site = scan.site)"
"""The scans of a host among which its card and its history are."""
COMPARABLE: Final = "now.method = past.method AND NOT now.unreachable AND NOT past.unreachable"


class Statement(msgspec.Struct, frozen=True):
    """A statement of ``schema.sql``, and what it makes; ``kind`` is empty for a statement that makes nothing."""

    kind: str
    name: str
    sql: str


@cache
def schema() -> tuple[Statement, ...]:
    """Return the statements that create an empty index."""
    parts, pending = [], ""
    for line in Path(__file__).with_name("schema.sql").read_text(encoding="utf-8").splitlines():
        pending += "" if not pending and (not line or line.startswith("--")) else line + "\n"
        if sqlite3.complete_statement(pending):
            words = pending.replace("VIRTUAL ", "").split(maxsplit=3)
            made = words[0] == "CREATE"
            sql = pending.strip().removesuffix(";")
            parts.append(Statement(words[1].lower() if made else "", words[2] if made else "", sql))
            pending = ""
    return tuple(parts)


def shape(db: sqlite3.Connection) -> dict[str, str]:
    """Return the statement of each part of a file, by its kind and name."""
    parts = db.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
    return {f"{kind} {name}": _bare(sql) for kind, name, sql in parts}


@cache
def ours() -> dict[str, str]:
    """Return the statement of each part of an index of this version, by its kind and name."""
    return {f"{part.kind} {part.name}": _bare(part.sql) for part in schema() if part.kind}


def _bare(sql: str) -> str:
    """Return a statement without its comments and line breaks, as SQLite keeps both."""
    return " ".join(re.sub("--.*", "", sql).split())


def is_ours(name: str, made: str) -> bool:
    """Say whether a part of a file may be there: tables, indexes and views of the user's own are never read."""
    kind, _, table = name.partition(" ")
    if kind == "view":
        return table not in TABLES
    if kind == "index" or (kind == "table" and table not in TABLES):
        return True
    return ours().get(name) == made
