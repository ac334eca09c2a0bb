"""Reports and lists of hosts, written in one of the formats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec.structs import replace

from aui_tui.errors import BadValue
from aui_tui.model.card import ReportCard, card_without_volatile
from aui_tui.model.report import HostReport
from aui_tui.model.vocabulary import choose
from aui_tui.report import data
from aui_tui.report.fields import FieldPath, Tree, card_tree, row_tree, select
from aui_tui.report.formats import (
    CARD_FORMATS,
    FORMATS,
    LIST_FORMATS,
    ExportOptions,
    Format,
    HostResult,
    Listing,
)

CardWriter = Callable[[Iterable[HostResult], ExportOptions], Iterator[str]]
ListWriter = Callable[[Listing, ExportOptions], Iterator[str]]


def _card_writers() -> Mapping[str, CardWriter]:
    from aui_tui.report import ci, markdown, page

    return {
        "markdown": markdown.markdown_cards,
        "html": page.html_cards,
        "junit": ci.junit_cards,
        "sarif": ci.sarif_cards,
    }


def _list_writers() -> Mapping[str, ListWriter]:
    from aui_tui.report import markdown, page

    return {"markdown": markdown.markdown_listing, "html": page.html_listing}


CARD_DATA: Final[Mapping[str, CardWriter]] = {
    "json": data.json_cards,
    "ndjson": data.ndjson_cards,
    "csv": data.csv_cards,
}
LIST_DATA: Final[Mapping[str, ListWriter]] = {
    "json": data.json_listing,
    "ndjson": data.ndjson_listing,
    "csv": data.csv_listing,
}
"""What writes records as they are; documents in words need the checks, which a script that reads data never loads."""


def write_cards(
    name: str, cards: Iterable[HostResult | HostReport | ReportCard], *, fields: str = "", **how: Any
) -> Iterator[str]:
    """Return results, or reports or cards alone, in the format called ``name``, chunk by chunk, as they are read.

    ``how``: members of ExportOptions. Raises BadValue at once when the format or a field is unknown or the two do not
    go together.
    """
    chosen = FORMATS[choose("format", name, CARD_FORMATS)]
    options = ExportOptions(paths=_paths(chosen, fields, card_tree()), **how)
    write = CARD_DATA.get(name) or _card_writers()[name]
    return write((_result(item, options) for item in cards), options)


def _result(item: HostResult | HostReport | ReportCard, options: ExportOptions) -> HostResult:
    report = HostReport(card=item) if isinstance(item, ReportCard) else item
    result = HostResult(report) if isinstance(report, HostReport) else report
    if options.deterministic and isinstance(result.answer, HostReport):
        return result._replace(answer=replace(result.answer, card=card_without_volatile(result.answer.card)))
    return result


def write_listing(name: str, listing: Listing, *, fields: str = "", **how: Any) -> Iterator[str]:
    """Return an index in the format called ``name``, chunk by chunk; else as :func:`write_cards`."""
    chosen = FORMATS[choose("format", name, LIST_FORMATS)]
    write = LIST_DATA.get(name) or _list_writers()[name]
    return write(listing, ExportOptions(paths=_paths(chosen, fields, row_tree()), **how))


def _paths(chosen: Format, fields: str, tree: Tree) -> tuple[FieldPath, ...]:
    """Return the chosen fields. Raises BadValue for an unknown one, and where the format has no fields to choose."""
    if fields and not chosen.fields:
        able = [name for name, entry in FORMATS.items() if entry.fields]
        raise BadValue(f"Fields cannot be chosen for {chosen.name}; they can for {', '.join(able)}.", allowed=able)
    return select(fields, tree)
