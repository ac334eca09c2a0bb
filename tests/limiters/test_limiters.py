"""A site that limits everybody accuses no agent; one that refuses agents behind a limit is still found."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from aui_tui.checks.scoring import grade_card
from aui_tui.model.observations import FILE_PROBES, Observations
from aui_tui.scan.parser_process import ParserProcess
from tests.faults.behaviours import sends, silence
from tests.faults.site import AGENTS, HOMEPAGES, Asked, Behaviour, answer, good
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
    found = ["llms", "ai-plugin", "ucp", "mcp"]  # each as a browser, and once as an agent
    assert sorted(asked) == sorted([*HOMEPAGES, *robots, *found, *found, "mcp", "mcp", "nobody"])


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


def until(seconds: float, status: str, names: Sequence[str], extra: Callable[[float], bytes]) -> Behaviour:
    """Return a site that refuses ``names`` for ``seconds`` from the first request on; ``extra``: fields by the time."""
    began: list[float] = []

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        began.append(time.monotonic())
        passed = time.monotonic() - began[0]
        refuse = sends(answer(b"no", status, extra=extra(passed)))
        await (refuse if asked.place in names and passed < seconds else good)(asked, writer)

    return behave


PATIENT = replace(LIMITS, retry_after=5.0, budget=15.0, whole=25.0)


@pytest.mark.parametrize("status", ["503 Busy", "403 Forbidden", "500 Oops"])
async def test_what_everybody_is_asked_to_wait_for_is_waited_for_once(status: str, parser: ParserProcess) -> None:
    behaviour = until(0.9, status, HOMEPAGES, lambda passed: b"Retry-After: 1\r\n")
    async with LimitedSite(behind=behaviour) as site:
        observed, card = await scanned(site, parser, PATIENT)
    assert observed.browser.outcome == "served"
    assert (card.live_served, card.stance) == (4, "Open")


async def test_a_longer_wait_is_not_waited_for_at_all(parser: ParserProcess) -> None:
    behaviour = until(99, "503 Busy", HOMEPAGES, lambda passed: b"Retry-After: 3600\r\n")
    async with LimitedSite(behind=behaviour) as site:
        observed, card = await scanned(site, parser, PATIENT)
    assert card.unreachable
    assert observed.elapsed_ms < 1000 * PATIENT.retry_after
    assert [site.places().count(name) for name in AGENTS] == [1] * 4, "no agent is asked again"


@pytest.mark.parametrize(
    ("seconds", "fields", "served"),
    [
        (1.0, b"Age: 4\r\nCache-Control: public, max-age=6\r\n", 4),
        (1.0, b"X-Cache: HIT from edge\r\nAge: 1\r\nCache-Control: s-maxage=3, max-age=900\r\n", 4),
        (99.0, b"Age: 4\r\nCache-Control: max-age=86400\r\n", 0),
        (99.0, b"CF-Cache-Status: HIT\r\n", 0),
    ],
    ids=["it expires", "it expires for caches", "it is kept for a day", "nobody says for how long"],
)
async def test_a_refusal_that_a_cache_kept_is_not_the_sites(
    seconds: float, fields: bytes, served: int, parser: ParserProcess
) -> None:
    async with LimitedSite(behind=until(seconds, "403 Forbidden", AGENTS, lambda passed: fields)) as site:
        observed, card = await scanned(site, parser, PATIENT)
    assert not accusations(card), [line.text for line in card.evidence]
    assert card.live_served == served
    assert {reading.outcome for reading in observed.readings.values()} == {"served" if served else "inconclusive"}


async def test_a_refusal_that_a_cache_keeps_after_the_site_gave_it_counts(parser: ParserProcess) -> None:
    asked_before: set[str] = set()

    async def behind(asked: Asked, writer: asyncio.StreamWriter) -> None:
        extra = b"Age: 2\r\nCache-Control: max-age=60\r\n" if asked.place in asked_before else b"Age: 0\r\n"
        asked_before.add(asked.place)
        await (sends(answer(b"no", "403 Forbidden", extra=extra)) if asked.place in AGENTS else good)(asked, writer)

    async with LimitedSite(behind=behind) as site:
        _, card = await scanned(site, parser)
    assert card.stance == "Walled"


@pytest.mark.parametrize(
    "fields", [b"x-vercel-mitigated: challenge\r\n", b"x-kasada-token: 1\r\n", b"sg-captcha: x\r\n"]
)
async def test_a_wall_that_answers_429_is_no_limit(fields: bytes, parser: ParserProcess) -> None:
    challenge = sends(answer(b"<title>Wait</title>", "429 Too Many Requests", extra=fields))

    async def behind(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await (challenge if asked.place in HOMEPAGES else good)(asked, writer)

    async with LimitedSite(behind=behind) as site:
        observed, card = await scanned(site, parser)
    assert {probe.outcome for probe in observed.homepages} == {"challenged"}
    assert (card.human_challenged, card.stance) == (True, "Walled")


@pytest.mark.parametrize("field", ["sg-captcha: challenge", "x-amzn-waf-action: captcha", "cf-mitigated: challenge"])
async def test_a_file_behind_a_wall_is_not_measured(field: str, parser: ParserProcess) -> None:
    page = b"<html><title>One moment</title></html>"
    challenge = sends(answer(page, "202 Accepted", extra=f"{field}\r\n".encode()))

    async def behind(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await (challenge if asked.place in ("robots", "llms") else good)(asked, writer)

    async with LimitedSite(behind=behind) as site:
        observed, card = await scanned(site, parser)
    assert {name for name in FILE_PROBES if observed.exchange(name).limited} == {"robots", "llms"}
    assert not accusations(card), [line.text for line in card.evidence]
    assert not any("holds no rules" in line.text for line in card.evidence)


async def test_silent_agents_take_one_time_out_a_repeat_and_a_confirmation(parser: ParserProcess) -> None:
    async with LimitedSite(behind=good, faults={}) as site:
        site.faults = dict.fromkeys(AGENTS, silence)
        limits = replace(LIMITS, probe=2.5, again=0.6, budget=20.0, whole=30.0, causes=0)
        observed, card = await scanned(site, parser, limits)
        times = [asked.place for asked in site.asked if asked.place in AGENTS and asked.path == "/"]
    assert all(observed.exchange(name).dropped for name in AGENTS)
    assert card.stance == "Walled"
    assert [times.count(name) for name in AGENTS] == [3, 3, 3, 3]


async def test_files_of_a_site_that_limits_its_clients_are_not_asked_for_as_an_agent(parser: ParserProcess) -> None:
    async with LimitedSite(limiter=FixedWindow(5, 6 * PAUSE), how="429 with Retry-After") as site:
        observed, card = await scanned(site, parser, PATIENT)
        assert site.refused
        clients = {asked.field("user-agent") for asked in site.asked if asked.place in ("llms", "ai-plugin", "ucp")}
    assert card.live_served == 4
    assert len(clients) == 1, "the browser"
    assert not observed.arms
