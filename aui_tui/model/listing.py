"""A list of hosts as a query gives it: rows, windows over them, and the counts behind the filters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from aui_tui.model.fates import words_of
from aui_tui.model.summary import SiteSummary
from aui_tui.model.vocabulary import NO_GRADE

if TYPE_CHECKING:
    from aui_tui.model.query import Query


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the index: the summary of ``schemas/index.schema.json`` and what a list needs beside it.

    ``rank``: competition rank ("1, 2, 2, 4") in the ranked list of the whole index, 0 for an
    unreachable host and for one without a grade.
    ``change``: score minus the score of the scan before, None without one. ``scans``: scans kept.
    ``best_fix`` and ``best_points``: title and points of the next step (``points.by_harm``); no points where somebody
    else must be asked for them (``points.asked_for``). ``live``: statuses of the four live-probed agents.
    ``disagree``: robots.txt and the answers to agents contradict. ``words``: what each assistant gets, in the words of
    FATES, empty where only the matrix is known. ``measured``: points of 100 that the scan measured, 0 where that is not
    known. What a source does not know keeps its default.
    """

    summary: SiteSummary
    rank: int = 0
    change: int | None = None
    scans: int = 1
    method: str = ""
    edge: str = ""
    best_fix: str = ""
    best_points: int = 0
    live: tuple[int, ...] = ()
    disagree: bool = False
    words: tuple[str, ...] = ()
    measured: int = 0

    @property
    def unreachable(self) -> bool:
        """Whether it stands in the other list."""
        return not self.rank and self.summary.grade != NO_GRADE

    @property
    def reason(self) -> str:
        """Why an unreachable host is so, without its name, which stands beside it."""
        host, words = self.summary.host, self.summary.top_evidence
        words = words.removeprefix(f"{host} could not be judged: ").removeprefix(f"{host} ")
        return words[:1].upper() + words[1:]

    @property
    def verdicts(self) -> tuple[str, ...]:
        """What each assistant gets, in the words of FATES."""
        return self.words or words_of(self.summary.matrix)


class Window(Protocol):
    """A list that is read in slices, never whole: ``len(window)`` rows, ``window[a:b]`` reads some.

    ``find`` gives the place of a host, -1 where it is absent.
    """

    def __len__(self) -> int: ...

    def __getitem__(self, span: slice, /) -> Sequence[Row]: ...

    def find(self, host: str, /) -> int: ...


PAGE: Final = 100
"""Rows that are asked of a window at a time; more take longer each."""


def pages(window: Window, limit: int = 0, start: int = 0) -> Iterator[Sequence[Row]]:
    """Yield the rows of ``window`` from ``start`` on, at most ``limit`` of them (0: all), PAGE at a time."""
    end = min(len(window), start + limit) if limit else len(window)
    for place in range(start, end, PAGE):
        page = window[place : min(place + PAGE, end)]
        if not page:
            return
        yield page


def rows(window: Window, limit: int = 0) -> Iterator[Row]:
    """Yield the rows of ``window``, at most ``limit`` of them (0: all), reading PAGE at a time."""
    return chain.from_iterable(pages(window, limit))


class Facets(msgspec.Struct, frozen=True, kw_only=True):
    """How many rows each choice would give under the other filters: of a stance, of a category; all choices listed."""

    stance: dict[str, int]
    category: dict[str, int]


class IndexView(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a query: two windows, the counts behind the filters, and the time of the newest card.

    ``scanned_at`` of an empty index is the time of asking. ``notice`` is one sentence on where the answer comes from
    (a copy of last week), or empty. ``counting``: the windows hold their first rows alone, and the facets are still
    zero. ``unused``: of the columns that may be empty (``index.lists.FILLED``), those in which no ranked row says
    anything.
    """

    query: Query
    scanned_at: str
    ranked: Window
    unreachable: Window
    facets: Facets
    notice: str = ""
    counting: bool = False
    unused: frozenset[str] = frozenset()
