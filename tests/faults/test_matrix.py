"""The fault matrix: each fault in each place where it can happen, against the fields that the record must have."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from aui_tui.checks.scoring import grade_card
from aui_tui.model.observations import BROWSER, FILE_PROBES, Exchange, Observations
from aui_tui.model.progress import ProbeEvent
from aui_tui.model.vocabulary import CHALLENGED, INCONCLUSIVE, REFUSED, SERVED
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.policy import Limits
from aui_tui.scan.scan import observe
from tests.faults import behaviours
from tests.faults.lab import check_record, responsive, scan, settled
from tests.faults.site import AGENTS, BRIEF, HOMEPAGES, PAGE, QUICK, TITLE, Behaviour, Site, answer, good

AGENT = AGENTS[1]
ALL = (True, True, True, True)
NONE = (False, False, False, False)


def counted(observed: Observations) -> tuple[bool, bool, bool, bool]:
    files = observed.files
    return files.llms, files.ai_plugin, files.ucp, files.mcp


async def in_each_place(fault: Behaviour, parser: ParserProcess, limits: Limits = QUICK) -> dict[str, Observations]:
    """Scan three sites at once: with the fault for the browser, for one agent, and for every file."""
    places: dict[str, Mapping[str, Behaviour]] = {
        BROWSER: {BROWSER: fault},
        AGENT: {AGENT: fault},
        "files": dict.fromkeys(FILE_PROBES, fault),
    }

    async def one(faults: Mapping[str, Behaviour]) -> Observations:
        async with Site(faults=faults) as site:
            return await observe(site.target, parser=parser, access=site.access(limits))

    async with responsive():
        found = await asyncio.gather(*(one(faults) for faults in places.values()))
    for observed in found:
        check_record(observed)
    return dict(zip(places, found, strict=True))


def others_are_well(observed: Observations, *broken: str) -> None:
    for exchange in observed.exchanges:
        if exchange.name not in broken:
            assert (exchange.status, exchange.error, exchange.outcome) == (200, "", SERVED), exchange
    if "robots" not in broken:
        assert observed.robots.signal
        assert counted(observed) == ALL
    assert not observed.probe_dead
    assert not observed.unreachable


def has_no_answer(exchange: Exchange) -> None:
    assert (exchange.status, exchange.title, exchange.bytes, exchange.challenge) == (0, "", 0, None)
    assert exchange.outcome == INCONCLUSIVE
    assert exchange.error in ("timeout", "protocol", "connect", "tls", "dns")
    assert exchange.detail


def robots_is_unknown(observed: Observations) -> None:
    card = grade_card(observed)
    assert observed.robots.kind == "unknown"
    assert (card.robots_status, card.robots_ua_rules, card.agents_disallowed, card.agents_partial) == (0, 0, 0, 0)
    assert set(card.ua_policy.values()) == set(card.crawler_policy.values()) == {"unlisted"}
    assert any(found.t == "warn" and "robots.txt" in found.text for found in card.evidence)
    assert not card.wildcard_block
    assert not card.content_signal


@pytest.mark.ci
@pytest.mark.parametrize("fault", behaviours.NO_ANSWER)
async def test_no_status_line(fault: str, parser: ParserProcess) -> None:
    found = await in_each_place(behaviours.NO_ANSWER[fault], parser, BRIEF)

    browser = found[BROWSER]
    has_no_answer(browser.browser)
    others_are_well(browser, BROWSER)
    assert browser.page.seen_by in AGENTS
    assert (card := grade_card(browser)).human_status == 0
    assert (card.human_title, card.human_challenged, card.jsonld) == ("", False, 1), "the page that agents were served"

    agent = found[AGENT]
    has_no_answer(agent.exchange(AGENT))
    others_are_well(agent, AGENT)
    card = grade_card(agent)
    assert card.live_served == 3
    assert sorted(access.status for access in card.agent_access.values()) == [0, 200, 200, 200]
    assert list(card.matrix.values()).count("untested") == 3

    files = found["files"]
    for name in FILE_PROBES:
        has_no_answer(files.exchange(name))
    others_are_well(files, *FILE_PROBES)
    assert counted(files) == NONE
    robots_is_unknown(files)


@pytest.mark.parametrize("fault", behaviours.CUT_BODY)
async def test_a_broken_body_keeps_the_status_and_what_was_read(fault: str, parser: ParserProcess) -> None:
    found = await in_each_place(behaviours.CUT_BODY[fault], parser)
    for place in (BROWSER, AGENT):
        exchange = found[place].exchange(place)
        assert (exchange.status, exchange.error, exchange.title, exchange.cut) == (200, "", TITLE, True)
        assert exchange.outcome == SERVED
        assert 0 < exchange.bytes <= QUICK.page
        others_are_well(found[place], place)
    assert found[BROWSER].page.jsonld == 1
    others_are_well(found["files"], *FILE_PROBES)
    assert counted(found["files"]) == NONE
    assert found["files"].robots.kind == "html"
    assert all(found["files"].exchange(name).status == 200 for name in FILE_PROBES)
    assert all(found["files"].exchange(name).bytes <= QUICK.robots for name in FILE_PROBES)


@pytest.mark.parametrize("fault", behaviours.EMPTY_BODY)
async def test_an_unreadable_body_keeps_the_status(fault: str, parser: ParserProcess) -> None:
    found = await in_each_place(behaviours.EMPTY_BODY[fault], parser)
    for place in (BROWSER, AGENT):
        exchange = found[place].exchange(place)
        outcome = CHALLENGED if place == AGENT else SERVED  # the browser has a page to compare with
        assert (exchange.status, exchange.error, exchange.title, exchange.outcome) == (200, "", "", outcome)
        assert exchange.bytes <= QUICK.page
        others_are_well(found[place], place)
    assert found[BROWSER].page.seen_by in AGENTS, "they get more than the browser"
    assert counted(found["files"]) == NONE
    assert found["files"].robots.names == 0
    others_are_well(found["files"], *FILE_PROBES)


@pytest.mark.ci
@pytest.mark.parametrize("fault", behaviours.ODD_BUT_FINE)
async def test_odd_answers_are_read_like_any_other(fault: str, parser: ParserProcess) -> None:
    found = await in_each_place(behaviours.ODD_BUT_FINE[fault], parser)
    for place in (BROWSER, AGENT):
        exchange = found[place].exchange(place)
        assert (exchange.status, exchange.error, exchange.cut) == (200, "", False)
        assert exchange.title == TITLE
        assert not exchange.attempts
        assert len(exchange.headers) <= QUICK.kept
        others_are_well(found[place], place)
    assert found[BROWSER].page.jsonld == 1
    assert found["files"].robots.kind == "html"
    assert counted(found["files"]) == NONE


@pytest.mark.ci
@pytest.mark.parametrize("fault", behaviours.REDIRECTS)
async def test_a_redirect_that_is_not_followed_keeps_its_status(fault: str, parser: ParserProcess) -> None:
    behaviour, word = behaviours.REDIRECTS[fault]
    found = await in_each_place(behaviour, parser)
    for place, observed in found.items():
        names = FILE_PROBES if place == "files" else (place,)
        for name in names:
            exchange = observed.exchange(name)
            outcome = INCONCLUSIVE if name in FILE_PROBES else REFUSED  # beside a client that is served
            assert (exchange.status, exchange.error, exchange.outcome) == (302, word, outcome)
            assert exchange.detail
            assert exchange.hops[-1].status == 302
        others_are_well(observed, *names)
    assert counted(found["files"]) == NONE
    card = grade_card(found[AGENT])
    assert card.live_served == 3
    assert [list(card.matrix.values()).count(word) for word in ("blocked", "untested")] == [1, 2]
    assert any(found.t == "critical" and "redirect" in found.text for found in card.evidence)


@pytest.mark.parametrize("status", ["999 Request denied", "402 Payment Required", "451 x", "500 x", "404 x"])
async def test_any_final_status_is_kept(status: str, parser: ParserProcess) -> None:
    number = int(status[:3])
    found = await in_each_place(behaviours.sends(answer(b"<title>no</title>", status)), parser)
    assert found[BROWSER].browser.status == number
    assert found[BROWSER].browser.outcome == "refused"
    assert found[AGENT].exchange(AGENT).outcome == "refused"
    rounds = 4 if number == 500 else 3  # the other agents are served
    assert len(found[AGENT].exchange(AGENT).attempts) == found[AGENT].exchange(AGENT).controls == rounds
    assert found["files"].exchange("robots").status == number
    assert counted(found["files"]) == NONE
    assert found["files"].robots.kind == ("unknown" if number == 500 else "none" if number < 500 else "unknown")


@pytest.mark.parametrize("fault", behaviours.GREETINGS)
async def test_a_server_of_another_kind(fault: str, parser: ParserProcess) -> None:
    async with Site(greeting=behaviours.GREETINGS[fault]) as site:
        observed = await scan(site, parser)
        assert await settled(site) == 0
    for exchange in observed.exchanges:
        has_no_answer(exchange)
    assert observed.unreachable
    assert observed.probe_dead
    card = grade_card(observed)
    assert (card.score, card.grade, card.stance, card.probe_dead) == (0, "F", "Walled", True)


@pytest.mark.parametrize("fault", behaviours.NOT_FILES)
async def test_a_catch_all_has_no_files(fault: str, parser: ParserProcess) -> None:
    async with Site(faults=dict.fromkeys(FILE_PROBES[1:], behaviours.NOT_FILES[fault])) as site:
        observed = await scan(site, parser)
    assert counted(observed) == NONE
    assert observed.files.notes


@pytest.mark.ci
async def test_a_site_that_never_answers_is_unreachable_after_one_time_limit(parser: ParserProcess) -> None:
    async with Site(default=behaviours.silence) as site:
        observed = await scan(site, parser, site.access(BRIEF))
        assert await settled(site) == 0
    assert observed.unreachable
    assert [site.places().count(name) for name in HOMEPAGES] == [1] * 5, "nothing is asked again"
    assert observed.elapsed_ms < 2 * 1000 * BRIEF.probe, "no probe waits for the end of another"
    assert all(exchange.error == "timeout" for exchange in observed.exchanges)


@pytest.mark.ci
async def test_one_agent_hangs_and_the_rest_is_not_held_up(parser: ParserProcess) -> None:
    events: list[ProbeEvent] = []
    async with Site(faults={AGENT: behaviours.silence}) as site:
        observed = await scan(site, parser, site.access(BRIEF), progress=events.append)
    others_are_well(observed, AGENT)
    assert observed.exchange(AGENT).status == 0
    assert observed.exchange(AGENT).dropped
    heard = [event.name for event in events if event.state != "started"]
    assert {*HOMEPAGES, *FILE_PROBES} - {AGENT} <= set(heard[: heard.index(AGENT)])


async def test_a_refused_agent_is_probed_once_more_alone(parser: ParserProcess) -> None:
    refused = 0

    async def once(asked: object, writer: asyncio.StreamWriter) -> None:
        nonlocal refused
        refused += 1
        writer.write(answer(b"later", "429 Too Many Requests") if refused == 1 else answer(PAGE))
        await writer.drain()

    async with Site(faults={AGENT: once}) as site:
        observed = await scan(site, parser)
    exchange = observed.exchange(AGENT)
    assert (exchange.status, exchange.outcome) == (200, SERVED)
    assert [(attempt.status, attempt.outcome) for attempt in exchange.attempts] == [(429, "refused")]
    asked = [one for one in site.asked if one.path == "/"]
    assert asked[-1].place == AGENT
    assert asked[-1].connection > max(one.connection for one in asked[:-1])


@pytest.mark.parametrize(
    ("status", "robots"),
    [
        *((status, "200 OK") for status in ("401 x", "403 Forbidden", "404 x", "451 x", "500 x", "503 x", "999 x")),
        ("403 Forbidden", "404 x"),
        ("503 x", "503 x"),
    ],
)
async def test_where_everybody_is_refused_nothing_follows_about_agents(
    status: str, robots: str, parser: ParserProcess
) -> None:
    faults = dict.fromkeys(HOMEPAGES, behaviours.sends(answer(b"", status)))
    faults["robots"] = behaviours.sends(answer(b"User-agent: *", robots, "text/plain"))
    async with Site(faults=faults) as site:
        observed = await scan(site, parser)
    assert [exchange.outcome for exchange in observed.homepages] == ["refused"] * 5
    assert all(not exchange.attempts for exchange in observed.live)
    assert len(observed.browser.attempts) == (2 if status[0] == "5" or status[:3] == "403" else 0)
    card = grade_card(observed)
    assert card.unreachable
    assert (card.score, card.stance) == (0, "Walled" if status[0] == "5" else "Selective")
    assert set(list(card.matrix.values())[1:5]) == {"untested"}
    assert not card.recommendations
    assert "turns everybody away: a browser and every agent get " + status[:3] in card.top_evidence


async def test_where_everybody_gets_404_nobody_is_asked_again(parser: ParserProcess) -> None:
    async with Site(faults=dict.fromkeys(HOMEPAGES, behaviours.sends(answer(b"", "404 Not Found")))) as site:
        observed = await scan(site, parser)
    assert all(not exchange.attempts for exchange in observed.exchanges)
    found = ["llms", "ai-plugin", "ucp", "mcp"]  # each as a browser, and once as an agent
    assert sorted(site.places()) == sorted([*HOMEPAGES, *found, *found, "mcp", "mcp", "nobody", *["robots"] * 3])


async def test_a_site_that_is_well(parser: ParserProcess) -> None:
    async with Site(default=good) as site:
        observed = await scan(site, parser)
        assert await settled(site) == 0
    others_are_well(observed)
    assert observed.limits == ("connect-to",)
