"""A fast site with a 60 KB homepage, under any name: ``python -m tests.benchmarks.fast_server [DELAY [CERT]]``.

Each answer comes after DELAY seconds; CERT is a PEM file with key and certificate, without it the site speaks plain
HTTP. Prints its port, and serves until its standard input ends. ``GET /count`` answers with the number of homepages
asked per host, as JSON.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
import sys
from collections import Counter
from collections.abc import Coroutine, Iterator
from typing import Any, ClassVar

from tests.cli.runner import helper

SENTENCE = "<p>Words that a person can read, in a paragraph of an ordinary length, <a href=/more>with a link</a>.</p>\n"
PAGE = (
    "<!doctype html><html lang=en><head><meta charset=utf-8><title>A shop</title>"
    '<script type="application/ld+json">{"@context":"https://schema.org","@type":"Store","name":"Shop"}</script>'
    "</head><body><nav aria-label=Main><a href=/>Home</a></nav><main><h1>Shop</h1>"
    + SENTENCE * (60_000 // len(SENTENCE))
    + "</main></body></html>"
).encode()


def answer(body: bytes, status: str, content_type: str) -> bytes:
    return (
        f"HTTP/1.1 {status}\r\nServer: nginx\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode() + body


ANSWERS = {
    b"/": answer(PAGE, "200 OK", "text/html; charset=utf-8"),
    b"/robots.txt": answer(b"User-agent: *\nDisallow: /cart\n", "200 OK", "text/plain"),
}
MISSING = answer(b"not found\n", "404 Not Found", "text/plain")


class Site(asyncio.Protocol):
    """One connection."""

    delay = 0.0
    asked: ClassVar[Counter[str]] = Counter()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport
        self.buffer = b""

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while True:
            head, end, rest = self.buffer.partition(b"\r\n\r\n")
            if not end:
                return
            self.buffer = rest
            path = head.split(b" ", 2)[1]
            if path == b"/":
                name = head.lower().partition(b"\r\nhost: ")[2].partition(b"\r\n")[0]
                self.asked[name.decode("latin-1")] += 1
            if path == b"/count":
                body = answer(json.dumps(self.asked).encode(), "200 OK", "application/json")
            else:
                body = ANSWERS.get(path, MISSING)
            if self.delay:
                asyncio.get_running_loop().call_later(self.delay, self.transport.write, body)
            else:
                self.transport.write(body)


async def main(delay: float, certificate: str) -> None:
    context = None
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
    Site.delay = delay
    server = await asyncio.get_running_loop().create_server(Site, "127.0.0.1", 0, ssl=context, backlog=2048)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


@contextlib.contextmanager
def in_own_process(delay: float = 0.0, certificate: str = "") -> Iterator[int]:
    """Serve in a process of its own and yield the port."""
    with helper("tests.benchmarks.fast_server", str(delay), certificate) as said:
        yield int(said.readline())


def run(work: Coroutine[None, None, None]) -> None:
    """Run ``work`` on the fastest event loop there is."""
    try:
        import uvloop
    except ImportError:
        asyncio.run(work)
    else:
        uvloop.run(work)


if __name__ == "__main__":
    run(main(float(sys.argv[1]) if len(sys.argv) > 1 else 0.0, sys.argv[2] if len(sys.argv) > 2 else ""))
