"""The fence around the browser: what may leave it, decided per request at the network.

A page may load itself with any method until somebody presses or types in it (``READING``). From then until the next
document nothing but GET and HEAD leaves (``PRESSED``); a search may send its query. What is pressed without knowing
what it does is pressed while nothing leaves (``SHUT``). The one press that the user has asked for may send anything
(``ACTING``). Everything that ends here is noted in ``held``.

Two gates follow the phase: the browser's own interception, which sees methods and bodies, and the proxy, which also
meets what the interception does not see (unload beacons, sockets of workers). Documents are asked for by GET alone,
over http and https alone, and where robots.txt lets everybody in. Files of pages are asked for once a run, where HTTP
lets a cache keep them, and hints to prefetch end here.
"""

from __future__ import annotations

import asyncio
import json
import re
import ssl
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import Enum
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import unquote_plus, urlsplit

from aui_tui.errors import Unavailable
from aui_tui.model.observations import LIMIT_STATUS
from aui_tui.scan.network import Routes, Stream, ssl_context
from aui_tui.scan.policy import ScanPolicy
from aui_tui.scan.robots import Robots
from aui_tui.scan.target import DEFAULT_PORTS, Origin
from aui_tui.tasks.proxy import Allowance, Proxy, ProxyRequest, Refused, Usage, is_prefetch
from aui_tui.tasks.vocabulary import acts, opens
from aui_tui.text import clean

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, Dialog, Page, Request, Response, Route, WebSocketRoute

    from aui_tui.tasks.browser import Browser

SAFE: Final = frozenset({"GET", "HEAD"})
MAX_TABS: Final = 4
EVERYBODY: Final = "*"
CONTENT: Final = frozenset({"document", "script", "xhr", "fetch", "stylesheet"})
"""Kinds of requests that bring what a page says; pictures, fonts and beacons are not waited for."""
FETCHED: Final = CONTENT - {"document", "stylesheet"}
"""Kinds of requests without which a page may stay empty."""
CACHED: Final = frozenset({"script", "stylesheet", "font", "image"})
"""Kinds of requests whose answers are cached, since the interception turns the browser's own cache off."""
CACHED_BYTES: Final = 2_000_000
"""Bytes of the largest answer that is cached; all of them may hold ten times as many."""
ASKING: Final = frozenset({"xhr", "fetch"})
"""Kinds of requests that may carry a search."""
PATIENCE: Final = 2.5
"""Seconds for which an unanswered request counts as content that may still come; longer ones are held-open polls."""
TALK: Final = 0.5
"""The same for the next word of a WebSocket whose server spoke last."""
SOCKET: Final = 200_000
"""Bytes that one WebSocket may send."""
OUTSIDE: Final = frozenset({"mailto", "tel", "sms"})
"""Schemes of addresses that a page opens in another program; the network does not see them."""
PRESSES: Final = frozenset({"shut", "method", "acts"})
"""Reasons why a request ends here that a press, not an address, brings about."""
_NUMBERS: Final = re.compile(rb"[0-9a-f-]{16,}|[\d.]+")
"""What differs each time in what a page sends by the clock: times, counts and identifiers."""
OF_MESSAGE: Final = frozenset({"content-encoding", "content-length", "transfer-encoding", "connection", "set-cookie"})
"""Header fields of one message, not of the file that it carries."""
_UNCACHED: Final = re.compile(r"\bno-(?:store|cache)\b|\bmax-age=0*\b(?!\d)", re.IGNORECASE)
TUNNEL_SECONDS: Final = 10.0
"""Seconds after a request that may leave in which tunnels to its server are allowed."""
MOST: Final = 1000
"""Requests that are noted one by one."""
STAY: Final = """for (const kind of ["beforeunload", "pagehide", "unload", "visibilitychange"])
  addEventListener(kind, event => event.stopImmediatePropagation(), true);"""
