"""One scan per host at a time."""

from __future__ import annotations

import multiprocessing
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aui_tui.errors import Unavailable
from aui_tui.store.cache import LEASE_LIFE, DiskCache, Leases

NOW = 1_795_000_000.0


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def leases(tmp_path: Path, clock: Clock) -> Iterator[Leases]:
    disk = DiskCache(tmp_path / "limits", evict=False)
    yield Leases(disk, clock=clock)
    disk.close()


def test_second_taker_waits_for_the_release(leases: Leases) -> None:
    lease = leases.take("a.example")
    assert lease is not None
    assert leases.take("a.example") is None
    assert leases.take("b.example") is not None
    leases.release(lease)
    assert leases.take("a.example") is not None


def test_lease_of_a_dead_process_runs_out(leases: Leases, clock: Clock) -> None:
    first = leases.take("a.example")
    clock.now += LEASE_LIFE - 0.1
    assert leases.take("a.example") is None
    clock.now += 0.2
    second = leases.take("a.example")
    assert second is not None
    assert first is not None
    leases.release(first)
    assert leases.take("a.example") is None
    leases.release(second)
    assert leases.take("a.example") is not None


def test_clock_set_back_keeps_nobody_waiting(leases: Leases, clock: Clock) -> None:
    leases.take("a.example")
    clock.now -= 48 * 3600
    assert leases.take("a.example") is not None


@pytest.mark.parametrize("planted", ["[]", '{"owner": 1, "end": "never"}', '{"end": 1e999}', "no json"])
def test_broken_row_counts_as_free(tmp_path: Path, leases: Leases, planted: str) -> None:
    leases.take("a.example")
    db = sqlite3.connect(tmp_path / "limits" / "cache.db")
    with db:
        db.execute("UPDATE Cache SET value = ?", (planted,))
    db.close()
    assert leases.take("a.example") is not None


@pytest.mark.ci
def test_locked_file_grants_one_lease_and_no_list_of_them(tmp_path: Path, leases: Leases) -> None:
    leases.take("a.example")
    holder = sqlite3.connect(tmp_path / "limits" / "cache.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(Unavailable, match="in the data folder cannot be written: locked, or the disk is full"):
        leases.take_many(["b.example", "c.example"])
    assert leases.take("b.example") is not None
    holder.execute("ROLLBACK")
    holder.close()


def _race(folder: str, start: Any, end: Any, results: Any) -> None:
    disk = DiskCache(Path(folder), evict=False)
    leases = Leases(disk)
    start.wait()
    results.put([leases.take(f"{number}.example") is not None for number in range(20)])
    end.wait(60)
    disk.close()


@pytest.mark.ci
def test_processes_never_hold_the_same_lease(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    start, end, results = context.Event(), context.Event(), context.Queue()
    processes = [context.Process(target=_race, args=(str(tmp_path / "limits"), start, end, results)) for _ in range(4)]
    for process in processes:
        process.start()
    start.set()
    held = [results.get(timeout=60) for _ in processes]
    end.set()
    for process in processes:
        process.join(10)
    assert [sum(column) for column in zip(*held, strict=True)] == [1] * 20
