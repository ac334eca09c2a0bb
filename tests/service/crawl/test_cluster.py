"""Crawls on a Dask cluster: batches, lost workers, a cluster that is not there."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import re
import signal
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from aui_tui.errors import Unavailable
from aui_tui.model.query import Query
from aui_tui.scan.policy import Limits
from aui_tui.service.crawl.cluster import Cluster
from aui_tui.service.crawl.crawl import Crawl
from aui_tui.service.crawl.work import Job
from aui_tui.service.local import LocalService
from tests.cli.runner import aui
from tests.faults.site import Asked, Site, good
from tests.service.crawl.conftest import grouped, homepages, hosts, rows, settings_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not importlib.util.find_spec("distributed"), reason="needs distributed (extra dask)"),
]


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aui_tui.service.crawl.cluster.MOST", 10)
    monkeypatch.setattr("aui_tui.service.crawl.cluster.CONNECT", 5.0)


@pytest.fixture
async def cluster() -> AsyncIterator[Any]:
    from distributed import LocalCluster

    async with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", asynchronous=True, host="127.0.0.1"
    ) as found:
        yield found


async def workers_of(cluster: Any) -> list[int]:
    """Return the process ids of the workers."""
    from distributed import Client

    async with Client(cluster, asynchronous=True, set_as_default=False) as client:
        return list((await client.run(os.getpid)).values())


async def test_batches_are_scanned_and_written_once(cluster: Any, service: LocalService, site: Site) -> None:
    async with Cluster(settings_of(service), address=cluster.scheduler_address) as workers:
        assert workers.capacity == 2 * 2 * 10
        refused = await workers.scan(Job("ftp://a.test"))
        assert (refused.packed, refused.status) == (None, 400)
        counts = await Crawl(service, workers, concurrency=workers.capacity).run(grouped(rows(hosts(60))))
    assert (counts.scanned, counts.total) == (60, 60)
    assert homepages(site) == {f"h{number}.test": 5 for number in range(60)}


async def test_a_list_shorter_than_a_batch_is_shared_by_the_workers(
    cluster: Any, service: LocalService, site: Site
) -> None:
    async with Cluster(settings_of(service), address=cluster.scheduler_address) as workers:
        await Crawl(service, workers, concurrency=workers.capacity).run(grouped(rows(hosts(8))))
    from distributed import Client

    async with Client(cluster, asynchronous=True, set_as_default=False) as client:
        batches = await client.run(lambda dask_worker: dask_worker.state.executed_count)
    assert len(batches) == 2
    assert all(batches.values())


async def test_worker_killed_in_the_middle_loses_nothing(cluster: Any, service: LocalService, site: Site) -> None:
    async def late(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.1)
        await good(asked, writer)

    site.default = late
    pids = await workers_of(cluster)
    async with Cluster(settings_of(service), address=cluster.scheduler_address) as workers:
        crawl = Crawl(service, workers, concurrency=workers.capacity)
        task = asyncio.create_task(crawl.run(grouped(rows(hosts(120)))))
        while crawl.counts.scanned < 20:
            await asyncio.sleep(0.05)
        os.kill(pids[0], signal.SIGKILL)
        counts = await task
    assert (counts.scanned, counts.failed, counts.unsaved, counts.total) == (120, 0, 0, 120)
    assert all(len(service.store.history(f"h{number}.test")) == 1 for number in range(120))
    again = {host for host, times in homepages(site).items() if times > 5}
    assert len(homepages(site)) == 120
    assert len(again) <= 2 * 10


async def test_processes_of_this_machine_share_the_work_and_are_gone_at_the_end(
    service: LocalService, site: Site
) -> None:
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    async with Cluster(settings_of(service), processes=2) as workers:
        assert workers.capacity == 2 * 2 * 10
        crawl = Crawl(service, workers, concurrency=workers.capacity)
        task = asyncio.create_task(crawl.run(grouped(rows(hosts(80)))))
        while crawl.counts.scanned < 10:
            await asyncio.sleep(0.05)
        children = {child.pid for child in psutil.Process().children(recursive=True)} - before
        assert len(children) >= 2
        victim = next(pid for pid in children if "spawn_main" in " ".join(psutil.Process(pid).cmdline()))
        os.kill(victim, signal.SIGKILL)
        counts = await task
    assert (counts.scanned, counts.failed, counts.unsaved, counts.total) == (80, 0, 0, 80)
    assert all(len(service.store.history(f"h{number}.test")) == 1 for number in range(80))
    assert not [pid for pid in children if psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie"]


async def test_cluster_that_goes_away_ends_the_crawl(cluster: Any, service: LocalService) -> None:
    async with Cluster(settings_of(service), address=cluster.scheduler_address) as workers:
        crawl = Crawl(service, workers, concurrency=workers.capacity)
        task = asyncio.create_task(crawl.run(grouped(rows(hosts(500)))))
        while crawl.counts.scanned < 10:
            await asyncio.sleep(0.05)
        await cluster.close()
        with pytest.raises(Unavailable, match="is gone"):
            await asyncio.wait_for(task, 60)
    assert crawl.counts.failed == 0
    index = service.store.index(Query())
    assert len(index.ranked) + len(index.unreachable) == crawl.counts.scanned


async def test_cluster_that_goes_away_with_the_last_hosts_fails_none_of_them(
    cluster: Any, service: LocalService, site: Site
) -> None:
    asked = asyncio.Event()

    async def never(_: Asked, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await asyncio.sleep(3600)

    site.default = never
    settings = settings_of(service)
    settings = replace(settings, policy=replace(settings.policy, limits=Limits(probe=3600)))
    async with Cluster(settings, address=cluster.scheduler_address) as workers:
        crawl = Crawl(service, workers, concurrency=workers.capacity)
        task = asyncio.create_task(crawl.run(grouped(rows(hosts(30)))))
        await asyncio.wait_for(asked.wait(), 60)
        await cluster.close()
        with pytest.raises(Unavailable, match="is gone"):
            await asyncio.wait_for(task, 60)
    assert crawl.counts.total == 0


async def test_no_cluster_is_one_sentence(service: LocalService) -> None:
    with pytest.raises(Unavailable, match=re.escape("No Dask cluster with a worker at tcp://127.0.0.1:1")):
        async with Cluster(settings_of(service), address="tcp://127.0.0.1:1"):
            pass


@pytest.mark.parametrize("address", ["nonsense", "tcp://", ":", "tls://127.0.0.1:1", "inproc://x", "http://x:1"])
def test_address_that_is_none_is_one_sentence(tmp_path: Path, address: str) -> None:
    done = aui(tmp_path, "crawl", "-", env={"AUI_TUI_SCHEDULER": address})
    assert done.code == 3
    assert done.sentence.startswith(f"aui-tui: No Dask cluster with a worker at {address}: ")


async def test_command_scans_on_the_cluster(cluster: Any, tmp_path: Path, site: Site) -> None:
    (tmp_path / "list.txt").write_text("\n".join(hosts(12)))
    options = ["--connect-to", f":80:127.0.0.1:{site.port}", "--json"]
    env = {"AUI_TUI_SCHEDULER": cluster.scheduler_address}
    done = await asyncio.to_thread(aui, tmp_path, "crawl", "list.txt", *options, env=env)
    assert done.code == 0, done.err
    assert len(done.out.splitlines()) == 12
    assert "12 hosts scanned" in done.err
