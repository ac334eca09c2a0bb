"""No connection to a network that is not public: direct, through a name, by redirect, or by a name that changes."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence

import msgspec
import pytest

from aui_tui.errors import InvalidHost
from aui_tui.model.observations import BROWSER, Observations
from aui_tui.scan.network import streams
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.policy import ConnectTo, Limits, Resolver, ScanPolicy
from aui_tui.scan.scan import observe
from aui_tui.scan.target import parse
from tests.faults.behaviours import redirect
from tests.faults.lab import check_record, scan
from tests.faults.site import AGENTS, HOMEPAGES, QUICK, Asked, Site, answer

CLOSED = """
127.0.0.1 10.1.2.3 169.254.169.254 100.64.0.1 192.168.0.1 0.0.0.0 255.255.255.255
::1 fe80::1 fc00::1 ::ffff:127.0.0.1 ::127.0.0.1 64:ff9b::7f00:1 64:ff9b:1::1 2002:7f00:1::1 2001::1 fec0::1 ff02::1
"""
Dialled = list[tuple[str, int]]


@pytest.fixture
def dialled(monkeypatch: pytest.MonkeyPatch) -> Dialled:
    """Every address that a scan tries to connect to; ports below 1024 lead nowhere."""
    found: Dialled = []
    real = streams.connect

    async def connect(address: str, port: int) -> streams.Stream:
        found.append((address, port))
        if port < 1024:
            raise ConnectionRefusedError
        return await real(address, port)

    monkeypatch.setattr(streams, "connect", connect)
    return found


class Names:
    """A resolver: each name's answers in turn, the last one for ever; ``asked`` counts."""

    def __init__(self, **answers: Sequence[Sequence[str]]) -> None:
        self.answers = {name.replace("_", "."): list(given) for name, given in answers.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        given = self.answers[host]
        return given.pop(0) if len(given) > 1 else given[0]


@pytest.mark.parametrize("address", CLOSED.split())
async def test_a_name_that_leads_inside_is_refused_before_any_socket(
    address: str, dialled: Dialled, parser: ParserProcess
) -> None:
    for answers in ([address], ["8.8.8.8", address], [address, "2606:4700::1"]):
        access = ScanPolicy(resolver=Names(evil_com=[answers]), limits=QUICK)
        for url in ("evil.com", "http://evil.com", "https://evil.com"):
            with pytest.raises(InvalidHost, match=r"^evil\.com leads to an address outside the public Internet\.$"):
                await observe(access.target(url), parser=parser, access=access)
    assert dialled == []


async def test_a_stranger_does_not_learn_that_a_name_leads_inside(dialled: Dialled, parser: ParserProcess) -> None:
    async def nothing(host: str) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    async def told(resolver: Resolver) -> Observations:
        access = ScanPolicy(remote=True, resolver=resolver, limits=QUICK)
        seen = await observe(parse("evil.com"), parser=parser, access=access)
        answers = tuple(msgspec.structs.replace(answer, elapsed_ms=0) for answer in seen.exchanges)
        return msgspec.structs.replace(seen, exchanges=answers, scanned_at="", elapsed_ms=0)

    absent = await told(nothing)
    assert absent.unresolved
    assert absent == await told(Names(evil_com=[["10.1.2.3"]]))
    assert dialled == []


@pytest.mark.parametrize("address", CLOSED.split())
async def test_a_redirect_inside_is_refused_before_any_socket(
    address: str, dialled: Dialled, parser: ParserProcess
) -> None:
    literal = f"http://[{address}]/" if ":" in address else f"http://{address}/"

    def chain(last: str, hop: int) -> object:
        async def behaviour(asked: Asked, writer: asyncio.StreamWriter) -> None:
            step = int(asked.path.rpartition("/")[2] or 0) + 1
            writer.write(
                answer(b"", "302 Found", extra=f"Location: {last if step == hop else f'/{step}'}\r\n".encode())
            )
            await writer.drain()

        return behaviour

    hops = dict(zip(HOMEPAGES, (1, 1, 3, 3), strict=False))
    places = zip(hops, (literal, "http://evil.com/") * 2, strict=True)
    faults = {name: chain(place, hops[name]) for name, place in places}
    async with Site(faults=faults) as site:  # type: ignore[arg-type]
        access = site.access(resolver=Names(evil_com=[[address]]))
        observed = await scan(site, parser, access)
    assert {port for _, port in dialled} == {site.port}
    for name, hop in hops.items():
        exchange = observed.exchange(name)
        assert (exchange.status, exchange.error, len(exchange.hops)) == (302, "redirect-address", hop)
        assert exchange.detail


async def test_a_name_that_changes_between_look_ups_is_looked_up_once(dialled: Dialled, parser: ParserProcess) -> None:
    names = Names(flip_com=[["8.8.8.8"], ["127.0.0.1"]])
    access = ScanPolicy(resolver=names, limits=QUICK)
    observed = await observe(access.target("flip.com"), parser=parser, access=access)
    check_record(observed)
    assert names.asked == ["flip.com"]
    assert {address for address, _ in dialled} == {"8.8.8.8"}


async def test_one_look_up_serves_all_connections_of_a_scan(dialled: Dialled, parser: ParserProcess) -> None:
    async with Site() as site:
        names = Names(shop_test=[["127.0.0.1"]])
        access = ScanPolicy(allow_private=True, resolver=names, limits=QUICK)
        observed = await observe(access.target(f"http://shop.test:{site.port}"), parser=parser, access=access)
    assert observed.browser.status == 200
    assert observed.host == f"shop.test:{site.port}"
    assert observed.limits == ("private",)
    assert names.asked == ["shop.test"]
    assert len({asked.connection for asked in site.asked}) >= len(HOMEPAGES)


async def test_the_private_switch_is_needed_for_a_redirect_too(dialled: Dialled, parser: ParserProcess) -> None:
    async with Site() as inner, Site(faults={BROWSER: redirect(f"http://127.0.0.1:{inner.port}/")}) as site:
        strict = await scan(site, parser)
        assert inner.opened == 0
        loose = await scan(site, parser, site.access(allow_private=True))
        assert inner.places() == [BROWSER]
    assert strict.browser.error == "redirect-address"
    assert loose.browser.status == 200


async def test_a_rule_may_lead_to_a_private_address_but_not_for_other_names(parser: ParserProcess) -> None:
    async with Site(faults={BROWSER: redirect("http://other.com/")}) as site:
        observed = await scan(site, parser, site.access(resolver=Names(other_com=[["127.0.0.1"]])))
    assert observed.browser.error == "redirect-address"
    assert observed.exchange(AGENTS[0]).status == 200


async def test_an_empty_host_and_port_match_any(parser: ParserProcess) -> None:
    async with Site(faults=dict.fromkeys(HOMEPAGES, redirect("http://www.shop.test/home"))) as site:
        access = ScanPolicy(connect_to=(ConnectTo.parse(f"::127.0.0.1:{site.port}"),), limits=QUICK)
        observed = await observe(access.target("http://any.test"), parser=parser, access=access)
    assert observed.browser.url == "http://www.shop.test/home"
    assert {asked.field("host") for asked in site.asked} == {"any.test", "www.shop.test"}


async def test_a_dead_name_costs_no_more_than_the_look_up_limit(parser: ParserProcess) -> None:
    looked_up: list[str] = []

    async def never(host: str) -> Sequence[str]:
        looked_up.append(host)
        await asyncio.sleep(60)
        return ()

    access = ScanPolicy(resolver=never, limits=Limits(probe=5, lookup=0.3))
    observed = await observe(access.target("dead.com"), parser=parser, access=access)
    check_record(observed)
    assert {exchange.error for exchange in observed.exchanges} == {"dns"}
    assert "0.3 s" in observed.browser.detail
    assert looked_up == ["dead.com"], "once for all probes"
    assert observed.elapsed_ms < 1000 * access.limits.probe
    assert observed.unreachable


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost/",
        "http://127.0.0.1/",
        "http://10.0.0.1/",
        "http://[::1]/",
        "http://shop.example:8443/",
        "http://shop.example:22/",
        "router.local",
    ],
)
@pytest.mark.parametrize("rule", ["::127.0.0.1:{port}", ":::{port}", "{host}::127.0.0.1:{port}"])
async def test_no_rule_opens_a_private_host_or_another_port_to_a_remote_client(
    dialled: Dialled, parser: ParserProcess, url: str, rule: str
) -> None:
    async with Site() as sentinel:
        host = parse(url, allow_private=True).host
        written = rule.format(port=sentinel.port, host=f"[{host}]" if ":" in host else host)
        access = ScanPolicy(remote=True, connect_to=(ConnectTo.parse(written),), limits=QUICK)
        with pytest.raises(InvalidHost):
            await observe(access.target(url), parser=parser, access=access)
    assert sentinel.opened == 0
    assert dialled == []


