"""A whole scan against a real server on loopback."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncIterator

import pytest

from aui_tui.errors import Unavailable
from aui_tui.model.observations import ProbeEvent
from aui_tui.scan.network import streams
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.policy import ConnectTo, ScanPolicy
from aui_tui.scan.scan import observe

BODIES = {
    b"/": (b"200 OK", b"text/html", b"<title>Shop</title><main>" + b"readable " * 50),
    b"/robots.txt": (b"200 OK", b"text/plain", b"User-agent: *\nDisallow: /cart\nContent-Signal: search=yes\n"),
    b"/.well-known/mcp/server-card.json": (b"200 OK", b"application/json", b'{"name":"shop","version":"1"}'),
}


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            status, kind, body = BODIES.get(head.split()[1], (b"404 Not Found", b"text/plain", b"nothing"))
            extra = b""
            if b"Claude-User" in head:
                status, extra = b"403 Forbidden", b"cf-mitigated: challenge\r\nserver: cloudflare\r\n"
            writer.write(b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n" % (status, kind, len(body)))
            writer.write(extra + b"\r\n" + body)
            await writer.drain()
    except (OSError, asyncio.IncompleteReadError):
        writer.close()


@pytest.fixture
async def port() -> AsyncIterator[int]:
    server = await asyncio.start_server(_serve, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    server.close()


async def test_a_machine_without_room_for_connections_gives_no_observations(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = iter((True, True))

    async def connect(address: str, to: int) -> streams.Stream:
        if next(room, False):
            return await dial(address, to)
        raise OSError(errno.EMFILE, "Too many open files")

    dial = streams.connect
    monkeypatch.setattr(streams, "connect", connect)
    access = ScanPolicy(connect_to=(ConnectTo.parse(f":80:127.0.0.1:{port}"),))
    async with ParserProcess() as parser:
        with pytest.raises(Unavailable, match="Too many open files"):
            await observe(access.target("http://shop.test"), parser=parser, access=access)


@pytest.mark.ci
async def test_a_scan_finds_what_browser_agents_and_files_get(port: int) -> None:
    events: list[ProbeEvent] = []
    access = ScanPolicy(
        connect_to=(ConnectTo.parse(f"shop.test:80:127.0.0.1:{port}"), ConnectTo.parse(":443:127.0.0.1:1"))
    )
    target = access.target("shop.test")
    async with ParserProcess() as parser:
        observed = await observe(target, parser=parser, access=access, progress=events.append)
    assert observed.origin == "http://shop.test"
    assert observed.warnings
    assert observed.browser.title == "Shop"
    assert observed.exchange("agent_02").outcome == "challenged"
    assert len(observed.exchange("agent_02").attempts) == observed.exchange("agent_02").controls == 2
    assert observed.page.semantic.main == 1
    assert observed.robots.signal == "search=yes"
    assert observed.files.mcp
    assert not observed.files.llms
    assert {event.name for event in events if event.state == "done"} == {e.name for e in observed.exchanges}
    assert ("agent_02", "retrying") in [(event.name, event.state) for event in events]
