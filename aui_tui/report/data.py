"""Records as data: JSON and NDJSON in the field order of the schemas, CSV (RFC 4180) without formulas, Parquet.

What the record of an unreachable host must say of score, grade, stance and verdicts is empty everywhere but in whole
JSON records. A Parquet file (extra ``data``) has the columns of ``dataset.toml``.
"""

from __future__ import annotations

import csv
import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import msgspec

from aui_tui.errors import require
from aui_tui.files import whole
from aui_tui.model.card import ReportCard
from aui_tui.model.codec import MAPS, keyed, names_of
from aui_tui.model.listing import Row
from aui_tui.model.points import unknown
from aui_tui.model.registry import Agent, Crawler, registry
from aui_tui.model.summary import SiteSummary
from aui_tui.model.visits import Visits, trend, visit_rows
from aui_tui.model.vocabulary import NO_GRADE
from aui_tui.packaged import read_table
from aui_tui.report.fields import (
    FINDING_EXTRAS,
    LIST,
    ROW_EXTRAS,
    FieldPath,
    card_tree,
    columns,
    project,
    row_tree,
    value_at,
)
from aui_tui.report.formats import ExportOptions, HostResult, Listing, Refusal

Record = dict[str, Any]
"""A card or a row by field, or a row of a table by column."""
VOLATILE: Final = ("scanned_at", "elapsed_ms")
"""Fields that change from run to run of the same site: deterministic output leaves them out."""
UNMEASURED: Final = frozenset({"score", "grade", "stance", "pillars", "detail", "matrix"})
"""Fields that have no meaning for an unreachable host."""
BY_COMPONENT: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "robots": (
            "robots_ua_rules",
            "wildcard_block",
            "agents_disallowed",
            "agents_partial",
            "crawlers_blocked",
            "ua_policy",
            "crawler_policy",
        ),
        "signal": ("content_signal",),
        "jsonld": ("jsonld",),
        "landmarks": ("semantic",),
        "ssr": ("noscript_shell",),
    }
)
"""Fields of a card that say nothing where the component was not measured: then a table leaves them empty."""
RANKED, UNREACHABLE = "ranked", "unreachable"
"""The lists that a record stands in."""
INDENT: Final = 2


def record(card_or_row: ReportCard | Row, options: ExportOptions, listed: str = "") -> Record:
    """Return the fields of a card or a row, for every format.

    Whole, as the schemas have them, without ``listed``. With it, the list that the record stands in: without what
    has no meaning for an unreachable host. Where fields are chosen, these alone, under our names by their place in the
    maps that another index has its own names in, with what the index knows beside a row, and without what was not
    measured.
    """
    source = card_or_row.summary if isinstance(card_or_row, Row) else card_or_row
    fields: Record = msgspec.to_builtins(keyed(source, "names" if options.paths else options.keys))
    for name in VOLATILE if options.deterministic else ():
        fields.pop(name, None)
    if not listed:
        return fields
    fields[LIST] = listed
    silent = UNMEASURED if listed == UNREACHABLE else frozenset[str]()
    if options.paths and isinstance(card_or_row, ReportCard):
        silent |= {name for component in unknown(card_or_row) for name in BY_COMPONENT.get(component, ())}
    for name in fields.keys() & silent:
        value = fields[name]
        fields[name] = dict.fromkeys(value) if isinstance(value, dict) else None
    if not options.paths:
        return fields
    fields |= {name: dict(zip(names_of(name), fields[name].values(), strict=True)) for name in MAPS & fields.keys()}
    fields |= {"grade": None} if source.grade == NO_GRADE else {}
    if isinstance(card_or_row, Row):
        fields |= {name: getattr(card_or_row, name) for name in ROW_EXTRAS[1:]} | {"rank": card_or_row.rank or None}
    else:
        fields["evidence"] = [
            {"t": line.severity, "text": line.text, **{name: getattr(line, name) for name in FINDING_EXTRAS}}
            for line in card_or_row.findings
        ]
    return project(fields, options.paths)


def _list_of(card: ReportCard) -> str:
    return UNREACHABLE if card.unreachable else RANKED


def _lists(listing: Listing) -> Iterator[tuple[str, Iterable[Row]]]:
    yield from ((RANKED, listing.ranked), (UNREACHABLE, listing.unreachable))


