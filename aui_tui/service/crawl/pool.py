"""The work of a crawl, one host at a time, and the processes of this machine that do it.

A job may travel to another process or machine. It goes to the process with the least to do; a lost one is replaced. In
such a process, terms and jobs come in on standard input and results leave on standard output as they are ready, in the
frames of ``scan.parser_pool``. The process ends when its input does, whatever it is doing then.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import sys
from dataclasses import replace
from typing import Final, Protocol

import msgspec

from aui_tui.checks.scoring import Labels, grade_card
from aui_tui.errors import AuiError
from aui_tui.index.writer import Packed
from aui_tui.model.codec import Keys, encode_card
from aui_tui.model.decoding import from_msgpack, msgpack_decoder
from aui_tui.model.methods import DEFAULT_METHOD
from aui_tui.process import command
from aui_tui.scan import probes
from aui_tui.scan.network import PyreqwestTransport, save_tls_memory
from aui_tui.scan.parser_pool import Parser, frame, receive_frame, take_pipes
from aui_tui.scan.policy import ConnectTo, Limits, ScanPolicy
from aui_tui.scan.scan import observe
from aui_tui.text import clean

UNEXPECTED: Final = "Unexpected error"
QUEUE_PATIENCE: Final = 3.0
"""Seconds as in ``Limits.patience``: a crawl has time, and saves both sides half the connections."""
BUDGET: Final = 20.0
"""Seconds as in ``Limits.budget``: in a crawl a refusal is looked at again, but no host holds a place for a minute."""


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """What holds for every scan of a crawl.

    ``connect_to``, ``insecure``, ``cafile``, ``allow_private``, ``keyboard``, ``limits``: as in
    ``scan.policy.ScanPolicy``;
    ``keys``: names in the cards that are handed out, empty when none are wanted; ``fast``: scanning processes ask by
    the extra ``fast``.
    """

    method: str = DEFAULT_METHOD
    base_url: str = ""
    allow_private: bool = False
    keyboard: bool = False
    connect_to: tuple[ConnectTo, ...] = ()
    cafile: str = ""
    insecure: bool = False
    limits: Limits = Limits()
    keys: Keys | None = None
    fast: bool = False

    @classmethod
    def of(
        cls, access: ScanPolicy, *, method: str, base_url: str, keys: Keys | None = None, fast: bool = False
    ) -> Terms:
        """Return the terms under which ``access`` scans; its header fields and credentials stay here."""
        return cls(
            method=method,
            base_url=base_url,
            allow_private=access.allow_private,
            keyboard=access.keyboard,
            connect_to=access.connect_to,
            cafile=access.cafile,
            insecure=access.insecure,
            limits=replace(
                access.limits,
                patience=QUEUE_PATIENCE,
                budget=BUDGET,
                whole=BUDGET + 15,
                retry_after=BUDGET / 4,
                causes=0,
            ),
            keys=keys,
            fast=fast,
        )

    def access(self) -> ScanPolicy:
        """Return the access of the scans."""
        return ScanPolicy(
            allow_private=self.allow_private,
            keyboard=self.keyboard,
            connect_to=self.connect_to,
            cafile=self.cafile,
            insecure=self.insecure,
            limits=self.limits,
        )


class ScanJob(msgspec.Struct, frozen=True, array_like=True):
    """A host to scan: ``number`` tells it apart, the rest are its address and labels."""

    number: int
    url: str
    name: str = ""
    category: str = "Uncategorized"
    seed: bool = False


class Result(msgspec.Struct, frozen=True, array_like=True):
    """The outcome of a job: ``packed`` is ready to be written; without it ``title`` and ``error`` say why.

    ``card``: the record as JSON where the terms ask for it. ``status``: the HTTP status of the error.
    """

    number: int
    packed: Packed | None = None
    card: bytes = b""
    unreachable: bool = False
    title: str = ""
    error: str = ""
    status: int = 0


async def scan(
    job: ScanJob, terms: Terms, access: ScanPolicy, parser: Parser, fast: PyreqwestTransport | None = None
) -> Result:
    """Scan one host, grade and pack it. Raises nothing but CancelledError: an error is a result."""
    try:
        target = access.target(job.url)
        observed = await observe(target, parser=parser, access=access.toward(target), fast=fast)
        labels = Labels(name=job.name, category=job.category, seed=job.seed, base_url=terms.base_url)
        card = grade_card(observed, terms.method, labels=labels)
        packed = Packed.of(card, observed)
    except AuiError as error:
        return failed(job, type(error).title, str(error), type(error).http_status)
    except Exception as error:  # one host must not end a crawl: its row says what happened
        return failed(job, UNEXPECTED, f"{type(error).__name__}: {clean(str(error), 200)}")
    record = b"" if terms.keys is None else encode_card(card, terms.keys)
    return Result(job.number, packed, record, card.unreachable)


def failed(job: ScanJob, title: str, error: str, status: int = 500) -> Result:
    """Return the result of a job that gave no card."""
    return Result(job.number, title=title, error=error, status=status)


class Gate:
    """Lets scans begin only while the event loop keeps up, so that our own load never looks like a slow site.

    ``watch`` must run beside the scans. At most ``burst`` scans begin between two looks at the loop.
    """

    TICK: Final = 0.02
    LATE: Final = 0.15
    """Seconds by which the loop may be late."""

    def __init__(self, burst: int = 4) -> None:
        self._burst = burst
        self._places = asyncio.Semaphore(burst)
        self._free = burst

    async def watch(self) -> None:
        """Look at the loop for ever."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + self.TICK
            await asyncio.sleep(self.TICK)
            if loop.time() - due < self.LATE:
                for _ in range(self._burst - self._free):
                    self._places.release()
                self._free = self._burst

    async def __call__(self) -> None:
        """Wait until one more scan may begin."""
        await self._places.acquire()
        self._free -= 1


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
            *command("aui_tui.service.crawl.pool"),
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
        self._child.stdin.write(frame(value))

    async def _read(self) -> None:
        assert self._child.stdout is not None
        decoder = msgpack_decoder(Result)
        while (data := await receive_frame(self._child.stdout)) is not None:
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
    inbox, outbox = take_pipes()
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
    first = await receive_frame(reader)
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
            transport.write(frame(task.result()))

    decoder = msgpack_decoder(ScanJob)
    while (data := await receive_frame(reader)) is not None:
        task = asyncio.create_task(work(decoder.decode(data)))
        running.add(task)
        task.add_done_callback(done)
    watch.cancel()
    os._exit(0)


if __name__ == "__main__":
    main()
