"""A server that floods its clients with HTTP/2 frames, each kind in its own way (RFC 9113 10.5)."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from typing import Final

from tests.faults.site import PAGE

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
BURST: Final = 1 << 16


def frame(kind: int, payload: bytes = b"", *, flags: int = 0, stream: int = 0, length: int | None = None) -> bytes:
    """Return one frame; ``length`` is what its header says."""
    size = len(payload) if length is None else length
    return size.to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + payload


DATA, HEADERS, PRIORITY, RST, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
OK: Final = frame(HEADERS, b"\x88", flags=4, stream=1)
PAGE_SO_FAR: Final = OK + frame(DATA, PAGE, stream=1)

NO_STATUS: Final = {
    "SETTINGS": (b"", frame(SETTINGS)),
    "PING": (b"", frame(PING, bytes(8))),
    "PING answers": (b"", frame(PING, bytes(8), flags=1)),
    "WINDOW_UPDATE": (b"", frame(WINDOW, b"\0\0\0\1")),
    "PRIORITY": (b"", frame(PRIORITY, b"\0\0\0\0\1", stream=1)),
    "unknown frames": (b"", frame(0xFA, stream=1)),
    "103": (b"", frame(HEADERS, b"\x08\x03103", flags=4, stream=1)),
    "CONTINUATION": (frame(HEADERS, b"", stream=1), frame(CONTINUATION, stream=1)),
    "a frame of 16 MiB": (frame(0xFA, length=(1 << 24) - 1), bytes(BURST)),
    "HEADERS of 16 MiB": (frame(HEADERS, flags=4, stream=1, length=(1 << 24) - 1), bytes(BURST)),
}
"""Floods before any status: what is sent once, then without end."""
IN_BODY: Final = {
    "empty DATA": (PAGE_SO_FAR, frame(DATA, stream=1)),
    "DATA of one byte": (PAGE_SO_FAR, frame(DATA, b"x", stream=1)),
    "DATA of one byte, padded": (PAGE_SO_FAR, frame(DATA, b"\x03x" + bytes(3), flags=8, stream=1)),
    "PING in the body": (PAGE_SO_FAR, frame(PING, bytes(8))),
    "DATA of 16 MiB": (PAGE_SO_FAR + frame(DATA, stream=1, length=(1 << 24) - 1), bytes(BURST)),
}
"""Floods after the page."""
FLOODS: Final = NO_STATUS | IN_BODY


@contextlib.asynccontextmanager
async def flooding(name: str, tls: ssl.SSLContext) -> AsyncIterator[int]:
    """Flood every connection with what is called ``name`` after its first request; give the port."""
    once, endless = FLOODS[name]
    endless *= max(1, BURST // len(endless))
    tls.set_alpn_protocols(["h2"])
    tasks: set[asyncio.Task[None]] = set()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            if await reader.readexactly(len(PREFACE)) != PREFACE:
                raise ConnectionError("this server speaks HTTP/2 alone")
            while (head := await reader.readexactly(9))[3] != HEADERS:
                await reader.readexactly(int.from_bytes(head[:3], "big"))
            writer.write(frame(SETTINGS) + frame(SETTINGS, flags=1) + once)
            while not writer.is_closing():
                writer.write(endless)
                await writer.drain()
                await asyncio.sleep(0)
        writer.close()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(talk(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tuple(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
