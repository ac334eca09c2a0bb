"""RequestLimiter: one request at a time while the connection serves them in time, all at once where it carries many.

BodyLimiter: one large body at a time, and one more for each that takes long.
"""

from __future__ import annotations

import asyncio

import pytest

from aui_tui.scan.network.client import PATIENCE, BodyLimiter, RequestLimiter
from tests.index.clock import Clock

LONG = 30.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock by which the event loop measures patience; it stands still until a test sets it."""
    clock = Clock(0.0)
    monkeypatch.setattr("time.monotonic", clock)
    return clock


class Traveller:
    """One request: ``inside`` while it has a place, until told to ``leave``."""

    def __init__(self, limiter: RequestLimiter | BodyLimiter) -> None:
        self._limiter = limiter
        self.inside = asyncio.Event()
        self.leave = asyncio.Event()
        self.waited: float | None = -1.0
        self.task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        async with self._limiter.place() as self.waited:
            self.inside.set()
            await self.leave.wait()
        self.inside.clear()


async def turns(count: int = 10) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def started(limiter: RequestLimiter | BodyLimiter, count: int) -> list[Traveller]:
    found = [Traveller(limiter) for _ in range(count)]
    await turns()
    return found


def inside(travellers: list[Traveller]) -> list[bool]:
    return [traveller.inside.is_set() for traveller in travellers]


async def test_one_at_a_time_in_the_order_of_asking() -> None:
    travellers = await started(RequestLimiter(LONG), 3)
    for at, traveller in enumerate(travellers):
        assert inside(travellers) == [number == at for number in range(3)]
        traveller.leave.set()
        await turns()
    assert inside(await started(RequestLimiter(LONG), 1)) == [True]


async def test_who_waited_too_long_goes_ahead_and_leaves_a_place_more(clock: Clock) -> None:
    limiter = RequestLimiter(1.0)
    first, second = await started(limiter, 2)
    clock.now += 0.9
    await turns()
    assert not second.inside.is_set()
    clock.now += 0.1
    await turns()
    assert second.inside.is_set()
    assert second.waited == 1.0
    assert first.inside.is_set()
    for traveller in (first, second):
        traveller.leave.set()
        await traveller.task
    limiter._patience = LONG
    assert inside(await started(limiter, 3)) == [True, True, False]


async def test_all_at_once_after_widening() -> None:
    limiter = RequestLimiter(LONG)
    travellers = await started(limiter, 3)
    limiter.widen()
    await turns()
    assert inside(travellers) == [True] * 3
    assert inside(await started(limiter, 2)) == [True] * 2


async def test_a_place_is_not_lost_with_who_waits_for_it() -> None:
    limiter = RequestLimiter(LONG)
    first, second, third = await started(limiter, 3)
    second.task.cancel()
    await turns()
    first.leave.set()
    await turns()
    assert third.inside.is_set()
    third.leave.set()
    await turns()
    assert inside(await started(limiter, 1)) == [True]


async def test_a_place_handed_to_someone_who_is_cancelled_goes_on_to_the_next() -> None:
    limiter = RequestLimiter(LONG)
    first, second, third = await started(limiter, 3)
    first.leave.set()
    await first.task
    second.task.cancel()
    await turns()
    assert third.inside.is_set()


async def test_beside_a_body_that_takes_long_the_others_go_on_one_after_the_other(clock: Clock) -> None:
    _, second, third, fourth = await started(BodyLimiter(), 4)
    assert not second.inside.is_set()
    clock.now += PATIENCE
    await turns()
    assert second.inside.is_set()
    assert not third.inside.is_set()
    clock.now += PATIENCE
    await turns()
    assert third.inside.is_set()
    assert not fourth.inside.is_set()
    second.leave.set()
    await turns()
    assert fourth.inside.is_set()
