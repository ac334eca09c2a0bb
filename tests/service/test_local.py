"""The local service over the real engine, real files and a real server on loopback."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
import pytest

from aui_tui.checks.scoring import grade_card
from aui_tui.errors import NeverScanned, RateLimited
from aui_tui.index import store as store_module
from aui_tui.model.methods import REVISION
from aui_tui.model.observations import PageFacts
from aui_tui.model.options import ScanOptions
from aui_tui.model.progress import ProbeEvent
from aui_tui.model.query import Query
from aui_tui.model.tasks import TASKS, Rendered, TaskReport, TaskResult
from aui_tui.scan.policy import ConnectTo, Resolver, ScanPolicy
from aui_tui.scan.target import Target
from aui_tui.service.local import LocalService
from tests.cards import WALLED
from tests.loopback import QuietHandler, listening

PAGE = b"<!doctype html><title>Shop</title><main>" + b"words " * 100 + b"</main>"


class Site:
    """A small site that counts the homepages it serves, in the handler that it gives to a server."""

    def __init__(self) -> None:
        self.homepages = 0
        self.pause = threading.Event()
        self.pause.set()
        self.held = ""
        """A path that is not answered while this is its name."""
        site = self

        class Handler(QuietHandler):
            def do_GET(self) -> None:
                if self.path == "/":
                    site.homepages += 1
                    site.pause.wait(60)
                while self.path == site.held:
                    time.sleep(0.01)
                body = PAGE if self.path == "/" else b"none"
                self.reply(200 if self.path == "/" else 404, body)

        self.handler = Handler
        self.port = 0

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.host}"

    @property
    def scans(self) -> int:
        return self.homepages // 5


@pytest.fixture
def site() -> Iterator[Site]:
    found = Site()
    with listening(found.handler) as server:
        found.port = server.server_port
        yield found
        found.pause.set()


class Counted(ScanPolicy):
    """Counts scans of hosts of this machine like those of others."""

    async def is_free(self, target: Target, resolver: Resolver) -> bool:
        return False


def service(folder: Path, **options: Any) -> aclosing[LocalService]:
    return aclosing(LocalService(folder, **{"access": Counted(allow_private=True), **options}))


async def test_scan_is_graded_kept_and_listed(tmp_path: Path, site: Site) -> None:
    events: list[ProbeEvent] = []
    async with service(tmp_path / "data", base_url="https://index.example/") as local:
        answer = await local.scan(site.url, ScanOptions(category="retail"), progress=events.append)
        assert (answer.source, answer.warnings) == ("scan", ())
        assert (answer.card.host, answer.card.stance, answer.card.category) == (site.host, "Open", "Retail")
        assert answer.card.url == f"https://index.example/site/{site.host}"
        assert {event.name for event in events} >= {"cache", "browser", "agent_01", "robots"}
        view = await local.index(Query())
        assert [row.summary for row in view.ranked[:]] == [answer.card.summary()]
        assert view.scanned_at == answer.card.scanned_at
    async with service(tmp_path / "data") as local:
        report = await local.site(site.host)
        assert report.card == answer.card
        assert report.observations is not None
        assert report.card.ledger != msgspec.UNSET
        assert report.card.ledger.score == report.card.score
        again = await local.site(site.host, method="v0.1")
        assert again.card.method == "v0.1"
        assert set(again.card.pillars) == {"access", "consent", "surface", "protocols", "task"}


async def test_second_scan_comes_from_the_cache_and_costs_nothing(tmp_path: Path, site: Site) -> None:
    async with service(tmp_path) as local:
        first = await local.scan(site.url)
        second = await local.scan(site.url, ScanOptions(method="v0.1"))
        assert (second.source, second.card.method, site.scans) == ("cache", "v0.1", 1)
        assert second.card.scanned_at == first.card.scanned_at
        forced = await local.scan(site.url, ScanOptions(force=True))
        assert (forced.source, site.scans) == ("scan", 2)
        assert (await local.quota()).left == 8
        report = await local.site(site.host)
        assert [point.scanned_at for point in report.history] == [first.card.scanned_at, forced.card.scanned_at]
        assert report.previous == first.card
        assert (await local.index(Query())).ranked[0:1][0].change == forced.card.score - first.card.score


async def test_cache_and_quota_follow_other_processes(tmp_path: Path, site: Site) -> None:
    async with service(tmp_path) as local, service(tmp_path) as other:
        first = await local.scan(site.url)
        assert ((await local.scan(site.url)).source, (await local.quota()).left) == ("cache", 9)
        forced = await other.scan(site.url, ScanOptions(force=True))
        again = await local.scan(site.url)
        assert (again.source, again.card, (await local.quota()).left) == ("cache", forced.card, 8)
        assert again.card.scanned_at > first.card.scanned_at
        await asyncio.to_thread(other.recent_scans.clear)
        assert (await local.scan(site.url)).source == "scan"


async def test_hundred_callers_share_one_scan(tmp_path: Path, site: Site) -> None:
    async with service(tmp_path) as local:
        answers = await asyncio.gather(*(local.scan(site.url) for _ in range(100)))
        assert site.scans == 1
        assert len({answer.card.scanned_at for answer in answers}) == 1
        assert [answer.source for answer in answers].count("scan") == 1
        assert [answer.source for answer in answers].count("shared") == 99
        assert (await local.quota()).left == 9


@pytest.mark.ci
async def test_a_caller_who_looked_into_the_cache_too_early_shares_the_scan_that_ended_meanwhile(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with service(tmp_path) as local, service(tmp_path) as other:
        look, looked, ended = local.recent_scans.get, threading.Event(), threading.Event()

        def late(key: str) -> str:
            found = look(key)
            looked.set()
            ended.wait(60)
            return found

        monkeypatch.setattr(local.recent_scans, "get", late)
        early = asyncio.create_task(local.scan(site.url))
        await asyncio.to_thread(looked.wait, 60)
        first = await other.scan(site.url)
        ended.set()
        second = await early
        assert (first.source, second.source, site.scans) == ("scan", "shared", 1)
        assert second.card == first.card
        assert (await local.quota()).left == 9
        forced = await local.scan(site.url, ScanOptions(force=True))
        assert (forced.source, site.scans, (await local.quota()).left) == ("scan", 2, 8)


@pytest.mark.ci
async def test_cancelled_scan_leaves_nothing_behind(tmp_path: Path, site: Site) -> None:
    site.pause.clear()
    async with service(tmp_path) as local:
        task = asyncio.create_task(local.scan(site.url))
        while not site.homepages:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        site.pause.set()
        with pytest.raises(NeverScanned):
            await local.site(site.host)
        assert (await local.scan(site.url)).source == "scan"


async def test_a_scan_that_is_cancelled_before_the_first_answer_costs_nothing(tmp_path: Path) -> None:
    asked = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        asked.set()
        await reader.read()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, service(tmp_path) as local:
        task = asyncio.create_task(local.scan(f"http://127.0.0.1:{port}"))
        await asked.wait()
        assert (await local.quota()).left == 9
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await local.quota()).left == 10


@pytest.mark.ci
async def test_one_caller_leaving_does_not_cancel_the_other(tmp_path: Path, site: Site) -> None:
    site.pause.clear()
    async with service(tmp_path) as local:
        first = asyncio.create_task(local.scan(site.url))
        while not site.homepages:
            await asyncio.sleep(0.01)
        heard: list[ProbeEvent] = []
        second = asyncio.create_task(local.scan(site.url, progress=heard.append))
        while not heard:
            await asyncio.sleep(0.01)
        first.cancel()
        await asyncio.wait([first])
        site.pause.set()
        assert (await second).source == "shared"
        assert [event.state for event in heard if event.name == "browser"] == ["started", "done"]
        assert first.cancelled()


@pytest.mark.ci
async def test_forgotten_host_is_gone_from_index_and_cache(tmp_path: Path, site: Site) -> None:
    async with service(tmp_path) as local:
        await local.scan(site.url)
        assert await local.forget(site.host) == 1
        with pytest.raises(NeverScanned):
            await local.site(site.host)
        assert len((await local.index(Query())).ranked) == 0
        assert (await local.scan(site.url)).source == "scan"


@pytest.mark.ci
async def test_a_host_of_this_machine_is_asked_afresh_and_costs_nothing(tmp_path: Path, site: Site) -> None:
    async with service(tmp_path / "data", access=ScanPolicy(allow_private=True)) as local:
        for _ in range(10):
            local.scans.quota.spend("local")
        for _ in range(3):
            assert (await local.scan(site.url, ScanOptions(afresh=True))).source == "scan"
        assert (await local.scan(site.url)).source == "cache"
        assert (await local.quota()).left == 0
    assert site.scans == 3


async def test_a_public_host_is_neither_asked_afresh_nor_free(tmp_path: Path) -> None:
    async def resolver(host: str) -> list[str]:
        return ["8.8.8.8"]

    named = ConnectTo.parse("shop.example.com:443:8.8.8.8:443")
    for access in (
        ScanPolicy(allow_private=True, resolver=resolver),
        ScanPolicy(connect_to=(named,), resolver=resolver),
        ScanPolicy(allow_private=True, connect_to=(named,), resolver=resolver),
    ):
        async with service(tmp_path / str(len(access.connect_to)) / str(access.allow_private), access=access) as local:
            for _ in range(10):
                local.scans.quota.spend("local")
            with pytest.raises(RateLimited):
                await local.scan("https://shop.example.com", ScanOptions(afresh=True))


async def test_a_scan_that_is_cancelled_half_way_is_kept_and_marked_and_never_replaces_a_whole_one(
    tmp_path: Path, site: Site
) -> None:
    async with service(tmp_path) as local:
        for whole_first in (False, True):
            if whole_first:
                before = (await local.scan(site.url, ScanOptions(force=True))).card
            site.held, heard = "/llms.txt", set[str]()

            def hear(event: ProbeEvent, heard: set[str] = heard) -> None:
                heard |= {event.name} if event.outcome == "served" else set()

            task = asyncio.create_task(local.scan(site.url, ScanOptions(force=True), progress=hear))
            while "browser" not in heard:
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            site.held = ""
            found = await local.site(site.host)
            if whole_first:
                assert found.card.scanned_at == before.scanned_at
                kept = await asyncio.to_thread(local.store.history, site.host)
                assert [point.incomplete for point in kept] == [True, False, True]
            else:
                assert found.observations is not None
                assert found.observations.incomplete
                assert any("This scan was stopped before its end" in line.text for line in found.card.evidence)
                reported = " ".join(line.text for line in found.card.evidence)
                assert "no /llms.txt" not in reported
                assert "limits" not in reported
        assert (await local.quota()).left == 7


async def test_an_ordinary_scan_keeps_the_tasks_of_the_one_before_with_their_age(tmp_path: Path, site: Site) -> None:
    results = tuple(TaskResult(task=task.key, outcome="done", note="It worked.") for task in TASKS)
    ran = TaskReport(ran_at="2026-01-05T10:00:00.000Z", origin=site.url, door="allowed", results=results)
    rendered = Rendered(readable=400, sent=380, share=5, text="Rendered")
    async with service(tmp_path) as local:
        first = await local.scan(site.url)
        assert first.observations is not None
        with_tasks = first.observations.with_tasks(ran, rendered)
        earlier = grade_card(with_tasks, first.card.method)
        local.store.put(earlier, with_tasks)
        again = await local.scan(site.url, ScanOptions(force=True))
        assert again.observations is not None
        assert (again.observations.tasks, again.observations.page.rendered) == (ran, rendered)
        assert not again.observations.has_own_tasks
        assert (again.card.score, again.card.pillars) == (earlier.score, earlier.pillars)
        assert again.card.score != first.card.score
        assert any("tasks were not tried again; their results are" in sentence for sentence in again.warnings)
        kept = (await local.site(first.card.host)).observations
        assert kept is not None
        assert kept.tasks == ran
        other = msgspec.structs.replace(first.observations, page=PageFacts(title="Another page", readable=9))
        assert other.with_last_tasks(with_tasks).page == other.page
        assert other.with_last_tasks(with_tasks).tasks == ran


async def test_what_was_graded_again_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with service(tmp_path) as local:
        local.store.put(WALLED)
        monkeypatch.setattr(store_module, "REVISION", REVISION + 1)
        said = (await local.index(Query())).notice
        assert said == "1 scan of an earlier revision of the method graded again, 0 left for next time."
        assert (await local.index(Query())).notice == ""


async def test_rows_read_ahead_are_given_unless_the_index_has_changed_or_others_are_asked_for(tmp_path: Path) -> None:
    walled = Query.of(line="stance:walled")
    async with service(tmp_path) as local:
        local.store.put(WALLED)
        local.read_ahead(Query())
        with patch.object(local.store, "first_page", side_effect=AssertionError("read again")):
            view = await local.first_page(Query())
        assert view is not None
        assert [row.summary.host for row in view.ranked[:]] == [WALLED.host]
        for query in (Query(), walled):
            local.read_ahead(query)
            local.store.put(msgspec.structs.replace(WALLED, host=f"{query.line or 'later'}.example".replace(":", "-")))
            view = await local.first_page(Query())
            assert view is not None
            assert len(view.ranked) == len(local.store.index(Query()).ranked)
        local.read_ahead(walled)
        view = await local.first_page(Query())
        assert view is not None
        assert view.query == Query()
