"""The scans of a local service: the cache before them, one flight per host, their quota, what is kept of them.

The engine is loaded at the first scan and closed with the service. Callers who ask for the same host at the same time
share one scan. A stored scan becomes a card of the method that is asked for.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

import msgspec

from aui_tui.errors import AuiError, InvalidHost, Unavailable
from aui_tui.index import pages
from aui_tui.index.cache import LEASE_LIFE, Lease, Leases, QuotaStore, RecentScans, SharedCache, life_of
from aui_tui.index.folder import Places
from aui_tui.index.store import Store
from aui_tui.model.card import ReportCard
from aui_tui.model.labels import dated
from aui_tui.model.observations import Observations
from aui_tui.model.options import ScanOptions
from aui_tui.model.progress import ProbeEvent, Progress
from aui_tui.model.quota import Quota
from aui_tui.model.reads import KeptPage
from aui_tui.model.report import HostReport
from aui_tui.model.times import age, epoch_ms
from aui_tui.process import is_root
from aui_tui.scan.policy import ScanKey, ScanPolicy
from aui_tui.scan.target import Target
from aui_tui.service.grading import Grading, known_as

if TYPE_CHECKING:
    from aui_tui.scan.parser_process import ParserProcess
    from aui_tui.tasks.browser_control import InstalledChromium

T = TypeVar("T")

UNBOUNDED: Final = 1_000_000


class Scanner:
    """The packaged engine, with one process that analyses large pages."""

    def __init__(self) -> None:
        self._parser: ParserProcess | None = None
        self._real: InstalledChromium | None = None

    async def observe(
        self,
        target: Target,
        *,
        access: ScanPolicy,
        progress: Progress,
        keep: Callable[[tuple[KeptPage, ...]], None] | None = None,
    ) -> Observations:
        """Return what ``target`` answers (see ``scan.scan.observe``)."""
        await self.prepare(access)
        from aui_tui.scan.scan import observe

        assert self._parser is not None
        real = await self._browser(target, access)
        return await observe(target, parser=self._parser, access=access, real=real, progress=progress, keep=keep)

    async def prepare(self, access: ScanPolicy) -> None:
        """Import the engine and start the process that analyses large pages."""
        if self._parser is not None:
            return
        await asyncio.to_thread(_load, access)
        from aui_tui.scan.network import save_tls_memory
        from aui_tui.scan.parser_process import ParserProcess

        if self._parser is None:
            save_tls_memory()
            self._parser = ParserProcess()
            self._parser.prestart()

    async def _browser(self, target: Target, access: ScanPolicy) -> InstalledChromium | None:
        """Return the real browser that may be asked for ``target``: as root, without its sandbox, for few hosts."""
        if not access.keyboard or access.control == "plain":
            return None
        if is_root() and not (access.control == "chromium" or access.root_browser):
            from aui_tui.scan.network import system_resolver

            if not await access.owns(target, access.resolver or system_resolver()):
                return None
        if self._real is None:
            from aui_tui.tasks.browser_control import InstalledChromium

            self._real = InstalledChromium()
        return self._real

    async def aclose(self) -> None:
        """End the worker processes."""
        real, self._real = self._real, None
        if real is not None:
            await real.aclose()
        parser, self._parser = self._parser, None
        if parser is not None:
            await parser.aclose()


def _load(access: ScanPolicy) -> None:
    """Import what the first scan needs; the event loop goes on meanwhile."""
    from aui_tui.scan import scan  # noqa: F401 - the import is the work
    from aui_tui.scan.network import load

    load(access)


class _Flight:
    """A scan under way: how many callers wait for it, who hears of it, and what they were told."""

    def __init__(self) -> None:
        self.task: asyncio.Task[HostReport]
        self.waiting = 0
        self.listeners: list[Progress] = []
        self.events: list[ProbeEvent] = []

    def tell(self, event: ProbeEvent) -> None:
        self.events.append(event)
        for listener in list(self.listeners):
            listener(event)


POLL: Final = 0.2
"""Seconds between looks at a lease that another process holds."""
FUTURE: Final = 300.0
"""A kept scan whose time lies further in the future, in seconds, is no answer (a clock set back)."""
OTHER_SCAN_TIMEOUT: Final = 80.0
"""Longest wait in seconds for another process's scan of the same host."""


class Call(Protocol):
    """Runs work that reads or writes files on a thread."""

    def __call__(self, work: Callable[[], T], /) -> Awaitable[T]: ...


