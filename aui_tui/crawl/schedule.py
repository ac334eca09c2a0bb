"""When a row is scanned and when its result is reported: one scan per host name at a time, a limit per second."""

from __future__ import annotations

import asyncio
import heapq
import queue
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Final

from aui_tui.crawl.job import Done
from aui_tui.crawl.listing import Row

PAUSE: Final = 1.0
"""Seconds between two scans that lead to the same host name: another port, or with and without ``www.``."""


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
    """Reports what became of the rows, in order, on a thread of its own.

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
            except Exception as raised:
                error = raised
            with suppress(RuntimeError):  # the loop has ended: nobody waits any more
                self._loop.call_soon_threadsafe(_resolve, reported, error)


def _resolve(reported: asyncio.Future[None], error: Exception | None) -> None:
    if reported.done():
        return
    if error is None:
        reported.set_result(None)
    else:
        reported.set_exception(error)
