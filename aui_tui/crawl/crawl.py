"""The crawl itself: what of a list is scanned, when each host's turn comes, and how its result reaches the index.

All state is in the index and its leases: whoever starts the same list again goes on where the last one ended.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeVar

from aui_tui.crawl.job import Job, Result
from aui_tui.crawl.listing import BadRow, Row
from aui_tui.crawl.pool import Workers
from aui_tui.errors import Unavailable
from aui_tui.records.starter import Known
from aui_tui.service.local import LocalService
from aui_tui.store.lease import LIFE, Lease
from aui_tui.store.reports import Recent

T = TypeVar("T")
CONCURRENCY: Final = 100
"""Hosts in flight unless told otherwise."""
OLDER_THAN: Final = 7 * 86_400.0
"""Age in seconds from which a card is refreshed unless told otherwise."""
FUTURE: Final = 300.0
"""Seconds by which a card may seem to be from the future and still count as fresh."""
PAUSE: Final = 1.0
"""Seconds between two scans that lead to the same host name: another port, or with and without ``www.``."""
BATCH: Final = 64
"""Leases taken and results written at a time, at most."""
GATHER: Final = 0.02
"""Seconds in which results gather before they are written."""
AGAIN: Final = 0.5
"""Seconds before a host that somebody else is scanning has its next turn."""
PATIENCE: Final = 5.0
"""Seconds that writing waits for a locked or full file before the crawl ends."""

SCANNED, UNREACHABLE, FAILED, FRESH, BAD = "scanned", "unreachable", "failed", "fresh", "bad"


class Done(NamedTuple):
    """What became of a row: one of the words above; ``result`` where it was scanned, ``saved`` once it is kept."""

    row: Row | BadRow
    kind: str
    result: Result | None = None
    saved: bool = False


@dataclass(slots=True)
class Counts:
    """Rows by what became of them; ``unsaved`` results could not be written."""

    scanned: int = 0
    unreachable: int = 0
    failed: int = 0
    fresh: int = 0
    bad: int = 0
    unsaved: int = 0

    @property
    def total(self) -> int:
        """Rows that are dealt with."""
        return self.scanned + self.unreachable + self.failed + self.fresh + self.bad

    @property
    def worked(self) -> int:
        """Hosts that were asked."""
        return self.scanned + self.unreachable + self.failed


class _Item(NamedTuple):
    row: Row
    lease: Lease
    result: Result


class Crawl:
    """Scans the rows of a list with ``workers`` into the index of ``service``.

    ``concurrency``: hosts in flight at most. ``older_than``: seconds; a host with a card that is younger, seen from
    the start of the crawl, is skipped. ``rate``: hosts begun per second at most, 0 for no such limit. ``tell`` hears
    what became of each row, of a scanned one after it is written; ``notice`` hears sentences for the person.
    ``patience``: seconds to wait for a file that cannot be written.
    """

    def __init__(
        self,
        service: LocalService,
        workers: Workers,
        *,
        concurrency: int = CONCURRENCY,
        older_than: float = OLDER_THAN,
        rate: float = 0.0,
        tell: Callable[[Done], None] = lambda done: None,
        notice: Callable[[str], None] = lambda sentence: None,
        clock: Callable[[], float] = time.time,
        patience: float = PATIENCE,
    ) -> None:
        self.counts = Counts()
        self._service = service
        self._workers = workers
        self._free = concurrency
        self._open = 0
        self._broken: asyncio.Future[None]
        self._slot = asyncio.Event()
        self._rate = rate
        self._next = 0.0
        self._cut = clock() - older_than
        self._tell = tell
        self._notice = notice
        self._clock = clock
        self._patience = patience
        self._numbers = itertools.count(1)
        self._lanes: set[str] = set()
        self._later: list[tuple[float, int, Row]] = []
        self._leases: dict[str, Lease] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._results: asyncio.Queue[_Item] = asyncio.Queue()
        self._pending: list[_Item] = []
        self._threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="aui-crawl")

    @property
    def in_flight(self) -> int:
        """Hosts that are being scanned."""
        return len(self._running)

    async def run(self, groups: AsyncIterator[list[Row | BadRow]]) -> Counts:
        """Deal with every row of ``groups`` and return the counts.

        Raises Unavailable when the index cannot be written or nobody is left to scan, and whatever ``groups`` raises.
        Whatever ends it, cancelling included, every result that had come is written and every lease given back.
        """
        self._broken = asyncio.get_running_loop().create_future()
        tasks = [asyncio.create_task(work) for work in (self._feed(groups), self._write_results(), self._renew())]
        try:
            done, _ = await asyncio.wait((*tasks, self._broken), return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in (*tasks, *self._running):
                task.cancel()
            self._broken.cancel()
            await asyncio.gather(*tasks, *self._running, return_exceptions=True)
            await asyncio.shield(self._finish())
        return self.counts

    async def _feed(self, groups: AsyncIterator[list[Row | BadRow]]) -> None:
        async for group in groups:
            for row in group:
                if isinstance(row, BadRow):
                    self._settle(Done(row, BAD))
            rows = await self._unless_fresh([row for row in group if isinstance(row, Row)])
            while rows:
                room = await self._room()
                await self._start(rows[:room])
                rows = rows[room:]
                await self._start_due()
        while self._later or self._open:
            await self._start_due()
            await asyncio.sleep(GATHER)

    async def _start_due(self) -> None:
        """Give the hosts that were put off their next turn; while there are many of them, nothing else has its."""
        while True:
            now = time.monotonic()
            due: list[Row] = []
            while self._later and self._later[0][0] <= now and len(due) < BATCH:
                due.append(heapq.heappop(self._later)[2])
            while due:
                room = await self._room()
                await self._start(due[:room])
                due = due[room:]
            if len(self._later) <= 4 * BATCH:
                return
            await asyncio.sleep(GATHER)

    async def _room(self) -> int:
        while self._free <= 0:
            self._slot.clear()
            await self._slot.wait()
        return min(self._free, BATCH)

    async def _start(self, rows: Sequence[Row]) -> None:
        """Begin the scans of ``rows``, put off those whose host is busy, pass over those that somebody else did."""
        free: list[Row] = []
        for row in rows:
            lane = _lane(row.site)
            if lane in self._lanes:
                self._put_off(row, PAUSE)
            else:
                self._lanes.add(lane)
                free.append(row)
        if not free:
            return
        leases = await self._call(lambda: self._service.leases.take_many([row.site for row in free]))
        held: list[Row] = []
        for row, lease in zip(free, leases, strict=True):
            if lease is None:
                self._lanes.discard(_lane(row.site))
                self._put_off(row, AGAIN)
            else:
                self._leases[row.site] = lease
                held.append(row)
        recent = await self._recent(held)
        fresh = [row for row in held if self._is_fresh(recent.get(row.site))]
        await self._give_back(row.site for row in fresh)
        for row in fresh:
            self._lanes.discard(_lane(row.site))
            self._settle(Done(row, FRESH))
        for row in held:
            if row not in fresh:
                await self._pace()
                self._begin(row, recent.get(row.site))

    def _begin(self, row: Row, recent: Recent | None) -> None:
        known = self._service.known.get(row.site, Known())
        kept = recent.category if recent is not None else ""
        category = row.category or known.category or kept or "Uncategorized"
        job = Job(next(self._numbers), row.url, row.name or known.name, category, known.seed)
        self._free -= 1
        self._open += 1
        task = asyncio.create_task(self._scan(row, job))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _scan(self, row: Row, job: Job) -> None:
        try:
            result = await self._workers.scan(job)
        except Exception as error:
            if not self._broken.done():
                self._broken.set_exception(error)
            raise
        self._results.put_nowait(_Item(row, self._leases[row.site], result))
        asyncio.get_running_loop().call_later(PAUSE, self._lanes.discard, _lane(row.site))

    def _put_off(self, row: Row, seconds: float) -> None:
        heapq.heappush(self._later, (time.monotonic() + seconds, row.line, row))

    async def _pace(self) -> None:
        if self._rate <= 0:
            return
        now = time.monotonic()
        self._next = max(self._next, now)
        await asyncio.sleep(self._next - now)
        self._next += 1 / self._rate

    async def _unless_fresh(self, rows: list[Row]) -> list[Row]:
        recent = await self._recent(rows)
        wanted = []
        for row in rows:
            if self._is_fresh(recent.get(row.site)):
                self._settle(Done(row, FRESH))
            else:
                wanted.append(row)
        return wanted

    async def _recent(self, rows: Sequence[Row]) -> dict[str, Recent]:
        if not rows:
            return {}
        return await self._patiently(lambda: self._service.reports.recent([row.site for row in rows]))

    def _is_fresh(self, recent: Recent | None) -> bool:
        return recent is not None and self._cut <= recent.at <= self._clock() + FUTURE

    async def _write_results(self) -> None:
        while True:
            self._pending.append(await self._results.get())
            await asyncio.sleep(GATHER)
            self._gather(BATCH)
            await self._patiently(self._write)
            await self._close_pending(saved=True)

    def _gather(self, limit: int) -> None:
        while len(self._pending) < limit and not self._results.empty():
            self._pending.append(self._results.get_nowait())

    def _write(self) -> None:
        packed = [item.result.packed for item in self._pending if item.result.packed is not None]
        if packed:
            self._service.reports.put_packed(packed)
            self._service.uncache(scan.host for scan in packed)

    async def _close_pending(self, *, saved: bool) -> None:
        """Tell the results that are written (or cannot be), give their leases back, make room."""
        await self._give_back(item.row.site for item in self._pending)
        items, self._pending = self._pending, []
        self._open -= len(items)
        self._free += len(items)
        self._slot.set()
        for item in items:
            result = item.result
            kind = FAILED if result.packed is None else UNREACHABLE if result.unreachable else SCANNED
            self._settle(Done(item.row, kind, result, saved and result.packed is not None))

    def _settle(self, done: Done) -> None:
        setattr(self.counts, done.kind, getattr(self.counts, done.kind) + 1)
        if done.result is not None and done.result.packed is not None and not done.saved:
            self.counts.unsaved += 1
        self._tell(done)

    async def _finish(self) -> None:
        """Write what had come, give back every lease, end the threads."""
        self._gather(len(self._pending) + self._results.qsize())
        if self._pending:
            try:
                await self._call(self._write)
                saved = True
            except Unavailable as error:
                self._notice(str(error))
                saved = False
            await self._close_pending(saved=saved)
        await self._give_back(list(self._leases))
        await asyncio.to_thread(self._threads.shutdown)

    async def _give_back(self, sites: Iterable[str]) -> None:
        leases = [self._leases.pop(site) for site in list(sites) if site in self._leases]
        if leases:
            await self._call(lambda: self._service.leases.release_many(leases))

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(LIFE / 3)
            held = list(self._leases.values())
            await self._call(lambda held=held: self._service.leases.renew(held))  # type: ignore[misc]

    async def _patiently(self, work: Callable[[], T]) -> T:
        """Return what ``work`` returns, tried again while the index is locked or the disk full. Raises Unavailable."""
        end = time.monotonic() + self._patience
        told = False
        while True:
            try:
                return await self._call(work)
            except Unavailable as error:
                if time.monotonic() > end:
                    raise
                if not told:
                    self._notice(f"{error} Waiting up to {self._patience:g} s.")
                    told = True
            await asyncio.sleep(AGAIN)

    async def _call(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


def _lane(site: str) -> str:
    """Return the host name that ``site`` leads to, without port and ``www.``."""
    host = site[: site.index("]") + 1] if site.startswith("[") else site.partition(":")[0]
    return host.removeprefix("www.")
