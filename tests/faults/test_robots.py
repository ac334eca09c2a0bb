"""robots.txt and the other files as hostile or careless sites serve them (fault matrix 31, 32, 42 to 48, 51)."""

from __future__ import annotations

import asyncio
import gzip
from dataclasses import replace

import pytest

from aui_tui.checks.scoring import grade_card
from aui_tui.model.observations import BROWSER, PageFacts
from aui_tui.model.registry import registry
from aui_tui.scan.parser_process import ParserProcess
from tests.faults.behaviours import sends
from tests.faults.lab import scan
from tests.faults.site import AGENTS, PAGE, QUICK, Asked, Behaviour, Site, answer

RULES = b"User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nDisallow: /cart\nContent-Signal: search=yes\n"
FILLER = b"# a comment that fills the file, line after line after line after line\n"
LARGE = RULES + FILLER * ((2 << 20) // len(FILLER))


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("302 x", "none"),
        ("401 x", "none"),
        ("403 x", "none"),
        ("404 x", "none"),
        ("410 x", "none"),
        ("429 x", "unknown"),
        ("500 x", "unknown"),
        ("503 x", "unknown"),
        ("599 x", "unknown"),
        ("200 x", "html"),
    ],
)
async def test_without_rules_no_agent_is_listed_and_what_is_unknown_is_a_warning(
    status: str, kind: str, parser: ParserProcess
) -> None:
    content_type = "text/html" if kind == "html" else "text/plain"
    body = PAGE if kind == "html" else RULES
    async with Site(faults={"robots": sends(answer(body, status, content_type))}) as site:
        observed = await scan(site, parser)
    card = grade_card(observed)
    assert observed.robots.kind == kind
    assert (card.robots_status, card.robots_ua_rules, card.wildcard_block) == (int(status[:3]), 0, False)
    assert set(card.ua_policy.values()) == {"unlisted"}
    assert kind == "none" or any(found.t == "warn" and "robots.txt" in found.text for found in card.evidence)


@pytest.mark.parametrize(
    ("body", "names", "signal"),
    [
        (RULES, 2, True),
        (RULES.rstrip(), 2, True),
        (RULES.replace(b"\n", b"\r"), 2, True),
        (RULES.replace(b"\n", b"\r\n"), 2, True),
        (b"\xef\xbb\xbf" + RULES, 2, True),
        (RULES.replace(b"GPTBot", b"GPT\0Bot"), 2, True),
        (RULES.decode().encode("utf-16"), 0, False),
        (b"", 0, False),
        (b"\xff" * 5000, 0, False),
    ],
)
async def test_odd_bytes_are_read_as_far_as_they_go(
    body: bytes, names: int, signal: bool, parser: ParserProcess
) -> None:
    async with Site(faults={"robots": sends(answer(body, content_type="text/plain"))}) as site:
        observed = await scan(site, parser)
    assert observed.exchange("robots").status == 200
    assert observed.robots.names == names or (not signal and observed.robots.names <= 1)
    assert bool(observed.robots.signal) is signal


@pytest.mark.parametrize("packed", [False, True])
async def test_the_first_mebibyte_is_read_in_whole_lines(packed: bool, parser: ParserProcess) -> None:
    body = gzip.compress(LARGE) if packed else LARGE
    extra = b"Content-Encoding: gzip\r\n" if packed else b""
    async with Site(faults={"robots": sends(answer(body, content_type="text/plain", extra=extra))}) as site:
        observed = await scan(site, parser)
    exchange = observed.exchange("robots")
    assert exchange.cut
    assert (observed.robots.cut, observed.robots.text) == (True, "")
    assert any("later rules are not in this card" in found.text for found in grade_card(observed).evidence)
    assert QUICK.robots - len(FILLER) < exchange.bytes <= QUICK.robots
    assert (exchange.bytes - len(RULES)) % len(FILLER) == 0
    assert observed.robots.signal_line == 6
    assert observed.robots.names == 2