class Scans:
    """Scans what ``access`` allows and keeps it in ``store`` and in the cache at ``places``.

    ``at_once``: scans that run side by side, and as many that wait; one more is refused. 0: no such limit.
    """

    def __init__(
        self,
        places: Places,
        store: Store,
        *,
        access: ScanPolicy,
        grading: Grading,
        call: Call,
        at_once: int = 0,
    ) -> None:
        self._store = store
        self._pages = places.pages
        self._access = access
        self._grading = grading
        self._scanner = Scanner()
        self._call = call
        self._shared = SharedCache(places.cache)
        self.recent = RecentScans(self._shared)
        self.quota = QuotaStore(self._shared)
        self.leases = Leases(self._shared)
        self._flights: dict[str, _Flight] = {}
        self._at_once = at_once
        self._places = asyncio.Semaphore(at_once or UNBOUNDED)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about the cache, such as that a damaged one was set aside."""
        return tuple(self._shared.warnings)

    async def scan(self, target: Target, options: ScanOptions, progress: Progress) -> HostReport:
        """Scan ``target`` or answer from the cache, graded under ``options.method``. Raises as ``Service.scan``."""
        since = time.time() if options.force else 0.0
        if not options.force and self._access.key(target).name:
            hit = await self.cached(target, options)
            progress(ProbeEvent(name="cache", state="done", outcome="miss" if hit is None else "hit"))
            if hit is not None:
                return hit
        report, joined = await self._join(target, options, since, progress)
        return self._under(report, options.method, source="shared" if joined else report.source)

    async def _join(
        self, target: Target, options: ScanOptions, since: float, progress: Progress
    ) -> tuple[HostReport, bool]:
        """Return the scan of ``target`` and whether another caller had begun it.

        A caller who joins gets the events sent before. Cancelling a caller cancels the scan when nobody else waits.
        """
        flight = self._flights.get(_route(target))
        joined = flight is not None
        if flight is None:
            if self._at_once and len(self._flights) >= 2 * self._at_once:
                raise Unavailable("Too many scans are under way; try again in a moment.")
            flight = self._flights[_route(target)] = _Flight()
            flight.task = asyncio.create_task(self._run_shared(target, options, since, flight.tell))
            flight.task.add_done_callback(lambda _: self._land(target, flight))
        for event in flight.events:
            progress(event)
        flight.listeners.append(progress)
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task), joined
        finally:
            flight.waiting -= 1
            flight.listeners.remove(progress)
            if flight.waiting == 0 and not flight.task.done():
                self._land(target, flight)
                flight.task.cancel()
                await asyncio.gather(flight.task, return_exceptions=True)

    def _land(self, target: Target, flight: _Flight) -> None:
        if self._flights.get(_route(target)) is flight:
            del self._flights[_route(target)]

    async def quota_of(self, client: str) -> Quota:
        """Return the scans that ``client`` has left this hour."""
        return await self._call(lambda: self.quota.left(client))

    async def cached(self, target: Target, options: ScanOptions) -> HostReport | None:
        """Return the cached answer for ``target``, None when there is none; a new category or name is kept."""
        key = self._access.key(target)
        hit = await self._call(lambda: self._recent(target, key))
        if hit is None:
            return None
        card, warnings = hit.card, []
        category, name = options.category or card.category, options.name or card.name
        if (category, name) != (card.category, card.name):
            card = saved = msgspec.structs.replace(card, category=category, name=name)
            warnings = await self._call(lambda: self._save(key, saved, hit.require_observations()))
        old = age(card.scanned_at, time.time())
        report = msgspec.structs.replace(hit, card=card, age=old, warnings=tuple(warnings))
        return self._under(report, options.method, source="cache")

    def _recent(self, target: Target, key: ScanKey) -> HostReport | None:
        """Return the kept scan that is an answer for ``target``; None without one."""
        at = self.recent.get(key.name) if key.name else ""
        with suppress(AuiError):
            report = self._store.get(target.site, at) if at else None
            if report is not None and report.observations is not None:
                old = time.time() - epoch_ms(report.card.scanned_at) / 1000
                return report if -FUTURE <= old < life_of(report.card) else None
        return None

    def _under(self, report: HostReport, method: str, *, source: str) -> HostReport:
        card = self._grading.under(report.card, report.observations, method)
        return msgspec.structs.replace(report, card=card, source=source)

    async def prepare(self) -> None:
        """Load what the first scan needs."""
        await self._scanner.prepare(self._access)

    async def keep(self, target: Target, card: ReportCard, observations: Observations) -> tuple[str, ...]:
        """Keep a scan of ``target`` to which something was added; return sentences about what could not be kept."""
        saving = self._call(lambda: self._save(self._access.key(target), card, observations))
        return tuple(await asyncio.shield(saving))

    async def aclose(self) -> None:
        """Cancel what is under way and end what the scans have started."""
        tasks = [flight.task for flight in self._flights.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._scanner.aclose()

    async def _run_shared(self, target: Target, options: ScanOptions, since: float, tell: Progress) -> HostReport:
        lease, hit = await self._lease(target, since)
        try:
            if hit is not None:
                return msgspec.structs.replace(hit, source="shared")
            async with self._renewed(lease):
                return await self._scan(target, options, tell)
        finally:
            await asyncio.shield(self._call(lambda: self.leases.release([lease])))

    @asynccontextmanager
    async def _renewed(self, lease: Lease) -> AsyncIterator[None]:
        """Keep ``lease`` while a scan is under way, which may take longer than it runs."""

        async def renew() -> None:
            while True:
                await asyncio.sleep(LEASE_LIFE / 3)
                await self._call(lambda: self.leases.renew([lease]))

        task = asyncio.create_task(renew())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _lease(self, target: Target, since: float) -> tuple[Lease, HostReport | None]:
        """Return the lease of the host, and a scan begun after ``since`` that another caller has ended meanwhile.

        A scan that had to be waited for counts whenever it began.
        """
        key = self._access.key(target)
        end = time.monotonic() + OTHER_SCAN_TIMEOUT
        while True:
            lease = await self._call(lambda: self.leases.take(target.site))
            if lease is not None:
                hit = await self._call(lambda: self._recent(target, key))
                return lease, hit if hit is not None and epoch_ms(hit.card.scanned_at) / 1000 >= since else None
            if time.monotonic() > end:
                raise Unavailable(f"Another process has been scanning {target.site} for {OTHER_SCAN_TIMEOUT:.0f} s.")
            since = min(since, time.time() - OTHER_SCAN_TIMEOUT)
            await asyncio.sleep(POLL)

    async def _scan(self, target: Target, options: ScanOptions, tell: Progress) -> HostReport:
        warnings: list[str] = []
        key, payer = self._access.key(target), options.client
        if payer is not None and not await self._count(self.quota.spend, payer):
            warnings.append("The count of scans could not be saved; this process counts alone.")
        pages_seen = list[KeptPage]()
        try:
            async with self._places:
                access = self._access.toward(target)
                fresh = await self._scanner.observe(target, access=access, progress=tell, keep=pages_seen.extend)
        except (InvalidHost, Unavailable):
            if payer is not None:
                await self._count(self.quota.refund, payer)
            raise
        except asyncio.CancelledError as stopped:
            half = getattr(stopped, "observations", None)
            if payer is not None and half is None:
                await asyncio.shield(self._count(self.quota.refund, payer))
            if half is not None:
                await asyncio.shield(
                    self._call(lambda: self._save(key._replace(name=""), self._grade(half, options), half))
                )
            raise
        observations = await self._call(lambda: fresh.with_last_tasks(self._last_observations(fresh.host)))
        if observations.tasks is not None and not options.tasks:
            when = dated(age(observations.tasks.ran_at, time.time()))
            warnings.append(f"The tasks were not tried again; their results are {when} (--tasks tries them now).")
        card = await self._call(lambda: self._grade(observations, options))
        if self._access.remote and target.scheme == "https" and card.unreachable:
            key = key._replace(aside=2)  # by http, its usual route, the site may answer
        saving = self._call(lambda: self._save(key, card, observations))
        warnings += await asyncio.shield(saving)
        if key.aside < 2:
            with suppress(AuiError, OSError):
                await asyncio.shield(self._call(lambda: pages.keep(self._pages, fresh.host, pages_seen)))
        return HostReport(
            card=card,
            observations=observations,
            source="scan",
            age=age(card.scanned_at, time.time()),
            warnings=tuple(warnings),
        )

    async def _count(self, change: Callable[[str], bool], client: str) -> bool:
        return await self._call(lambda: change(client))

    def _grade(self, observations: Observations, options: ScanOptions) -> ReportCard:
        """Return the card of a new scan; name and category default to those of the starter list."""
        from aui_tui.checks.scoring import Labels, grade_card

        host = observations.host
        names = known_as(host, options.name, options.category, self._kept_category(host))
        labels = Labels(name=names.name, category=names.category, seed=names.seed, base_url=self._grading.base_url)
        return grade_card(observations, self._grading.method, labels=labels)

    def _last_observations(self, host: str) -> Observations | None:
        """Return what the last kept scan of ``host`` saw, as far as there is one."""
        try:
            return self._store.get(host).observations
        except AuiError:
            return None

    def _kept_category(self, host: str) -> str:
        """Return the category of the stored card: the user's word outlives a scan without one."""
        try:
            return self._store.row(host).summary.category
        except AuiError:
            return ""

    def _save(self, key: ScanKey, card: ReportCard, observations: Observations) -> list[str]:
        """Keep a scan; return sentences about what could not be kept."""
        warnings: list[str] = []
        if self._access.remote and not self._store.history(observations.host):
            if observations.unresolved:
                return [f"The name {observations.host} does not resolve, so no card is kept."]
            if key.aside > 1:  # a visitor shows no others a page beside the one that people get
                return [f"No card is kept of this way to {observations.host}; name it without http:// to get its card."]
        try:
            latest = self._store.put(card, observations, aside=key.aside)
            if not latest and card.probe_dead and not key.aside:
                warnings.append(
                    "No probe got any answer; the earlier card stays in the index until this has gone on for a day."
                )
        except Unavailable as error:
            return [f"This scan is not saved. {error}"]
        if key.name:
            try:
                self.recent.put(key.name, card)
            except Unavailable as error:
                warnings.append(f"This scan is not cached. {error}")
        return warnings


def _route(target: Target) -> str:
    return f"{target.scheme}://{target.site}"
