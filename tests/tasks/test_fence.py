"""The fence: whatever a page tries, the browser calls on nobody that the rules do not allow."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import ssl
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
import trustme

from aui_tui.model.tasks import TaskEvent
from aui_tui.scan.policy import ConnectTo, ScanPolicy
from aui_tui.tasks import browser as browsers
from aui_tui.tasks.browser import Browser
from aui_tui.tasks.outline import Node
from aui_tui.tasks.page import Page
from aui_tui.tasks.proxy import Allowance
from aui_tui.tasks.run import TaskRunning, TasksStopped, run_tasks
from tests.cli.runner import ROOT
from tests.tasks.pages import Site, hosted, html, readable, sentinel
from tests.tasks.running import HOST, leading_to, opened, seen_at, serving
from tests.tasks.shop import Shop

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(300)]

QUICK = Allowance(host=40.0, task=20.0, settle=6.0)
ROBOTS = {"content-type": "text/plain"}

ESCAPES = """<img src="http://127.0.0.1:{tcp}/img"><img src="http://localhost:{tcp}/name"><img src="http://[::1]:{tcp}/six">
<iframe src="http://127.0.0.1:{tcp}/frame"></iframe><iframe src="file:///etc/passwd"></iframe><iframe src="chrome://version"></iframe>
<link rel="preconnect" href="http://127.0.0.1:{tcp}"><link rel="dns-prefetch" href="http://127.0.0.1:{tcp}">
<link rel="prefetch" href="http://127.0.0.1:{tcp}/prefetch"><link rel="modulepreload" href="http://127.0.0.1:{tcp}/m.js">
<link rel="stylesheet" href="http://127.0.0.1:{tcp}/css"><object data="http://127.0.0.1:{tcp}/object"></object>
<video src="http://127.0.0.1:{tcp}/video"></video><script src="http://127.0.0.1:{tcp}/js"></script><img src="/away">
<script type="speculationrules">{{"prefetch":[{{"source":"list","urls":["http://127.0.0.1:{tcp}/spec","/private/spec"],
"eagerness":"immediate"}}],"prerender":[{{"source":"list","urls":["/private/render"],"eagerness":"immediate"}}]}}</script>
<link rel="prefetch" href="/private/link"><link rel="prerender" href="/private/render2">
<script>
const at="127.0.0.1:{tcp}",go=f=>{{try{{const r=f();r&&r.catch&&r.catch(()=>0)}}catch(e){{}}}};
go(()=>fetch("http://"+at+"/fetch",{{mode:"no-cors"}}));go(()=>navigator.sendBeacon("http://"+at+"/beacon","x"));
go(()=>new WebSocket("ws://"+at+"/ws"));go(()=>new EventSource("http://"+at+"/events"));
go(()=>navigator.serviceWorker.register("/sw.js"));go(()=>window.open("http://"+at+"/popup"));go(()=>window.open("file:///etc/passwd"));
go(()=>new Worker(URL.createObjectURL(new Blob(['fetch("http://127.0.0.1:{tcp}/worker",{{mode:"no-cors"}})']))));
go(()=>{{const p=new RTCPeerConnection({{iceServers:[{{urls:"stun:127.0.0.1:{udp}"}},{{urls:"turn:127.0.0.1:{udp}",
username:"u",credential:"c"}},{{urls:"turn:127.0.0.1:{tcp}?transport=tcp",username:"u",credential:"c"}}]}});p.createDataChannel("x");p.createOffer().then(o=>p.setLocalDescription(o))}});
go(()=>new WebTransport("https://"+at+"/transport"));go(()=>document.body.requestFullscreen());go(()=>Notification.requestPermission());
</script>"""


async def run(browser: Browser, site: Site, allowance: Allowance = QUICK, **options: Any) -> TaskRunning:
    async with hosted(site) as port:
        seen, access = seen_at(f"http://{HOST}"), leading_to(port)
        return await run_tasks(seen, browser, access=access, allowance=allowance, **options)


def outcome(ran: TaskRunning, task: str) -> str:
    return next(result.outcome for result in ran.report.results if result.task == task)


async def test_a_page_that_tries_everything_calls_on_nobody(browser: Browser) -> None:
    async with sentinel() as nobody:
        escapes = ESCAPES.format(tcp=nobody.tcp, udp=nobody.udp)
        away = (302, {"location": f"http://127.0.0.1:{nobody.tcp}/redirect"}, b"")
        site = Site(
            {
                "/": readable(escapes),
                "/away": away,
                "/robots.txt": (200, ROBOTS, b"User-agent: *\nDisallow: /private/\n"),
                "/room/1": (302, {"location": f"http://127.0.0.1:{nobody.tcp}/room"}, b""),
                "/room/2": (302, {"location": "file:///etc/passwd"}, b""),
                "/sw.js": (200, {"content-type": "text/javascript"}, b"fetch('/private/worker')"),
            }
        )
        ran = await run(browser, site)
        await asyncio.sleep(0.5)
        assert nobody.silent, (nobody.heads, nobody.udp_calls.count)
    assert outcome(ran, "read") == "done", ran.report.results
    assert not [target for _, target in site.log if target.startswith("/private")]
    assert ("GET", "/sw.js") not in site.log


async def test_what_opens_a_mail_program_is_told_and_none_is_opened(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = tmp_path / "opened"
    (tmp_path / "xdg-open").write_text(f"#!/bin/sh\necho $1 >> {opened}\n", encoding="ascii")
    (tmp_path / "xdg-open").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    icon = "<button onclick=\"location.href = 'mailto:' + 'joan@quay.example'\">Send</button>"
    own = Browser()
    try:
        ran = await run(own, Site({"/": readable(icon)}))
    finally:
        await own.aclose()
    assert outcome(ran, "contact") == "done", ran.report.results
    assert not opened.exists()


@pytest.mark.slow
async def test_in_a_namespace_where_every_address_answers_no_packet_leaves_loopback(browser: Browser) -> None:
    """Names too: a look-up by the browser itself would be a packet to a name server."""
    tool = shutil.which("ip")
    if tool is None or os.geteuid() != 0:
        pytest.skip("needs root and ip of iproute2")
    name = f"aui-{os.getpid()}"
    if subprocess.run([tool, "netns", "add", name], capture_output=True, check=False).returncode:
        pytest.skip("needs network namespaces")
    try:
        for words in ("link set lo up", "route add local default dev lo", "-6 route add local default dev lo"):
            subprocess.run([tool, "-n", name, *words.split()], check=True)
        command = [tool, "netns", "exec", name, sys.executable, "-m", "tests.tasks.namespace"]
        done = await asyncio.to_thread(
            subprocess.run, command, cwd=ROOT, capture_output=True, text=True, timeout=200, check=False
        )
    finally:
        subprocess.run([tool, "netns", "del", name], check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    outcome, during, after, control = json.loads(done.stdout)
    assert (outcome, during, after) == ("done", {}, {})
    assert control >= 1


async def test_a_server_is_trusted_by_the_users_own_certificate_authority_alone(
    browser: Browser, tmp_path: Path
) -> None:
    authority, stranger = trustme.CA(), trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(HOST).configure_cert(context)
    site = Site({"/": readable()})
    server = await asyncio.start_server(site.answer, "127.0.0.1", 0, ssl=context)
    rule = ConnectTo.parse(f"{HOST}:443:127.0.0.1:{server.sockets[0].getsockname()[1]}")
    found = {}
    for name, made in (("own", authority), ("stranger", stranger), ("none", None)):
        path = tmp_path / f"{name}.pem"
        if made is not None:
            made.cert_pem.write_to_path(path)
        access = ScanPolicy(connect_to=(rule,), cafile=str(path) if made is not None else "")
        ran = await run_tasks(
            seen_at(f"https://{HOST}"), browser, access=access, allowance=QUICK, tasks=("read", "follow")
        )
        found[name] = ran.report.results[0]
    server.close()
    assert found["own"].outcome == "done"
    assert {found["stranger"].outcome, found["none"].outcome} == {"inconclusive"}
    assert {target for _, target in site.log} <= {"/", "/robots.txt", "/room/1", "/favicon.ico", "/room/2"}


@pytest.mark.slow
async def test_an_image_of_a_gigabyte_is_cut_and_fills_no_memory(browser: Browser) -> None:
    """The picture is cut at the run's limit of bytes."""
    sent = 0

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-length: 1000000000\r\n\r\n")
            while sent < 1_000_000_000:
                writer.write(b"\0" * 65536)
                sent += 65536
                await writer.drain()
        writer.close()

    ran, peak = await with_a_picture(browser, flood)
    assert len(ran.report.results) == 6
    assert sent < 60_000_000
    assert peak < 1_500_000_000
    assert outcome(await run(browser, Site({"/": readable()}), tasks=("read",)), "read") == "done"


