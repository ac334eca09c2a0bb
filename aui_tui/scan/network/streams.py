"""Byte streams over asyncio transports, as httpcore's network backends want them, that take turns in being parsed.

Closing is an abort: no peer can keep a socket open by not answering the end of the connection.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from asyncio import sslproto
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final
from weakref import WeakSet

import httpcore

from aui_tui.scan.network.readers import FREE_PIECES, MIN_PIECE_BYTES, FrameReader, HeadReader
from aui_tui.scan.network.replies import ConnectFailed, NetworkError, TlsEnded, tls_failure

TURN: Final = 0.002
"""Seconds for which the chunks of one body may be parsed before others get their turn."""

_taken: WeakSet[asyncio.AbstractEventLoop] = WeakSet()
"""Event loops whose present turn belongs to somebody."""


async def exclusive_turn() -> None:
    """Return in a turn of the event loop that nobody else has got from here."""
    loop = asyncio.get_running_loop()
    while loop in _taken:  # noqa: ASYNC110 (who waits must not be woken together)
        await asyncio.sleep(0)
    _taken.add(loop)
    loop.call_soon(_taken.discard, loop)


async def paced(chunks: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """Yield ``chunks``, giving others their turn after TURN seconds. Raises NetworkError when they are too tiny."""
    count = content = 0
    due = time.perf_counter() + TURN
    async with aclosing(chunks):
        async for chunk in chunks:
            count += 1
            content += len(chunk)
            if count > FREE_PIECES + content // MIN_PIECE_BYTES:
                raise NetworkError("protocol", "the body comes in pieces of a few bytes and without end", flooded=True)
            if time.perf_counter() > due:
                await asyncio.sleep(0)
                due = time.perf_counter() + TURN
            yield chunk


HIGH_WATER: Final = 1 << 16
"""Bytes received and not yet read after which the transport is paused."""
_CHUNK: Final = 1 << 15
"""Bytes taken from a socket at a time; asyncio's own 256 KiB would add up over the connections of a crawl."""


def save_tls_memory() -> None:
    """Let asyncio set 32 KiB aside for each TLS connection of this process instead of 256 KiB.

    Clearing the larger buffers costs a sixteenth of a scan's CPU time, and a crawl has hundreds of them. asyncio has
    no option for it, so this sets an attribute of its ``SSLProtocol``; it belongs to a program, not to a library.
    """
    sslproto.SSLProtocol.max_size = _CHUNK


