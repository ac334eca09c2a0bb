"""Parts of a list: rows, windows over them, and the counts behind the filters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple, Protocol

import msgspec

from aui_tui.errors import Unavailable
from aui_tui.model.agents import words_of
from aui_tui.model.card import ReportCard, SiteSummary
from aui_tui.model.observations import Observations
from aui_tui.model.options import Acceptance
from aui_tui.model.query import Query
from aui_tui.model.visits import Visits
from aui_tui.model.vocabulary import NO_GRADE


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the index: the summary of the specification (2.1) and what a list needs beside it.

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
    def verdicts(self) -> tuple[str, ...]:
        """What each assistant gets, in the words of FATES."""
        return self.words or words_of(self.summary.matrix)


class Window(Protocol):
    """A list that is read in slices, never whole: ``len(window)`` rows, ``window[a:b]`` reads some."""

    def __len__(self) -> int: ...

    def __getitem__(self, span: slice, /) -> Sequence[Row]: ...


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


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """Figures over the rows of a query: hosts per grade, per category and stance, and per failing check (fix key).

    What a source does not count keeps its default. ``verdicts``: hosts per word of FATES of each matrix surface, by
    slug.
    ``scores``: hosts per ten points, the last of 90 to 100. ``edges``: hosts per value of the card's ``edge``, the
    most frequent ones. ``risen`` and ``fallen``: hosts whose score changed since the scan before. ``unreachable``:
    hosts of the other list. ``shut``: by slug and category, the hosts that keep a surface out, and all that say.
    ``disagree``: by slug of a live-probed surface, the hosts whose robots.txt lets agents in and that turn it away, and
    those whose robots.txt keeps it out and that serve agents. ``refusing``: hosts per value of ``edges`` that refuse or
    challenge an assistant.
    """

    grades: dict[str, int]
    stances: dict[str, dict[str, int]]
    failing: dict[str, int]
    hosts: int
    verdicts: dict[str, dict[str, int]] = {}
    scores: tuple[int, ...] = ()
    edges: dict[str, int] = {}
    contradictions: int = 0
    risen: int = 0
    fallen: int = 0
    unreachable: int = 0
    shut: dict[str, dict[str, tuple[int, int]]] = {}
    disagree: dict[str, tuple[int, int]] = {}
    refusing: dict[str, int] = {}


class Move(NamedTuple):
    """A host whose score changed: what it was, and what it is. Where only one scan ran the tasks, both without."""

    host: str
    before: int
    after: int


class Moves(msgspec.Struct, frozen=True, kw_only=True):
    """How many hosts rose, fell and stayed, and those that rose and fell most.

    ``unknown``: hosts without an earlier scan under the same method, or without an answer in one of the two.
    ``agents``: for each matrix surface, by slug, how many hosts let it in that kept it out before, and the other way
    round; empty where a source did not count that. ``weeks``: by slug, the percentage of hosts that let it in at the
    end of each of the last 12 weeks, -1 where none was known; empty where a source did not count that.
    """

    risen: int = 0
    fallen: int = 0
    same: int = 0
    unknown: int = 0
    up: tuple[Move, ...] = ()
    down: tuple[Move, ...] = ()
    agents: dict[str, tuple[int, int]] = {}
    weeks: dict[str, tuple[int, ...]] = {}


def decades(per_score: Sequence[int]) -> tuple[int, ...]:
    """Return hosts per ten points from hosts per score (0 to 100); the last ten holds 100 too."""
    return tuple(sum(per_score[low : 101 if low == 90 else low + 10]) for low in range(0, 100, 10))


class IndexView(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a query: two windows, the counts behind the filters, and the time of the newest card.

    ``scanned_at`` of an empty index is the time of asking. ``position`` of a host in a window is found by
    ``Service.position``. ``notice`` is one sentence on where the answer comes from (a copy of last week), or empty.
    ``counting``: the windows hold their first rows alone, and the facets are still zero. ``unused``: of the columns
    that may be empty (``index.lists.FILLED``), those in which no ranked row says anything.
    """

    query: Query
    scanned_at: str
    ranked: Window
    unreachable: Window
    facets: Facets
    notice: str = ""
    counting: bool = False
    unused: frozenset[str] = frozenset()


class HistoryPoint(msgspec.Struct, frozen=True, kw_only=True):
    """One kept scan of a host. ``plain``: where tasks were run, the score without them, else None.

    ``incomplete``: it was stopped before its end.
    """

    scanned_at: str
    score: int
    grade: str
    stance: str
    unreachable: bool = False
    plain: int | None = None
    incomplete: bool = False


def comparable_scores(points: Sequence[HistoryPoint]) -> list[int]:
    """Return the scores of ``points`` for one curve: without tasks, unless all of them or none have tasks."""
    points = [point for point in points if not point.incomplete] or points
    mixed = len({point.plain is None for point in points}) > 1
    return [point.plain if mixed and point.plain is not None else point.score for point in points]


class HostReport(msgspec.Struct, frozen=True, kw_only=True):
    """Everything known of one host: the card, and where the source keeps them, what was seen, why, and the history.

    The answer to a scan and to a look into the index alike. ``source``: ``index`` (stored), ``scan`` (made now),
    ``cache`` (at most 24 h old, cost nothing), ``shared`` (another caller's scan of the same host, waited for) or
    ``replay`` (a recording). ``age``: seconds since the scan, where it was asked for. ``warnings``: sentences such as
    a card not saved.

    ``history`` is oldest first and ends with this card; ``previous`` is the card of the scan before; a scan reads
    neither. ``notice`` is one sentence on where the answer comes from (a copy of last week), or empty. ``visits``: what
    the access logs said when they were last read, with the latest card alone, whose evidence mentions them.
    ``accepted``: the findings, by id, that the owner accepts today.
    """

    card: ReportCard
    observations: Observations | None = None
    previous: ReportCard | None = None
    history: tuple[HistoryPoint, ...] = ()
    visits: Visits | None = None
    source: str = "index"
    age: float = 0.0
    notice: str = ""
    warnings: tuple[str, ...] = ()
    accepted: Mapping[str, Acceptance] = {}

    @property
    def seen(self) -> Observations:
        """What was seen. Raises Unavailable for a card alone."""
        if self.observations is None:
            host = self.card.host
            raise Unavailable(f"The card of {host} comes without what was seen, so no fix can be tried. Scan it again.")
        return self.observations


class Quota(msgspec.Struct, frozen=True, kw_only=True):
    """Scans ``left`` of the hourly ``limit`` (specification 8).

    ``next_slot``: epoch seconds at which the next one frees, 0 when all are free.
    """

    left: int
    limit: int
    next_slot: float = 0.0
