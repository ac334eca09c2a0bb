"""A site without agent files, each answer after a delay: ``python -m tests.benchmarks.delayed_server SECONDS``.

Prints its port, and serves until its standard input ends.
"""

from __future__ import annotations

import asyncio
import sys

from tests.faults.site import Asked, Site, good

PAGES = ("/", "/robots.txt")
MISSING = b"HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\nnot found\n"


async def main(delay: float) -> None:
    async def late(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(delay)
        if asked.path in PAGES:
            await good(asked, writer)
        else:
            writer.write(MISSING)

    async with Site(default=late) as site:
        print(site.port, flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1])))
