"""The formats by name, and writing records in one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final, Literal

from aui_tui.errors import BadValue
from aui_tui.export.options import Listing, Options, Path, Refusal, Tree, card_tree, row_tree, select
from aui_tui.gates import Outcome
from aui_tui.records.card import ReportCard, card_without_volatile
from aui_tui.records.codec import Keys
from aui_tui.records.visits import Visits
from aui_tui.records.vocabulary import choose

CardWriter = Callable[[Iterable[ReportCard], Options], Iterator[str]]
ListWriter = Callable[[Listing, Options], Iterator[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format: its name, what it is, media type and file suffix.

    ``module`` of this package holds its writers, ``NAME_cards`` and, where an index has this format, ``NAME_listing``;
    it is loaded when something is written. ``listing``: whether an index has it. ``fields``: whether single fields can
    be chosen.
    """

    name: str
    label: str
    media_type: str
    suffix: str
    module: str
    listing: bool = True
    fields: bool = False

    def writer(self, what: Literal["cards", "listing"]) -> Any:
        """Return the function that writes ``what``."""
        return getattr(import_module(f"aui_tui.export.{self.module}"), f"{self.name}_{what}")


_ALL: Final = (
    Format(name="json", label="JSON", media_type="application/json", suffix=".json", module="data", fields=True),
    Format(
        name="ndjson",
        label="NDJSON, one record a line",
        media_type="application/x-ndjson",
        suffix=".ndjson",
        module="data",
        fields=True,
    ),
    Format(name="csv", label="CSV for spreadsheets", media_type="text/csv", suffix=".csv", module="data", fields=True),
    Format(
        name="markdown",
        label="Markdown for notes and pull requests",
        media_type="text/markdown",
        suffix=".md",
        module="markdown",
    ),
    Format(name="html", label="HTML, one self-contained page", media_type="text/html", suffix=".html", module="page"),
    Format(
        name="junit",
        label="JUnit XML for CI servers",
        media_type="application/xml",
        suffix=".xml",
        module="ci",
        listing=False,
    ),
    Format(
        name="sarif",
        label="SARIF 2.1.0 for code scanning",
        media_type="application/sarif+json",
        suffix=".sarif",
        module="ci",
        listing=False,
    ),
    Format(
        name="github",
        label="GitHub workflow commands",
        media_type="text/plain",
        suffix=".github",
        module="ci",
        listing=False,
    ),
    Format(
        name="gitlab",
        label="GitLab code quality report",
        media_type="application/json",
        suffix=".gitlab",
        module="ci",
        listing=False,
    ),
)

FORMATS: Final = MappingProxyType({entry.name: entry for entry in _ALL})
CARD_FORMATS: Final = tuple(FORMATS)
LIST_FORMATS: Final = tuple(name for name, entry in FORMATS.items() if entry.listing)


def write_cards(
    name: str,
    cards: Iterable[ReportCard],
    *,
    fields: str = "",
    keys: Keys = "names",
    deterministic: bool = False,
    many: bool = False,
    gates: Mapping[str, Outcome] | None = None,
    refused: Sequence[Refusal] = (),
    visits: Mapping[str, Visits] | None = None,
    locate: Callable[[str], str] = lambda path: "",
) -> Iterator[str]:
    """Return report cards in the format called ``name``, chunk by chunk, as they are read.

    Raises BadValue at once when the format or a field is unknown or the two do not go together.
    """
    chosen = FORMATS[choose("format", name, CARD_FORMATS)]
    write: CardWriter = chosen.writer("cards")
    paths = _paths(chosen, fields, card_tree())
    return write(
        map(card_without_volatile, cards) if deterministic else cards,
        Options(
            keys=keys,
            paths=paths,
            deterministic=deterministic,
            many=many,
            gates=gates or {},
            refused=refused,
            visits=visits or {},
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
    if deterministic:
        listing = listing.without_volatile()
    return write(listing, Options(keys=keys, paths=paths, deterministic=deterministic, title=listing.title))


def _paths(chosen: Format, fields: str, tree: Tree) -> tuple[Path, ...]:
    """Return the chosen fields. Raises BadValue for an unknown one, and where the format has no fields to choose."""
    if fields and not chosen.fields:
        able = [name for name, entry in FORMATS.items() if entry.fields]
        raise BadValue(f"Fields cannot be chosen for {chosen.name}; they can for {', '.join(able)}.", allowed=able)
    return select(fields, tree)
