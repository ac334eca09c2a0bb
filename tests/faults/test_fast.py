"""The extra ``fast``: the same record as the ordinary client's, along the same routes, and nothing left behind."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace

import msgspec
import pytest

from aui_tui.model.observations import BROWSER, FILE_PROBES, SERVED, Observations
from aui_tui.scan import probes
from aui_tui.scan.network import Network, PyreqwestTransport, streams
from aui_tui.scan.network.streams import Reply
from aui_tui.scan.parser_pool import Parser
from aui_tui.scan.policy import ConnectTo, ScanPolicy
from aui_tui.scan.scan import observe
from aui_tui.scan.target import Origin, Target
from tests.cli.runner import ROOT
from tests.faults import behaviours, h2_site
from tests.faults.authority import Authority
from tests.faults.h2_site import H2Site
from tests.faults.lab import check_record, settled
from tests.faults.site import AGENTS, HOMEPAGES, PAGE, QUICK, TITLE, Behaviour, Site, answer

AGENT = AGENTS[0]


@pytest.fixture
def dialled(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The connections that the ordinary client opens."""
    found: list[tuple[str, int]] = []
    connect = streams.connect

    async def spy(address: str, port: int) -> streams.Stream:
        found.append((address, port))
        return await connect(address, port)

    monkeypatch.setattr(streams, "connect", spy)
    return found


def fast_for(access: ScanPolicy, *, window: float = 0.0, most: int = 8) -> PyreqwestTransport:
    return PyreqwestTransport(access, probes.versions(), window=window, most=most)


async def fast_scan(target: Target, access: ScanPolicy, parser: Parser) -> Observations:
    async with fast_for(access) as fast:
        observed = await observe(target, parser=parser, access=access, fast=fast)
    check_record(observed)
    return observed


def timeless(observed: Observations) -> object:
    """Return a record without what differs from one scan to the next."""

    def without(value: object) -> object:
        if isinstance(value, dict):
            return {key: without(inner) for key, inner in value.items() if key not in ("scanned_at", "elapsed_ms")}
        return [without(inner) for inner in value] if isinstance(value, list | tuple) else value

    return without(msgspec.to_builtins(observed))


