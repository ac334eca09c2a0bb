"""A cache folder that is locked, damaged or planted with settings."""

from __future__ import annotations

import random
import sqlite3
import stat
import time
from pathlib import Path

import pytest

from aui_tui.errors import Unavailable
from aui_tui.store.disk import FAULTS, DiskCache


def filled(folder: Path) -> DiskCache:
    disk = DiskCache(folder / "disk", evict=True)
    cache = disk.open()
    for number in range(300):
        cache.set(f"key {number}", "x" * 500)
    disk.close()
    return disk


def test_folder_and_file_are_private(tmp_path: Path) -> None:
    disk = filled(tmp_path)
    assert stat.S_IMODE(disk.path.stat().st_mode) == 0o700
    assert stat.S_IMODE((disk.path / "cache.db").stat().st_mode) == 0o600


@pytest.mark.parametrize("damage", ["head", "truncated", "text", "empty"])
def test_damaged_file_is_set_aside_and_a_new_one_begun(tmp_path: Path, damage: str) -> None:
    disk = filled(tmp_path)
    file = disk.path / "cache.db"
    data = bytearray(file.read_bytes())
    if damage == "head":
        data[:200] = random.Random(1).randbytes(200)
    elif damage == "truncated":
        del data[5000:]
    elif damage == "text":
        data = bytearray(b"no database at all" * 100)
    else:
        data = bytearray()
    file.write_bytes(data)
    try:
        disk.open().get("key 1")
    except FAULTS as error:
        disk.reopen(error)
    cache = disk.open()
    cache.set("a", 1)
    assert cache.get("a") == 1
    disk.close()
    aside = list(disk.path.glob("cache.damaged-*.db"))
    if damage == "empty":
        assert aside == []
    else:
        assert [path.read_bytes()[:18] for path in aside] == [bytes(data[:18])]
        assert len(disk.warnings) == 1
        assert aside[0].name in disk.warnings[0]


def test_damage_while_it_is_open_is_found_at_the_read(tmp_path: Path) -> None:
    disk = filled(tmp_path)
    file = disk.path / "cache.db"
    cache = disk.open()
    with file.open("r+b") as raw:
        for page in range(2, file.stat().st_size // 4096):
            raw.seek(page * 4096)
            raw.write(b"\xff" * 100)
    with pytest.raises(FAULTS) as fault:
        [cache.get(f"key {number}") for number in range(300)]
    disk.reopen(fault.value)
    disk.open().set("a", 1)
    assert disk.open().get("a") == 1
    assert len(disk.warnings) == 1
    disk.close()


def test_locked_file_is_not_waited_for(tmp_path: Path) -> None:
    disk = filled(tmp_path)
    holder = sqlite3.connect(disk.path / "cache.db", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    began = time.monotonic()
    with pytest.raises(Unavailable, match="cannot be used now: database is locked"):
        disk.open()
    assert time.monotonic() - began < 2
    holder.execute("ROLLBACK")
    holder.close()
    assert disk.open().get("key 1") == "x" * 500
    disk.close()


def test_settings_in_the_file_are_not_obeyed(tmp_path: Path) -> None:
    disk = filled(tmp_path)
    db = sqlite3.connect(disk.path / "cache.db")
    with db:
        for key, value in (
            ("cull_limit", 100_000),
            ("size_limit", 1),
            ("sqlite_journal_mode", "off"),
            ("disk_unheard_of", 1),
            ("eviction_policy", "no such policy"),
            ("_directory", str(tmp_path)),
        ):
            db.execute("INSERT OR REPLACE INTO Settings VALUES (?, ?)", (key, value))
    db.close()
    cache = disk.open()
    assert (cache.size_limit, cache.cull_limit, cache.eviction_policy) == (512 << 20, 10, "least-recently-stored")
    assert cache.sqlite_journal_mode == "wal"
    assert cache.directory == str(disk.path)
    assert len(cache) == 300
    disk.close()
