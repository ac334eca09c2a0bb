"""Backup, check, repair and what can be brought back of a damaged index."""

from __future__ import annotations

import random
import sqlite3
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from aui_tui.errors import ConfigError
from aui_tui.index.folder import damaged
from aui_tui.index.reports import Reports
from aui_tui.index.upkeep import backup, examine, repair, salvage
from aui_tui.model.card import stamp
from aui_tui.model.query import Query
from tests.cards import SAMPLES
from tests.index.test_reports import DAY, NOW, scan
from tests.visits.records import verified, visits

HOSTS = [f"host{number}.example" for number in range(120)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Reports]:
    opened = Reports(tmp_path / "index.db", clock=lambda: NOW)
    opened.put_many(scan(host) for host in HOSTS)
    opened.put_many(scan(host, NOW - DAY) for host in HOSTS[:50])
    opened.put_many((card, None) for card in SAMPLES)
    yield opened
    opened.close()


def listed(store: Reports, line: str = "") -> set[str]:
    view = store.index(Query.of(line=line))
    return {row.summary.host for window in (view.ranked, view.unreachable) for row in window[:]}


def test_healthy_index_has_no_problem(store: Reports) -> None:
    reported: list[tuple[int, int]] = []
    health = examine(store, progress=lambda done, total: reported.append((done, total)))
    assert health.problems == ()
    assert (health.hosts, health.scans) == (122, 172)
    assert health.bytes > 100_000
    assert reported[-1] == (172, 172)


@pytest.mark.ci
@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        ("DELETE FROM bitmap WHERE tag = 20", "sets behind the filters"),
        ("UPDATE bitmap SET bits = zeroblob(4096) WHERE tag = 1", "sets behind the filters"),
        ("UPDATE tally SET hosts = hosts + 1", "counts behind the filters"),
        ("DELETE FROM line WHERE id < 4", "Hosts without a line in the list: 3."),
        ("DELETE FROM scan WHERE site = 7", "Hosts without the scan behind their card: 1."),
        ("DELETE FROM site WHERE id = 9", "Scans without a host: 2."),
        ("INSERT INTO site_text (site_text) VALUES ('delete-all')", "text search does not find"),
        ("UPDATE scan SET card = x'789c' WHERE site = 8", "Scans that cannot be read: 2. A stored record is damaged"),
        ("UPDATE scan SET observations = 'text' WHERE site = 8", "Scans that cannot be read: 2."),
        ("INSERT INTO visits VALUES ('host1.example', 1, x'7b7d')", "Hosts whose visits cannot be read: 1."),
    ],
)
def test_damage_is_named_and_repaired(store: Reports, sql: str, sentence: str) -> None:
    with store.database.writing() as db:
        db.execute(sql)
        db.execute("UPDATE meta SET changes = changes + 1")
    assert any(sentence in problem for problem in examine(store).problems)
    done = repair(store)
    assert examine(store).problems == ()
    gone = {8: "host7.example", 7: "host6.example", 9: "host8.example"}
    lost = {host for site, host in gone.items() if f"= {site}" in sql and "observations" not in sql}
    cards, blind = 2 * ("SET card" in sql), 2 * ("SET observations" in sql)
    orphans = {"DELETE FROM scan WHERE site = 7": 1, "UPDATE scan SET card = x'789c' WHERE site = 8": 1}.get(sql, 0)
    assert (done.scans_removed, done.observations_removed, done.hosts_removed) == (cards, blind, orphans)
    assert listed(store) == set(HOSTS) - lost | {card.host for card in SAMPLES}
    assert listed(store, "stance:open") == set(HOSTS) - lost | {"shop.example"}
    assert listed(store, "host11") >= {"host11.example", "host110.example"}
    assert store.row("host3.example").scans == 2


def test_repair_keeps_the_scans_that_are_left(store: Reports) -> None:
    with store.database.writing() as db:
        db.execute("UPDATE scan SET card = x'00' WHERE site = 3 AND at = (SELECT max(at) FROM scan WHERE site = 3)")
    done = repair(store)
    assert (done.scans_removed, done.hosts_removed) == (1, 0)
    assert store.get("host2.example").card.scanned_at == stamp(NOW - DAY)
    assert (store.row("host2.example").scans, store.row("host2.example").change) == (1, None)


@pytest.mark.ci
def test_interrupted_repair_is_begun_again(store: Reports) -> None:
    with store.database.writing() as db:
        db.execute("DELETE FROM bitmap")

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        repair(store, progress=stop)
    assert examine(store).problems != ()
    repair(store)
    assert examine(store).problems == ()


