"""Records as data: JSON and NDJSON in the field order of the specification, CSV (RFC 4180) without formulas, Parquet.

What the record of an unreachable host must say of score, grade, stance and verdicts is empty everywhere but in whole
JSON records. A Parquet file (extra ``data``) has the columns of ``dataset.toml``.
"""

from __future__ import annotations

import csv
import secrets
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from io import StringIO
from itertools import chain, islice
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgspec

from aui_tui.errors import ConfigError, MissingExtra
from aui_tui.model.card import ReportCard, SiteSummary
from aui_tui.model.codec import MAPS, keyed, names_of, slots_of
from aui_tui.model.registry import Agent, Crawler, registry
from aui_tui.model.view import Row
from aui_tui.model.visits import Visits, visit_rows
from aui_tui.report.options import (
    LIST,
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
from aui_tui.text import clean


def listed_card(card: ReportCard, options: Options) -> dict[str, Any]:
    """Return the fields of ``card``, and in which list of the index it stands."""
    return _measured(_plain(card, options) | {LIST: "unreachable" if card.unreachable else "ranked"})


def _measured(fields: dict[str, Any]) -> dict[str, Any]:
    """Return ``fields`` of a card or row without what the record of an unreachable host holds for its shape alone."""
    if fields[LIST] != "unreachable":
        return fields
    return {
        name: value if name not in UNMEASURED else dict.fromkeys(value) if isinstance(value, dict) else None
        for name, value in fields.items()
    }


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


def with_extras(row: Row, listed: str, options: Options) -> dict[str, Any]:
    """Return the fields of the row's summary and ROW_EXTRAS; ``listed`` is the list that it stands in."""
    fields = _plain(row.summary, options) | {
        "list": listed,
        "rank": row.rank or None,
        "change": row.change,
        "scans": row.scans,
        "method": row.method,
        "edge": row.edge,
        "best_fix": row.best_fix,
        "best_points": row.best_points,
    }
    return _measured(fields)


def _plain(record: ReportCard | SiteSummary, options: Options) -> dict[str, Any]:
    """Return the fields of ``record``; deterministic output leaves out what changes from run to run."""
    fields: dict[str, Any] = msgspec.to_builtins(keyed(record, options.keys))
    if options.deterministic:
        for name in VOLATILE:
            fields.pop(name, None)
    return fields


UNMEASURED: Final = ("score", "grade", "stance", "pillars", "detail", "matrix")
"""Fields that have no meaning for an unreachable host."""
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
            if options.paths:
                fields = project(with_extras(row, name, options), options.paths)
            else:
                fields = _measured(_plain(row.summary, options) | {LIST: name})
            yield _compact(fields) + "\n"


def refusal(refused: Refusal) -> dict[str, Any]:
    """Return what stands for a host without a card; its fields cannot be chosen."""
    return {"found": False, **refused._asdict()}


def _card(card: ReportCard, options: Options) -> dict[str, Any]:
    return project(listed_card(card, options), options.paths) if options.paths else _plain(card, options)


def _row(row: Row, listed: str, options: Options) -> dict[str, Any]:
    return project(with_extras(row, listed, options), options.paths) if options.paths else _plain(row.summary, options)


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


VISIT_FIELDS: Final = (
    "token",
    "label",
    "kind",
    "requests",
    "first",
    "last",
    "days",
    "served",
    "refused",
    "refused_share",
    "bytes",
    "median_seconds",
    "robots_txt",
    "llms_txt",
    "markdown",
    "addresses",
    "verified",
    "verified_served",
    "verified_refused",
    "outside",
    "unchecked",
    "probe",
    "together",
)
"""Columns of visits as CSV: of a record's visitor, and what log and probe say together."""


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


def visits_csv(record: Visits, card: ReportCard | None = None) -> Iterator[str]:
    """Yield a header line and one line a client."""
    line = _Lines().line
    yield line(VISIT_FIELDS)
    for row in visit_rows(record, card):
        found = record.visitor(row.token)
        values = {name: getattr(found, name, None) for name in VISIT_FIELDS} | {
            "token": row.token,
            "label": row.label,
            "kind": row.kind,
            "requests": row.requests,
            "days": len(found.per_day) if found else 0,
            "probe": row.probe,
            "together": row.together,
        }
        yield line([cell(values[name]) for name in VISIT_FIELDS])


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


LAYOUT: Final = "1"
"""Version of the tables in ``dataset.toml``: columns may be added under it; none changes its meaning or goes."""
SCANS: Final = "scans.ndjson"
BATCH: Final = 1000
"""Rows of a Parquet file that are written at a time."""

Record = dict[str, Any]
"""A row of a table of the data set, by column."""


class Table(NamedTuple):
    """A table: what a row is, the columns that name it, and type and meaning of each column."""

    description: str
    key: tuple[str, ...]
    columns: Mapping[str, Sequence[str]]


@cache
def tables() -> Mapping[str, Table]:
    """Return the tables of ``dataset.toml`` by name."""
    found = tomllib.loads(files("aui_tui.report").joinpath("dataset.toml").read_text(encoding="utf-8"))
    return MappingProxyType(
        {name: Table(one["description"], tuple(one["key"]), one["columns"]) for name, one in found.items()}
    )


def card_record(card: ReportCard) -> Record:
    """Return the row of ``card`` in the table ``cards``."""
    listed = "unreachable" if card.unreachable else "ranked"
    own: Record = {"latest": True, LIST: listed, "files": " ".join(card.files)}
    row = {name: own[name] if name in own else getattr(card, name) for name in tables()["cards"].columns}
    return _measured(row)


def write_parquet(name: str, rows: Iterable[Record], path: FilePath) -> int:
    """Write ``rows`` of the table ``name`` to the Parquet file ``path`` in one step; return how many.

    Raises ConfigError without the extra ``data``, or when the file cannot be written.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("Parquet", "data") from None
    kinds = {
        "string": pyarrow.string(),
        "integer": pyarrow.int64(),
        "number": pyarrow.float64(),
        "boolean": pyarrow.bool_(),
        "datetime": pyarrow.timestamp("ms", tz="UTC"),
    }
    table = tables()[name]
    about = {"aui_tui.layout": LAYOUT, "aui_tui.table": name}
    schema = pyarrow.schema(
        [
            pyarrow.field(column, kinds[kind], metadata={"description": meaning})
            for column, (kind, meaning) in table.columns.items()
        ],
        metadata=about,
    )
    partial = path.with_name(f".{path.name[:80]}.{secrets.token_hex(4)}.tmp")
    count = 0
    try:
        with parquet.ParquetWriter(partial, schema) as writer:
            source = iter(rows)
            while batch := list(islice(source, BATCH)):
                writer.write_table(pyarrow.Table.from_pylist([_timed(row, table) for row in batch], schema=schema))
                count += len(batch)
        partial.replace(path)
    except OSError as error:
        raise _unwritable(path, error) from None
    finally:
        partial.unlink(missing_ok=True)
    return count


def _timed(row: Record, table: Table) -> Record:
    """Return ``row`` with its times as datetimes."""
    from datetime import datetime

    times = {name for name, (kind, _) in table.columns.items() if kind == "datetime"}
    return {name: datetime.fromisoformat(value) if name in times else value for name, value in row.items()}


def _unwritable(path: FilePath, error: OSError) -> ConfigError:
    return ConfigError(f"Cannot write {clean(str(path), 200)}: {clean((error.strerror or str(error)).lower(), 100)}.")
