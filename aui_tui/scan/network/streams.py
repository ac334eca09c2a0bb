"""Byte streams over asyncio transports, limits on what a peer may send, and what comes back from a request.

The streams are as httpcore's network backends want them. An answer has a body that is still to be read; where there is
none, an error says why.

Closing is an abort: no peer can keep a socket open by not answering the end of the connection.

Parsers of HTTP spend tens of microseconds on the smallest thing, so a count of bytes is not enough: a peer that sends
empty frames, interim responses or chunks of one byte would keep this process busy for as long as it likes. So what
arrives is counted before a parser sees it, and parsing takes turns with everything else.
"""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from asyncio import sslproto
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakSet

import httpcore

from aui_tui.model.observations import NO_ISSUER
from aui_tui.text import clean

Field = tuple[bytes, bytes]
FINAL_STATUSES: Final = (200, 999)
"""Statuses that end an exchange; sites do use numbers beyond 599."""
HTTP2_ONLY: Final = frozenset({b"priority"})
"""Lower-case names of fields that are not sent over HTTP/1.1: what browsers send there over HTTP/2 alone."""
HTTP1_ONLY: Final = frozenset({b"connection"})
"""The same of fields that HTTP/2 forbids (RFC 9113 8.2.2)."""


@dataclass(frozen=True, slots=True)
class Reply:
    """Status line and header fields of an answer; ``chunks`` are the body's bytes as sent, still encoded.

    ``waited``: seconds for which the request was held back before it was sent.
    """

    status: int
    fields: Sequence[Field]
    http_version: str
    chunks: AsyncGenerator[bytes, None]
    waited: float = 0.0


NO_TLS: Final = "the TLS handshake failed: the port speaks plain HTTP"
_NO_ISSUER: Final = frozenset({2, 20, 21})
"""OpenSSL's ways to say that a certificate's issuer is not known."""
_NOT_TLS: Final = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"})
"""Reasons of OpenSSL when what answers a handshake is no TLS record."""


class NetworkError(Exception):
    """No usable answer: ``kind`` is one word of ``observations.ERRORS``, ``detail`` one sentence without a full stop.

    ``silent``: nothing listens there (connection refused, unreachable, or no answer to the attempt to connect).
    ``flooded``: the server sends more small things than an answer needs. ``lacks_issuer``: the certificate's issuer was
    not sent and is not known.
    """

    def __init__(
        self, kind: str, detail: str, *, silent: bool = False, flooded: bool = False, lacks_issuer: bool = False
    ) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail
        self.silent = silent
        self.flooded = flooded
        self.lacks_issuer = lacks_issuer


class ConnectFailed(httpcore.ConnectError):
    """Carries a NetworkError through httpcore."""

    def __init__(self, error: NetworkError) -> None:
        super().__init__(error.detail)
        self.error = error


class TlsEnded(httpcore.ReadError):
    """The peer ended an established TLS session with an alert (a missing client certificate, TLS 1.3)."""


def tls_failure(error: OSError) -> NetworkError:
    """Return the error for a failed TLS handshake; the server's words pass ``clean``."""
    if isinstance(error, ssl.SSLCertVerificationError):
        unknown = error.verify_code in _NO_ISSUER
        reason = NO_ISSUER if unknown else error.verify_message
        return NetworkError("tls", clean(f"the certificate is not accepted: {reason}", 400), lacks_issuer=unknown)
    if isinstance(error, ssl.SSLError) and error.reason in _NOT_TLS:
        return NetworkError("tls", NO_TLS)
    if isinstance(error, ssl.SSLError) and error.reason:
        return NetworkError("tls", clean(f"the TLS handshake failed: {error.reason.replace('_', ' ').lower()}", 400))
    return NetworkError("tls", "the server broke off the TLS handshake")


def answer_failure(error: Exception) -> NetworkError:
    """Return the error for an exception of httpcore after which there is no answer, or not the whole of it."""
    if isinstance(error, ConnectFailed):
        return error.error
    if isinstance(error, Flooded):
        return NetworkError("protocol", f"the server sent {error}", flooded=True)
    if isinstance(error, TlsEnded):
        return NetworkError("tls", clean(f"the server ended the TLS session: {_reason(error)}", 400))
    if isinstance(error, httpcore.NetworkError) or "disconnected" in str(error):
        return NetworkError("protocol", "the server closed the connection without an answer")
    return NetworkError("protocol", clean(f"the answer is not valid HTTP ({clean(str(error), 120).rstrip('.')})"))


def _reason(error: Exception) -> str:
    cause = error.__cause__
    return cause.reason.replace("_", " ").lower() if isinstance(cause, ssl.SSLError) and cause.reason else str(error)


