"""Scanning processes on this machine: a job goes to the one with the least to do; a lost one is replaced.

In such a process, terms and jobs come in on standard input and results leave on standard output as they are ready, in
the frames of ``engine.child``. The process ends when its input does, whatever it is doing then.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import sys
from typing import Final, Protocol

from aui_tui.crawl.job import UNEXPECTED, Gate, Result, ScanJob, Terms, failed, scan
from aui_tui.engine import child, probes
from aui_tui.engine.network import PyreqwestTransport, save_tls_memory
from aui_tui.engine.parser_pool import Parser
from aui_tui.records.decoding import from_msgpack, msgpack_decoder

ATTEMPTS: Final = 3
"""Processes that may be lost over one host before it counts as failed."""
DEADLINE: Final = 120.0
"""Seconds after which a process that owes a result counts as stuck; longer where a scan may take as long."""


class Workers(Protocol):
    """Whoever scans for a crawl."""

    async def scan(self, job: ScanJob) -> Result:
        """Return what became of ``job``; lost workers are made up for. Raises Unavailable when nobody is left."""
        ...

    async def aclose(self) -> None:
        """End what is under way."""
        ...


class _Lost(Exception):
    """The process ended before its result came."""


class _Process:
    """One scanning process and the jobs it has."""

    def __init__(self, process: asyncio.subprocess.Process, deadline: float = DEADLINE) -> None:
        self._deadline = deadline
        self.jobs: dict[int, asyncio.Future[Result]] = {}
        self.alive = True
        self._child = process
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, terms: Terms) -> _Process:
        process = await asyncio.create_subprocess_exec(
            *child.command("aui_tui.crawl.pool"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            process_group=0 if os.name == "posix" else None,
        )
        found = cls(process, max(DEADLINE, 2 * terms.limits.longest))
        found._send(terms)
        return found

    @property
    def pid(self) -> int:
        return self._child.pid

    async def ask(self, job: ScanJob) -> Result:
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self.jobs[job.number] = future
        try:
            self._send(job)
            async with asyncio.timeout(self._deadline):
                return await future
        except TimeoutError:
            self.kill()
            raise _Lost from None
        finally:
            self.jobs.pop(job.number, None)

    def kill(self) -> None:
        """Kill the process; asyncio alone may wait for it, and would not learn its end from ``Process.kill``."""
        self.alive = False
        if self._child.returncode is None:
            with contextlib.suppress(OSError):
                os.kill(self._child.pid, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)

    async def end(self) -> None:
        """End the process and wait for it."""
        self.kill()
        await self._reader
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._child.wait(), 5)

    def _send(self, value: Terms | ScanJob) -> None:
        assert self._child.stdin is not None
        self._child.stdin.write(child.frame(value))

    async def _read(self) -> None:
        assert self._child.stdout is not None
        decoder = msgpack_decoder(Result)
        while (data := await child.receive_frame(self._child.stdout)) is not None:
            result = decoder.decode(data)
            future = self.jobs.get(result.number)
            if future is not None and not future.done():
                future.set_result(result)
        self.kill()
        for future in self.jobs.values():
            if not future.done():
                future.set_exception(_Lost())


class Pool:
    """``size`` scanning processes under ``terms``, started as they are needed; an async context manager.

    ``capacity``: hosts that may be in flight so that no process runs out of open files.
    """

    def __init__(self, terms: Terms, size: int = 1) -> None:
        self._terms = terms
        self._size = max(1, size)
        raise_file_limit()
        self.capacity = self._size * places()
        self._processes: list[_Process] = []
        self._starting = asyncio.Lock()

    async def __aenter__(self) -> Pool:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def scan(self, job: ScanJob) -> Result:
        """Return what became of ``job``; a job whose process is lost goes to another one, at most ATTEMPTS times."""
        for _ in range(ATTEMPTS):
            process = await self._choose()
            try:
                return await process.ask(job)
            except _Lost:
                continue
        return failed(job, UNEXPECTED, "The process that scanned it ended each time.")

    def pids(self) -> tuple[int, ...]:
        """Return the ids of the processes that are up."""
        return tuple(process.pid for process in self._processes if process.alive)

    async def aclose(self) -> None:
        """End the processes."""
        processes, self._processes = self._processes, []
        await asyncio.gather(*(process.end() for process in processes))

    async def _choose(self) -> _Process:
        async with self._starting:
            self._processes = [process for process in self._processes if process.alive]
            idle = next((process for process in self._processes if not process.jobs), None)
            if idle is None and len(self._processes) < self._size:
                idle = await _Process.start(self._terms)
                self._processes.append(idle)
            return idle or min(self._processes, key=lambda process: len(process.jobs))


GARBAGE: Final = 100_000
"""Objects made since the last collection after which there is one: each walks all that a hundred scans hold."""
FILES: Final = 65_536
"""Open files that a process may want."""
CONNECTIONS: Final = 12
"""Connections of a host in flight, at most."""
OWN_FILES: Final = 24
"""Open files of a process that scans nothing."""


def places() -> int:
    """Return how many hosts a process may have in flight by its limit of open files, at least one."""
    if sys.platform == "win32":
        return FILES // CONNECTIONS
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(1, (FILES if soft == resource.RLIM_INFINITY else soft - OWN_FILES) // CONNECTIONS)


def main() -> None:
    """Scan until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise_file_limit()
    save_tls_memory()
    inbox, outbox = child.take_pipes()
    gc.freeze()
    gc.set_threshold(GARBAGE)
    asyncio.run(_serve(inbox, outbox))


def raise_file_limit() -> None:
    """Let this process open up to FILES files, as far as the system allows."""
    if sys.platform == "win32":
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


async def _serve(inbox: int, outbox: int) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(inbox, "rb"))
    transport, _ = await loop.connect_write_pipe(asyncio.Protocol, os.fdopen(outbox, "wb"))
    first = await child.receive_frame(reader)
    if first is None:
        return
    terms = from_msgpack(first, Terms)
    access, parser, gate = terms.access(), Parser(), Gate()
    parser.prestart()
    fast = PyreqwestTransport(access, probes.versions()) if terms.fast else None
    watch = asyncio.create_task(gate.watch())
    running: set[asyncio.Task[Result]] = set()

    async def work(job: ScanJob) -> Result:
        await gate()
        return await scan(job, terms, access, parser, fast)

    def done(task: asyncio.Task[Result]) -> None:
        running.discard(task)
        if not task.cancelled():
            transport.write(child.frame(task.result()))

    decoder = msgpack_decoder(ScanJob)
    while (data := await child.receive_frame(reader)) is not None:
        task = asyncio.create_task(work(decoder.decode(data)))
        running.add(task)
        task.add_done_callback(done)
    watch.cancel()
    os._exit(0)


if __name__ == "__main__":
    main()
