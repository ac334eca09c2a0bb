"""robots.txt and the files for agents as the site that serves the page gives them, and as each agent gets them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import pytest

from aui_tui.checks.scoring import grade_card
from aui_tui.model.card import ReportCard
from aui_tui.model.observations import FILE_PROBES, Observations
from aui_tui.model.registry import registry
from aui_tui.model.vocabulary import SERVED
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.policy import ConnectTo
from aui_tui.scan.scan import observe
from tests.faults.behaviours import redirect, sends
from tests.faults.lab import check_record, scan
from tests.faults.site import AGENTS, GOOD, HOMEPAGES, PLACES, QUICK, Asked, Behaviour, Site, answer, good

RULES: Final = b"User-agent: *\nContent-Signal: search=yes, ai-input=yes\nDisallow:\n"
CLOSED: Final = b"User-agent: *\nDisallow: /\n"
NAMES: Final = {agent.user_agent for agent in registry().live}


def by_name(browser: bytes, agents: bytes) -> Behaviour:
    """Send one answer to a browser and another to agents' names."""

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await sends(agents if asked.field("user-agent") in NAMES else browser)(asked, writer)

    return behave


def text(body: bytes, status: str = "200 OK", kind: str = "text/plain", extra: bytes = b"") -> bytes:
    return answer(body, status, kind, extra)


def points(card: ReportCard) -> dict[str, int | None]:
    """Return the points of each component, None where it was not measured."""
    return {entry.component: entry.earned if entry.measured else None for entry in card.ledger.entries}


def told(card: ReportCard, *words: str) -> list[str]:
    return [line.text for line in card.evidence if all(word in line.text for word in words)]


def matrix(card: ReportCard) -> list[str]:
    return list(card.matrix.values())[1:5]


@pytest.mark.parametrize("extra", [b"sg-captcha: challenge\r\n", b"x-amzn-waf-action: challenge\r\n"])
@pytest.mark.parametrize("status", ["202 Accepted", "405 Method Not Allowed"])
async def test_a_file_behind_a_wall_is_not_measured(extra: bytes, status: str, parser: ParserProcess) -> None:
    wall = sends(answer(b"", status, extra=extra))
    async with Site(faults={"robots": wall, "llms": wall, "ucp": wall, "mcp": wall}) as site:
        card = grade_card(await scan(site, parser))
    earned = points(card)
    assert [earned[name] for name in ("robots", "signal", "llms", "front-door")] == [None] * 4
    assert not {"robots", "signal", "llms", "front-door"} & {fix.k for fix in card.recommendations}
    assert len(told(card, "shop.test/robots.txt is behind a wall")) == 1
    assert len(told(card, "shop.test/llms.txt is behind a wall")) == 1
    assert not told(card, "holds no rules")


async def test_a_text_that_quotes_a_wall_is_no_wall(parser: ParserProcess) -> None:
    quoted = b"# captcha-delivery.com Sorry, you have been blocked\n" + RULES
    async with Site(faults={"robots": sends(answer(quoted, content_type=""))}) as site:
        card = grade_card(await scan(site, parser))
    assert points(card)["robots"] == 9


async def two_hosts(
    parser: ParserProcess, first: Mapping[str, Behaviour], www: Mapping[str, Behaviour]
) -> tuple[Observations, Site, Site]:
    """Scan ``shop.test``, whose homepage redirects to ``www.shop.test``."""
    async with Site(faults=www, host="www.shop.test") as there:
        homepages = dict.fromkeys(("browser", *AGENTS), redirect("http://www.shop.test/"))
        async with Site(faults=homepages | dict(first)) as here:
            access = here.access(connect_to=(ConnectTo("www.shop.test", 80, "127.0.0.1", there.port),))
            seen = await observe(access.target(here.url), parser=parser, access=access)
            check_record(seen)
            return seen, here, there


async def test_the_files_are_those_of_the_host_that_serves_the_homepage(parser: ParserProcess) -> None:
    missing = dict.fromkeys(("llms", "ucp", "mcp", "ai-plugin"), sends(answer(b"", "404 Not Found")))
    closed = {"robots": sends(text(CLOSED)), **missing}
    seen, _, there = await two_hosts(parser, {"robots": sends(text(RULES))}, closed)
    card = grade_card(seen)
    assert matrix(card) == ["disallowed"] * 4
    assert (card.stance, card.agents_disallowed, card.wildcard_block) == ("Walled", 19, True)
    assert told(card, "www.shop.test/robots.txt line 2")
    assert told(card, "There is no www.shop.test/llms.txt")
    assert set(FILE_PROBES) <= set(there.places())
    fixes = {fix.k: fix.body for fix in card.recommendations}
    assert "http://www.shop.test/llms.txt" in fixes["llms"]


