"""Worker processes that analyse pages off the event loop, one for each core.

No parser callable from Python is safe on hostile pages, and none of them stops at a signal or when its task is
cancelled; a process can be killed. Small bodies that cannot take a parser long are read in place.

A worker reads one job after another from its standard input and writes each result to its output: msgpack after its
length as a big-endian number of HEADER octets. One thread talks to it. A timer of CPU time inside ends a worker whose
job overruns, so that neither a busy machine nor a parent that is gone changes what a page may take.

Sites share the workers. Those of which a page overran share a single further one, so that nobody else waits for them.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from typing import IO, Final, TypeVar

import msgspec

from aui_tui.errors import Unavailable
from aui_tui.model.decoding import from_msgpack
from aui_tui.model.observations import RobotsFacts
from aui_tui.model.reads import KeptPage, Reading, Reads, Twin
from aui_tui.model.registry import registry
from aui_tui.process import command
from aui_tui.reads import reading as reader
from aui_tui.scan import page, robots
from aui_tui.scan.page import PageReading

LIMIT: Final = 2.0
"""Seconds of CPU time that one body may take."""
STALLED: Final = 30.0
"""Seconds by the clock after which a job is given up; where there is no timer of CPU time, LIMIT is."""
PATIENCE: Final = 30.0
"""Seconds that a body waits for a free worker before the scan is given up."""
OVERRUNS: Final = 1000
"""Sites kept of those of which a page overran."""
START_LIMIT: Final = 15.0
"""Seconds that a worker may take to come up."""
INLINE_BYTES: Final = 1 << 15
INLINE_TAGS: Final = 250
"""A page within both limits, like a robots.txt within the first, is read in this process.

