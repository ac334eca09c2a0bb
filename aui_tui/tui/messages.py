"""What the parts of the dashboard tell one another. Workers post these; handlers own the state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, dataclass_transform

from textual.message import Message

from aui_tui.model.card import ReportCard
from aui_tui.model.observations import ProbeEvent
from aui_tui.model.points import Standing
from aui_tui.model.query import Query
from aui_tui.model.tasks import TaskEvent
from aui_tui.model.view import HostReport, IndexView, Overview, Row
from aui_tui.tui.context import ExportJob
from aui_tui.tui.state import Changes


@dataclass_transform(eq_default=False)
class DataMessage(Message):
    """A message whose annotated fields are its arguments.

    They are made before the first frame and never compared, so they go without what ``dataclass`` would write for that.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        dataclass(eq=False, repr=False)(cls)


Severity = Literal["information", "warning", "error"]


class Notification(DataMessage):
    """One sentence for the user. ``severity``: information, warning or error."""

    text: str
    severity: Severity = "information"


class ListReady(DataMessage):
    """The answer to a query, and the row on which the cursor shall stand; None: where it stands.

    ``feeding``: scans filled the index when it was asked for.
    """

    view: IndexView
    cursor: int | None
    feeding: bool


class ListFailed(DataMessage):
    """The query could not be answered; ``text`` says why."""

    text: str


class ReportReady(DataMessage):
    """Everything known of one host."""

    report: HostReport


class OverviewReady(DataMessage):
    """Figures over a query, and what changed among its hosts."""

    overview: Overview
    changes: Changes


class ScanRequested(DataMessage):
    """Scan ``url``; ``force`` skips the 24 h cache.

    ``listed``: ``url`` is a host of the index, and the address under which it was scanned last is asked again.
    ``show``: open its card when it ends, unless the user has gone elsewhere.
    """

    url: str
    force: bool = False
    listed: bool = False
    show: bool = True


class AddressRequested(DataMessage):
    """Ask for an address and scan it; ``text`` was typed before and ``problem`` says what was wrong with it."""

    text: str = ""
    problem: str = ""


class ScanStopped(DataMessage):
    """Cancel the running scan ``number``."""

    number: int


class ScanProgressed(DataMessage):
    """A probe of scan ``number`` changed its state."""

    number: int
    event: ProbeEvent


class ScanEnded(DataMessage):
    """Scan ``number`` came to its end: an ``answer``, or the ``error`` in one sentence, or cancelled (neither).

    ``invalid``: the address itself was the error. ``before``: the card of the scan before. ``own``: the limit of the
    hour was reached by a host of the user's own.
    """

    number: int
    answer: HostReport | None = None
    error: str = ""
    invalid: bool = False
    before: ReportCard | None = None
    own: bool = False


class CardRequested(DataMessage):
    """Open the report card of a row of a list."""

    row: Row
    index: int


class CopyRequested(DataMessage):
    """Put ``text`` on the clipboard and say so; ``what`` names it."""

    text: str
    what: str


class BrowseRequested(DataMessage):
    """Open a host of the index in the user's browser, or copy its address where there is no browser."""

    host: str


class CardFailed(DataMessage):
    """The card could not be read; ``text`` says why."""

    text: str


class OtherReady(DataMessage):
    """Another scan or another host, to compare with."""

    report: HostReport


class StandingReady(DataMessage):
    """Where the site would stand with the fixes ``done``, and the rank that this score would have, 0 when unknown."""

    done: frozenset[str]
    standing: Standing
    rank: int


class ExportRequested(DataMessage):
    """Ask for a path and write something there."""

    job: ExportJob


class ManyScansRequested(DataMessage):
    """Scan several hosts of the index, as far as the quota reaches."""

    hosts: tuple[str, ...]
    force: bool = False


class ViewRequested(DataMessage):
    """Show the list of another query, as a matrix or not, or the ``unreachable`` hosts."""

    query: Query
    matrix: bool = False
    unreachable: bool = False


class TasksRequested(DataMessage):
    """Run the tasks on ``host``."""

    host: str


class TaskProgressed(DataMessage):
    """A step of a run of the tasks on ``host`` began or ended."""

    host: str
    event: TaskEvent


class ThemeHighlighted(DataMessage):
    """The cursor of a list of themes came to ``name``."""

    name: str
