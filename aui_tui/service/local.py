"""The index of this machine: the engine scans, the store keeps.

What scanning needs is loaded when it is first asked for: lists and cards are read without it.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from aui_tui.errors import InvalidHost, NoPage, Unavailable
from aui_tui.index.folder import places, prepare
from aui_tui.index.store import Store
from aui_tui.model.methods import DEFAULT_METHOD
from aui_tui.model.methods import method as method_called
from aui_tui.model.options import NOTHING_ACCEPTED, ORDINARY, Accepted, ScanOptions
from aui_tui.model.progress import Progress, no_progress
from aui_tui.model.vocabulary import CATEGORIES, choose
from aui_tui.service.grading import Grading
from aui_tui.service.protocol import Service
from aui_tui.text import clean, count

if TYPE_CHECKING:
    from aui_tui.index.cache import Leases, RecentScans
    from aui_tui.model.card import ReportCard
    from aui_tui.model.listing import IndexView
    from aui_tui.model.observations import Observations
    from aui_tui.model.overview import Moves, Overview
    from aui_tui.model.points import Standing
    from aui_tui.model.query import Query
    from aui_tui.model.quota import Quota
    from aui_tui.model.reads import Reading
    from aui_tui.model.report import HostReport
    from aui_tui.model.tasks import TaskProgress
    from aui_tui.model.visits import Visits
    from aui_tui.scan.parser_process import ParserProcess
    from aui_tui.scan.policy import ScanPolicy
    from aui_tui.scan.target import Target
    from aui_tui.service.scans import Scans
    from aui_tui.service.tasks import TaskRuns

T = TypeVar("T")
CLIENT: Final = "local"
"""Who pays for scans where no client is named."""
REGRADING: Final = 5.0
"""Seconds of a question that may go into grading older scans again."""
THREADS: Final = 4
"""Threads that read and write files."""


class LocalService(Service):
    """Service over the data folder ``folder`` and the packaged engine.

    ``base_url`` begins the ``url`` of cards; ``method`` grades what is stored and asked for without a method;
    ``access`` is what the local user allows (None: public sites and this machine's own); ``at_once`` as for ``Scans``.
    ``with_visits``: whether the visits in access logs are part of its answers. ``accept``: the findings that an owner
    accepts, by host and id. Files are read and written on threads.
    Raises ConfigError when the folder cannot be used, Unavailable when the index is locked.
    """

    label = "local engine"
    is_local = True

    def __init__(
        self,
        folder: Path,
        *,
        base_url: str = "http://127.0.0.1",
        method: str = DEFAULT_METHOD,
        access: ScanPolicy | None = None,
        at_once: int = 0,
        with_visits: bool = True,
        accept: Accepted = NOTHING_ACCEPTED,
    ) -> None:
        self._accept = accept
        self._grading = Grading(method_called(method).name, base_url.rstrip("/"), with_visits)
        self._access = access
        self._at_once = at_once
        self.places = places(prepare(folder))
        self.store = Store(self.places.index)
        self._made: Scans | None = None
        self._task_runs: TaskRuns | None = None
        self._reader: ParserProcess | None = None
        self._making = threading.Lock()
        self._threads = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="aui-store")
        self._ahead: tuple[Query, str, Future[IndexView]] | None = None

    @property
    def access(self) -> ScanPolicy:
        """What its scans may do."""
        if self._access is None:
            from aui_tui.scan.policy import KEYBOARD

            self._access = KEYBOARD
        return self._access

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about the files, such as that a damaged one was set aside."""
        return (*self.store.warnings, *(self._made.warnings if self._made is not None else ()))

    @property
    def scans(self) -> Scans:
        """What scanning needs, made at first use."""
        with self._making:
            if self._made is None:
                from aui_tui.service.scans import Scans

                self._made = Scans(
                    self.places,
                    self.store,
                    access=self.access,
                    grading=self._grading,
                    call=self._call,
                    at_once=self._at_once,
                )
            return self._made

    @property
    def recent_scans(self) -> RecentScans:
        """The scans of the last 24 h."""
        return self.scans.recent

    @property
    def leases(self) -> Leases:
        """Who scans what now, over all processes."""
        return self.scans.leases

    async def index(self, query: Query) -> IndexView:
        """Return the lists of ``query``; their slices may be read on the event loop."""
        done, left = await self._call(self._regrade)
        view = await self._stoppable(lambda stop: self.store.index(query, stop))
        if not (done or left):
            return view
        notice = (
            f"{count(done, 'scan')} of an earlier revision of the method graded again, {left:,} left for next time."
        )
        return msgspec.structs.replace(view, notice=notice)

    def _regrade(self) -> tuple[int, int]:
        """Grade kept scans under the present revision of the method; return how many were, and how many are left.

        In an index that cannot be written they stay as they are.
        """

        def again(card: ReportCard, observations: Observations) -> ReportCard:
            return self._grading.under(card, observations, card.method)

        with suppress(Unavailable):
            return self.store.regrade(again, seconds=REGRADING)
        return 0, 0

    def read_ahead(self, query: Query) -> None:
        """Begin to read the first rows of ``query`` on a thread; they hold until the index changes."""
        with suppress(Unavailable):  # which first_page says
            self._ahead = query, self.store.stamp(), self._threads.submit(self.store.first_page, query)

    async def first_page(self, query: Query) -> IndexView | None:
        """Return the first rows of ``query``, or the whole answer where that comes as soon."""
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead[:2] == (query, self.store.stamp()):
            return await asyncio.wrap_future(ahead[2])
        return await self._stoppable(lambda stop: self.store.first_page(query, stop))

    async def overview(self, query: Query) -> Overview:
        """Return figures over the ranked rows of ``query``."""
        return await self._call(lambda: self.store.overview(query))

    async def moves(self, query: Query, since: str, most: int) -> Moves:
        """Return how the ranked hosts of ``query`` changed since a day, or since each scan before. Raises BadValue."""
        return await self._call(lambda: self.store.moves(query, since, most))

    async def weeks(self, query: Query) -> dict[str, tuple[int, ...]]:
        """Return by surface the percentage of hosts that let it in at the end of each of the last 12 weeks."""
        return await self._call(lambda: self.store.weeks(query))

    async def quota(self, client: str = "") -> Quota:
        """Return the scans that ``client`` has left this hour; without one, whoever uses this machine."""
        return await self.scans.quota_of(client or CLIENT)

    async def site(self, host: str, *, method: str = "", at: str = "") -> HostReport:
        """Return what is stored of ``host``. Raises NeverScanned, or BadValue for a method it was not kept for."""
        method_name = method_called(method).name if method else ""
        report = await self._call(lambda: self._grading.report(self.store, _key(host), method=method_name, at=at))
        return self._accepting(report)

    def _accepting(self, report: HostReport) -> HostReport:
        """Return ``report`` with what its owner accepts today (UTC)."""
        today = datetime.fromtimestamp(time.time(), UTC).date()
        listed = self._accept.get(report.card.host.casefold(), {})
        accepted = {finding: why for finding, why in listed.items() if today <= why.until}
        return msgspec.structs.replace(report, accepted=accepted) if accepted else report

    async def visits(self, host: str) -> Visits | None:
        """Return what the access logs of ``host`` said when they were last read."""
        if not self._grading.with_visits:
            return None
        return await self._call(lambda: self.store.visits(_key(host)))

    async def keep_visits(self, record: Visits) -> Visits:
        """Keep ``record`` as what the access logs of its host say now; return it under the key of that host."""
        visits = msgspec.structs.replace(record, host=_key(record.host))
        await self._call(lambda: self.store.put_visits(visits))
        return visits

    async def what_if(self, host: str, fixes: frozenset[str], *, method: str = "", at: str = "") -> Standing:
        """Return where ``host`` would stand with ``fixes`` carried out, from what was seen.

        Raises Unavailable where that is not kept.
        """
        report = await self.site(host, method=method, at=at)
        from aui_tui.checks.scoring import what_if

        return what_if(report.require_observations(), fixes, method_called(report.card.method))

    async def forget(self, host: str) -> int:
        """Remove ``host`` with its history and cached scans; return the scans removed. Raises NeverScanned."""
        key = _key(host)

        from aui_tui.index import pages

        def remove() -> int:
            removed = self.store.forget(key)
            pages.drop(self.places.pages, key)
            if self.places.pictures.is_dir():
                from aui_tui.service.tasks import drop_pictures

                drop_pictures(self.places.pictures, key)
            return removed

        return await self._call(remove)

    async def scan(
        self,
        url: str,
        options: ScanOptions = ORDINARY,
        *,
        progress: Progress = no_progress,
        live: TaskProgress | None = None,
    ) -> HostReport:
        """Scan ``url`` as ``options`` ask, or answer from the cache (see ``Service.scan``)."""
        target = self.access.target(url)
        options = await self._settled(options, target)
        report = await self.scans.scan(target, options, progress)
        if options.tasks:
            report = await self._runs().run(report, act=options.act, live=live, target=target)
        if self.access.declared:
            return self._accepting(await self._with_declared(target, report, progress))
        card = msgspec.structs.replace(report.card, declared=msgspec.UNSET)
        return self._accepting(msgspec.structs.replace(report, card=card))

    async def _settled(self, options: ScanOptions, target: Target) -> ScanOptions:
        """Return ``options`` as they hold for ``target``. Raises BadValue, and NoBrowser for tasks without one."""
        if options.tasks:
            from aui_tui.service.tasks import TaskRuns

            TaskRuns.check(self.access, act=options.act, own=await self._owns(target))
        from aui_tui.scan.network import system_resolver

        free = await self.access.is_free(target, self.access.resolver or system_resolver())
        return msgspec.structs.replace(
            options,
            method=method_called(options.method).name if options.method else self._grading.method,
            category=choose("category", options.category, CATEGORIES) if options.category else "",
            force=options.force or (options.afresh and free),
            client=None if free else options.client or CLIENT,
        )

    async def _with_declared(self, target: Target, report: HostReport, progress: Progress) -> HostReport:
        """Return ``report`` with what its site declares for agents; of a cached answer, what it said before."""
        observations = report.observations
        if observations is None or observations.unreachable:
            sentence = f"{report.card.host} was not reached, so it was not asked what it declares."
            return msgspec.structs.replace(report, warnings=(*report.warnings, sentence))
        if observations.declared is not None and report.source == "cache":
            card = msgspec.structs.replace(report.card, declared=observations.declared)
            return msgspec.structs.replace(report, card=card)
        from aui_tui.scan.declared import look

        spent = 0.0 if report.source == "cache" else observations.elapsed_ms / 1000
        access = self.access.toward(target)
        declared = await look(observations, access=access, progress=progress, spent=spent)
        observations = msgspec.structs.replace(observations, declared=declared)
        card, warnings = await self._keep_added(report, observations, target)
        return msgspec.structs.replace(
            report, card=card, observations=observations, warnings=(*report.warnings, *warnings)
        )

    async def run_tasks_again(self, host: str, *, live: TaskProgress | None = None) -> HostReport:
        """Run the tasks on the kept scan of ``host``, without scanning it again.

        Raises NeverScanned, NoBrowser.
        """
        from aui_tui.service.tasks import TaskRuns

        report = await self.site(host)
        observations, address = report.observations, report.card.input_host
        if observations is not None:
            address = observations.input_host if "://" not in observations.host else observations.host
        TaskRuns.check(
            self.access, act=False, own=await self.owns(address if observations is None else observations.origin)
        )
        return await self._runs().run(report, act=False, live=live, target=self.access.target(address))

    def _runs(self) -> TaskRuns:
        if self._task_runs is None:
            from aui_tui.service.tasks import TaskRuns

            self._task_runs = TaskRuns(self.access, self._keep_added, self.places.pictures)
        return self._task_runs

    async def _keep_added(
        self, report: HostReport, observations: Observations, target: Target
    ) -> tuple[ReportCard, tuple[str, ...]]:
        stored = self._grading.again(report.card, observations)
        warnings = await self.scans.keep(target, stored, observations)
        return self._grading.under(stored, observations, report.card.method), warnings

    async def pictures(self, host: str) -> dict[str, bytes]:
        """Return the pictures (PNG) of the last run of the tasks on ``host`` by task; empty when none are kept."""
        from aui_tui.service.tasks import read_pictures

        return await self._call(lambda: read_pictures(self.places.pictures, _key(host)))

    async def reading(self, host: str, kind: str, *, client: str = "") -> Reading:
        """Return the kept page of ``host`` as a ``kind`` of reader gives it. Raises NoPage."""
        from aui_tui.index import pages
        from aui_tui.model.observations import BROWSER
        from aui_tui.scan.parser_process import ParserProcess

        stored = await self._call(lambda: pages.kept(self.places.pages, _key(host)))
        stored = tuple(page for page in stored if client != "agent" or page.client != BROWSER)
        page = next((page for page in stored if page.client == client), stored[0] if stored else None)
        if page is None:
            raise NoPage(_key(host))
        if self._reader is None:
            self._reader = ParserProcess()
        return await self._reader.reading(kind, page.body, page.content_type)

    async def owns(self, url: str) -> bool:
        """Return whether ``url`` is a host of the local user's own (see ``ScanPolicy.owns``). Raises InvalidHost."""
        return await self._owns(self.access.target(url))

    async def _owns(self, target: Target) -> bool:
        from aui_tui.scan.network import system_resolver

        return await self.access.owns(target, self.access.resolver or system_resolver())

    async def stamp(self) -> str:
        """Return a word that changes whenever an answer of ``index`` or ``site`` may change."""
        return self.store.stamp()

    async def changed(self) -> float | None:
        """Return the epoch seconds of the last change of the index, deletions included; None: just now."""
        return self.store.changed()

    async def cached(self, url: str) -> HostReport | None:
        """Return the answer of the cache for ``url``, None when only a scan would answer. Raises InvalidHost."""
        return await self.scans.cached(self.access.target(url), ScanOptions(method=self._grading.method))

    async def aclose(self) -> None:
        """Cancel running scans and close the files."""
        if self._task_runs is not None:
            await self._task_runs.aclose()
        if self._made is not None:
            await self._made.aclose()
        if self._reader is not None:
            await self._reader.aclose()
        self._threads.shutdown(wait=True, cancel_futures=True)
        self.store.close()

    async def _stoppable(self, work: Callable[[Callable[[], bool]], T]) -> T:
        """Run ``work`` on a thread; cancelling the call makes its argument true."""
        stop = threading.Event()
        try:
            return await self._call(lambda: work(stop.is_set))
        except asyncio.CancelledError:
            stop.set()
            raise

    async def _call(self, work: Callable[[], T], /) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


def _key(host: str) -> str:
    """Return the key of ``host`` in the index."""
    from aui_tui.scan.target import site_of

    try:
        return site_of(host)
    except InvalidHost:
        return clean(host.strip().lower(), 300)