async def test_the_first_hosts_own_rules_are_said_where_they_shut_agents_out(parser: ParserProcess) -> None:
    seen, _, _ = await two_hosts(parser, {"robots": sends(text(CLOSED))}, {})
    card = grade_card(seen)
    assert (matrix(card), card.stance, card.score) == (["partial"] * 4, "Open", 100)
    assert told(
        card, "shop.test/robots.txt, which a visitor meets before the redirect to www.shop.test, disallows all 19"
    )
    assert told(card, "www.shop.test/robots.txt disallows none")


async def test_files_that_are_redirected_as_the_homepage_is_cost_no_request_more(parser: ParserProcess) -> None:
    async def move(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await redirect(f"http://www.shop.test{asked.path}")(asked, writer)

    seen, here, there = await two_hosts(parser, dict.fromkeys(PLACES, move), {})
    assert grade_card(seen).score == 100
    asked = [[one for one in site.asked if one.path != "/robots.txt"] for site in (here, there)]
    assert list(map(len, asked)) == [11, 11 + 4 + 1], "each of four files once more as an agent, and a text of nobody"


@pytest.mark.parametrize(("browser", "agents", "verdict"), [(CLOSED, RULES, "allowed"), (RULES, CLOSED, "disallowed")])
async def test_an_agent_is_judged_by_the_robots_txt_that_it_gets(
    browser: bytes, agents: bytes, verdict: str, parser: ParserProcess
) -> None:
    async with Site(faults={"robots": by_name(text(browser), text(agents))}) as site:
        card = grade_card(await scan(site, parser, site.access(replace(QUICK, again=QUICK.probe))))
    assert matrix(card) == [verdict] * 4
    assert card.wildcard_block is (browser == CLOSED), "the record keeps the browser's file"
    assert told(card, "robots.txt is another one for")


@pytest.mark.parametrize("name", ["llms", "ucp", "mcp"])
@pytest.mark.parametrize("refusal", [answer(b"no", "403 Forbidden"), answer(b"gone", "404 Not Found")])
async def test_a_file_that_is_closed_to_agents_earns_nothing(name: str, refusal: bytes, parser: ParserProcess) -> None:
    places = {"llms": "/llms.txt", "ucp": "/.well-known/ucp", "mcp": "/.well-known/mcp.json"}
    kind, body = GOOD[places[name]]
    missing = dict.fromkeys(("ai-plugin", *(other for other in ("ucp", "mcp") if other != name)), sends(refusal))
    async with Site(faults=missing | {name: by_name(answer(body, content_type=kind), refusal)}) as site:
        card = grade_card(await scan(site, parser))
    fix = "llms" if name == "llms" else "front-door"
    assert points(card)[fix] == 0
    assert told(card, f"shop.test{places[name]} is closed to agents: ChatGPT gets 40")
    assert fix != "llms" or not told(card, "tells agents where to start")
    body_of_fix = next(one.body for one in card.recommendations if one.k == fix)
    assert "ChatGPT gets 40" in body_of_fix
    assert "There is none yet" not in body_of_fix


async def test_a_limit_on_the_one_request_as_an_agent_closes_no_file(parser: ParserProcess) -> None:
    kind, body = GOOD["/llms.txt"]
    limited = answer(b"later", "429 Too Many Requests")
    async with Site(faults={"llms": by_name(answer(body, content_type=kind), limited)}) as site:
        card = grade_card(await scan(site, parser))
    assert points(card)["llms"] == 3


async def test_a_file_is_asked_for_as_an_agent_that_was_refused(parser: ParserProcess) -> None:
    async with Site(faults={AGENTS[2]: sends(answer(b"no", "403 Forbidden"))}) as site:
        await scan(site, parser)
    name = registry().live[2].user_agent
    assert [one.place for one in site.asked if one.field("user-agent") == name and one.path.startswith("/llms")]


CATCH_ALL: Final = json.dumps({"name": "shop", "remotes": [{"url": "https://shop.test/mcp"}], "ok": True}).encode()


@pytest.mark.parametrize("everywhere", [True, False])
async def test_one_answer_to_every_path_is_no_file(everywhere: bool, parser: ParserProcess) -> None:
    async def same(asked: Asked, writer: asyncio.StreamWriter) -> None:
        page = asked.path in ("/", "/robots.txt") or (not everywhere and not asked.path.startswith("/.well-known/"))
        await (good if page else sends(answer(CATCH_ALL, content_type="application/json")))(asked, writer)

    async with Site(default=same) as site:
        card = grade_card(await scan(site, parser))
    assert points(card)["front-door"] == 0
    assert told(card, "shop.test/.well-known/mcp.json answers what the site answers at other paths too")


async def test_a_site_that_has_all_files_and_an_answer_to_any_path_is_found_out(parser: ParserProcess) -> None:
    """Each place has a form of its own; only a path that nobody has shows that the last is the site's usual answer."""
    forms = {path: kind_and_body for path, kind_and_body in GOOD.items() if path != "/.well-known/mcp.json"}

    async def same(asked: Asked, writer: asyncio.StreamWriter) -> None:
        kind, body = forms.get(asked.path, ("application/json", CATCH_ALL))
        await sends(answer(body, content_type=kind))(asked, writer)

    async with Site(default=same) as site:
        seen = await scan(site, parser)
    assert (seen.files.ucp, seen.files.mcp) == (True, False)


async def test_one_answer_to_every_text_file_is_no_llms_txt(parser: ParserProcess) -> None:
    async def same(asked: Asked, writer: asyncio.StreamWriter) -> None:
        text_file = asked.path.endswith(".txt") and asked.path != "/robots.txt"
        welcome = answer(b"# Welcome\n\nThis is our shop.\n", content_type="text/plain")
        await (sends(welcome) if text_file else good)(asked, writer)

    async with Site(default=same) as site:
        card = grade_card(await scan(site, parser))
    assert points(card)["llms"] == 0
    assert told(card, "shop.test/llms.txt answers what the site answers at other paths too")


@pytest.mark.parametrize(
    ("place", "kind", "body", "fix"),
    [
        ("ucp", "application/json", b'{"ucp":{"version":"2026-01-23","services":{}}}', "front-door"),
        ("mcp", "application/json", b'{"servers":[]}', "front-door"),
        ("llms", "text/markdown", b"# 404 Not Found\n", "llms"),
        ("llms", "text/html", b"# Shop\n\n> Lamps.\n", "llms"),
    ],
)
async def test_a_claim_without_content_earns_nothing(
    place: str, kind: str, body: bytes, fix: str, parser: ParserProcess
) -> None:
    faults = dict.fromkeys(("ucp", "mcp", "ai-plugin"), sends(answer(b"", "404 Not Found")))
    async with Site(faults=faults | {place: sends(answer(body, content_type=kind))}) as site:
        card = grade_card(await scan(site, parser))
    assert points(card)[fix] == 0
    if kind == "text/html":
        assert told(card, "shop.test/llms.txt is Markdown sent as text/html")
        assert not told(card, "There is no shop.test/llms.txt")


async def test_nothing_is_missing_in_a_file_that_broke_off(parser: ParserProcess) -> None:
    def broken(body: bytes, kind: str) -> Behaviour:
        async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
            head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body) + 500}\r\n\r\n"
            writer.write(head.encode() + body)
            await writer.drain()
            writer.close()

        return behave

    faults = {
        "robots": broken(b"User-agent: GPTBot\nDisallow: /\n\n", "text/plain"),
        "llms": broken(b"## Not the beg", "text/plain"),
        "ucp": broken(b'{"ucp":{"version":"2026-01-1', "application/json"),
        "mcp": sends(answer(b"", "404 Not Found")),
    }
    async with Site(faults=faults) as site:
        card = grade_card(await scan(site, parser, site.access(replace(QUICK, budget=4.0, whole=12.0))))
    earned = points(card)
    assert [earned[name] for name in ("robots", "signal", "llms", "front-door")] == [None] * 4
    assert not told(card, "disallows none")
    assert not told(card, "no Content-Signal")
    assert not told(card, "has no first heading")
    assert told(card, "shop.test/robots.txt is longer than the part that is read, or broke off")


