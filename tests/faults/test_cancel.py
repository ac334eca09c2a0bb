"""Cancelling a scan, at any moment, leaves no socket, no task and no look-up behind."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence

import pytest

from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.policy import Limits, ScanPolicy
from aui_tui.scan.scan import observe
from tests.faults import behaviours
from tests.faults.authority import Authority
from tests.faults.lab import settled
from tests.faults.site import HOMEPAGES, Behaviour, Site, answer

SLOW: dict[str, Behaviour] = {
    "before the answer": behaviours.silence,
    "in the headers": behaviours.drips(b"HTTP/1.1 200 OK\r\nX: ", b"a", 0.01),
    "in the body": behaviours.drips(b"HTTP/1.1 200 OK\r\n\r\n<title>x</title>", b"x", 0.01),
}


async def cancelled_after(wait: float | Awaitable[None], site: Site, access: ScanPolicy, parser: ParserProcess) -> None:
    """Cancel a scan after some seconds, or once ``wait`` has ended."""
    before = asyncio.all_tasks()
    task = asyncio.create_task(observe(site.target, parser=parser, access=access))
    await (asyncio.sleep(wait) if isinstance(wait, float) else wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 20)
    assert await settled(site) == 0
    left = asyncio.all_tasks() - before - site.tasks
    assert not left


@pytest.mark.parametrize("moment", SLOW)
async def test_in_the_middle_of_an_answer(moment: str, parser: ParserProcess) -> None:
    async with Site(default=SLOW[moment]) as site:
        for seconds in (0.0, 0.001, 0.05, 0.15):
            await cancelled_after(seconds, site, site.access(Limits()), parser)


async def test_in_a_tls_handshake(parser: ParserProcess) -> None:
    async with Site(greeting=behaviours.greeting(b"", 60), tls_port=True) as site:
        await cancelled_after(0.1, site, site.access(Limits()), parser)


async def test_in_a_tls_session(parser: ParserProcess, tmp_path_factory: pytest.TempPathFactory) -> None:
    authority = Authority(tmp_path_factory.mktemp("authority"), "shop.test")
    async with Site(default=behaviours.silence, tls=authority.server()) as site:
        await cancelled_after(0.3, site, site.access(Limits(), cafile=authority.cafile), parser)


async def test_in_a_look_up(parser: ParserProcess) -> None:
    async def never(host: str) -> Sequence[str]:
        await asyncio.sleep(60)
        return ()

    async with Site() as site:
        await cancelled_after(0.1, site, ScanPolicy(resolver=never, allow_private=True), parser)


async def test_in_the_pause_before_the_second_probe(parser: ParserProcess) -> None:
    refuse = behaviours.sends(answer(b"", "403 Forbidden"))

    async def until_asked(site: Site, count: int) -> None:
        while len(site.asked) < count:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)

    async with Site(faults=dict.fromkeys(HOMEPAGES[1:], refuse)) as site:
        await cancelled_after(until_asked(site, 19), site, site.access(Limits(pause=30)), parser)
        assert len(site.asked) == 19
