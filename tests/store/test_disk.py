"""The cache file may be written by anybody who can reach it; nothing in it runs, is opened or is removed."""

from __future__ import annotations

import os
import pickle
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import diskcache
import pytest
from diskcache.core import MODE_BINARY, MODE_PICKLE, MODE_RAW, MODE_TEXT
from hypothesis import given
from hypothesis import strategies as st

from aui_tui.store.disk import FAULTS, DiskCache, RefusedRow, SafeDisk


class Bomb:
    """Unpickling this makes the file ``mark``."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.mark),)


def opened(folder: Path) -> diskcache.Cache:
    return diskcache.Cache(str(folder), disk=SafeDisk, timeout=0.25)


def plant(folder: Path, sql: str, *values: object) -> None:
    db = sqlite3.connect(folder / "cache.db")
    with db:
        assert db.execute(sql, values).rowcount >= 1
    db.close()


USES: dict[str, Callable[[diskcache.Cache], object]] = {
    "get": lambda cache: cache.get("a"),
    "read": lambda cache: cache.read("a"),
    "iterate": list,
    "peek": lambda cache: cache.peekitem(),
    "pop": lambda cache: cache.pop("a"),
    "delete": lambda cache: cache.delete("a"),
    "replace": lambda cache: cache.set("a", 2),
    "expire": lambda cache: cache.expire(now=9e12),
    "cull": lambda cache: cache.cull(),
    "check": lambda cache: cache.check(fix=True),
    "clear": lambda cache: cache.clear(),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("planted", ["value", "binary value", "file", "text file", "key"])
def test_planted_row_runs_nothing_and_touches_no_file(tmp_path: Path, use: str, planted: str) -> None:
    folder, mark, victim = tmp_path / "cache", tmp_path / "ran", tmp_path / "victim"
    victim.write_bytes(pickle.dumps(Bomb(mark)))
    os.utime(victim, (1, 1))
    cache = opened(folder)
    cache.set("a", 1, expire=1000)
    cache.close()
    bomb = pickle.dumps(Bomb(mark))
    if planted == "value":
        plant(folder, "UPDATE Cache SET mode = ?, value = ?", MODE_PICKLE, bomb)
    elif planted == "binary value":
        plant(folder, "UPDATE Cache SET mode = ?, value = ?", MODE_RAW, bomb)
    elif planted == "file":
        plant(folder, "UPDATE Cache SET mode = ?, filename = ?, value = NULL", MODE_PICKLE, "../victim")
    elif planted == "text file":
        mode = MODE_TEXT if use != "read" else MODE_BINARY
        plant(folder, "UPDATE Cache SET mode = ?, filename = ?, value = NULL", mode, str(victim))
    else:
        plant(folder, "UPDATE Cache SET raw = 0, key = ?", bomb)
    cache = opened(folder)
    before = victim.stat().st_atime_ns
    try:
        found = USES[use](cache)
    except (RefusedRow, KeyError):
        found = None
    except FAULTS:
        pytest.fail("a planted row must not look like a fault of the file")
    cache.close()
    assert not mark.exists()
    assert victim.exists()
    if use != "check":
        assert victim.stat().st_atime_ns == before
    assert not isinstance(found, bytes)


@pytest.mark.parametrize("value", [b"bytes", object(), {1, 2}, float("nan"), {"deep": [float("inf")]}])
def test_value_that_is_no_json_is_refused(tmp_path: Path, value: object) -> None:
    cache = opened(tmp_path)
    with pytest.raises((TypeError, ValueError)):
        cache.set("a", value)
    assert len(cache) == 0
    cache.close()


@pytest.mark.parametrize("key", [1, b"a", ("a",), None, "k" * 601])
def test_key_that_is_not_short_text_is_refused(tmp_path: Path, key: object) -> None:
    cache = opened(tmp_path)
    with pytest.raises(RefusedRow):
        cache.set(key, 1)
    with pytest.raises(RefusedRow):
        cache.get(key)
    cache.close()


def test_stream_is_refused(tmp_path: Path) -> None:
    cache = opened(tmp_path)
    with (tmp_path / "source").open("w+b") as stream, pytest.raises(RefusedRow):
        cache.set("a", stream, read=True)
    cache.close()


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(_JSON)
def test_json_comes_back_as_it_was(value: object) -> None:
    disk = SafeDisk("/nowhere")
    size, mode, filename, text = disk.store(value, read=False)
    assert (size, mode, filename) == (0, MODE_RAW, None)
    assert disk.fetch(mode, filename, text, read=False) == value


def test_large_value_makes_no_file(tmp_path: Path) -> None:
    disk = DiskCache(tmp_path / "disk", evict=True)
    disk.open().set("a", "x" * 1_000_000)
    assert disk.open().get("a") == "x" * 1_000_000
    disk.close()
    assert {path.name for path in (tmp_path / "disk").rglob("*")} == {"cache.db"}
