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

from aui_tui.engine import identity
from aui_tui.engine.access import Access, Detour
from aui_tui.engine.network import Network, Swift, streams
from aui_tui.engine.network.reply import Reply
from aui_tui.engine.parser_pool import Analyser
from aui_tui.engine.scan import observe
from aui_tui.engine.target import Origin, Target
from aui_tui.records.observations import BROWSER, FILE_PROBES, SERVED, Observations
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


def swift_for(access: Access, *, window: float = 0.0, most: int = 8) -> Swift:
    return Swift(access, identity.versions(), window=window, most=most)


async def swiftly(target: Target, access: Access, analyser: Analyser) -> Observations:
    async with swift_for(access) as swift:
        observed = await observe(target, analyser=analyser, access=access, swift=swift)
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


@pytest.mark.parametrize("fault", FAULTS)
async def test_the_record_is_that_of_the_ordinary_client(fault: str, analyser: Analyser) -> None:
    async with Site(faults={AGENT: FAULTS[fault], "llms": FAULTS[fault]}) as site:
        access = site.access()
        found = await swiftly(site.target, access, analyser)
        usual = await observe(site.target, analyser=analyser, access=access)
    assert timeless(found) == timeless(usual)
    assert found.browser.title == TITLE


async def test_it_asks_over_tls_and_the_ordinary_client_opens_next_to_nothing(
    authority: Authority, analyser: Analyser, dialled: list[tuple[str, int]]
) -> None:
    async with Site(tls=authority.server()) as site:
        access = site.access(replace(QUICK, patience=0.5), cafile=authority.cafile)
        found = await swiftly(site.target, access, analyser)
        assert await settled(site) == 0
        assert len(dialled) == 1, "the client without Accept"
        by_place = {asked.place: asked.connection for asked in site.asked}
        assert len({by_place[name] for name in HOMEPAGES}) == site.opened == 5
        assert {by_place[name] for name in FILE_PROBES} == {by_place[BROWSER]}
        usual = await observe(site.target, analyser=analyser, access=access)
    assert all(exchange.outcome == SERVED for exchange in found.exchanges if exchange.name in HOMEPAGES)
    assert timeless(found) == timeless(usual)


async def test_it_asks_over_http_2(authority: Authority, analyser: Analyser, dialled: list[tuple[str, int]]) -> None:
    async with H2Site(authority.server(), faults={AGENT: h2_site.goaway}) as site:
        access = Access(
            connect_to=(Detour("shop.test", 443, "127.0.0.1", site.port),),
            cafile=authority.cafile,
            limits=replace(QUICK, causes=0),
        )
        found = await swiftly(access.target("https://shop.test"), access, analyser)
        ordinary = len(dialled)
        usual = await observe(access.target("https://shop.test"), analyser=analyser, access=access)
    assert ordinary <= 7, "asked alone, agent and browser go the ordinary way"
    assert found.browser.http_version == "HTTP/2"
    assert timeless(found) == timeless(usual)


async def test_over_http_2_each_identity_has_one_connection_in_a_crawl(
    authority: Authority, analyser: Analyser, dialled: list[tuple[str, int]]
) -> None:
    async with H2Site(authority.server()) as site:
        access = Access(
            connect_to=(Detour("shop.test", 443, "127.0.0.1", site.port),),
            cafile=authority.cafile,
            limits=replace(QUICK, patience=2.0),
        )
        await swiftly(access.target("https://shop.test"), access, analyser)
        by_place = {asked.place: asked.connection for asked in site.asked}
    assert len(dialled) == 1, "the client without Accept"
    assert len({by_place[name] for name in HOMEPAGES}) == site.opened == 5
    assert {by_place[name] for name in FILE_PROBES} == {by_place[BROWSER]}


@pytest.mark.parametrize("tls", [False, True])
async def test_header_fields_are_the_same_in_the_same_order(
    tls: bool, authority: Authority, analyser: Analyser
) -> None:
    async with Site(tls=authority.server() if tls else None) as site:
        access = site.access(cafile=authority.cafile)
        await swiftly(site.target, access, analyser)
        swift = {asked.path + asked.place: asked for asked in site.asked}
        site.asked.clear()
        await observe(site.target, analyser=analyser, access=access)
        for asked in site.asked:
            usual = [(name.lower(), value) for name, value in asked.fields]
            found = [(name.lower(), value) for name, value in swift[asked.path + asked.place].fields]
            if tls and asked.place not in AGENTS[1:4:2]:  # the library may speak HTTP/2, and puts Host last
                found.insert(0, found.pop(found.index(("host", "shop.test"))))
                found = [field for field in found if field[0] != "priority"]
            assert found == usual


async def test_a_certificate_that_is_not_trusted_is_told_as_ever(authority: Authority, analyser: Analyser) -> None:
    async with Site(tls=authority.server()) as site:
        found = await swiftly(site.target, site.access(), analyser)
        usual = await observe(site.target, analyser=analyser, access=site.access())
        careless = await swiftly(site.target, site.access(insecure=True), analyser)
    assert found.browser.error == "tls"
    assert timeless(found) == timeless(usual)
    assert careless.browser.outcome == SERVED


