"""A cache folder that is locked, damaged or planted with settings."""

from __future__ import annotations

import random
import sqlite3
import stat
import time
from pathlib import Path

import pytest

from aui_tui.errors import Unavailable
from aui_tui.store.jar import FAULTS, Jar


def filled(folder: Path) -> Jar:
    jar = Jar(folder / "jar", evict=True)
    cache = jar.open()
    for number in range(300):
        cache.set(f"key {number}", "x" * 500)
    jar.close()
    return jar


def test_folder_and_file_are_private(tmp_path: Path) -> None:
    jar = filled(tmp_path)
    assert stat.S_IMODE(jar.path.stat().st_mode) == 0o700
    assert stat.S_IMODE((jar.path / "cache.db").stat().st_mode) == 0o600


@pytest.mark.parametrize("damage", ["head", "truncated", "text", "empty"])
def test_damaged_file_is_set_aside_and_a_new_one_begun(tmp_path: Path, damage: str) -> None:
    jar = filled(tmp_path)
    file = jar.path / "cache.db"
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
        jar.open().get("key 1")
    except FAULTS as error:
        jar.reopen(error)
    cache = jar.open()
    cache.set("a", 1)
    assert cache.get("a") == 1
    jar.close()
    aside = list(jar.path.glob("cache.damaged-*.db"))
    if damage == "empty":
        assert aside == []
    else:
        assert [path.read_bytes()[:18] for path in aside] == [bytes(data[:18])]
        assert len(jar.warnings) == 1
        assert aside[0].name in jar.warnings[0]


def test_damage_while_it_is_open_is_found_at_the_read(tmp_path: Path) -> None:
    jar = filled(tmp_path)
    file = jar.path / "cache.db"
    cache = jar.open()
    with file.open("r+b") as raw:
        for page in range(2, file.stat().st_size // 4096):
            raw.seek(page * 4096)
            raw.write(b"\xff" * 100)
    with pytest.raises(FAULTS) as fault:
        [cache.get(f"key {number}") for number in range(300)]
    jar.reopen(fault.value)
    jar.open().set("a", 1)
    assert jar.open().get("a") == 1
    assert len(jar.warnings) == 1
    jar.close()


def test_locked_file_is_not_waited_for(tmp_path: Path) -> None:
    jar = filled(tmp_path)
    holder = sqlite3.connect(jar.path / "cache.db", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    began = time.monotonic()
    with pytest.raises(Unavailable, match="cannot be used now: database is locked"):
        jar.open()
    assert time.monotonic() - began < 2
    holder.execute("ROLLBACK")
    holder.close()
    assert jar.open().get("key 1") == "x" * 500
    jar.close()


def test_settings_in_the_file_are_not_obeyed(tmp_path: Path) -> None:
    jar = filled(tmp_path)
    db = sqlite3.connect(jar.path / "cache.db")
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
    cache = jar.open()
    assert (cache.size_limit, cache.cull_limit, cache.eviction_policy) == (512 << 20, 10, "least-recently-stored")
    assert cache.sqlite_journal_mode == "wal"
    assert cache.directory == str(jar.path)
    assert len(cache) == 300
    jar.close()
