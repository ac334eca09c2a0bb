"""Scanning on a Dask cluster that somebody has started: jobs travel in batches, results come back to the one writer.

A batch whose machine is lost is scanned again on another one; its hosts are written once.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent import futures
from contextlib import suppress
from functools import cache
from typing import Any, Final

import msgspec

from aui_tui.errors import MissingExtra, Unavailable
from aui_tui.model.decoding import from_msgpack
from aui_tui.scan.parser_pool import Parser
from aui_tui.service.crawl.pool import UNEXPECTED, Gate, Result, ScanJob, Terms, failed, raise_file_limit, scan
from aui_tui.text import clean

LEAST, MOST = 25, 100
"""Hosts in a batch; the last ones of a list may be fewer."""
GATHER: Final = 0.5
"""Seconds in which a batch gathers before it leaves with fewer than LEAST hosts."""
AHEAD: Final = 2
"""Batches per worker thread that may be under way: one runs, one waits beside it."""
CONNECT: Final = 20.0
"""Seconds to reach the scheduler and a first worker."""
ATTEMPTS: Final = 3
"""Times a batch is handed out; after the first it is halved, so that one host cannot take the others with it."""


@cache
def _parser() -> Parser:
    raise_file_limit()
    return Parser()


def scan_batch(terms: bytes, jobs: bytes) -> bytes:
    """Scan the jobs of one batch side by side, here and now; runs on a worker. Arguments and result are msgpack."""
    return asyncio.run(_scan_all(from_msgpack(terms, Terms), from_msgpack(jobs, list[ScanJob])))


async def _scan_all(terms: Terms, jobs: list[ScanJob]) -> bytes:
    access, parser, gate = terms.access(), _parser(), Gate()

    async def one(job: ScanJob) -> Result:
        await gate()
        return await scan(job, terms, access, parser)

    watch = asyncio.create_task(gate.watch())
    try:
        return msgspec.msgpack.encode(await asyncio.gather(*(one(job) for job in jobs)))
    finally:
        watch.cancel()


class Cluster:
    """Workers of a crawl on the Dask cluster whose scheduler is at ``address``; an async context manager.

    ``capacity``: hosts that may be in flight so that every worker thread has a batch to go on with. Entering raises
    ConfigError when Dask is not installed, Unavailable when no scheduler or no worker answers. What Dask's client logs,
    tracebacks among it, is silenced: a cluster that is lost raises Unavailable.
    """

    def __init__(self, address: str, terms: Terms, *, most: int = MOST) -> None:
        self._address = address
        self._terms = msgspec.msgpack.encode(terms)
        self._most = most
        self._least = min(LEAST, most)
        self._client: Any = None
        self._queue: asyncio.Queue[tuple[ScanJob, asyncio.Future[Result]]] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting: set[asyncio.Future[Result]] = set()
        self._gone: Unavailable | None = None
        self._under_way = 0
        self._ended = asyncio.Event()
        self.capacity = 0

    async def __aenter__(self) -> Cluster:
        try:
            from distributed import Client
        except ImportError:
            raise MissingExtra("--dask", "dask") from None
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        make: Any = Client
        try:
            self._client = make(self._address, asynchronous=True, timeout=CONNECT, set_as_default=False)
            await self._client
            await self._client.wait_for_workers(1, timeout=CONNECT)
            self.capacity = await self._places() * self._most
        except BaseException as error:  # cancelled or not, what was opened is closed
            await self.aclose()
            if isinstance(error, Unavailable) or not isinstance(error, Exception):
                raise
            reason = clean(str(error), 120) or "no answer"
            shown = clean(self._address, 100)
            raise Unavailable(f"No Dask cluster with a worker at {shown}: {reason}.") from None
        self._keep(self._gather())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def scan(self, job: ScanJob) -> Result:
        """Return what became of ``job``. Raises Unavailable when the cluster is gone."""
        if self._gone is not None:
            raise self._gone
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        future.add_done_callback(self._waiting.discard)
        self._queue.put_nowait((job, future))
        return await future

    async def aclose(self) -> None:
        """Cancel the batches under way and leave the cluster."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _keep(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _give_up(self) -> Unavailable:
        """Tell everybody who waits for a result that none will come."""
        self._gone = Unavailable(f"The Dask cluster at {clean(self._address, 100)} is gone.")
        for future in list(self._waiting):
            if not future.done():
                future.set_exception(self._gone)
        return self._gone

    async def _places(self) -> int:
        """Return how many batches may be under way. Raises Unavailable when the scheduler does not say."""
        try:
            async with asyncio.timeout(CONNECT):
                threads: dict[str, int] = await self._client.nthreads()
        except (OSError, TimeoutError):
            raise self._give_up() from None
        return AHEAD * max(1, sum(threads.values()))

    async def _gather(self) -> None:
        """Make batches of what is asked for; none leaves while enough are under way."""
        with suppress(Unavailable):
            while True:
                await self._leave_with(await self._batch())

    async def _batch(self) -> list[tuple[ScanJob, asyncio.Future[Result]]]:
        batch = [await self._queue.get()]
        end = asyncio.get_running_loop().time() + GATHER
        while len(batch) < self._least and (more := await self._next(end)) is not None:
            batch.append(more)
        while len(batch) < self._most and not self._queue.empty():
            batch.append(self._queue.get_nowait())
        return batch

    async def _leave_with(self, batch: list[tuple[ScanJob, asyncio.Future[Result]]]) -> None:
        while self._under_way >= await self._places():
            self._ended.clear()
            await self._ended.wait()
        self._under_way += 1
        self._keep(self._run({job.number: (job, future) for job, future in batch}))

    async def _next(self, end: float) -> tuple[ScanJob, asyncio.Future[Result]] | None:
        try:
            async with asyncio.timeout_at(end):
                return await self._queue.get()
        except TimeoutError:
            return None

    async def _run(self, batch: dict[int, tuple[ScanJob, asyncio.Future[Result]]]) -> None:
        try:
            with suppress(Unavailable):
                await self._hand_out([job for job, _ in batch.values()], batch, ATTEMPTS)
        finally:
            self._under_way -= 1
            self._ended.set()

    async def _hand_out(
        self, jobs: list[ScanJob], batch: dict[int, tuple[ScanJob, asyncio.Future[Result]]], attempts: int
    ) -> None:
        from distributed import KilledWorker

        try:
            results = await self._ask(jobs)
        except KilledWorker:
            if attempts > 1:
                middle = (len(jobs) + 1) // 2
                for half in (jobs[:middle], jobs[middle:]):
                    if half:
                        await self._hand_out(half, batch, attempts - 1)
                return
            results = [failed(job, UNEXPECTED, "The workers that scanned it were lost each time.") for job in jobs]
        except Unavailable:
            raise
        except Exception as error:  # one batch must not end a crawl: its rows say what happened
            results = [failed(job, UNEXPECTED, f"{type(error).__name__}: {clean(str(error), 200)}") for job in jobs]
        for result in results:
            future = batch[result.number][1]
            if not future.done():
                future.set_result(result)

    async def _ask(self, jobs: list[ScanJob]) -> list[Result]:
        """Return the results of one batch. Dask cancels its futures when the scheduler goes."""
        sent = self._client.submit(scan_batch, self._terms, msgspec.msgpack.encode(jobs), pure=False)
        try:
            return from_msgpack(await sent, list[Result])
        except (asyncio.CancelledError, futures.CancelledError):
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise self._give_up() from None
        finally:
            sent.release()
