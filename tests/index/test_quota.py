"""Ten scans in any rolling hour, whatever clock, process or restart."""

from __future__ import annotations

import multiprocessing
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aui_tui.errors import RateLimited
from aui_tui.index import cache
from aui_tui.index.cache import LIMIT, WINDOW, QuotaStore, SharedCache
from tests.index.clock import NOW, Clock
from tests.index.locked import locked


@pytest.fixture
def quota(shared: SharedCache) -> QuotaStore:
    return QuotaStore(shared)


def spend(quota: QuotaStore, client: str = "a") -> bool:
    try:
        quota.spend(client)
    except RateLimited:
        return False
    return True


def test_ten_scans_then_none_until_the_first_is_an_hour_old(quota: QuotaStore, clock: Clock) -> None:
    for number in range(10):
        clock.now = NOW + 60 * number
        assert quota.left("a").left == 10 - number
        assert spend(quota)
    clock.now = NOW + 900
    with pytest.raises(RateLimited) as refused:
        quota.spend("a")
    assert refused.value.reset_at == NOW + 3600
    assert refused.value.retry_after == 2700
    assert str(refused.value) == "The limit of 10 scans an hour is used up; the next one is free in 45 min 0 s."
    assert quota.left("a").next_slot == NOW + 3600
    clock.now = NOW + 3599.9
    assert not spend(quota)
    clock.now = NOW + 3600
    assert spend(quota)
    assert not spend(quota)


def test_clients_do_not_share(quota: QuotaStore) -> None:
    assert all(spend(quota, "a") for _ in range(10))
    assert not spend(quota, "a")
    assert spend(quota, "b")
    assert quota.left("b").left == 9


def test_refund_gives_the_newest_back(quota: QuotaStore, clock: Clock) -> None:
    assert quota.left("a").next_slot == 0
    quota.spend("a")
    clock.now += 10
    quota.spend("a")
    quota.refund("a")
    assert quota.left("a").left == 9
    assert quota.left("a").next_slot == NOW + 3600


def test_survives_a_restart(tmp_path: Path, clock: Clock) -> None:
    for number in range(10):
        assert spend(QuotaStore(SharedCache(tmp_path / "cache"))), number
    assert not spend(QuotaStore(SharedCache(tmp_path / "cache")))


def test_clock_set_back_frees_nothing_and_locks_nobody_out(quota: QuotaStore, clock: Clock) -> None:
    assert all(spend(quota) for _ in range(10))
    clock.now = NOW - 48 * 3600
    assert not spend(quota)
    assert quota.left("a").left == 0
    clock.now += 3599
    assert not spend(quota)
    clock.now += 1
    assert spend(quota)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.floats(0, 2000), min_size=1, max_size=60))
def test_never_more_than_ten_in_any_window(
    tmp_path_factory: pytest.TempPathFactory, clock: Clock, gaps: list[float]
) -> None:
    clock.now = NOW
    quota = QuotaStore(SharedCache(tmp_path_factory.mktemp("cache")))
    admitted: list[float] = []
    for gap in gaps:
        clock.now += gap
        inside = [moment for moment in admitted if clock.now - moment < WINDOW]
        assert spend(quota) == (len(inside) < LIMIT)
        if len(inside) < LIMIT:
            admitted.append(clock.now)


@pytest.mark.parametrize("planted", ['"text"', "[1, null, true, {}]", '{"a": 1}', "[1e400]", "no json", b"\x80\x04"])
def test_broken_row_counts_as_none_spent(tmp_path: Path, quota: QuotaStore, planted: str | bytes) -> None:
    quota.spend("a")
    db = sqlite3.connect(tmp_path / "cache" / "cache.db")
    with db:
        db.execute("UPDATE Cache SET value = ?", (planted,))
    db.close()
    assert quota.left("a").left == 10
    assert all(spend(quota) for _ in range(10))
    assert not spend(quota)


@pytest.mark.ci
def test_locked_file_counts_in_memory(tmp_path: Path, quota: QuotaStore) -> None:
    assert quota.spend("a")
    began = time.monotonic()
    with locked(tmp_path / "cache" / "cache.db"):
        assert quota.spend("a") is False
    assert time.monotonic() - began < 30, "diskcache by itself waits a minute"
    assert quota.left("a").left == 8


def test_while_the_file_cannot_be_used_memory_has_a_bound(
    tmp_path: Path, quota: QuotaStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    monkeypatch.setattr(cache, "UNSAVED", 3)
    assert all(spend(quota, "c0") for _ in range(10))
    assert not spend(quota, "c0")
    for number in range(1, 50):
        assert quota.spend(f"c{number}") is False
    assert [quota.left(f"c{number}").left for number in (0, 46, 47, 48, 49)] == [10, 10, 9, 9, 9]


def _race(folder: str, start: Any, results: Any) -> None:
    quota = QuotaStore(SharedCache(Path(folder)))
    start.wait()
    results.put(sum(spend(quota) for _ in range(5)))


@pytest.mark.ci
def test_eight_processes_admit_exactly_ten(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    start, results = context.Event(), context.Queue()
    processes = [context.Process(target=_race, args=(str(tmp_path / "cache"), start, results)) for _ in range(8)]
    for process in processes:
        process.start()
    start.set()
    admitted = sum(results.get(timeout=60) for _ in processes)
    for process in processes:
        process.join(60)
    assert admitted == 10
