"""What a writer is given, whatever its format: how to write, hosts without a card, and the rows of an index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import msgspec

from aui_tui.export.fields import Path
from aui_tui.gates import Outcome
from aui_tui.records.card import Index, summary_without_volatile
from aui_tui.records.codec import Keys
from aui_tui.records.view import IndexView, Row, rows
from aui_tui.records.visits import Visits

VOLATILE: Final = ("scanned_at", "elapsed_ms")
"""Fields that change from run to run of the same site: deterministic output leaves them out."""


class Refusal(NamedTuple):
    """A host that was asked for with others and gave no card: ``status`` is that of the service (specification 7)."""

    host: str
    title: str
    status: int
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """``keys``: product names or slots. ``paths``: the chosen fields, empty for all. ``deterministic``: no VOLATILE.

    ``many``: several cards are written as a list even when there is one. ``gates``: what the gates said, per host.
    ``refused``: hosts without a card, written after the cards. ``title``: what the document is about, in words.
    ``locate``: the file of the repository for a path on the site, empty where none is known.
    ``visits``: what access logs said, per host.
    """

    keys: Keys = "names"
    paths: tuple[Path, ...] = ()
    deterministic: bool = False
    many: bool = False
    gates: Mapping[str, Outcome] = field(default_factory=dict)
    refused: Sequence[Refusal] = ()
    title: str = ""
    locate: Callable[[str], str] = lambda path: ""
    visits: Mapping[str, Visits] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The two lists of an index (specification 4.1), read once; ``title`` says in words what was asked for."""

    scanned_at: str
    ranked: Iterable[Row]
    unreachable: Iterable[Row]
    title: str = ""

    def without_volatile(self) -> Listing:
        """Return the same listing without what changes from run to run in a row's evidence."""
        ranked, unreachable = map(_steady, self.ranked), map(_steady, self.unreachable)
        return replace(self, ranked=ranked, unreachable=unreachable)

    @classmethod
    def of_view(cls, view: IndexView, limit: int = 0) -> Listing:
        """Return the answer of a service, at most ``limit`` rows of each list (0: all), read page by page."""
        return cls(
            scanned_at=view.scanned_at,
            ranked=rows(view.ranked, limit),
            unreachable=rows(view.unreachable, limit),
            title=view.query.words(),
        )

    @classmethod
    def of_index(cls, index: Index, title: str = "") -> Listing:
        """Return a whole Index record, its rows ranked by their order of scores ("1, 2, 2, 4")."""
        return cls(
            scanned_at=index.scanned_at,
            ranked=_ranked(index),
            unreachable=(Row(summary=summary) for summary in index.unreachable),
            title=title,
        )


def _steady(row: Row) -> Row:
    return msgspec.structs.replace(row, summary=summary_without_volatile(row.summary))


def _ranked(index: Index) -> Iterator[Row]:
    rank, score = 0, -1
    for position, summary in enumerate(index.ranked, 1):
        if summary.score != score:
            rank, score = position, summary.score
        yield Row(summary=summary, rank=rank)