async def test_a_name_that_leads_inside_is_not_asked(analyser: Analyser) -> None:
    async def resolver(host: str) -> Sequence[str]:
        return ("127.0.0.1",)

    async with Site() as site:
        access = Access(resolver=resolver, limits=QUICK)
        async with swift_for(access) as swift, Network(access, swift) as network:
            await network.prepare(Origin("http", "shop.test", site.port))
            assert network._passages == []
        assert site.opened == 0


async def test_a_rule_for_an_address_is_followed(analyser: Analyser) -> None:
    async with Site() as site, Site() as trap:
        rule = Detour("127.0.0.1", trap.port, "127.0.0.1", site.port)
        access = Access(connect_to=(rule,), limits=QUICK)
        observed = await swiftly(access.target(f"http://127.0.0.1:{trap.port}"), access, analyser)
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
    assert Swift.serves(host) is served


async def reply(swift: Swift, site: Site, path: str) -> Reply | None:
    origin = Origin("http", site.host, 80)
    crew = await swift.join(site.host, "127.0.0.1", site.port)
    try:
        async with AsyncExitStack() as stack:
            return await crew.passages(origin)[0].get(stack, origin, path, [(b"Accept", b"*/*")])
    finally:
        swift.leave(crew)


@pytest.mark.parametrize("path", ["/a/../b", "/.", "/a b", "/%2e%2e/", "/ü", "/a?b", "/#", "*", "//evil.test@x/"])
async def test_only_plain_paths_are_given_to_it(path: str) -> None:
    async with Site() as site, swift_for(site.access()) as swift:
        assert await reply(swift, site, path) is None
        assert site.opened == 0
        assert await reply(swift, site, "/.well-known/ucp") is not None


async def test_hosts_of_one_moment_share_a_crew(analyser: Analyser) -> None:
    async with Site() as site, swift_for(site.access(), window=30, most=3) as swift:
        crews = await asyncio.gather(*(swift.join(f"{name}.test", "127.0.0.1", site.port) for name in "abc"))
        assert len({id(crew) for crew in crews}) == 1
        assert len(crews[0].clients) == len(HOMEPAGES)
        for crew in crews[:2]:
            swift.leave(crew)
        assert crews[0].clients
        swift.leave(crews[2])
        await asyncio.sleep(0)
        assert not crews[0].clients


async def test_a_host_with_another_address_gets_a_crew_of_its_own() -> None:
    async with swift_for(Access(), window=0.01) as swift:
        first, second = await asyncio.gather(
            swift.join("a.test", "192.0.2.1", 443), swift.join("a.test", "192.0.2.2", 443)
        )
        assert first is not second
        assert (first.dialled, second.dialled) == ({"a.test": ("192.0.2.1", 443)}, {"a.test": ("192.0.2.2", 443)})
        swift.leave(first)
        swift.leave(second)


async def test_who_is_cancelled_while_joining_leaves_no_clients() -> None:
    async with swift_for(Access(), window=0.05) as swift:
        joining = asyncio.create_task(swift.join("a.test", "192.0.2.1", 443))
        await asyncio.sleep(0)
        crew = swift._joining
        assert crew is not None
        joining.cancel()
        with pytest.raises(asyncio.CancelledError):
            await joining
    assert crew.ready.is_set()
    assert not crew.clients


async def test_without_clients_everything_is_asked_the_ordinary_way(
    analyser: Analyser, monkeypatch: pytest.MonkeyPatch, dialled: list[tuple[str, int]]
) -> None:
    def broken(self: Swift, dialled: dict[str, tuple[str, int]]) -> Sequence[object]:
        raise OSError("no roots")

    monkeypatch.setattr(Swift, "_build", broken)
    async with Site() as site:
        observed = await swiftly(site.target, site.access(), analyser)
        assert len(dialled) == site.opened > 0
    assert observed.browser.outcome == SERVED


async def test_cancelled_in_a_body_nothing_is_left(analyser: Analyser) -> None:
    drips = behaviours.drips(b"HTTP/1.1 200 OK\r\n\r\n<title>x</title>", b"x", 0.01)
    async with Site(default=drips) as site, swift_for(site.access()) as swift:
        task = asyncio.create_task(observe(site.target, analyser=analyser, access=site.access(), swift=swift))
        while len(site.asked) < len(HOMEPAGES):
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await settled(site) == 0


async def test_cancelled_before_a_status_connections_end_with_the_time_of_a_probe(analyser: Analyser) -> None:
    async with Site(default=behaviours.silence) as site, swift_for(site.access()) as swift:
        task = asyncio.create_task(observe(site.target, analyser=analyser, access=site.access(), swift=swift))
        while len(site.asked) < len(HOMEPAGES):
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await settled(site, 30) == 0


SCRIPT = """
import asyncio, sys
from aui_tui.engine.access import Access
from aui_tui.engine.network import Swift

async def main():
    async with Swift(Access(), (True, True), window=0.0) as swift:
        crew = await swift.join("a.test", "127.0.0.1", 9)
        assert len(crew.clients) == 2
        swift.leave(crew)

asyncio.run(main())
"""


def test_a_program_that_used_it_ends_quietly() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
