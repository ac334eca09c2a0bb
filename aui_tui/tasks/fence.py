"""The fence around the browser: which requests may leave it, and the only way out.

The guard decides before each request, redirects included: documents are asked for by GET alone, over http and https
alone, and where robots.txt lets everybody in. The user's own header fields go to the scanned origin alone.

The way out is a forward proxy on loopback that dials what a scan may dial, in the way a scan does: HTTP in absolute
form and CONNECT (RFC 9110 7.1, 9.3.6), one request per connection. Names are looked up, addresses checked and pinned by
the scan's own ``Routes``.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

from aui_tui.errors import AuiError, Unavailable
from aui_tui.scan.network import NetworkError, Routes, Stream, ssl_context
from aui_tui.scan.policy import ScanPolicy
from aui_tui.scan.robots import Robots
from aui_tui.scan.target import DEFAULT_PORTS, Origin
from aui_tui.text import clean

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, Dialog, Page, Request, Response, Route


WEB: Final = ("http", "https")
MAX_TABS: Final = 4
EVERYBODY: Final = "*"
CONTENT: Final = frozenset({"document", "script", "xhr", "fetch", "stylesheet"})
"""Kinds of requests that bring what a page says; pictures, fonts and beacons are not waited for."""
FETCHED: Final = CONTENT - {"document", "stylesheet"}
"""Kinds of requests without which a page may stay empty."""
PATIENCE: Final = 2.5
"""Seconds for which an unanswered request counts as content that may still come; longer ones are held-open polls."""

Fetch = Callable[[str], Awaitable[Robots | None]]
"""robots.txt of an origin: None when it could not be read, so that nothing may be opened there."""


class Stop(NamedTuple):
    """A document that was not opened: its address, and why: ``robots``, ``method``, ``scheme`` or ``unknown``.

    ``page``: the tab that it was meant for, None for a frame in a page.
    """

    url: str
    why: str
    page: Page | None


class Guard:
    """The rules of one run. ``fetch`` reads robots.txt; ``own`` are header fields for ``origin`` alone."""

    def __init__(self, fetch: Fetch, origin: str, own: tuple[tuple[str, str], ...], allowance: Allowance) -> None:
        self._fetch = fetch
        self._origin = origin
        self._own = own
        self._allowance = allowance
        self._robots: dict[str, asyncio.Future[Robots | None]] = {}
        self._watched: dict[Page | None, asyncio.Future[None]] = {}
        self._begun: list[str] = []
        self._posts = False
        self._waiting: dict[Request, float] = {}
        self.offline = False
        self.requests = 0
        self.withheld = 0
        """Requests that were not let out while the browser was offline."""
        self.failures = 0
        """Requests of scripts that brought nothing: no answer, or a status of 429 or 5xx."""
        self.stops: list[Stop] = []

    @property
    def exhausted(self) -> bool:
        """The run has used its requests."""
        return self.requests > self._allowance.requests

    async def robots(self, origin: str) -> Robots | None:
        """Return robots.txt of ``origin``, read once."""
        pending = self._robots.get(origin)
        if pending is None:
            pending = self._robots[origin] = asyncio.ensure_future(self._fetch(origin))
        return await asyncio.shield(pending)

    async def may_open(self, url: str) -> bool:
        """Say whether a document may be opened."""
        return await self.objection(url) == ""

    async def objection(self, url: str) -> str:
        """Return why a document may not be opened: ``scheme``, ``robots``, ``unknown``, or nothing."""
        parts = urlsplit(url)
        if parts.scheme not in WEB:
            return "" if url == "about:blank" else "scheme"
        found = await self.robots(f"{parts.scheme}://{parts.netloc}")
        if found is None:
            return "unknown"
        return "" if found.allows(EVERYBODY, url) else "robots"

    def pending(self, page: Page, *, within: float = PATIENCE) -> bool:
        """Say whether ``page`` waits for content that it asked for at most ``within`` seconds ago."""
        since = time.monotonic() - within
        return any(begun >= since and _page_of(request) is page for request, begun in list(self._waiting.items()))

    @contextmanager
    def one_post(self) -> Iterator[None]:
        """Let documents be asked for by POST meanwhile: the one press that the user has asked for."""
        self._posts = True
        try:
            yield
        finally:
            self._posts = False

    async def watch(self, context: BrowserContext) -> None:
        """Stand before every request of ``context``, and close what opens by itself."""
        await context.route("**/*", self._route)
        context.on("page", lambda page: asyncio.ensure_future(self._arrived(context, page)))
        context.on("dialog", lambda dialog: asyncio.ensure_future(_dismiss(dialog)))
        context.on("request", self._asked)
        context.on("response", self._answered)
        context.on("requestfinished", self._finished)
        context.on("requestfailed", self._failed)

    def _asked(self, request: Request) -> None:
        if request.resource_type in CONTENT and not self.offline:
            self._waiting[request] = time.monotonic()

    def _answered(self, response: Response) -> None:
        limited = response.status == 429 or response.status >= 500
        if limited and response.request in self._waiting and response.request.resource_type in FETCHED:
            self.failures += 1

    def _finished(self, request: Request) -> None:
        self._waiting.pop(request, None)

    def _failed(self, request: Request) -> None:
        waited = self._waiting.pop(request, None) is not None and request.resource_type in FETCHED
        if waited and "ERR_ABORTED" not in (request.failure or ""):
            self.failures += 1

    async def _arrived(self, context: BrowserContext, page: Page) -> None:
        with suppress(Exception):  # the tab may have gone meanwhile
            if len(context.pages) > MAX_TABS:
                await page.close()
            else:
                await self.attach(page)
                if self._begun:
                    await page.goto(self._begun.pop(0), wait_until="commit")

    async def attach(self, page: Page) -> None:
        """Watch the redirects of ``page``, which a route does not see, and give the scanned origin its own fields."""
        pending = self._watched.get(page)
        if pending is None:
            pending = self._watched[page] = asyncio.ensure_future(self._attach(page))
        await asyncio.shield(pending)

    async def _attach(self, page: Page) -> None:
        session = await page.context.new_cdp_session(page)
        tree = await session.send("Page.getFrameTree")
        main = tree["frameTree"]["frame"]["id"]

        async def paused(event: Mapping[str, Any]) -> None:
            await self._paused(session, event, page if event.get("frameId") == main else None)

        session.on("Fetch.requestPaused", paused)
        pattern = {"urlPattern": "*"} if self._own else {"urlPattern": "*", "resourceType": "Document"}
        await session.send("Fetch.enable", {"patterns": [pattern]})
        with suppress(Exception):  # an older browser does not know the command
            await session.send("Page.setPrerenderingAllowed", {"isAllowed": False})

    async def _paused(self, session: CDPSession, event: Mapping[str, Any], page: Page | None) -> None:
        request, known = event["request"], {"requestId": event["requestId"]}
        document = event.get("resourceType") == "Document"
        with suppress(Exception):  # the page may have gone meanwhile
            redirected = bool(event.get("redirectedRequestId"))
            if document and redirected and await self._denied(request["url"], request["method"], page):
                await session.send("Fetch.failRequest", {**known, "errorReason": "BlockedByClient"})
            else:
                await session.send("Fetch.continueRequest", {**known, **self._fields(request)})

    def _fields(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the header fields to send where they differ from the browser's: on the scanned origin, and off it."""
        if not self._own:
            return {}
        names = {name.lower() for name, _ in self._own}
        kept = [(name, value) for name, value in request["headers"].items() if name.lower() not in names]
        parts = urlsplit(request["url"])
        own = self._own if f"{parts.scheme}://{parts.netloc}" == self._origin else ()
        return {"headers": [{"name": name, "value": value} for name, value in (*kept, *own)]}

    async def _denied(self, url: str, method: str, page: Page | None) -> bool:
        """Say whether a document is refused, and note why."""
        posted = method == "POST" and self._posts
        why = "method" if method != "GET" and not posted else await self.objection(url)
        if why:
            self.stops.append(Stop(clean(url, 500), why, page))
        return bool(why)

    async def _route(self, route: Route) -> None:
        request = route.request
        if self.offline:
            self.withheld += 1
        else:
            self.requests += 1
        with suppress(Exception):  # the page may have gone meanwhile
            if self.offline or self.exhausted:
                await route.abort("blockedbyclient")
            elif request.resource_type != "document" and not request.is_navigation_request():
                await route.continue_()
            elif await self._denied(request.url, request.method, _page_of(request, main=True)):
                await route.abort("blockedbyclient")
            elif _page_of(request) in self._watched:
                await route.continue_()
            else:
                # a new tab: the redirects of its first load would not be seen, so it is loaded once it is watched
                self._begun.append(request.url)
                await route.fulfill(status=200, content_type="text/html", body="")


