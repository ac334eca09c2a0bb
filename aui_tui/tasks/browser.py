"""The browser that tries the tasks: found on this machine, started once per process, with one way out.

Playwright drives it over a pipe, so that browser, helper processes and profile folder go when this process ends,
however it ends.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from aui_tui.errors import NoBrowser, Unavailable
from aui_tui.process import is_root
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
CLOSE_SECONDS: Final = 5.0
STOP_SECONDS: Final = 5.0
MEMORY: Final = 768_000_000
"""Bytes that the pages may hold together; above it the largest is ended: a picture of a megabyte can unpack to
gigabytes."""
LOOK_SECONDS: Final = 0.25
PROFILES: Final = "playwright_chromiumdev_profile-"
"""How the driver names the folders of profiles."""
SIGN: Final = "aui-tui"

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
    "DocumentReporting",
    "FetchLaterAPI",
    "InterestFeedContentSuggestions",
    "IsolateOrigins",
    "LCPPPrefetchSubresource",
    "LoadingPredictorPrefetch",
    "NetworkErrorLogging",
    "Prerender2",
    "Reporting",
    "SpeculationRulesPrefetchFuture",
    "Translate",
    "WebRtcHideLocalIpsWithMdns",
    "site-per-process",
    # pages of the browser's own window, which would be loaded beside each page: a process and 60 MB
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
    "WebUIOmniboxPopup",
)
FEATURES_ON: Final = (
    # what Playwright itself turns on; the last --enable-features on a command line is the one that counts
    "CDPScreenshotNewSurface",
    "SkipListAccountsWithoutGaiaCookies",
    # tools that a page registers for agents, which this browser shows and does not call
    "WebMCP",
    # one process less, 27 MB; on Linux the network process has no sandbox of its own
    "NetworkServiceInProcess2",
)
FLAGS: Final = (
    f"--disable-features={','.join(FEATURES_OFF)}",
    f"--enable-features={','.join(FEATURES_ON)}",
    "--disable-site-isolation-trials",
    "--disable-client-side-phishing-detection",
    "--disable-domain-reliability",
    "--disable-quic",
    "--disable-shared-workers",
    "--dns-prefetch-disable",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--media-router=0",
    "--no-pings",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
)
"""One way out: names are looked up by the proxy alone, and nothing is sent that does not pass it."""
DRIVER_OPTIONS: Final = "--max-semi-space-size=1"
"""What the driver, a Node program, starts with: it keeps 20 MB less garbage."""
NO_PROXY: Final = "http://nowhere.invalid"
"""The way out of what the browser sends for itself: a name that it cannot look up."""


def find() -> Path | None:
    """Return a system Chromium or Chrome; None when there is none."""
    for place in SYSTEM:
        if os.access(place, os.X_OK):
            return Path(place)
    return next((Path(path) for name in NAMES if (path := shutil.which(name))), None)


def available() -> str:
    """Return what is missing before tasks can be run, empty when nothing is. Starts no browser."""
    from importlib.util import find_spec

    if find_spec("playwright") is None:
        return "the extra “browser” and a browser"
    return "" if find() is not None or _own_browsers() else "a browser"


def _own_browsers() -> bool:
    """Say whether Playwright has installed a Chromium of its own."""
    named = os.environ.get("PLAYWRIGHT_BROWSERS_PATH", "")
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - pathlib raises where no home is known
    folders = [Path(named)] if named else [home / ".cache/ms-playwright", home / "Library/Caches/ms-playwright"]
    return any(folder.is_dir() and any(folder.glob("chromium*")) for folder in folders)


@dataclass(eq=False)
class _Process:
    """A browser that runs, with the driver that started it."""

    driver: Playwright
    chromium: Chromium
    pid: int
    watch: asyncio.Task[None]

    async def end(self, *, hangs: bool = False) -> None:
        """End the browser with its processes and its profile folder; one that ``hangs`` is killed."""
        self.watch.cancel()
        if hangs or not await _ends(self.chromium.close()):
            await asyncio.to_thread(_put_an_end, self.pid)
        await _ends(self.driver.stop())


class Browser:
    """One headless browser for this process, started when it is first needed.

    One that does not open or close a page in time is ended, with every run in it, and the next run gets another.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._process: _Process | None = None
        self.name = ""

    @property
    def sandboxed(self) -> bool:
        """False as root, where Chromium cannot set its sandbox up."""
        return not is_root()

    @property
    def contexts(self) -> int:
        """The contexts that are open."""
        return len(self._process.chromium.contexts) if self._process is not None else 0

    async def context(self, proxy_port: int, *, insecure: bool, user_agent: str = "") -> BrowserContext:
        """Return a fresh context, without cookies, storage or permissions, whose only way out is the proxy.

        ``insecure``: certificates are left to the proxy. ``user_agent``: instead of the browser's own. Raises
        NoBrowser, and Unavailable when it does not start.
        """
        process = await self._started()
        try:
            async with asyncio.timeout(START_SECONDS):
                return await process.chromium.new_context(
                    proxy={"server": f"http://127.0.0.1:{proxy_port}", "bypass": "<-loopback>"},
                    user_agent=user_agent or _user_agent(process.chromium),
                    locale="en-US",
                    viewport={"width": 1280, "height": 900},
                    accept_downloads=False,
                    service_workers="block",
                    ignore_https_errors=insecure,
                )
        except BaseException as error:  # also cancelled: the context may open all the same
            await self._end(process)
            if isinstance(error, TimeoutError):
                raise Unavailable(f"The browser did not open a page within {START_SECONDS:g} s.") from None
            raise

    async def close(self, context: BrowserContext) -> None:
        """Close a context, within CLOSE_SECONDS."""
        process = self._process
        # never cancelled: the driver would give the close up, and the context would stay
        closing = asyncio.ensure_future(context.close())
        closing.add_done_callback(lambda done: done.cancelled() or done.exception())
        closed, _ = await asyncio.wait((closing,), timeout=CLOSE_SECONDS)
        if not closed and process is not None and context.browser is process.chromium:
            await self._end(process)

    async def _end(self, process: _Process) -> None:
        """End a browser that hangs, once."""
        if self._process is process:
            self._process = None
            await process.end(hangs=True)

    async def _started(self) -> _Process:
        """Return the browser, started where there is none, or where it has gone."""
        async with self._lock:
            process = self._process
            if process is not None and not process.chromium.is_connected():
                self._process = None
                await process.end()
            if self._process is None:
                self._process = await self._start()
            return self._process

    async def _start(self) -> _Process:
        missing = available()
        if missing:
            raise NoBrowser(missing)
        await asyncio.to_thread(sweep)
        try:
            async with asyncio.timeout(START_SECONDS):
                process = await _launch(sandboxed=self.sandboxed)
        except TimeoutError:
            raise Unavailable(f"The browser did not start within {START_SECONDS:g} s.") from None
        self.name = f"Chromium {clean(process.chromium.version, 40)}"
        return process

    async def aclose(self) -> None:
        """End the browser with its processes and its profile folder."""
        async with self._lock:
            process, self._process = self._process, None
            if process is not None:
                await process.end()


