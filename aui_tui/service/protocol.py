"""The one interface of an index: what the dashboard, the command line and the HTTP API ask for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import msgspec

from aui_tui.errors import Unavailable
from aui_tui.model.options import ORDINARY, ScanOptions
from aui_tui.model.progress import Progress, no_progress

if TYPE_CHECKING:
    from aui_tui.model.listing import IndexView
    from aui_tui.model.overview import Moves, Overview
    from aui_tui.model.points import Standing
    from aui_tui.model.query import Query
    from aui_tui.model.quota import Quota
    from aui_tui.model.reads import Reading
    from aui_tui.model.report import HostReport
    from aui_tui.model.tasks import TaskProgress, TaskReport
    from aui_tui.model.visits import Visits


class Feed(msgspec.Struct, frozen=True):
    """Scans that fill an index while it is looked at: what they are called, and how many there are.

    ``run`` makes them and calls its argument after each. ``ready`` returns why they cannot begin, such as a machine
    without a network; empty when they can.
    """

    name: str
    total: int
    run: Callable[[Callable[[object], None]], Awaitable[None]]
    ready: Callable[[], Awaitable[str]] | None = None


class Service(ABC):
    """An index that can be listed, read and scanned, locally or over HTTP.

    A method that is not abstract answers that this source cannot do it: override it where it can. Every operation may
    raise ``aui_tui.errors.AuiError``; its text is one sentence for the user.
    """

    label: str
    """Where the index lies, for a status line: ``local engine`` or an address."""
    can_scan: bool = True
    """False for a source that only lists, such as an exported file."""
    is_local: bool = False
    """Whether scans start on this machine, so that tasks and declarations may be asked for."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went wrong with the index so far, such as that it was damaged and set aside: sentences for the user."""
        return ()

    def read_ahead(self, query: Query) -> None:  # noqa: B027  # a source may have nothing to begin with
        """Begin to read the first rows of ``query``, before an event loop runs; ``first_page`` gives them."""

    async def prepare(self) -> None:
        """Load what the first questions need, before anybody waits for their answers."""
        return

    # Lists

    @abstractmethod
    async def index(self, query: Query) -> IndexView:
        """Return the ranked and unreachable rows of ``query`` (4.1)."""

    async def first_page(self, query: Query) -> IndexView | None:
        """Return the first rows of ``query`` alone, marked ``counting``, or all; None where ``index`` is as quick.

        A list without rows has none.
        """
        return None

    @abstractmethod
    async def overview(self, query: Query) -> Overview:
        """Return figures over the rows of ``query``."""

    async def moves(self, query: Query, since: str, most: int) -> Moves | None:
        """Return how the ranked hosts of ``query`` changed since the day ``since`` (``2026-11-15``, UTC).

        Each is compared with its last scan up to the end of that day; ``since`` empty: with its scan before. The answer
        names the ``most`` hosts that rose most, and as many that fell most. None where earlier scans are not kept.
        Raises BadValue for what is not a day.
        """
        return None

    async def weeks(self, query: Query) -> dict[str, tuple[int, ...]]:
        """Return by surface the percentage of ranked hosts that let it in, for 12 weeks (``Moves.weeks``).

        Empty where too many scans would have to be read.
        """
        return {}

    async def stamp(self) -> str:
        """Return a word that changes whenever an answer of ``index`` or ``site`` may change, by any process.

        Cheap to ask for; only for comparison within this process. Empty: not known.
        """
        return ""

    async def changed(self) -> float | None:
        """Return the epoch seconds of the last change of any answer of ``index`` or ``site``; None: not known."""
        return None

    def refresh(self) -> None:
        """Forget the list that was read: the next question asks for it again."""
        return

    # One host

    @abstractmethod
    async def site(self, host: str, *, method: str = "", at: str = "") -> HostReport:
        """Return the latest stored card of ``host`` (4.2), graded under ``method`` when one is named.

        ``at`` asks for the kept scan with that ``scanned_at``. Raises NeverScanned.
        """

    async def what_if(self, host: str, fixes: frozenset[str], *, method: str = "", at: str = "") -> Standing:
        """Return the score and grade of ``host`` once the recommendations ``fixes``, by key, are carried out.

        Computed from the stored observations. ``method`` and ``at`` as for ``site``, whose errors it raises; BadValue
        for a fix that is unknown, Unavailable where the source keeps cards alone.
        """
        raise Unavailable(f"{self.label} keeps cards without what was seen, so it cannot say where fixes would lead.")

    async def visits(self, host: str) -> Visits | None:
        """Return what the access logs of ``host`` said when they were last read; None when that is not known.

        ``aui_tui.model.visits.visit_rows(record, card)`` gives the rows of a table.
        """
        return None

    async def transcript(self, host: str) -> TaskReport | None:
        """Return the last run of the tasks on ``host``; None when there is none. Raises NeverScanned, Unavailable."""
        observations = (await self.site(host)).observations
        return None if observations is None else observations.tasks

    async def pictures(self, host: str) -> dict[str, bytes]:
        """Return the pictures (PNG) of the last run of the tasks on ``host`` by task; empty when none are kept."""
        return {}

    async def reading(self, host: str, kind: str, *, client: str = "") -> Reading:
        """Return the page of the last scan of ``host`` as a ``kind`` of reader gives it (``model.reads``).

        ``client``: ``browser`` for its page where agents got another one, ``agent`` for that of agents alone; empty for
        that of agents, else the browser's. Raises NoPage.
        """
        raise Unavailable(f"{self.label} keeps no pages, so nothing can be read; scan the host here.")

    # Scans

    async def scan(
        self,
        url: str,
        options: ScanOptions = ORDINARY,
        *,
        progress: Progress = no_progress,
        live: TaskProgress | None = None,
    ) -> HostReport:
        """Scan ``url`` live as ``options`` ask, or answer from the 24 h cache (4.3).

        ``progress`` gets an event per probe, ``live`` one per step of the tasks. What the tasks and the declarations
        add is kept with the card; the run of a cached answer is used again. Cancelling the call cancels the scan unless
        another caller waits for it; a scan that had ended is kept, and of the tasks those that had ended.

        Raises InvalidHost, RateLimited, Unavailable; ConfigError for what this source cannot do, NoBrowser for tasks
        without a browser.
        """
        raise Unavailable(f"{self.label} is a file of results; it cannot scan.")

    async def cached(self, url: str) -> HostReport | None:
        """Return the answer of the 24 h cache for ``url``, None when only a scan would answer. Raises InvalidHost."""
        return None

    async def quota(self, client: str = "") -> Quota | None:
        """Return the scans that ``client`` (``ScanOptions.client``) has left this hour; None: not known."""
        return None

    async def owns(self, url: str) -> bool:
        """Return whether ``url`` is a host of the local user's own. Raises InvalidHost."""
        return False

    async def signature_directory(self, url: str) -> tuple[bytes, dict[str, str]] | None:
        """Return the directory of the operator's signing key and the fields that sign it, asked for at ``url``.

        None when there is no key, or no library to sign with.
        """
        return None

    @abstractmethod
    async def aclose(self) -> None:
        """Release connections, files and processes."""