@pytest.mark.parametrize("location", ["http://localhost/", "http://10.0.0.1/", "http://shop.com:8443/"])
async def test_no_rule_opens_a_redirect_to_a_remote_client(
    dialled: Dialled, parser: ParserProcess, location: str
) -> None:
    async with Site() as sentinel, Site(host="shop.com", faults={BROWSER: redirect(location)}) as site:
        rules = tuple(
            ConnectTo(host, port, "127.0.0.1", sentinel.port) for host, port in (("", 8443), ("localhost", 80))
        )
        rules += (ConnectTo("10.0.0.1", None, "127.0.0.1", sentinel.port),)
        observed = await scan(site, parser, site.access(remote=True, connect_to=rules))
    assert sentinel.opened == 0
    assert {port for _, port in dialled} == {site.port}
    assert observed.browser.error == "redirect-address"


@pytest.mark.parametrize("remote", [True, False])
async def test_a_rule_without_an_address_leaves_the_address_to_the_check(
    dialled: Dialled, parser: ParserProcess, remote: bool
) -> None:
    async with Site() as sentinel:
        rules = (ConnectTo.parse(f":80::{sentinel.port}"), ConnectTo.parse(f":443::{sentinel.port}"))
        access = ScanPolicy(remote=remote, connect_to=rules, resolver=Names(inner_com=[["127.0.0.1"]]), limits=QUICK)
        if remote:  # told as a name that does not exist
            assert (await observe(access.target("inner.com"), parser=parser, access=access)).unresolved
        else:
            with pytest.raises(InvalidHost):
                await observe(access.target("inner.com"), parser=parser, access=access)
        with pytest.raises(InvalidHost):
            access.target("http://127.0.0.1/")
    assert sentinel.opened == 0
    assert dialled == []


async def test_a_rule_without_an_address_reaches_a_private_one_where_that_is_allowed(parser: ParserProcess) -> None:
    async with Site() as site:
        rules = (ConnectTo.parse(f":80::{site.port}"),)
        names = Names(inner_com=[["127.0.0.1"]])
        access = ScanPolicy(allow_private=True, connect_to=rules, resolver=names, limits=QUICK)
        observed = await observe(access.target("http://inner.com"), parser=parser, access=access)
    assert observed.browser.status == 200
