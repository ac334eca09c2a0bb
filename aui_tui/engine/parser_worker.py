"""The worker process: reads one job after another from its standard input and writes each result to its output.

It imports the parsers only. A job that overruns ends the process from inside as well, so that none is left behind
when its parent is gone.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import Final

import msgspec

from aui_tui.engine import child, page, robots
from aui_tui.engine.likeness import PageText
from aui_tui.records.decoding import msgpack_decoder
from aui_tui.records.observations import PageFacts, RobotsFacts
from aui_tui.records.registry import registry

MEMORY: Final = 256 << 20
"""Bytes of address space that a worker may take."""
READY: Final = b"R"


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


def main() -> None:
    """Serve jobs until the input ends."""
    pipes = child.take_pipes()
    inbox, outbox = os.fdopen(pipes[0], "rb"), os.fdopen(pipes[1], "wb")
    _restrain()
    outbox.write(READY)
    outbox.flush()
    decoder = msgpack_decoder(ParseJob)
    while True:
        data = child.read_frame(inbox)
        if data is None:
            return
        job = decoder.decode(data)
        _alarm(job.limit + 1.0)
        result = child.frame(run(job))
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
