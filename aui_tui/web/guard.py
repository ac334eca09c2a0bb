"""What comes before the application: time limits of connections, requests refused before any work, the access log.

uvicorn leaves the time limits open; a connection also sends the head of an answer together with its body. Lines of the
access log are written several at a time.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import re
import time
from collections import Counter
from collections.abc import MutableMapping
from functools import lru_cache
from ipaddress import ip_address
from typing import Any, ClassVar, Final, TextIO

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from aui_tui.text import clean
from aui_tui.web import (
    HEAD_SECONDS,
    MAX_BODY,
    MAX_CONNECTIONS,
    MAX_FIELDS,
    MAX_HEAD,
    MAX_PER_PEER,
    MAX_TARGET,
    REQUEST_SECONDS,
    STALL_SECONDS,
    ApiConfig,
    Network,
    problems,
)
from aui_tui.web.messages import identify
from aui_tui.web.problems import Problem

FULL: Final = 64 * 1024
"""Bytes from which on nothing more is waited for."""


class Joined(asyncio.Transport):
    """Passes on what is written in one turn of the event loop as one write: one packet and one system call.

    The HTTP server writes head and body one after the other.
    """

    def __init__(self, inner: asyncio.Transport) -> None:
        super().__init__()
        self._inner = inner
        self._loop = asyncio.get_running_loop()
        self._held: list[bytes] = []
        self._size = 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Take ``data``; it goes out in this turn of the loop."""
        if not self._held:
            self._loop.call_soon(self._send)
        self._held.append(bytes(data))
        self._size += len(data)
        if self._size >= FULL:
            self._send()

    def _send(self) -> None:
        if self._held:
            data = b"".join(self._held) if len(self._held) > 1 else self._held[0]
            self._held.clear()
            self._size = 0
            self._inner.write(data)

    def close(self) -> None:
        """Send what is held, then close."""
        self._send()
        self._inner.close()

    def abort(self) -> None:
        """Close at once; what is held is lost."""
        self._held.clear()
        self._size = 0
        self._inner.abort()

    def get_write_buffer_size(self) -> int:
        """Return the bytes that have not left yet."""
        return self._inner.get_write_buffer_size() + self._size

    def is_closing(self) -> bool:
        """Return whether the transport is closing or closed."""
        return self._inner.is_closing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Return what is known of the connection."""
        return self._inner.get_extra_info(name, default)

    def pause_reading(self) -> None:
        """Stop reading."""
        self._inner.pause_reading()

    def resume_reading(self) -> None:
        """Go on reading."""
        self._inner.resume_reading()


BAD_REQUEST: Final = msgspec.json.encode(
    {"type": "about:blank", "title": "Bad Request", "status": 400, "detail": "This is not a valid HTTP request."}
)


class Connection(H11Protocol):
    """Closes a peer that is slow to send a request head or to take an answer, or that opens too many connections.

    The class attributes hold for a whole process: limits, ``trusted`` (networks of the operator's proxies, set when
    the application is built), and the connections that are open, in all and by peer.
    """

    head_seconds: ClassVar[float] = HEAD_SECONDS
    stall_seconds: ClassVar[float] = STALL_SECONDS
    most: ClassVar[int] = MAX_CONNECTIONS
    per_peer: ClassVar[int] = MAX_PER_PEER
    trusted: ClassVar[tuple[Network, ...]] = ()
    waiting: ClassVar[dict[Connection, None]] = {}
    """Connections that wait for a request or for the rest of its head, the longest waiting first."""
    open_now: ClassVar[int] = 0
    open_by_peer: ClassVar[Counter[str]] = Counter()

    _head_timer: asyncio.TimerHandle | None = None
    _stall_timer: asyncio.TimerHandle | None = None
    _peer = ""

    @classmethod
    def crowded(cls) -> bool:
        """Return whether more connections are open than the process serves."""
        return cls.open_now > cls.most

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn names a narrower type
        """Count the peer's connections, and start the clock for the first request head."""
        super().connection_made(Joined(transport))
        Connection.open_now += 1
        address = self.client[0] if self.client else ""
        if address and not self._is_proxy(address):
            self._peer = identify(address, (), ())
            self.open_by_peer[self._peer] += 1
            if self.open_by_peer[self._peer] > self.per_peer:
                self.transport.abort()
                return
        if Connection.open_now > self.most:
            self._make_room()
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        Connection.open_now -= 1
        self.waiting.pop(self, None)
        for timer in (self._head_timer, self._stall_timer):
            if timer is not None:
                timer.cancel()
        self._head_timer = self._stall_timer = None
        if self._peer:
            self.open_by_peer[self._peer] -= 1
            if self.open_by_peer[self._peer] <= 0:
                del self.open_by_peer[self._peer]
            self._peer = ""
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes of a request; the clock for its head runs until the head is whole."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._head_is_here()
        elif self._head_timer is None:
            self._await_head()

    def on_response_complete(self) -> None:
        """Close a peer that does not take the end of the answer."""
        super().on_response_complete()
        if self.cycle is None or self.cycle.response_complete:
            self.waiting[self] = None
        if self.transport.get_write_buffer_size() and self._stall_timer is None:
            self._stall_timer = self.loop.call_later(self.stall_seconds, self._cut_if_stalled)

    def pause_writing(self) -> None:
        """Start the clock for a peer that does not take the answer."""
        super().pause_writing()
        if self._stall_timer is None:
            self._stall_timer = self.loop.call_later(self.stall_seconds, self._cut_if_stalled)

    def resume_writing(self) -> None:
        """Stop that clock."""
        super().resume_writing()
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are not an HTTP request with problem details, and close."""
        head = (
            "HTTP/1.1 400 Bad Request\r\nContent-Type: application/problem+json\r\n"
            f"Content-Length: {len(BAD_REQUEST)}\r\nConnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + BAD_REQUEST)
        self.transport.close()

    def _is_proxy(self, address: str) -> bool:
        try:
            peer = ip_address(address.partition("%")[0])
        except ValueError:
            return False
        return any(peer in network for network in self.trusted)

    @classmethod
    def _make_room(cls) -> None:
        """Close the connection that has waited for a request for the longest time, of the peer that holds the most."""
        if cls.waiting:
            idle = max(cls.waiting, key=lambda one: cls.open_by_peer[one._peer])
            cls.waiting.pop(idle)
            idle.transport.abort()

    def _await_head(self) -> None:
        self._head_is_here()
        self.waiting[self] = None
        self._head_timer = self.loop.call_later(self.head_seconds, self._cut)

    def _head_is_here(self) -> None:
        self.waiting.pop(self, None)
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _cut(self) -> None:
        self.transport.abort()

    def _cut_if_stalled(self) -> None:
        self._stall_timer = None
        if self.transport.get_write_buffer_size():
            self.transport.abort()


ACCESS: Final = "aui_tui.access"
"""Name of the logger of requests."""
DELAY: Final = 0.1
"""Seconds that a line of the access log may wait for others."""
MOST: Final = 256
"""Lines that may wait."""

LOGGING: Final[dict[str, Any]] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": f"{__name__}.LineFormatter"}},
    "handlers": {"stderr": {"class": f"{__name__}.BatchedHandler", "formatter": "line", "stream": "ext://sys.stderr"}},
    "loggers": {
        "aui_tui": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
        "uvicorn": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
    },
}
"""Everything on standard error, a line each."""


class LineFormatter(logging.Formatter):
    """One clean line for each event; an exception is named, its stack left out."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of ``record``: its time in UTC, its logger, and what happened."""
        said, error = record.getMessage(), record.exc_info[1] if record.exc_info else None
        if error is not None:
            said = f"{said.strip()}: {type(error).__name__}: {error}"
        return clean(f"{_second(int(record.created))}.{int(record.msecs):03d}Z {record.name} {said}", 2000)


