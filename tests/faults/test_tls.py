"""TLS faults with a throw-away authority: the reason is reported, and http is never a way around (threat 17)."""

from __future__ import annotations

import asyncio
import gc
import socket
import ssl
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import pytest

from aui_tui.checks.scoring import grade_card
from aui_tui.model.observations import Observations
from aui_tui.model.vocabulary import SERVED
from aui_tui.scan.network import Network
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.policy import ConnectTo, Limits, ScanPolicy
from aui_tui.scan.scan import observe
from aui_tui.scan.target import Origin
from tests.faults.authority import CERTIFICATES, HANDSHAKES, Authority, blocking_server
from tests.faults.behaviours import greeting, redirect
from tests.faults.lab import check_record, scan, settled
from tests.faults.site import BRIEF, HOMEPAGES, QUICK, Site


def every_probe_failed(observed: Observations, reason: str) -> None:
    for exchange in observed.exchanges:
        assert (exchange.status, exchange.error, exchange.bytes, exchange.title) == (0, "tls", 0, "")
        assert reason in exchange.detail
    assert observed.unreachable
    assert observed.origin == "https://shop.test"
    assert reason in grade_card(observed).evidence[0].text


@pytest.mark.parametrize("fault", CERTIFICATES)
async def test_a_bad_certificate_is_a_finding_and_no_reason_to_fall_back(
    fault: str, authority: Authority, parser: ParserProcess
) -> None:
    make, reason = CERTIFICATES[fault]
    async with Site(tls=make(authority)) as secure, Site() as plain:
        access = secure.access(
            cafile=authority.cafile, connect_to=(ConnectTo("shop.test", 80, "127.0.0.1", plain.port),)
        )
        observed = await observe(access.target("shop.test"), parser=parser, access=access)
        check_record(observed)
        assert await settled(secure) == 0
        assert plain.opened == 0
    every_probe_failed(observed, reason)
    incomplete = fault in ("untrusted root", "incomplete chain")
    assert ("Send the whole chain" in grade_card(observed).evidence[0].text) == incomplete
    assert not secure.asked


@pytest.mark.parametrize("fault", HANDSHAKES)
async def test_a_refused_handshake_is_a_finding_too(fault: str, authority: Authority, parser: ParserProcess) -> None:
    make, reason = HANDSHAKES[fault]
    with blocking_server(make(authority)) as port:
        access = ScanPolicy(connect_to=(ConnectTo("", 443, "127.0.0.1", port),), cafile=authority.cafile, limits=QUICK)
        observed = await observe(access.target("shop.test"), parser=parser, access=access)
    check_record(observed)
    every_probe_failed(observed, reason)


@pytest.mark.ci
async def test_a_stalled_handshake_ends_with_the_probe(authority: Authority, parser: ParserProcess) -> None:
    limits = replace(BRIEF, connect=3600.0, budget=3600.0, whole=3600.0)
    async with Site(greeting=greeting(b"", 3600)) as site:
        access = site.access(limits, connect_to=(ConnectTo("shop.test", 443, "127.0.0.1", site.port),))
        observed = await observe(access.target("https://shop.test"), parser=parser, access=access)
        assert await settled(site) == 0
    assert {exchange.error for exchange in observed.exchanges} == {"timeout"}