def blank_png(side: int) -> bytes:
    """A picture of ``side`` times ``side`` transparent pixels, which packs to next to nothing."""
    packer = zlib.compressobj(9)
    rows = [packer.compress(b"\0" * (1 + 4 * side)) for _ in range(side)]

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 6, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", b"".join(rows) + packer.flush()) + chunk(b"IEND", b"")


@pytest.mark.slow
async def test_a_picture_that_unpacks_to_a_gigabyte_ends_its_page_alone(browser: Browser) -> None:
    picture = blank_png(16384)
    assert len(picture) < 2_000_000

    ran, peak = await with_a_picture(browser, Site({"/a.png": (200, {"content-type": "image/png"}, picture)}).answer)
    assert peak < 1_500_000_000
    assert "crash" in {result.reason for result in ran.report.results}
    assert "blocked" not in {result.outcome for result in ran.report.results}
    assert outcome(await run(browser, Site({"/": readable()}), tasks=("read",)), "read") == "done"


async def with_a_picture(
    browser: Browser, picture: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
) -> tuple[TaskRunning, int]:
    """Run the tasks on a page with a picture; return what they brought, and the most bytes that all processes held."""
    heavy = await asyncio.start_server(picture, "127.0.0.1", 0)
    site = Site({"/": readable('<img src="http://heavy.demo.test/a.png">')})
    peak = 0
    async with hosted(site) as port:
        rules = (f"{HOST}:80:127.0.0.1:{port}", f"heavy.demo.test:80:127.0.0.1:{heavy.sockets[0].getsockname()[1]}")
        access = ScanPolicy(connect_to=tuple(map(ConnectTo.parse, rules)))
        run = asyncio.ensure_future(run_tasks(seen_at(f"http://{HOST}"), browser, access=access, allowance=QUICK))
        while not run.done():
            await asyncio.wait((run,), timeout=0.3)
            family = [psutil.Process(), *psutil.Process().children(recursive=True)]
            with contextlib.suppress(psutil.Error):
                peak = max(peak, sum(one.memory_full_info().pss for one in family))
    heavy.close()
    return run.result(), peak