class _Receiver(asyncio.BufferedProtocol):
    def __init__(self) -> None:
        self.buffer = bytearray()
        self._chunk = memoryview(bytearray(_CHUNK))
        self.ended = False
        self.error: Exception | None = None
        self.transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._drained: asyncio.Future[None] | None = None
        self._paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._chunk

    def buffer_updated(self, nbytes: int) -> None:
        self.buffer += self._chunk[:nbytes]
        if len(self.buffer) > HIGH_WATER and not self._paused and self.transport is not None:
            self._paused = True
            self.transport.pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        self.ended = True
        self._wake()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended = True
        self.error = self.error or exc
        self.transport = None  # ends the cycle with it: a TLS session would hold 100 KB until the next collection
        self._wake()
        self.resume_writing()

    def pause_writing(self) -> None:
        if self._drained is None:
            self._drained = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        drained, self._drained = self._drained, None
        if drained is not None and not drained.done():
            drained.set_result(None)

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes, none at the end. Raises OSError when the connection broke."""
        while not self.buffer:
            if self.error is not None:
                raise self.error
            if self.ended:
                return b""
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        data = bytes(self.buffer[:size])
        del self.buffer[:size]
        if self._paused and len(self.buffer) < HIGH_WATER // 2 and self.transport is not None:
            self._paused = False
            self.transport.resume_reading()
        return data

    async def drain(self) -> None:
        """Wait until the transport takes more to write. Raises OSError when the connection broke."""
        if self.error is not None:
            raise self.error
        if self._drained is not None:
            await asyncio.shield(self._drained)


class Stream(httpcore.AsyncNetworkStream):
    """One connection, plain or after :meth:`start_tls` encrypted.

    No ``timeout`` is given to a read or write: a probe has one limit for all that it does.
    """

    def __init__(self, transport: asyncio.Transport, receiver: _Receiver) -> None:
        self._transport = transport
        self._receiver = receiver
        self._heads: HeadReader | None = None
        self._frames: FrameReader | None = None

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return the next bytes that may be parsed, none at the end (httpcore's interface). Raises Flooded."""
        if self._receiver.buffer or (self._frames is not None and self._frames.waiting):
            await asyncio.sleep(0)  # a peer that is faster than our parsers leaves others their turn
        while True:
            if self._frames is not None and (ready := self._frames.next()):
                return ready
            data = await self._received(max_bytes)
            if self._frames is not None and data:
                self._frames.received(data)
                continue
            if self._heads is None or self._frames is not None:
                return data
            ready = self._heads.take(data)
            if self._heads.heavy:
                await exclusive_turn()
            if ready or not data:
                return ready

    async def _received(self, max_bytes: int) -> bytes:
        try:
            return await self._receiver.read(max_bytes)
        except ssl.SSLError as error:
            raise TlsEnded(str(error)) from error
        except OSError as error:
            raise httpcore.ReadError(str(error)) from error

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send ``buffer`` (httpcore's interface)."""
        if self._frames is not None:
            self._frames.sent(buffer)
        elif self._heads is not None:
            self._heads.expect_head()
        try:
            self._transport.write(buffer)
            await self._receiver.drain()
        except OSError as error:
            raise httpcore.WriteError(str(error)) from error

    @property
    def protocol(self) -> str:
        """The protocol negotiated in the TLS handshake (ALPN, RFC 7301), empty when none was."""
        secure: ssl.SSLObject | None = self._transport.get_extra_info("ssl_object")
        return (secure.selected_alpn_protocol() or "") if secure is not None else ""

    @property
    def certificate(self) -> bytes:
        """The server's certificate as DER, empty where it showed none."""
        secure: ssl.SSLObject | None = self._transport.get_extra_info("ssl_object")
        return (secure.getpeercert(binary_form=True) or b"") if secure is not None else b""

    def abort(self) -> None:
        """Drop the connection at once."""
        self._transport.abort()

    async def aclose(self) -> None:
        """Drop the connection at once (httpcore's interface)."""
        self.abort()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> Stream:
        """Return the encrypted stream (httpcore's interface). Raises ConnectFailed."""
        plain = self._transport
        if self._receiver.buffer:
            plain.abort()
            raise ConnectFailed(NetworkError("tls", "the server speaks first and not TLS"))
        try:
            async with asyncio.timeout(timeout):
                secure = await asyncio.get_running_loop().start_tls(
                    plain, self._receiver, ssl_context, server_hostname=server_hostname
                )
        except OSError as error:
            plain.abort()
            raise ConnectFailed(tls_failure(error)) from error
        except BaseException:  # cancelled or not, no socket stays open
            plain.abort()
            raise
        if secure is None:
            raise ConnectFailed(tls_failure(ConnectionAbortedError()))
        self._transport = self._receiver.transport = secure
        if self.protocol == "h2":
            self._frames = FrameReader()
        return self

    def read_http(self) -> None:
        """Pass on answers as a browser reads them, for a client of HTTP; a tunnel passes on what comes."""
        self._heads = HeadReader()

    def get_extra_info(self, info: str) -> Any:
        """Return what httpcore asks of a connection."""
        if info == "is_readable":
            left = self._frames is not None and (self._frames.last is not None or self._frames.waiting)
            return left or bool(self._receiver.buffer) or self._receiver.ended or self._transport.is_closing()
        names = {"client_addr": "sockname", "server_addr": "peername"}
        return self._transport.get_extra_info(names.get(info, info))


async def connect(address: str, port: int) -> Stream:
    """Return a connection to the IP ``address``. Raises OSError."""
    transport, receiver = await asyncio.get_running_loop().create_connection(_Receiver, address, port)
    return Stream(transport, receiver)
