"""Worker processes: how one is started, the frames of its messages, and those that analyse pages off the event loop.

A frame is msgpack after its length as a big-endian number of HEADER octets.

No parser callable from Python is safe on hostile pages, and none of them stops at a signal or when its task is
cancelled; a process can be killed. Small bodies that cannot take a parser long are read in place.

A worker imports the parsers only, reads one job after another from its standard input and writes each result to its
output. A job that overruns ends it from inside as well, so that none is left behind when its parent is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import IO, Final, TypeVar

import msgspec

from aui_tui.model.decoding import from_msgpack, msgpack_decoder
from aui_tui.model.observations import PageFacts, RobotsFacts
from aui_tui.model.registry import registry
from aui_tui.process import command
from aui_tui.scan import page, robots
from aui_tui.scan.page import PageText

LIMIT: Final = 2.0
"""Seconds that one body may take."""
START_LIMIT: Final = 15.0
"""Seconds that a worker may take to come up."""
BUFFER: Final = 1 << 17
"""Octets of a pipe's buffer: most jobs go out in one write, so that the thread asks for the interpreter once."""
JOBS: Final = 1_000
"""Jobs after which a worker is replaced, whatever a parser may have kept."""
INLINE_BYTES: Final = 1 << 15
INLINE_TAGS: Final = 250
"""A page within both limits, like a robots.txt within the first, is read in this process."""

MEMORY: Final = 256 << 20
"""Bytes of address space that a worker may take."""
READY: Final = b"R"

_Facts = TypeVar("_Facts", PageFacts, PageText, RobotsFacts)


HEADER: Final = 4
"""Octets of the length before each frame, in either direction."""


def take_pipes() -> tuple[int, int]:
    """Return descriptors of what were standard input and output; both become the null device.

    Whatever a library prints can then break no frame.
    """
    inbox, outbox = os.dup(0), os.dup(1)
    with open(os.devnull, "r+b") as nothing:  # noqa: PTH123 (Path.open would do the same)
        os.dup2(nothing.fileno(), 0)
        os.dup2(nothing.fileno(), 1)
    return inbox, outbox


def frame(value: object) -> bytes:
    """Return ``value`` as a frame."""
    data = msgspec.msgpack.encode(value)
    return len(data).to_bytes(HEADER, "big") + data


def read_frame(stream: IO[bytes]) -> bytes | None:
    """Read the msgpack of one frame; None when the stream ends first."""
    header = stream.read(HEADER)
    if len(header) < HEADER:
        return None
    size = int.from_bytes(header, "big")
    data = stream.read(size)
    return data if len(data) == size else None


class ParseJob(msgspec.Struct, frozen=True, array_like=True):
    """One body to analyse: ``kind`` is ``page``, ``text`` or ``robots``; ``limit`` is in seconds."""

    kind: str
    body: bytes
    content_type: str
    status: int
    limit: float


def run(job: ParseJob) -> PageFacts | PageText | RobotsFacts:
    """Do one job, here and now. Raises nothing for any body."""
    if job.kind == "text":
        return page.text(job.body, job.content_type)
    if job.kind == "robots":
        return robots.facts(job.body, job.status, registry(), job.content_type)
    return page.read(job.body, job.content_type)