async def test_a_file_is_asked_for_once_where_a_cache_may_keep_it_and_a_hint_to_prefetch_is_not_followed(
    browser: Browser,
) -> None:
    files = '<script src="/kept.js"></script><script src="/fresh.js"></script><link rel="prefetch" href="/later.js">'
    told = b"document.querySelector('main').insertAdjacentHTML('beforeend', '<p>Told by %s.</p>')"
    script = {"content-type": "text/javascript"}
    site = Site(
        {
            "/": readable(files),
            "/room/1": readable(files),
            "/kept.js": (200, script, told % b"kept"),
            "/fresh.js": (200, {**script, "cache-control": "no-store"}, told % b"fresh"),
            "/later.js": (200, script, b""),
        }
    )
    async with hosted(site) as port, opened(browser, port) as page:
        first = page.outline.text()
        second = (await page.open(f"http://{HOST}/room/1")).text()
        await page.leave(fresh=True)
        third = (await page.open(f"http://{HOST}/")).text()
        asked = page.fence.usage.requests
    for text in (first, second, third):
        assert "Told by kept." in text
        assert "Told by fresh." in text
    paths = [path for _, path in site.log]
    assert [paths.count(path) for path in ("/kept.js", "/fresh.js", "/later.js")] == [1, 3, 0]
    assert asked == len(paths)


