"""A server of fixed pages with a log, and sentinels that count who calls on them."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

Page = tuple[int, dict[str, str], bytes]
Answer = Page | Callable[[str], Page]
"""A page, or what makes one from the target of the request."""
PROSE = "Rooms by the water with a view of the harbour, a kettle, and a lamp for the evening. "


def html(body: str, title: str = "Rooms") -> Page:
    """A page that can be read."""
    head = f"<!doctype html><html lang=en><head><meta charset=utf-8><title>{title}</title></head>"
    page = f"{head}<body>{body}</body></html>"
    return 200, {"content-type": "text/html; charset=utf-8"}, page.encode()


def readable(extra: str = "", title: str = "Rooms") -> Page:
    """A page with enough text for an agent, and ``extra``."""
    rows = "".join(f'<li><a href="/room/{n}">Harbour room {n}</a></li>' for n in (1, 2))
    return html(f"<main><h1>Rooms by the water</h1><p>{PROSE * 4}</p><ul>{rows}</ul></main>{extra}", title)


async def send(writer: asyncio.StreamWriter, page: Page) -> None:
    """Send a whole answer; the connection ends with it."""
    status, headers, body = page
    lines = [f"HTTP/1.1 {status} X", *(f"{k}: {v}" for k, v in headers.items())]
    lines += [f"content-length: {len(body)}", "connection: close", "", ""]
    writer.write("\r\n".join(lines).encode() + body)
    await writer.drain()


def open_socket(writer: asyncio.StreamWriter, head: str) -> None:
    """Accept the WebSocket that the request ``head`` asks for."""
    key = head.partition("\r\nSec-WebSocket-Key: ")[2][:24]
    proof = hashlib.sha1(f"{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest()
    lines = ["HTTP/1.1 101 X", "upgrade: websocket", "connection: upgrade"]
    lines += [f"sec-websocket-accept: {base64.b64encode(proof).decode()}", "", ""]
    writer.write("\r\n".join(lines).encode())


@dataclass
class Site:
    """Pages by path; ``*`` is any other path. ``log`` holds method and target of each request."""

    pages: dict[str, Answer]
    log: list[tuple[str, str]] = field(default_factory=list)
    slow: dict[str, float] = field(default_factory=dict)
    """Seconds before an answer, by path."""
    said: str = ""
    """What every WebSocket says once, after the seconds of its path; nothing when empty."""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, EOFError, ValueError, asyncio.LimitOverrunError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            method, target, _ = head.split("\r\n")[0].split(" ")
            self.log.append((method, target))
            if "\r\nSec-WebSocket-Key: " in head:
                await self._live(head, target, reader, writer)
            missing = self.pages.get("*", (404, {"content-type": "text/html"}, b"<h1>Not found</h1>"))
            found = self.pages.get(target.partition("?")[0], missing)
            await asyncio.sleep(self.slow.get(target.partition("?")[0], 0))
            await send(writer, found(target) if callable(found) else found)
        writer.close()

    async def _live(self, head: str, path: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_socket(writer, head)
        if self.said:
            await asyncio.sleep(self.slow.get(path, 0))
            writer.write(struct.pack("!BBH", 0x81, 126, len(self.said.encode())) + self.said.encode())
        await reader.read()


@asynccontextmanager
async def hosted(site: Site) -> AsyncIterator[int]:
    """Serve ``site`` on loopback and yield its port."""
    server = await asyncio.start_server(site.answer, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


class Datagrams(asyncio.DatagramProtocol):
    """Counts the datagrams that arrive."""

    def __init__(self) -> None:
        self.count = 0

    def datagram_received(self, data: bytes, addr: object) -> None:
        self.count += 1


@dataclass
class Sentinel:
    """A TCP and a UDP port of 127.0.0.1 that nobody may call: ``calls`` and ``datagrams`` that came all the same."""

    tcp: int
    udp: int
    heads: list[bytes]
    udp_calls: Datagrams

    @property
    def silent(self) -> bool:
        """Nobody called."""
        return not self.heads and not self.udp_calls.count


@asynccontextmanager
async def sentinel() -> AsyncIterator[Sentinel]:
    """Listen where nobody may call."""
    heads: list[bytes] = []

    async def called(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.read(200))
        writer.close()

    server = await asyncio.start_server(called, "127.0.0.1", 0)
    transport, protocol = await asyncio.get_running_loop().create_datagram_endpoint(
        Datagrams, local_addr=("127.0.0.1", 0)
    )
    udp = transport.get_extra_info("sockname")[1]
    try:
        yield Sentinel(server.sockets[0].getsockname()[1], udp, heads, protocol)
    finally:
        server.close()
        transport.close()
