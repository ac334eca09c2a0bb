"""A worker process that analyses pages off the event loop.

No parser callable from Python is safe on hostile pages, and none of them stops at a signal or when its task is
cancelled; a process can be killed. Small bodies that cannot take a parser long are read in place.

The worker reads one job after another from its standard input and writes each result to its output: msgpack after its
length as a big-endian number of HEADER octets. One thread talks to it. A job that overruns ends it from inside as well,
so that it is not left behind when its parent is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Final, TypeVar

import msgspec

from aui_tui.model.decoding import from_msgpack
from aui_tui.model.observations import PageFacts, RobotsFacts
from aui_tui.model.reads import Reading, Reads
from aui_tui.model.registry import registry
from aui_tui.process import command
from aui_tui.reads import reading as reader
from aui_tui.scan import page, robots
from aui_tui.scan.page_text import PageText

LIMIT: Final = 2.0
"""Seconds that one body may take."""
START_LIMIT: Final = 15.0
"""Seconds that a worker may take to come up."""
INLINE_BYTES: Final = 1 << 15
INLINE_TAGS: Final = 250
"""A page within both limits, like a robots.txt within the first, is read in this process."""
MEMORY: Final = 256 << 20
"""Bytes of address space that a worker may take."""
HEADER: Final = 4
READY: Final = b"R"
CLOSED: Final = "the parser is closed"

READER_LIMIT: Final = 12.0
"""Seconds that a library may take to make a reading, its own start included."""

_Facts = TypeVar("_Facts", PageFacts, PageText, RobotsFacts, Reads, Reading)


class ParseJob(msgspec.Struct, frozen=True, array_like=True):
    """One body to analyse: ``kind`` is ``page``, ``text``, ``robots``, ``reads`` or ``reading`` and a kind of readings.

    ``limit`` is in seconds.
    """

    kind: str
    body: bytes
    content_type: str
    status: int
    limit: float


def run(job: ParseJob) -> PageFacts | PageText | RobotsFacts | Reads | Reading:
    """Do one job, here and now. Raises nothing for any body."""
    if job.kind == "reads":
        return reader.read(job.body, job.content_type)
    if job.kind.startswith("reading "):
        return reader.reading(job.kind.removeprefix("reading "), job.body, job.content_type)
    if job.kind == "text":
        return page.text(job.body, job.content_type)
    if job.kind == "robots":
        return robots.facts(job.body, job.status, registry(), job.content_type)
    return page.read(job.body, job.content_type)


class _Worker:
    """The worker process, started when there is a job for it and replaced when it is gone."""

    def __init__(self) -> None:
        self.child: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._lock = threading.Lock()

    def do(self, job: ParseJob) -> bytes | str:
        """Return the result of ``job``, or why there is none."""
        for _ in range(2):  # the process may have ended since its last job
            try:
                child = self.start()
            except OSError as error:
                return CLOSED if self._closed else f"no worker process could be started: {error.__class__.__name__}"
            answer, asked = None, False
            with _killed_after(job.limit, child) as late, contextlib.suppress(OSError, ValueError):
                _send(child.stdin, job)
                asked = True
                answer = _receive(child.stdout)
            if late or answer is None:
                _end(child)
            if asked or late:
                return answer or (f"it took the parser over {job.limit:g} s" if late else "the parser crashed")
        return "the parser crashed"

    def start(self) -> subprocess.Popen[bytes]:
        """Return a process that is up. Raises OSError."""
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


class ParserProcess:
    """Reads homepages and robots.txt bodies without ever stalling the event loop; one large body at a time.

    A body may take LIMIT seconds. May be used from several event loops. Ends its process at :meth:`aclose`, when it is
    collected, and when the program exits.
    """

    def __init__(self) -> None:
        self._worker = _Worker()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="aui-parser")
        self._finalizer = weakref.finalize(self, self._worker.close)

    async def __aenter__(self) -> ParserProcess:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def prestart(self) -> None:
        """Start the worker now, in the background, so that the first large body does not wait for it."""
        if self._finalizer.alive:
            self._thread.submit(self._worker.start)

    async def homepage(self, body: bytes, content_type: str = "") -> PageFacts:
        """Return the facts of a homepage; ``problem`` says why one was not analysed, and then all counts are 0."""
        job = ParseJob("page", body, content_type, 200, LIMIT)
        found = await self._read(job, PageFacts, small=_is_small(body))
        return PageFacts(title=page.title(body, content_type), problem=found) if isinstance(found, str) else found

    async def text(self, body: bytes, content_type: str = "") -> PageText:
        """Return what there is to read in an answer; ``problem`` says why one was not read."""
        job = ParseJob("text", body, content_type, 200, LIMIT)
        found = await self._read(job, PageText, small=_is_small(body))
        return PageText(acts=True, problem=found) if isinstance(found, str) else found

    async def reads(self, body: bytes, content_type: str = "") -> Reads:
        """Return what there is to read in a page; ``problem`` says why one was not read."""
        job = ParseJob("reads", body, content_type, 200, LIMIT)
        found = await self._read(job, Reads, small=_is_small(body))
        return Reads(html=len(body), problem=found) if isinstance(found, str) else found

    async def reading(self, kind: str, body: bytes, content_type: str = "") -> Reading:
        """Return the text of a page as a ``kind`` of reader gives it; ``problem`` says why there is none."""
        job = ParseJob(f"reading {kind}", body, content_type, 200, READER_LIMIT)
        found = await self._read(job, Reading, small=False)
        return Reading(kind=kind, problem=found) if isinstance(found, str) else found

    async def robots(self, body: bytes, status: int, content_type: str = "") -> RobotsFacts:
        """Return what a robots.txt answer is and says; ``unknown`` when its body could not be analysed in time."""
        job = ParseJob("robots", body, content_type, status, LIMIT)
        small = len(body) <= INLINE_BYTES or not 200 <= status <= 299
        found = await self._read(job, RobotsFacts, small=small)
        return robots.facts(b"", 0, registry()) if isinstance(found, str) else found

    async def aclose(self) -> None:
        """End the worker process; a job under way ends with a ``problem``."""
        self._finalizer()
        await asyncio.to_thread(self._thread.shutdown)

    @property
    def pid(self) -> int | None:
        """The process id of the worker, None when it is not up."""
        child = self._worker.child
        return child.pid if child is not None and child.poll() is None else None

    async def _read(self, job: ParseJob, kind: type[_Facts], *, small: bool) -> _Facts | str:
        """Return the facts of a body, read here where it is ``small``; else why a worker could not read it."""
        if small:
            facts = run(job)
            assert isinstance(facts, kind)
            return facts
        if not self._finalizer.alive:
            return CLOSED
        answer = await asyncio.get_running_loop().run_in_executor(self._thread, self._worker.do, job)
        return answer if isinstance(answer, str) else from_msgpack(answer, kind)


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
        _alarm(job.limit + 1.0)
        result = run(job)
        _alarm(0.0)
        _send(outbox, result)


def _restrain() -> None:
    """Leave ctrl+C to the parent, die of an alarm even inside a parser, and bound the memory."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "win32":
        return
    import resource

    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    for limit, most in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CORE, 0)):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(limit, (most, resource.getrlimit(limit)[1]))


def _alarm(seconds: float) -> None:
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, seconds)
