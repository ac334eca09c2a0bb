"""Pages that a browser does not stay on, and bodies that it cannot show: what it shows is what is judged."""

from __future__ import annotations

import asyncio
from typing import Final

import pytest

from aui_tui.checks.scoring import grade_card
from aui_tui.model.observations import BROWSER
from aui_tui.model.vocabulary import CHALLENGED, SERVED
from aui_tui.scan.parser_process import ParserProcess
from tests.faults.lab import scan
from tests.faults.site import AGENTS, HOMEPAGES, PAGE, Asked, Behaviour, Site, answer, good


def page(markup: str, extra: bytes = b"", status: str = "200 OK") -> Behaviour:
    """Return what answers with ``markup`` at the root, and as a healthy site does elsewhere."""

    async def serve(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.path == "/":
            writer.write(answer(markup.encode(), status, extra=extra))
            await writer.drain()
        elif asked.path == "/home":
            writer.write(answer(PAGE))
            await writer.drain()
        else:
            await good(asked, writer)

    return serve


def refresh(content: str) -> str:
    return f"<!doctype html><title>On</title><meta http-equiv=Refresh content='{content}'><h1>Moved</h1>"


FOLLOWED: Final = {
    "a meta element": page(refresh("0; url=/home")),
    "after seconds": page(refresh("5;URL=/home")),
    "a header": page("", b"Refresh: 0; url=/home\r\n"),
    "quoted": page('<META content="1, url=&quot;/home&quot; more" http-equiv="refresh">'),
}


@pytest.mark.parametrize("name", FOLLOWED)
async def test_a_refresh_within_seconds_is_a_redirect(name: str, parser: ParserProcess) -> None:
    async with Site(faults=dict.fromkeys(HOMEPAGES, FOLLOWED[name])) as site:
        observed = await scan(site, parser)
    assert {one.outcome for one in observed.homepages} == {SERVED}
    assert {one.url for one in observed.homepages} == {"http://shop.test/home"}
    assert [(hop.status, hop.location) for hop in observed.browser.hops] == [(200, "/home")]
    moved = name in ("a meta element", "after seconds")
    assert observed.browser.hops[0].letters == (len("Moved") if moved else 0)
    assert observed.page.title == "A plain shop"


STAYS: Final = {
    "later": page(refresh("60; url=/home") + "Words to read. " * 20),
    "without scripts alone": page(f"<noscript>{refresh('0; url=/home')}</noscript>" + "Words to read. " * 20),
    "in a script": page("<script>x = \"<meta http-equiv=refresh content='0;url=/home'>\"</script>Words to read."),
    "to itself": page(refresh("3") + "Words to read. " * 20),
    "to itself by name": page(refresh("3; url=/") + "Words to read. " * 20),
    "to an app": page(refresh("0; url=shop://open") + "Words to read. " * 20),
    "to a private address": page(refresh("0; url=http://10.0.0.1/") + "Words to read. " * 20),
}


@pytest.mark.parametrize("name", STAYS)
async def test_another_refresh_leaves_the_page(name: str, parser: ParserProcess) -> None:
    async with Site(faults=dict.fromkeys(HOMEPAGES, STAYS[name])) as site:
        observed = await scan(site, parser)
    assert {(one.outcome, one.url) for one in observed.homepages} == {(SERVED, "http://shop.test/")}
    assert observed.browser.hops == ()
    assert observed.page.readable > 10


async def test_a_refresh_that_sets_a_cookie_leads_back_to_the_page(parser: ParserProcess) -> None:
    async def gate(asked: Asked, writer: asyncio.StreamWriter) -> None:
        body, extra = (PAGE, b"") if asked.field("cookie") else (refresh("0;url=/").encode(), b"Set-Cookie: t=1\r\n")
        writer.write(answer(body, extra=extra))
        await writer.drain()

    async with Site(faults=dict.fromkeys(HOMEPAGES, gate)) as site:
        observed = await scan(site, parser)
    assert {one.outcome for one in observed.homepages} == {SERVED}
    assert observed.page.title == "A plain shop"


async def test_a_test_for_humans_is_not_passed_by_its_refresh(parser: ParserProcess) -> None:
    wall = page(refresh("0; url=/home").replace("On", "Making sure you&#39;re not a bot!"))
    async with Site(faults=dict.fromkeys(AGENTS, wall)) as site:
        observed = await scan(site, parser)
    assert {observed.exchange(name).outcome for name in AGENTS} == {CHALLENGED}
    assert grade_card(observed).stance == "Walled"


BROKEN: Final = page(PAGE.decode(), b"Content-Encoding: gzip\r\n")


async def test_a_body_that_no_browser_can_decode_is_no_page_for_anybody(parser: ParserProcess) -> None:
    async with Site(faults=dict.fromkeys(HOMEPAGES, BROKEN)) as site:
        observed = await scan(site, parser)
    assert observed.unreachable
    text = grade_card(observed).evidence[0].text
    assert "the body is not compressed as its Content-Encoding says" in text


async def test_an_agent_that_alone_gets_such_a_body_is_turned_away(parser: ParserProcess) -> None:
    async with Site(faults=dict.fromkeys(AGENTS, BROKEN)) as site:
        observed = await scan(site, parser)
    assert observed.exchange(BROWSER).outcome == SERVED
    assert all(observed.exchange(name).dropped for name in AGENTS)
    assert grade_card(observed).stance == "Walled"


async def test_an_error_page_with_status_200_for_agents_alone_is_another_page(parser: ParserProcess) -> None:
    missing = page("<!doctype html><title>Page not found</title><h1>404</h1><p>The page does not exist.</p>")
    async with Site(faults=dict.fromkeys(AGENTS, missing)) as site:
        observed = await scan(site, parser)
    assert {observed.exchange(name).outcome for name in AGENTS} == {CHALLENGED}
    assert all(observed.exchange(name).another_page for name in AGENTS)


SHELL: Final = page("<!doctype html><html lang=en><title>App</title><div id=root></div><script src=/app.js></script>")
RENDERED: Final = page(f"<!doctype html><html lang=en><title>A shop for kettles</title>{'Kettles and pans. ' * 20}")


@pytest.mark.parametrize(("shells", "judged"), [(0, AGENTS[0]), (1, ""), (4, "")])
async def test_a_page_that_is_rendered_for_agents_is_judged_where_all_of_them_get_it(
    shells: int, judged: str, parser: ParserProcess
) -> None:
    pages = {BROWSER: SHELL} | {name: SHELL if number < shells else RENDERED for number, name in enumerate(AGENTS)}
    async with Site(faults=pages) as site:
        observed = await scan(site, parser)
    assert {one.outcome for one in observed.homepages} == {SERVED}
    assert (observed.page.seen_by, observed.page.noscript_shell) == (judged, not judged)
    assert grade_card(observed).stance == "Open"


LONG_WALL: Final = "<p>We check your browser. Nothing of this is for you to do.</p>" * 60


@pytest.mark.parametrize(
    "marks",
    [
        "<main><script>window._cf_chl_opt={cvId:'3'}</script>",
        "<div id=px-captcha></div><script>_pxAppId='x'</script>",
        "<script src=https://ct.captcha-delivery.com/c.js></script><button>Go</button>",
    ],
)
async def test_a_page_with_the_marks_of_a_wall_is_not_passed_over(marks: str, parser: ParserProcess) -> None:
    wall = page(refresh("1; url=/home") + marks + LONG_WALL)
    async with Site(faults=dict.fromkeys(AGENTS, wall)) as site:
        observed = await scan(site, parser)
    assert {observed.exchange(name).url for name in AGENTS} == {"http://shop.test/"}
    assert all(observed.exchange(name).hops == () for name in AGENTS)
