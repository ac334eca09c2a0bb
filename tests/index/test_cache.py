"""What processes share: who was scanned in the last 24 h, and what becomes of the file."""

from __future__ import annotations

import os
import pickle
import random
import sqlite3
import stat
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from aui_tui.errors import Unavailable
from aui_tui.index.cache import Leases, QuotaStore, RecentScans, SharedCache
from tests.index.clock import Clock
from tests.index.locked import locked
from tests.index.scans import scan


@pytest.fixture
def recent(shared: SharedCache) -> RecentScans:
    return RecentScans(shared)


def test_a_scan_is_an_answer_for_a_day(recent: RecentScans, clock: Clock) -> None:
    card = scan()[0]
    recent.put("shop.example", card)
    clock.now += 24 * 3600 - 1
    assert recent.get("shop.example") == card.scanned_at
    assert recent.get("shop.example#0123") == ""
    clock.now += 1
    assert recent.get("shop.example") == ""


def test_an_unreachable_one_for_five_minutes(recent: RecentScans, clock: Clock) -> None:
    card = scan(dead=True)[0]
    assert card.unreachable
    recent.put("shop.example", card)
    clock.now += 299
    assert recent.get("shop.example") == card.scanned_at
    clock.now += 1
    assert recent.get("shop.example") == ""


def test_to_clear_the_scans_leaves_quota_and_leases(shared: SharedCache, recent: RecentScans) -> None:
    quota, leases = QuotaStore(shared), Leases(shared)
    quota.spend("a")
    assert leases.take("0.example") is not None
    for number in range(3):
        recent.put(f"{number}.example", scan(f"{number}.example")[0])
    assert len(recent) == 3
    recent.put("2.example#0123", scan("2.example")[0])
    recent.drop(["2.example", "9.example"])
    assert recent.clear() == 2
    assert recent.get("1.example") == ""
    assert quota.left("a").left == 9
    assert leases.take("0.example") is None


