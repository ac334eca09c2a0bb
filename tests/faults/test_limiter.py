"""How many connections a site sees in a crawl, and that no answer holds up the others."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from aui_tui.model.observations import BROWSER, FILE_PROBES, SERVED
from aui_tui.scan.parser_process import ParserProcess
from tests.faults import behaviours
from tests.faults.lab import scan, settled
from tests.faults.site import BRIEF, HOMEPAGES, Asked, Site, good

PATIENT = replace(BRIEF, patience=0.5)


async def test_a_site_sees_one_connection_for_each_identity(parser: ParserProcess) -> None:
    async with Site() as site:
        observed = await scan(site, parser, site.access(PATIENT))
        assert await settled(site) == 0
    assert all(exchange.outcome == SERVED for exchange in observed.exchanges if exchange.name in HOMEPAGES)
    by_place = {asked.place: asked.connection for asked in site.asked}
    assert len({by_place[name] for name in HOMEPAGES}) == site.opened == 5
    assert {by_place[name] for name in FILE_PROBES if name != "robots"} == {by_place[BROWSER]}  # agents ask for it too


@pytest.mark.ci
@pytest.mark.parametrize("place", [BROWSER, "robots", "ucp"])
async def test_an_answer_that_never_comes_keeps_nobody_else_waiting(place: str, parser: ParserProcess) -> None:
    async with Site(faults={place: behaviours.silence}) as site:
        observed = await scan(site, parser, site.access(PATIENT))
    for exchange in observed.exchanges:
        assert (exchange.error == "timeout") == (exchange.name == place), exchange


async def test_waiting_for_a_place_counts_for_nobodys_answer(parser: ParserProcess) -> None:
    async def slowly(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.5)
        await good(asked, writer)

    async with Site(faults={BROWSER: slowly}) as site:
        observed = await scan(site, parser, site.access(PATIENT))
    assert observed.browser.elapsed_ms >= 500
    assert min(observed.exchange(name).elapsed_ms for name in FILE_PROBES) < 500
