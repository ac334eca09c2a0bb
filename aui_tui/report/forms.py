"""The table of the formats of documents; their writers are loaded when something is written."""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple


class Format(NamedTuple):
    """A format: its name and the ending of its files.

    ``module`` of this package holds its writers, ``NAME_cards`` and, where ``listing``, ``NAME_listing``. ``fields``:
    whether single fields can be chosen.
    """

    name: str
    suffix: str
    module: str
    listing: bool = True
    fields: bool = False

    def writer(self, what: Literal["cards", "listing"]) -> Any:
        """Return the function that writes ``what``."""
        return getattr(import_module(f"aui_tui.report.{self.module}"), f"{self.name}_{what}")


_ALL: Final = (
    Format("json", ".json", "data", fields=True),
    Format("ndjson", ".ndjson", "data", fields=True),
    Format("csv", ".csv", "data", fields=True),
    Format("markdown", ".md", "markdown"),
    Format("html", ".html", "page"),
    Format("junit", ".xml", "ci", listing=False),
    Format("sarif", ".sarif", "ci", listing=False),
)
FORMATS: Final = MappingProxyType({entry.name: entry for entry in _ALL})
CARD_FORMATS: Final = tuple(FORMATS)
LIST_FORMATS: Final = tuple(name for name, entry in FORMATS.items() if entry.listing)