"""Leaving a page runs nothing of it: what is sent then is not seen by the interception."""
WATCH: Final = """(() => {
  // How long nothing was added to or taken from the page, and how many timers of its loading are still to come: a page
  // is waited for by what it does. Timers of timers count three times, long ones and those of a clock do not, nor what
  // sets itself again and again, as moving dots do.
  const due = new Set();
  let changed = performance.now(), level = 0, fired = 0, running = null;
  new MutationObserver(() => { changed = performance.now(); }).observe(document, { childList: true, subtree: true });
  const begin = () => { fired = 0; };
  for (const kind of ["keydown", "pointerdown"]) addEventListener(kind, begin, true);
  Object.defineProperty(window, Symbol.for("watch"), { value: begin });
  window.setTimeout = new Proxy(setTimeout, { apply(set, self, [work, wait, ...given]) {
    const own = level + 1;
    const clock = wait > 1500 || (work === running && wait >= 400);
    if (typeof work !== "function" || own > 3 || clock) return Reflect.apply(set, self, [work, wait, ...given]);
    const id = Reflect.apply(set, self, [function (...args) {
      const before = [level, running];
      due.delete(id);
      fired += wait >= 50 ? 1 : 0;
      [level, running] = [own, work];
      try { return Reflect.apply(work, this, args); } finally { [level, running] = before; }
    }, wait, ...given]);
    due.add(id);
    return id;
  } });
  window.clearTimeout = new Proxy(clearTimeout, { apply(clear, self, given) {
    due.delete(given[0]);
    return Reflect.apply(clear, self, given);
  } });
  // what a canvas says is known from what is drawn on it
  for (const kind of ["fillText", "strokeText"]) {
    const drawing = CanvasRenderingContext2D.prototype;
    drawing[kind] = new Proxy(drawing[kind], { apply(draw, self, given) {
      const key = Symbol.for("painted"), said = self.canvas[key] || [];
      const { x, y } = self.getTransform().transformPoint(new DOMPoint(given[1], given[2]));
      const value = [...said, { text: String(given[0]), x, y }].slice(0, 300);
      Object.defineProperty(self.canvas, key, { value, configurable: true });
      return Reflect.apply(draw, self, given);
    } });
  }
  const rest = () => (window.length ? null : due.size && fired < 12 ? -1 : performance.now() - changed);
  Object.defineProperty(window, Symbol.for("rest"), { value: rest });
})();"""
"""Tells ``questions.js`` how long the page has been at rest, in milliseconds, below 0 while a timer is due; and what is
written on a canvas, and where.
"""

Fetch = Callable[[str], Awaitable[Robots | None]]
"""robots.txt of an origin: None when it could not be read, so that nothing may be opened there."""


class NetworkPhase(Enum):
    """What may leave: anything that a page loads, GET and HEAD, nothing, or anything at all."""

    READING = "reading"
    PRESSED = "pressed"
    SHUT = "shut"
    ACTING = "acting"

    @property
    def open(self) -> bool:
        """Nothing was pressed yet, or the user has asked for the press."""
        return self in (NetworkPhase.READING, NetworkPhase.ACTING)


def objection(phase: NetworkPhase, method: str, url: str, *, document: bool, query: bool = False) -> str:
    """Return why a request must not leave: ``shut``, ``method`` or ``acts``; empty when it may.

    ``document``: it asks for a page. ``query``: it is a search whose body carries the word that was typed.
    """
    if phase is NetworkPhase.SHUT:
        return "shut"
    if phase is NetworkPhase.ACTING:
        return ""
    if document and method != "GET":
        return "method"
    if phase is NetworkPhase.READING:
        return ""
    if acts(url):
        return "acts"
    return "" if method in SAFE or query else "method"


class CachedResponse(NamedTuple):
    """An answer with status 200 to a GET for a script, a style sheet, a font or a picture."""

    fields: Mapping[str, str]
    body: bytes


