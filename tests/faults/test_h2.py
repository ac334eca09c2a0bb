"""The same engine over HTTP/2: healthy, and broken in ways of its own."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from aui_tui.model.observations import BROWSER, FILE_PROBES
from aui_tui.model.vocabulary import SERVED
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.policy import Limits
from tests.faults import h2_site
from tests.faults.authority import Authority
from tests.faults.h2_site import H2Site, Turn
from tests.faults.lab import scan
from tests.faults.site import AGENTS, BRIEF, HOMEPAGES, QUICK, TITLE, answer, good, parse_head


@pytest.mark.ci
async def test_each_identity_has_one_connection_and_the_files_share_the_browsers(
    authority: Authority, parser: ParserProcess
) -> None:
    async with H2Site(authority.server()) as site:
        observed = await scan(site, parser, site.access(Limits(), cafile=authority.cafile))
    assert all((exchange.status, exchange.outcome) == (200, SERVED) for exchange in observed.exchanges)
    alone = {exchange.name for exchange in observed.exchanges if exchange.http_version != "HTTP/2"}
    assert alone == {AGENTS[1]}, "Claude speaks HTTP/1.1"
    assert observed.browser.title == TITLE
    assert site.opened == 6, "and robots.txt as Claude, who has a page over HTTP/1.1"
    by_place = {asked.place: asked.connection for asked in site.asked}
    assert len({by_place[name] for name in HOMEPAGES}) == 5
    browser = next(asked.field("user-agent") for asked in site.asked if asked.place == BROWSER)
    files = {
        asked.connection for asked in site.asked if asked.place in FILE_PROBES and asked.field("user-agent") == browser
    }
    assert files == {by_place[BROWSER]}


NO_STATUS: dict[str, Turn] = {
    "silence": h2_site.silence,
    "refused stream": h2_site.reset,
    "GOAWAY": h2_site.goaway,
    "no frames": h2_site.garbage,
    "status that is not a number": h2_site.odd_status("abc"),
    "status 99": h2_site.odd_status("99"),
    "negative status": h2_site.odd_status("-200"),
    "frames of a broken header block": h2_site.broken_block,
}


@pytest.mark.ci
@pytest.mark.parametrize("fault", NO_STATUS)
async def test_a_stream_without_a_status(fault: str, authority: Authority, parser: ParserProcess) -> None:
    async with H2Site(authority.server(), faults={AGENTS[0]: NO_STATUS[fault]}) as site:
        observed = await scan(site, parser, site.access(BRIEF, cafile=authority.cafile))
    exchange = observed.exchange(AGENTS[0])
    assert (exchange.status, exchange.title, exchange.outcome) == (0, "", "inconclusive")
    assert exchange.error in ("timeout", "protocol")
    assert "<" not in exchange.detail, "no name of a class"
    assert all(found.status == 200 for found in observed.exchanges if found.name != AGENTS[0])


@pytest.mark.parametrize("fault", [h2_site.reset_in_body, h2_site.endless, h2_site.bad_frame_in_body])
async def test_a_broken_body_keeps_the_status(fault: Turn, authority: Authority, parser: ParserProcess) -> None:
    async with H2Site(authority.server(), faults=dict.fromkeys((BROWSER, AGENTS[0]), fault)) as site:
        observed = await scan(site, parser, site.access(cafile=authority.cafile))
    for name in (BROWSER, AGENTS[0]):
        exchange = observed.exchange(name)
        assert (exchange.status, exchange.title, exchange.cut, exchange.error) == (200, TITLE, True, "")
        assert exchange.bytes <= QUICK.page
    assert {name: observed.exchange(name).detail for name in FILE_PROBES if observed.exchange(name).status != 200} == {}


async def test_a_refused_stream_is_asked_again_on_the_same_connection(
    authority: Authority, parser: ParserProcess
) -> None:
    refused: set[str] = set()

    async def once(talk: h2_site.Talk) -> None:
        first = talk.asked.place not in refused
        refused.add(talk.asked.place)
        await (h2_site.reset if first else h2_site.good)(talk)

    async with H2Site(authority.server(), faults=dict.fromkeys((BROWSER, AGENTS[0], *FILE_PROBES), once)) as site:
        observed = await scan(site, parser, site.access(Limits(), cafile=authority.cafile))
        connections = {asked.connection for asked in site.asked if asked.place == AGENTS[0] and asked.path == "/"}
    assert all((exchange.status, exchange.outcome) == (200, SERVED) for exchange in observed.exchanges)
    assert len(connections) == 1
    assert not observed.exchange(AGENTS[0]).attempts


async def test_a_server_that_agrees_on_http2_and_speaks_http11_floods_nobody(
    authority: Authority, parser: ParserProcess
) -> None:
    async def http11(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                if head.startswith(b"PRI"):
                    writer.write(answer(b"<h1>Bad request</h1>", "400 Bad Request"))
                    await writer.drain()
                    break
                await good(parse_head(0, head), writer)
        writer.close()

    async with H2Site(authority.server()) as site:
        site._connected = lambda reader, writer: site._keep(asyncio.ensure_future(http11(reader, writer)))  # type: ignore[method-assign]
        site._server.close()
        site.tls.set_alpn_protocols(["h2", "http/1.1"])
        site._server = await asyncio.start_server(site._connected, "127.0.0.1", 0, ssl=site.tls)
        site.port = site._server.sockets[0].getsockname()[1]
        observed = await scan(site, parser, site.access(cafile=authority.cafile))
    assert all((exchange.status, exchange.http_version) == (200, "HTTP/1.1") for exchange in observed.homepages)
    assert not any("flood" in warning for warning in observed.warnings)
