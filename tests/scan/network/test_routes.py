"""Dialling: a further address joins in when one is silent or refuses."""

from __future__ import annotations

import asyncio
import errno
import socket
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from aui_tui.errors import Unavailable
from aui_tui.scan.network import NetworkError, streams
from aui_tui.scan.network import routes as network_routes
from aui_tui.scan.network.routes import Routes, SystemResolver, system_lookup, system_resolver
from aui_tui.scan.policy import Limits, ScanPolicy


def routes(*addresses: str, connect: float = 3) -> Routes:
    async def resolver(host: str) -> Sequence[str]:
        return addresses

    return Routes(ScanPolicy(resolver=resolver, limits=Limits(connect=connect, lookup=1)))


class Wire:
    """Stands for the network: which addresses answer, after how long, or refuse."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **answers: float | OSError) -> None:
        self.answers = answers
        self.tried: list[str] = []
        self.stood: list[str] = []
        self.aborted: list[str] = []
        monkeypatch.setattr(streams, "connect", self.connect)

    async def connect(self, address: str, port: int) -> object:
        self.tried.append(address)
        given = self.answers[address]
        if isinstance(given, OSError):
            raise given
        await asyncio.sleep(given)
        self.stood.append(address)
        wire = self

        class Line:
            name = address

            def abort(self) -> None:
                wire.aborted.append(self.name)

        return Line()


async def test_the_first_address_that_answers_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    wire = Wire(monkeypatch, **{"1.1.1.1": 0.01, "1.1.1.2": 0.0})
    monkeypatch.setattr(network_routes, "STAGGER", 60)
    line = await routes("1.1.1.1", "1.1.1.2").connect("x.com", 443)
    assert getattr(line, "name", "") == "1.1.1.1"
    assert wire.tried == ["1.1.1.1"]


async def test_a_refused_address_hands_over_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    refusing: dict[str, Any] = {"2606:4700::1": OSError(101, "unreachable"), "1.1.1.1": 0.0}
    wire = Wire(monkeypatch, **refusing)
    monkeypatch.setattr(network_routes, "STAGGER", 60)
    async with asyncio.timeout(30):
        await routes("2606:4700::1", "1.1.1.1").connect("x.com", 443)
    assert wire.tried == ["2606:4700::1", "1.1.1.1"]


@pytest.mark.parametrize("others", [(), ("1.1.1.2",)], ids=["one address", "several"])
async def test_a_machine_without_room_for_a_connection_blames_no_host(
    monkeypatch: pytest.MonkeyPatch, others: tuple[str, ...]
) -> None:
    answers = dict.fromkeys(("1.1.1.1", *others), OSError(errno.EMFILE, "Too many open files"))
    Wire(monkeypatch, **answers)
    with pytest.raises(Unavailable, match="no room for another connection: Too many open files"):
        await routes("1.1.1.1", *others).connect("x.com", 443)


async def test_families_take_turns_and_a_silent_address_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    silent = {"2606:4700::1": 60.0, "2606:4700::2": 60.0, "1.1.1.1": 0.0}
    wire = Wire(monkeypatch, **silent)
    await routes("2606:4700::1", "2606:4700::2", "1.1.1.1").connect("x.com", 443)
    assert wire.tried == ["2606:4700::1", "1.1.1.1"]


async def test_a_port_found_dead_is_not_tried_again_in_the_same_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    wire = Wire(monkeypatch, **{"1.1.1.1": 60.0})
    found = routes("1.1.1.1", connect=0.1)
    for _ in range(3):
        with pytest.raises(NetworkError) as caught:
            await found.connect("x.com", 443)
        assert caught.value.silent
    assert wire.tried == ["1.1.1.1"]


async def test_an_empty_answer_is_no_name() -> None:
    with pytest.raises(NetworkError, match="does not resolve"):
        await routes().resolve("x.com", 80)


class Lookup:
    """A blocking look-up in which names that begin with ``dead`` hang until ``release``."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.running = 0

    async def hold(self, resolver: SystemResolver, names: int, running: int) -> list[asyncio.Task[Sequence[str]]]:
        """Ask for ``names`` that hang and return once so many look-ups are ``running``."""
        asked = [asyncio.ensure_future(resolver(f"dead{number}")) for number in range(names)]
        async with asyncio.timeout(60):
            while self.running < running:
                await asyncio.sleep(0.01)
        return asked

    def __call__(self, host: str) -> Sequence[str]:
        if host.startswith("dead"):
            self.running += 1
            self.gate.wait(60)
            self.running -= 1
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return ("192.0.2.1",)


@pytest.fixture
def lookup() -> Iterator[Lookup]:
    found = Lookup()
    yield found
    found.gate.set()


async def test_dead_names_delay_no_good_one(lookup: Lookup) -> None:
    resolver = SystemResolver(lookup)
    dead = await lookup.hold(resolver, 40, 40)
    assert await asyncio.wait_for(resolver("good"), 60) == ("192.0.2.1",)
    for task in dead:
        task.cancel()


async def test_look_ups_are_bounded_and_free_their_places(lookup: Lookup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aui_tui.scan.network.routes.LOOKUPS", 5)
    resolver = SystemResolver(lookup)
    dead = await lookup.hold(resolver, 9, 5)
    await asyncio.sleep(0.1)
    assert lookup.running == 5
    good = asyncio.ensure_future(resolver("good"))
    await asyncio.sleep(0.1)
    assert not good.done()
    lookup.gate.set()
    assert await asyncio.wait_for(good, 60) == ("192.0.2.1",)
    found = await asyncio.gather(*dead, return_exceptions=True)
    assert {type(error) for error in found} == {socket.gaierror}


async def test_an_abandoned_look_up_gives_its_place_back(lookup: Lookup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aui_tui.scan.network.routes.LOOKUPS", 1)
    resolver = SystemResolver(lookup)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(resolver("dead"), 0.05)
    lookup.gate.set()
    assert await asyncio.wait_for(resolver("good"), 60) == ("192.0.2.1",)


async def test_the_system_knows_localhost() -> None:
    assert "127.0.0.1" in system_lookup("localhost")
    assert system_resolver() is system_resolver()
    assert "127.0.0.1" in await system_resolver()("localhost")


async def test_a_name_that_no_resolver_takes_is_an_os_error() -> None:
    with pytest.raises(OSError):  # noqa: PT011
        await SystemResolver()("a" * 64 + ".test")