class ResponseCache:
    """The HTTP cache of one run, for all its tabs: what pages are made of is asked for once."""

    def __init__(self) -> None:
        self._stored: dict[str, CachedResponse] = {}
        self._left = 10 * CACHED_BYTES

    def get(self, request: Request) -> CachedResponse | None:
        """Return what answers ``request``; None where that must be asked for."""
        return self._stored.get(request.url) if request.resource_type in CACHED and request.method == "GET" else None

    async def store(self, request: Request) -> None:
        """Store the answer to ``request``, which has come, where RFC 9111 lets a cache use it again unasked."""
        response = await request.response()
        if (
            response is None
            or request.method != "GET"
            or response.status != HTTPStatus.OK
            or request.url in self._stored
        ):
            return
        fields = {name: value for name, value in response.headers.items() if name not in OF_MESSAGE}
        length = response.headers.get("content-length", "0")
        if not is_cacheable(fields) or (length.isdecimal() and int(length) > CACHED_BYTES):
            return
        body = await response.body()
        if len(body) <= min(CACHED_BYTES, self._left):
            self._left -= len(body)
            self._stored[request.url] = CachedResponse(fields, body)


def is_cacheable(fields: Mapping[str, str]) -> bool:
    """Say whether an answer may be used again at once, by its header ``fields``; dates are not weighed."""
    control, vary = fields.get("cache-control", ""), re.split(r"[\s,]+", fields.get("vary", "").lower())
    dated = "max-age" not in control.lower() and ("expires" in fields or "pragma" in fields)
    return not (dated or _UNCACHED.search(control) or {"*", "cookie"} & set(vary))


class Held(NamedTuple):
    """A request that ended in the fence.

    ``why``: ``shut``, ``method`` or ``acts`` after a press; ``robots``, ``scheme`` or ``unknown`` (robots.txt could not
    be read) for a page that must not be opened, and ``scheme`` for what another program would open, as a mail program;
    ``socket`` or ``limit``. ``document``: it asked for a page of a main frame, in the tab ``page``, None while that is
    being made. ``own``: it was meant for the scanned site. What a page is known to send by itself (``Fence.usual``) is
    none of them.
    """

    method: str
    url: str
    why: str
    document: bool
    page: Page | None
    own: bool
    framed: bool = False
    """It asked for a page of a frame."""

    @property
    def sends(self) -> bool:
        """A press asked for it."""
        return self.why in PRESSES or self.why in ("socket", "limit")


def pages_asked(held: Iterable[Held], *, framed: bool = False) -> list[str]:
    """Return the addresses of the pages that were asked for by GET in main frames, with ``framed`` in others."""
    asked = (one for one in held if one.method == "GET" and (one.framed if framed else one.document))
    return list(dict.fromkeys(one.url for one in asked))