async def _launch(*, sandboxed: bool) -> _Process:
    """Start a driver and a browser. Raises Unavailable."""
    from playwright.async_api import Error, async_playwright

    os.environ.setdefault("NODE_OPTIONS", DRIVER_OPTIONS)
    driver = await async_playwright().start()
    path = own if os.path.exists(own := driver.chromium.executable_path) else find()  # noqa: ASYNC240, PTH110  # one look at a local file
    try:
        chromium = await driver.chromium.launch(
            executable_path=path,
            args=list(FLAGS),
            # without it a page that changes its address without end floods the browser, as it cannot do elsewhere
            ignore_default_args=["--disable-ipc-flooding-protection"],
            chromium_sandbox=sandboxed,
            proxy={"server": NO_PROXY, "bypass": "<-loopback>"},
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
            env=_opening_nothing(path),
        )
        session = await chromium.new_browser_cdp_session()
        processes = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
        await session.detach()
    except Error:
        await _ends(driver.stop())
        raise Unavailable(f"The browser {path} does not start. To see whether it works: {path} --version") from None
    except BaseException:  # also cancelled: the driver must not outlive its start
        await _ends(driver.stop())
        raise
    pid = next(int(process["id"]) for process in processes if process["type"] == "browser")
    await asyncio.to_thread(_sign, pid)
    return _Process(driver, chromium, pid, asyncio.create_task(_watch_memory(chromium, pid)))


def _opening_nothing(path: str | Path | None) -> dict[str, str | float | bool]:
    """Return the environment of the browser at ``path``, without the folders of programs.

    A page may ask for an address of mail, which Chromium on Linux hands to a program of that path without a question.
    A wrapper, which is a script, finds what it needs there.
    """
    with suppress(OSError), Path(path or "").open("rb") as file:
        if file.read(2) != b"#!":
            return {**os.environ, "PATH": os.devnull}
    return {**os.environ}


