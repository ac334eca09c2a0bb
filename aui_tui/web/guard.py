"""Limits before the application: time and number of connections, requests refused before any work, the access log."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import re
import time
from functools import lru_cache
from typing import ClassVar, Final
from urllib.parse import unquote

import h11
import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from aui_tui.text import clean
from aui_tui.web import (
    MAX_BODY,
    MAX_CONNECTIONS,
    MAX_FIELDS,
    MAX_HEAD,
    MAX_TARGET,
    SEND_SECONDS,
    STALL_SECONDS,
    ApiConfig,
    problems,
)
from aui_tui.web.answers import target_of
from aui_tui.web.problems import AGAIN, HttpProblem
from aui_tui.web.requests import identify

BAD_REQUEST: Final = msgspec.json.encode(
    {"type": "about:blank", "title": "Bad Request", "status": 400, "detail": "This is not a valid HTTP request."}
)


class Connection(H11Protocol):
    """Closes a peer that sends a request or reads an answer too slowly, and the longest idle of too many.

    The class attributes hold for a whole process: limits, and the connections that are open.
    """

    request_seconds: ClassVar[float] = SEND_SECONDS
    stall_seconds: ClassVar[float] = STALL_SECONDS
    max_open: ClassVar[int] = MAX_CONNECTIONS
    open_now: ClassVar[set[Connection]] = set()

    _idle_since = 0.0
    _clock: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn names a narrower type
        """Start the clock for the first request; where too many are open, the one that is idle longest is closed."""
        super().connection_made(transport)
        if len(self.open_now) >= self.max_open:
            idle = [
                connection
                for connection in self.open_now
                if connection._is_idle() and not connection.transport.is_closing()
            ]
            if idle:
                min(idle, key=lambda connection: connection._idle_since).transport.abort()
        self.open_now.add(self)
        self._abort_after(self.request_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self.open_now.discard(self)
        self._stop_clock()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes of a request; its clock runs until the request is whole."""
        super().data_received(data)
        if self._is_waiting():
            if self._clock is None:
                self._abort_after(self.request_seconds)
        elif not self.flow.write_paused:
            self._stop_clock()

    def on_response_complete(self) -> None:
        """Close a peer that does not take the end of the answer."""
        super().on_response_complete()
        self._idle_since = self.loop.time()
        if self.transport.get_write_buffer_size():
            self._abort_after(self.stall_seconds)

    def pause_writing(self) -> None:
        """Start the clock for a peer that does not take the answer."""
        super().pause_writing()
        self._abort_after(self.stall_seconds)

    def resume_writing(self) -> None:
        """Stop that clock, or start it anew for the rest of a whole answer."""
        super().resume_writing()
        self._stop_clock()
        if self._is_waiting():
            self._abort_after(self.stall_seconds)

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are not an HTTP request with problem details, and close."""
        head = (
            "HTTP/1.1 400 Bad Request\r\nContent-Type: application/problem+json\r\n"
            f"Content-Length: {len(BAD_REQUEST)}\r\nConnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + BAD_REQUEST)
        self.transport.close()

    def _is_waiting(self) -> bool:
        """Return whether the peer has sent no whole request that is still to be answered."""
        return self.cycle is None or self.cycle.response_complete or self.conn.their_state is h11.SEND_BODY

    def _is_idle(self) -> bool:
        """Return whether what happens next is up to the peer: it sends a request, or takes an answer."""
        return self._is_waiting() or self.flow.write_paused

    def _abort_after(self, seconds: float) -> None:
        """Close the connection after ``seconds`` unless the clock is stopped or set again before."""
        self._stop_clock()
        self._idle_since = self.loop.time()
        self._clock = self.loop.call_later(seconds, self.transport.abort)

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None


faults = logging.getLogger("aui_tui.api")
accesses = logging.getLogger("aui_tui.access")

HOST_FIELD: Final = re.compile(
    rb"(?:[a-zA-Z0-9._~%!$&'()*+,;=-]*|\[[0-9a-fA-F:.]+\])"
    rb"(?::(?:[0-9]{0,4}|[0-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?"
)
"""A Host field (RFC 9110 section 7.2), with a port that exists."""
ABSOLUTE_FORM: Final = re.compile(rb"https?://([^/]*)(/.*)?", re.IGNORECASE)
"""A request target in absolute form (RFC 9112 section 3.2.2): host and path."""
ANSWER_FIELDS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
"""Fields of every answer."""
CLOSE: Final = {"Connection": "close"}


class GuardMiddleware:
    """ASGI layer that checks the Host, bounds the request in size, names the client, explains what fails, and logs.

    The client's id lies in ``scope["client_id"]``.
    """

    def __init__(self, app: ASGIApp, config: ApiConfig) -> None:
        self._app = app
        self._config = config
        trusted = config.trusted_proxies
        self._identify = lru_cache(maxsize=4096)(lambda peer, forwarded: identify(peer, forwarded, trusted))
        self._cached_host_problem = lru_cache(maxsize=256)(self._host_problem)
        self._fields = [f for f in ANSWER_FIELDS if not (config.readers and f[0].startswith(b"cross-origin"))]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope = in_origin_form(scope)
        started = time.perf_counter()
        status = sent = taken = 0

        async def counted_receive() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > MAX_BODY:
                raise HttpProblem("request-too-large", f"The body of a request may have {MAX_BODY} bytes.")
            return message

        async def counted_send(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message["headers"], *self._fields]}
            else:
                sent += len(message.get("body", b""))
            await send(message)

        peer = scope.get("client") or ("",)
        forwarded = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
        client = scope["client_id"] = self._identify(peer[0], tuple(forwarded))
        target = target_of(scope).decode("latin-1")[:300]
        problem = self._request_problem(scope)
        try:
            if problem is None:
                await self._app(scope, counted_receive, counted_send)
        except TimeoutError:
            faults.warning("Timed out: %s", target)
            problem = HttpProblem("unavailable", "The answer took too long.")
        except Exception as error:  # whatever fails, the client gets an answer
            faults.error("Fault at %s: %s: %s", target, type(error).__name__, error)
            faults.debug("Trace of the fault", exc_info=error)
            problem = HttpProblem("internal-error")
        finally:
            if problem is not None and not status:
                await problems.response(problem, self._config.base_url)(scope, counted_receive, counted_send)
            method, took = scope["method"], 1000 * (time.perf_counter() - started)
            body = 0 if method == "HEAD" else sent
            line = f'{client} "{method[:20]} {target}" {status} {body} {took:.1f}ms'
            accesses.info("%s", line)

    def _request_problem(self, scope: Scope) -> HttpProblem | None:
        """Return why the request is refused before any work, None when it is not."""
        headers = scope["headers"]
        fields = dict(headers)
        if len(Connection.open_now) > Connection.max_open:
            sentence = "Too many connections are open; please try again in a moment."
            return HttpProblem("unavailable", sentence, headers={**AGAIN, **CLOSE})
        if len(scope["raw_path"]) + len(scope["query_string"]) >= MAX_TARGET:
            sentence = f"The address of a request may have {MAX_TARGET} bytes."
            return HttpProblem("request-too-large", sentence, status=414)
        if len(headers) > MAX_FIELDS:
            return HttpProblem("request-too-large", f"A request may have {MAX_FIELDS} header fields.", status=431)
        if sum(len(name) + len(value) for name, value in headers) > MAX_HEAD:
            sentence = f"The header fields of a request may have {MAX_HEAD} bytes."
            return HttpProblem("request-too-large", sentence, status=431)
        if b"content-length" in fields and b"transfer-encoding" in fields:
            sentence = "A request has either Content-Length or Transfer-Encoding, not both."
            return HttpProblem("bad-request", sentence, headers=CLOSE)
        server = scope.get("server") or ("",)
        return self._cached_host_problem(fields.get(b"host", b""), server[0])

    def _host_problem(self, field: bytes, server: str) -> HttpProblem | None:
        """Return what is wrong with a Host ``field`` of a request to the address ``server``; None when it is ours."""
        host = field.decode("latin-1")
        shown = clean(host, 80)
        if not HOST_FIELD.fullmatch(field):
            return HttpProblem("bad-request", f"The Host field {shown!r} is not a host name with an optional port.")
        name = host_of(host)
        if name in (self._config.host, "localhost"):
            return None
        with contextlib.suppress(ValueError):
            address = ipaddress.ip_address(name)
            if address.is_loopback or str(address) == server:
                return None
        return HttpProblem("misdirected-request", f"This service is {self._config.base_url}, not {shown!r}.")


def in_origin_form(scope: Scope) -> Scope:
    """Return ``scope`` with the path alone as its target; the host of an absolute target becomes the Host field."""
    match = ABSOLUTE_FORM.fullmatch(scope["raw_path"])
    if match is None:
        return scope
    path = match[2] or b"/"
    headers = [(b"host", match[1]), *(field for field in scope["headers"] if field[0] != b"host")]
    return {**scope, "raw_path": path, "path": unquote(path.decode("ascii")), "headers": headers}


def host_of(field: str) -> str:
    """Return the host of a Host header field in lower case, without port and brackets."""
    text = field.strip().lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0].removesuffix(".")
