"""Leases taken in bulk, and what becomes of them when their process ends."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

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


def test_bulk_takes_what_is_free_and_gives_it_back(leases: Leases) -> None:
    other = leases.take("b.example")
    taken = leases.take_many(["a.example", "b.example", "c.example"])
    assert [lease is not None for lease in taken] == [True, False, True]
    assert leases.take("a.example") is None
    leases.release_many([lease for lease in taken if lease is not None])
    assert leases.take("a.example") is not None
    assert other is not None
    assert leases.take("b.example") is None


def test_renewed_lease_runs_on(leases: Leases, clock: Clock) -> None:
    lease = leases.take("a.example")
    assert lease is not None
    clock.now += LEASE_LIFE - 1
    leases.renew([lease])
    clock.now += LEASE_LIFE - 1
    assert leases.take("a.example") is None
    clock.now += 2
    theirs = leases.take("a.example")
    assert theirs is not None
    leases.renew([lease])
    leases.release(lease)
    assert leases.take("a.example") is None


def _hold(folder: str, ready: Any) -> None:
    disk = DiskCache(Path(folder), evict=False)
    assert Leases(disk, clock=lambda: NOW).take("a.example") is not None
    ready.set()
    signal.pause()


def test_lease_of_a_killed_process_is_free_at_once(tmp_path: Path, leases: Leases) -> None:
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    holder = context.Process(target=_hold, args=(str(tmp_path / "limits"), ready))
    holder.start()
    assert ready.wait(60)
    assert leases.take("a.example") is None
    assert holder.pid is not None
    os.kill(holder.pid, signal.SIGKILL)
    holder.join(10)
    assert leases.take("a.example") is not None


def test_lease_without_an_owner_that_can_be_asked_counts_until_its_end(tmp_path: Path, leases: Leases) -> None:
    leases.take("a.example")
    disk = DiskCache(tmp_path / "limits", evict=False)
    cache = disk.open()
    for row in ({"place": "elsewhere", "pid": 1}, {"pid": True}, {"place": None, "pid": "1"}, {"pid": -1}):
        cache.set("lease:a.example", {"owner": "x", "end": NOW + 10} | row)
        assert leases.take("a.example") is None
    disk.close()