async def test_a_redirect_to_a_closed_page_is_not_followed(browser: Browser) -> None:
    site = Site(
        {
            "/": readable(),
            "/robots.txt": (200, ROBOTS, b"User-agent: *\nDisallow: /private/\n"),
            "/room/1": (302, {"location": "/private/one"}, b""),
            "/room/2": (302, {"location": "/private/two"}, b""),
        }
    )
    ran = await run(browser, site)
    assert outcome(ran, "follow") == "blocked"
    assert not [target for _, target in site.log if target.startswith("/private")]


async def test_unreadable_robots_opens_no_page(browser: Browser) -> None:
    site = Site({"/": readable(), "/robots.txt": (503, {}, b"")})
    ran = await run(browser, site)
    assert {result.outcome for result in ran.report.results} == {"inconclusive"}
    assert {target for _, target in site.log} == {"/robots.txt"}


async def test_a_name_that_moves_to_a_private_address_is_not_followed(browser: Browser) -> None:
    """The first look-up of a name is the one that is used; a public name that leads inwards is refused."""
    asked: list[str] = []

    async def resolve(host: str) -> tuple[str, ...]:
        asked.append(host)
        return ("127.0.0.1",)

    async with sentinel() as nobody:
        site = Site(
            {"/": readable(f'<img src="http://rebound.example:{nobody.tcp}/x"><img src="http://rebound.example/">')}
        )
        async with hosted(site) as port:
            rule = ConnectTo.parse(f"{HOST}:80:127.0.0.1:{port}")
            access = ScanPolicy(connect_to=(rule,), resolver=resolve)
            await run_tasks(seen_at(f"http://{HOST}"), browser, access=access, allowance=QUICK)
        assert nobody.silent
    assert set(asked) <= {"rebound.example"}


