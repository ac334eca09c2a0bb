"""A headless Chromium, driven over its DevTools protocol through a pipe (JSON messages that end with a zero byte)."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
MISSING = "needs Chromium (Debian: apt-get install chromium)"
PATIENCE: Final = 60.0
"""Seconds for one answer of the browser."""
OPTIONS: Final = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-proxy-server",
    "--no-first-run",
    "--remote-debugging-pipe",
)


class Browser:
    """One page of a running browser."""

    def __init__(self, to: int, back: int) -> None:
        self._to = to
        self._back = back
        self._number = 0
        self._rest = b""
        self._session: dict[str, str] = {}
        self._events: list[dict[str, Any]] = []
        target = self.devtools("Target.createTarget", url="about:blank")["targetId"]
        attached = self.devtools("Target.attachToTarget", targetId=target, flatten=True)
        self._session = {"sessionId": attached["sessionId"]}
        for domain in ("Page", "Runtime", "Log"):
            self.devtools(f"{domain}.enable")
        self.devtools("Page.setLifecycleEventsEnabled", enabled=True)

    def devtools(self, method: str, **parameters: Any) -> Any:
        """Return the result of one command of the protocol."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters, **self._session}
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            self._events.append(answer)
        assert "error" not in answer, (method, answer)
        return answer["result"]

    def _next(self) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._back], [], [], max(0, end - time.monotonic()))
            part = os.read(self._back, 1 << 16) if ready else b""
            assert part, "the browser does not answer"
            self._rest += part
        message, _, self._rest = self._rest.partition(b"\0")
        found = json.loads(message)
        assert isinstance(found, dict)
        return found

    def open(self, url: str) -> None:
        """Load a page; return when it is whole."""
        loader = self.devtools("Page.navigate", url=url)["loaderId"]
        while not any(_is_whole(event, loader) for event in self._events):
            self._events.append(self._next())

    def run(self, script: str, *arguments: Any) -> Any:
        """Run the body of a function in the page and return what it returns."""
        return self._value(f"(function() {{{script}\n}})(...{json.dumps(arguments)})")

    def wait_for(self, script: str, *arguments: Any) -> Any:
        """Run a function whose last argument is a callback, and return what that is called with."""
        call = f"(function() {{{script}\n}})(...{json.dumps(arguments)}, done)"
        return self._value(f"new Promise(done => {call})")

    def _value(self, expression: str) -> Any:
        found = self.devtools("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def write(self, text: str) -> None:
        """Type ``text`` into what has the focus, then press Enter."""
        self.devtools("Input.insertText", text=text)
        enter = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13}
        self.devtools("Input.dispatchKeyEvent", type="keyDown", text="\r", **enter)
        self.devtools("Input.dispatchKeyEvent", type="keyUp", **enter)

    def appearance(self, scheme: str, width: int, height: int = 900) -> None:
        """Set the colour scheme (``light`` or ``dark``) and the size of the page in CSS pixels."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.devtools("Emulation.setEmulatedMedia", features=features)
        self.devtools(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )

    def picture(self, path: Path) -> None:
        """Write a picture of the whole page."""
        found = self.devtools("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(found["data"]))

    def messages(self) -> list[str]:
        """Return what the browser reported since the last call: faults of pages, and what they logged."""
        self.devtools("Runtime.evaluate", expression="1")
        events, self._events = self._events, []
        found = [event["params"]["entry"]["text"] for event in events if event.get("method") == "Log.entryAdded"]
        reported = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown")
        return found + [str(event["params"]) for event in events if event.get("method") in reported]


def _is_whole(event: dict[str, Any], loader: str) -> bool:
    found = event.get("params", {})
    return event.get("method") == "Page.lifecycleEvent" and (found["name"], found["loaderId"]) == ("load", loader)


@contextlib.contextmanager
def browser(*options: str) -> Iterator[Browser]:
    """Run a browser for the block, with further command-line ``options``."""
    assert BROWSER is not None
    take, to = os.pipe()
    back, give = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        # the browser reads commands from descriptor 3 and writes answers to descriptor 4
        command = ["bash", "-c", f'exec "$0" "$@" 3<&{take} 4>&{give}', BROWSER, *OPTIONS, *options]
        process = subprocess.Popen(
            [*command, f"--user-data-dir={profile}"], pass_fds=(take, give), stderr=subprocess.DEVNULL
        )
        os.close(take)
        os.close(give)
        try:
            yield Browser(to, back)
        finally:
            os.close(to)
            os.close(back)
            process.terminate()
            process.wait(60)
