"""The crawl itself: what of a list is scanned, when each host's turn comes, and how its result reaches the index.

One scan per host name runs at a time, with a limit per second. All state is in the index and its leases: a crawl that
starts the same list again goes on where the last one ended.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple, TypeVar
from weakref import WeakValueDictionary

from aui_tui.errors import AuiError, Unavailable
from aui_tui.index.cache import LEASE_LIFE, Lease
from aui_tui.index.store import Recent
from aui_tui.model.methods import DEFAULT_METHOD
from aui_tui.model.observations import Observations
from aui_tui.model.options import ScanOptions
from aui_tui.service.crawl.listing import BadRow, ListedHost
from aui_tui.service.crawl.work import Job, JobResult, Workers
from aui_tui.service.grading import known_as
from aui_tui.service.local import LocalService
from aui_tui.threads import abandonable

SCANNED: Final = "scanned"
UNREACHABLE: Final = "unreachable"
FAILED: Final = "failed"
FRESH: Final = "fresh"
BAD: Final = "bad"


class Done(NamedTuple):
    """What became of a row: one of the words above; ``result`` where it was scanned, ``saved`` once it is kept."""

    row: ListedHost | BadRow
    kind: str
    result: JobResult | None = None
    saved: bool = False


@dataclass(slots=True)
class Counts:
    """Rows by their outcome; ``unsaved`` results could not be written."""

    scanned: int = 0
    unreachable: int = 0
    failed: int = 0
    fresh: int = 0
    bad: int = 0
    unsaved: int = 0

    def add(self, done: Done) -> None:
        """Count one row."""
        setattr(self, done.kind, getattr(self, done.kind) + 1)
        if done.result is not None and done.result.packed is not None and not done.saved:
            self.unsaved += 1

    @property
    def total(self) -> int:
        """Rows that are dealt with."""
        return self.worked + self.fresh + self.bad

    @property
    def worked(self) -> int:
        """Hosts that were asked."""
        return self.scanned + self.unreachable + self.failed


class Claim(NamedTuple):
    """A host that is ours to scan: its newest kept scan, and what that saw where tasks were run on the host."""

    recent: Recent | None
    before: Observations | None


A = TypeVar("A")
T = TypeVar("T")
CONCURRENCY: Final = 100
"""Hosts in flight by default."""
AHEAD: Final = 256
"""Rows that wait for their turn: for a place, for another scan of their host to end."""
PAUSE: Final = 1.0
"""Seconds between two scans that lead to the same host name: another port, or with and without ``www.``."""
OLDER_THAN: Final = 7 * 86_400.0
"""Age in seconds from which a card is refreshed by default."""
FUTURE: Final = 300.0
"""Seconds by which a card may seem to be from the future and still count as fresh."""
GATHER: Final = 0.02
"""Seconds in which results gather before they are written."""
AGAIN: Final = 0.5
"""Seconds before a host that somebody else is scanning has its next turn."""
LOCK_TIMEOUT: Final = 15.0
"""Seconds to wait for a locked or full file before the crawl ends."""
LISTENING: Final = 5.0
"""Seconds to wait at the end for a reader who pauses."""


class Crawl:
    """Scans the rows of a list with ``workers`` into the index of ``service``.

    ``method`` grades the cards. ``concurrency``: hosts in flight at most. ``older_than``: seconds; a host with a card
    that is younger, seen from the start of the crawl, is skipped. ``rate``: hosts begun per second at most, 0 for no
    such limit. ``on_result`` is called on a thread of its own with what became of each row, of a scanned one after it
    is written; while it takes its time no more hosts begin, but results go on being written and leases renewed.
    ``notice`` gets sentences for the user.
    """

    def __init__(
        self,
        service: LocalService,
        workers: Workers,
        *,
        method: str = DEFAULT_METHOD,
        concurrency: int = CONCURRENCY,
        older_than: float = OLDER_THAN,
        rate: float = 0.0,
        on_result: Callable[[Done], None] = lambda done: None,
        notice: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self.counts = Counts()
        self.in_flight = 0
        """Hosts that are being scanned."""
        self._service = service
        self._workers = workers
        self._method = method
        self._cut = time.time() - older_than
        self._interval = 1 / rate if rate > 0 else 0.0
        self._next = 0.0
        self._on_result = on_result
        self._notice = notice
        self._room = asyncio.Semaphore(concurrency + AHEAD)
        self._places = asyncio.Semaphore(concurrency)
        self._lanes: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._leases: dict[str, Lease] = {}
        self._unwritten: dict[str, Done] = {}
        self._writing = asyncio.Lock()
        self._reports: asyncio.Queue[list[Done]] = asyncio.Queue()
        self._threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="aui-crawl")

    async def run(self, groups: AsyncIterator[list[ListedHost | BadRow]]) -> Counts:
        """Deal with every row of ``groups`` and return the counts.

        Raises Unavailable when the index cannot be written or nobody is left to scan, and whatever ``groups`` raises.
        Whatever ends it, cancelling included, every result that had come is written and every lease given back.
        """
        reporter = asyncio.create_task(self._report())
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(work) for work in (self._renew(), _ended(reporter))]
                async with asyncio.TaskGroup() as rows:
                    await self._feed(groups, rows)
                for task in tasks:
                    task.cancel()
        except BaseExceptionGroup as failures:
            first: BaseException = failures
            while isinstance(first, BaseExceptionGroup):
                first = first.exceptions[0]
            raise first from None
        finally:
            await asyncio.shield(self._finish(reporter))
        return self.counts

    async def _feed(self, groups: AsyncIterator[list[ListedHost | BadRow]], rows: asyncio.TaskGroup) -> None:
        async for group in groups:
            await self._reports.join()
            listed = [row for row in group if isinstance(row, ListedHost)]
            recent = await self._patiently(self._service.store.recent, [row.site for row in listed])
            due = [row for row in listed if not self._is_fresh(recent.get(row.site))]
            self._hand_over([Done(row, BAD if isinstance(row, BadRow) else FRESH) for row in group if row not in due])
            for _ in due:
                await self._room.acquire()
            claims = await self._patiently(self._claim, [row.site for row in due]) if due else []
            for row, claim in zip(due, claims, strict=True):
                rows.create_task(self._deal_with(row, claim))

    def _claim(self, sites: Sequence[str]) -> list[Claim | None]:
        """Return per site a claim, None while somebody else scans it; what they kept meanwhile is in the claim."""
        leases = self._service.leases.take_many(sites)
        recent = self._service.store.recent(sites)
        self._leases |= {site: lease for site, lease in zip(sites, leases, strict=True) if lease is not None}
        return [
            None if lease is None else Claim(recent.get(site), self._tasks_of(site) if site in recent else None)
            for site, lease in zip(sites, leases, strict=True)
        ]

    def _tasks_of(self, site: str) -> Observations | None:
        """Return what the last scan of ``site`` saw, if tasks were run on it."""
        with suppress(AuiError):
            observations = self._service.store.get(site).observations
            return observations if observations is not None and observations.tasks is not None else None
        return None

    async def _deal_with(self, row: ListedHost, claim: Claim | None) -> None:
        """Scan one row when its turn comes, and keep what comes of it."""
        lane = self._lanes.setdefault(_lane(row.site), asyncio.Lock())
        await lane.acquire()
        pause = 0.0
        try:
            while claim is None:
                await asyncio.sleep(AGAIN)
                [claim] = await self._patiently(self._claim, [row.site])
            if self._is_fresh(claim.recent):
                await self._give_back([row.site])
                self._hand_over([Done(row, FRESH)])
            else:
                async with self._places:
                    await self._reports.join()  # whoever reads the results sets the pace
                    pause = PAUSE
                    await self._write(await self._scan(row, claim))
        finally:
            asyncio.get_running_loop().call_later(pause, lane.release)
            self._room.release()

    async def _scan(self, row: ListedHost, claim: Claim) -> Done:
        category = claim.recent.category if claim.recent is not None else ""
        labels = known_as(row.site, row.name, row.category, category)
        options = ScanOptions(method=self._method, name=labels.name, category=labels.category)
        job = Job(row.url, options, labels.seed, claim.before)
        await self._pace()
        self.in_flight += 1
        try:
            result = await self._workers.scan(job)
        finally:
            self.in_flight -= 1
        return Done(row, FAILED if result.packed is None else UNREACHABLE if result.unreachable else SCANNED, result)

    async def _pace(self) -> None:
        """Wait until one more host may begin."""
        now = time.monotonic()
        self._next = max(self._next, now) + self._interval
        await asyncio.sleep(self._next - self._interval - now)

    def _is_fresh(self, recent: Recent | None) -> bool:
        return recent is not None and self._cut <= recent.at <= time.time() + FUTURE

    async def _write(self, done: Done) -> None:
        """Have ``done`` written, together with the results that come within GATHER seconds of each other."""
        assert isinstance(done.row, ListedHost)
        self._unwritten[done.row.site] = done
        async with self._writing:
            if done.row.site not in self._unwritten:  # somebody else has written it
                return
            await asyncio.sleep(GATHER)
            batch = dict(self._unwritten)
            await self._patiently(self._put, list(batch.values()))
            await self._close(batch, saved=True)

    def _put(self, batch: Sequence[Done]) -> None:
        packed = [done.result.packed for done in batch if done.result is not None and done.result.packed is not None]
        if packed:
            self._service.store.put_packed(packed)
            self._service.recent_scans.drop(scan.host for scan in packed)

    async def _close(self, batch: Mapping[str, Done], *, saved: bool) -> None:
        """Give back the leases of results that are written, or cannot be, and hand them to whoever listens."""
        for site in batch:
            del self._unwritten[site]
        self._hand_over([done._replace(saved=saved and done.kind != FAILED) for done in batch.values()])
        await self._give_back(batch)

    def _hand_over(self, dones: list[Done]) -> None:
        for done in dones:
            self.counts.add(done)
        if dones:
            self._reports.put_nowait(dones)

    async def _report(self) -> None:
        """Tell the user what became of the rows, in order."""
        while True:
            await abandonable(partial(self._tell, await self._reports.get()))
            self._reports.task_done()

    def _tell(self, dones: list[Done]) -> None:
        for done in dones:
            self._on_result(done)

    async def _finish(self, reporter: asyncio.Task[None]) -> None:
        """Write what had come, give back every lease, report what is left, end the threads."""
        if batch := dict(self._unwritten):
            saved = True
            try:
                await self._call(self._put, list(batch.values()))
            except Unavailable as error:
                self._notice(str(error))
                saved = False
            await self._close(batch, saved=saved)
        await asyncio.to_thread(self._threads.shutdown)  # what is being claimed now is given back too
        await asyncio.to_thread(self._service.leases.release, list(self._leases.values()))
        everything = asyncio.create_task(self._reports.join())
        await asyncio.wait((everything, reporter), timeout=LISTENING, return_when=asyncio.FIRST_COMPLETED)
        for task in (everything, reporter):
            task.cancel()
        await asyncio.gather(everything, reporter, return_exceptions=True)

    async def _give_back(self, sites: Iterable[str]) -> None:
        leases = {site: self._leases[site] for site in sites if site in self._leases}
        if leases:
            await self._call(self._service.leases.release, list(leases.values()))
        for site in leases:
            del self._leases[site]

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(LEASE_LIFE / 3)
            await self._call(self._service.leases.renew, list(self._leases.values()))

    async def _patiently(self, work: Callable[[Sequence[A]], T], items: Sequence[A]) -> T:
        """Return ``work(items)``, tried again while the index is locked or the disk full. Raises Unavailable."""
        end = time.monotonic() + LOCK_TIMEOUT
        warned = False
        while True:
            try:
                return await self._call(work, items)
            except Unavailable as error:
                if time.monotonic() > end:
                    raise
                if not warned:
                    self._notice(f"{error} Waiting up to {LOCK_TIMEOUT:g} s.")
                    warned = True
            await asyncio.sleep(AGAIN)

    async def _call(self, work: Callable[[Sequence[A]], T], items: Sequence[A]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, items)


async def _ended(task: asyncio.Task[None]) -> None:
    """Return or raise as ``task`` does, which goes on when nobody waits."""
    await asyncio.shield(task)


def _lane(site: str) -> str:
    """Return the host name that ``site`` leads to, without port and ``www.``."""
    host = site[: site.index("]") + 1] if site.startswith("[") else site.partition(":")[0]
    return host.removeprefix("www.")