def _page_of(request: Request, *, main: bool = False) -> Page | None:
    """Return the page that asks; None while a new tab is being made, and with ``main`` for a frame in a page."""
    try:
        frame = request.frame
        return None if main and frame.parent_frame is not None else frame.page
    except Exception:  # a frame that has gone has no page
        return None


async def _dismiss(dialog: Dialog) -> None:
    """Answer a dialog as somebody would who wants nothing of it; leaving a page is never held up."""
    with suppress(Exception):  # the page may have gone with its dialog
        if dialog.type == "beforeunload":
            await dialog.accept()
        else:
            await dialog.dismiss()


HEAD: Final = 65536
"""Largest head of a request or an answer in bytes."""
CHUNK: Final = 65536
PER_HOP: Final = frozenset({"connection", "keep-alive", "proxy-connection", "proxy-authorization", "te", "upgrade"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What one run may use: requests, bytes received, seconds in all, per task, and until a page settles."""

    requests: int = 300
    bytes: int = 30_000_000
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
    """A forward proxy on a loopback port. ``dial`` returns a connection or raises Refused; ``allowance`` ends it."""

    def __init__(self, dial: Dial, allowance: Allowance | None = None) -> None:
        self._dial = dial
        self._allowance = allowance or Allowance()
        self._server: asyncio.Server | None = None
        self._serving: set[asyncio.Task[None]] = set()
        self.port = 0
        self.offline = False
        """While true, nothing passes and every connection is closed."""
        self.connections = 0
        self.bytes = 0

    @property
    def exhausted(self) -> bool:
        """The run has used its bytes or its connections."""
        return self.bytes > self._allowance.bytes or self.connections > self._allowance.requests

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
                self.connections += 1
                try:
                    if self.offline or self.exhausted:
                        raise Refused
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
    return int(length) if length.isdecimal() else 0


class Dialler:
    """Connections for the proxy by the rules of a scan; ``may_open`` is asked about documents seen in plain text.

    With certificates of the user's own (``--cacert``), or none asked for, the browser takes any certificate and each
    server's is checked here, before its first tunnel.
    """

    def __init__(self, access: ScanPolicy, routes: Routes, may_open: Callable[[str], Awaitable[bool]]) -> None:
        self._access = access
        self._routes = routes
        self._may_open = may_open
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
        if wanted.path and wanted.document and not await self._may_open(f"{origin}{wanted.path}"):
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
