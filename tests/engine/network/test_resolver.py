"""Two tiers of look-ups: what is slow or dead holds up nobody."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator, Sequence

import pytest

from aui_tui.engine.network.resolver import TieredResolver, system_lookup, system_resolver


class Lookup:
    """A blocking look-up in which names that begin with ``dead`` hang until ``release``."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.running = 0

    def __call__(self, host: str) -> Sequence[str]:
        if host.startswith("dead"):
            self.running += 1
            self.gate.wait(30)
            self.running -= 1
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return ("192.0.2.1",)


@pytest.fixture
def lookup() -> Iterator[Lookup]:
    found = Lookup()
    yield found
    found.gate.set()


async def test_dead_names_delay_no_good_one(lookup: Lookup) -> None:
    resolver = TieredResolver(lookup, quick=4, slow=100, patience=0.05)
    dead = [asyncio.ensure_future(resolver(f"dead{number}")) for number in range(40)]
    await asyncio.sleep(1)
    assert lookup.running == 40
    began = time.monotonic()
    assert await resolver("good") == ("192.0.2.1",)
    assert time.monotonic() - began < 0.05
    for task in dead:
        task.cancel()


async def test_the_slow_tier_is_bounded_and_frees_itself(lookup: Lookup) -> None:
    resolver = TieredResolver(lookup, quick=2, slow=3, patience=0.02)
    dead = [asyncio.ensure_future(resolver(f"dead{number}")) for number in range(9)]
    await asyncio.sleep(0.3)
    assert lookup.running == 5
    good = asyncio.ensure_future(resolver("good"))
    await asyncio.sleep(0.1)
    assert not good.done()
    lookup.gate.set()
    assert await asyncio.wait_for(good, 5) == ("192.0.2.1",)
    found = await asyncio.gather(*dead, return_exceptions=True)
    assert {type(error) for error in found} == {socket.gaierror}


async def test_an_abandoned_look_up_gives_its_place_back(lookup: Lookup) -> None:
    resolver = TieredResolver(lookup, quick=1, slow=1, patience=10)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(resolver("dead"), 0.05)
    lookup.gate.set()
    assert await asyncio.wait_for(resolver("good"), 5) == ("192.0.2.1",)


async def test_the_system_knows_localhost() -> None:
    assert "127.0.0.1" in system_lookup("localhost")
    assert system_resolver() is system_resolver()
    assert "127.0.0.1" in await system_resolver()("localhost")


async def test_a_name_that_no_resolver_takes_is_an_os_error() -> None:
    with pytest.raises(OSError):  # noqa: PT011
        await TieredResolver()("a" * 64 + ".test")
