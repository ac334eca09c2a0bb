"""What a writer of documents is given, and writing reports and lists in a format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from aui_tui.errors import BadValue
from aui_tui.model.card import ReportCard, card_without_volatile
from aui_tui.model.codec import Keys
from aui_tui.model.view import HostReport, IndexView, Row, rows
from aui_tui.model.vocabulary import choose
from aui_tui.report.fields import Path, Tree, card_tree, row_tree, select
from aui_tui.report.forms import CARD_FORMATS, FORMATS, LIST_FORMATS, Format
from aui_tui.report.gates import GateOutcome
from aui_tui.report.sections import Section, sections


class Refusal(NamedTuple):
    """A host that was asked for with others and gave no card: ``status`` is that of the service (specification 7)."""

    host: str
    title: str
    status: int
    detail: str


def not_scanned(refused: Refusal) -> list[Section]:
    """Return the sections that stand for a host without a card."""
    return [Section("verdict", refused.host, f"Not scanned. {refused.detail}")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """``keys``: product names or slots. ``paths``: the chosen fields, empty for all. ``deterministic``: no times.

    ``many``: several cards are written as a list even when there is one. ``gates``: what the gates said, per host.
    ``refused``: hosts without a card, written after the cards. ``locate``: the file of the repository for a path on the
    site, empty where none is known.
    """

    keys: Keys = "names"
    paths: tuple[Path, ...] = ()
    deterministic: bool = False
    many: bool = False
    gates: Mapping[str, GateOutcome] = field(default_factory=dict)
    refused: Sequence[Refusal] = ()
    locate: Callable[[str], str] = lambda path: ""

    def sections(self, report: HostReport) -> list[Section]:
        """Return the sections of ``report`` with its gates; deterministic ones name no time."""
        first, *rest = sections(report, gates=self.gates.get(report.card.host))
        if self.deterministic:
            first = first._replace(items=tuple(item for item in first.items if item.key != "scanned"))
        return [first, *rest]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The two lists of an index (specification 4.1), read once; ``title`` says in words what was asked for."""

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
    seen = row.summary
    figures = [str(row.rank or ""), str(seen.score), seen.grade, seen.stance]
    return [*figures, seen.host, seen.category, seen.top_evidence]


def reasons(unreachable: Iterable[Row]) -> Iterator[tuple[str, str]] | None:
    """Return host and finding of each unreachable host; None when there is none."""
    seen = iter(unreachable)
    first = next(seen, None)
    if first is None:
        return None
    return ((row.summary.host, row.summary.top_evidence) for row in chain([first], seen))


def write_cards(name: str, cards: Iterable[ReportCard | HostReport], *, fields: str = "", **how: Any) -> Iterator[str]:
    """Return reports, or cards alone, in the format called ``name``, chunk by chunk, as they are read.

    ``how``: members of Options. Raises BadValue at once when the format or a field is unknown or the two do not go
    together.
    """
    chosen = FORMATS[choose("format", name, CARD_FORMATS)]
    options = ExportOptions(paths=_paths(chosen, fields, card_tree()), **how)
    reports = (one if isinstance(one, HostReport) else HostReport(card=one) for one in cards)
    if options.deterministic:
        reports = (replace(one, card=card_without_volatile(one.card)) for one in reports)
    found: Iterator[str] = chosen.writer("cards")(reports, options)
    return found


def write_listing(name: str, listing: Listing, *, fields: str = "", **how: Any) -> Iterator[str]:
    """Return an index in the format called ``name``, chunk by chunk; else as :func:`write_cards`."""
    chosen = FORMATS[choose("format", name, LIST_FORMATS)]
    found: Iterator[str] = chosen.writer("listing")(
        listing, ExportOptions(paths=_paths(chosen, fields, row_tree()), **how)
    )
    return found


def _paths(chosen: Format, fields: str, tree: Tree) -> tuple[Path, ...]:
    """Return the chosen fields. Raises BadValue for an unknown one, and where the format has no fields to choose."""
    if fields and not chosen.fields:
        able = [name for name, entry in FORMATS.items() if entry.fields]
        raise BadValue(f"Fields cannot be chosen for {chosen.name}; they can for {', '.join(able)}.", allowed=able)
    return select(fields, tree)