A worker takes 1.3 times the CPU time of a whole scan for such pages, and the first scan waits 0.3 s for its start.
"""
MEMORY: Final = 256 << 20
"""Bytes of address space that a worker may take."""
HEADER: Final = 4
READY: Final = b"R"
CLOSED: Final = "the parser is closed"
TOOK_OVER: Final = "it took the parser over"
_TIMED: Final = hasattr(signal, "setitimer")
_OVERRUN: Final = -int(getattr(signal, "SIGPROF", 0))
"""Return code of a worker that its timer ended."""

READER_LIMIT: Final = 12.0
"""Seconds that a library may take to make a reading, its own start included."""

# Not anyio.to_process, which is as fast (21.7 ms a page of 90 KB, here 21.3): its limit is one of the clock, so that a
# busy machine makes a page a bad one; it imports the program's __main__ again, and has no limit of memory.

_Facts = TypeVar("_Facts", PageReading, RobotsFacts, Reads, Reading, Twin)


class ParseJob(msgspec.Struct, frozen=True, array_like=True):
    """One body to analyse: ``kind`` is ``page``, ``page and reads``, ``robots``, ``reads`` or ``twin`` (of two bodies,
    packed), or ``reading`` and a kind of readings.

    ``limit`` is in seconds of CPU time.
    """

    kind: str
    body: bytes
    content_type: str
    status: int
    limit: float


def run(job: ParseJob) -> PageReading | RobotsFacts | Reads | Reading | Twin:
    """Do one job, here and now. Raises nothing for any body."""
    try:
        return _done(job)
    finally:
        page.parse.cache_clear()  # a tree takes many times the memory of its page


def _done(job: ParseJob) -> PageReading | RobotsFacts | Reads | Reading | Twin:
    if job.kind == "reads":
        return reader.read(job.body, job.content_type)
    if job.kind == "twin":
        return reader.twin(*from_msgpack(job.body, tuple[bytes, str, bytes, str]))
    if job.kind.startswith("reading "):
        return reader.reading(job.kind.removeprefix("reading "), job.body, job.content_type)
    if job.kind == "robots":
        return robots.facts(job.body, job.status, registry(), job.content_type)
    reading = page.read(job.body, job.content_type)
    if job.kind == "page and reads":
        return msgspec.structs.replace(reading, reads=reader.read(job.body, job.content_type))
    return reading


class _Worker:
    """The worker process, started when there is a job for it and replaced when it is gone."""

    def __init__(self) -> None:
        self.child: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._lock = threading.Lock()
        self._starting = threading.Lock()

    def do(self, job: ParseJob) -> bytes | str:
        """Return the result of ``job``, or why there is none."""
        for _ in range(2):  # the process may have ended since its last job
            try:
                child = self.start()
            except OSError as error:
                return CLOSED if self._closed else f"no worker process could be started: {error.__class__.__name__}"
            answer, sent = None, False
            limit = STALLED if _TIMED else job.limit
            with _killed_after(limit, child) as late, contextlib.suppress(OSError, ValueError):
                _send(child.stdin, job)
                sent = True
                answer = _receive(child.stdout)
            if late or answer is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(0.1)
                _end(child)
            if sent or late:
                if child.returncode == _OVERRUN or (late and not _TIMED):
                    return answer or f"{TOOK_OVER} {job.limit:g} s"
                return answer or (f"the parser gave no answer in {limit:g} s" if late else "the parser crashed")
        return "the parser crashed"

    def start(self) -> subprocess.Popen[bytes]:
        """Return a process that is up, also where another thread has just begun to start it. Raises OSError."""
        with self._starting:  # until it is up: what it says first must not be read as the answer to a job
            if self.child is not None and self.child.poll() is None:
                return self.child
            with self._lock:
                if self._closed:
                    raise BrokenPipeError
                if self.child is not None:
                    _end(self.child)
                self.child = subprocess.Popen(  # noqa: S603 (our own interpreter and module)
                    command("aui_tui.scan.parser_process"),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    cwd=os.sep if os.name == "posix" else None,
                    process_group=0 if os.name == "posix" else None,
                )
            with _killed_after(START_LIMIT, self.child):
                if self.child.stdout is None or self.child.stdout.read(1) != READY:
                    raise BrokenPipeError
            return self.child

    def close(self) -> None:
        """End the process for good; what it does ends with a reason. May come from any thread."""
        with self._lock:
            self._closed = True
        if self.child is not None:
            _end(self.child)


@contextlib.contextmanager
def _killed_after(seconds: float, child: subprocess.Popen[bytes]) -> Iterator[list[bool]]:
    """Kill ``child`` when the body of the ``with`` takes longer than ``seconds``; what is yielded is then not empty."""
    late: list[bool] = []

    def overrun() -> None:
        late.append(True)
        child.kill()

    timer = threading.Timer(seconds, overrun)
    timer.daemon = True
    timer.start()
    try:
        yield late
    finally:
        timer.cancel()
        timer.join()


def _end(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    with contextlib.suppress(OSError), child:
        pass


class Waiting:
    """The time that the scan of ``site`` waits for a free worker: ``seconds`` in which at least one body did."""

    def __init__(self, site: str = "") -> None:
        self.site = site
        self._whole = 0.0
        self._bodies = 0
        self._since = 0.0

    @property
    def seconds(self) -> float:
        """How long, until now."""
        return self._whole + (time.monotonic() - self._since if self._bodies else 0.0)

    @contextlib.contextmanager
    def counted(self) -> Iterator[None]:
        """Count the time of the body of the ``with``."""
        if not self._bodies:
            self._since = time.monotonic()
        self._bodies += 1
        try:
            yield
        finally:
            self._bodies -= 1
            if not self._bodies:
                self._whole += time.monotonic() - self._since


_waiting: ContextVar[Waiting | None] = ContextVar("the scan that waits for a worker", default=None)


def waiting(site: str) -> Waiting:
    """Return what counts, from now on in this context, how long bodies of ``site`` wait for a worker."""
    waiting_time = Waiting(site)
    _waiting.set(waiting_time)
    return waiting_time


class _Lane:
    """A number of workers, and a thread for each that is in use; the one that was used last is used next."""

    def __init__(self, size: int) -> None:
        self.workers = tuple(_Worker() for _ in range(size))
        self._free = deque(self.workers)
        self.threads = ThreadPoolExecutor(size, thread_name_prefix="aui-parser")

    def submit(self, job: ParseJob, begin: Callable[[], bool]) -> Future[bytes | str | None]:
        """Return the result of ``job``, or why there is none; None where ``begin``, called before it, said no."""

        def work() -> bytes | str | None:
            worker = self._free.pop()
            try:
                return worker.do(job) if begin() else None
            finally:
                self._free.append(worker)

        return self.threads.submit(work)

    def close(self) -> None:
        for worker in self.workers:
            worker.close()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _close(lanes: Iterable[_Lane]) -> None:
    for lane in lanes:
        lane.close()


class ParserProcess:
    """Reads homepages and robots.txt bodies without ever stalling the event loop.

    A body may take LIMIT seconds of CPU time. May be used from several event loops. Ends its processes at
    :meth:`aclose`, when it is collected, and when the program exits.
    """

    def __init__(self) -> None:
        self._lane, self._slow_lane = self._lanes = _Lane(_cores()), _Lane(1)
        self._slow: OrderedDict[str, None] = OrderedDict()
        self._finalizer = weakref.finalize(self, _close, self._lanes)

    async def __aenter__(self) -> ParserProcess:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def prestart(self) -> None:
        """Start a worker now, in the background, so that the first large body does not wait for it."""
        if self._finalizer.alive:
            self._lane.threads.submit(self._lane.workers[-1].start)

    async def page(self, body: bytes, content_type: str = "", *, reads: bool = False) -> PageReading:
        """Return the facts and the text of a page; ``problem`` says why one was not analysed, and all counts are 0.

        ``reads``: also what readers of text get from it.
        Raises Unavailable where no worker becomes free, as all that follow do.
        """
        job = ParseJob("page and reads" if reads else "page", body, content_type, 200, LIMIT * (1 + reads))
        reading = await self._read(job, PageReading, small=_is_small(body))
        if isinstance(reading, str):
            unread = await asyncio.to_thread(page.unread, body, content_type, reading)
            return msgspec.structs.replace(unread, reads=Reads(html=len(body), problem=reading)) if reads else unread
        return reading

    async def reads(self, body: bytes, content_type: str = "") -> Reads:
        """Return what there is to read in a page; ``problem`` says why one was not read."""
        job = ParseJob("reads", body, content_type, 200, LIMIT)
        result = await self._read(job, Reads, small=_is_small(body))
        return Reads(html=len(body), problem=result) if isinstance(result, str) else result

    async def twin(self, page: KeptPage, markdown: KeptPage) -> Twin:
        """Return how the facts of a page differ from those of its Markdown; ``problem`` says why that is not known."""
        documents = (page.body, page.content_type, markdown.body, markdown.content_type)
        job = ParseJob("twin", msgspec.msgpack.encode(documents), "", 200, LIMIT)
        result = await self._read(job, Twin, small=_is_small(page.body) and len(markdown.body) <= INLINE_BYTES)
        return Twin(url="", by="", problem=result) if isinstance(result, str) else result

    async def reading(self, kind: str, body: bytes, content_type: str = "") -> Reading:
        """Return the text of a page as a ``kind`` of reader gives it; ``problem`` says why there is none."""
        job = ParseJob(f"reading {kind}", body, content_type, 200, READER_LIMIT)
        result = await self._read(job, Reading, small=False)
        return Reading(kind=kind, problem=result) if isinstance(result, str) else result

    async def robots(self, body: bytes, status: int, content_type: str = "") -> RobotsFacts:
        """Return what a robots.txt answer is and says; ``problem`` says why its body could not be analysed."""
        job = ParseJob("robots", body, content_type, status, LIMIT)
        small = len(body) <= INLINE_BYTES or not 200 <= status <= 299
        result = await self._read(job, RobotsFacts, small=small)
        if isinstance(result, str):
            return msgspec.structs.replace(robots.facts(b"", 0, registry()), problem=result)
        return result

    async def aclose(self) -> None:
        """End the worker processes; a job under way ends with a ``problem``."""
        self._finalizer()
        for lane in self._lanes:
            await asyncio.to_thread(lane.threads.shutdown)

    @property
    def pids(self) -> tuple[int, ...]:
        """The process ids of the workers that are up, the one that is used next first."""
        children = (worker.child for lane in self._lanes for worker in reversed(lane.workers))
        return tuple(child.pid for child in children if child is not None and child.poll() is None)

    @property
    def pid(self) -> int | None:
        """The process id of the worker that is used next, None when none is up."""
        return next(iter(self.pids), None)

    async def _read(self, job: ParseJob, kind: type[_Facts], *, small: bool) -> _Facts | str:
        """Return the facts of a body, read here where it is ``small``; else why a worker could not read it."""
        if small:
            facts = run(job)
            assert isinstance(facts, kind)
            return facts
        if not self._finalizer.alive:
            return CLOSED
        waited = _waiting.get() or Waiting()
        answer = None if waited.site in self._slow else await self._done(self._lane, job, waited)
        if answer is None:
            answer = await self._done(self._slow_lane, job, waited)
        if isinstance(answer, str) and answer.startswith(TOOK_OVER) and waited.site:
            self._slow[waited.site] = None
            if len(self._slow) > OVERRUNS:
                self._slow.popitem(last=False)
        return answer or CLOSED if isinstance(answer, str | None) else from_msgpack(answer, kind)

    async def _done(self, lane: _Lane, job: ParseJob, waited: Waiting) -> bytes | str | None:
        """Return the result of ``job``, or why there is none; None where its site has to take the slow lane by now."""
        loop = asyncio.get_running_loop()
        begun = asyncio.Event()

        def begin() -> bool:
            with contextlib.suppress(RuntimeError):  # the loop has ended: nobody waits any more
                loop.call_soon_threadsafe(begun.set)
            return lane is self._slow_lane or waited.site not in self._slow

        pending = lane.submit(job, begin)
        try:
            with waited.counted():
                async with asyncio.timeout(PATIENCE):
                    await begun.wait()
        except TimeoutError:
            if pending.cancel():
                raise Unavailable(
                    "This machine is too busy to read the site's pages; please try again in a moment."
                ) from None
        except asyncio.CancelledError:
            pending.cancel()
            raise
        return await asyncio.wrap_future(pending)


def _is_small(body: bytes) -> bool:
    """Whether a page cannot take a parser long."""
    return len(body) <= INLINE_BYTES and body.count(b"<") <= INLINE_TAGS and b"\0" not in body


def _send(stream: IO[bytes] | None, value: object) -> None:
    assert stream is not None
    data = msgspec.msgpack.encode(value)
    stream.write(len(data).to_bytes(HEADER, "big"))
    stream.write(data)
    stream.flush()


def _receive(stream: IO[bytes] | None) -> bytes | None:
    """Return the msgpack of one message; None when the stream ends first."""
    assert stream is not None
    size = int.from_bytes(stream.read(HEADER), "big")
    data = stream.read(size)
    return data if data and len(data) == size else None


def main() -> None:
    """Serve jobs until the input ends."""
    _restrain()
    inbox, outbox = sys.stdin.buffer, sys.stdout.buffer
    outbox.write(READY)
    outbox.flush()
    while (data := _receive(inbox)) is not None:
        job = from_msgpack(data, ParseJob)
        _alarm(job.limit)
        result = run(job)
        _alarm(0.0)
        _send(outbox, result)


def _restrain() -> None:
    """Leave ctrl+C to the parent, die of the timer even inside a parser, and bound the memory."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "win32":
        return
    import resource

    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    for limit, most in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CORE, 0)):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(limit, (most, resource.getrlimit(limit)[1]))


def _alarm(seconds: float) -> None:
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)
