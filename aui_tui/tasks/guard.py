"""Do no harm: which requests of the browser may leave, decided before each of them, redirects included.

Documents are asked for by GET alone, over http and https alone, and where robots.txt lets everybody in. The user's
own header fields go to the scanned origin alone.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from aui_tui.engine.robots import Robots
from aui_tui.tasks.proxy import Allowance
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


class Stop:
    """A document that was not opened: its address, and why: ``robots``, ``method``, ``scheme`` or ``unknown``.

    ``page``: the tab that it was meant for, None for a frame in a page.
    """

    def __init__(self, url: str, why: str, method: str, page: Page | None) -> None:
        self.url = clean(url, 500)
        self.why = why
        self.method = clean(method, 20)
        self.page = page


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
        with suppress(Exception):
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
        with suppress(Exception):
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
            self.stops.append(Stop(url, why, method, page))
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
            elif not _is_document(request):
                await route.continue_()
            elif await self._denied(request.url, request.method, _page_of(request, main=True)):
                await route.abort("blockedbyclient")
            elif _page_of(request) in self._watched:
                await route.continue_()
            else:
                # a new tab: the redirects of its first load would not be seen, so it is loaded once it is watched
                self._begun.append(request.url)
                await route.fulfill(status=200, content_type="text/html", body="")


def _is_document(request: Request) -> bool:
    return request.resource_type == "document" or request.is_navigation_request()


def _page_of(request: Request, *, main: bool = False) -> Page | None:
    """Return the page that asks; None while a new tab is being made, and with ``main`` for a frame in a page."""
    try:
        frame = request.frame
        return None if main and frame.parent_frame is not None else frame.page
    except Exception:
        return None


async def _dismiss(dialog: Dialog) -> None:
    """Answer a dialog as somebody would who wants nothing of it; leaving a page is never held up."""
    with suppress(Exception):
        if dialog.type == "beforeunload":
            await dialog.accept()
        else:
            await dialog.dismiss()