def _rows(listing: Listing, options: ExportOptions) -> Iterator[Record]:
    return (record(row, options, name) for name, rows in _lists(listing) for row in rows)


def distinct(value: Any) -> Any:
    """Return ``value`` with keys that differ in more than case, at every depth.

    Two agents and two pairs of crawlers are casings of one name. Data frames and databases that
    ignore case (DuckDB, SQL) refuse such records, so the second of a pair is written by its slot, ``agent_13``.
    """
    if not isinstance(value, dict):
        return value
    renamed: dict[str, Any] = {}
    names: set[str] = set()
    for key, item in value.items():
        name = _slot_of(key) if key.casefold() in names else key
        names.add(name.casefold())
        renamed[name] = distinct(item)
    return renamed


def _slot_of(token: str) -> str:
    entries: tuple[Agent | Crawler, ...] = (*registry().agents, *registry().crawlers)
    return next((entry.key for entry in entries if entry.token == token), token + "_2")


def _refused(refusal: Refusal) -> Record:
    return {"found": False, **refusal._asdict()}


def _reason(refusal: Refusal) -> Record:
    """Return the name of a host without a card, and as its evidence the reason."""
    reason = {"t": "critical", "text": refusal.detail}
    return {"found": False, "host": refusal.host, "input_host": refusal.host, "evidence": [reason]}


def _results(
    results: Iterable[HostResult],
    options: ExportOptions,
    refused: Callable[[Refusal], Record] = _refused,
    *,
    whole: bool = False,
) -> Iterator[Record]:
    """Yield the record of each card, or what ``refused`` makes of the reason why there is none."""
    for result in results:
        answer = result.answer
        if isinstance(answer, Refusal):
            yield refused(answer)
        else:
            yield record(answer.card, options, "" if whole else _list_of(answer.card))


def json_cards(results: Iterable[HostResult], options: ExportOptions) -> Iterator[str]:
    """Yield one card as a JSON object, several (or ``options.many``) as an array, indented."""
    source = _results(results, options, whole=not options.paths)
    head = list(islice(source, 2))
    if len(head) == 1 and not options.many:
        yield _indented(head[0], 0) + "\n"
        return
    yield from _array(chain(head, source), 0)
    yield "\n"


def json_listing(listing: Listing, options: ExportOptions) -> Iterator[str]:
    """Yield an Index, indented, row by row."""
    separator = "{\n"
    if not options.deterministic:
        yield f'{separator}{" " * INDENT}"scanned_at": {_compact(listing.scanned_at)}'
        separator = ",\n"
    for name, rows in _lists(listing):
        yield f'{separator}{" " * INDENT}"{name}": '
        separator = ",\n"
        yield from _array((record(row, options, name if options.paths else "") for row in rows), 1)
    yield "\n}\n"


def ndjson_cards(results: Iterable[HostResult], options: ExportOptions) -> Iterator[str]:
    """Yield one card a line; ``list`` says whether its host was reached."""
    for fields in _results(results, options):
        yield _compact(distinct(fields)) + "\n"


def ndjson_listing(listing: Listing, options: ExportOptions) -> Iterator[str]:
    """Yield one row a line, the ranked ones first; ``list`` tells them apart."""
    for fields in _rows(listing, options):
        yield _compact(fields) + "\n"


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


def csv_cards(results: Iterable[HostResult], options: ExportOptions) -> Iterator[str]:
    """Yield a header line and one line a card; a field of several values is one cell of several lines.

    The last column, ``list``, says ``ranked`` or ``unreachable``. Of a host without a card there are its name and, as
    its evidence, the reason.
    """
    tree = card_tree()
    options = replace(options, paths=columns(options.paths or [(name,) for name in tree], tree))
    yield from _csv(_results(results, options, _reason), options)


def csv_listing(listing: Listing, options: ExportOptions) -> Iterator[str]:
    """Yield a header line and one line a row; the last column, ``list``, says ``ranked`` or ``unreachable``."""
    usual = [(name,) for name in (*SiteSummary.__struct_fields__, LIST)]
    options = replace(options, paths=columns(options.paths or usual, row_tree()))
    yield from _csv(_rows(listing, options), options)


def _csv(records: Iterable[Record], options: ExportOptions) -> Iterator[str]:
    volatile = VOLATILE if options.deterministic else ()
    paths = [path for path in options.paths if path[0] not in volatile]
    line = _line_writer()
    yield line([".".join(path) for path in paths])
    for fields in records:
        yield line([cell(value_at(fields, path), path) for path in paths])


