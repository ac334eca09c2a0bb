"""Dialling: a further address joins in when one is silent or refuses."""

from __future__ import annotations

import asyncio
import errno
import time
from collections.abc import Sequence

import pytest

from aui_tui.engine.network import NetworkError, streams
from aui_tui.engine.network.backend import Backend
from aui_tui.engine.network.failures import ConnectFailed
from aui_tui.engine.network.routes import STAGGER, Routes
from aui_tui.engine.policy import Limits, ScanPolicy
from aui_tui.errors import Unavailable


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
    line = await routes("1.1.1.1", "1.1.1.2").connect("x.com", 443)
    assert getattr(line, "name", "") == "1.1.1.1"
    assert wire.tried == ["1.1.1.1"]


async def test_a_refused_address_hands_over_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    wire = Wire(monkeypatch, **{"2606:4700::1": OSError(101, "unreachable"), "1.1.1.1": 0.0})
    began = time.monotonic()
    await routes("2606:4700::1", "1.1.1.1").connect("x.com", 443)
    assert time.monotonic() - began < STAGGER
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


async def test_local_sockets_are_never_dialled() -> None:
    with pytest.raises(ConnectFailed):
        await Backend(routes("1.1.1.1")).connect_unix_socket("/run/x.sock")


async def test_an_empty_answer_is_no_name() -> None:
    with pytest.raises(NetworkError, match="does not resolve"):
        await routes().resolve("x.com", 80)
