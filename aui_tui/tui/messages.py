"""What the parts of the dashboard tell one another. Workers post these; handlers own the state.

They are made before the first frame and never compared, so they go without what ``dataclass`` would write for that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from textual.message import Message

from aui_tui.records.observations import ProbeEvent
from aui_tui.records.points import Standing
from aui_tui.records.query import Query
from aui_tui.records.tasks import TaskEvent
from aui_tui.records.view import Dossier, IndexView, Overview, Quota, Row, ScanAnswer
from aui_tui.tui.context import ExportJob
from aui_tui.tui.state import Changes

Severity = Literal["information", "warning", "error"]


@dataclass(eq=False, repr=False)
class Notification(Message):
    """One sentence for the user. ``severity``: information, warning or error."""

    text: str
    severity: Severity = "information"


@dataclass(eq=False, repr=False)
class ListReady(Message):
    """The answer to a query, and the row on which the cursor shall stand; None: where it stands."""

    view: IndexView
    cursor: int | None


@dataclass(eq=False, repr=False)
class ListFailed(Message):
    """The query could not be answered; ``text`` says why."""

    text: str


@dataclass(eq=False, repr=False)
class DossierReady(Message):
    """Everything known of one host."""

    dossier: Dossier


@dataclass(eq=False, repr=False)
class OverviewReady(Message):
    """Figures over a query, and what changed among its hosts."""

    overview: Overview
    changes: Changes


@dataclass(eq=False, repr=False)
class QuotaReady(Message):
    """Scans left this hour, None where the source does not say."""

    quota: Quota | None


@dataclass(eq=False, repr=False)
class ScanRequested(Message):
    """Scan ``url``; ``force`` skips the 24 h cache.

    ``listed``: ``url`` is a host of the index, and the address under which it was scanned last is asked again.
    """

    url: str
    force: bool = False
    listed: bool = False


@dataclass(eq=False, repr=False)
class AddressRequested(Message):
    """Ask for an address and scan it; ``text`` was typed before and ``problem`` says what was wrong with it."""

    text: str = ""
    problem: str = ""


@dataclass(eq=False, repr=False)
class ScanStopped(Message):
    """Cancel the running scan ``number``."""

    number: int


@dataclass(eq=False, repr=False)
class ScanProgressed(Message):
    """A probe of scan ``number`` changed its state."""

    number: int
    event: ProbeEvent


@dataclass(eq=False, repr=False)
class ScanEnded(Message):
    """Scan ``number`` came to its end: an ``answer``, or the ``error`` in one sentence, or cancelled (neither).

    ``invalid``: the address itself was the error.
    """

    number: int
    answer: ScanAnswer | None = None
    error: str = ""
    invalid: bool = False


@dataclass(eq=False, repr=False)
class CardRequested(Message):
    """Open the report card of a row of a list."""

    row: Row
    index: int


@dataclass(eq=False, repr=False)
class CopyRequested(Message):
    """Put ``text`` on the clipboard and say so; ``what`` names it."""

    text: str
    what: str


@dataclass(eq=False, repr=False)
class BrowseRequested(Message):
    """Open a host of the index in the user's browser, or copy its address where there is no browser."""

    host: str


@dataclass(eq=False, repr=False)
class CardFailed(Message):
    """The card could not be read; ``text`` says why."""

    text: str


@dataclass(eq=False, repr=False)
class OtherReady(Message):
    """Another scan or another host, to compare with."""

    dossier: Dossier


@dataclass(eq=False, repr=False)
class StandingReady(Message):
    """Where the site would stand with the fixes ``done``, and the rank that this score would have, 0 when unknown."""

    done: frozenset[str]
    standing: Standing
    rank: int


@dataclass(eq=False, repr=False)
class StandingsReady(Message):
    """Where ``host`` would stand with each of its fixes done alone, by the key of the fix."""

    host: str
    standings: dict[str, Standing]


@dataclass(eq=False, repr=False)
class ExportRequested(Message):
    """Ask for a path and write something there."""

    job: ExportJob


@dataclass(eq=False, repr=False)
class ManyScansRequested(Message):
    """Scan several hosts of the index, as far as the quota reaches."""

    hosts: tuple[str, ...]
    force: bool = False


@dataclass(eq=False, repr=False)
class ViewRequested(Message):
    """Show the list of another query, as a matrix or not, or the ``unreachable`` hosts."""

    query: Query
    matrix: bool = False
    unreachable: bool = False


@dataclass(eq=False, repr=False)
class TasksRequested(Message):
    """Run the tasks on ``host``."""

    host: str


@dataclass(eq=False, repr=False)
class TaskProgressed(Message):
    """A step of a run of the tasks on ``host`` began or ended."""

    host: str
    event: TaskEvent


@dataclass(eq=False, repr=False)
class ThemeHighlighted(Message):
    """The cursor of a list of themes came to ``name``."""

    name: str