MAX_INTERIM: Final = 20
"""Interim responses (RFC 9110 15.2) before one final one."""
MAX_FRAME: Final = 1 << 14
"""Payload bytes of an HTTP/2 frame (RFC 9113 4.2, the value that a client starts with and we never raise)."""
FREE_PIECES: Final = 500
"""Frames or chunks that cost nothing: more than an honest answer needs."""
PIECE: Final = 64
"""Bytes of content that a further frame or chunk must carry on average."""
AT_ONCE: Final = 32
"""HTTP/2 frames that are parsed before others get their turn."""
TURN: Final = 0.002
"""Seconds for which the chunks of one body may be parsed before others get their turn."""

HEAVY: Final = 1 << 14
"""Bytes of a head that takes long to parse; of such heads one is parsed in a turn of the event loop."""

_MAX_HEAD: Final = 1 << 17
"""Bytes of a head after which the parser has refused it (h11 does at 100 KiB)."""
_HEAD_END: Final = re.compile(rb"\n\r?\n")
_INTERIM: Final = re.compile(rb"\s*HTTP/\d\.\d 1\d\d\b")


class Flooded(httpcore.RemoteProtocolError):
    """The peer sends more small things than an answer needs; the text is what it sends."""


_LINE_END: Final = re.compile(rb"\r?\n")
_NAME: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_STATUS_LINE: Final = re.compile(rb"HTTP/\d\.\d \d{3}")
_UNPRINTABLE: Final = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")
MAX_JUNK: Final = 4
"""Octets before a status line that a browser passes over."""


def tidy_head(head: bytes) -> bytes:
    """Return the ``head`` of an HTTP/1 answer, its blank line included, without what browsers drop.

    These are lines that are no field (a warning printed before the page), blanks around names, control characters, a
    Transfer-Encoding other than chunked, a Content-Length that is no number, and blank lines before the status line.
    """
    lines = _LINE_END.split(head)[:-2]
    kept: list[bytes] = []
    chunked = any(line.lower().startswith(b"transfer-encoding") and b"chunked" in line.lower() for line in lines)
    for line in lines[1:]:
        if line[:1] in (b" ", b"\t") and kept:
            kept[-1] += b" " + _UNPRINTABLE.sub(b"", line).strip()
            continue
        name, colon, value = line.partition(b":")
        name, value = name.strip(), _UNPRINTABLE.sub(b"", value).strip()
        folded = name.lower()
        sizes = {size.strip() for size in value.split(b",")} if folded == b"content-length" else set()
        odd = sizes and (chunked or len(sizes) > 1 or not next(iter(sizes)).isdigit())
        if colon and _NAME.fullmatch(name) and not odd and folded != b"transfer-encoding":
            kept.append(name + b": " + value)
    kept += [b"Transfer-Encoding: chunked"] if chunked else []
    return b"\r\n".join((lines[0], *kept, b"", b""))


class HeadReader:
    """Holds the head of each HTTP/1 answer back until it is whole, and passes it on as :func:`tidy_head` leaves it.

    ``heavy``: the head that was passed on last takes long to parse.
    """

    def __init__(self) -> None:
        self.heavy = False
        self._held = bytearray()
        self._in_head = False
        self._interim = 0

    def asked(self) -> None:
        """Expect the head of an answer."""
        self._in_head = True
        self._interim = 0

    def take(self, data: bytes) -> bytes:
        """Return what may be parsed of what has come; nothing while a head is not whole. ``data`` empty: the end.

        Raises Flooded at one interim response too many.
        """
        self.heavy = False
        if not self._in_head:
            return data
        start = max(0, len(self._held) - 3)
        self._held += data
        out = b""
        while self._in_head:
            junk = len(self._held) - len(self._held.lstrip(b"\r\n"))
            if 0 < junk <= MAX_JUNK:
                del self._held[:junk]
                start = 0
            end = _HEAD_END.search(self._held, start)
            whole = end is not None and _STATUS_LINE.match(self._held)
            if data and end is None and len(self._held) <= _MAX_HEAD:
                return out
            self.heavy |= len(self._held) > HEAVY if end is None else end.end() > HEAVY
            self._in_head = bool(whole and _INTERIM.match(self._held) and not self._held.startswith(b"HTTP/1.1 101"))
            self._interim += self._in_head
            if self._interim > MAX_INTERIM:
                raise Flooded(f"more than {MAX_INTERIM} interim responses and no answer")
            if end is not None and whole:
                out += tidy_head(bytes(self._held[: end.end()]))
                del self._held[: end.end()]
            start = 0
        out += bytes(self._held)
        self._held.clear()
        return out


_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_FRAME_HEAD: Final = 9
_DATA, _HEADERS, _RST, _GOAWAY = 0, 1, 3, 7
REFUSED_STREAM: Final = 7


