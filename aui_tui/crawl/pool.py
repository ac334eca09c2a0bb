"""Scanning processes on this machine: a job goes to the one with the least to do; a lost one is replaced."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from typing import Final, Protocol

from aui_tui.crawl.job import UNEXPECTED, Result, ScanJob, Terms, failed
from aui_tui.crawl.worker import places, raise_file_limit
from aui_tui.engine import child
from aui_tui.records.decoding import msgpack_decoder

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
            *child.command("aui_tui.crawl.worker"),
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
