"""What can be written to a file, and who writes it: the dashboard is given a writer and knows no format."""

from __future__ import annotations

from typing import Final, Literal, Protocol

import msgspec

from aui_tui.records.query import Query

Kind = Literal["list", "card", "snippet"]
ENDINGS: Final = {"list": (".json", ".ndjson", ".csv"), "card": (".json", ".md"), "snippet": ()}
"""Endings that choose a format, the first being the proposal; a snippet is written as it is."""
MAX_NAME: Final = 60


class ExportJob(msgspec.Struct, frozen=True):
    """Something to write to ``path``, whose ending chooses the format.

    A list: the ranked or ``unreachable`` hosts of ``query``, or only ``hosts`` when there are any. A card: the one
    of ``host`` under ``method`` scanned ``at`` (empty: as stored, the newest). A snippet: ``text``.
    """

    kind: Kind
    path: str
    query: Query = msgspec.field(default_factory=Query)
    unreachable: bool = False
    hosts: tuple[str, ...] = ()
    host: str = ""
    method: str = ""
    at: str = ""
    text: str = ""


class Exporter(Protocol):
    """Writes a job and returns one sentence on what was written. Raises AuiError, also for a path that is taken."""

    async def __call__(self, job: ExportJob, /) -> str:
        """Write ``job``."""
        ...


def file_name(words: str, ending: str) -> str:
    """Return a name for a file made from ``words``: lower-case letters, digits, dots and hyphens only."""
    kept = "".join(char if char.isascii() and (char.isalnum() or char in ".-") else "-" for char in words.lower())
    stem = "-".join(part for part in kept.split("-") if part).strip(".-")[:MAX_NAME].rstrip(".-")
    return ".".join((stem or "aui", ending))


def list_name(query: Query, *, unreachable: bool, marked: bool) -> str:
    """Return the proposal for a list: ``walled-travel.json``."""
    parts = ["marked"] if marked else [query.stance, query.category, query.line]
    if unreachable and not marked:
        parts.insert(0, "unreachable")
    return file_name("-".join(part for part in parts if part) or "index", "json")


def hint(kind: Kind) -> str:
    """Return what the ending of the name means."""
    endings = ENDINGS[kind]
    what = "The ending chooses the format: " + ", ".join(endings) + ". " if endings else ""
    return what + "enter writes the file, esc leaves."