HOSTILE = {
    "dialogs": "<script>for(let i=0;i<30;i++){alert(i);confirm(i);prompt(i)}print()</script>",
    "alert-loop": "<script>setInterval(()=>alert('again'),1)</script>",
    "popups": "<script>for(let i=0;i<20;i++)window.open('/room/1')</script>",
    "endless": "<script>setInterval(()=>{const p=document.createElement('p');p.textContent='more '.repeat(50);"
    "document.body.append(p)},20)</script>",
    "beforeunload": "<script>onbeforeunload=e=>{e.preventDefault();e.returnValue='stay'}</script>",
    "download": '<iframe src="/file.bin"></iframe><a href="/file.bin" download>file</a>',
    "miner": "<script>for(let i=0;i<8;i++)new Worker(URL.createObjectURL(new Blob(['for(;;);'])))</script>",
    "history": "<script>setInterval(()=>history.pushState({},'','?'+Math.random()),5)</script>",
    "reload": "<script>setTimeout(()=>location.reload(),700)</script>",
    "markup": "<p>[@click=app.quit]x[/] \x1b]52;c;aGk=\x07 <b>\u202egnp</b></p>",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", HOSTILE)
async def test_a_hostile_page_ends_within_its_limits(browser: Browser, kind: str) -> None:
    site = Site(
        {
            "/": readable(HOSTILE[kind]),
            "/room/1": readable(title="Harbour room 1"),
            "/file.bin": (200, {"content-type": "application/octet-stream"}, b"\0" * 1000),
        }
    )
    begin = time.monotonic()
    ran = await run(browser, site, Allowance(host=30.0, task=12.0, settle=4.0))
    assert time.monotonic() - begin < 60
    assert len(ran.report.results) == 6
    assert not [
        result.note for result in ran.report.results if any(ord(c) < 32 or c in "\u202e\u2028" for c in result.note)
    ]


@pytest.mark.slow
async def test_a_page_that_never_returns_is_inconclusive(browser: Browser) -> None:
    site = Site({"/": html("<h1>Rooms</h1><script>for(;;);</script>")})
    begin = time.monotonic()
    ran = await run(browser, site, Allowance(host=20.0, task=10.0, settle=3.0))
    assert time.monotonic() - begin < 60
    assert {result.outcome for result in ran.report.results} == {"inconclusive"}


@pytest.mark.slow
async def test_the_limits_of_requests_and_bytes_make_a_run_inconclusive(browser: Browser) -> None:
    many = "".join(f'<img src="/p{n}.gif">' for n in range(60))
    site = Site({"/": html(f"<div>{many}</div>"), "*": (200, {"content-type": "image/gif"}, b"\0" * 5000)})
    ran = await run(browser, site, Allowance(requests=20, host=30.0, task=12.0, settle=4.0))
    assert outcome(ran, "read") == "inconclusive"
    assert len(site.log) <= 25
    ran = await run(browser, site, Allowance(bytes=40_000, host=30.0, task=12.0, settle=4.0))
    assert outcome(ran, "read") == "inconclusive"


async def test_cancelling_keeps_what_had_ended_and_closes_the_context(browser: Browser) -> None:
    over = asyncio.Event()

    def tell(event: TaskEvent) -> None:
        if event.state == "ended":
            over.set()

    async with serving(Shop()) as port:
        task = asyncio.ensure_future(run_tasks(seen_at(f"http://{HOST}"), browser, access=leading_to(port), tell=tell))
        await over.wait()
        task.cancel()
        with pytest.raises(TasksStopped) as stopped:
            await task
    report = stopped.value.ran.report
    assert report.stopped
    assert report.results[0].task == "read"
    assert not browser.contexts


def processes(wanted: Callable[[str], bool]) -> list[psutil.Process]:
    """The processes below this one whose command line is ``wanted``."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if wanted(" ".join(process.cmdline())):
                found.append(process)
    return found


def browsers_running() -> list[psutil.Process]:
    """The browsers that this process has started, without their helper processes."""
    return processes(lambda line: "--headless" in line and "--type=" not in line)


@pytest.mark.slow
async def test_a_browser_that_does_not_close_a_page_is_ended_and_another_one_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(browsers, "CLOSE_SECONDS", 0.5)
    own, others = Browser(), browsers_running()
    try:
        async with serving(Shop()) as port:
            task = asyncio.ensure_future(
                run_tasks(seen_at(f"http://{HOST}"), own, access=leading_to(port), tasks=("read", "search"))
            )
            while not own.contexts:
                await asyncio.sleep(0.05)
            stopped = [one for one in browsers_running() if one not in others]
            for process in stopped:
                process.suspend()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert stopped
            _, left = await asyncio.to_thread(psutil.wait_procs, stopped, 15)
            assert not left
            ran = await run_tasks(seen_at(f"http://{HOST}"), own, access=leading_to(port), tasks=("read",))
        assert outcome(ran, "read") == "done"
        assert not own.contexts
    finally:
        await own.aclose()


@pytest.mark.slow
async def test_a_page_that_crashes_is_not_blamed_for_what_was_being_tried(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The picture of a gigabyte may end its page at any step, the press of a link included."""
    click = Page.click

    async def crash(page: Page, node: Node) -> bool:
        for process in processes(lambda line: "--type=renderer" in line):
            process.kill()
        return await click(page, node)

    monkeypatch.setattr(Page, "click", crash)
    ran = await run(browser, Site({"/": readable()}), tasks=("read", "follow"))
    assert [result.outcome for result in ran.report.results] == ["done", "inconclusive"]


PROGRAM = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from aui_tui.tasks.browser import Browser
async def main():
    browser = Browser()
    context = await browser.context(9, insecure=False)
    await (await context.new_page()).goto("about:blank")
    print("ready", flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
async def test_nothing_is_left_when_the_process_is_killed(browser: Browser, number: int) -> None:
    """Its folder has a short name: Chromium puts a socket there, whose path may have 107 octets."""
    tmp_path = Path(tempfile.mkdtemp())
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    started = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(ROOT)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    )
    assert started.stdout is not None
    assert await asyncio.to_thread(started.stdout.readline) == b"ready\n"
    children = psutil.Process(started.pid).children(recursive=True)
    assert any("chrom" in child.name() for child in children)
    started.send_signal(number)
    await asyncio.to_thread(started.wait, 20)
    started.stdout.close()
    _, left = await asyncio.to_thread(psutil.wait_procs, children, 15)
    assert not left
    for _ in range(50):
        if not list(tmp_path.iterdir()):
            break
        await asyncio.sleep(0.1)
    tmp_path.rmdir()
