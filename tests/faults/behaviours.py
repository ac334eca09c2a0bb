"""One function per fault: what a broken or hostile server sends."""

from __future__ import annotations

import asyncio
import gzip
import os
import socket
import struct
import zlib
from collections.abc import Awaitable, Callable
from functools import cache

import brotli

try:
    from compression import zstd
except ImportError:
    from backports import zstd

from tests.faults.site import PAGE, Asked, Behaviour, answer

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
SIZE = b"Content-Length: %d\r\n" % len(PAGE)
BOMB_BYTES = 64 << 20
FLOOD = 1 << 16
"""Bytes that a flood writes at once."""


@cache
def bomb(coding: str) -> bytes:
    """Return 64 MiB of zeros in ``coding``: tens of kilobytes as gzip, some hundred bytes as Brotli."""
    if coding == "br":
        return brotli.compress(b"\0" * BOMB_BYTES, quality=5)
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([*(packer.compress(b"\0" * (1 << 20)) for _ in range(64)), packer.flush()])


def bombs(coding: str, fields: bytes, wrap: Callable[[bytes], bytes] = bytes) -> Behaviour:
    """Return a behaviour that sends the bomb of ``coding`` in ``wrap``; it is made when somebody asks for it."""

    async def behaviour(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await sends(answer(wrap(bomb(coding)), extra=b"Content-Encoding: %s\r\n" % fields))(asked, writer)

    return behaviour


def deflated(data: bytes) -> bytes:
    """Return ``data`` in the deflate format, up to the end of a block."""
    packer = zlib.compressobj()
    return packer.compress(data) + packer.flush(zlib.Z_FULL_FLUSH)


def sends(data: bytes, *, close: bool = True) -> Behaviour:
    """Return a behaviour that sends ``data`` as it is, and by default closes."""

    async def behaviour(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        if close:
            writer.close()

    return behaviour


def drips(head: bytes, endless: bytes, pause: float) -> Behaviour:
    """Return a behaviour that sends ``head`` and then ``endless`` again and again, ``pause`` seconds apart."""

    async def behaviour(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while not writer.is_closing():
            writer.write(endless)
            await writer.drain()
            await asyncio.sleep(pause)

    return behaviour


def resets(head: bytes = b"") -> Behaviour:
    """Return a behaviour that sends ``head`` and then resets the connection."""

    async def behaviour(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        await writer.drain()
        await asyncio.sleep(0.05 if head else 0)
        sock: socket.socket = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    return behaviour


async def silence(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """Never answer."""
    await asyncio.sleep(60)


async def hang_up(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """Close without an answer."""
    writer.close()


def redirect(location: str | bytes | None, status: str = "302 Found") -> Behaviour:
    """Return a behaviour that redirects to ``location``; None sends no Location at all."""
    value = location.encode() if isinstance(location, str) else location
    extra = b"" if value is None else b"Location: " + value + b"\r\n"
    return sends(answer(b"", status, extra=extra))


async def to_itself(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """Redirect to the address that was asked for."""
    await redirect(asked.path)(asked, writer)


async def endless_headers(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """Send header fields without end."""
    writer.write(b"HTTP/1.1 200 OK\r\n")
    number = 0
    while not writer.is_closing():
        writer.write(b"X-%d: " % number + b"a" * 1000 + b"\r\n")
        number += 1
        await writer.drain()


async def fifty_codings(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """Send a body packed fifty times."""
    body = b"x"
    for _ in range(50):
        body = gzip.compress(body)
    codings = b", ".join([b"gzip"] * 50)
    writer.write(answer(body, extra=b"Content-Encoding: " + codings + b"\r\n"))
    await writer.drain()


def floods(head: bytes, piece: bytes) -> Behaviour:
    """Return a behaviour that sends ``head`` and then ``piece`` without end, as fast as it is taken."""
    return drips(head, piece * max(1, FLOOD // len(piece)), 0)


NO_ANSWER: dict[str, Behaviour] = {
    "silent peer": silence,
    "headers one byte at a time": drips(b"HTTP/1.1 200 OK\r\nX: ", b"a", 0.05),
    "endless 103": drips(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 0.01),
    "flood of 100": floods(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "flood of 103": floods(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
    "flood of 102 with bare line ends": floods(b"", b"HTTP/1.1 102\n\n"),
    "endless headers": endless_headers,
    "one giant header": drips(b"HTTP/1.1 200 OK\r\nX: ", b"a" * 65536, 0),
    "closed after the request": hang_up,
    "reset before the answer": resets(),
    "status 000": sends(answer(b"x", "000 No")),
    "status 099": sends(answer(b"x", "099 No")),
    "101 upgrade": sends(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
    "SSH banner": sends(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "TLS alert in plain HTTP": sends(b"\x15\x03\x01\x00\x02\x02\x46"),
    "HTTP/0.9": sends(b"<html>hi</html>"),
    "HTTP/2 preface": sends(b"\x00\x00\x12\x04\x00\x00\x00\x00\x00" + b"\0" * 18),
    "two lengths": sends(OK + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"),
    "huge length": sends(OK + b"Content-Length: 99999999999999999999999\r\n\r\nabcd"),
}
"""Faults after which there is no status: A0, H0 or R0."""

CUT_BODY: dict[str, Behaviour] = {
    "body one byte at a time": drips(OK + b"Content-Length: 100000\r\n\r\n" + PAGE, b"x", 0.05),
    "endless body": drips(OK + b"\r\n" + PAGE, b"x" * 65536, 0),
    "endless chunks": drips(
        OK + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(PAGE) + PAGE + b"\r\n",
        b"10000\r\n" + b"x" * 65536 + b"\r\n",
        0,
    ),
    "flood of one-byte chunks": floods(
        OK + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(PAGE) + PAGE + b"\r\n", b"1\r\nx\r\n"
    ),
    "flood of empty deflate blocks": floods(
        OK + b"Content-Encoding: deflate\r\n\r\n" + deflated(PAGE),
        b"\x00\x00\x00\xff\xff",
    ),
    "flood of empty gzip members": floods(
        OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(PAGE), gzip.compress(b"")
    ),
    "reset in the body": resets(OK + b"Content-Length: 90000\r\n\r\n" + PAGE),
    "length too long": sends(OK + b"Content-Length: 50000\r\n\r\n" + PAGE),
    "bad chunk": sends(
        OK + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(PAGE) + PAGE + b"\r\nZZ\r\nabc\r\n0\r\n\r\n"
    ),
    "cut chunk": sends(OK + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % (len(PAGE) + 9) + PAGE),
    "gzip cut off": sends(answer(gzip.compress(PAGE + os.urandom(9000))[:4000], extra=b"Content-Encoding: gzip\r\n")),
    "gzip bomb after the page": bombs("gzip", b"gzip", lambda bomb: gzip.compress(PAGE) + bomb),
}
"""Faults of the body alone: status 200 and the title of the part that came."""

EMPTY_BODY: dict[str, Behaviour] = {
    "endless chunk extension": drips(OK + b"Transfer-Encoding: chunked\r\n\r\n5;", b"a" * 65536, 0),
    "fifty codings": fifty_codings,
    "empty gzip": sends(answer(b"", extra=b"Content-Encoding: gzip\r\n")),
    "gzip bomb": bombs("gzip", b"gzip"),
    "gzip in gzip bomb": bombs("gzip", b"gzip, gzip", gzip.compress),
    "Brotli bomb": bombs("br", b"br"),
}
"""Faults that leave a status of 200 and nothing to read."""

ODD_BUT_FINE: dict[str, Behaviour] = {
    "unknown coding": sends(answer(PAGE, extra=b"Content-Encoding: compress\r\n")),
    "no reason phrase": sends(b"HTTP/1.1 200\r\nContent-Type: text/html\r\n" + SIZE + b"\r\n" + PAGE),
    "a blank first line": sends(b"\r\n" + answer(PAGE)),
    "lines that end with LF": sends((OK + SIZE).replace(b"\r\n", b"\n") + b"\n" + PAGE),
    "a length that is no number": sends(OK + b"Content-Length: unknown\r\nConnection: close\r\n\r\n" + PAGE),
    "Transfer-Encoding identity": sends(answer(PAGE, extra=b"Transfer-Encoding: identity\r\n")),
    "a warning of PHP": sends(
        OK + b"<b>Warning</b>: session_start() in /srv/x.php on line 3\r\n" + SIZE + b"\r\n" + PAGE
    ),
    "header with an empty name": sends(answer(PAGE, extra=b": value\r\n")),
    "header with a bracket in its name": sends(answer(PAGE, extra=b"X[0]: 1\r\n")),
    "header with blanks around its name": sends(answer(PAGE, extra=b"X-Made : by hand\r\n  \r\nX-Other:\ttab\r\n")),
    "9,000 small headers": sends(
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"x%d:1\r\n" % n for n in range(9000)) + SIZE + b"\r\n" + PAGE
    ),
    "1,200 cookies": sends(
        OK + b"".join(b"Set-Cookie: c%d=%s\r\n" % (n, b"v" * 50) for n in range(1200)) + b"\r\n" + PAGE
    ),
    "negative length": sends(OK + b"Content-Length: -3\r\n\r\n" + PAGE),
    "header with NUL": sends(answer(PAGE, extra=b"Server: a\0b\r\n")),
    "header without a colon": sends(answer(PAGE, extra=b"garbage\r\n")),
    "header name with a space": sends(answer(PAGE, extra=b"Ser ver: a\r\n")),
    "header with ESC": sends(answer(PAGE, extra=b"Server: a\x1b[2Jb\r\n")),
    "latin-1 header": sends(answer(PAGE, extra=b"Server: caf\xe9 \xff\r\n")),
    "folded header": sends(answer(PAGE, extra=b"Server: a\r\n b\r\n")),
    "more body than its length": sends(OK + b"Content-Length: %d\r\n\r\n" % len(PAGE) + PAGE + b"<main>more"),
    "a charset of Python alone": sends(answer(PAGE, content_type="text/html; charset=zlib_codec")),
    "Zstandard": sends(answer(zstd.compress(PAGE), extra=b"Content-Encoding: zstd\r\n")),
    "gzip in Brotli": sends(answer(brotli.compress(gzip.compress(PAGE)), extra=b"Content-Encoding: gzip, br\r\n")),
}
"""Odd answers that are read like any other."""

REDIRECTS: dict[str, tuple[Behaviour, str]] = {
    "to itself": (to_itself, "redirect-loop"),
    "without Location": (redirect(None), "redirect-target"),
    "with empty Location": (redirect(""), "redirect-target"),
    "to loopback": (redirect("http://127.0.0.1/"), "redirect-address"),
    "to file:": (redirect("file:///etc/passwd"), "redirect-scheme"),
    "with userinfo": (redirect("http://u:p@a.com/"), "redirect-target"),
}
"""Redirects that are not followed, and the word that says why."""

GREETINGS: dict[str, Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]] = {}


def greeting(data: bytes, seconds: float) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    """Return what a server of another kind does: send ``data`` before any request, wait, close."""

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        await asyncio.sleep(seconds)

    return greet


GREETINGS |= {
    "accepts and is silent": greeting(b"", 60),
    "closes at once": greeting(b"", 0),
    "SSH server": greeting(b"SSH-2.0-OpenSSH_9.6\r\n", 0.1),
}
"""What a server does before it reads anything."""

NOT_FILES: dict[str, Behaviour] = {
    "the site's HTML for everything": sends(answer(PAGE)),
    "invalid JSON": sends(answer(b'{"name": ', content_type="application/json")),
    "a JSON list": sends(answer(b"[1, 2]", content_type="application/json")),
    "deep JSON": sends(answer(b"[" * 200_000, content_type="application/json")),
    "nothing": sends(answer(b"", content_type="text/plain")),
}
"""Answers with status 200 that are no agent-facing file."""
