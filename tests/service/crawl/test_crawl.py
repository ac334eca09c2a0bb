"""What of a list is scanned, when, and what is kept whatever happens."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from aui_tui.errors import NeverScanned, Unavailable
from aui_tui.model.options import ScanOptions
from aui_tui.model.query import Query
from aui_tui.model.starter import Known
from aui_tui.scan.policy import Limits
from aui_tui.service import grading
from aui_tui.service.crawl.crawl import Crawl, Done
from aui_tui.service.crawl.listing import BadRow, ListedHost
from aui_tui.service.crawl.work import CrawlSettings, Here, Job, JobResult, failed
from aui_tui.service.local import LocalService
from tests.faults.site import Asked, Site, good
from tests.index.clock import Clock
from tests.index.locked import locked
from tests.service.crawl.conftest import access_to, grouped, homepages, hosts, rows, settings_of

HOMEPAGES = 5
"""Requests for the homepage of one scan."""


async def crawled(service: LocalService, urls: list[str], **options: object) -> list[Done]:
    """Crawl ``urls`` and return what became of them."""
    reported: list[Done] = []
    async with Here(settings_of(service)) as workers:
        await Crawl(service, workers, on_result=reported.append, **options).run(grouped(rows(urls)))  # type: ignore[arg-type]
    return reported


def kinds(reported: list[Done]) -> Counter[str]:
    return Counter(done.kind for done in reported)


@pytest.mark.ci
async def test_every_host_is_scanned_once_written_and_reported(service: LocalService, site: Site) -> None:
    reported = await crawled(service, hosts(30), concurrency=8)
    assert kinds(reported) == {"scanned": 30}
    assert all(done.saved and done.result is not None and done.result.card for done in reported)
    assert homepages(site) == {f"h{number}.test": HOMEPAGES for number in range(30)}
    assert len((await service.index(Query())).ranked) == 30


async def test_started_again_it_scans_what_is_missing_or_old(service: LocalService, site: Site, clock: Clock) -> None:
    await crawled(service, hosts(4))
    site.asked.clear()
    assert kinds(await crawled(service, hosts(6))) == {"fresh": 4, "scanned": 2}
    assert set(homepages(site)) == {"h4.test", "h5.test"}
    clock.now += 1
    assert kinds(await crawled(service, hosts(6), older_than=0.0)) == {"scanned": 6}
    clock.now += 8 * 86_400
    assert kinds(await crawled(service, hosts(6))) == {"scanned": 6}


async def test_cards_from_the_future_are_not_fresh_for_ever(service: LocalService, clock: Clock) -> None:
    await crawled(service, hosts(2))
    clock.now -= 48 * 3600
    assert kinds(await crawled(service, hosts(2))) == {"scanned": 2}


async def test_host_without_any_answer_is_not_asked_again_at_once(tmp_path: Path) -> None:
    service = LocalService(tmp_path, access=access_to(1))
    assert kinds(await crawled(service, hosts(2))) == {"unreachable": 2}
    assert kinds(await crawled(service, hosts(2))) == {"fresh": 2}
    await service.aclose()


async def test_labels_come_from_the_list_the_starter_list_and_the_card(
    service: LocalService, workers: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {"a.test": Known("Alpha", "Travel", True), "b.test": Known("Beta", "Tech", True)}
    monkeypatch.setattr(grading, "starter", lambda: known)
    listed = [
        ListedHost(1, "http://a.test", "a.test"),
        ListedHost(2, "http://b.test", "b.test", "Other", "Retail"),
        ListedHost(3, "http://c.test", "c.test", "", "Tickets"),
    ]
    await Crawl(service, workers).run(grouped(listed))
    await Crawl(service, workers, older_than=0.0).run(grouped(rows(["http://b.test", "http://c.test"])))
    cards = [(await service.site(host)).card for host in ("a.test", "b.test", "c.test")]
    assert [(card.name, card.category, card.seed) for card in cards] == [
        ("Alpha", "Travel", True),
        ("Beta", "Retail", True),
        ("c.test", "Tickets", False),
    ]


async def test_refused_host_and_bad_row_are_reported_and_cost_nothing_else(
    service: LocalService, workers: Here
) -> None:
    reported: list[Done] = []
    listed: list[ListedHost | BadRow] = [*rows(["http://10.0.0.1:81", "http://h1.test"]), BadRow(3, "x", "Bad.")]
    counts = await Crawl(service, workers, on_result=reported.append).run(grouped(listed))
    assert (counts.scanned, counts.failed, counts.bad) == (1, 1, 1)
    refused = next(done.result for done in reported if done.kind == "failed")
    assert refused is not None
    assert (refused.title, refused.status) == ("Invalid host", 400)


async def test_crawl_spends_none_of_the_scans_of_the_hour(service: LocalService) -> None:
    before = await service.quota()
    await crawled(service, hosts(12))
    assert await service.quota() == before


async def test_answer_cached_before_the_crawl_is_not_given_after_it(service: LocalService) -> None:
    first = await service.scan("http://h0.test")
    await crawled(service, hosts(1), older_than=0.0)
    again = await service.scan("http://h0.test")
    assert again.source == "scan"
    assert again.card.scanned_at > first.card.scanned_at


class Slow:
    """Pretends to scan for ``seconds``; knows how many hosts were in flight, and which together.

    None ends before there were ``least`` at once.
    """

    def __init__(self, seconds: float, least: int = 1) -> None:
        self.seconds = seconds
        self.least = least
        self.there = asyncio.Event()
        self.now: set[str] = set()
        self.most = 0
        self.together: set[frozenset[str]] = set()
        self.begun: list[float] = []

    async def scan(self, job: Job) -> JobResult:
        self.begun.append(time.monotonic())
        self.now.add(job.url)
        self.most = max(self.most, len(self.now))
        self.together |= {frozenset((job.url, other)) for other in self.now}
        if len(self.now) >= self.least:
            self.there.set()
        await self.there.wait()
        await asyncio.sleep(self.seconds)
        self.now.discard(job.url)
        return failed("Nothing", "Nothing was scanned.")

    async def aclose(self) -> None:
        return


async def test_no_more_hosts_in_flight_than_allowed(service: LocalService) -> None:
    slow = Slow(0.05, least=7)
    counts = await Crawl(service, slow, concurrency=7).run(grouped(rows(hosts(40))))
    assert counts.failed == 40
    assert slow.most == 7


async def test_hosts_begin_no_faster_than_allowed(service: LocalService) -> None:
    slow, started = Slow(0.01), time.monotonic()
    await Crawl(service, slow, rate=20.0).run(grouped(rows(hosts(12))))
    assert slow.begun[-1] - started >= 11 / 20 - 0.02


@pytest.mark.ci
async def test_names_of_one_host_are_never_scanned_together(service: LocalService) -> None:
    slow = Slow(0.1)
    names = ["http://a.test", "http://www.a.test", "http://a.test:8080", "http://b.test"]
    counts = await Crawl(service, slow).run(grouped(rows(names)))
    assert counts.failed == 4
    same = set(names[:3])
    assert not [pair for pair in slow.together if len(pair & same) > 1]


@pytest.mark.ci
async def test_two_crawls_of_one_list_scan_each_host_once(tmp_path: Path, site: Site) -> None:
    services = [LocalService(tmp_path, access=access_to(site.port)) for _ in range(2)]
    reported = await asyncio.gather(*(crawled(service, hosts(40), concurrency=8) for service in services))
    assert kinds(reported[0])["scanned"] + kinds(reported[1])["scanned"] == 40
    assert [len(one) for one in reported] == [40, 40]
    assert homepages(site) == {f"h{number}.test": HOMEPAGES for number in range(40)}
    for service in services:
        await service.aclose()


@pytest.mark.ci
async def test_cancelled_crawl_keeps_what_was_finished_and_gives_its_leases_back(
    service: LocalService, workers: Here, site: Site
) -> None:
    reported: list[Done] = []
    crawl = Crawl(service, workers, on_result=reported.append, concurrency=4)
    task = asyncio.create_task(crawl.run(grouped(rows(hosts(200)))))
    while len(reported) < 10:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert 10 <= len(reported) < 200
    assert len((await service.index(Query())).ranked) == len(reported)
    assert all(service.leases.take_many([f"h{number}.test" for number in range(200)]))


@pytest.mark.ci
async def test_locked_index_is_waited_for(service: LocalService) -> None:
    """It is locked until the crawl says that it waits."""
    notices: list[str] = []
    with contextlib.ExitStack() as stack:
        stack.enter_context(locked(service.places.index))

        def free(notice: str) -> None:
            notices.append(notice)
            stack.close()

        reported = await crawled(service, hosts(3), notice=free)
    assert kinds(reported) == {"scanned": 3}
    assert len(notices) == 1
    assert "locked" in notices[0]
    assert len((await service.index(Query())).ranked) == 3


@pytest.mark.ci
async def test_no_host_is_begun_while_nobody_can_say_whose_it_is(service: LocalService) -> None:
    """The file of the leases is locked until the crawl says that it waits."""
    slow, freed = Slow(0.01), []
    await asyncio.to_thread(service.leases.take, "other.test")
    with contextlib.ExitStack() as stack:
        stack.enter_context(locked(service.places.cache / "cache.db"))

        def free(notice: str) -> None:
            assert "locked" in notice
            stack.pop_all().close()
            freed.append(time.monotonic())

        counts = await Crawl(service, slow, notice=free).run(grouped(rows(hosts(3))))
    assert counts.failed == 3
    assert len(freed) == 1
    assert min(slow.begun) > freed[0]


@pytest.mark.ci
async def test_slow_listener_holds_up_new_hosts_and_no_writing(service: LocalService, workers: Here) -> None:
    go_on, reported = threading.Event(), []

    def tell(done: Done) -> None:
        assert go_on.wait(60)
        reported.append(done)

    crawl = asyncio.create_task(Crawl(service, workers, on_result=tell, concurrency=4).run(grouped(rows(hosts(12)))))
    while len((await service.index(Query())).ranked) < 4:
        await asyncio.sleep(0.02)
    assert await asyncio.to_thread(service.leases.take_many, [f"h{number}.test" for number in range(4)])
    assert reported == []
    go_on.set()
    assert (await crawl).scanned == 12
    assert kinds(reported) == {"scanned": 12}


async def test_listener_that_fails_ends_the_crawl(service: LocalService, workers: Here) -> None:
    def tell(done: Done) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        await Crawl(service, workers, on_result=tell, concurrency=2).run(grouped(rows(hosts(12))))
    assert len((await service.index(Query())).ranked) < 12


@pytest.mark.ci
async def test_index_that_stays_locked_ends_the_crawl_and_says_what_is_not_saved(
    service: LocalService, workers: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aui_tui.service.crawl.crawl.LOCK_TIMEOUT", 0.5)
    reported: list[Done] = []
    crawl = Crawl(service, workers, on_result=reported.append)
    with locked(service.places.index), pytest.raises(Unavailable, match="locked"):
        await crawl.run(grouped(rows(hosts(3))))
    assert crawl.counts.unsaved == len(reported) > 0
    assert not any(done.saved for done in reported)
    with pytest.raises(NeverScanned):
        await service.site("h0.test")
    counts = await Crawl(service, workers).run(grouped(rows(hosts(3))))
    assert counts.scanned == 3


@pytest.mark.ci
async def test_workers_that_are_gone_end_the_crawl_and_nothing_else_is_said(service: LocalService) -> None:
    class Gone:
        def __init__(self) -> None:
            self.asked = 0
            self.all_asked = asyncio.Event()

        async def scan(self, job: Job) -> JobResult:
            self.asked += 1
            if self.asked == 12:
                self.all_asked.set()
            await self.all_asked.wait()
            raise Unavailable("The workers are gone.")

        async def aclose(self) -> None: ...

    said: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: said.append(context))
    with pytest.raises(Unavailable, match="are gone"):
        await Crawl(service, Gone()).run(grouped(rows(hosts(12))))
    gc.collect()
    await asyncio.sleep(0)
    assert said == []
    assert len([lease for lease in service.leases.take_many([f"h{n}.test" for n in range(12)]) if lease]) == 12


@pytest.mark.ci
async def test_with_a_pace_a_host_is_asked_one_request_at_a_time_and_its_lease_lasts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    life, pace = 2.0, 0.35
    monkeypatch.setattr("aui_tui.index.cache.LEASE_LIFE", life)
    monkeypatch.setattr("aui_tui.service.crawl.crawl.LEASE_LIFE", life)
    under_way = most = 0

    async def serve(asked: Asked, writer: asyncio.StreamWriter) -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await good(asked, writer)
        under_way -= 1

    async with Site(default=serve) as slow:
        access = replace(access_to(slow.port), limits=Limits(pace=pace))
        first, second = (LocalService(tmp_path / "data", access=access) for _ in range(2))
        began = time.monotonic()
        crawl = asyncio.create_task(crawled(first, hosts(1)))
        while time.monotonic() < began + 1.5 * life or not slow.asked:
            await asyncio.sleep(0.02)
        if not crawl.done():
            assert await asyncio.to_thread(second.leases.take, "h0.test") is None
        reported = await crawl
        assert kinds(reported) == {"scanned": 1}
        assert time.monotonic() - began >= 10 * pace
        assert most == 1
        assert await asyncio.to_thread(second.leases.take, "h0.test") is not None
        await first.aclose()
        await second.aclose()


@pytest.mark.ci
async def test_a_paced_crawl_has_time_for_its_scans(tmp_path: Path, site: Site) -> None:
    access = replace(access_to(site.port), limits=Limits(pace=0.05))
    service = LocalService(tmp_path / "data", access=access)
    settings = CrawlSettings.of(access, base_url="")
    limits = settings.policy.limits
    assert limits.longest > 10 * (limits.probe + 0.05)
    async with Here(settings) as here:
        counts = await Crawl(service, here).run(grouped(rows(hosts(3))))
    assert counts.scanned == 3
    assert all(service.store.get(f"h{number}.test").card.elapsed_ms >= 500 for number in range(3))
    await service.aclose()


async def test_a_job_and_its_result_are_whole(site: Site) -> None:
    options = ScanOptions(method="v0.1", name="Ä", category="Retail")
    policy = replace(access_to(site.port), headers=(("X-Key", "secret"),), basic_auth=("a", "secret"))
    async with Here(CrawlSettings.of(policy, base_url="https://index.example")) as here:
        good = await here.scan(Job("http://a.test", options, True))
        refused = await here.scan(Job("ftp://a.test"))
    assert good.packed is not None
    assert (good.packed.host, good.card, good.unreachable) == ("a.test", b"", False)
    assert (refused.packed, refused.title, refused.status) == (None, "Invalid host", 400)
    assert not [asked for asked in site.asked if asked.field("x-key") or asked.field("authorization")]