@pytest.mark.ci
def test_others_write_between_the_steps_of_a_repair(store: Reports, monkeypatch: pytest.MonkeyPatch) -> None:
    other, beside = Reports(store.path, clock=lambda: NOW), []

    def write(seconds: float) -> None:
        beside.append(f"beside{len(beside)}.example")
        other.put(*scan(beside[-1]))

    monkeypatch.setattr("aui_tui.index.upkeep.time", SimpleNamespace(sleep=write, monotonic=time.monotonic))
    monkeypatch.setattr("aui_tui.index.upkeep.REPAIR_STEP", 10)
    with store.database.writing() as db:
        db.execute("DELETE FROM bitmap")
        db.execute("UPDATE site SET score = 101 - score, bits = 0")
        db.execute("UPDATE scan SET card = x'00' WHERE site = 3")
    repair(store)
    other.close()
    assert len(beside) > len(HOSTS) / 10
    assert examine(store).problems == ()
    assert listed(store) == {*HOSTS, *beside, *(card.host for card in SAMPLES)} - {"host2.example"}


@pytest.mark.ci
def test_repair_waits_for_its_turn(store: Reports) -> None:
    holder = sqlite3.connect(store.path, isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(1.0, holder.execute, ["ROLLBACK"])
    timer.start()
    repair(store)
    timer.join()
    holder.close()
    assert examine(store).problems == ()


def test_backup_is_a_whole_index(store: Reports, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    reported: list[tuple[int, int]] = []
    size = backup(store, target, progress=lambda done, total: reported.append((done, total)))
    assert size == target.stat().st_size > 100_000
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert reported[-1][0] == reported[-1][1]
    assert {path.name for path in tmp_path.iterdir()} == {"index.db", "index.db-wal", "index.db-shm", "copy.db"}
    copy = Reports(target, clock=lambda: NOW)
    assert listed(copy) == listed(store)
    assert copy.get("host1.example") == store.get("host1.example")
    assert examine(copy).problems == ()
    copy.close()


def test_backup_while_the_index_is_written(store: Reports, tmp_path: Path) -> None:
    stop = threading.Event()

    def write() -> None:
        for number in range(10_000):
            if stop.is_set():
                return
            store.put(*scan(f"new{number}.example"))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        backup(store, tmp_path / "copy.db")
    finally:
        stop.set()
        writer.join()
    copy = Reports(tmp_path / "copy.db", clock=lambda: NOW)
    assert examine(copy).problems == ()
    assert listed(copy) >= set(HOSTS)
    copy.close()


def test_backup_spares_what_is_there(store: Reports, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    target.write_text("precious")
    with pytest.raises(ConfigError, match="exists already"):
        backup(store, target)
    assert target.read_text() == "precious"
    for bad in (store.path, tmp_path, tmp_path / "nowhere" / "copy.db"):
        with pytest.raises(ConfigError):
            backup(store, bad, overwrite=True)
    backup(store, target, overwrite=True)
    assert target.stat().st_size > 100_000
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("damage", ["head", "first page", "middle", "truncated", "nothing", "text"])
def test_what_can_be_read_of_a_damaged_index_is_brought_back(store: Reports, tmp_path: Path, damage: str) -> None:
    for number in range(20):
        store.put(*scan(f"later{number}.example"))
    store.put_visits(visits(verified("Claude-User", 12, 0)))
    store.close()
    whole = store.path.stat().st_size
    data = bytearray(store.path.read_bytes())
    if damage == "head":
        data[:100] = random.Random(1).randbytes(100)
    elif damage == "first page":
        data[:8192] = bytes(8192)
    elif damage == "middle":
        for page in range(20, len(data) // 8192, 5):
            data[page * 8192 : page * 8192 + 400] = b"\xff" * 400
    elif damage == "truncated":
        del data[whole * 2 // 3 :]
    elif damage == "text":
        data = bytearray(b"no database" * 100)
    file = tmp_path / "index.damaged-20261118T110640Z.db"
    file.write_bytes(data)
    before = file.read_bytes()
    fresh = Reports(tmp_path / "fresh.db", clock=lambda: NOW)
    fresh.put(*scan("host5.example", llms=True))
    done = salvage(damaged(tmp_path)[0], fresh)
    assert file.read_bytes() == before
    assert not list(tmp_path.glob(".*"))
    found = listed(fresh)
    assert len(found) >= {"head": 142, "first page": 142, "nothing": 142, "text": 1}.get(damage, 40)
    assert done.kept >= len(found) - 1
    assert examine(fresh).problems == ()
    assert fresh.get("host5.example") == scan("host5.example", llms=True)
    if damage in ("head", "first page", "nothing"):
        assert (done.kept, done.lost, done.visits) == (192, 0, 1)
        assert fresh.visits("tickets.example") == visits(verified("Claude-User", 12, 0))
        assert [point.scanned_at for point in fresh.history("host4.example")] == [stamp(NOW - DAY), stamp(NOW)]
    fresh.close()


@pytest.mark.ci
def test_salvage_of_a_missing_file_brings_nothing(store: Reports, tmp_path: Path) -> None:
    assert salvage(tmp_path / "index.damaged-x.db", store).kept == 0
