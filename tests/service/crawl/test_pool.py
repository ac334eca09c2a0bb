"""Scanning processes: each result comes back, lost processes are made up for, none is left behind."""

from __future__ import annotations

import asyncio
import os
import signal

import psutil
import pytest

from aui_tui.service.crawl import Crawl, Pool
from aui_tui.service.crawl.pool import ScanJob, Terms
from aui_tui.service.local import LocalService
from tests.faults.behaviours import silence
from tests.faults.site import Site
from tests.service.crawl.conftest import access_to, grouped, homepages, hosts, rows, terms_of


def to(site: Site) -> Terms:
    return Terms.of(access_to(site.port), method="v0.2", base_url="http://127.0.0.1")


@pytest.fixture
def terms(site: Site) -> Terms:
    return to(site)


@pytest.mark.ci
async def test_terms_and_results_travel_whole(terms: Terms, site: Site) -> None:
    async with Pool(terms) as pool:
        good = await pool.scan(ScanJob(1, "http://a.test", "Ä", "Retail", True))
        refused = await pool.scan(ScanJob(2, "ftp://a.test"))
    assert good.packed is not None
    assert (good.number, good.packed.host, good.card, good.unreachable) == (1, "a.test", b"", False)
    assert (refused.number, refused.packed, refused.title, refused.status) == (2, None, "Invalid host", 400)


@pytest.mark.ci
@pytest.mark.parametrize("fast", [False, True])
async def test_terms_say_which_client_asks(fast: bool, site: Site) -> None:
    terms = Terms.of(access_to(site.port), method="v0.2", base_url="http://127.0.0.1", fast=fast)
    async with Pool(terms) as pool:
        found = await asyncio.gather(*(pool.scan(ScanJob(number, url)) for number, url in enumerate(hosts(3))))
    assert all(result.packed is not None for result in found)
    written = {name for asked in site.asked for name, _ in asked.fields if name.lower() == "sec-ch-ua"}
    assert written == {"Sec-Ch-Ua" if fast else "sec-ch-ua"}


@pytest.mark.ci
async def test_processes_share_the_work_and_are_gone_at_the_end(terms: Terms, site: Site) -> None:
    async with Pool(terms, 2) as pool:
        found = await asyncio.gather(*(pool.scan(ScanJob(number, url)) for number, url in enumerate(hosts(8))))
        pids = pool.pids()
        children = [child.pid for pid in pids for child in psutil.Process(pid).children(recursive=True)]
        assert len(pids) == 2
    assert all(result.packed is not None for result in found)
    for _ in range(100):
        if not any(psutil.pid_exists(pid) for pid in (*pids, *children)):
            break
        await asyncio.sleep(0.05)
    assert not [pid for pid in (*pids, *children) if psutil.pid_exists(pid)]


@pytest.mark.ci
async def test_jobs_of_a_killed_process_go_to_another(service: LocalService, site: Site) -> None:
    async with Pool(terms_of(service), 2) as pool:
        crawl = Crawl(service, pool, concurrency=6)
        task = asyncio.create_task(crawl.run(grouped(rows(hosts(30)))))
        while crawl.counts.scanned < 5:
            await asyncio.sleep(0.01)
        os.kill(pool.pids()[0], signal.SIGKILL)
        counts = await task
    assert (counts.scanned, counts.failed, counts.unsaved) == (30, 0, 0)
    assert set(homepages(site)) == {f"h{number}.test" for number in range(30)}
    assert all(len(service.reports.history(f"h{number}.test")) == 1 for number in range(30))


async def test_host_that_ends_every_process_is_given_up() -> None:
    async with Site(default=silence) as site, Pool(to(site)) as pool:

        async def fatal() -> None:
            while True:
                for pid in pool.pids():
                    os.kill(pid, signal.SIGKILL)
                await asyncio.sleep(0.01)

        killer = asyncio.create_task(fatal())
        result = await pool.scan(ScanJob(1, "http://a.test"))
        killer.cancel()
    assert (result.packed, result.error) == (None, "The process that scanned it ended each time.")
