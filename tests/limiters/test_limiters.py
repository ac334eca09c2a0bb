"""A site that limits everybody accuses no agent; one that refuses agents behind a limit is still found."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from aui_tui.checks.scoring import grade_card
from aui_tui.model.observations import Observations
from aui_tui.scan.parser_process import ParserProcess
from tests.faults.behaviours import sends
from tests.faults.site import AGENTS, HOMEPAGES, Asked, answer, good
from tests.limiters.models import Ban, Concurrent, FixedWindow, LeakyBucket, Limiter, SlidingWindow
from tests.limiters.servers import LIMITS, PAUSE, LimitedSite, accusations, scanned

REFUSE = sends(answer(b"no", "403 Forbidden"))
CASES: dict[str, tuple[Callable[[], Limiter], str]] = {
    "10 a minute, 503": (lambda: LeakyBucket(1, 6 * PAUSE), "503"),
    "30 a minute with a burst of 3, 429": (lambda: LeakyBucket(1, 2 * PAUSE, 3), "429"),
    "5 a second with a burst of 5, 503": (lambda: LeakyBucket(5, PAUSE, 5), "503"),
    "2 a second with a burst of 1, dropped": (lambda: LeakyBucket(2, PAUSE, 1), "drop"),
    "5 in 15 s, 429 with Retry-After": (lambda: FixedWindow(5, 15 * PAUSE), "429 with Retry-After"),
    "5 in 10 s, refused ones counted, 403": (lambda: SlidingWindow(5, 10 * PAUSE, strict=True), "403"),
    "3 in 60 s, 429": (lambda: SlidingWindow(3, 60 * PAUSE), "429"),
    "10 in 10 s, dropped": (lambda: SlidingWindow(10, 10 * PAUSE), "drop"),
    "banned for 20 s after 3 refusals, 429": (lambda: Ban(LeakyBucket(5, PAUSE, 2), 3, 20 * PAUSE), "429"),
    "banned for 60 s after 3 refusals, 403": (lambda: Ban(LeakyBucket(5, PAUSE, 5), 3, 60 * PAUSE), "403"),
    "one at a time, 503": (lambda: Concurrent(1), "503"),
    "2 a second, the others wait": (lambda: LeakyBucket(2, PAUSE), "delay"),
}


@pytest.fixture
async def perfect(parser: ParserProcess) -> Observations:
    """What a scan of the site without a limit sees."""
    async with LimitedSite() as site:
        return (await scanned(site, parser))[0]


@pytest.mark.ci
@pytest.mark.parametrize("case", CASES)
async def test_a_limit_for_everybody_is_held_against_no_agent_and_no_file(case: str, parser: ParserProcess) -> None:
    make, how = CASES[case]
    async with LimitedSite(limiter=make(), how=how) as site:
        observed, card = await scanned(site, parser)
        assert site.refused, "the limit was at work"
    assert not accusations(card), [line.text for line in card.evidence]
    assert observed.elapsed_ms < 1000 * LIMITS.whole


async def test_a_limit_on_new_connections_is_held_against_nobody(parser: ParserProcess) -> None:
    async with LimitedSite(limiter=SlidingWindow(4, 8 * PAUSE), by_connection=True) as site:
        _, card = await scanned(site, parser)
        assert site.refused
    assert not accusations(card), [line.text for line in card.evidence]


@pytest.mark.parametrize("case", ["5 a second with a burst of 5, 503", "one at a time, 503"])
async def test_a_mild_limit_costs_no_point(case: str, perfect: Observations, parser: ParserProcess) -> None:
    make, how = CASES[case]
    async with LimitedSite(limiter=make(), how=how) as site:
        _, card = await scanned(site, parser)
    assert card.score == grade_card(perfect).score
    assert card.stance == "Open"


@pytest.mark.ci
@pytest.mark.parametrize(
    "case",
    [
        "5 a second with a burst of 5, 503",
        "one at a time, 503",
        "30 a minute with a burst of 3, 429",
        "5 in 15 s, 429 with Retry-After",
    ],
)
async def test_behind_a_limit_a_refusal_of_agents_is_found(case: str, parser: ParserProcess) -> None:
    make, how = CASES[case]

    async def behind(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await (REFUSE if asked.place in AGENTS[:2] else good)(asked, writer)

    patient = replace(LIMITS, budget=15.0, whole=25.0)  # a slow machine takes longer than these pauses
    async with LimitedSite(limiter=make(), how=how, behind=behind) as site:
        observed, card = await scanned(site, parser, patient)
    assert [observed.exchange(name).outcome for name in AGENTS] == ["refused", "refused", "served", "served"]
    assert card.live_served == 2


@pytest.mark.parametrize("share", [0.1, 0.3])
async def test_a_backend_that_fails_at_random_accuses_nobody(share: float, parser: ParserProcess) -> None:
    for seed in range(3):
        chance = random.Random(seed)

        async def behind(asked: Asked, writer: asyncio.StreamWriter, chance: random.Random = chance) -> None:
            await (sends(answer(b"no", "502 Bad Gateway")) if chance.random() < share else good)(asked, writer)

        async with LimitedSite(behind=behind) as site:
            observed, card = await scanned(site, parser)
        assert not accusations(card), [line.text for line in card.evidence]
        failed = any(attempt.status == 502 for exchange in observed.homepages for attempt in exchange.attempts)
        assert any("fails at random" in line.text for line in card.evidence) == failed


async def test_a_healthy_site_is_asked_each_thing_once(parser: ParserProcess) -> None:
    async with LimitedSite() as site:
        await scanned(site, parser)
        asked = site.places()
    robots = ["robots"] * 3  # as a file, and as the two agents that may follow it
    assert sorted(asked) == sorted([*HOMEPAGES, *robots, "llms", "ai-plugin", "ucp", "mcp", "mcp"])


@pytest.mark.parametrize("how", ["403", "drop"])
async def test_dropping_agents_scores_no_better_than_refusing_them(how: str, parser: ParserProcess) -> None:
    async def behind(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.place not in AGENTS:
            await good(asked, writer)
        elif how == "drop":
            writer.transport.abort()
        else:
            await REFUSE(asked, writer)

    async with LimitedSite(behind=behind) as site:
        observed, card = await scanned(site, parser)
    assert card.stance == "Walled"
    assert card.evidence[0].t == "critical"
    assert card.score <= 59
    assert card.pillars["welcome"] == 13, "the door earns nothing"
    if how == "drop":
        assert {observed.exchange(name).status for name in AGENTS} == {0}
        assert list(card.matrix.values())[1:5] == ["untested"] * 4


async def test_with_a_pace_requests_go_one_at_a_time(parser: ParserProcess) -> None:
    limits = LIMITS.__class__(probe=2.0, pause=PAUSE, pace=0.05)
    async with LimitedSite(limiter=LeakyBucket(1, 0.03), how="429") as site:
        observed, card = await scanned(site, parser, limits)
        assert not site.refused
    assert card.stance == "Open"
    assert observed.elapsed_ms >= 1000 * 0.05 * 10