class Fence:
    """The rules of one run, its way out (``proxy``) and its context in ``browser``.

    ``fetch`` reads robots.txt. The user's own header fields go to ``origin`` alone. Certificates of the user's own
    (the setting ``cacert``) are checked here, before the first tunnel to a server; the browser then takes any.
    """

    def __init__(
        self,
        browser: Browser,
        fetch: Fetch,
        origin: str,
        access: ScanPolicy,
        allowance: Allowance,
        usage: Usage | None = None,
        cache: ResponseCache | None = None,
    ) -> None:
        self._browser = browser
        self._fetch = fetch
        self._origin = origin
        self._access = access
        self._own = access.private_fields()
        self.secrets = access.secrets
        self.allowance = allowance
        self._routes = Routes(access)
        self._trusted: set[tuple[str, int]] = set()
        self._robots: dict[str, asyncio.Future[Robots | None]] = {}
        self._watched: dict[Page, asyncio.Future[None]] = {}
        self._begun: list[str] = []
        self._waiting: dict[Request, float] = {}
        self._passed: dict[tuple[str, int], float] = {}
        self.usage = usage or Usage()
        self._cache = cache if cache is not None else ResponseCache()
        self.proxy = Proxy(self._dial, allowance, self.usage)
        self.context: BrowserContext | None = None
        self._next: asyncio.Future[BrowserContext] | None = None
        """The context that is prepared."""
        self.crashed: list[Page] = []
        """The tabs that have crashed in the run."""
        self.phase = NetworkPhase.READING
        self.pressed = False
        """Something was pressed or typed in a page of this context."""
        self.opening = ""
        """The address that the run itself is opening."""
        self.query = ""
        """The word of a search by role that is under way: a body that carries it may leave."""
        self.loading = 0
        """Requests other than GET and HEAD, and frames of WebSockets, that a page sent by itself while it loaded."""
        self.writes = 0
        """Requests other than GET and HEAD that left after a press or an input."""
        self.withheld = 0
        """Requests and frames that ended in the fence, pages that must not be opened left out."""
        self.sockets: dict[WebSocketRoute, tuple[float, bool]] = {}
        """When each WebSocket of the page last carried something, and whether that came from its server."""
        self.held: list[Held] = []
        self.sent: set[int] = set()
        """What pages asked for by themselves while nothing was pressed, as ``told`` numbers it."""
        self.asked: set[int] = set()
        """What ended here after a press, the same way."""
        self.usual: set[int] = set()
        """What pages ask for by themselves, again and again: no press brings it about."""
        self.failures = 0
        """Scripts that did not come, and requests of scripts without an answer, or with a status of 429 or 5xx."""

    @property
    def exhausted(self) -> bool:
        """The run has used its requests, connections or bytes."""
        return self.proxy.exhausted

    @property
    def gone(self) -> bool:
        """The browser has ended."""
        browser = self.context.browser if self.context is not None else None
        return browser is not None and not browser.is_connected()

    def prepare(self) -> None:
        """Begin to make the next context, with a tab, while the one that is open is only tried: it will be left."""
        if self._next is None:
            self._next = asyncio.ensure_future(self._made(tab=True))

    async def fresh(self, user_agent: str = "") -> BrowserContext:
        """Close the context that is open, if one is, and return a fresh one behind the fence.

        Raises NoBrowser, Unavailable.
        """
        prepared, self._next = self._next, None
        _, context = await asyncio.gather(self._drop(), prepared or self._made(user_agent))
        browser = context.browser
        if prepared is not None and (user_agent or browser is None or not browser.is_connected()):
            await self._browser.close(context)
            context = await self._made(user_agent)
        self.context, self.pressed = context, False
        return context

    async def _made(self, user_agent: str = "", *, tab: bool = False) -> BrowserContext:
        await self.proxy.start()
        insecure = bool(self._access.cafile) or self._access.insecure
        context = await self._browser.context(self.proxy.port, insecure=insecure, user_agent=user_agent)
        await asyncio.gather(
            context.route("**/*", self._route),
            context.route_web_socket("**", self._socket),
            context.add_init_script(STAY + WATCH),
        )
        context.on("page", lambda page: asyncio.ensure_future(self._arrived(context, page)))
        context.on("dialog", lambda dialog: asyncio.ensure_future(_dismiss(dialog)))
        context.on("request", self._asked)
        context.on("response", self._answered)
        context.on("requestfinished", self._finished)
        context.on("requestfailed", self._failed)
        if tab:
            await context.new_page()
        return context

    async def _drop(self) -> None:
        old, self.context = self.context, None
        if old is not None:
            await self._browser.close(old)

    async def close(self) -> None:
        """Close everything but the browser."""
        await self.shut()
        prepared, self._next = self._next, None
        if prepared is not None:
            with suppress(Exception):  # the browser may have gone meanwhile
                await self._browser.close(await prepared)
        await self._drop()
        await self.proxy.stop()
        self._routes.close()

    async def press(self, *, workers: bool = False) -> None:
        """Let nothing but GET and HEAD leave from now on. ``workers``: what they hold open is cut."""
        self.pressed = True
        if self.phase is NetworkPhase.READING:
            self.phase = NetworkPhase.PRESSED
            self._passed.clear()
            if workers:
                await self.proxy.cut()

    async def shut(self) -> None:
        """Let nothing leave from now on, and end what is open."""
        self.phase = NetworkPhase.SHUT
        self.proxy.offline = True
        await self.proxy.cut()

    def reopen(self) -> None:
        """Let pages load again. Every tab that was pressed must be gone."""
        self.phase, self.proxy.offline, self.query = NetworkPhase.READING, False, ""
        self.held.clear()
        self.sockets.clear()

    @contextmanager
    def act(self) -> Iterator[None]:
        """Let everything leave meanwhile: the one press that the user has asked for."""
        phase, self.phase = self.phase, NetworkPhase.ACTING
        try:
            yield
        finally:
            self.phase = phase

    async def robots(self, origin: str) -> Robots | None:
        """Return robots.txt of ``origin``, read once."""
        pending = self._robots.get(origin)
        if pending is None:
            pending = self._robots[origin] = asyncio.ensure_future(self._fetch(origin))
        return await asyncio.shield(pending)

    async def objection(self, url: str) -> str:
        """Return why a document may not be opened: ``scheme``, ``robots``, ``unknown``, or nothing."""
        parts = urlsplit(url)
        if parts.scheme not in DEFAULT_PORTS:
            return "" if url == "about:blank" else "scheme"
        rules = await self.robots(f"{parts.scheme}://{parts.netloc}")
        if rules is None:
            return "unknown"
        return "" if rules.allows(EVERYBODY, url) else "robots"

    def pending(self, page: Page, *, within: float = PATIENCE, talk: float = TALK) -> bool:
        """Say whether ``page`` waits for content that it asked for at most ``within`` seconds ago.

        A WebSocket waits once it is opened, or has sent something, for its server's word, and ``talk`` for more.
        """
        now = time.monotonic()
        since = now - within
        talks = any(at >= (now - talk if heard else since) for at, heard in self.sockets.values())
        return talks or any(
            begun >= since and _asker(request)[0] is page for request, begun in list(self._waiting.items())
        )

    def _asked(self, request: Request) -> None:
        if request.resource_type in CONTENT and self.phase is not NetworkPhase.SHUT:
            self._waiting[request] = time.monotonic()

    def _answered(self, response: Response) -> None:
        request, status = response.request, response.status
        # a script reads the status of what it fetches; a script that is not there says nothing
        failed = status == LIMIT_STATUS or status >= (400 if request.resource_type == "script" else 500)
        if failed and request in self._waiting and request.resource_type in FETCHED:
            self.failures += 1

    async def _finished(self, request: Request) -> None:
        self._waiting.pop(request, None)
        if request.resource_type in CACHED and self.phase is not NetworkPhase.SHUT:
            with suppress(Exception):  # the page may have gone meanwhile
                await self._cache.store(request)

    def _failed(self, request: Request) -> None:
        waited = self._waiting.pop(request, None) is not None and request.resource_type in FETCHED
        if waited and "ERR_ABORTED" not in (request.failure or ""):
            self.failures += 1

    async def _arrived(self, context: BrowserContext, page: Page) -> None:
        page.on("crash", lambda tab: self.crashed.append(tab))
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
            await self._paused(session, event, page, framed=event.get("frameId") != main)

        def opened(event: Mapping[str, Any]) -> None:
            if urlsplit(event["url"]).scheme in OUTSIDE:
                self._hold("GET", event["url"], "scheme")

        session.on("Fetch.requestPaused", paused)
        session.on("Page.frameRequestedNavigation", opened)
        session.on("Page.windowOpen", opened)
        await session.send("Page.enable")
        pattern = {"urlPattern": "*"} if self._own else {"urlPattern": "*", "resourceType": "Document"}
        await session.send("Fetch.enable", {"patterns": [pattern]})
        with suppress(Exception):  # an older browser does not know the command
            await session.send("Page.setPrerenderingAllowed", {"isAllowed": False})

    async def _paused(self, session: CDPSession, event: Mapping[str, Any], page: Page, *, framed: bool) -> None:
        request, identity = event["request"], {"requestId": event["requestId"]}
        redirected = event.get("resourceType") == "Document" and event.get("redirectedRequestId")
        with suppress(Exception):  # the page may have gone meanwhile
            if redirected and await self._denied(request["url"], request["method"], page, framed=framed, led=True):
                await session.send("Fetch.failRequest", {**identity, "errorReason": "BlockedByClient"})
            else:
                await session.send("Fetch.continueRequest", {**identity, **self._fields(request)})

    def _fields(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the header fields to send where they differ from the browser's: on the scanned origin, and off it."""
        if not self._own:
            return {}
        names = {name.lower() for name, _ in self._own}
        others = [(name, value) for name, value in request["headers"].items() if name.lower() not in names]
        parts = urlsplit(request["url"])
        own = self._own if f"{parts.scheme}://{parts.netloc}" == self._origin else ()
        return {"headers": [{"name": name, "value": value} for name, value in (*others, *own)]}

    async def _denied(self, url: str, method: str, page: Page | None, *, framed: bool, led: bool = False) -> str:
        """Return why a document is refused, and note it. ``led``: a redirect leads there."""
        why = objection(self.phase, method, url, document=True)
        # a page to order on may lead to another of its kind
        free = opens(url) if acts(self.opening) else not acts(url)
        if led and self.phase is not NetworkPhase.ACTING and not free and opens(self.opening):
            why = why or "acts"
        why = why or await self.objection(url)
        if why:
            self._hold(method, url, why, None if framed else page, document=not framed, framed=framed)
        else:
            self._pass(method, url)
        return why

    async def _route(self, route: Route) -> None:
        request = route.request
        cached, prefetch = self._cache.get(request), is_prefetch(request.headers)
        self.usage.requests += cached is None and not prefetch and self.phase is not NetworkPhase.SHUT
        with suppress(Exception):  # the page may have gone meanwhile
            if self.exhausted or prefetch:
                await route.abort("blockedbyclient")
            elif request.resource_type == "document" or request.is_navigation_request():
                await self._document(route, request)
            elif self._ends(request):
                await route.abort("blockedbyclient")
            elif cached is not None:
                await route.fulfill(status=HTTPStatus.OK, headers=dict(cached.fields), body=cached.body)
            else:
                await route.continue_()

    async def _document(self, route: Route, request: Request) -> None:
        page, framed = _asker(request)
        why = await self._denied(request.url, request.method, page, framed=framed)
        if why in PRESSES:
            await route.fulfill(status=204)  # the page stays as it is
        elif why:
            await route.abort("blockedbyclient")
        elif page in self._watched:
            await route.continue_()
        else:
            # a new tab: the redirects of its first load would not be seen, so it is loaded once it is watched
            self._begun.append(request.url)
            await route.fulfill(status=200, content_type="text/html", body="")

    def _ends(self, request: Request) -> bool:
        """Say whether a request that is for no document ends here."""
        asks = (
            bool(self.query)
            and request.resource_type in ASKING
            and carries(request.post_data_buffer, request.url, self.query)
        )
        why = objection(self.phase, request.method, request.url, document=False, query=asks)
        fingerprint = told(request.method, request.url, request.post_data_buffer)
        if why:
            self._hold(request.method, request.url, why, fingerprint=fingerprint)
        else:
            self._pass(request.method, request.url, fingerprint=fingerprint)
        return bool(why)

    async def _socket(self, socket: WebSocketRoute) -> None:
        """Carry a WebSocket; what its page sends ends here once something was pressed, or after SOCKET bytes."""
        if not self.phase.open or self.exhausted:
            self._hold("FRAME", socket.url, "socket")
            await socket.close()
            return
        self.sockets[socket] = time.monotonic(), False
        server, sent = socket.connect_to_server(), 0

        async def said(message: str | bytes) -> None:
            nonlocal sent
            sent += len(message)
            fingerprint = told("FRAME", socket.url, message.encode() if isinstance(message, str) else message)
            if self.phase.open and sent <= SOCKET:
                self.loading += self.phase is NetworkPhase.READING
                self._note(fingerprint)
                self.sockets[socket] = time.monotonic(), False
                server.send(message)
                return
            self._hold("FRAME", socket.url, "limit" if sent > SOCKET else "socket", fingerprint=fingerprint)
            if sent > SOCKET:
                await socket.close()

        def heard(message: str | bytes) -> None:
            self.sockets[socket] = time.monotonic(), True
            socket.send(message)

        socket.on_message(lambda message: asyncio.ensure_future(said(message)))
        server.on_message(heard)

    def _hold(
        self,
        method: str,
        url: str,
        why: str,
        page: Page | None = None,
        *,
        document: bool = False,
        framed: bool = False,
        fingerprint: int = 0,
    ) -> None:
        held = Held(method, clean(url, 500), why, document, page, _host(url) == _host(self._origin), framed)
        self.withheld += held.sends
        if len(self.held) < MOST and fingerprint not in self.usual:
            self.held.append(held)
            self.asked.add(fingerprint)

    def _note(self, fingerprint: int) -> None:
        """Keep what a page asked for by itself."""
        if self.phase is NetworkPhase.READING and len(self.sent) < MOST:
            self.sent.add(fingerprint)

    def _pass(self, method: str, url: str, fingerprint: int = 0) -> None:
        parts = urlsplit(url)
        self._note(fingerprint)
        if self.phase is NetworkPhase.READING:
            self.loading += method not in SAFE
        else:
            self.writes += method not in SAFE
        if parts.scheme == "https":
            self._passed[parts.hostname or "", parts.port or 443] = time.monotonic()

    async def _dial(self, request: ProxyRequest) -> Stream:
        """Return a connection to an address that a scan may dial. Raises Refused, InvalidHost, NetworkError."""
        scheme = "http" if request.path or request.port == DEFAULT_PORTS["http"] else "https"
        origin = Origin(scheme, request.host, request.port)
        self._access.check(origin)
        if not self._passes(request):
            raise Refused(self.phase.value)
        if request.path and request.document and await self.objection(f"{origin}{request.path}"):
            raise Refused("robots.txt")
        if not request.path and self._access.cafile and not self._access.insecure:
            await self._check_certificate(request.host, request.port)
        try:
            return await self._routes.connect(request.host, request.port)
        except Unavailable as error:
            raise Refused(str(error)) from None

    def _passes(self, request: ProxyRequest) -> bool:
        """Say whether the phase lets a connection be made: of what the interception did not see, only what may leave.

        A tunnel to the port of plain HTTP carries a WebSocket; any other leads where a request that may leave goes.
        """
        if self.phase.open:
            return True
        if request.path:
            url = f"http://{request.host}:{request.port}{request.path}"
            return request.method in SAFE | {"OPTIONS"} or bool(self.query and not acts(url))
        return time.monotonic() - self._passed.get((request.host, request.port), -TUNNEL_SECONDS) < TUNNEL_SECONDS

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


def carries(body: bytes | None, url: str, query: str) -> bool:
    """Say whether a request holds the word that is searched for, as it is or as JSON or a form write it."""
    text = f"{(body or b'').decode('utf-8', 'replace')} {urlsplit(url).query}".casefold()
    word = query.casefold()
    return word in text or word in unquote_plus(text) or json.dumps(word)[1:-1] in text


def told(method: str, url: str, body: bytes | None) -> int:
    """Return a number that is the same for requests that say the same, numbers in address and body aside."""
    return hash((method, _NUMBERS.sub(b"", url.encode()), _NUMBERS.sub(b"", body or b"")))


def _host(url: str) -> str:
    return (urlsplit(url).hostname or "").removeprefix("www.")


def _asker(request: Request) -> tuple[Page | None, bool]:
    """Return the page that asks, and whether a frame in it does; None while a new tab is made, and once it has gone."""
    try:
        return request.frame.page, request.frame.parent_frame is not None
    except Exception:  # Playwright has no one error for it
        return None, False


async def _dismiss(dialog: Dialog) -> None:
    """Dismiss dialogs; accept beforeunload."""
    with suppress(Exception):  # the page may have gone with its dialog
        if dialog.type == "beforeunload":
            await dialog.accept()
        else:
            await dialog.dismiss()
