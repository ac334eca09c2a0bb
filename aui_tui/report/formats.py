"""The formats by name, and writing records in one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final, Literal

import msgspec

from aui_tui.errors import BadValue
from aui_tui.model.card import ReportCard, card_without_volatile
from aui_tui.model.codec import Keys
from aui_tui.model.view import HostReport
from aui_tui.model.vocabulary import choose
from aui_tui.report.gates import Outcome
from aui_tui.report.options import Listing, Options, Path, Refusal, Tree, card_tree, row_tree, select

CardWriter = Callable[[Iterable[ReportCard] | Iterable[HostReport], Options], Iterator[str]]
ListWriter = Callable[[Listing, Options], Iterator[str]]


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its name and file suffix.

    ``module`` of this package holds its writers, ``NAME_cards`` and, where an index has this format, ``NAME_listing``;
    it is loaded when something is written. ``listing``: whether an index has it. ``fields``: whether single fields can
    be chosen. ``prose``: it is made of the sections of a report, not of the card alone.
    """

    name: str
    suffix: str
    module: str
    listing: bool = True
    fields: bool = False
    prose: bool = False

    def writer(self, what: Literal["cards", "listing"]) -> Any:
        """Return the function that writes ``what``."""
        return getattr(import_module(f"aui_tui.report.{self.module}"), f"{self.name}_{what}")


_ALL: Final = (
    Format("json", ".json", "data", fields=True),
    Format("ndjson", ".ndjson", "data", fields=True),
    Format("csv", ".csv", "data", fields=True),
    Format("markdown", ".md", "markdown", prose=True),
    Format("html", ".html", "page", prose=True),
    Format("junit", ".xml", "ci", listing=False),
    Format("sarif", ".sarif", "ci", listing=False),
)

FORMATS: Final = MappingProxyType({entry.name: entry for entry in _ALL})
CARD_FORMATS: Final = tuple(FORMATS)
LIST_FORMATS: Final = tuple(name for name, entry in FORMATS.items() if entry.listing)


def write_cards(
    name: str,
    cards: Iterable[ReportCard | HostReport],
    *,
    fields: str = "",
    keys: Keys = "names",
    deterministic: bool = False,
    many: bool = False,
    gates: Mapping[str, Outcome] | None = None,
    refused: Sequence[Refusal] = (),
    locate: Callable[[str], str] = lambda path: "",
) -> Iterator[str]:
    """Return reports, or cards alone, in the format called ``name``, chunk by chunk, as they are read.

    Raises BadValue at once when the format or a field is unknown or the two do not go together.
    """
    chosen = FORMATS[choose("format", name, CARD_FORMATS)]
    write: CardWriter = chosen.writer("cards")
    paths = _paths(chosen, fields, card_tree())
    reports = (one if isinstance(one, HostReport) else HostReport(card=one) for one in cards)
    if deterministic:
        reports = (msgspec.structs.replace(one, card=card_without_volatile(one.card)) for one in reports)
    return write(
        reports if chosen.prose else (report.card for report in reports),
        Options(
            keys=keys,
            paths=paths,
            deterministic=deterministic,
            many=many,
            gates=gates or {},
            refused=refused,
            locate=locate,
        ),
    )


def write_listing(
    name: str, listing: Listing, *, fields: str = "", keys: Keys = "names", deterministic: bool = False
) -> Iterator[str]:
    """Return an index in the format called ``name``, chunk by chunk, its rows read as they are written.

    Raises BadValue at once when the format or a field is unknown or the two do not go together.
    """
    chosen = FORMATS[choose("format", name, LIST_FORMATS)]
    write: ListWriter = chosen.writer("listing")
    paths = _paths(chosen, fields, row_tree())
    return write(listing, Options(keys=keys, paths=paths, deterministic=deterministic))


def _paths(chosen: Format, fields: str, tree: Tree) -> tuple[Path, ...]:
    """Return the chosen fields. Raises BadValue for an unknown one, and where the format has no fields to choose."""
    if fields and not chosen.fields:
        able = [name for name, entry in FORMATS.items() if entry.fields]
        raise BadValue(f"Fields cannot be chosen for {chosen.name}; they can for {', '.join(able)}.", allowed=able)
    return select(fields, tree)
