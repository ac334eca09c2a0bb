"""The crawl itself: what of a list is scanned, when each host's turn comes, and how its result reaches the index.

One scan per host name runs at a time, with a limit per second. All state is in the index and its leases: a crawl that
starts the same list again goes on where the last one ended.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import queue
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple, TypeVar

from aui_tui.errors import AuiError, Unavailable
from aui_tui.index.cache import LEASE_LIFE, Lease
from aui_tui.index.reports import Recent
from aui_tui.model.methods import DEFAULT_METHOD
from aui_tui.model.observations import Observations
from aui_tui.model.options import ScanOptions
from aui_tui.model.registry import Known
from aui_tui.scan.network import settle
from aui_tui.service.crawl.listing import BadRow, Row
from aui_tui.service.crawl.work import Job, Result, Workers
from aui_tui.service.local import LocalService

PAUSE: Final = 1.0
"""Seconds between two scans that lead to the same host name: another port, or with and without ``www.``."""


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

    @classmethod
    def of(cls, row: Row, result: Result, *, written: bool) -> Done:
        """Return the outcome of a scan; ``written`` says whether the index took what there was to write."""
        kind = FAILED if result.packed is None else UNREACHABLE if result.unreachable else SCANNED
        return cls(row, kind, result, written and result.packed is not None)


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
        return self.scanned + self.unreachable + self.failed + self.fresh + self.bad

    @property
    def worked(self) -> int:
        """Hosts that were asked."""
        return self.scanned + self.unreachable + self.failed


class HostScheduler:
    """The order in which rows are scanned; ``rate``: hosts begun per second at most, 0 for no such limit."""

    def __init__(self, rate: float = 0.0) -> None:
        self._rate = rate
        self._next = 0.0
        self._lanes: set[str] = set()
        self._later: list[tuple[float, int, Row]] = []

    @property
    def waiting(self) -> int:
        """Rows that were put off."""
        return len(self._later)

    def enter(self, rows: Iterable[Row]) -> list[Row]:
        """Return those of ``rows`` whose host was free and is theirs now; put the others off."""
        free: list[Row] = []
        for row in rows:
            lane = _lane(row.site)
            if lane in self._lanes:
                self.put_off(row, PAUSE)
            else:
                self._lanes.add(lane)
                free.append(row)
        return free

    def leave(self, row: Row) -> None:
        """Free the host of ``row``."""
        self._lanes.discard(_lane(row.site))

    def leave_scanned(self, row: Row) -> None:
        """Free the host of ``row``, which was scanned, after PAUSE seconds."""
        asyncio.get_running_loop().call_later(PAUSE, self.leave, row)

    def put_off(self, row: Row, seconds: float) -> None:
        """Let ``row`` have its next turn in ``seconds``."""
        heapq.heappush(self._later, (time.monotonic() + seconds, row.line, row))

    def due(self, limit: int) -> list[Row]:
        """Return rows whose time has come, at most ``limit``; they wait no more."""
        now = time.monotonic()
        found: list[Row] = []
        while self._later and self._later[0][0] <= now and len(found) < limit:
            found.append(heapq.heappop(self._later)[2])
        return found

    async def pace(self) -> None:
        """Wait until one more host may begin."""
        if self._rate <= 0:
            return
        now = time.monotonic()
        self._next = max(self._next, now)
        await asyncio.sleep(self._next - now)
        self._next += 1 / self._rate


def _lane(site: str) -> str:
    """Return the host name that ``site`` leads to, without port and ``www.``."""
    host = site[: site.index("]") + 1] if site.startswith("[") else site.partition(":")[0]
    return host.removeprefix("www.")


class ResultDispatcher:
    """Reports the outcomes of the rows, in order, on a thread of its own.

    Whoever reads our output may pause for as long as they like: results go on being written and leases being renewed.
    Calls ``on_result`` for each row, on a thread that ends with ``end``. To be made and used on an event loop."""

    def __init__(self, on_result: Callable[[Done], None]) -> None:
        self._on_result = on_result
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[tuple[Sequence[Done], asyncio.Future[None]] | None] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="aui-results", daemon=True).start()

    def put(self, dones: Sequence[Done]) -> asyncio.Future[None]:
        """Report ``dones`` after those that were put before; the future ends with it or holds its error."""
        reported: asyncio.Future[None] = self._loop.create_future()
        self._queue.put((dones, reported))
        return reported

    async def end(self, patience: float) -> None:
        """Wait at most ``patience`` seconds for everything to be reported; what is left then stays unreported."""
        last = self.put(())
        self._queue.put(None)
        await asyncio.wait([last], timeout=patience)

    def _work(self) -> None:
        while (item := self._queue.get()) is not None:
            dones, reported = item
            error: Exception | None = None
            try:
                for done in dones:
                    self._on_result(done)
            except Exception as raised:  # handed on: whoever waits for the result raises it
                error = raised
            with suppress(RuntimeError):  # the loop has ended: nobody waits any more
                self._loop.call_soon_threadsafe(settle, reported, None, error)


T = TypeVar("T")
CONCURRENCY: Final = 100
"""Hosts in flight by default."""
OLDER_THAN: Final = 7 * 86_400.0
"""Age in seconds from which a card is refreshed by default."""
FUTURE: Final = 300.0
"""Seconds by which a card may seem to be from the future and still count as fresh."""
BATCH: Final = 64
"""Leases taken and results written at a time, at most."""
GATHER: Final = 0.02
"""Seconds in which results gather before they are written."""
AGAIN: Final = 0.5
"""Seconds before a host that somebody else is scanning has its next turn."""
LOCK_TIMEOUT: Final = 15.0
"""Seconds to wait for a locked or full file before the crawl ends."""
LISTENING: Final = 5.0
"""Seconds to wait at the end for a reader who pauses."""


class _Item(NamedTuple):
    row: Row
    result: Result


class Crawl:
    """Scans the rows of a list with ``workers`` into the index of ``service``.

    ``method`` grades the cards. ``concurrency``: hosts in flight at most. ``older_than``: seconds; a host with a card
    that is younger, seen from the start of the crawl, is skipped. ``rate``: hosts begun per second at most, 0 for no
    such limit. ``on_result`` is called on a thread of its own with what became of each row, of a scanned one after it
    is written; while it takes its time no more hosts begin. ``notice`` gets sentences for the user. ``patience``:
    seconds to wait for a file that cannot be written.
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
        self._service = service
        self._workers = workers
        self._method = method
        self._free = concurrency
        self._open = 0
        self._broken: asyncio.Future[None]
        self._slot = asyncio.Event()
        self._schedule = HostScheduler(rate)
        self._cut = clock() - older_than
        self._on_result = on_result
        self._dispatcher: ResultDispatcher
        self._notice = notice
        self._clock = clock
        self._patience = patience
        self._numbers = itertools.count(1)
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
        self._dispatcher = ResultDispatcher(self._on_result)
        tasks = [asyncio.create_task(work) for work in (self._feed(groups), self._write_results(), self._renew())]
        try:
            done, _ = await asyncio.wait((*tasks, self._broken), return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in (*tasks, *self._running):
                task.cancel()
            self._broken.cancel()
            await asyncio.gather(*tasks, *self._running, self._broken, return_exceptions=True)
            await asyncio.shield(self._finish())
        return self.counts

    async def _feed(self, groups: AsyncIterator[list[Row | BadRow]]) -> None:
        async for group in groups:
            await self._pass_over([row for row in group if isinstance(row, BadRow)], BAD)
            rows = [row for row in group if isinstance(row, Row)]
            recent = await self._recent(rows)
            fresh = [row for row in rows if self._is_fresh(recent.get(row.site))]
            await self._pass_over(fresh, FRESH)
            rows = [row for row in rows if row not in fresh]
            while rows:
                room = await self._room()
                await self._start(rows[:room])
                rows = rows[room:]
                await self._start_due()
        while self._schedule.waiting or self._open:
            await self._start_due()
            await asyncio.sleep(GATHER)

    async def _start_due(self) -> None:
        """Give the hosts that were put off their next turn; while there are many of them, nothing else has its."""
        while True:
            due = self._schedule.due(BATCH)
            while due:
                room = await self._room()
                await self._start(due[:room])
                due = due[room:]
            if self._schedule.waiting <= 4 * BATCH:
                return
            await asyncio.sleep(GATHER)

    async def _room(self) -> int:
        while self._free <= 0:
            self._slot.clear()
            await self._slot.wait()
        return min(self._free, BATCH)

    async def _start(self, rows: Sequence[Row]) -> None:
        """Begin the scans of ``rows``, put off those whose host is busy, pass over those that somebody else did."""
        free = self._schedule.enter(rows)
        if not free:
            return
        leases = await self._patiently(lambda: self._service.leases.take_many([row.site for row in free]))
        held: list[Row] = []
        for row, lease in zip(free, leases, strict=True):
            if lease is None:
                self._schedule.leave(row)
                self._schedule.put_off(row, AGAIN)
            else:
                self._leases[row.site] = lease
                held.append(row)
        recent = await self._recent(held)
        fresh = [row for row in held if self._is_fresh(recent.get(row.site))]
        await self._give_back(row.site for row in fresh)
        for row in fresh:
            self._schedule.leave(row)
        await self._pass_over(fresh, FRESH)
        for row in held:
            if row not in fresh:
                before = await self._call(partial(self._with_tasks, row.site)) if row.site in recent else None
                await self._schedule.pace()
                self._begin(row, recent.get(row.site), before)

    def _with_tasks(self, site: str) -> Observations | None:
        """Return what the last scan of ``site`` saw, if tasks were run on it."""
        try:
            seen = self._service.reports.get(site).observations
        except AuiError:
            return None
        return seen if seen is not None and seen.tasks is not None else None

    def _begin(self, row: Row, recent: Recent | None, before: Observations | None) -> None:
        known = self._service.known.get(row.site, Known())
        kept = recent.category if recent is not None else ""
        category = row.category or known.category or kept or "Uncategorized"
        options = ScanOptions(method=self._method, name=row.name or known.name, category=category)
        job = Job(next(self._numbers), row.url, options, known.seed, before)
        self._free -= 1
        self._open += 1
        task = asyncio.create_task(self._scan(row, job))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _scan(self, row: Row, job: Job) -> None:
        try:
            result = await self._workers.scan(job)
        except Exception as error:  # handed on: ``run`` raises it
            self._break(error)
            return
        self._results.put_nowait(_Item(row, result))
        self._schedule.leave_scanned(row)

    def _break(self, error: BaseException) -> None:
        if not self._broken.done():
            self._broken.set_exception(error)

    async def _pass_over(self, rows: Sequence[Row | BadRow], kind: str) -> None:
        if rows:
            dones = [Done(row, kind) for row in rows]
            self._count(dones)
            await self._dispatcher.put(dones)

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
        """Give back the leases of the results that are written (or cannot be), and report them; then there is room."""
        await self._give_back(item.row.site for item in self._pending)
        dones = [Done.of(item.row, item.result, written=saved) for item in self._pending]
        self._pending = []
        self._count(dones)
        self._dispatcher.put(dones).add_done_callback(lambda reported: self._make_room(len(dones), reported))

    def _make_room(self, places: int, reported: asyncio.Future[None]) -> None:
        self._open -= places
        self._free += places
        self._slot.set()
        error = reported.exception()
        if error is not None:
            self._break(error)

    def _count(self, dones: Iterable[Done]) -> None:
        for done in dones:
            self.counts.add(done)

    async def _finish(self) -> None:
        """Write what had come, give back every lease, report what is left, end the threads."""
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
        await self._dispatcher.end(LISTENING)

    async def _give_back(self, sites: Iterable[str]) -> None:
        leases = [self._leases.pop(site) for site in list(sites) if site in self._leases]
        if leases:
            await self._call(lambda: self._service.leases.release_many(leases))

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(LEASE_LIFE / 3)
            held = list(self._leases.values())
            await self._call(partial(self._service.leases.renew, held))

    async def _patiently(self, work: Callable[[], T]) -> T:
        """Return what ``work`` returns, tried again while the index is locked or the disk full. Raises Unavailable."""
        end = time.monotonic() + self._patience
        warned = False
        while True:
            try:
                return await self._call(work)
            except Unavailable as error:
                if time.monotonic() > end:
                    raise
                if not warned:
                    self._notice(f"{error} Waiting up to {self._patience:g} s.")
                    warned = True
            await asyncio.sleep(AGAIN)

    async def _call(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)
