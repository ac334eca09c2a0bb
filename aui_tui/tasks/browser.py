"""The browser that tries the tasks: found on this machine, started once per process, with one way out.

Playwright drives it over a pipe, so that browser, helper processes and profile folder go when this process ends,
however it ends.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from aui_tui.errors import NoBrowser, Unavailable
from aui_tui.tasks.fence import Proxy, refuse
from aui_tui.text import clean

if TYPE_CHECKING:
    from playwright.async_api import Browser as Chromium
    from playwright.async_api import BrowserContext, Playwright

SYSTEM: Final = (
    "/usr/lib/chromium/chromium",
    "/usr/lib/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
"""Real binaries, asked before the names on the path: a distribution's wrapper adds flags, extensions and keys."""
NAMES: Final = ("google-chrome", "google-chrome-stable", "chromium", "chromium-browser", "chrome")
START_SECONDS: Final = 30.0
STOP_SECONDS: Final = 5.0
MEMORY: Final = 768_000_000
"""Bytes that the pages may hold together; above it the largest is ended: a picture of a megabyte can unpack to
gigabytes."""
LOOK_SECONDS: Final = 0.25

FEATURES_OFF: Final = (
    # what Playwright itself turns off; the last --disable-features on a command line is the one that counts
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
    # what the fence turns off besides
    "AsyncDns",
    "AutofillServerCommunication",
    "CertificateTransparencyComponentUpdater",
    "DialMediaRouteProvider",
    "DnsOverHttps",
    "InterestFeedContentSuggestions",
    "IsolateOrigins",
    "LCPPPrefetchSubresource",
    "LoadingPredictorPrefetch",
    "Prerender2",
    "SpeculationRulesPrefetchFuture",
    "Translate",
    "WebRtcHideLocalIpsWithMdns",
    "site-per-process",
)
FLAGS: Final = (
    f"--disable-features={','.join(FEATURES_OFF)}",
    "--disable-site-isolation-trials",
    "--disable-client-side-phishing-detection",
    "--disable-domain-reliability",
    "--disable-quic",
    "--dns-prefetch-disable",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--media-router=0",
    "--no-pings",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
)
"""One way out: names are looked up by the proxy alone, and nothing is sent that does not pass it."""


def find() -> Path | None:
    """Return a system Chromium or Chrome; None when there is none."""
    for place in SYSTEM:
        if os.access(place, os.X_OK):
            return Path(place)
    return next((Path(found) for name in NAMES if (found := shutil.which(name))), None)


def available() -> str:
    """Return what is missing before tasks can be run, empty when nothing is. Starts no browser."""
    from importlib.util import find_spec

    if find_spec("playwright") is None:
        return "the extra “browser” and a browser"
    return "" if find() is not None or _own_browsers() else "a browser"


def _own_browsers() -> bool:
    """Say whether Playwright has installed a Chromium of its own."""
    named = os.environ.get("PLAYWRIGHT_BROWSERS_PATH", "")
    home = Path.home()
    folders = [Path(named)] if named else [home / ".cache/ms-playwright", home / "Library/Caches/ms-playwright"]
    return any(folder.is_dir() and any(folder.glob("chromium*")) for folder in folders)


class Browser:
    """One headless browser for this process, started when it is first needed."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._driver: Playwright | None = None
        self._chromium: Chromium | None = None
        self._refusal = Proxy(refuse)
        self._watch: asyncio.Task[None] | None = None
        self.name = ""

    @property
    def sandboxed(self) -> bool:
        """False as root, where Chromium cannot set its sandbox up."""
        return not hasattr(os, "geteuid") or os.geteuid() != 0

    async def context(self, proxy_port: int, *, insecure: bool) -> BrowserContext:
        """Return a fresh context, without cookies, storage or permissions, whose only way out is the proxy.

        ``insecure``: certificates are left to the proxy. Raises NoBrowser, and Unavailable when it does not start.
        """
        chromium = await self._start()
        agent = f"Mozilla/5.0 ({_platform()}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{_major(chromium)}.0.0.0 "
        return await chromium.new_context(
            proxy={"server": f"http://127.0.0.1:{proxy_port}", "bypass": "<-loopback>"},
            user_agent=f"{agent}Safari/537.36",
            locale="en-US",
            viewport={"width": 1280, "height": 900},
            accept_downloads=False,
            service_workers="block",
            ignore_https_errors=insecure,
        )

    async def _start(self) -> Chromium:
        async with self._lock:
            if self._chromium is not None and self._chromium.is_connected():
                return self._chromium
            missing = available()
            if missing:
                raise NoBrowser(missing)
            await self._end()
            try:
                async with asyncio.timeout(START_SECONDS):
                    return await self._launch()
            except TimeoutError:
                await self._end()
                raise Unavailable(f"The browser did not start within {START_SECONDS:g} s.") from None

    async def _launch(self) -> Chromium:
        from playwright.async_api import Error, async_playwright

        await self._refusal.start()
        self._driver = await async_playwright().start()
        # what the browser sends for itself belongs to no context, and meets a proxy that refuses everything
        outside = {"server": f"http://127.0.0.1:{self._refusal.port}", "bypass": "<-loopback>"}
        path = own if os.path.exists(own := self._driver.chromium.executable_path) else find()  # noqa: ASYNC240, PTH110
        try:
            self._chromium = await self._driver.chromium.launch(
                executable_path=path,
                args=list(FLAGS),
                chromium_sandbox=self.sandboxed,
                proxy={"server": outside["server"], "bypass": outside["bypass"]},
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
            )
        except Error as error:
            await self._end()
            reason = clean(str(error).strip().splitlines()[0], 200)
            raise Unavailable(f"The browser {path} does not start: {reason}") from None
        self._watch = asyncio.create_task(_watch_memory(self._chromium))
        self.name = f"Chromium {clean(self._chromium.version, 40)}"
        return self._chromium

    async def aclose(self) -> None:
        """End the browser with its processes and its profile folder."""
        async with self._lock:
            await self._end()

    async def _end(self) -> None:
        chromium, self._chromium = self._chromium, None
        driver, self._driver = self._driver, None
        if self._watch is not None:
            self._watch.cancel()
        for closing in (chromium.close() if chromium else None, driver.stop() if driver else None):
            if closing is not None:
                with suppress(Exception):
                    await asyncio.wait_for(closing, STOP_SECONDS)
        await self._refusal.stop()


async def _watch_memory(chromium: Chromium) -> None:
    """End the largest page of ``chromium`` whenever its pages hold more than MEMORY; the run sees a crash."""
    while chromium.is_connected():
        if chromium.contexts:
            await asyncio.to_thread(_end_what_is_too_large)
        await asyncio.sleep(LOOK_SECONDS)


def _end_what_is_too_large() -> None:
    import psutil

    held: dict[psutil.Process, int] = {}
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if any(part.startswith("--type=renderer") for part in process.cmdline()):
                used = process.memory_full_info()
                held[process] = getattr(used, "pss", used.uss)  # macOS does not count shared pages by share
    if sum(held.values()) > MEMORY:
        with suppress(psutil.Error):
            max(held, key=lambda process: held[process]).kill()


def _major(chromium: Chromium) -> str:
    return chromium.version.partition(".")[0]


def _platform() -> str:
    """Return the platform as Chrome's reduced User-Agent names it."""
    import sys

    return "Macintosh; Intel Mac OS X 10_15_7" if sys.platform == "darwin" else "X11; Linux x86_64"
