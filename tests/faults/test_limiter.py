"""How many connections a site sees in a crawl, that no answer holds up the others, and what is kept of equal pages."""

from __future__ import annotations

import asyncio
import tracemalloc
from dataclasses import replace

import pytest

from aui_tui.model.observations import BROWSER, FILE_PROBES
from aui_tui.model.progress import ProbeEvent
from aui_tui.model.vocabulary import SERVED
from aui_tui.scan.parser_process import ParserProcess
from tests.faults import behaviours
from tests.faults.lab import scan, settled
from tests.faults.site import BRIEF, HOMEPAGES, PAGE, Asked, Site, answer, good

PATIENT = replace(BRIEF, patience=0.5)


async def test_a_site_sees_one_connection_for_each_identity(parser: ParserProcess) -> None:
    async with Site() as site:
        observed = await scan(site, parser, site.access(PATIENT))
        assert await settled(site) == 0
    assert all(exchange.outcome == SERVED for exchange in observed.exchanges if exchange.name in HOMEPAGES)
    by_place = {asked.place: asked.connection for asked in reversed(site.asked)}
    assert len({by_place[name] for name in HOMEPAGES}) == 5
    assert site.opened == 5, "the files as an agent go over the one that it has"
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


async def test_a_large_body_that_never_ends_keeps_no_other_from_being_read_whole(parser: ParserProcess) -> None:
    large = PAGE + b"<!--" + b"x" * 300_000 + b"-->"
    unending = behaviours.drips(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + large, b" ", 0.05)
    faults = dict.fromkeys(HOMEPAGES, behaviours.sends(answer(large))) | {HOMEPAGES[1]: unending}
    async with Site(faults=faults) as site:
        observed = await scan(site, parser, site.access(BRIEF))
    assert observed.exchange(HOMEPAGES[1]).cut
    for name in (BROWSER, *HOMEPAGES[2:]):
        assert (observed.exchange(name).bytes, observed.exchange(name).cut) == (len(large), False)


async def test_a_page_that_everybody_gets_is_kept_once(parser: ParserProcess) -> None:
    page = PAGE + b"<!--" + b"x" * 600_000 + b"-->"
    held: list[int] = []

    def watch(event: ProbeEvent) -> None:
        held.append(tracemalloc.get_traced_memory()[0])

    async with Site(faults=dict.fromkeys(HOMEPAGES, behaviours.sends(answer(page)))) as site:
        await scan(site, parser)
        tracemalloc.start()
        try:
            await scan(site, parser, progress=watch)
        finally:
            tracemalloc.stop()
    assert held[-1] < 3 * len(page)
