"""The only way out of the browser: a forward proxy on loopback.

HTTP in absolute form and CONNECT (RFC 9110 7.1, 9.3.6), one request per connection.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from aui_tui.errors import AuiError
from aui_tui.scan.network import NetworkError, Stream
from aui_tui.text import path_of

HEAD: Final = 65536
"""Largest head of a request in bytes."""
CHUNK: Final = 65536
PER_HOP: Final = frozenset({"connection", "keep-alive", "proxy-connection", "proxy-authorization", "te", "upgrade"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What one run may use: requests, bytes received and sent, seconds in all, per task, and until a page settles."""

    requests: int = 300
    bytes: int = 30_000_000
    sent: int = 2_000_000
    host: float = 180.0
    task: float = 60.0
    settle: float = 10.0


@dataclass(slots=True)
class Usage:
    """What one run has used, in all its tabs: requests, connections, bytes received and sent."""

    requests: int = 0
    connections: int = 0
    bytes: int = 0
    sent: int = 0

    def exhausts(self, allowed: Allowance, part: float = 1) -> bool:
        """Say whether nothing is left of what is ``allowed``, or of that ``part`` of it."""
        most = max(self.requests, self.connections)
        used = (most, allowed.requests), (self.bytes, allowed.bytes), (self.sent, allowed.sent)
        return any(now > part * whole for now, whole in used)


class Refused(Exception):
    """A connection that the rules forbid; the text says why."""


class ProxyRequest(NamedTuple):
    """One request of the browser to the proxy; ``path`` is empty for a tunnel (CONNECT)."""

    method: str
    host: str
    port: int
    path: str = ""
    fields: tuple[tuple[str, str], ...] = ()

    @property
    def document(self) -> bool:
        """The request is for a page, or for one that may be shown later (Fetch Metadata, Sec-Purpose)."""
        fields = {name.lower(): value.lower() for name, value in self.fields}
        return fields.get("sec-fetch-dest") in ("document", "iframe", "frame") or is_prefetch(fields)


def is_prefetch(fields: Mapping[str, str]) -> bool:
    """Say whether a request asks for something that may be needed later: a hint that a browser need not follow.

    ``fields``: those of its head, names in lower case (Resource Hints, Sec-Purpose of the Fetch standard).
    """
    return "prefetch" in fields.get("sec-purpose", fields.get("purpose", ""))


class Proxy:
    """A forward proxy on a loopback port. ``dial`` returns a connection or raises Refused.

    It ends when ``usage``, which others may share, exhausts the ``allowance``.
    """

    def __init__(self, dial: Callable[[ProxyRequest], Awaitable[Stream]], allowance: Allowance, usage: Usage) -> None:
        self._dial = dial
        self._allowance = allowance
        self.usage = usage
        self._server: asyncio.Server | None = None
        self._serving: set[asyncio.Task[None]] = set()
        self.port = 0
        self.offline = False
        """While true, nothing passes and every connection is closed."""

    @property
    def exhausted(self) -> bool:
        """The run has used its requests, bytes or connections."""
        return self.usage.exhausts(self._allowance)

    async def start(self) -> None:
        """Listen on a free port of 127.0.0.1; nothing when it listens already."""
        if self._server is None:
            self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=HEAD)
            self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Close the port and every connection."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
        await self.cut()

    async def cut(self) -> None:
        """Close every connection."""
        serving = [task for task in self._serving if task is not asyncio.current_task()]
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        remote: Stream | None = None
        try:
            # hostile bytes bring any error: this request ends, and the proxy goes on; a cancelled task ends too, since
            # asyncio's stream protocol would report it as a fault
            with suppress(Exception, asyncio.CancelledError):
                request = _parse(await reader.readuntil(b"\r\n\r\n"))
                try:
                    if self.offline or self.exhausted:
                        raise Refused
                    self.usage.connections += 1
                    remote = await self._dial(request)
                except (Refused, NetworkError, AuiError):
                    writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                    await writer.drain()
                    return
                await self._carry(request, remote, reader, writer)
        finally:
            self._serving.discard(task)
            if remote is not None:
                remote.abort()
            writer.transport.abort() if self.offline else writer.close()

    async def _carry(
        self, request: ProxyRequest, remote: Stream, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if request.path:
            await remote.write(_head(request))
        else:
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        async with asyncio.TaskGroup() as group:
            up = group.create_task(self._up(reader, remote, _body_length(request)))
            with suppress(Exception):  # either end may break off in any way, which ends the request
                while not self.exhausted and (data := await remote.read(CHUNK)):
                    self.usage.bytes += len(data)
                    writer.write(data)
                    await writer.drain()
            up.cancel()

    async def _up(self, reader: asyncio.StreamReader, remote: Stream, left: float) -> None:
        """Carry at most ``left`` bytes that the browser sends; it gives up, or begins anew, where it sends more."""
        with suppress(Exception):  # as above
            while data := await reader.read(CHUNK):
                left -= len(data)
                self.usage.sent += len(data)
                if self.exhausted or left < 0:
                    break
                await remote.write(data)
            remote.abort()


def _parse(head: bytes) -> ProxyRequest:
    line, *rest = head.decode("latin-1").split("\r\n")
    method, target, _ = line.split(" ", 2)
    pairs = (field.partition(":") for field in rest if field)
    fields = tuple((name.strip(), value.strip()) for name, _, value in pairs)
    if method == "CONNECT":
        url = urlsplit("//" + target)
        return ProxyRequest(method, url.hostname or "", url.port or 443, "", fields)
    url = urlsplit(target)
    if url.scheme != "http" or not url.hostname:
        raise ValueError(target)
    return ProxyRequest(method, url.hostname, url.port or 80, path_of(url), fields)


def _head(request: ProxyRequest) -> bytes:
    fields = [f"{name}: {value}" for name, value in request.fields if name.lower() not in PER_HOP]
    lines = [f"{request.method} {request.path} HTTP/1.1", *fields, "Connection: close", "", ""]
    return "\r\n".join(lines).encode("latin-1")


def _body_length(request: ProxyRequest) -> float:
    """Return how much the browser may send after the head: anything in a tunnel, else a body of known length."""
    if not request.path:
        return math.inf
    length = next((value for name, value in request.fields if name.lower() == "content-length"), "0")
    return int(length) if length.isdecimal() and len(length) < 16 else 0
