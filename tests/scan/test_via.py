"""A scan through a proxy of the user's: HTTP CONNECT and SOCKS 5, by name; bad input is refused before any request."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from aui_tui.checks.scoring import grade_card
from aui_tui.errors import BadValue
from aui_tui.model.vocabulary import SERVED
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.policy import ConnectTo, ScanPolicy, Via
from aui_tui.scan.scan import observe
from tests.faults.site import QUICK, Site


@contextlib.asynccontextmanager
async def proxy(scheme: str, to: int, names: list[str], *, refuse: bool = False) -> AsyncIterator[Via]:
    """Run a proxy that leads every name to the loopback port ``to`` and notes the names."""

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if scheme == "http":
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            names.append(head.split(" ")[1])
            writer.write(b"HTTP/1.1 403 No\r\n\r\n" if refuse else b"HTTP/1.1 200 OK\r\n\r\n")
        else:
            await reader.readexactly(3)
            writer.write(b"\x05\x00")
            *_, size = await reader.readexactly(5)
            name = (await reader.readexactly(size)).decode()
            names.append(f"{name}:{int.from_bytes(await reader.readexactly(2), 'big')}")
            writer.write(b"\x05" + bytes([int(refuse)]) + b"\x00\x01" + bytes(6))
        if refuse:
            writer.close()
            return
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", to)
        await asyncio.gather(carry(reader, far_writer), carry(far_reader, writer))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield Via(scheme, "127.0.0.1", server.sockets[0].getsockname()[1])
    finally:
        server.close()


@pytest.mark.parametrize("scheme", ["http", "socks5"])
async def test_every_connection_goes_through_the_proxy_by_name(scheme: str, parser: ParserProcess) -> None:
    names: list[str] = []
    async with Site() as site, proxy(scheme, site.port, names) as via:
        access = ScanPolicy(via=via, limits=QUICK)
        found = await observe(access.target("http://shop.example.com"), parser=parser, access=access)
    assert [probe.outcome for probe in found.homepages] == [SERVED] * 5
    assert set(names) == {"shop.example.com:80"}
    assert "via" in found.limits
    assert any("went through a proxy (the setting via)" in line.text for line in grade_card(found).evidence)


@pytest.mark.parametrize("scheme", ["http", "socks5"])
async def test_a_proxy_that_refuses_is_named(scheme: str, parser: ParserProcess) -> None:
    async with proxy(scheme, 1, [], refuse=True) as via:
        access = ScanPolicy(via=via, limits=replace(QUICK, connect=3.0))
        found = await observe(access.target("http://shop.example.com"), parser=parser, access=access)
    assert found.unreachable
    assert "the proxy 127.0.0.1" in found.browser.detail


async def test_a_proxy_leads_to_no_private_address(parser: ParserProcess) -> None:
    names: list[str] = []
    async with Site() as site, proxy("http", site.port, names) as via:
        access = ScanPolicy(via=via, keyboard=True, limits=QUICK)
        with pytest.raises(Exception, match=r"10\.0\.0\.1"):
            access.target("http://10.0.0.1")
    assert not names


@pytest.mark.parametrize(
    "text", ["", "proxy", "ftp://a:1", "http://a", "http://a:0", "http://a:70000", "http://u:p@a:1"]
)
def test_what_is_no_proxy_gets_one_sentence(text: str) -> None:
    with pytest.raises(BadValue, match=r"is not a proxy; write http://HOST:PORT or socks5://HOST:PORT"):
        Via.parse(text)


VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


@pytest.mark.parametrize("keyboard", [True, False])
@pytest.mark.parametrize("variable", VARIABLES)
async def test_a_proxy_of_the_environment_is_not_used_and_said_where_nothing_answers(
    variable: str, keyboard: bool, parser: ParserProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, "http://127.0.0.1:9")
    access = ScanPolicy(connect_to=(ConnectTo("", None, "127.0.0.1", 9),), keyboard=keyboard, limits=QUICK)
    silent = await observe(access.target("http://shop.example.com"), parser=parser, access=access)
    assert any(f"{variable} is set here" in note for note in silent.warnings) == keyboard
    async with Site() as site:
        served = await observe(
            access.target("http://shop.example.com"),
            parser=parser,
            access=replace(access, connect_to=(ConnectTo("", None, "127.0.0.1", site.port),)),
        )
    assert served.browser.status == 200
    assert not served.warnings