class Watchdog:
    """Calls ``bite`` when the work under way is late, at most once for each piece. Must be closed."""

    def __init__(self, bite: Callable[[], None]) -> None:
        self._bite = bite
        self._changed = threading.Condition()
        self._due = math.inf
        self._wakes = math.inf
        self._closed = False
        threading.Thread(target=self._watch, name="aui-watchdog", daemon=True).start()

    @contextlib.contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Watch the body of the ``with``: it may take ``seconds``. One at a time."""
        with self._changed:
            self._due = time.monotonic() + seconds
            if self._due < self._wakes:
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._due = math.inf

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def _watch(self) -> None:
        with self._changed:
            while not self._closed:
                left = self._due - time.monotonic()
                if left <= 0:
                    self._due = math.inf
                    self._bite()
                else:
                    self._wakes = self._due
                    self._changed.wait(left if left < math.inf else None)


class _Died(Exception):
    """The worker ended during a job."""


class _Refused(Exception):
    """The worker was gone before it had the whole job."""


class _Process:
    """One worker process, used by one thread at a time."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] = subprocess.Popen(  # noqa: S603 (our own interpreter and module)
            command("aui_tui.scan.parser_pool"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=BUFFER,
            cwd=os.sep if os.name == "posix" else None,
            process_group=0 if os.name == "posix" else None,
        )
        self._watchdog = Watchdog(self._overrun)
        self._ready = False
        self.timed_out = False
        self.jobs = 0

    @property
    def pid(self) -> int:
        return self._child.pid

    def ask(self, job: ParseJob) -> bytes:
        """Send a job and wait for its result; the process is killed when it overruns."""
        self._await_ready()
        self.jobs += 1
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        with self._watchdog.within(job.limit):
            try:
                self._child.stdin.write(frame(job))
                self._child.stdin.flush()
            except (OSError, ValueError):
                raise (_Died if self.timed_out else _Refused) from None
            try:
                answer = read_frame(self._child.stdout)
            except (OSError, ValueError):
                answer = None
        if answer is None:
            raise _Died
        return answer

    def kill(self) -> None:
        with contextlib.suppress(OSError):
            self._child.kill()
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            self._child.wait(5)

    def discard(self) -> None:
        """Kill the process and close its pipes; from the thread that uses it."""
        self._watchdog.close()
        self.kill()
        for stream in (self._child.stdin, self._child.stdout):
            with contextlib.suppress(OSError, ValueError):
                if stream is not None:
                    stream.close()

    def _await_ready(self) -> None:
        if self._ready:
            return
        assert self._child.stdout is not None
        with self._watchdog.within(START_LIMIT):
            try:
                self._ready = self._child.stdout.read(1) == READY
            except (OSError, ValueError):
                self._ready = False
        if not self._ready:
            raise _Refused

    def _overrun(self) -> None:
        self.timed_out = True
        self.kill()


