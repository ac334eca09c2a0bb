"""A real browser as the control of a scan: what the installed Chromium gets for one page, behind the fence."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from aui_tui.errors import AuiError
from aui_tui.model.observations import BROWSER
from aui_tui.scan import robots, walls
from aui_tui.scan.policy import ScanPolicy
from aui_tui.scan.probes import Answer, Url
from aui_tui.scan.robots import Robots
from aui_tui.scan.target import DEFAULT_PORTS, Origin
from aui_tui.tasks.browser import Browser, available
from aui_tui.tasks.fence import Fence
from aui_tui.tasks.proxy import Allowance
from aui_tui.text import clean, path_of

if TYPE_CHECKING:
    from playwright.async_api import Page, Response

PAGE_SECONDS: Final = 12.0
"""Seconds for the page to begin to arrive."""
PASS_SECONDS: Final = 10.0
"""Seconds for a challenge to pass, as a person would wait."""
ALLOWANCE: Final = Allowance(requests=120, bytes=15_000_000, host=PAGE_SECONDS + PASS_SECONDS)


class InstalledChromium:
    """The installed Chromium, started when it is first asked; ``missing``: what is not installed, or empty."""

    def __init__(self) -> None:
        self._browser = Browser()
        self.name = ""

    @property
    def missing(self) -> str:
        """What must be installed before a page can be fetched."""
        return available()

    async def fetch(self, url: Url, access: ScanPolicy, user_agent: str = "") -> Answer:
        """Return what Chromium gets at ``url`` under its own name, or another ``user_agent``. Never raises for a peer.

        A challenge has PASS_SECONDS to pass; the page after it is what people get.
        """
        answer, began = Answer(BROWSER, url), time.monotonic()
        fence = Fence(self._browser, _empty_robots, str(url.origin), access, ALLOWANCE)
        try:
            context = await fence.fresh(user_agent)
            self.name = self._browser.name.partition(".")[0]
            tab = await context.new_page()
            await fence.attach(tab)
            fence.opening = str(url)
            await _open_page(tab, str(url), answer)
        except AuiError as error:
            answer.error, answer.detail = "connect", str(error).rstrip(".")
        finally:
            await fence.close()
        answer.elapsed_ms = round((time.monotonic() - began) * 1000)
        return answer

    async def aclose(self) -> None:
        """End the browser."""
        await self._browser.aclose()


async def _empty_robots(origin: str) -> Robots | None:
    """Return a robots.txt without rules: a browser that a person uses obeys none."""
    return robots.parse(b"")


async def _open_page(tab: Page, url: str, answer: Answer) -> None:
    """Open ``url`` in ``tab``, give a challenge time to pass, and put the last document into ``answer``."""
    documents: list[Response] = []

    def note(response: Response) -> None:
        with suppress(Exception):  # a frame that has gone
            if response.request.is_navigation_request() and response.frame is tab.main_frame:
                documents.append(response)

    tab.on("response", note)
    try:
        await tab.goto(url, wait_until="commit", timeout=1000 * PAGE_SECONDS)
    except Exception as error:  # Playwright has no one error for a page that does not load
        answer.error, answer.detail = "protocol", clean(str(error).strip().splitlines()[0], 200)
    due, number, read = time.monotonic() + PASS_SECONDS, 0, False
    while documents:
        if len(documents) > number:
            number = len(documents)
            read = await _copy_response(documents[-1], answer)
        challenged = walls.recognise(answer.status, answer.mapping(), answer.body, str(answer.url)) is not None
        if read and not challenged:
            return
        if time.monotonic() > due:
            if not read:
                answer.status, answer.error, answer.detail = 0, "protocol", "the browser did not get the page's body"
            return
        await asyncio.sleep(0.25)


async def _copy_response(response: Response, answer: Answer) -> bool:
    """Put ``response`` into ``answer``: status, fields and body as sent; return False where the body is gone."""
    try:
        headers, body = await response.all_headers(), await response.body()
    except Exception:  # a redirect, or a page that has gone, has no body
        headers, body = {}, None
    parts = urlsplit(response.url)
    port = parts.port or DEFAULT_PORTS.get(parts.scheme, 80)
    answer.url = Url(Origin(parts.scheme, parts.hostname or "", port), path_of(parts))
    answer.status, answer.body, answer.error, answer.detail = response.status, body or b"", "", ""
    answer.headers = [(name, value) for name, value in headers.items() if name != "content-encoding"]
    return body is not None