async def _ends(ending: Awaitable[object]) -> bool:
    """Say whether ``ending`` comes to its end in time; an error of what is being ended is an end too."""
    try:
        async with asyncio.timeout(STOP_SECONDS):
            await ending
    except TimeoutError:
        return False
    except Exception:  # what has gone already cannot be closed, and Playwright has no one error for it
        return True
    return True


def _sign(pid: int) -> None:
    """Leave the number of the browser in its profile folder, so that a later process knows the folder as ours."""
    with suppress(OSError):
        profile = _profile_of(pid)
        if profile is not None:
            (profile / SIGN).write_text(str(pid), encoding="ascii")


def _profile_of(pid: int) -> Path | None:
    """Return the profile folder of a browser; None when it does not run or has none."""
    import psutil

    flag = "--user-data-dir="
    with suppress(psutil.Error):
        return next((Path(part[len(flag) :]) for part in psutil.Process(pid).cmdline() if part.startswith(flag)), None)
    return None


def sweep() -> None:
    """Remove the profile folders that browsers of ours left when they and their driver were killed."""
    for sign in Path(tempfile.gettempdir()).glob(f"{PROFILES}*/{SIGN}"):
        with suppress(OSError, ValueError):
            profile = sign.parent
            if _is_own(profile) and _profile_of(int(sign.read_text(encoding="ascii"))) != profile:
                _remove(profile)


def _is_own(folder: Path) -> bool:
    """Say whether a folder is this user's: in a folder that everybody writes to, others may lay one out for us."""
    status = folder.lstat()
    return stat.S_ISDIR(status.st_mode) and (os.name != "posix" or status.st_uid == os.geteuid())


def _remove(profile: Path) -> None:
    """Remove a profile folder and the folder of its socket."""
    with suppress(OSError):
        socket = (profile / "SingletonSocket").readlink()
        socket.unlink(missing_ok=True)
        socket.parent.rmdir()
    shutil.rmtree(profile, ignore_errors=True)


def _put_an_end(pid: int) -> None:
    """Kill the browser ``pid`` with its helper processes and remove what it kept."""
    import psutil

    profile = _profile_of(pid)
    with suppress(psutil.Error):
        browser = psutil.Process(pid)
        family = [*browser.children(recursive=True), browser]
        for process in family:
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(family, STOP_SECONDS)
    if profile is not None:
        _remove(profile)


async def _watch_memory(chromium: Chromium, pid: int) -> None:
    """End the largest page of ``chromium`` whenever its pages hold more than MEMORY; the run sees a crash."""
    while chromium.is_connected():
        held = await asyncio.to_thread(_limit_pages, pid) if chromium.contexts else 0
        # the nearer to the limit, the sooner the next look
        await asyncio.sleep(LOOK_SECONDS * max(0.1, 1 - held / MEMORY))


def _limit_pages(pid: int) -> int:
    """End the largest page of the browser ``pid`` when its pages hold more than MEMORY; return what they hold."""
    import psutil

    held: dict[psutil.Process, int] = {}
    with suppress(psutil.Error):
        for process in psutil.Process(pid).children(recursive=True):
            with suppress(psutil.Error):
                if any(part.startswith("--type=renderer") for part in process.cmdline()):
                    held[process] = process.memory_info().rss
    if sum(held.values()) > MEMORY:  # memory that pages share was counted for each of them: now by its share
        for process in held:
            with suppress(psutil.Error):
                used = process.memory_full_info()  # takes fifty times as long
                held[process] = getattr(used, "pss", used.uss)  # macOS does not know the share
    total = sum(held.values())
    if total > MEMORY:
        with suppress(psutil.Error):
            max(held, key=lambda process: held[process]).kill()
    return total


def _user_agent(chromium: Chromium) -> str:
    """Return the reduced User-Agent of Chrome in this version, not headless."""
    platform = "Macintosh; Intel Mac OS X 10_15_7" if sys.platform == "darwin" else "X11; Linux x86_64"
    version = f"Chrome/{chromium.version.partition('.')[0]}.0.0.0"
    return f"Mozilla/5.0 ({platform}) AppleWebKit/537.36 (KHTML, like Gecko) {version} Safari/537.36"