async def test_every_agent_challenged_while_the_browser_is_served(parser: ParserProcess) -> None:
    wall = answer(b"<title>Just a moment...</title>", "403 Forbidden", extra=b"cf-mitigated: challenge\r\n")
    async with Site(faults=dict.fromkeys(AGENTS, sends(wall))) as site:
        observed = await scan(site, parser)
    card = grade_card(observed)
    assert [(access.status, access.challenged) for access in card.agent_access.values()] == [(403, True)] * 4
    assert (card.live_served, card.stance) == (0, "Walled")
    assert {card.matrix[slug] for slug in list(card.matrix)[1:5]} <= {"blocked", "walled"}
    # agents turned away alike: two more rounds for the first, one that confirms it for each of the others
    assert [len(observed.exchange(name).attempts) for name in AGENTS] == [2, 1, 1, 1]
    # once with the others, twice as the control that the four share, twice under an invented name, once under its own
    # with an agent's fields
    assert site.places().count(BROWSER) == 6


async def test_a_worker_that_dies_costs_one_page_and_not_the_next_scan(parser: ParserProcess) -> None:
    hostile = PAGE + b"<div>" * 150_000
    async with Site(faults={BROWSER: sends(answer(hostile))}) as site:
        first = await scan(site, parser)
    async with Site() as site:
        second = await scan(site, parser)
    assert first.browser.status == 200
    assert first.page == PageFacts(title=first.page.title, problem=first.page.problem)
    assert first.page.problem
    assert any(found.t == "warn" for found in grade_card(first).evidence)
    assert second.page.jsonld == 1


def by_name(for_agents: bytes, times: int = 99) -> Behaviour:
    """Serve ``for_agents`` as robots.txt to agents' names, each of the first ``times`` it is asked for."""
    left = dict.fromkeys((agent.user_agent for agent in registry().live), times)

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        name = asked.field("user-agent") or ""
        left[name] = left.get(name, 0) - 1
        await sends(for_agents if left[name] >= 0 else answer(RULES, content_type="text/plain"))(asked, writer)

    return behave


@pytest.mark.parametrize(
    ("for_agents", "words"),
    [
        (answer(b"no", "403 Forbidden"), "403 Forbidden"),
        (answer(b"no", "503 Service Unavailable"), "503 Service Unavailable"),
        (answer(b"User-agent: *\nDisallow: /\n", content_type="text/plain"), "rules by which it is blocked"),
    ],
)
async def test_a_robots_txt_of_their_own_for_agents_is_said(
    for_agents: bytes, words: str, parser: ParserProcess
) -> None:
    async with Site(faults={"robots": by_name(for_agents)}) as site:
        observed = await scan(site, parser)
    async with Site(faults={"robots": sends(answer(RULES, content_type="text/plain"))}) as site:
        plain = grade_card(await scan(site, parser))
    card = grade_card(observed)
    said = [(line.t, line.text) for line in card.evidence if "robots.txt is another one" in line.text]
    assert [(t, words in text) for t, text in said] == [("critical", True), ("warn", True)]
    assert "Claude" in said[0][1]
    assert "reads it first and stops there" in said[0][1]
    assert card.score == plain.score, "points come from the browser's robots.txt"
    told_no = "Disallow: /\n" in for_agents.decode()
    assert card.stance == ("Selective" if told_no else plain.stance)
    assert [verdict == "disallowed" for verdict in list(card.matrix.values())[1:5]] == [told_no] * 4
    assert set(card.ua_policy.values()) == set(plain.ua_policy.values()), "the record keeps the browser's file"


async def test_a_limit_that_the_probes_share_is_no_other_robots_txt(parser: ParserProcess) -> None:
    """Two agents ask for it at the same time, and the server lets one of all bots in each second."""
    last = [0.0]

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        now = asyncio.get_running_loop().time()
        bot = "compatible" in asked.field("user-agent")
        limited = bot and now - last[0] < 1.0
        last[0] = now if bot and not limited else last[0]
        busy = answer(b"slow down", "503 Service Unavailable")
        await sends(busy if limited else answer(RULES, content_type="text/plain"))(asked, writer)

    async with Site(faults={"robots": behave}) as site:
        observed = await scan(site, parser, site.access(replace(QUICK, pause=0.2)))
    assert not observed.arms


async def test_a_robots_txt_that_differs_once_accuses_nobody(parser: ParserProcess) -> None:
    async with Site(faults={"robots": by_name(answer(b"no", "403 Forbidden"), times=1)}) as site:
        observed = await scan(site, parser)
    assert not observed.arms
