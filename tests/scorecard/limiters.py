"""Limits on requests and backends that fail at random: whom a scan accuses, over many seeds."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Iterator
from pathlib import Path

from aui_tui.scan.parser_process import ParserProcess
from tests.faults.behaviours import sends
from tests.faults.site import AGENTS, Asked, answer, good
from tests.limiters.models import LIMITERS
from tests.limiters.servers import LimitedSite, accusations, scanned
from tests.limiters.test_limiters import CASES
from tests.scan.test_retry import (
    BURSTS,
    RATES,
    SEEDS,
    World,
    accused,
    cases,
    healthy,
    layered,
    look_again,
    missing,
    shared,
)
from tests.scorecard import Row

TOGETHER = 4
"""Scans of real servers at a time."""


SHARED_ANSWERS = ("429", "429 with Retry-After", "503")
SHARED_SEEDS = 20
LAYERED = 7000


def rows(folder: Path) -> Iterator[Row]:
    """Yield the rows of limits; they need no case from ``folder``."""
    yield _simulated()
    yield _layered()
    for named in range(4):
        yield _shared(named)
    yield asyncio.run(_real())
    for share, most in ((0.1, 0), (0.3, 0), (0.5, 1)):
        yield asyncio.run(_failing(share, most))


def _simulated() -> Row:
    missed = []
    total = 0
    for (kind, how, count, window), seed in itertools.product(cases(), range(SEEDS)):
        offset = random.Random(seed).uniform(0, window)
        policy, latest = look_again(World(LIMITERS[kind](count, window, offset), how, healthy, seed))
        total += 1
        if accused(policy, latest) or missing(policy, latest):
            missed.append(f"{kind}, {how}, {count} in {window:g} s, seed {seed}")
    bar = f"simulated limits x {SEEDS} seeds: no accusation"
    return Row("limits", bar, f"{len(missed)} of {total}", not missed, tuple(missed))


def _shared(named: int) -> Row:
    """Budgets that agents share, with ``named`` of them refused by name besides, before the budget is asked."""
    accused_wrongly, missed, total = [], [], 0
    for says, rate, burst, seed in itertools.product(SHARED_ANSWERS, RATES, BURSTS, range(SHARED_SEEDS)):
        refused = set(random.Random(seed).sample(AGENTS, named))
        policy, latest = look_again(shared(says, refused, rate, burst, seed))
        found, total = set(accused(policy, latest)), total + 1
        case = f"{says}, {rate} a minute, burst {burst}, seed {seed}"
        accused_wrongly += [case] if found - refused else []
        missed += [case] if refused - found else []
    bar = f"budgets shared by agents, {named} refused by name: none accused wrongly, none missed"
    figure = f"{len(accused_wrongly)} and {len(missed)} of {total}"
    return Row("limits", bar, figure, not (accused_wrongly or missed), (*accused_wrongly, *missed))


def _layered() -> Row:
    wrong = tuple(f"seed {seed}" for seed in range(LAYERED) if accused(*look_again(layered(seed))))
    bar = "one to three limits and bans of any kind behind one another: no accusation"
    return Row("limits", bar, f"{len(wrong)} of {LAYERED}", not wrong, wrong)


async def _real() -> Row:
    places = asyncio.Semaphore(TOGETHER)
    parser = ParserProcess()

    async def one(case: str, seed: int) -> list[str]:
        make, how = CASES[case]
        async with places, LimitedSite(limiter=make(), how=how) as site:
            _, card = await scanned(site, parser)
        return [f"{case}, run {seed}: {found}" for found in accusations(card)]

    found = await asyncio.gather(*(one(case, seed) for case in CASES for seed in range(SEEDS)))
    await parser.aclose()
    missed = tuple(itertools.chain.from_iterable(found))
    bar = f"limits on real servers x {SEEDS} runs: no accusation"
    return Row("limits", bar, f"{sum(map(bool, found))} of {len(found)}", not missed, missed)


async def _failing(share: float, most: int) -> Row:
    parser = ParserProcess()

    async def one(seed: int) -> list[str]:
        chance = random.Random(seed)

        async def behind(asked: Asked, writer: asyncio.StreamWriter) -> None:
            await (sends(answer(b"no", "502 Bad Gateway")) if chance.random() < share else good)(asked, writer)

        async with LimitedSite(behind=behind) as site:
            _, card = await scanned(site, parser)
        return [f"seed {seed}: {found}" for found in accusations(card)]

    found = [await one(seed) for seed in range(SEEDS)]
    await parser.aclose()
    missed = tuple(itertools.chain.from_iterable(found))
    bar = f"{share:.0%} random 502 x {SEEDS} runs: at most {most} accused"
    return Row("limits", bar, f"{sum(map(bool, found))} of {len(found)}", sum(map(bool, found)) <= most, missed)
