"""The crawl itself: what of a list is scanned, when each host's turn comes, and how its result reaches the index.

One scan per host name runs at a time, with a limit per second. All state is in the index and its leases: a crawl that
starts the same list again goes on where the last one ended.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple, TypeVar
from weakref import WeakValueDictionary

from aui_tui.errors import AuiError, Unavailable
from aui_tui.index.cache import LEASE_LIFE, Lease
from aui_tui.index.reports import Recent
from aui_tui.model.methods import DEFAULT_METHOD
from aui_tui.model.observations import Observations
from aui_tui.model.options import ScanOptions
from aui_tui.model.registry import Known
from aui_tui.model.vocabulary import UNCATEGORIZED
from aui_tui.scan.network import settle
from aui_tui.service.crawl.listing import BadRow, Row
from aui_tui.service.crawl.work import Job, Result, Workers
from aui_tui.service.local import LocalService
from aui_tui.service.threads import abandonable

SCANNED: Final = "scanned"
UNREACHABLE: Final = "unreachable"
FAILED: Final = "failed"
FRESH: Final = "fresh"
BAD: Final = "bad"


class Done(NamedTuple):
    """What became of a row: one of the words above; ``result`` where it was scanned, ``saved`` once it is kept."""

    row: Row | BadRow
    kind: str
    result: Result | None = None
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
    """A host that is ours to scan. ``before``: what the last scan saw, where tasks were run on the host."""

    lease: Lease
    recent: Recent | None
    before: Observations | None


class Scanned(NamedTuple):
    """A result that waits to be written; ``reported`` ends when the user has it."""

    row: Row
    result: Result
    reported: asyncio.Future[None]

    def done(self, *, written: bool) -> Done:
        """Return the outcome; ``written`` says whether the index took what there was to write."""
        result = self.result
        kind = FAILED if result.packed is None else UNREACHABLE if result.unreachable else SCANNED
        return Done(self.row, kind, result, written and result.packed is not None)


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
BATCH: Final = 64
"""Results written at a time, at most."""
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
    ``notice`` gets sentences for the user. ``patience``: seconds to wait for a file that cannot be written.
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
        clock: Callable[[], float] = time.time,
        patience: float = LOCK_TIMEOUT,
    ) -> None:
        self.counts = Counts()
        self.in_flight = 0
        """Hosts that are being scanned."""
        self._service = service
        self._workers = workers
        self._method = method
        self._cut = clock() - older_than
        self._interval = 1 / rate if rate > 0 else 0.0
        self._next = 0.0
        self._on_result = on_result
        self._notice = notice
        self._clock = clock
        self._patience = patience
        self._numbers = itertools.count(1)
        self._room = asyncio.Semaphore(concurrency + AHEAD)
        self._places = asyncio.Semaphore(concurrency)
        self._lanes: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._leases: dict[str, Lease] = {}
        self._rows: set[asyncio.Task[None]] = set()
        self._pending: list[Scanned] = []
        self._arrived = asyncio.Event()
        self._reports: asyncio.Queue[tuple[list[Done], list[asyncio.Future[None]]]] = asyncio.Queue()
        self._threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="aui-crawl")

    async def run(self, groups: AsyncIterator[list[Row | BadRow]]) -> Counts:
        """Deal with every row of ``groups`` and return the counts.

        Raises Unavailable when the index cannot be written or nobody is left to scan, and whatever ``groups`` raises.
        Whatever ends it, cancelling included, every result that had come is written and every lease given back.
        """
        self._broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        reporter = asyncio.create_task(self._report())
        tasks = [asyncio.create_task(work) for work in (self._feed(groups), self._write_results(), self._renew())]
        try:
            done, _ = await asyncio.wait((*tasks, reporter, self._broken), return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in (*tasks, *self._rows):
                task.cancel()
            self._broken.cancel()
            await asyncio.gather(*tasks, *self._rows, self._broken, return_exceptions=True)
            await asyncio.shield(self._finish(reporter))
        return self.counts

    async def _feed(self, groups: AsyncIterator[list[Row | BadRow]]) -> None:
        async for group in groups:
            await self._pass_over([row for row in group if isinstance(row, BadRow)], BAD)
            rows = [row for row in group if isinstance(row, Row)]
            kept = await self._patiently(self._service.reports.recent, [row.site for row in rows])
            fresh = [row for row in rows if self._is_fresh(kept.get(row.site))]
            await self._pass_over(fresh, FRESH)
            rows = [row for row in rows if row not in fresh]
            for _ in rows:
                await self._room.acquire()
            claims = await self._patiently(self._claim, [row.site for row in rows]) if rows else []
            for row, claim in zip(rows, claims, strict=True):
                task = asyncio.create_task(self._deal_with(row, claim))
                self._rows.add(task)
                task.add_done_callback(self._rows.discard)
        while self._rows:
            await asyncio.wait(self._rows)

    def _claim(self, sites: Sequence[str]) -> list[Claim | None]:
        """Return per site a claim, None while somebody else scans it; what they kept meanwhile is in the claim."""
        leases = self._service.leases.take_many(sites)
        kept = self._service.reports.recent(sites)
        self._leases |= {site: lease for site, lease in zip(sites, leases, strict=True) if lease is not None}
        return [
            None if lease is None else Claim(lease, kept.get(site), self._tasks_of(site) if site in kept else None)
            for site, lease in zip(sites, leases, strict=True)
        ]

    def _tasks_of(self, site: str) -> Observations | None:
        """Return what the last scan of ``site`` saw, if tasks were run on it."""
        with suppress(AuiError):
            seen = self._service.reports.get(site).observations
            return seen if seen is not None and seen.tasks is not None else None
        return None

    async def _deal_with(self, row: Row, claim: Claim | None) -> None:
        """Scan one row when its turn comes, and wait until that is reported."""
        lane = self._lanes.setdefault(_lane(row.site), asyncio.Lock())
        try:
            await lane.acquire()
            pause = 0.0
            try:
                while claim is None:
                    await asyncio.sleep(AGAIN)
                    [claim] = await self._patiently(self._claim, [row.site])
                if self._is_fresh(claim.recent):
                    await self._give_back([row.site])
                    await self._pass_over([row], FRESH)
                else:
                    async with self._places:
                        pause = PAUSE
                        await self._scan(row, claim)
            finally:
                asyncio.get_running_loop().call_later(pause, lane.release)
        except Exception as error:  # handed on: ``run`` raises it
            if not self._broken.done():
                self._broken.set_exception(error)
        finally:
            self._room.release()

    async def _scan(self, row: Row, claim: Claim) -> None:
        known = self._service.known.get(row.site, Known())
        kept = claim.recent.category if claim.recent is not None else ""
        category = row.category or known.category or kept or UNCATEGORIZED
        options = ScanOptions(method=self._method, name=row.name or known.name, category=category)
        job = Job(next(self._numbers), row.url, options, known.seed, claim.before)
        await self._pace()
        self.in_flight += 1
        try:
            result = await self._workers.scan(job)
        finally:
            self.in_flight -= 1
        found = Scanned(row, result, asyncio.get_running_loop().create_future())
        self._pending.append(found)
        self._arrived.set()
        await found.reported

    async def _pace(self) -> None:
        """Wait until one more host may begin."""
        now = time.monotonic()
        self._next = max(self._next, now) + self._interval
        await asyncio.sleep(self._next - self._interval - now)

    def _is_fresh(self, recent: Recent | None) -> bool:
        return recent is not None and self._cut <= recent.at <= self._clock() + FUTURE

    async def _write_results(self) -> None:
        while True:
            await self._arrived.wait()
            await asyncio.sleep(GATHER)
            self._arrived.clear()
            while self._pending:
                batch = self._pending[:BATCH]
                await self._patiently(self._write, batch)
                await self._close(batch, saved=True)

    def _write(self, batch: Sequence[Scanned]) -> None:
        packed = [found.result.packed for found in batch if found.result.packed is not None]
        if packed:
            self._service.reports.put_packed(packed)
            self._service.uncache(scan.host for scan in packed)

    async def _close(self, batch: Sequence[Scanned], *, saved: bool) -> None:
        """Give back the leases of results that are written, or cannot be, and hand them to whoever listens."""
        del self._pending[: len(batch)]
        self._hand_over([found.done(written=saved) for found in batch], [found.reported for found in batch])
        await self._give_back([found.row.site for found in batch])

    async def _pass_over(self, rows: Sequence[Row | BadRow], kind: str) -> None:
        if rows:
            reported: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._hand_over([Done(row, kind) for row in rows], [reported])
            await reported

    def _hand_over(self, dones: list[Done], reported: list[asyncio.Future[None]]) -> None:
        for done in dones:
            self.counts.add(done)
        self._reports.put_nowait((dones, reported))

    async def _report(self) -> None:
        """Tell the user what became of the rows, in order."""
        while True:
            dones, reported = await self._reports.get()
            await abandonable(partial(self._tell, dones))
            for waiting in reported:
                settle(waiting, None)
            self._reports.task_done()

    def _tell(self, dones: list[Done]) -> None:
        for done in dones:
            self._on_result(done)

    async def _finish(self, reporter: asyncio.Task[None]) -> None:
        """Write what had come, give back every lease, report what is left, end the threads."""
        if batch := list(self._pending):
            saved = True
            try:
                await self._call(self._write, batch)
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
        leases = [self._leases.pop(site) for site in sites if site in self._leases]
        if leases:
            await self._call(self._service.leases.release, leases)

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(LEASE_LIFE / 3)
            await self._call(self._service.leases.renew, list(self._leases.values()))

    async def _patiently(self, work: Callable[[Sequence[A]], T], items: Sequence[A]) -> T:
        """Return ``work(items)``, tried again while the index is locked or the disk full. Raises Unavailable."""
        end = time.monotonic() + self._patience
        warned = False
        while True:
            try:
                return await self._call(work, items)
            except Unavailable as error:
                if time.monotonic() > end:
                    raise
                if not warned:
                    self._notice(f"{error} Waiting up to {self._patience:g} s.")
                    warned = True
            await asyncio.sleep(AGAIN)

    async def _call(self, work: Callable[[Sequence[A]], T], items: Sequence[A]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, items)


def _lane(site: str) -> str:
    """Return the host name that ``site`` leads to, without port and ``www.``."""
    host = site[: site.index("]") + 1] if site.startswith("[") else site.partition(":")[0]
    return host.removeprefix("www.")