def visits_csv(record: Visits, card: ReportCard | None = None) -> Iterator[str]:
    """Yield a header line and one line a client."""
    line = _line_writer()
    yield line(VISIT_FIELDS)
    for row in visit_rows(record, card):
        days = len(row.visitor.per_day) if row.visitor else 0
        yield line(
            [
                cell(days if name == "days" else getattr(row, name, getattr(row.visitor, name, None)))
                for name in VISIT_FIELDS
            ]
        )


def trend_csv(record: Visits) -> Iterator[str]:
    """Yield a header line and one line a client and week."""
    line = _line_writer()
    yield line(("agent", "monday", "requests", "refused", "newly_missing", "missing_paths"))
    for label, week in trend(record):
        paths = " ".join(week.missing_paths)
        yield line(
            [cell(value) for value in (label, week.monday, week.requests, week.refused, week.newly_missing, paths)]
        )


def cell(value: Any, path: FieldPath = ()) -> str:
    """Return ``value`` as one cell: empty for None, lines for a list, text guarded against being a formula."""
    if isinstance(value, str):
        return guard(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else guard(_joined(value, path))


PLAIN: Final = frozenset(string.ascii_letters + string.digits)
"""Characters with which no formula begins."""


def guard(text: str) -> str:
    """Return ``text`` with an apostrophe before it when a spreadsheet would take it for a formula."""
    if text[:1] in PLAIN:
        return text
    return "'" + text if text.startswith(FORMULA) or text.lstrip().startswith(FORMULA) else text


def _joined(value: Any, path: FieldPath) -> str:
    if path == ("files",):
        return " ".join(value)
    if path == ("evidence",):
        return "\n".join(f"{item['t']}: {item['text']}" for item in value)
    if path == ("recommendations",):
        return "\n".join(f"{item['pts']} {item['pillar']} {item['k']}: {item['title']}" for item in value)
    if isinstance(value, list | tuple) and path and path[0] != "task_runs":
        return "\n".join(str(item) for item in value)
    return msgspec.json.encode(value).decode()


class _Echo:
    """A file that gives back what is written to it, so that ``csv`` returns each line."""

    def write(self, text: str) -> str:
        return text


def _line_writer() -> Callable[[Sequence[str]], str]:
    """Return what turns cells into a line."""
    line: Callable[..., Any] = csv.writer(_Echo(), quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerow
    return line


BATCH: Final = 1000
"""Rows of a Parquet file that are written at a time."""


@cache
def card_columns() -> Mapping[str, tuple[str, str]]:
    """Return type and meaning of each column of a Parquet file of cards; none changes its meaning or goes."""
    return read_table("report/dataset.toml", dict[str, tuple[str, str]])


def card_record(card: ReportCard) -> Record:
    """Return the row of ``card`` in a Parquet file."""
    options = ExportOptions(paths=tuple((name,) for name in card_columns()))
    row = record(card, options, _list_of(card))
    return row | {
        "latest": True,
        "files": " ".join(card.files),
        "scanned_at": datetime.fromisoformat(card.scanned_at),
    }


def write_parquet(cards: Iterable[ReportCard], path: Path) -> None:
    """Write ``cards`` to the Parquet file ``path`` in one step.

    Raises ConfigError without the extra ``data``, or when the file cannot be written.
    """
    require("Parquet", "data", "pyarrow")
    import pyarrow
    from pyarrow import parquet

    kinds = {
        "string": pyarrow.string(),
        "integer": pyarrow.int64(),
        "number": pyarrow.float64(),
        "boolean": pyarrow.bool_(),
        "datetime": pyarrow.timestamp("ms", tz="UTC"),
    }
    schema = pyarrow.schema(
        [
            pyarrow.field(column, kinds[kind], metadata={"description": meaning})
            for column, (kind, meaning) in card_columns().items()
        ],
        metadata={"aui_tui.layout": "1", "aui_tui.table": "cards"},
    )
    with whole(path) as partial, parquet.ParquetWriter(partial, schema) as writer:
        rows = map(card_record, cards)
        while batch := list(islice(rows, BATCH)):
            writer.write_table(pyarrow.Table.from_pylist(batch, schema=schema))
