"""One identity's HTTP client: httpx over connections of our own, no cookies, no redirects, nothing decoded."""

from __future__ import annotations

import asyncio
import importlib
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import lru_cache
from typing import Any, Final, cast

import certifi
import h2.errors
import h2.events
import h2.exceptions
import httpcore
import httpx

from aui_tui.errors import ConfigError, Unavailable
from aui_tui.scan.network.chain import Chains
from aui_tui.scan.network.readers import NOT_COVERED
from aui_tui.scan.network.replies import (
    FINAL_STATUSES,
    HTTP1_ONLY,
    HTTP2_ONLY,
    ConnectFailed,
    Field,
    Flooded,
    NetworkError,
    Reply,
    answer_failure,
)
from aui_tui.scan.network.routes import Routes
from aui_tui.scan.network.streams import Stream, paced
from aui_tui.scan.policy import ScanPolicy
from aui_tui.scan.target import DEFAULT_PORTS, Origin
from aui_tui.text import clean


class RequestLimiter:
    """One request at a time over HTTP/1.1, all at once after :meth:`widen` (HTTP/2) or with no ``patience``.

    A site that answers sees one connection for a page and its files, and not a burst that its limits may punish; one
    that holds a request back delays the others by ``patience`` seconds at most.
    """

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._wide = patience <= 0
        self._places = asyncio.Semaphore(1)

    @asynccontextmanager
    async def place(self) -> AsyncIterator[float]:
        """Hold a place while a request is under way, and yield the seconds waited for it; first come, first served."""
        began = time.monotonic()
        if not self._wide:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._patience):
                    await self._places.acquire()
        try:
            yield time.monotonic() - began
        finally:
            self._places.release()

    def widen(self) -> None:
        """Let everybody through: the connection carries many requests at once."""
        self._wide = True
        for _ in range(MAX_CONNECTIONS):
            self._places.release()


PATIENCE: Final = 1.0
"""Seconds for which a large body waits until another one has come."""


class BodyLimiter:
    """The large bodies of one scan, one at a time; where one takes over PATIENCE seconds, one more from then on."""

    def __init__(self) -> None:
        self._line = asyncio.Lock()
        self._free = asyncio.Semaphore(1)

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Hold a place while a body is read; first come, first served."""
        async with self._line:  # so that of those who wait, one at a time loses its patience
            with suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    await self._free.acquire()
        try:
            yield
        finally:
            self._free.release()


MAX_CONNECTIONS: Final = 12
MAX_REFUSED: Final = 12
"""How often a request is sent where the server refuses its stream, or closes each connection after a few (GOAWAY)."""
REFUSED_PAUSE: Final = 0.05
"""Seconds before a request whose stream was refused is sent again on the same connection."""


@lru_cache(maxsize=8)
def ssl_context(
    cafile: str = "", insecure: bool = False, http2: bool = True, intermediates: frozenset[bytes] = frozenset()
) -> ssl.SSLContext:
    """Return the TLS settings shared by the whole process: system and Mozilla roots, and those in ``cafile``.

    Clients with and without ``http2`` need settings of their own: the offer of protocols (ALPN) is part of them.
    ``intermediates``: certificates in DER that servers left out; a chain must end in a root all the same.

    Raises ConfigError when ``cafile`` cannot be read.
    """
    context = ssl.create_default_context(cafile=certifi.where())
    context.load_default_certs()
    if cafile:
        try:
            context.load_verify_locations(cafile=cafile)
        except OSError as error:
            raise ConfigError(f"The certificate file {clean(cafile, 200)} cannot be used.") from error
    for certificate in intermediates:
        context.load_verify_locations(cadata=certificate)
    # as browsers check, under any Python: from 3.13 on it is stricter, and takes an intermediate for a root
    context.verify_flags = ssl.VerifyFlags.VERIFY_X509_TRUSTED_FIRST
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def load(access: ScanPolicy) -> None:
    """Do what a first request would keep the event loop for: httpcore's own imports, and the TLS contexts."""
    for name in ("sniffio", "anyio", "anyio._backends._asyncio"):
        with suppress(ImportError):
            importlib.import_module(name)
    with suppress(ConfigError):  # reported by the scan
        for http2 in (True, False):
            ssl_context(access.cafile, access.insecure, http2)


_NOT_SENT: Final = {
    "http11.send_request_headers.started": HTTP2_ONLY,
    "http2.send_request_headers.started": HTTP1_ONLY,
}
"""Fields that do not go out, by the event before they would."""


class _Response(httpx.Response):
    """An answer as it came: a probe follows redirects itself, as browsers do, also those that httpx cannot read."""

    @property
    def has_redirect_location(self) -> bool:
        """Return False: httpx would parse every Location, also where it is told to follow none."""
        return False


