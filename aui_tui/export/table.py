"""CSV (RFC 4180) that a spreadsheet reads as text, never as a formula."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from typing import Any, Final

import msgspec

from aui_tui.export.fields import Path, card_tree, columns, row_tree, value_at
from aui_tui.export.listing import Listing
from aui_tui.export.options import VOLATILE, Options
from aui_tui.export.plain import listed_card, with_extras
from aui_tui.records.card import ReportCard, SiteSummary
from aui_tui.records.codec import MAPS, names_of, slots_of

FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""How a cell begins that some spreadsheet would compute (OWASP, CSV injection)."""

ROW_FIELDS: Final = tuple((name,) for name in (*SiteSummary.__struct_fields__, "list"))


def csv_cards(cards: Iterable[ReportCard], options: Options) -> Iterator[str]:
    """Yield a header line and one line a card; a field of several values is one cell of several lines.

    The last column, ``list``, says ``ranked`` or ``unreachable``. Of a host without a card there are its name and, as
    its evidence, the reason.
    """
    chosen = _stable(columns(options.paths, card_tree()), options)
    line = _Lines().line
    yield line(_header(chosen, options))
    for card in cards:
        record = listed_card(card, options)
        yield line([cell(value_at(record, path), path) for path in chosen])
    for refused in options.refused:
        said = [{"t": "critical", "text": refused.detail}]
        record = {"found": False, "host": refused.host, "input_host": refused.host, "evidence": said}
        yield line([cell(record.get(path[0]), path) for path in chosen])


def csv_listing(listing: Listing, options: Options) -> Iterator[str]:
    """Yield a header line and one line a row; the last column, ``list``, says ``ranked`` or ``unreachable``."""
    chosen = _stable(columns(options.paths or ROW_FIELDS, row_tree()), options)
    line = _Lines().line
    yield line(_header(chosen, options))
    for name, rows in (("ranked", listing.ranked), ("unreachable", listing.unreachable)):
        for row in rows:
            record = with_extras(row, name, options)
            yield line([cell(value_at(record, path), path) for path in chosen])


def cell(value: Any, path: Path = ()) -> str:
    """Return ``value`` as one cell: empty for None, lines for a list, text guarded against being a formula."""
    if isinstance(value, str):
        return guard(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    return guard(_joined(value, path))


def guard(text: str) -> str:
    """Return ``text`` with an apostrophe before it when a spreadsheet would take it for a formula."""
    begin = text[:1]
    if begin.isalnum() and begin.isascii():
        return text
    return "'" + text if text.startswith(FORMULA) or text.lstrip().startswith(FORMULA) else text


def _joined(value: Any, path: Path) -> str:
    if path == ("files",):
        return " ".join(value)
    if path == ("evidence",):
        return "\n".join(f"{item['t']}: {item['text']}" for item in value)
    if path == ("recommendations",):
        return "\n".join(f"{item['pts']} {item['pillar']} {item['k']}: {item['title']}" for item in value)
    if isinstance(value, list | tuple) and path and path[0] != "task_runs":
        return "\n".join(str(item) for item in value)
    return msgspec.json.encode(value).decode()


def _stable(chosen: list[Path], options: Options) -> list[Path]:
    return [path for path in chosen if not (options.deterministic and path[0] in VOLATILE)]


def _header(chosen: Sequence[Path], options: Options) -> list[str]:
    return [".".join(_name(path, options)) for path in chosen]


def _name(path: Path, options: Options) -> Path:
    if options.keys == "slots" and len(path) > 1 and path[0] in MAPS:
        return (path[0], slots_of(path[0])[names_of(path[0]).index(path[1])], *path[2:])
    return path


class _Lines:
    """Turns cells into lines, one after the other in one buffer."""

    def __init__(self) -> None:
        self._buffer = StringIO()
        self._writer = csv.writer(self._buffer, quoting=csv.QUOTE_ALL, lineterminator="\r\n")

    def line(self, cells: Sequence[str]) -> str:
        self._buffer.seek(0)
        self._buffer.truncate()
        self._writer.writerow(cells)
        return self._buffer.getvalue()
