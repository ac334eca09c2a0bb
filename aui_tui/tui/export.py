"""Files that the dashboard writes, and the command line that writes the same. It knows no file format itself."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from shlex import quote
from typing import Final, Literal

import msgspec

from aui_tui.model.query import Query
from aui_tui.tui.state import query_options

Kind = Literal["list", "card", "snippet", "picture"]
MAX_NAME: Final = 60
MAX_LINE: Final = 500
"""Characters that a query line has at most."""


class ExportJob(msgspec.Struct, frozen=True):
    """Something to write to ``path``, whose ending chooses the format.

    A list: the ranked or ``unreachable`` hosts of ``query``, or only ``hosts`` when there are any. A card: the one
    of ``host`` under ``method`` scanned ``at`` (empty: as stored, the newest). A snippet or a picture of the screen
    (SVG): ``text``. ``replace``: a file
    of that name goes.
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
    replace: bool = False

    def command(self) -> str:
        """Return the command line that writes the same."""
        if self.kind == "list":
            marked = " OR ".join(f'"{host}"' for host in self.hosts)
            query = Query(line=marked) if 0 < len(marked) <= MAX_LINE else self.query
            return " ".join(["aui-tui export", *query_options(query), "-o", quote(self.path)])
        if self.kind == "card":
            at = [self.at] if self.at else []
            return " ".join(["aui-tui site", quote(self.host), *at, "-o", quote(self.path)])
        return f"aui-tui site {quote(self.host)} --details"


PICTURE: Final = ".svg"
"""Ending of a picture of what is on the screen."""
_FONT: Final = r"(?s)@font-face \{.*?\}\s*"


def picture(svg: str) -> str:
    """Return a picture by Textual without fonts from the network."""
    return re.sub(_FONT, "", svg)


Exporter = Callable[[ExportJob], Awaitable[str]]
"""Writes a job and returns one sentence on what was written. Raises AuiError, also for a path that is taken."""


def file_name(words: str, ending: str) -> str:
    """Return a name for a file made from ``words``: lower-case letters, digits, dots and hyphens only."""
    cleaned = "".join(char if char.isascii() and (char.isalnum() or char in ".-") else "-" for char in words.lower())
    stem = "-".join(part for part in cleaned.split("-") if part).strip(".-")[:MAX_NAME].rstrip(".-")
    return f"{stem or 'aui'}.{ending}"


def list_name(query: Query, *, unreachable: bool, marked: bool) -> str:
    """Return the proposal for a list: ``walled-travel.json``."""
    parts = ["marked"] if marked else [query.stance, query.category, query.line]
    if unreachable and not marked:
        parts.insert(0, "unreachable")
    return file_name("-".join(part for part in parts if part) or "index", "json")


def hint(kind: Kind) -> str:
    """Return what the ending of the name means; a snippet is written as it is."""
    from aui_tui.report.formats import CARD_FORMATS, FORMATS, LIST_FORMATS

    formats = {"list": LIST_FORMATS, "card": CARD_FORMATS}.get(kind, ())
    endings = ", ".join(FORMATS[name].endings.split()[0] for name in formats)
    what = f"The ending chooses the format: {endings}, .svg (a picture of this screen). " if endings else ""
    return f"{what}enter writes the file, esc leaves."


def already_there(path: str) -> str:
    """Return that there is a file of this name, empty when there is none."""
    try:
        exists = Path(path).expanduser().exists()
    except (OSError, RuntimeError, ValueError):
        return ""
    return f"{Path(path).name} is there already: enter replaces it, esc leaves it." if exists else ""