FAULTS: dict[str, Behaviour] = {
    "refused": behaviours.sends(answer(b"no", "403 Forbidden")),
    "challenged": behaviours.sends(
        answer(b"<title>Just a moment...</title>", "403 Forbidden", extra=b"cf-mitigated: challenge\r\n")
    ),
    "header of Latin-1": behaviours.sends(answer(PAGE, extra=b"X-Place: Orl\xe9ans\r\n")),
    "header of UTF-8": behaviours.sends(answer(PAGE, extra="X-Place: Orléans\r\n".encode())),
    "many cookies": behaviours.sends(answer(PAGE, extra=b"".join(b"Set-Cookie: c%d=1\r\n" % n for n in range(150)))),
    "redirect to itself": behaviours.redirect("/"),
    "redirect along dot segments": behaviours.redirect("/a/../b/./c"),
    "redirect to nowhere": behaviours.redirect("http://nowhere.invalid/"),
    "redirect without place": behaviours.sends(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n"),
    "unknown coding": behaviours.sends(answer(PAGE, extra=b"Content-Encoding: rot13\r\n")),
    "status 999": behaviours.sends(answer(PAGE, "999 Odd")),
    "status 99": behaviours.sends(b"HTTP/1.1 99 Odd\r\nContent-Length: 0\r\n\r\n"),
    "no HTTP": behaviours.sends(b"SSH-2.0-OpenSSH_9.2\r\n"),
    "body cut off": behaviours.sends(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n<title>x</title>"),
    "silence": behaviours.silence,
}


@pytest.mark.ci
@pytest.mark.parametrize("fault", FAULTS)
async def test_the_record_is_that_of_the_ordinary_client(fault: str, parser: Parser) -> None:
    async with Site(faults={AGENT: FAULTS[fault], "llms": FAULTS[fault]}) as site:
        access = site.access(replace(QUICK, probe=2.5))
        found = await fast_scan(site.target, access, parser)
        usual = await observe(site.target, parser=parser, access=access)
    assert timeless(found) == timeless(usual)
    assert found.browser.title == TITLE


@pytest.mark.ci
async def test_it_asks_over_tls_and_the_ordinary_client_opens_next_to_nothing(
    authority: Authority, parser: Parser, dialled: list[tuple[str, int]]
) -> None:
    async with Site(tls=authority.server()) as site:
        access = site.access(replace(QUICK, patience=0.5), cafile=authority.cafile)
        found = await fast_scan(site.target, access, parser)
        assert await settled(site) == 0
        assert len(dialled) == 1, "the client without Accept"
        by_place = {asked.place: asked.connection for asked in site.asked}
        assert len({by_place[name] for name in HOMEPAGES}) == site.opened == 5
        assert {by_place[name] for name in FILE_PROBES} == {by_place[BROWSER]}
        usual = await observe(site.target, parser=parser, access=access)
    assert all(exchange.outcome == SERVED for exchange in found.exchanges if exchange.name in HOMEPAGES)
    assert timeless(found) == timeless(usual)


async def test_it_asks_over_http_2(authority: Authority, parser: Parser, dialled: list[tuple[str, int]]) -> None:
    async with H2Site(authority.server(), faults={AGENT: h2_site.goaway}) as site:
        access = ScanPolicy(
            connect_to=(ConnectTo("shop.test", 443, "127.0.0.1", site.port),),
            cafile=authority.cafile,
            limits=replace(QUICK, causes=0),
        )
        found = await fast_scan(access.target("https://shop.test"), access, parser)
        ordinary = len(dialled)
        usual = await observe(access.target("https://shop.test"), parser=parser, access=access)
    assert ordinary <= 7, "asked alone, agent and browser go the ordinary way"
    assert found.browser.http_version == "HTTP/2"
    assert timeless(found) == timeless(usual)


async def test_over_http_2_each_identity_has_one_connection_in_a_crawl(
    authority: Authority, parser: Parser, dialled: list[tuple[str, int]]
) -> None:
    async with H2Site(authority.server()) as site:
        access = ScanPolicy(
            connect_to=(ConnectTo("shop.test", 443, "127.0.0.1", site.port),),
            cafile=authority.cafile,
            limits=replace(QUICK, patience=2.0),
        )
        await fast_scan(access.target("https://shop.test"), access, parser)
        by_place = {asked.place: asked.connection for asked in site.asked}
    assert len(dialled) == 1, "the client without Accept"
    assert len({by_place[name] for name in HOMEPAGES}) == site.opened == 5
    assert {by_place[name] for name in FILE_PROBES} == {by_place[BROWSER]}


@pytest.mark.parametrize("tls", [False, True])
async def test_header_fields_are_the_same_in_the_same_order(tls: bool, authority: Authority, parser: Parser) -> None:
    async with Site(tls=authority.server() if tls else None) as site:
        access = site.access(cafile=authority.cafile)
        await fast_scan(site.target, access, parser)
        fast = {asked.path + asked.place: asked for asked in site.asked}
        site.asked.clear()
        await observe(site.target, parser=parser, access=access)
        for asked in site.asked:
            usual = [(name.lower(), value) for name, value in asked.fields]
            found = [(name.lower(), value) for name, value in fast[asked.path + asked.place].fields]
            if tls and asked.place not in AGENTS[1:4:2]:  # the library may speak HTTP/2, and puts Host last
                found.insert(0, found.pop(found.index(("host", "shop.test"))))
                found = [field for field in found if field[0] != "priority"]
            assert found == usual


async def test_a_certificate_that_is_not_trusted_is_reported_as_ever(authority: Authority, parser: Parser) -> None:
    async with Site(tls=authority.server()) as site:
        found = await fast_scan(site.target, site.access(), parser)
        usual = await observe(site.target, parser=parser, access=site.access())
        careless = await fast_scan(site.target, site.access(insecure=True), parser)
    assert found.browser.error == "tls"
    assert timeless(found) == timeless(usual)
    assert careless.browser.outcome == SERVED


async def test_a_name_that_leads_inside_is_not_asked(parser: Parser) -> None:
    async def resolver(host: str) -> Sequence[str]:
        return ("127.0.0.1",)

    async with Site() as site:
        access = ScanPolicy(resolver=resolver, limits=QUICK)
        async with fast_for(access) as fast, Network(access, fast) as network:
            await network.prepare(Origin("http", "shop.test", site.port))
            assert network._origin_clients == []
        assert site.opened == 0


async def test_a_rule_for_an_address_is_followed(parser: Parser) -> None:
    async with Site() as site, Site() as trap:
        rule = ConnectTo("127.0.0.1", trap.port, "127.0.0.1", site.port)
        access = ScanPolicy(connect_to=(rule,), limits=QUICK)
        observed = await fast_scan(access.target(f"http://127.0.0.1:{trap.port}"), access, parser)
        assert (site.opened > 0, trap.opened) == (True, 0)
    assert observed.browser.outcome == SERVED


@pytest.mark.parametrize(
    ("host", "served"),
    [
        ("shop.test", True),
        ("a_b.test", True),
        ("xn--bcher-kva.de", True),
        ("192.0.2.1", False),
        ("[2001:db8::1]", False),
    ]
    + [(odd, False) for odd in ("0x7f.1", "1.2.3", "Shop.test", "a%2eb.test", "xn--a.test", "")],
)
def test_it_serves_only_names_that_it_leaves_as_they_are(host: str, served: bool) -> None:
    assert PyreqwestTransport.serves(host) is served


async def reply(fast: PyreqwestTransport, site: Site, path: str) -> Reply | None:
    origin = Origin("http", site.host, 80)
    batch = await fast.join(site.host, "127.0.0.1", site.port)
    try:
        async with AsyncExitStack() as stack:
            return await batch.origin_clients(origin)[0].get(stack, origin, path, [(b"Accept", b"*/*")])
    finally:
        fast.leave(batch)


@pytest.mark.parametrize("path", ["/a/../b", "/.", "/a b", "/%2e%2e/", "/ü", "/a?b", "/#", "*", "//evil.test@x/"])
async def test_only_plain_paths_are_given_to_it(path: str) -> None:
    async with Site() as site, fast_for(site.access()) as fast:
        assert await reply(fast, site, path) is None
        assert site.opened == 0
        assert await reply(fast, site, "/.well-known/ucp") is not None


async def test_hosts_of_one_moment_share_a_crew(parser: Parser) -> None:
    async with Site() as site, fast_for(site.access(), window=30, most=3) as fast:
        batches = await asyncio.gather(*(fast.join(f"{name}.test", "127.0.0.1", site.port) for name in "abc"))
        assert len({id(batch) for batch in batches}) == 1
        assert len(batches[0].clients) == len(HOMEPAGES)
        for batch in batches[:2]:
            fast.leave(batch)
        assert batches[0].clients
        fast.leave(batches[2])
        await asyncio.sleep(0)
        assert not batches[0].clients


async def test_a_host_with_another_address_gets_a_crew_of_its_own() -> None:
    async with fast_for(ScanPolicy(), window=0.01) as fast:
        first, second = await asyncio.gather(
            fast.join("a.test", "192.0.2.1", 443), fast.join("a.test", "192.0.2.2", 443)
        )
        assert first is not second
        assert (first.dialled, second.dialled) == ({"a.test": ("192.0.2.1", 443)}, {"a.test": ("192.0.2.2", 443)})
        fast.leave(first)
        fast.leave(second)


async def test_who_is_cancelled_while_joining_leaves_no_clients() -> None:
    async with fast_for(ScanPolicy(), window=0.05) as fast:
        joining = asyncio.create_task(fast.join("a.test", "192.0.2.1", 443))
        await asyncio.sleep(0)
        batch = fast._joining
        assert batch is not None
        joining.cancel()
        with pytest.raises(asyncio.CancelledError):
            await joining
    assert batch.ready.is_set()
    assert not batch.clients


async def test_without_clients_everything_is_asked_the_ordinary_way(
    parser: Parser, monkeypatch: pytest.MonkeyPatch, dialled: list[tuple[str, int]]
) -> None:
    def broken(self: PyreqwestTransport, dialled: dict[str, tuple[str, int]]) -> Sequence[object]:
        raise OSError("no roots")

    monkeypatch.setattr(PyreqwestTransport, "_build", broken)
    async with Site() as site:
        observed = await fast_scan(site.target, site.access(), parser)
        assert len(dialled) == site.opened > 0
    assert observed.browser.outcome == SERVED


async def test_cancelled_in_a_body_nothing_is_left(parser: Parser) -> None:
    drips = behaviours.drips(b"HTTP/1.1 200 OK\r\n\r\n<title>x</title>", b"x", 0.01)
    async with Site(default=drips) as site, fast_for(site.access()) as fast:
        task = asyncio.create_task(observe(site.target, parser=parser, access=site.access(), fast=fast))
        while len(site.asked) < len(HOMEPAGES):
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await settled(site) == 0


@pytest.mark.ci
async def test_cancelled_before_a_status_connections_end_with_the_time_of_a_probe(parser: Parser) -> None:
    async with Site(default=behaviours.silence) as site, fast_for(site.access()) as fast:
        task = asyncio.create_task(observe(site.target, parser=parser, access=site.access(), fast=fast))
        while len(site.asked) < len(HOMEPAGES):
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await settled(site, 30) == 0


SCRIPT = """
import asyncio, sys
from aui_tui.scan.policy import ScanPolicy
from aui_tui.scan.network import PyreqwestTransport

async def main():
    async with PyreqwestTransport(ScanPolicy(), (True, True), window=0.0) as fast:
        batch = await fast.join("a.test", "127.0.0.1", 9)
        assert len(batch.clients) == 2
        fast.leave(batch)

asyncio.run(main())
"""


@pytest.mark.ci
def test_a_program_that_used_it_ends_quietly() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
