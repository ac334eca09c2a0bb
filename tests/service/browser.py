"""A headless Chromium, driven over the WebDriver protocol (W3C WebDriver, JSON over HTTP)."""

from __future__ import annotations

import base64
import contextlib
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

DRIVER = shutil.which("chromedriver")
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
MISSING = "needs Chromium and its driver (Debian: apt-get install chromium chromium-driver)"


class Browser:
    """One session."""

    def __init__(self, client: httpx.Client, session: str) -> None:
        self._client = client
        self._session = session

    def ask(self, method: str, path: str, members: dict[str, Any] | None = None) -> Any:
        """Return the value of one WebDriver command."""
        answer = self._client.request(method, f"/session/{self._session}{path}", json=members)
        value = answer.json()["value"]
        assert answer.status_code == 200, value
        return value

    def open(self, url: str) -> None:
        """Load a page."""
        self.ask("POST", "/url", {"url": url})

    def run(self, script: str, *arguments: Any) -> Any:
        """Run the body of a function in the page and return what it returns."""
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait_for(self, script: str, *arguments: Any) -> Any:
        """Run a function whose last argument is a callback, and return what that is called with."""
        return self.ask("POST", "/execute/async", {"script": script, "args": list(arguments)})

    def appearance(self, scheme: str, width: int, height: int = 900) -> None:
        """Set the colour scheme (``light`` or ``dark``) and the size of the page in CSS pixels."""
        self._devtools("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self._devtools(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
        )

    def picture(self, path: Path) -> None:
        """Write a picture of the whole page."""
        found = self._devtools("Page.captureScreenshot", {"captureBeyondViewport": True})
        path.write_bytes(base64.b64decode(found["data"]))

    def messages(self) -> list[str]:
        """Return what the browser's console was told since the last call."""
        return [entry["message"] for entry in self.ask("POST", "/se/log", {"type": "browser"})]

    def _devtools(self, command: str, parameters: dict[str, Any]) -> Any:
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """Run a browser for the block."""
    assert DRIVER is not None
    driver = subprocess.Popen([DRIVER, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert driver.stdout is not None
        port = next(
            found[1] for line in driver.stdout if (found := re.search(r"started successfully on port (\d+)", line))
        )
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=90) as client:
            options = {
                "binary": BROWSER,
                "args": [
                    "--headless=new",
                    "--no-sandbox",
                    "--disable-gpu",
                    "--disable-dev-shm-usage",
                    "--no-proxy-server",
                ],
            }
            wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
            answer = client.post("/session", json={"capabilities": {"alwaysMatch": wanted}})
            session = answer.json()["value"].get("sessionId")
            assert session, answer.text
            made = Browser(client, session)
            yield made
            client.delete(f"/session/{session}")
    finally:
        driver.terminate()
        driver.wait(20)
