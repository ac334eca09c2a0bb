"""One scan per host at a time: leases, one by one and in bulk, and what becomes of them when their process ends."""

from __future__ import annotations

import multiprocessing
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from aui_tui.errors import Unavailable
from aui_tui.index.cache import LEASE_LIFE, Leases, SharedCache
from tests.index.clock import Clock
from tests.index.locked import locked


def test_second_taker_waits_for_the_release(leases: Leases) -> None:
    lease = leases.take("a.example")
    assert lease is not None
    assert leases.take("a.example") is None
    assert leases.take("b.example") is not None
    leases.release([lease])
    assert leases.take("a.example") is not None


def test_lease_of_a_dead_process_runs_out(leases: Leases, clock: Clock) -> None:
    first = leases.take("a.example")
    clock.now += LEASE_LIFE - 0.1
    assert leases.take("a.example") is None
    clock.now += 0.2
    second = leases.take("a.example")
    assert second is not None
    assert first is not None
    leases.release([first])
    assert leases.take("a.example") is None
    leases.release([second])
    assert leases.take("a.example") is not None


def test_clock_set_back_keeps_nobody_waiting(leases: Leases, clock: Clock) -> None:
    leases.take("a.example")
    clock.now -= 48 * 3600
    assert leases.take("a.example") is not None


@pytest.mark.parametrize("planted", ["[]", '["x", "never"]', '["x", 1e999]', '{"owner": "x"}', "no json"])
def test_broken_row_counts_as_free(tmp_path: Path, leases: Leases, planted: str) -> None:
    leases.take("a.example")
    db = sqlite3.connect(tmp_path / "cache" / "cache.db")
    with db:
        db.execute("UPDATE Cache SET value = ?", (planted,))
    db.close()
    assert leases.take("a.example") is not None


@pytest.mark.ci
def test_locked_file_grants_one_lease_and_no_list_of_them(tmp_path: Path, leases: Leases) -> None:
    leases.take("a.example")
    with locked(tmp_path / "cache" / "cache.db"):
        with pytest.raises(Unavailable, match="cache in the data folder cannot be used now: database is locked"):
            leases.take_many(["b.example", "c.example"])
        assert leases.take("b.example") is not None


def _race(folder: str, start: Any, end: Any, results: Any) -> None:
    leases = Leases(SharedCache(Path(folder)))
    start.wait()
    results.put([leases.take(f"{number}.example") is not None for number in range(20)])
    end.wait(60)


@pytest.mark.ci
def test_processes_never_hold_the_same_lease(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    start, end, results = context.Event(), context.Event(), context.Queue()
    processes = [context.Process(target=_race, args=(str(tmp_path / "cache"), start, end, results)) for _ in range(4)]
    for process in processes:
        process.start()
    start.set()
    held = [results.get(timeout=60) for _ in processes]
    end.set()
    for process in processes:
        process.join(60)
    assert [sum(column) for column in zip(*held, strict=True)] == [1] * 20


def test_bulk_takes_what_is_free_and_gives_it_back(leases: Leases) -> None:
    other = leases.take("b.example")
    taken = leases.take_many(["a.example", "b.example", "c.example"])
    assert [lease is not None for lease in taken] == [True, False, True]
    assert leases.take("a.example") is None
    leases.release([lease for lease in taken if lease is not None])
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
    leases.release([lease])
    assert leases.take("a.example") is None
