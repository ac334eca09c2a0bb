"""The only way out of the browser: a forward proxy on loopback that dials what a scan may dial, in the way a scan does.

HTTP in absolute form and CONNECT (RFC 9110 7.1, 9.3.6), one request per connection. Names are looked up, addresses
checked and pinned by the scan's own ``Routes``.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from aui_tui.errors import AuiError, Unavailable
from aui_tui.scan.network import NetworkError, Routes, Stream, ssl_context
from aui_tui.scan.policy import ScanPolicy
from aui_tui.scan.target import DEFAULT_PORTS, Origin

HEAD: Final = 65536
"""Largest head of a request or an answer in bytes."""
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


class Refused(Exception):
    """A connection that the rules forbid; the text says why."""


class Wanted(NamedTuple):
    """What the browser asks the proxy for; ``path`` is empty for a tunnel."""

    method: str
    host: str
    port: int
    path: str = ""
    fields: tuple[tuple[str, str], ...] = ()

    @property
    def document(self) -> bool:
        """The request is for a page, or for one that may be shown later (Fetch Metadata, Sec-Purpose)."""
        said = {name.lower(): value.lower() for name, value in self.fields}
        return said.get("sec-fetch-dest") in ("document", "iframe", "frame") or "prefetch" in said.get(
            "sec-purpose", said.get("purpose", "")
        )


Dial = Callable[[Wanted], Awaitable[Stream]]


async def refuse(wanted: Wanted) -> Stream:
    """Dial nothing. Raises Refused."""
    raise Refused(f"{wanted.method} {wanted.host}:{wanted.port}")


class Proxy:
    """A forward proxy on a loopback port. ``dial`` returns a connection or raises Refused; ``allowance`` ends it.

    ``passes`` is asked about each request and each tunnel before it is dialled.
    """

    def __init__(
        self, dial: Dial, allowance: Allowance | None = None, passes: Callable[[Wanted], bool] = lambda _: True
    ) -> None:
        self._dial = dial
        self._allowance = allowance or Allowance()
        self._passes = passes
        self._server: asyncio.Server | None = None
        self._serving: set[asyncio.Task[None]] = set()
        self.port = 0
        self.offline = False
        """While true, nothing passes and every connection is closed."""
        self.connections = 0
        self.bytes = 0
        self.sent = 0

    @property
    def exhausted(self) -> bool:
        """The run has used its bytes or its connections."""
        allowed = self._allowance
        return self.bytes > allowed.bytes or self.sent > allowed.sent or self.connections > allowed.requests

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
                wanted = _parse(await reader.readuntil(b"\r\n\r\n"))
                try:
                    if self.offline or self.exhausted or not self._passes(wanted):
                        raise Refused
                    self.connections += 1
                    remote = await self._dial(wanted)
                except (Refused, NetworkError, AuiError):
                    writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                    await writer.drain()
                    return
                await self._carry(wanted, remote, reader, writer)
        finally:
            self._serving.discard(task)
            if remote is not None:
                remote.abort()
            writer.transport.abort() if self.offline else writer.close()

    async def _carry(
        self, wanted: Wanted, remote: Stream, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        left = -1
        if wanted.path:
            await remote.write(_head(wanted))
            left = _body_length(wanted)
        else:
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        async with asyncio.TaskGroup() as group:
            up = group.create_task(self._up(reader, remote, left))
            down = group.create_task(self._down(remote, writer, framed=bool(wanted.path)))
            await asyncio.wait((up, down), return_when=asyncio.FIRST_COMPLETED)
            if not wanted.path and up.done():
                down.cancel()
            await asyncio.wait((down,))
            up.cancel()

    async def _up(self, reader: asyncio.StreamReader, remote: Stream, left: int) -> None:
        """Carry what the browser sends: the body of a request (``left`` bytes), or all of a tunnel (below 0)."""
        with suppress(Exception):  # either end may break off in any way, which ends the request
            while left != 0 and (data := await reader.read(CHUNK if left < 0 else min(CHUNK, left))):
                left -= len(data) if left > 0 else 0
                self.sent += len(data)
                if self.exhausted:
                    remote.abort()
                    return
                await remote.write(data)
            if left == 0:
                await reader.read(1)  # the browser gives up waiting for the answer
                remote.abort()

    async def _down(self, remote: Stream, writer: asyncio.StreamWriter, *, framed: bool) -> None:
        """Carry what the server sends; ``framed``: its final head is given ``Connection: close``."""
        with suppress(Exception):  # as above
            if framed:
                await self._heads(remote, writer)
            while not self.exhausted and (data := await remote.read(CHUNK)):
                self.bytes += len(data)
                writer.write(data)
                await writer.drain()

    async def _heads(self, remote: Stream, writer: asyncio.StreamWriter) -> None:
        held = b""
        while True:
            while b"\r\n\r\n" not in held:
                data = await remote.read(CHUNK)
                if not data or len(held) > HEAD:
                    raise EOFError
                self.bytes += len(data)
                held += data
            head, _, held = held.partition(b"\r\n\r\n")
            interim = head[9:10] == b"1"
            if not interim:
                lines = [line for line in head.split(b"\r\n") if line.partition(b":")[0].lower() not in _CLOSING]
                writer.write(b"\r\n".join([*lines, b"Connection: close", b"", b""]) + held)
                return


_CLOSING: Final = frozenset({b"connection", b"keep-alive", b"proxy-connection"})


def _parse(head: bytes) -> Wanted:
    line, *rest = head.decode("latin-1").split("\r\n")
    method, target, _ = line.split(" ", 2)
    pairs = (field.partition(":") for field in rest if field)
    fields = tuple((name.strip(), value.strip()) for name, _, value in pairs)
    if method == "CONNECT":
        url = urlsplit("//" + target)
        return Wanted(method, url.hostname or "", url.port or 443, "", fields)
    url = urlsplit(target)
    if url.scheme != "http" or not url.hostname:
        raise ValueError(target)
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    return Wanted(method, url.hostname, url.port or 80, path, fields)


def _head(wanted: Wanted) -> bytes:
    kept = [f"{name}: {value}" for name, value in wanted.fields if name.lower() not in PER_HOP]
    lines = [f"{wanted.method} {wanted.path} HTTP/1.1", *kept, "Connection: close", "", ""]
    return "\r\n".join(lines).encode("latin-1")


def _body_length(wanted: Wanted) -> int:
    said = {name.lower(): value for name, value in wanted.fields}
    if "transfer-encoding" in said:
        return -1
    length = said.get("content-length", "0")
    return int(length) if length.isdecimal() and len(length) < 16 else 0


class Dialler:
    """Connections for the proxy by the rules of a scan; ``objection`` is asked about documents seen in plain text.

    With certificates of the user's own (the setting ``cacert``), or none asked for, the browser takes any certificate
    and each server's is checked here, before its first tunnel.
    """

    def __init__(self, access: ScanPolicy, routes: Routes, objection: Callable[[str], Awaitable[str]]) -> None:
        self._access = access
        self._routes = routes
        self._objection = objection
        self._trusted: set[tuple[str, int]] = set()

    @property
    def checks_certificates(self) -> bool:
        """Certificates are checked here instead of by the browser."""
        return bool(self._access.cafile) or self._access.insecure

    async def __call__(self, wanted: Wanted) -> Stream:
        """Return a connection to a checked address. Raises Refused, InvalidHost, NetworkError."""
        scheme = "http" if wanted.path or wanted.port == DEFAULT_PORTS["http"] else "https"
        origin = Origin(scheme, wanted.host, wanted.port)
        self._access.check(origin)
        if wanted.path and wanted.document and await self._objection(f"{origin}{wanted.path}"):
            raise Refused("robots.txt")
        if not wanted.path and self.checks_certificates and not self._access.insecure:
            await self._check_certificate(wanted.host, wanted.port)
        try:
            return await self._routes.connect(wanted.host, wanted.port)
        except Unavailable as error:
            raise Refused(str(error)) from None

    async def _check_certificate(self, host: str, port: int) -> None:
        if (host, port) in self._trusted:
            return
        stream = await self._routes.connect(host, port)
        try:
            context: ssl.SSLContext = ssl_context(self._access.cafile, insecure=False)
            await stream.start_tls(context, server_hostname=host, timeout=self._access.limits.connect)
            self._trusted.add((host, port))
        except Exception as error:  # TLS libraries and sockets have many errors: each means not trusted
            raise Refused(f"certificate: {error}") from None
        finally:
            stream.abort()