class _Pool:
    """Threads that each keep one worker process and take jobs from one queue."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.jobs: queue.SimpleQueue[tuple[ParseJob | None, Callable[[bytes | str], None]] | None] = queue.SimpleQueue()
        self.processes: set[_Process] = set()
        self.threads: list[threading.Thread] = []
        self.lock = threading.Lock()
        self.closed = False
        self.waiting = 0

    def submit(self, job: ParseJob | None, done: Callable[[bytes | str], None]) -> None:
        with self.lock:
            if self.closed:
                done("the parser is closed")
                return
            self.waiting += 1
            if len(self.threads) < min(self.size, self.waiting):
                thread = threading.Thread(target=self._serve, name="aui-parser", daemon=True)
                self.threads.append(thread)
                thread.start()
        self.jobs.put((job, done))

    def close(self) -> None:
        with self.lock:
            self.closed = True
            threads, processes = list(self.threads), list(self.processes)
        for _ in threads:
            self.jobs.put(None)
        for process in processes:
            process.kill()

    def join(self) -> None:
        for thread in self.threads:
            thread.join(5)

    def _serve(self) -> None:
        process: _Process | None = None
        while True:
            item = self.jobs.get()
            if item is None:
                break
            job, done = item
            try:
                process, answer = self._do(process, job)
            except Exception as error:  # a lost process is an answer too: the page has no facts
                answer = f"the analysis failed: {error.__class__.__name__}"
            with self.lock:
                self.waiting -= 1
            done(answer)
        if process is not None:
            self._drop(process)

    def _do(self, process: _Process | None, job: ParseJob | None) -> tuple[_Process | None, bytes | str]:
        for _ in range(2):
            if process is not None and (process.jobs >= JOBS or process.timed_out):
                self._drop(process)
                process = None
            try:
                process = process or self._start()
            except (OSError, ValueError) as error:
                return None, f"no worker process could be started: {error.__class__.__name__}"
            if process is None:
                return None, "the parser is closed"
            try:
                return process, process.ask(job) if job is not None else b""
            except _Refused:
                self._drop(process)
                process = None
            except _Died:
                late = process.timed_out
                self._drop(process)
                return None, f"it took the parser over {job.limit:g} s" if late and job else "the parser crashed"
        return None, "no worker process could be started"

    def _start(self) -> _Process | None:
        process = _Process()
        with self.lock:
            if not self.closed:
                self.processes.add(process)
                return process
        process.discard()
        return None

    def _drop(self, process: _Process) -> None:
        with self.lock:
            self.processes.discard(process)
        process.discard()


class Parser:
    """Reads homepages and robots.txt bodies without ever stalling the event loop.

    ``workers``: processes at most (1 to the number of CPUs), started when first needed; ``limit``: seconds that a
    body may take. May be used from several event loops. Ends its processes at :meth:`aclose`, when it is collected,
    and when the program exits.
    """

    def __init__(self, workers: int = 1, *, limit: float = LIMIT) -> None:
        self._limit = limit
        self._pool = _Pool(max(1, min(workers, os.cpu_count() or 1)))
        self._finalizer = weakref.finalize(self, self._pool.close)

    async def __aenter__(self) -> Parser:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def prestart(self) -> None:
        """Start a worker now, in the background, so that the first large body does not wait for it."""
        if not self._pool.threads:
            self._pool.submit(None, lambda _: None)

    async def homepage(self, body: bytes, content_type: str = "") -> PageFacts:
        """Return the facts of a homepage; ``problem`` says why one was not analysed, and then all counts are 0."""
        job = ParseJob("page", body, content_type, 200, self._limit)
        found = await self._read(job, PageFacts, small=_is_small(body))
        return PageFacts(title=page.title(body, content_type), problem=found) if isinstance(found, str) else found

    async def text(self, body: bytes, content_type: str = "") -> PageText:
        """Return what there is to read in an answer; ``problem`` says why one was not read."""
        job = ParseJob("text", body, content_type, 200, self._limit)
        found = await self._read(job, PageText, small=_is_small(body))
        return PageText(acts=True, problem=found) if isinstance(found, str) else found

    async def robots(self, body: bytes, status: int, content_type: str = "") -> RobotsFacts:
        """Return what a robots.txt answer is and says; ``unknown`` when its body could not be analysed in time."""
        job = ParseJob("robots", body, content_type, status, self._limit)
        small = len(body) <= INLINE_BYTES or not 200 <= status <= 299
        found = await self._read(job, RobotsFacts, small=small)
        return robots.facts(b"", 0, registry()) if isinstance(found, str) else found

    async def aclose(self) -> None:
        """End the worker processes; a job under way ends with a ``problem``."""
        self._finalizer()
        await asyncio.to_thread(self._pool.join)

    def pids(self) -> tuple[int, ...]:
        """Return the process ids of the workers that are up."""
        with self._pool.lock:
            return tuple(process.pid for process in self._pool.processes)

    async def _read(self, job: ParseJob, kind: type[_Facts], *, small: bool) -> _Facts | str:
        """Return the facts of a body, read here where it is ``small``; else why a worker could not read it."""
        if small:
            facts = run(job)
            assert isinstance(facts, kind)
            return facts
        answer = await self._ask(job)
        return answer if isinstance(answer, str) else from_msgpack(answer, kind)

    async def _ask(self, job: ParseJob) -> bytes | str:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[bytes | str] = loop.create_future()

        def settle(answer: bytes | str) -> None:
            if not future.done():
                future.set_result(answer)

        def done(answer: bytes | str) -> None:
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(settle, answer)

        self._pool.submit(job, done)
        return await future


def _is_small(body: bytes) -> bool:
    """Whether a page cannot take a parser long."""
    return len(body) <= INLINE_BYTES and body.count(b"<") <= INLINE_TAGS and b"\0" not in body


def main() -> None:
    """Serve jobs until the input ends."""
    pipes = take_pipes()
    inbox, outbox = os.fdopen(pipes[0], "rb"), os.fdopen(pipes[1], "wb")
    _restrain()
    outbox.write(READY)
    outbox.flush()
    decoder = msgpack_decoder(ParseJob)
    while True:
        data = read_frame(inbox)
        if data is None:
            return
        job = decoder.decode(data)
        _alarm(job.limit + 1.0)
        result = frame(run(job))
        _alarm(0.0)
        outbox.write(result)
        outbox.flush()


def _restrain() -> None:
    """Leave ctrl+C to the parent, die of an alarm even inside a parser, and bound the memory."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "win32":
        return
    import resource

    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def _alarm(seconds: float) -> None:
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, seconds)
