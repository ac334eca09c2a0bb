"""The 24 h scan cache: fresh, whole, of the right host, or a miss."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aui_tui.engine.scoring import grade_card
from aui_tui.records.card import ReportCard
from aui_tui.records.observations import Exchange, Observations
from aui_tui.records.times import stamp
from aui_tui.store.cache import ScanCache
from aui_tui.store.disk import DiskCache
from tests.strategies import observations

NOW = 1_795_000_000.0


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


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
def clock() -> Clock:
    return Clock()


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


def test_clear_removes_every_scan(cache: ScanCache) -> None:
    for number in range(3):
        cache.put(f"{number}.example", *scan(f"{number}.example"))
    assert len(cache) == 3
    assert cache.clear() == 3
    assert cache.get("1.example", "1.example") is None


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