@lru_cache(maxsize=2)
def _second(epoch: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(epoch))


class BatchedHandler(logging.StreamHandler[TextIO]):
    """Writes a line at once with those that wait; a line of the access log waits DELAY seconds for others.

    Writing each by itself costs a third of the time of a short answer.
    """

    def __init__(self, stream: Any = None) -> None:
        super().__init__(stream)
        self._lines: list[str] = []
        self._due = 0.0

    def emit(self, record: logging.LogRecord) -> None:
        """Take the line of ``record``."""
        try:
            self._lines.append(self.format(record) + self.terminator)
        except Exception:  # as logging's own handlers do
            self.handleError(record)
            return
        if record.name != ACCESS or not self._may_wait():
            self.flush()

    def _may_wait(self) -> bool:
        """Return whether a flush is on its way, having asked for one for the first line."""
        now = time.monotonic()
        if len(self._lines) > 1:
            return len(self._lines) < MOST and now < self._due
        try:
            asyncio.get_running_loop().call_later(DELAY, self.flush)
        except RuntimeError:
            return False
        self._due = now + 2 * DELAY
        return True

    def flush(self) -> None:
        """Write what waits; a reader that is gone is not an error."""
        with self.lock or contextlib.nullcontext():
            lines, self._lines = self._lines, []
            if lines:
                with contextlib.suppress(OSError, ValueError):
                    self.stream.write("".join(lines))
                    self.stream.flush()


access = logging.getLogger(ACCESS)
faults = logging.getLogger("aui_tui.api")

HOST: Final = re.compile(
    rb"(?:[a-zA-Z0-9._~%!$&'()*+,;=-]*|\[[0-9a-fA-F:.]+\])"
    rb"(?::(?:[0-9]{0,4}|[0-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?"
)
"""A Host field (RFC 9110 section 7.2), with a port that exists."""
FIELDS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
"""Fields of every answer that does not set them itself."""


LINE: Final = '%s "%s %s" %d %d %.1fms'
"""The access log: client, request line, status, bytes of the body, milliseconds."""