class _Body(httpx.AsyncByteStream):
    """The bytes of an answer. Raises NetworkError."""

    def __init__(self, response: httpcore.Response, failed: Callable[[Exception], NetworkError]) -> None:
        self._response: httpcore.Response | None = response
        self._failed = failed

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._response is None:
            return
        try:
            async for chunk in self._response.aiter_stream():
                yield chunk
        except Exception as error:  # whatever the library raises: one error of ours says it
            raise self._failed(error) from error

    async def aclose(self) -> None:
        """Let go of the connection (httpx's interface)."""
        response, self._response = self._response, None
        if response is not None:
            with suppress(Exception):  # a session that hostile bytes broke; its socket ends with the network
                await response.aclose()


class Transport(httpx.AsyncBaseTransport):
    """The connections of one identity, below httpx: checked addresses, and fields in their order and case.

    ``http2``: whether HTTP/2 is offered. A request names its exact target in the extension ``target``. Every failure is
    a NetworkError.
    """

    def __init__(self, access: ScanPolicy, routes: Routes, chains: Chains, *, http2: bool) -> None:
        self._access = access
        self._chains = chains
        self._http2 = http2
        self._backend = Backend(routes)
        self._intermediates: frozenset[bytes] = frozenset()
        self._pool: httpcore.AsyncConnectionPool | None = None
        self._left: list[httpcore.AsyncConnectionPool] = []

    def _connections(self) -> httpcore.AsyncConnectionPool:
        if self._pool is None:
            self._pool = httpcore.AsyncConnectionPool(
                ssl_context=ssl_context(self._access.cafile, self._access.insecure, self._http2, self._intermediates),
                max_connections=MAX_CONNECTIONS,
                http1=True,
                http2=self._http2,
                network_backend=self._backend,
            )
        return self._pool

    async def aclose(self) -> None:
        """Leave no connection open, and none in memory: httpx's answers and bodies live until a collection."""
        pools, self._left, self._pool = [*self._left, self._pool], [], None
        try:
            for pool in pools:
                if pool is not None:
                    with suppress(Exception):  # as for one answer
                        await pool.aclose()
        finally:
            self._backend.close()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the answer to ``request``, its body still to be read (httpx's interface).

        Raises NetworkError when no final status comes; a request that a kept connection had already dropped is sent
        once more on a fresh one (RFC 9112 9.5), and Unavailable when this machine has no room for a connection.
        """
        fresh, refused, completed = False, 0, False
        host, port = request.url.host, request.url.port or DEFAULT_PORTS[request.url.scheme]
        url = httpcore.URL(
            scheme=request.url.raw_scheme, host=request.url.raw_host, port=port, target=request.extensions["target"]
        )

        async def trace(event: str, info: dict[str, Any]) -> None:
            nonlocal fresh
            fresh = fresh or event == "connection.connect_tcp.started"
            if event in _NOT_SENT:
                sent: httpcore.Request = info["request"]
                sent.headers = [field for field in sent.headers if field[0].lower() not in _NOT_SENT[event]]

        while True:
            sent_request = httpcore.Request(
                request.method, url, headers=request.headers.raw, content=request.stream, extensions={"trace": trace}
            )
            pool, intermediates = self._connections(), self._intermediates
            try:
                response = await pool.handle_async_request(sent_request)
            except Unavailable:
                raise
            except ConnectFailed as error:
                missing = error.error.lacks_issuer and await self._chains.intermediate(host, port)
                if not missing or missing in intermediates:
                    raise error.error from error
                self._intermediates |= {missing}
                self._leave(pool)
                completed = True
                continue
            # httpcore lets what hostile bytes do to its parsers through: ValueError, h2's own errors, ...
            except Exception as error:
                code = _reset_code(error)
                if code in (h2.errors.ErrorCodes.REFUSED_STREAM, NOT_COVERED) and refused < MAX_REFUSED:
                    refused += 1
                    if code == NOT_COVERED:
                        self._leave(pool)
                    else:  # nothing was done for the request, which may be sent again as it is (RFC 9113 8.7)
                        await asyncio.sleep(REFUSED_PAUSE)
                    continue
                failure = self._failed(error)
                if self._http2 and _is_http2(error, code) and not isinstance(error, Flooded):
                    self._http2 = False
                    self._leave(pool)
                    continue
                if fresh or isinstance(error, Flooded):
                    raise failure from error
                fresh = True
                continue
            body = _Body(response, self._failed)
            if not FINAL_STATUSES[0] <= response.status <= FINAL_STATUSES[1]:
                await body.aclose()
                raise NetworkError("protocol", f"the answer has the status {response.status}, which is not final")
            if completed:
                self._chains.completed.add(host)
            version = {"http_version": response.extensions.get("http_version", b"")}
            return _Response(response.status, headers=response.headers, stream=body, extensions=version)

    def _leave(self, pool: httpcore.AsyncConnectionPool) -> None:
        """Send what comes next over new connections; the answers that are under way in ``pool`` are read to the end."""
        if pool is self._pool:
            self._left.append(pool)
            self._pool = None

    def _failed(self, error: Exception) -> NetworkError:
        """Return what ``error`` means.

        An error that is not of one stream alone drops the HTTP/2 sessions: httpcore lets the others wait on.
        """
        if isinstance(error, httpcore.ProtocolError | h2.exceptions.ProtocolError | ValueError):
            cause = error.args[0] if error.args else None
            if not isinstance(cause, h2.events.StreamReset):
                self._backend.abort("h2")
        return answer_failure(error)


class _NoCookies(httpx.Cookies):
    """Takes no cookie from an answer: each probe has a jar of its own."""

    def extract_cookies(self, response: httpx.Response) -> None:
        """Do nothing: reading the fields of every answer would cost a tenth of a scan."""


_NO_AUTH: Final = httpx.Auth()


class _OwnTransport(httpx.AsyncBaseTransport):
    """Sends each request over the connections that it names in the extension ``transport``."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the answer to ``request`` (httpx's interface)."""
        transport: Transport = request.extensions["transport"]
        return await transport.handle_async_request(request)


class ScanClient(httpx.AsyncClient):
    """What all identities of a scan send their requests by; it knows none of them and keeps nothing."""

    cookies = _NoCookies()  # type: ignore[override]  # instead of a property

    def __init__(self) -> None:
        # A probe has one limit for all. No log-in is looked for in an address: none of ours has one.
        super().__init__(transport=_OwnTransport(), trust_env=False, timeout=None, auth=_NO_AUTH)


class HttpClient:
    """One identity: sends by ``client`` over ``transport``; an async context manager that leaves nothing open.

    ``large_bodies``: of the whole scan.
    """

    def __init__(
        self, client: httpx.AsyncClient, transport: Transport, large_bodies: BodyLimiter, patience: float
    ) -> None:
        self.large_bodies = large_bodies
        self._limiter = RequestLimiter(patience)
        self._client = client
        self._transport = transport

    async def __aenter__(self) -> HttpClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._transport.aclose()

    @asynccontextmanager
    async def get(self, origin: Origin, path: str, fields: Sequence[Field], body: bytes = b"") -> AsyncIterator[Reply]:
        """Send GET ``path`` with Host and ``fields`` in that order, when there is a place (``RequestLimiter``).

        With a ``body`` it is a POST. Raises as ``Transport``; errors of the body come out of ``Reply.chunks``.
        """
        length = [(b"Content-Length", b"%d" % len(body))] if body else []
        request = httpx.Request(
            "POST" if body else "GET",
            _address(origin),
            headers=[(b"Host", origin.authority.encode("ascii")), *fields, *length],
            stream=httpx.ByteStream(body),
            extensions={"target": path.encode("ascii"), "transport": self._transport},
        )
        async with self._limiter.place() as waited:
            response = await self._client.send(request, stream=True, follow_redirects=False)
            if response.http_version == "HTTP/2":
                self._limiter.widen()
            chunks = paced(cast("AsyncGenerator[bytes, None]", aiter(cast("httpx.AsyncByteStream", response.stream))))
            try:
                yield Reply(response.status_code, response.headers.raw, response.http_version, chunks, waited)
            finally:  # no ExitStack: what is cancelled in its exit waits, with its TLS session, for a collection
                await response.aclose()


@lru_cache(maxsize=64)
def _address(origin: Origin) -> httpx.URL:
    return httpx.URL(scheme=origin.scheme, host=origin.host, port=origin.port)


def _reset_code(error: Exception) -> int | None:
    """Return the code with which the server reset a stream of HTTP/2; None for another error."""
    cause = error.args[0] if error.args else None
    return int(cause.error_code) if isinstance(cause, h2.events.StreamReset) else None


def _is_http2(error: Exception, code: int | None) -> bool:
    """Tell whether HTTP/1.1 may be understood where HTTP/2 was not: a broken session, or the server asks for it."""
    if code is not None:
        return code == h2.errors.ErrorCodes.HTTP_1_1_REQUIRED
    return isinstance(error, h2.exceptions.ProtocolError) or (
        isinstance(error, httpcore.ProtocolError) and "h2" in type(error.args[0] if error.args else None).__module__
    )


class Backend(httpcore.AsyncNetworkBackend):
    """Opens connections for one client and can drop them all."""

    def __init__(self, routes: Routes) -> None:
        self._routes = routes
        self._opened: list[Stream] = []

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Return a connection to a checked address of ``host`` (httpcore's interface). Raises ConnectFailed."""
        try:
            stream = await self._routes.connect(host, port)
        except NetworkError as error:
            raise ConnectFailed(error) from error
        stream.read_http()
        self._opened.append(stream)
        return stream

    def close(self) -> None:
        """Drop every connection, and forget it."""
        self.abort()
        self._opened.clear()

    def abort(self, protocol: str = "") -> None:
        """Drop every connection, or those that negotiated ``protocol`` (ALPN) alone."""
        for stream in self._opened:
            if not protocol or stream.protocol == protocol:
                stream.abort()
