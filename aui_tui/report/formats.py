"""The formats of documents: their table, and what their writers are given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from aui_tui.errors import BadValue
from aui_tui.model.codec import Keys
from aui_tui.model.listing import IndexView, Row, rows
from aui_tui.model.report import HostReport
from aui_tui.report.fields import FieldPath
from aui_tui.report.gates import GateOutcome
from aui_tui.text import clean


class Format(NamedTuple):
    """A format: its name and the endings of its files, separated by blanks, the usual one first.

    ``listing``: it can hold a list of hosts, too. ``fields``: whether single fields can be chosen.
    """

    name: str
    endings: str
    listing: bool = True
    fields: bool = False


_ALL: Final = (
    Format("json", ".json", fields=True),
    Format("ndjson", ".ndjson .jsonl", fields=True),
    Format("csv", ".csv", fields=True),
    Format("markdown", ".md"),
    Format("html", ".html"),
    Format("junit", ".xml", listing=False),
    Format("sarif", ".sarif", listing=False),
)
FORMATS: Final = MappingProxyType({entry.name: entry for entry in _ALL})
CARD_FORMATS: Final = tuple(FORMATS)
LIST_FORMATS: Final = tuple(name for name, entry in FORMATS.items() if entry.listing)


PARQUET: Final = "parquet"
"""A format of tables alone, written into a file (``data.write_parquet``)."""


def format_of(path: Path, allowed: Sequence[str]) -> str:
    """Return which of the formats ``allowed`` the ending of ``path`` means. Raises BadValue naming the endings."""
    endings = {name: entry.endings for name, entry in FORMATS.items()} | {PARQUET: ".parquet"}
    format_by_ending = {
        ending_word: name for name in allowed if name in endings for ending_word in endings[name].split()
    }
    ending = path.suffix.lower()
    if ending not in format_by_ending:
        what = f"The ending {clean(ending, 20)} is not a format" if ending else "The name has no ending"
        raise BadValue(f"{what}; use {', '.join(format_by_ending)}.", allowed=tuple(format_by_ending))
    return format_by_ending[ending]


class Refusal(NamedTuple):
    """A host that was asked for with others and gave no card: ``status`` is that of the service."""

    host: str
    title: str
    status: int
    detail: str


class HostResult(NamedTuple):
    """The result for one host: ``answer`` is its report, or the reason why there is none.

    ``note``: where the report comes from. ``outcome``: the result of the gates, None where no gate was asked for.
    """

    answer: HostReport | Refusal
    note: str = ""
    outcome: GateOutcome | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """``keys``: product names or slots. ``paths``: the chosen fields, empty for all. ``deterministic``: no times.

    ``many``: several cards are written as a list even when there is one. ``locate``: the file of the repository for a
    path on the site, empty where none is known.
    """

    keys: Keys = "names"
    paths: tuple[FieldPath, ...] = ()
    deterministic: bool = False
    many: bool = False
    locate: Callable[[str], str] = lambda path: ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The two lists of an index, read once; ``title`` says in words what was asked for."""

    scanned_at: str
    ranked: Iterable[Row]
    unreachable: Iterable[Row]
    title: str = ""

    @classmethod
    def of_view(cls, view: IndexView, limit: int = 0) -> Listing:
        """Return the answer of a service, at most ``limit`` rows of each list (0: all), read page by page."""
        return cls(
            scanned_at=view.scanned_at,
            ranked=rows(view.ranked, limit),
            unreachable=rows(view.unreachable, limit),
            title=view.query.words(),
        )


HEADER: Final = ("#", "Score", "Grade", "Stance", "Host", "Category", "Finding")
"""Columns of the ranked hosts in a document; ``Scanned`` follows where the output may differ from run to run."""


def row_texts(row: Row) -> list[str]:
    """Return the texts of a ranked host under HEADER."""
    summary = row.summary
    figures = [str(row.rank or ""), str(summary.score), summary.grade, summary.stance]
    return [*figures, summary.host, summary.category, summary.top_evidence]


def reasons(unreachable: Iterable[Row]) -> Iterator[tuple[str, str]] | None:
    """Return host and finding of each unreachable host; None when there is none."""
    rows = iter(unreachable)
    first = next(rows, None)
    if first is None:
        return None
    return ((row.summary.host, row.reason) for row in chain([first], rows))