class TooLarge(Exception):
    """The body of the request is larger than MAX_BODY."""

    def __init__(self) -> None:
        super().__init__(f"The body of a request may have {MAX_BODY} bytes.")


class GuardMiddleware:
    """ASGI layer that checks the Host, bounds the request in size and time, names the client, and logs.

    The client's id lies in ``scope["client_id"]``.
    """

    def __init__(self, app: ASGIApp, config: ApiConfig, *, seconds: float = REQUEST_SECONDS) -> None:
        self._app = app
        self._config = config
        self._seconds = seconds
        self._trusted = config.networks()
        self._names = {config.host, "localhost"}
        self._fields = tuple(f for f in FIELDS if not (config.readers and f[0].startswith(b"cross-origin")))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        exchange = _Exchange(scope, receive, send, self._fields)
        scope["client_id"] = self._client(scope)
        try:
            refusal = self._refusal(scope)
            if refusal is not None:
                await self._tell(refusal, exchange)
            else:
                async with asyncio.timeout(self._seconds):
                    await self._app(scope, exchange.receive, exchange.send)
        except TimeoutError:
            faults.warning("Timed out: %s", _target(scope))
            await self._tell(problems.problem("unavailable", "The answer took too long."), exchange)
        except TooLarge as error:
            await self._tell(problems.too_large(413, str(error)), exchange)
        except Exception as error:  # whatever fails, the client gets an answer
            faults.error("Fault at %s: %s: %s", _target(scope), type(error).__name__, clean(str(error), 300))
            faults.debug("Trace of the fault", exc_info=error)
            await self._tell(problems.problem("internal-error"), exchange)
        finally:
            exchange.log()

    async def _tell(self, problem: Problem, exchange: _Exchange) -> None:
        if not exchange.status:
            await problems.response(problem, self._config.base_url)(exchange.scope, exchange.receive, exchange.send)

    def _client(self, scope: Scope) -> str:
        peer = scope.get("client")
        forwarded = (
            [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
            if self._trusted
            else ()
        )
        return identify(peer[0] if peer else "", forwarded, self._trusted)

    def _refusal(self, scope: Scope) -> Problem | None:
        if Connection.crowded():
            return problems.crowded()
        if len(scope["raw_path"]) + len(scope["query_string"]) >= MAX_TARGET:
            return problems.too_large(414, f"The address of a request may have {MAX_TARGET} bytes.")
        headers = scope["headers"]
        if len(headers) > MAX_FIELDS:
            return problems.too_large(431, f"A request may have {MAX_FIELDS} header fields.")
        if sum(len(name) + len(value) for name, value in headers) > MAX_HEAD:
            return problems.too_large(431, f"The header fields of a request may have {MAX_HEAD} bytes.")
        if {b"content-length", b"transfer-encoding"} <= {name for name, _ in headers}:
            return problems.two_lengths()
        host = next((value for name, value in headers if name == b"host"), b"")
        if not HOST.fullmatch(host):
            return problems.bad_host(host.decode("latin-1"))
        if not self._is_ours(host.decode("latin-1"), scope):
            asked = clean(host.decode("latin-1"), 80)
            return problems.problem("misdirected-request", f"This service is {self._config.base_url}, not {asked!r}.")
        return None

    def _is_ours(self, host: str, scope: Scope) -> bool:
        name = host_of(host)
        if name in self._names:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        server = scope.get("server")
        ours = address.is_loopback or (server is not None and str(address) == server[0])
        if ours and len(self._names) < 64:
            self._names.add(name)
        return ours


class _Exchange:
    """One request and its outcome."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, fields: tuple[tuple[bytes, bytes], ...]) -> None:
        self.scope = scope
        self.status = 0
        self._receive = receive
        self._send = send
        self._fields = fields
        self._started = time.perf_counter()
        self._sent = 0
        self._taken = 0

    async def receive(self) -> MutableMapping[str, Any]:
        message = await self._receive()
        self._taken += len(message.get("body", b""))
        if self._taken > MAX_BODY:
            raise TooLarge
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = list(message.get("headers", ()))
            present = {name.lower() for name, _ in headers}
            headers.extend(field for field in self._fields if field[0] not in present)
            message = {**message, "headers": headers}
        else:
            self._sent += len(message.get("body", b""))
        await self._send(message)

    def log(self) -> None:
        if access.isEnabledFor(logging.INFO):
            fields = (
                self.scope["client_id"],
                clean(self.scope["method"], 20),
                _target(self.scope),
                self.status,
                0 if self.scope["method"] == "HEAD" else self._sent,
                1000 * (time.perf_counter() - self._started),
            )
            access.handle(logging.LogRecord(access.name, logging.INFO, "", 0, LINE, fields, None))


def host_of(field: str) -> str:
    """Return the host of a Host header field in lower case, without port and brackets."""
    text = field.strip().lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0].removesuffix(".")


def _target(scope: Scope) -> str:
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    query: bytes = scope["query_string"]
    return clean((raw + (b"?" + query if query else b"")).decode("latin-1"), 300)