async def test_a_robots_txt_that_could_not_be_read_costs_nothing(
    parser: ParserProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aui_tui.scan.parser_process.LIMIT", 0.0001)
    groups = b"".join(b"User-agent: bot-%d\nDisallow: /a%d\n\n" % (n, n) for n in range(9000))
    async with Site(faults={"robots": sends(text(groups + RULES))}) as site:
        card = grade_card(await scan(site, parser))
    assert [points(card)[name] for name in ("robots", "signal")] == [None, None]
    assert not told(card, "Serve it with status 200")
    assert told(card, "shop.test/robots.txt could not be read by this scan")


async def test_a_healthy_site_pays_one_request_for_each_file_that_was_found(parser: ParserProcess) -> None:
    missing = dict.fromkeys(("ai-plugin", "ucp", "mcp"), sends(answer(b"", "404 Not Found")))
    async with Site(faults=missing) as site:
        card = grade_card(await scan(site, parser))
    assert card.stance == "Open"
    assert sorted(site.places()) == sorted([*PLACES, "mcp", "mcp", "robots", "robots", "llms", "nobody"])


CARD_OF_MCP: Final = {"identifier": "urn:air:shop.test:mcp", "type": "application/mcp-server-card+json"}
SKILL: Final = {"identifier": "urn:air:shop.test:order", "type": "application/agent-skills+zip", "url": "/order.zip"}


@pytest.mark.parametrize(
    ("entries", "earned"),
    [
        ([SKILL, CARD_OF_MCP | {"url": "https://shop.test/mcp/server-card"}], 10),
        ([CARD_OF_MCP | {"data": {"name": "test.shop/mcp"}}], 10),
        ([{"mediaType": "application/mcp-server+json", "url": "/mcp/server-card"}], 10),
        ([CARD_OF_MCP], 0),
        ([SKILL], 0),
        ([], 0),
    ],
)
async def test_a_catalogue_that_names_an_mcp_server_counts_like_a_card(
    entries: list[Mapping[str, object]], earned: int, parser: ParserProcess
) -> None:
    body = json.dumps({"specVersion": "0.9", "entries": entries}).encode()
    catalogue, missing = answer(body, content_type="application/ai-catalog+json"), answer(b"", "404 Not Found")

    async def at(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(catalogue if asked.path == "/.well-known/ai-catalog.json" else missing)

    async with Site(faults=dict.fromkeys(("ai-plugin", "ucp", "mcp"), at)) as site:
        card = grade_card(await scan(site, parser))
    assert points(card)["front-door"] == earned
    named = "The catalogue at shop.test/.well-known/ai-catalog.json names an MCP server, which counts like a card."
    assert bool(told(card, named)) is (earned > 0)
    assert not told(card, "ai-catalog.json names no"), "a catalogue of other things is nothing wrong"


async def test_a_catalogue_that_is_closed_to_agents_earns_nothing(parser: ParserProcess) -> None:
    body = json.dumps({"specVersion": "0.9", "entries": [CARD_OF_MCP | {"url": "/mcp/server-card"}]}).encode()
    refusal, missing = answer(b"no", "403 Forbidden"), answer(b"", "404 Not Found")

    async def at(asked: Asked, writer: asyncio.StreamWriter) -> None:
        served = asked.field("user-agent") == registry().browser_user_agent
        writer.write((answer(body) if served else refusal) if asked.path.endswith("/ai-catalog.json") else missing)

    async with Site(faults=dict.fromkeys(("ai-plugin", "ucp", "mcp"), at)) as site:
        card = grade_card(await scan(site, parser))
    assert points(card)["front-door"] == 0
    assert told(card, "shop.test/.well-known/ai-catalog.json is closed to agents: ChatGPT gets 403")


async def test_a_file_is_asked_for_as_an_agent_while_homepages_are_on_their_way(parser: ParserProcess) -> None:
    asked_as_agent = asyncio.Event()

    async def held(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await asked_as_agent.wait()
        await good(asked, writer)

    async def noted(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.field("user-agent") in NAMES:
            asked_as_agent.set()
        await good(asked, writer)

    async with Site(faults=dict.fromkeys(HOMEPAGES, held) | {"llms": noted}) as site:
        seen = await scan(site, parser)
    assert asked_as_agent.is_set()
    assert {one.outcome for one in seen.homepages} == {SERVED}
    assert len([one for one in site.asked if one.path == "/llms.txt"]) == 2


async def test_no_file_is_asked_for_early_where_an_answer_is_a_limits(parser: ParserProcess) -> None:
    limited, released = asyncio.Event(), asyncio.Event()
    early: list[bool] = []

    async def held(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await released.wait()
        await good(asked, writer)

    async def robots(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await sends(answer(b"later", "429 Too Many Requests"))(asked, writer)
        limited.set()

    async def llms(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.field("user-agent") in NAMES:
            early.append(not released.is_set())
        else:
            await limited.wait()
            await asyncio.sleep(0.2)
            asyncio.get_running_loop().call_later(0.5, released.set)
        await good(asked, writer)

    missing = dict.fromkeys(("ai-plugin", "ucp", "mcp"), sends(answer(b"", "404 Not Found")))
    faults = missing | dict.fromkeys(HOMEPAGES, held) | {"robots": robots, "llms": llms}
    async with Site(faults=faults) as site:
        await scan(site, parser)
    assert not any(early)
