"""Records as data: JSON and NDJSON in the field order of the specification, CSV (RFC 4180) without formulas, Parquet.

The data set of an index has the tables and columns of ``dataset.toml``: each as a Parquet file (extra ``data``), or all
in a Frictionless data package with every kept scan. A package is a folder: ``datapackage.json``, a CSV file a table,
and ``scans.ndjson``, where each line holds a card with what was seen, so that it can be graded again.
"""

from __future__ import annotations

import csv
import secrets
import shutil
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from importlib.resources import files
from io import StringIO
from itertools import chain, islice
from pathlib import Path as FilePath
from types import MappingProxyType, TracebackType
from typing import Any, BinaryIO, Final, NamedTuple, Self

import msgspec

from aui_tui import __version__
from aui_tui.errors import BadValue, ConfigError, MissingExtra
from aui_tui.model.card import Ledger, ReportCard, SiteSummary
from aui_tui.model.codec import MAPS, encode_card, keyed, names_of, slots_of
from aui_tui.model.observations import Observations
from aui_tui.model.registry import Agent, Crawler, registry
from aui_tui.model.view import Row
from aui_tui.model.visits import Visits, visit_rows
from aui_tui.report.options import (
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
from aui_tui.text import clean


def listed_card(card: ReportCard, options: Options) -> dict[str, Any]:
    """Return the fields of ``card``, and in which list of the index it stands."""
    return _plain(card, options) | {LIST: "unreachable" if card.unreachable else "ranked"}


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
    return _plain(row.summary, options) | {
        "list": listed,
        "rank": row.rank or None,
        "change": row.change,
        "scans": row.scans,
        "method": row.method,
        "edge": row.edge,
        "best_fix": row.best_fix,
        "best_points": row.best_points,
    }


def _plain(record: ReportCard | SiteSummary, options: Options) -> dict[str, Any]:
    """Return the fields of ``record``; deterministic output leaves out what changes from run to run."""
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
    return project(listed_card(card, options), options.paths) if options.paths else _plain(card, options)


def _row(row: Row, listed: str, options: Options) -> dict[str, Any]:
    if not options.paths:
        return _plain(row.summary, options)
    if any(path[0] in ROW_EXTRAS for path in options.paths):
        return project(with_extras(row, listed, options), options.paths)
    return project(_plain(row.summary, options), options.paths)


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


def card_record(card: ReportCard, *, latest: bool = True) -> Record:
    """Return the row of ``card`` in the table ``cards``."""
    own: Record = {
        "latest": latest,
        "list": "unreachable" if card.unreachable else "ranked",
        "files": " ".join(card.files),
    }
    return {name: own[name] if name in own else getattr(card, name) for name in tables()["cards"].columns}


def check_records(card: ReportCard, ledger: Ledger) -> Iterator[Record]:
    """Yield the rows of a scan in the table ``checks``."""
    own = {"host": card.host, "scanned_at": card.scanned_at, "method": ledger.method}
    for entry in ledger.entries:
        yield {name: own[name] if name in own else getattr(entry, name) for name in tables()["checks"].columns}


def visit_records(record: Visits) -> Iterator[Record]:
    """Yield the rows of ``record`` in the table ``visits``."""
    own = {"host": record.host, "read_at": record.read_at, "log_kind": record.kind, "sampled": record.sampled}
    for one in record.visitors:
        yield {name: own[name] if name in own else getattr(one, name) for name in tables()["visits"].columns}


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


class Package:
    """A data package that is written scan by scan, and is there whole or not at all.

    ``folder`` must not exist. ``license`` is a name such as ``CC-BY-4.0`` (https://spdx.org/licenses), empty when the
    owner names none. ``now``: when it is made, ISO 8601. Raises BadValue, ConfigError.
    """

    def __init__(self, folder: FilePath, *, now: str, license: str = "") -> None:  # noqa: A002 - its name in a package
        if folder.exists() or folder.is_symlink():
            raise BadValue(f"{clean(str(folder), 200)} is already there; name a new folder.")
        self._folder, self._now, self._license = folder, now, license
        self._partial = folder.with_name(f".{folder.name[:80]}.{secrets.token_hex(4)}.tmp")
        self._methods: dict[str, None] = {}
        self._open = ExitStack()
        self._writers: dict[str, Any] = {}
        self._scans: BinaryIO | None = None

    def __enter__(self) -> Self:
        try:
            self._partial.mkdir(parents=True)
            for name, table in tables().items():
                file = (self._partial / f"{name}.csv").open("w", encoding="utf-8", newline="")
                self._open.enter_context(file)
                self._writers[name] = csv.writer(file)
                self._writers[name].writerow(table.columns)
            self._scans = self._open.enter_context((self._partial / SCANS).open("wb"))
        except OSError as error:
            raise _unwritable(self._folder, error) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._open.close()
            if error is None:
                data = msgspec.json.format(msgspec.json.encode(self._descriptor()), indent=2)
                (self._partial / "datapackage.json").write_bytes(data + b"\n")
                self._partial.replace(self._folder)
        except OSError as problem:
            raise _unwritable(self._folder, problem) from None
        finally:
            shutil.rmtree(self._partial, ignore_errors=True)

    def add_scan(
        self, card: ReportCard, observations: Observations | None, ledger: Ledger | None, *, latest: bool
    ) -> None:
        """Write one scan."""
        assert self._scans is not None
        self._methods[card.method] = None
        self._write("cards", [card_record(card, latest=latest)])
        if ledger is not None:
            self._write("checks", check_records(card, ledger))
        scan = {"card": msgspec.Raw(encode_card(card)), "observations": observations}
        self._scans.write(msgspec.json.encode(scan) + b"\n")

    def add_visits(self, record: Visits) -> None:
        """Write what the access logs of a host say."""
        self._write("visits", visit_records(record))

    def _write(self, name: str, rows: Iterable[Record]) -> None:
        self._writers[name].writerows([cell(value) for value in row.values()] for row in rows)

    def _descriptor(self) -> Record:
        about: Record = {
            "profile": "data-package",
            "name": "agentic-usability-index",
            "title": "How usable websites are by AI agents that act live for a person",
            "version": LAYOUT,
            "created": self._now,
            "methods": list(self._methods),
            "sources": [{"title": f"aui-tui {__version__}"}],
            "resources": [*(_resource(name, table) for name, table in tables().items()), SCANS_RESOURCE],
        }
        return about | ({"licenses": [{"name": self._license}]} if self._license else {})


SCANS_RESOURCE: Final[Mapping[str, str]] = {
    "name": "scans",
    "type": "file",
    "path": SCANS,
    "mediatype": "application/x-ndjson",
    "description": "One JSON object a line: the report card of a scan, and what was seen, from which it is graded.",
}


def _resource(name: str, table: Table) -> Record:
    fields = [
        {"name": column, "type": kind, "description": meaning} for column, (kind, meaning) in table.columns.items()
    ]
    return {
        "name": name,
        "path": f"{name}.csv",
        "profile": "tabular-data-resource",
        "description": table.description,
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "schema": {"fields": fields, "primaryKey": list(table.key)},
    }


def _unwritable(path: FilePath, error: OSError) -> ConfigError:
    return ConfigError(f"Cannot write {clean(str(path), 200)}: {clean((error.strerror or str(error)).lower(), 100)}.")
