"""JSON and NDJSON (one JSON text a line), in the field order of the specification."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

import msgspec

from aui_tui.export.fields import LIST, ROW_EXTRAS, project
from aui_tui.export.listing import Listing
from aui_tui.export.options import Options, Refusal
from aui_tui.export.plain import distinct, listed_card, plain_card, plain_row, with_extras
from aui_tui.records.card import ReportCard
from aui_tui.records.view import Row

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
