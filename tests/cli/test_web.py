"""``web``: the dashboard in a real browser, and who may talk to it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from tests.cards import SAMPLES
from tests.cli.runner import ROOT
from tests.cli.stored import fill


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a dashboard on three stored cards."""
    pytest.importorskip("textual_serve")
    folder = tmp_path_factory.mktemp("web")
    fill(folder, SAMPLES)
    command = [sys.executable, "-m", "aui_tui", "web", "--port", "0", "--data-dir", str(folder / "data")]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        found = re.search(r"http://\S+:\d+/\S{32}(?=/ )", process.stderr.readline())
        assert found is not None
        yield found[0]
    finally:
        process.terminate()
        assert process.wait(60) == 0
        process.stderr.close()


def ask(address: str, path: str = "/", **headers: str) -> httpx.Response:
    return httpx.get(address + path, headers=headers, trust_env=False, verify=False)


def upgrade(**headers: str) -> dict[str, str]:
    key = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    return {**key, "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", **headers}


def test_only_the_own_page_is_answered(address: str) -> None:
    server = address.rpartition("/")[0]
    port = server.rpartition(":")[2]
    page = ask(address)
    assert page.status_code == 200
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert ask(address, Host=f"localhost:{port}").status_code == 200
    assert ask(address, Host=f"rebound.example:{port}").status_code == 403
    assert ask(address, Origin="https://evil.example").status_code == 403
    assert ask(address, "/ws", **upgrade(Origin="https://evil.example")).status_code == 403
    assert ask(address, "/ws", **upgrade()).status_code == 403
    assert ask(address, "/ws?width=999999999", **upgrade(Origin=server)).status_code == 403


def test_without_the_token_of_the_address_there_is_nothing(address: str) -> None:
    server, _, token = address.rpartition("/")
    for path in ("/", "/ws", "/static/", f"/{token[::-1]}/", f"/{token[::-1]}/ws", "/static/js/textual.js"):
        assert ask(server, path, **upgrade(Origin=server)).status_code == 404, path
    assert ask(address, "/static/js/textual.js").status_code == 200


LINE = 19
"""Pixels of a line of the browser's terminal."""


class Terminal:
    """What the browser's terminal has received, drawn by a terminal emulator of ours."""

    def __init__(self, page: Any) -> None:
        import pyte

        self.page = page
        self.screen = pyte.Screen(300, 100)
        self.stream = pyte.ByteStream(self.screen)
        page.on("websocket", lambda found: found.on("framereceived", self.received))

    def received(self, frame: str | bytes) -> None:
        if isinstance(frame, bytes):
            self.stream.feed(frame)

    async def shows(self, text: str) -> str:
        """Wait until the text stands on the screen, and return the screen."""
        shown = ""
        for _ in range(300):
            shown = "\n".join(line.rstrip() for line in self.screen.display)
            if text in shown:
                return shown
            await self.page.wait_for_timeout(100)
        raise AssertionError(f"{text!r} is not on the screen:\n{shown}")


@asynccontextmanager
async def opened(address: str) -> AsyncIterator[Terminal]:
    from playwright.async_api import async_playwright

    from aui_tui.tasks.browser import Browser, available, find

    missing = available()
    if missing:
        pytest.skip(f"needs {missing}")
    async with async_playwright() as driver:
        chromium = await driver.chromium.launch(executable_path=find(), chromium_sandbox=Browser().sandboxed)
        context = await chromium.new_context(viewport={"width": 1200, "height": 700})
        origin = address.rpartition("/")[0]
        await context.grant_permissions(["clipboard-read", "clipboard-write"], origin=origin)
        page = await context.new_page()
        terminal = Terminal(page)
        asked: list[str] = []
        page.on("response", lambda answer: asked.append(answer.url))
        await page.goto(address + "/")
        try:
            yield terminal
        finally:
            await chromium.close()
        assert not [url for url in asked if not url.startswith((address, "data:", "blob:"))]


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_keys_mouse_copy_and_resize_work_in_a_browser(address: str) -> None:
    async with opened(address) as terminal:
        page = terminal.page
        await terminal.shows(SAMPLES[0].host)
        box = await page.locator(".xterm-screen").bounding_box()
        assert box is not None
        wide = max(len(line.rstrip()) for line in terminal.screen.display)
        cell = box["width"] / (wide + 1)

        async def click(text: str) -> None:
            place = next((row, at) for row, line in enumerate(terminal.screen.display) if (at := line.find(text)) >= 0)
            await page.mouse.click(box["x"] + (place[1] + 1) * cell, box["y"] + (place[0] + 0.5) * LINE)

        await page.keyboard.press("u")  # before any click
        await terminal.shows("Every host that was scanned could be reached")
        await click("site")
        await terminal.shows(SAMPLES[0].host)
        await page.keyboard.press("y")
        await terminal.shows("opied")
        assert SAMPLES[0].host in await page.evaluate("navigator.clipboard.readText()")
        terminal.screen.reset()
        await page.set_viewport_size({"width": 800, "height": 700})
        shown = await terminal.shows("10 scans left")
        assert len(shown.splitlines()[0]) < wide - 20
