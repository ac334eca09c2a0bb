"""Records as data: JSON and NDJSON in the field order of the specification, and CSV (RFC 4180) without formulas."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import chain, islice
from typing import Any, Final

import msgspec

from aui_tui.export.options import (
    LIST,
    ROW_EXTRAS,
    VOLATILE,
    Listing,
    Options,
    Path,
    Refusal,
    card_tree,
    columns,
    project,
    row_tree,
    value_at,
)
from aui_tui.records.card import ReportCard, SiteSummary
from aui_tui.records.codec import MAPS, keyed, names_of, slots_of
from aui_tui.records.registry import Agent, Crawler, registry
from aui_tui.records.view import Row


def plain_card(card: ReportCard, options: Options) -> dict[str, Any]:
    """Return the fields of ``card``; deterministic output leaves out what changes from run to run."""
    return _plain(card, options)


def listed_card(card: ReportCard, options: Options) -> dict[str, Any]:
    """Return the fields of ``card``, and in which list of the index it stands."""
    return plain_card(card, options) | {LIST: "unreachable" if card.unreachable else "ranked"}


def distinct(value: Any) -> Any:
    """Return ``value`` with keys that differ in more than case, at every depth.

    Two agents and two pairs of crawlers are casings of one name (specification 2.2). Data frames and databases that
    ignore case (DuckDB, SQL) refuse such records, so the second of a pair is written by its slot, ``agent_13``.
    """
    if not isinstance(value, dict):
        return value
    found: dict[str, Any] = {}
    seen: set[str] = set()
    for key, item in value.items():
        name = _slot_of(key) if key.casefold() in seen else key
        seen.add(name.casefold())
        found[name] = distinct(item)
    return found


def _slot_of(token: str) -> str:
    entries: tuple[Agent | Crawler, ...] = (*registry().agents, *registry().crawlers)
    return next((entry.key for entry in entries if entry.token == token), token + "_2")


def plain_row(row: Row, options: Options) -> dict[str, Any]:
    """Return the fields of the row's summary (specification 2.1)."""
    return _plain(row.summary, options)


def with_extras(row: Row, listed: str, options: Options) -> dict[str, Any]:
    """Return the fields of the row's summary and ROW_EXTRAS; ``listed`` is the list that it stands in."""
    return plain_row(row, options) | {
        "list": listed,
        "rank": row.rank or None,
        "change": row.change,
        "scans": row.scans,
        "method": row.method,
        "edge": row.edge,
        "best_fix": row.best_fix,
        "best_points": row.best_points,
    }


def _plain(record: msgspec.Struct, options: Options) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(keyed(record, options.keys))
    if options.deterministic:
        for name in VOLATILE:
            fields.pop(name, None)
    return fields


INDENT = 2


def json_cards(cards: Iterable[ReportCard], options: Options) -> Iterator[str]:
    """Yield one card as a JSON object, several (or ``options.many``) as an array, indented."""
    source = chain((_card(card, options) for card in cards), map(refusal, options.refused))
    head = list(islice(source, 2))
    if len(head) == 1 and not options.many:
        yield _indented(head[0], 0) + "\n"
        return
    yield from _array(chain(head, source), 0)
    yield "\n"


def json_listing(listing: Listing, options: Options) -> Iterator[str]:
    """Yield an Index (specification 4.1), indented, row by row."""
    yield "{\n"
    if not options.deterministic:
        yield f'{" " * INDENT}"scanned_at": {_compact(listing.scanned_at)},\n'
    for name, rows, end in (("ranked", listing.ranked, ",\n"), ("unreachable", listing.unreachable, "\n")):
        yield f'{" " * INDENT}"{name}": '
        yield from _array((_row(row, name, options) for row in rows), 1)
        yield end
    yield "}\n"


def ndjson_cards(cards: Iterable[ReportCard], options: Options) -> Iterator[str]:
    """Yield one card a line; ``list`` says whether its host was reached."""
    for card in cards:
        record = listed_card(card, options)
        yield _compact(distinct(project(record, options.paths) if options.paths else record)) + "\n"
    for refused in options.refused:
        yield _compact(refusal(refused)) + "\n"


def ndjson_listing(listing: Listing, options: Options) -> Iterator[str]:
    """Yield one row a line, the ranked ones first; ``list`` tells them apart."""
    for name, rows in (("ranked", listing.ranked), ("unreachable", listing.unreachable)):
        for row in rows:
            fields = _row(row, name, options)
            yield _compact(fields if options.paths else fields | {LIST: name}) + "\n"


def refusal(refused: Refusal) -> dict[str, Any]:
    """Return what stands for a host without a card; its fields cannot be chosen."""
    return {"found": False, **refused._asdict()}


def _card(card: ReportCard, options: Options) -> dict[str, Any]:
    return project(listed_card(card, options), options.paths) if options.paths else plain_card(card, options)


def _row(row: Row, listed: str, options: Options) -> dict[str, Any]:
    if not options.paths:
        return plain_row(row, options)
    if any(path[0] in ROW_EXTRAS for path in options.paths):
        return project(with_extras(row, listed, options), options.paths)
    return project(plain_row(row, options), options.paths)


def _array(items: Iterable[dict[str, Any]], depth: int) -> Iterator[str]:
    pad = " " * INDENT * (depth + 1)
    separator = "[\n"
    for item in items:
        yield separator + pad + _indented(item, depth + 1)
        separator = ",\n"
    yield "[]" if separator == "[\n" else "\n" + " " * INDENT * depth + "]"


def _indented(value: object, depth: int) -> str:
    text = msgspec.json.format(msgspec.json.encode(value), indent=INDENT).decode()
    return text.replace("\n", "\n" + " " * INDENT * depth)


def _compact(value: object) -> str:
    return msgspec.json.encode(value).decode()


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