class Bomb:
    """Unpickling this makes the folder ``mark``."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.mark),)


@pytest.mark.parametrize("value", [b"{}", b"1", b"[]", b"[" * 50_000, b"\xff", None])
def test_planted_value_is_a_miss_and_runs_nothing(tmp_path: Path, recent: RecentScans, value: bytes | None) -> None:
    recent.put("shop.example", scan()[0])
    with closing(sqlite3.connect(tmp_path / "cache" / "cache.db")) as db, db:
        planted = pickle.dumps(Bomb(tmp_path / "ran")) if value is None else value
        assert db.execute("UPDATE Cache SET value = ?", (planted,)).rowcount == 1
    assert recent.get("shop.example") == ""
    assert not (tmp_path / "ran").exists()


USES: dict[str, Callable[[Any], object]] = {
    "get": lambda cache: cache.get("a"),
    "set": lambda cache: cache.set("a", 2, expire=1000),
    "delete": lambda cache: cache.delete("a"),
    "names": lambda cache: list(cache.iterkeys()),
    "clear": lambda cache: cache.clear(),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize(
    "planted",
    [
        "mode = 4, value = :bomb",
        "mode = 1, value = :bomb",
        "mode = 4, filename = '../victim', value = NULL",
        "mode = 3, filename = :victim, value = NULL",
        "mode = 2, filename = :victim, value = NULL",
        "raw = 0, key = :bomb",
    ],
)
def test_planted_row_runs_nothing_and_touches_no_file(tmp_path: Path, use: str, planted: str) -> None:
    victim, bomb = tmp_path / "victim", pickle.dumps(Bomb(tmp_path / "ran"))
    victim.write_bytes(bomb)
    os.utime(victim, (1, 1))
    before = victim.stat().st_atime_ns
    file = SharedCache(tmp_path / "cache")
    with file.opened() as cache:
        cache.set("a", 1, expire=1000)
    with closing(sqlite3.connect(file.path)) as db, db:
        values = {"bomb": bomb, "victim": str(victim)}
        assert db.execute(f"UPDATE Cache SET {planted}", values).rowcount == 1
    with file.opened() as cache:
        USES[use](cache)
        assert cache.get("a") in (None, 2)
    assert not (tmp_path / "ran").exists()
    assert victim.stat().st_atime_ns == before
    assert file.warnings == []


def test_large_value_makes_no_file(shared: SharedCache) -> None:
    with shared.opened() as cache:
        cache.set("a", "x" * 1_000_000)
        assert cache.get("a") == "x" * 1_000_000
    assert [path.name for path in shared.path.parent.iterdir()] == ["cache.db"]


def test_settings_in_the_file_are_not_obeyed(tmp_path: Path) -> None:
    file = filled(tmp_path)
    with closing(sqlite3.connect(file.path)) as db, db:
        for planted in (("cull_limit", 100_000), ("size_limit", 1), ("eviction_policy", "no such policy")):
            assert db.execute("UPDATE Settings SET value = ? WHERE key = ?", planted[::-1]).rowcount == 1
    with SharedCache(file.path.parent).opened() as cache:
        cache.set("a", 1)
        assert len(cache) == 301


def test_a_file_with_unknown_settings_is_set_aside(tmp_path: Path) -> None:
    file = filled(tmp_path)
    with closing(sqlite3.connect(file.path)) as db, db:
        db.execute("INSERT INTO Settings VALUES ('disk_unheard_of', 1)")
    again = SharedCache(file.path.parent)
    with again.opened() as cache:
        assert len(cache) == 0
    assert "was damaged" in again.warnings[0]


def filled(folder: Path) -> SharedCache:
    file = SharedCache(folder / "disk")
    with file.opened() as cache, cache.transact():
        for number in range(300):
            cache.set(f"key {number}", "x" * 500)
    return file


def test_folder_and_file_are_private(tmp_path: Path) -> None:
    file = filled(tmp_path)
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


@pytest.mark.parametrize("damage", ["head", "truncated", "text", "empty"])
def test_damaged_file_is_set_aside_and_a_new_one_begun(tmp_path: Path, damage: str) -> None:
    file = filled(tmp_path)
    data = bytearray(file.path.read_bytes())
    if damage == "head":
        data[:200] = random.Random(1).randbytes(200)
    elif damage == "truncated":
        del data[5000:]
    elif damage == "text":
        data = bytearray(b"no database at all" * 100)
    else:
        data = bytearray()
    file.path.write_bytes(data)
    with suppress(Unavailable), file.opened() as cache:
        cache.get("key 1")
    with file.opened() as cache:
        cache.set("a", 1)
        assert cache.get("a") == 1
    aside = list(file.path.parent.glob("cache.damaged-*.db"))
    if damage == "empty":
        assert aside == []
    else:
        assert [path.read_bytes()[:18] for path in aside] == [bytes(data[:18])]
        assert len(file.warnings) == 1
        assert aside[0].name in file.warnings[0]


def test_damage_in_the_middle_is_found_at_the_read(tmp_path: Path) -> None:
    file = filled(tmp_path)
    with file.path.open("r+b") as pages:
        for page in range(3, file.path.stat().st_size // 4096):
            pages.seek(page * 4096)
            pages.write(b"\xff" * 100)
    with pytest.raises(Unavailable, match="malformed"), file.opened() as cache:
        assert [cache.get(f"key {number}") for number in range(300)]
    with file.opened() as cache:
        cache.set("a", 1)
    assert len(file.warnings) == 1


def test_locked_file_is_not_waited_for(tmp_path: Path) -> None:
    file = filled(tmp_path)
    with locked(file.path, reading=True):
        began = time.monotonic()
        with pytest.raises(Unavailable, match="cannot be used now: database is locked"), file.opened() as cache:
            cache.get("key 1")
        assert time.monotonic() - began < 30, "diskcache by itself waits a minute"
    with file.opened() as cache:
        assert cache.get("key 1") == "x" * 500
