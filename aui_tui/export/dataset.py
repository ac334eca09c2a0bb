"""The index as a data set: tidy tables in Parquet, or a Frictionless data package with every kept scan.

The tables and their columns are those of ``dataset.toml``. A package is a folder: ``datapackage.json``, a CSV file a
table, and ``scans.ndjson``, where each line holds a card with what was seen, so that it can be graded again.
Parquet needs the extra ``data``.
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
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, BinaryIO, Final, NamedTuple, Self

import msgspec

from aui_tui import __version__
from aui_tui.errors import BadValue, ConfigError, MissingExtra
from aui_tui.export.data import cell
from aui_tui.records.card import Ledger, ReportCard
from aui_tui.records.codec import encode_card
from aui_tui.records.observations import Observations
from aui_tui.records.visits import Visits
from aui_tui.text import clean

VERSION: Final = "1"
"""Version of the layout: columns may be added under it; none changes its meaning or goes."""
SCANS: Final = "scans.ndjson"
BATCH: Final = 1000
"""Rows of a Parquet file that are written at a time."""

Row = dict[str, Any]


class Table(NamedTuple):
    """A table: what a row is, the columns that name it, and type and meaning of each column."""

    description: str
    key: tuple[str, ...]
    columns: Mapping[str, Sequence[str]]


@cache
def tables() -> Mapping[str, Table]:
    """Return the tables of ``dataset.toml`` by name."""
    found = tomllib.loads(files("aui_tui.export").joinpath("dataset.toml").read_text(encoding="utf-8"))
    return MappingProxyType(
        {name: Table(one["description"], tuple(one["key"]), one["columns"]) for name, one in found.items()}
    )


def card_row(card: ReportCard, *, latest: bool = True) -> Row:
    """Return the row of ``card`` in the table ``cards``."""
    own: Row = {
        "latest": latest,
        "list": "unreachable" if card.unreachable else "ranked",
        "files": " ".join(card.files),
    }
    return {name: own[name] if name in own else getattr(card, name) for name in tables()["cards"].columns}


def check_rows(card: ReportCard, ledger: Ledger) -> Iterator[Row]:
    """Yield the rows of a scan in the table ``checks``."""
    own = {"host": card.host, "scanned_at": card.scanned_at, "method": ledger.method}
    for entry in ledger.entries:
        yield {name: own[name] if name in own else getattr(entry, name) for name in tables()["checks"].columns}


def visit_rows(record: Visits) -> Iterator[Row]:
    """Yield the rows of ``record`` in the table ``visits``."""
    own = {"host": record.host, "read_at": record.read_at, "log_kind": record.kind, "sampled": record.sampled}
    for one in record.visitors:
        yield {name: own[name] if name in own else getattr(one, name) for name in tables()["visits"].columns}


def write_parquet(name: str, rows: Iterable[Row], path: Path) -> int:
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
    about = {"aui_tui.layout": VERSION, "aui_tui.table": name}
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
            for batch in _batches(rows):
                writer.write_table(pyarrow.Table.from_pylist([_timed(row, table) for row in batch], schema=schema))
                count += len(batch)
        partial.replace(path)
    except OSError as error:
        raise _unwritable(path, error) from None
    finally:
        partial.unlink(missing_ok=True)
    return count


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    batch: list[Row] = []
    for row in rows:
        batch.append(row)
        if len(batch) >= BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _timed(row: Row, table: Table) -> Row:
    """Return ``row`` with its times as datetimes."""
    from datetime import datetime

    times = {name for name, (kind, _) in table.columns.items() if kind == "datetime"}
    return {name: datetime.fromisoformat(value) if name in times else value for name, value in row.items()}


class Package:
    """A data package that is written scan by scan, and is there whole or not at all.

    ``folder`` must not exist. ``license`` is a name such as ``CC-BY-4.0`` (https://spdx.org/licenses), empty when the
    owner names none. ``now``: when it is made, ISO 8601. Raises BadValue, ConfigError.
    """

    def __init__(self, folder: Path, *, now: str, license: str = "") -> None:  # noqa: A002
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
        self._write("cards", [card_row(card, latest=latest)])
        if ledger is not None:
            self._write("checks", check_rows(card, ledger))
        scan = {"card": msgspec.Raw(encode_card(card)), "observations": observations}
        self._scans.write(msgspec.json.encode(scan) + b"\n")

    def add_visits(self, record: Visits) -> None:
        """Write what the access logs of a host say."""
        self._write("visits", visit_rows(record))

    def _write(self, name: str, rows: Iterable[Row]) -> None:
        self._writers[name].writerows([cell(value) for value in row.values()] for row in rows)

    def _descriptor(self) -> Row:
        about: Row = {
            "profile": "data-package",
            "name": "agentic-usability-index",
            "title": "How usable websites are by AI agents that act live for a person",
            "version": VERSION,
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


def _resource(name: str, table: Table) -> Row:
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


def _unwritable(path: Path, error: OSError) -> ConfigError:
    return ConfigError(f"Cannot write {clean(str(path), 200)}: {clean((error.strerror or str(error)).lower(), 100)}.")