class FrameReader:
    """Reads the frames of one HTTP/2 connection (RFC 9113 4.1) before a parser does.

    It refuses a long frame by its header, and frames without content by number. The streams that an orderly GOAWAY
    covers it lets be finished, and resets the others, so that they are asked again: httpcore ends all streams at a
    GOAWAY; servers send one after their last request of a connection (nginx ``keepalive_requests``) or before they are
    replaced (RFC 9113 6.8).
    """

    def __init__(self) -> None:
        self.last: int | None = None
        """The last stream that the server answers, once it has said so."""
        self._in, self._out = bytearray(), bytearray()
        self._left = 0
        self._asked: list[int] = []
        self._frames = self._content = 0
        self._heads: Counter[bytes] = Counter()
        self._refused: Flooded | None = None

    @property
    def waiting(self) -> bool:
        """Something has come that was not returned."""
        return bool(self._in)

    def sent(self, data: bytes) -> None:
        """Note the streams that are opened by what is sent."""
        self._out += data.removeprefix(_PREFACE)
        while len(self._out) >= _FRAME_HEAD:
            size = _FRAME_HEAD + int.from_bytes(self._out[:3], "big")
            if len(self._out) < size:
                return
            if self._out[3] == _HEADERS:
                self._asked.append(int.from_bytes(self._out[5:9], "big"))
            del self._out[:size]

    def received(self, data: bytes) -> None:
        """Take what has come."""
        self._in += data

    def next(self) -> bytes:
        """Return at most AT_ONCE frames of what has come; a frame's header and a GOAWAY when they are whole.

        Raises Flooded once those before have been taken.
        """
        out = bytearray()
        fresh = 0
        while self._in and self._refused is None:
            if not self._left:
                if len(self._in) < _FRAME_HEAD or fresh == AT_ONCE:
                    break
                size, kind = int.from_bytes(self._in[:3], "big"), self._in[3]
                if kind == _GOAWAY and 8 <= size <= MAX_FRAME:
                    if len(self._in) < _FRAME_HEAD + size:
                        break
                    if not any(self._in[_FRAME_HEAD + 4 : _FRAME_HEAD + 8]):
                        self.last = int.from_bytes(self._in[_FRAME_HEAD : _FRAME_HEAD + 4], "big") & 0x7FFFFFFF
                        del self._in[: _FRAME_HEAD + size]
                        continue
                reason = self._too_much(size, kind, bytes(self._in[5:_FRAME_HEAD]))
                if reason:
                    self._refused = Flooded(reason)
                    break
                self._left = _FRAME_HEAD + size
                fresh += 1
            piece = self._in[: self._left]
            out += piece
            self._left -= len(piece)
            del self._in[: len(piece)]
        if self._refused is not None and not out:
            raise self._refused
        return bytes(out) + self._resets()

    def _resets(self) -> bytes:
        """Return a frame for each stream that was opened in vain, as if the server had refused it."""
        if self.last is None:
            return b""
        lost = [stream for stream in self._asked if stream > self.last]
        self._asked.clear()
        head = b"\x00\x00\x04" + bytes((_RST, 0))
        return b"".join(head + stream.to_bytes(4, "big") + REFUSED_STREAM.to_bytes(4, "big") for stream in lost)

    def _too_much(self, size: int, kind: int, stream: bytes) -> str:
        """Count a frame; return what is sent where it is one too many."""
        self._frames += 1
        self._content += size if kind == _DATA else 0
        self._heads[stream] += kind == _HEADERS
        if size > MAX_FRAME:
            return f"an HTTP/2 frame of {size:,} bytes, where {MAX_FRAME:,} are allowed"
        if self._heads[stream] > MAX_INTERIM + 2:  # the answer, and its trailer section
            return f"more than {MAX_INTERIM} interim responses and no answer"
        empty = self._frames > FREE_PIECES + self._content // PIECE
        return "HTTP/2 frames without content and without end" if empty else ""


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
            if count > FREE_PIECES + content // PIECE:
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
    """One connection, plain or after :meth:`start_tls` encrypted."""

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
            data = await self._received(max_bytes, timeout)
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

    async def _received(self, max_bytes: int, timeout: float | None) -> bytes:
        try:
            async with asyncio.timeout(timeout):
                return await self._receiver.read(max_bytes)
        except TimeoutError as error:
            raise httpcore.ReadTimeout(str(error)) from error
        except ssl.SSLError as error:
            raise TlsEnded(str(error)) from error
        except OSError as error:
            raise httpcore.ReadError(str(error)) from error

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send ``buffer`` (httpcore's interface)."""
        if self._frames is not None:
            self._frames.sent(buffer)
        elif self._heads is not None:
            self._heads.asked()
        try:
            async with asyncio.timeout(timeout):
                self._transport.write(buffer)
                await self._receiver.drain()
        except TimeoutError as error:
            raise httpcore.WriteTimeout(str(error)) from error
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
