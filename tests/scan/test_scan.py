"""A whole scan: what it reports as it goes, and a machine that cannot scan."""

from __future__ import annotations

import errno

import pytest

from aui_tui.errors import Unavailable
from aui_tui.model.progress import ProbeEvent
from aui_tui.scan.network import streams
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.scan import observe
from tests.faults.behaviours import sends
from tests.faults.site import PLACES, Site, answer


async def test_a_machine_without_room_for_connections_gives_no_observations(
    monkeypatch: pytest.MonkeyPatch, parser: ParserProcess
) -> None:
    room = iter((True, True))

    async def connect(address: str, to: int) -> streams.Stream:
        if next(room, False):
            return await dial(address, to)
        raise OSError(errno.EMFILE, "Too many open files")

    dial = streams.connect
    monkeypatch.setattr(streams, "connect", connect)
    async with Site() as site:
        with pytest.raises(Unavailable, match="Too many open files"):
            await observe(site.target, parser=parser, access=site.access())


async def test_each_probe_is_reported_as_it_ends_and_who_is_asked_again(parser: ParserProcess) -> None:
    wall = sends(answer(b"<title>Just a moment...</title>", "403 Forbidden", extra=b"cf-mitigated: challenge\r\n"))
    events: list[ProbeEvent] = []
    async with Site(faults={"agent_02": wall}) as site:
        observed = await observe(site.target, parser=parser, access=site.access(), progress=events.append)
    walled = observed.exchange("agent_02")
    assert (walled.outcome, len(walled.attempts), walled.controls) == ("challenged", 3, 3)
    assert {event.name for event in events if event.state == "done"} == set(PLACES)
    controls = {"agent_01", "browser"}
    assert {event.name for event in events if event.state == "retrying"} == {"agent_02", *controls}
