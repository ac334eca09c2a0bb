"""The heart of the method: browser and agents ask the same, each as itself, on connections of their own."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import chain

import pytest

from aui_tui.model.observations import BROWSER, FILE_PROBES
from aui_tui.model.progress import ProbeEvent
from aui_tui.model.registry import registry
from aui_tui.model.vocabulary import SERVED
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.policy import ConnectTo
from tests.faults.behaviours import redirect, sends
from tests.faults.lab import scan
from tests.faults.site import AGENTS, HOMEPAGES, PAGE, QUICK, Asked, Site, answer, good

REFUSE = sends(answer(b"no", "403 Forbidden"))


async def test_each_probe_says_who_it_is(parser: ParserProcess) -> None:
    async with Site() as site:
        await scan(site, parser)
    said = {asked.place: asked.field("user-agent") for asked in reversed(site.asked)}
    for agent in registry().live:
        assert said[agent.key] == agent.user_agent
        assert agent.token.lower() in said[agent.key].lower()
    assert said[BROWSER] == registry().browser_user_agent
    assert {said[name] for name in FILE_PROBES if name != "robots"} == {said[BROWSER]}
    robots = [asked.field("user-agent") for asked in site.asked if asked.place == "robots"]
    first = registry().live[0].user_agent
    again = [asked.place for asked in site.asked if asked.field("user-agent") == first and asked.place in FILE_PROBES]
    assert sorted(again) == sorted(FILE_PROBES), "each file that was found, once as an agent"
    readers = [agent.user_agent for agent in registry().live if agent.honours_robots != "no"]
    assert sorted(robots) == sorted([said[BROWSER], *readers])


async def test_all_probes_leave_before_any_answer_comes(parser: ParserProcess) -> None:
    everybody = asyncio.Event()
    places: set[str] = set()

    async def wait_for_all(asked: Asked, writer: asyncio.StreamWriter) -> None:
        places.add(asked.place)
        if len(places) == len(HOMEPAGES) + len(FILE_PROBES):
            everybody.set()
        await everybody.wait()
        writer.write(answer(b"<title>all</title>"))
        await writer.drain()

    async with Site(default=wait_for_all) as site:
        observed = await scan(site, parser)
    assert observed.browser.status == 200


async def test_no_cookie_reaches_another_identity(parser: ParserProcess) -> None:
    async def cookie(asked: Asked, writer: asyncio.StreamWriter) -> None:
        name = asked.place
        if asked.path == "/":
            extra = f"Set-Cookie: who={name}\r\nLocation: /second\r\n".encode()
            writer.write(answer(b"", "302 Found", extra=extra))
        else:
            writer.write(answer(b"<title>in</title>", extra=f"Set-Cookie: late={name}\r\n".encode()))
        await writer.drain()

    async with Site(default=cookie) as site:
        observed = await scan(site, parser)
    for asked in site.asked:
        for other in {*HOMEPAGES, *FILE_PROBES} - {asked.place}:
            assert f"={other}" not in asked.field("cookie")
    for exchange in observed.exchanges:
        assert not [value for name, value in exchange.headers if name == "set-cookie" and exchange.name in value]


async def test_an_agent_is_asked_again_by_the_same_request_and_the_browser_after_it(parser: ParserProcess) -> None:
    async with Site(faults=dict.fromkeys(AGENTS[:2], REFUSE)) as site:
        observed = await scan(site, parser, site.access(limits=replace(QUICK, causes=0)))
    for name in AGENTS[:2]:
        first, *others = (asked for asked in site.asked if asked.place == name)
        assert [asked.fields for asked in others] == [first.fields] * 3
        assert len(observed.exchange(name).attempts) == 3
    # the controls are an agent that is served and the browser, once more in each further round
    rounds = [[*AGENTS[:3], *[BROWSER] * times] for times in (1, 2, 3)]
    homepages = [place for place in site.places() if place in HOMEPAGES][len(HOMEPAGES) :]
    assert homepages[:15] == [*chain.from_iterable(rounds)]


async def test_the_users_own_fields_go_to_the_scanned_host_alone_and_into_no_record(parser: ParserProcess) -> None:
    secret, password = "k3y-of-the-staging-site", "pa55word-äß"
    extra = (("X-Staging", secret),)

    async def echo(asked: Asked, writer: asyncio.StreamWriter) -> None:
        seen = f"{asked.field('x-staging')} {asked.field('authorization')}"
        extra = f"X-Seen: {seen}\r\nServer: {password}\r\nLocation: http://other.test/?t={secret}\r\n"
        status = "302 Found" if asked.place == BROWSER else "200 OK"
        writer.write(answer(f"<title>{seen} {password}</title>".encode(), status, extra=extra.encode()))
        await writer.drain()

    async with Site() as other, Site(default=echo) as site:
        rule = ConnectTo("other.test", 80, "127.0.0.1", other.port)
        access = site.access(headers=extra, basic_auth=("me", password), connect_to=(rule,))
        observed = await scan(site, parser, access)
    assert {asked.field("x-staging") for asked in site.asked} == {secret}
    assert all(asked.field("authorization").startswith("Basic ") for asked in site.asked)
    assert {asked.field("x-staging") for asked in other.asked} == {""}
    assert {asked.field("authorization") for asked in other.asked} == {""}
    assert other.asked
    text = repr(observed)
    for hidden in (secret, password, site.asked[0].field("authorization").removeprefix("Basic ")):
        assert hidden not in text
    assert secret not in repr(access)
    assert password not in repr(access)


@pytest.mark.parametrize("password", ["browser", "shop.test", "2026"])
async def test_a_secret_that_is_a_word_of_the_record_breaks_nothing(password: str, parser: ParserProcess) -> None:
    async with Site(faults={AGENTS[0]: sends(answer(f"<title>{password}</title>".encode()))}) as site:
        observed = await scan(site, parser, site.access(basic_auth=("me", password)))
    assert observed.exchange(AGENTS[0]).title == "…"
    assert observed.host == "shop.test"
    assert observed.browser.status == 200


async def test_a_redirect_to_www_is_followed_and_the_host_stays(parser: ParserProcess) -> None:
    async def apex(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.field("host") == "shop.test":
            await redirect(f"http://www.shop.test{asked.path}", "301 Moved Permanently")(asked, writer)
        else:
            await good(asked, writer)

    async with Site(default=apex) as site:
        access = site.access(connect_to=(ConnectTo("www.shop.test", 80, "127.0.0.1", site.port),))
        observed = await scan(site, parser, access)
    assert observed.host == "shop.test"
    assert all(exchange.status == 200 for exchange in observed.exchanges)
    assert observed.browser.url == "http://www.shop.test/"
    assert [hop.status for hop in observed.browser.hops] == [301]
    assert (observed.files.llms, observed.files.mcp, observed.robots.kind) == (True, True, "rules")


async def test_secrets_are_in_no_progress_and_hidden_in_any_case(parser: ParserProcess) -> None:
    secret, password = "K3y-of-the-staging-site", "Correct-Horse"

    async def echo(asked: Asked, writer: asyncio.StreamWriter) -> None:
        to = f"Location: ftp://me:{password}@{asked.field('x-staging')}/".encode()
        if asked.place == AGENTS[0]:
            writer.write(answer(b"", "302 Found", extra=to + b"\r\n"))
        else:
            writer.write(answer(f"<title>{secret.upper()} {password.lower()}</title>".encode()))
        await writer.drain()

    heard: list[ProbeEvent] = []
    async with Site(default=echo) as site:
        access = site.access(headers=(("X-Staging", secret),), basic_auth=("me", password))
        observed = await scan(site, parser, access, progress=heard.append)
    assert observed.exchange(AGENTS[0]).error == "redirect-scheme"
    assert [event.note for event in heard if event.name == AGENTS[0] and event.state == "done"] != [""]
    for hidden in (secret, password):
        assert hidden.lower() not in repr(observed).lower()
        assert hidden.lower() not in repr(heard).lower()


async def test_a_site_that_bounces_until_a_cookie_sticks_is_reached(parser: ParserProcess) -> None:
    async def bounce(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.field("cookie") == f"seen={asked.place}":
            await good(asked, writer)
        else:
            extra = f"Set-Cookie: seen={asked.place}; Path=/\r\nLocation: {asked.path}\r\n".encode()
            writer.write(answer(b"", "302 Found", extra=extra))
            await writer.drain()

    async with Site(default=bounce) as site:
        observed = await scan(site, parser)
    assert all((exchange.status, len(exchange.hops)) == (200, 1) for exchange in observed.exchanges)


async def test_twenty_redirects_are_followed_and_no_more(parser: ParserProcess) -> None:
    async def twenty(asked: Asked, writer: asyncio.StreamWriter) -> None:
        onward = len(asked.path) <= 20
        await (redirect(f"{asked.path}x") if onward else sends(answer(PAGE)))(asked, writer)

    async def endless(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await redirect(f"{asked.path}x")(asked, writer)

    async with Site(faults={BROWSER: twenty, AGENTS[0]: endless}) as site:
        observed = await scan(site, parser, site.access(limits=replace(QUICK, causes=0)))
    assert (observed.browser.outcome, len(observed.browser.hops)) == (SERVED, 20)
    lost = observed.exchange(AGENTS[0])
    assert (lost.status, lost.error) == (302, "redirect-loop")
    assert "20 times" in lost.detail
    # it is asked three times more before it counts as led nowhere
    assert site.places().count(AGENTS[0]) == 4 * 21
