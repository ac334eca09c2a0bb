"""What the parts of the dashboard tell one another. Workers post these; handlers own the state."""

from __future__ import annotations

from textual.message import Message

from aui_tui.records.progress import ProbeEvent
from aui_tui.records.query import Query
from aui_tui.records.standing import Standing
from aui_tui.records.view import Dossier, IndexView, Overview, Quota, Row, ScanAnswer
from aui_tui.tui.export import ExportJob


class Told(Message):
    """One sentence for the person. ``severity``: information, warning or error."""

    def __init__(self, text: str, severity: str = "information") -> None:
        super().__init__()
        self.text = text
        self.severity = severity


class ListReady(Message):
    """The answer to a query, and the row on which the cursor shall stand; None: where it stands."""

    def __init__(self, view: IndexView, cursor: int | None) -> None:
        super().__init__()
        self.view = view
        self.cursor = cursor


class ListFailed(Message):
    """The query could not be answered; ``text`` says why."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class DossierReady(Message):
    """Everything known of one host."""

    def __init__(self, dossier: Dossier) -> None:
        super().__init__()
        self.dossier = dossier


class OverviewReady(Message):
    """Figures over a query."""

    def __init__(self, overview: Overview) -> None:
        super().__init__()
        self.overview = overview


class QuotaReady(Message):
    """Scans left this hour, None where the source does not say."""

    def __init__(self, quota: Quota | None) -> None:
        super().__init__()
        self.quota = quota


class ScanAsked(Message):
    """Somebody wants ``url`` scanned; ``force`` skips the 24 h cache."""

    def __init__(self, url: str, *, force: bool = False) -> None:
        super().__init__()
        self.url = url
        self.force = force


class ScanStopped(Message):
    """Somebody wants the running scan ``number`` cancelled."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


class ScanMoved(Message):
    """A probe of scan ``number`` changed its state."""

    def __init__(self, number: int, event: ProbeEvent) -> None:
        super().__init__()
        self.number = number
        self.event = event


class ScanEnded(Message):
    """Scan ``number`` came to its end: an ``answer``, or the ``error`` in one sentence, or cancelled (neither)."""

    def __init__(self, number: int, answer: ScanAnswer | None = None, error: str = "") -> None:
        super().__init__()
        self.number = number
        self.answer = answer
        self.error = error


class CardAsked(Message):
    """Somebody wants the report card of a row of a list."""

    def __init__(self, row: Row, index: int) -> None:
        super().__init__()
        self.row = row
        self.index = index


class CopyAsked(Message):
    """Put ``text`` on the clipboard and say so; ``what`` names it."""

    def __init__(self, text: str, what: str) -> None:
        super().__init__()
        self.text = text
        self.what = what


class BrowseAsked(Message):
    """Open a web address in the person's browser."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.url = url


class CardFailed(Message):
    """The card could not be read; ``text`` says why."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class OtherReady(Message):
    """Another scan or another host, to compare with."""

    def __init__(self, dossier: Dossier) -> None:
        super().__init__()
        self.dossier = dossier


class StandingReady(Message):
    """Where the site would stand with the fixes ``done``, and the rank that this score would have, 0 when unknown."""

    def __init__(self, done: frozenset[str], standing: Standing, rank: int) -> None:
        super().__init__()
        self.done = done
        self.standing = standing
        self.rank = rank


class ExportAsked(Message):
    """Ask for a path and write something there."""

    def __init__(self, job: ExportJob) -> None:
        super().__init__()
        self.job = job


class ManyAsked(Message):
    """Somebody wants several hosts scanned, as far as the quota reaches."""

    def __init__(self, hosts: tuple[str, ...], *, force: bool = False) -> None:
        super().__init__()
        self.hosts = hosts
        self.force = force


class ViewAsked(Message):
    """Show the list of another query, as a matrix or not."""

    def __init__(self, query: Query, *, matrix: bool = False) -> None:
        super().__init__()
        self.query = query
        self.matrix = matrix


class ThemePassed(Message):
    """The cursor of a list of themes came to ``name``."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
