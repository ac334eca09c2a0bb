"""Scanning on Dask: a cluster of processes on this machine, or one that somebody has started.

Jobs travel in batches, and results come back to the one writer. A batch whose worker is lost is scanned again on
another one; its hosts are written once.
"""

from __future__ import annotations

import asyncio
import logging
import math
from concurrent import futures
from contextlib import AsyncExitStack, suppress
from functools import cache
from typing import Any, Final

from aui_tui.errors import Unavailable, require
from aui_tui.process import protect
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.service.crawl.work import UNEXPECTED, CrawlSettings, Gate, Job, JobResult, failed, raise_file_limit, scan
from aui_tui.text import clean

MOST: Final = 100
"""Hosts in a batch."""
GATHER: Final = 0.5
"""Seconds in which a batch gathers before it leaves with fewer."""
AHEAD: Final = 2
"""Batches per worker thread that may be under way: one runs, one waits beside it."""
CONNECT: Final = 20.0
"""Seconds to reach the scheduler and a first worker."""
START: Final = 120.0
"""Seconds in which the processes of this machine must come up."""
ATTEMPTS: Final = 3
"""Times a batch is handed out; after the first it is halved, so that one host cannot take the others with it."""


@cache
def _parser() -> ParserProcess:
    raise_file_limit()
    return ParserProcess()


def scan_batch(settings: CrawlSettings, jobs: list[Job]) -> list[JobResult]:
    """Scan the jobs of one batch side by side, here and now; runs on a worker."""
    return asyncio.run(_scan_all(settings, jobs))


async def _scan_all(settings: CrawlSettings, jobs: list[Job]) -> list[JobResult]:
    parser, gate = _parser(), Gate()

    async def one(job: Job) -> JobResult:
        await gate()
        return await scan(job, settings, parser)

    watch = asyncio.create_task(gate.watch())
    try:
        return await asyncio.gather(*(one(job) for job in jobs))
    finally:
        watch.cancel()


class Cluster:
    """Workers of a crawl on the Dask cluster at ``address``, or on ``processes`` of this machine.

    An async context manager. ``capacity``: hosts that may be in flight so that every worker thread has a batch to go
    on with. Entering raises ConfigError when Dask is not installed, Unavailable when no scheduler or no worker answers.
    What Dask logs, tracebacks among it, is silenced: a cluster that is lost raises Unavailable.
    """

    def __init__(self, settings: CrawlSettings, *, address: str = "", processes: int = 1) -> None:
        self._settings, self._address, self._processes = settings, address, processes
        self._client: Any = None
        self._opened = AsyncExitStack()
        self._queue: asyncio.Queue[tuple[Job, asyncio.Future[JobResult]]] = asyncio.Queue()
        self._batches: set[asyncio.Task[None]] = set()
        self._lost: asyncio.Future[None]
        self._threads = 1
        self.capacity = 0

    async def __aenter__(self) -> Cluster:
        require("The setting scheduler" if self._address else "--workers", "dask", "distributed")
        import distributed

        for name in ("distributed", "tornado.application"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._lost = asyncio.get_running_loop().create_future()
        make: Any = distributed
        try:
            address = self._address or await self._opened.enter_async_context(self._local(make))
            self._client = make.Client(address, asynchronous=True, timeout=CONNECT, set_as_default=False)
            self._opened.push_async_callback(self._client.close)
            await self._client
            await self._client.wait_for_workers(self._processes, timeout=CONNECT if self._address else START)
            self._threads = max(1, sum((await self._client.nthreads()).values()))
            self.capacity = AHEAD * MOST * self._threads
        except BaseException as error:  # cancelled or not, what was opened is closed
            await self.aclose()
            if not isinstance(error, Exception):
                raise
            shown, reason = clean(self._address, 100), clean(error, 120) or "no answer"
            raise Unavailable(f"No Dask cluster with a worker at {shown or 'this machine'}: {reason}.") from None
        self._start(self._gather())
        return self

    def _local(self, dask: Any) -> Any:
        protect()
        return dask.LocalCluster(
            n_workers=self._processes,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            asynchronous=True,
            silence_logs=logging.CRITICAL,
        )

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Cancel the batches under way and leave the cluster."""
        batches = list(self._batches)
        for task in batches:
            task.cancel()
        await asyncio.gather(*batches, return_exceptions=True)
        await self._opened.aclose()

    async def scan(self, job: Job) -> JobResult:
        """Return what became of ``job``. Raises Unavailable when the cluster is gone."""
        result: asyncio.Future[JobResult] = asyncio.get_running_loop().create_future()
        self._queue.put_nowait((job, result))
        await asyncio.wait((result, self._lost), return_when=asyncio.FIRST_COMPLETED)
        if not result.done():
            raise Unavailable(f"The Dask cluster at {clean(self._address, 100) or 'this machine'} is gone.")
        return result.result()

    def _start(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._batches.add(task)
        task.add_done_callback(self._batches.discard)

    async def _gather(self) -> None:
        """Make batches of what is asked for; when that is less than a batch, every worker thread gets its share."""
        while True:
            batch = [await self._queue.get()]
            with suppress(TimeoutError):
                async with asyncio.timeout(GATHER):
                    while len(batch) < MOST:
                        batch.append(await self._queue.get())
            size = MOST if len(batch) == MOST else math.ceil(len(batch) / self._threads)
            for start in range(0, len(batch), size):
                self._start(self._hand_out(batch[start : start + size], ATTEMPTS))

    async def _hand_out(self, batch: list[tuple[Job, asyncio.Future[JobResult]]], attempts: int) -> None:
        """Have ``batch`` scanned and tell those who wait; when its worker was lost, each half by itself."""
        from distributed import KilledWorker

        jobs = [job for job, _ in batch]
        sent = self._client.submit(scan_batch, self._settings, jobs, pure=False)
        try:
            results = await sent
        except KilledWorker:
            if attempts > 1:
                middle = (len(batch) + 1) // 2
                for half in filter(None, (batch[:middle], batch[middle:])):
                    await self._hand_out(half, attempts - 1)
                return
            results = [failed(UNEXPECTED, "The workers that scanned it were lost each time.") for _ in jobs]
        except (asyncio.CancelledError, futures.CancelledError):  # Dask cancels its futures when the scheduler goes
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            if not self._lost.done():
                self._lost.set_result(None)
            return
        except Exception as error:  # one batch must not end a crawl: its rows say what happened
            results = [failed(UNEXPECTED, f"{type(error).__name__}: {clean(error, 200)}") for _ in jobs]
        finally:
            sent.release()
        for (_, waiting), result in zip(batch, results, strict=True):
            if not waiting.done():
                waiting.set_result(result)
