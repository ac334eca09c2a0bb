"""A scanning process: terms and jobs come in on standard input, results leave on standard output as they are ready.

Frames are those of ``engine.child``. The process ends when its input does, whatever it is doing then.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import sys
from typing import Final

from aui_tui.crawl.job import Gate, Result, ScanJob, Terms, scan
from aui_tui.engine import child, identity
from aui_tui.engine.network import PyreqwestTransport, save_tls_memory
from aui_tui.engine.parser_pool import Parser
from aui_tui.records.decoding import from_msgpack, msgpack_decoder

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
    fast = PyreqwestTransport(access, identity.versions()) if terms.fast else None
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
