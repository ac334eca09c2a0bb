"""The 24 h scan cache: fresh, whole, of the right host, or a miss."""

from __future__ import annotations

import json
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

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aui_tui.checks.scoring import grade_card
from aui_tui.errors import Unavailable
from aui_tui.index.cache import CacheFile, Entries, ScanCache
from aui_tui.model.card import ReportCard, stamp
from aui_tui.model.observations import Exchange, Observations
from tests.index.clock import NOW, Clock
from tests.index.locked import locked
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
def cache(tmp_path: Path, clock: Clock) -> ScanCache:
    return ScanCache(CacheFile(tmp_path / "scans"))


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
    cache = ScanCache(CacheFile(tmp_path / "scans"))
    found = msgspec.structs.replace(found, scanned_at=stamp(NOW))
    card = grade_card(found)
    cache.put(found.host, card, found)
    hit = cache.get(found.host, found.host)
    assert hit is not None
    assert (hit.card, hit.observations) == (card, found)


@pytest.mark.ci
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(("card", "observations")),
    st.integers(0, 3000),
    st.sampled_from(("", "\\u0000", '"', "}", "null", "-1", "[[[", "x" * 100, "9" * 400)),
    st.integers(0, 40),
)
def test_record_changed_by_hand_is_valid_or_a_miss(tmp_path: Path, part: str, place: int, text: str, gone: int) -> None:
    cache = ScanCache(CacheFile(tmp_path / "scans"))
    cache.put("shop.example", *scan())
    db = sqlite3.connect(tmp_path / "scans" / "cache.db")
    with db:
        entry = json.loads(db.execute("SELECT value FROM Cache").fetchone()[0])
        entry[part] = entry[part][:place] + text + entry[part][place + gone :]
        db.execute("UPDATE Cache SET value = ?", (json.dumps(entry),))
    db.close()
    hit = cache.get("shop.example", "shop.example")
    assert hit is None or isinstance(hit.card, ReportCard)


class Bomb:
    """Unpickling this makes the folder ``mark``."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.mark),)


@pytest.mark.parametrize("value", [b"{}", b'{"card": 1}', b'{"card": "1", "observations": "2"}', b"[]", b"\xff", None])
def test_planted_value_is_a_miss_and_runs_nothing(tmp_path: Path, value: bytes | None) -> None:
    file = CacheFile(tmp_path / "scans")
    cache = ScanCache(file)
    cache.put("shop.example", *scan())
    with closing(sqlite3.connect(file.path)) as db, db:
        planted = pickle.dumps(Bomb(tmp_path / "ran")) if value is None else value
        assert db.execute("UPDATE Cache SET value = ?", (planted,)).rowcount == 1
    assert cache.get("shop.example", "shop.example") is None
    assert not (tmp_path / "ran").exists()


USES: dict[str, Callable[[Entries], object]] = {
    "get": lambda entries: entries.get("a"),
    "set": lambda entries: entries.set("a", 2, 1000),
    "delete": lambda entries: entries.delete("a"),
    "names": lambda entries: entries.names(),
    "clear": lambda entries: entries.clear(),
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
    file = CacheFile(tmp_path / "scans")
    with file.writing() as entries:
        entries.set("a", 1, 1000)
    with closing(sqlite3.connect(file.path)) as db, db:
        values = {"bomb": bomb, "victim": str(victim)}
        assert db.execute(f"UPDATE Cache SET {planted}", values).rowcount == 1
    with file.writing() as entries:
        USES[use](entries)
        assert entries.get("a") in (None, 2)
    assert not (tmp_path / "ran").exists()
    assert victim.stat().st_atime_ns == before
    assert file.warnings == []


def test_large_value_makes_no_file(tmp_path: Path) -> None:
    file = CacheFile(tmp_path / "scans")
    with file.writing() as entries:
        entries.set("a", "x" * 1_000_000, 1000)
        assert entries.get("a") == "x" * 1_000_000
    assert [path.name for path in file.path.parent.iterdir()] == ["cache.db"]


def test_settings_in_the_file_are_not_obeyed(tmp_path: Path) -> None:
    file = filled(tmp_path)
    with closing(sqlite3.connect(file.path)) as db, db:
        for planted in (("cull_limit", 100_000), ("size_limit", 1), ("eviction_policy", "no such policy")):
            assert db.execute("UPDATE Settings SET value = ? WHERE key = ?", planted[::-1]).rowcount == 1
    with CacheFile(file.path.parent).writing() as entries:
        entries.set("a", 1, 1000)
        assert len(entries.names()) == 301


def test_a_file_with_unknown_settings_is_set_aside(tmp_path: Path) -> None:
    file = filled(tmp_path)
    with closing(sqlite3.connect(file.path)) as db, db:
        db.execute("INSERT INTO Settings VALUES ('disk_unheard_of', 1)")
    again = CacheFile(file.path.parent)
    with again.writing() as entries:
        assert entries.names() == []
    assert "was damaged" in again.warnings[0]


def test_oldest_scans_go_when_the_file_is_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aui_tui.index.cache.SIZE_LIMIT", 300_000)
    cache = ScanCache(CacheFile(tmp_path / "scans"))
    for number in range(60):
        cache.put(f"{number}.example", *scan(f"{number}.example"))
    assert 5 < len(cache) < 40
    assert cache.get("59.example", "59.example") is not None
    assert cache.get("0.example", "0.example") is None


def filled(folder: Path) -> CacheFile:
    file = CacheFile(folder / "disk")
    with file.writing() as entries:
        for number in range(300):
            entries.set(f"key {number}", "x" * 500, 9e12)
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
    with suppress(Unavailable), file.reading() as entries:
        entries.get("key 1")
    with file.writing() as entries:
        entries.set("a", 1, 9e12)
        assert entries.get("a") == 1
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
    with pytest.raises(Unavailable, match="malformed"), file.reading() as entries:
        assert [entries.get(f"key {number}") for number in range(300)]
    with file.writing() as entries:
        entries.set("a", 1, 9e12)
    assert len(file.warnings) == 1


def test_locked_file_is_not_waited_for(tmp_path: Path) -> None:
    file = filled(tmp_path)
    with locked(file.path, reading=True):
        began = time.monotonic()
        with pytest.raises(Unavailable, match="cannot be used now: database is locked"), file.reading() as entries:
            entries.get("key 1")
        assert time.monotonic() - began < 2
    with file.reading() as entries:
        assert entries.get("key 1") == "x" * 500
