"""A scan is answered whatever state the files are in, and says what is not kept."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from aui_tui.errors import Unavailable
from aui_tui.index.cache import Leases, SharedCache
from aui_tui.index.folder import places
from aui_tui.index.upkeep import examine
from aui_tui.model.options import ScanOptions
from aui_tui.model.query import Query
from tests.index.clock import Clock
from tests.index.locked import locked
from tests.service.test_local import Site, service, site

__all__ = ["site"]
ROOT = Path(__file__).parents[2]


@contextlib.contextmanager
def calls_that_wait() -> Iterator[list[str]]:
    """Yield the names of the calls by which this thread, the event loop's, works on a database or sleeps.

    That the loop stays free is a matter of which thread does the waiting; how long it took says more of the machine.
    """
    found: list[str] = []

    def note(frame: FrameType, event: str, called: object) -> None:
        if event == "c_call" and (called in (time.sleep, sqlite3.connect) or _of_database(called)):
            found.append(getattr(called, "__qualname__", ""))

    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(None)


def _of_database(called: object) -> bool:
    return isinstance(getattr(called, "__self__", None), sqlite3.Connection | sqlite3.Cursor)


@pytest.mark.ci
async def test_scan_with_every_file_locked_is_answered_with_warnings(tmp_path: Path, site: Site) -> None:
    async with service(tmp_path) as local:
        await local.scan(site.url)
    where = places(tmp_path)
    with contextlib.ExitStack() as locks:
        for file in (where.index, where.cache / "cache.db"):
            locks.enter_context(locked(file, reading=True))
        async with service(tmp_path) as local:
            with calls_that_wait() as calls:
                answer = await local.scan(site.url, ScanOptions(force=True))
                with pytest.raises(Unavailable, match="locked"):
                    await local.index(Query())
            assert not calls
            assert answer.card.stance == "Open"
            assert len(answer.warnings) == 2
            assert "this process counts alone" in answer.warnings[0]
            assert answer.warnings[1].startswith("This scan is not saved. The index index.db")
            locks.close()
            assert (await local.scan(site.url, ScanOptions(force=True))).warnings == ()
            assert (await local.quota()).left == 7


def test_a_database_that_is_used_in_this_thread_is_noticed(tmp_path: Path) -> None:
    with calls_that_wait() as calls:
        database = sqlite3.connect(tmp_path / "x.db")
        database.execute("SELECT 1")
        database.close()
    assert calls == ["connect", "Connection.execute", "Connection.close"]


@pytest.mark.ci
async def test_index_locked_by_a_writer_is_still_read(tmp_path: Path, site: Site) -> None:
    async with service(tmp_path) as local:
        await local.scan(site.url)
        with locked(places(tmp_path).index):
            assert len((await local.index(Query())).ranked) == 1
            answer = await local.scan(site.url, ScanOptions(force=True))
        assert len(answer.warnings) == 1
        assert "not saved" in answer.warnings[0]


async def test_damaged_files_are_set_aside_and_reported(tmp_path: Path, site: Site) -> None:
    async with service(tmp_path) as local:
        await local.scan(site.url)
    where = places(tmp_path)
    for file in (where.index, where.cache / "cache.db"):
        file.write_bytes(b"damaged beyond recognition" * 400)
    async with service(tmp_path) as local:
        answer = await local.scan(site.url)
        assert answer.source == "scan"
        assert (await local.quota()).left == 9
        assert len((await local.index(Query())).ranked) == 1
        assert [warning.split(" was damaged")[0] for warning in local.warnings] == [
            "The index index.db",
            "The cache",
        ]


async def test_scan_of_another_process_is_waited_for_and_shared(tmp_path: Path, site: Site) -> None:
    async with service(tmp_path) as first, service(tmp_path) as second:
        answers = await asyncio.gather(first.scan(site.url), second.scan(site.url))
        assert sorted(answer.source for answer in answers) == ["scan", "shared"]
        assert answers[0].card == answers[1].card
        assert site.scans == 1
        assert (await first.quota()).left == 9
        forced = await asyncio.gather(
            first.scan(site.url, ScanOptions(force=True)), second.scan(site.url, ScanOptions(force=True))
        )
        assert sorted(answer.source for answer in forced) == ["scan", "shared"]
        assert site.scans == 2


async def test_same_host_under_two_schemes_is_scanned_one_after_the_other(tmp_path: Path, site: Site) -> None:
    async with service(tmp_path) as local:
        one, other = await asyncio.gather(local.scan(site.url), local.scan(f"{site.host}/page"))
        assert {one.source, other.source} == {"scan"}
        moments = sorted((one.card.scanned_at, one.card.elapsed_ms) for one in (one, other))
        assert moments[0] < moments[1]


async def test_lease_of_a_dead_scanner_is_outlived(tmp_path: Path, site: Site, clock: Clock) -> None:
    lease = Leases(SharedCache(places(tmp_path).cache)).take(site.host)
    assert lease is not None
    async with service(tmp_path) as local:
        waiting = asyncio.create_task(local.scan(site.url))
        await asyncio.sleep(0.5)
        assert not waiting.done()
        clock.now += 60
        assert (await waiting).source == "scan"


@pytest.mark.ci
@pytest.mark.parametrize("days", [-2, 2])
async def test_clock_that_jumps_neither_keeps_an_answer_nor_a_limit_for_ever(
    tmp_path: Path, site: Site, clock: Clock, days: int
) -> None:
    async with service(tmp_path) as local:
        clock.now -= days * 86400
        await local.scan(site.url)
        clock.now += days * 86400
        assert (await local.scan(site.url)).source == "scan"
        assert (await local.scan(site.url)).source == "cache"
        assert (await local.quota()).left == (8 if days < 0 else 9)


FULL = """
import asyncio, json, resource, signal, sys
from pathlib import Path
from aui_tui.model.options import ScanOptions
from tests.loopback import listening
from tests.service.test_local import Site, service
from aui_tui.model.query import Query
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
site = Site()
async def main():
    async with service(Path(sys.argv[1])) as local:
        first = await local.scan(site.url)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        second = await local.scan(site.url, ScanOptions(force=True))
        listed = len((await local.index(Query())).ranked)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        third = await local.scan(site.url, ScanOptions(force=True))
        print(json.dumps([first.warnings, second.warnings, listed, third.warnings, second.card.stance]))
with listening(site.handler) as server:
    site.port = server.server_port
    asyncio.run(main())
"""


@pytest.mark.ci
@pytest.mark.skipif(sys.platform == "win32", reason="no RLIMIT_FSIZE")
async def test_scan_on_a_full_disk_is_answered_with_warnings(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, cwd=ROOT, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    first, second, listed, third, stance = json.loads(done.stdout)
    assert (first, third, listed, stance) == ([], [], 1, "Open")
    assert len(second) == 2  # the cache holds a pointer to the index, and there is nothing to point to
    assert "not saved" in second[1]
    async with service(tmp_path) as local:
        assert examine(local.store).problems == ()
        assert len((await local.index(Query())).ranked) == 1