async def test_plain_http_on_the_tls_port_is_named(parser: ParserProcess) -> None:
    async def bad_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        await greeting(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", 0.2)(reader, writer)

    async with Site(greeting=bad_request) as site:
        access = site.access(connect_to=(ConnectTo("shop.test", 443, "127.0.0.1", site.port),))
        observed = await observe(access.target("https://shop.test"), parser=parser, access=access)
    every_probe_failed(observed, "TLS handshake failed")


async def test_a_server_that_speaks_first_is_no_tls_server(parser: ParserProcess) -> None:
    async with Site(greeting=greeting(b"SSH-2.0-OpenSSH_9.6\r\n", 60)) as site:
        access = site.access(connect_to=(ConnectTo("shop.test", 443, "127.0.0.1", site.port),))
        observed = await observe(access.target("https://shop.test"), parser=parser, access=access)
    assert {exchange.error for exchange in observed.exchanges} == {"tls"}


async def test_a_good_certificate_is_accepted_and_the_name_is_sent(authority: Authority, parser: ParserProcess) -> None:
    names: list[str | None] = []
    context = authority.server()
    context.sni_callback = lambda _socket, name, _context: names.append(name)
    async with Site(tls=context) as site:
        observed = await scan(site, parser, site.access(cafile=authority.cafile))
        assert await settled(site) == 0
    assert all(exchange.outcome == SERVED for exchange in observed.exchanges)
    assert set(names) == {"shop.test"}
    assert {asked.field("host") for asked in site.asked} == {"shop.test"}


async def test_insecure_accepts_any_certificate_and_says_so(authority: Authority, parser: ParserProcess) -> None:
    async with Site(tls=authority.self_signed()) as site:
        observed = await scan(site, parser, site.access(insecure=True))
    assert observed.browser.status == 200
    assert "insecure" in observed.limits


async def test_the_own_authority_is_trusted_only_when_named(authority: Authority, parser: ParserProcess) -> None:
    async with Site(tls=authority.server()) as site:
        observed = await scan(site, parser, site.access())
    assert {exchange.error for exchange in observed.exchanges} == {"tls"}


@pytest.mark.ci
async def test_a_redirect_to_a_bad_certificate_is_reported(authority: Authority, parser: ParserProcess) -> None:
    async with (
        Site(tls=authority.expired()) as secure,
        Site(faults=dict.fromkeys(HOMEPAGES, redirect("https://shop.test/"))) as plain,
    ):
        access = plain.access(
            BRIEF, cafile=authority.cafile, connect_to=(ConnectTo("shop.test", 443, "127.0.0.1", secure.port),)
        )
        observed = await scan(plain, parser, access)
    assert {exchange.error for exchange in observed.homepages} == {"tls"}
    assert {exchange.status for exchange in observed.homepages} == {0}
    assert "expired" in observed.browser.detail
    assert observed.browser.hops[0].status == 302
    assert not observed.probe_dead


async def test_http_is_asked_where_nothing_listens_for_https(parser: ParserProcess) -> None:
    async with Site() as site:
        access = site.access(connect_to=(ConnectTo("shop.test", 443, "127.0.0.1", 1),))
        observed = await observe(access.target("shop.test"), parser=parser, access=access)
    assert observed.origin == "http://shop.test"
    assert all(exchange.outcome == SERVED for exchange in observed.exchanges)
    assert observed.host == "shop.test"
    assert "https://shop.test" in observed.warnings[0]


async def test_nothing_listens_at_all(parser: ParserProcess) -> None:
    async with Site() as site:
        access = site.access(connect_to=(ConnectTo("dead.test", None, "127.0.0.1", 1),))
    observed = await observe(access.target("dead.test"), parser=parser, access=access)
    check_record(observed)
    assert {exchange.error for exchange in observed.exchanges} == {"connect"}
    assert observed.probe_dead


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux drops connection attempts beyond the backlog")
async def test_a_port_that_answers_no_connection_attempt(parser: ParserProcess) -> None:
    """A listener whose backlog is full drops further attempts: nothing can be said to listen there."""
    full = socket.create_server(("127.0.0.1", 0), backlog=0)
    port = full.getsockname()[1]
    fillers = [asyncio.ensure_future(asyncio.open_connection("127.0.0.1", port)) for _ in range(4)]
    await asyncio.sleep(0.1)
    limits = Limits(probe=6, connect=0.5, lookup=1, pause=0.02)
    async with Site() as site:
        access = site.access(limits, connect_to=(ConnectTo("shop.test", 443, "127.0.0.1", port),))
        silent = await observe(access.target("https://shop.test"), parser=parser, access=access)
        fallen = await observe(access.target("shop.test"), parser=parser, access=access)
    for filler in fillers:
        filler.cancel()
    await asyncio.gather(*fillers, return_exceptions=True)
    full.close()
    check_record(silent)
    assert {exchange.error for exchange in silent.exchanges} == {"connect"}
    assert all("within 0.5 s" in exchange.detail for exchange in silent.exchanges)
    assert not any(exchange.attempts for exchange in silent.exchanges), "nothing is asked again"
    assert silent.elapsed_ms < 1000 * limits.probe, "connections are attempted side by side"
    assert fallen.origin == "http://shop.test"
    assert fallen.browser.status == 200


def client_sessions() -> list[ssl.SSLObject]:
    return [found for found in gc.get_objects() if isinstance(found, ssl.SSLObject) and not found.server_side]


async def until_freed() -> None:
    """Wait for the last turns of the event loop; no collection runs."""
    end = time.monotonic() + 30
    while client_sessions():
        assert time.monotonic() < end, client_sessions()
        await asyncio.sleep(0.01)


@pytest.fixture
def uncollected() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.ci
@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("again", [0.005, QUICK.again])
async def test_sessions_are_freed_with_their_scan_and_not_by_a_collection(
    again: float, authority: Authority, parser: ParserProcess
) -> None:
    async with Site(tls=authority.server()) as site:
        await scan(site, parser, site.access(replace(QUICK, again=again), cafile=authority.cafile))
        await until_freed()
        assert site.opened > 0


@pytest.mark.usefixtures("uncollected")
async def test_a_request_that_is_cancelled_as_it_ends_leaves_no_session(authority: Authority) -> None:
    async def cut_off(access: ScanPolicy) -> None:
        task = asyncio.current_task()
        assert task is not None
        async with Network(access) as network, network.client() as client:
            with suppress(asyncio.CancelledError):
                async with client.get(Origin("https", "shop.test", 443), "/", ()):
                    assert client_sessions()
                    task.cancel()  # it hears of it when it waits again: as the answer is closed
            assert task.uncancel() == 0

    async with Site(tls=authority.server()) as site:
        await cut_off(site.access(cafile=authority.cafile))
        await until_freed()
