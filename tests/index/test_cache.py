"""The 24 h scan cache: fresh, whole, of the right host, or a miss."""

from __future__ import annotations

import json
import os
import pickle
import random
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import diskcache
import msgspec
import pytest
from diskcache.core import MODE_BINARY, MODE_PICKLE, MODE_RAW, MODE_TEXT
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aui_tui.checks.scoring import grade_card
from aui_tui.errors import Unavailable
from aui_tui.index.cache import FAULTS, DiskCache, RefusedRow, SafeDisk, ScanCache
from aui_tui.model.card import ReportCard, stamp
from aui_tui.model.observations import Exchange, Observations
from tests.index.clock import NOW, Clock
from tests.strategies import observations


def seen(host: str = "shop.example", *, status: int = 200) -> Observations:
    exchange = Exchange(name="browser", url=f"https://{host}/", status=status, title="Shop")
    return Observations(
        host=host,
        input_host=host,
        origin=f"https://{host}",
        scanned_at=stamp(NOW),
        elapsed_ms=10,
        exchanges=(exchange,),
    )


def scan(host: str = "shop.example", *, status: int = 200) -> tuple[ReportCard, Observations]:
    found = seen(host, status=status)
    return grade_card(found), found


@pytest.fixture
def cache(tmp_path: Path, clock: Clock) -> Iterator[ScanCache]:
    disk = DiskCache(tmp_path / "scans", evict=True)
    yield ScanCache(disk, clock=clock)
    disk.close()


def test_scan_is_kept_for_a_day(cache: ScanCache, clock: Clock) -> None:
    card, found = scan()
    cache.put("shop.example", card, found)
    clock.now += 24 * 3600 - 1
    hit = cache.get("shop.example", "shop.example")
    assert hit is not None
    assert (hit.card, hit.observations, hit.age) == (card, found, 24 * 3600 - 1)
    clock.now += 1
    assert cache.get("shop.example", "shop.example") is None


def test_unreachable_scan_is_kept_for_five_minutes(cache: ScanCache, clock: Clock) -> None:
    card, found = scan(status=0)
    assert card.unreachable
    cache.put("shop.example", card, found)
    clock.now += 299
    assert cache.get("shop.example", "shop.example") is not None
    clock.now += 1
    assert cache.get("shop.example", "shop.example") is None


@pytest.mark.parametrize(("back", "served"), [(0, True), (299, True), (301, False), (48 * 3600, False)])
def test_entry_from_the_future_is_refused(cache: ScanCache, clock: Clock, back: float, served: bool) -> None:
    cache.put("shop.example", *scan())
    clock.now -= back
    hit = cache.get("shop.example", "shop.example")
    assert (hit is not None) == served
    assert hit is None or hit.age == 0


def test_keys_and_hosts_do_not_mix(cache: ScanCache) -> None:
    cache.put("shop.example", *scan())
    assert cache.get("http://shop.example", "shop.example") is None
    assert cache.get("shop.example", "other.example") is None
    assert cache.get("other.example", "other.example") is None


def test_the_scans_of_a_site_go_however_they_were_reached(cache: ScanCache) -> None:
    keys = ("shop.example", "https://shop.example", "http://shop.example#0123456789abcdef", "shop.example#f")
    others = ("shop.example:8443", "my.shop.example", "https://other.example#shop.example")
    for key in (*keys, *others):
        cache.put(key, *scan())
    cache.drop({"shop.example"})
    assert not [key for key in keys if cache.get(key, "shop.example")]
    assert [key for key in others if cache.get(key, "shop.example")] == list(others)


def test_clear_removes_every_scan(cache: ScanCache) -> None:
    for number in range(3):
        cache.put(f"{number}.example", *scan(f"{number}.example"))
    assert len(cache) == 3
    assert cache.clear() == 3
    assert cache.get("1.example", "1.example") is None


@pytest.mark.ci
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(observations())
def test_any_scan_comes_back_as_it_was(tmp_path: Path, found: Observations) -> None:
    disk = DiskCache(tmp_path / "scans", evict=True)
    cache = ScanCache(disk, clock=lambda: NOW)
    found = msgspec.structs.replace(found, scanned_at=stamp(NOW))
    card = grade_card(found)
    cache.put(found.host, card, found)
    hit = cache.get(found.host, found.host)
    assert hit is not None
    assert (hit.card, hit.observations) == (card, found)
    disk.close()


@pytest.mark.ci
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(("card", "observations")),
    st.integers(0, 3000),
    st.sampled_from(("", "\\u0000", '"', "}", "null", "-1", "[[[", "x" * 100, "9" * 400)),
    st.integers(0, 40),
)
def test_record_changed_by_hand_is_valid_or_a_miss(tmp_path: Path, part: str, place: int, text: str, gone: int) -> None:
    disk = DiskCache(tmp_path / "scans", evict=True)
    cache = ScanCache(disk, clock=lambda: NOW)
    cache.put("shop.example", *scan())
    db = sqlite3.connect(tmp_path / "scans" / "cache.db")
    with db:
        entry = json.loads(db.execute("SELECT value FROM Cache").fetchone()[0])
        entry[part] = entry[part][:place] + text + entry[part][place + gone :]
        db.execute("UPDATE Cache SET value = ?", (json.dumps(entry),))
    db.close()
    hit = cache.get("shop.example", "shop.example")
    assert hit is None or isinstance(hit.card, ReportCard)
    disk.close()


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
    raw(disk).set("a", "x" * 1_000_000)
    assert raw(disk).get("a") == "x" * 1_000_000
    disk.close()
    assert {path.name for path in (tmp_path / "disk").rglob("*")} == {"cache.db"}


def raw(disk: DiskCache) -> diskcache.Cache:
    return disk.ask(lambda cache: cache)


def filled(folder: Path) -> DiskCache:
    disk = DiskCache(folder / "disk", evict=True)
    cache = raw(disk)
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
    with suppress(Unavailable):
        disk.ask(lambda cache: cache.get("key 1"))
    cache = raw(disk)
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
    raw(disk)
    with file.open("r+b") as pages:
        for page in range(2, file.stat().st_size // 4096):
            pages.seek(page * 4096)
            pages.write(b"\xff" * 100)
    with pytest.raises(Unavailable, match="malformed"):
        disk.ask(lambda cache: [cache.get(f"key {number}") for number in range(300)])
    raw(disk).set("a", 1)
    assert raw(disk).get("a") == 1
    assert len(disk.warnings) == 1
    disk.close()


def test_locked_file_is_not_waited_for(tmp_path: Path) -> None:
    disk = filled(tmp_path)
    holder = sqlite3.connect(disk.path / "cache.db", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    began = time.monotonic()
    with pytest.raises(Unavailable, match="cannot be used now: database is locked"):
        raw(disk)
    assert time.monotonic() - began < 2
    holder.execute("ROLLBACK")
    holder.close()
    assert raw(disk).get("key 1") == "x" * 500
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
    cache = raw(disk)
    assert (cache.size_limit, cache.cull_limit, cache.eviction_policy) == (512 << 20, 10, "least-recently-stored")
    assert cache.sqlite_journal_mode == "wal"
    assert cache.directory == str(disk.path)
    assert len(cache) == 300
    disk.close()
