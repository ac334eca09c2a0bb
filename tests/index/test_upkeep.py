"""Backup and check of the index."""

from __future__ import annotations

import stat
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from aui_tui.errors import BadValue, ConfigError
from aui_tui.index.store import Store
from aui_tui.index.upkeep import backup, examine
from aui_tui.model.query import Query
from tests.cards import SAMPLES
from tests.index.clock import NOW
from tests.index.scans import DAY, scan

HOSTS = [f"host{number}.example" for number in range(120)]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """An index of hosts, some scanned twice, and two cards without observations."""
    path = tmp_path_factory.mktemp("filled") / "index.db"
    with closing(Store(path)) as store:
        store.put_many(scan(host) for host in HOSTS)
        store.put_many(scan(host, NOW - DAY) for host in HOSTS[:50])
        store.put_many((card, None) for card in SAMPLES)
    return path.read_bytes()


@pytest.fixture
def store(filled: bytes, tmp_path: Path) -> Iterator[Store]:
    (tmp_path / "index.db").write_bytes(filled)
    with closing(Store(tmp_path / "index.db")) as opened:
        yield opened


def listed(store: Store, line: str = "") -> set[str]:
    view = store.index(Query.of(line=line))
    return {row.summary.host for window in (view.ranked, view.unreachable) for row in window[:]}


def test_healthy_index_has_no_problem(store: Store) -> None:
    reported: list[tuple[int, int]] = []
    health = examine(store, progress=lambda done, total: reported.append((done, total)))
    assert health.problems == ()
    assert (health.hosts, health.scans) == (122, 172)
    assert health.bytes > 100_000
    assert reported[-1] == (172, 172)


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        ("UPDATE tally SET hosts = hosts + 1", "whose count is wrong"),
        ("DELETE FROM scan WHERE site = 7", "Hosts without the scan behind their card: 1."),
        ("DELETE FROM site WHERE id = 9", "Scans without a host: 2."),
        ("INSERT INTO site_text (site_text) VALUES ('delete-all')", "text search does not find: 50."),
        ("UPDATE scan SET card = x'789c' WHERE site = 8", "Scans that cannot be read: 2."),
        ("UPDATE scan SET observations = 'text' WHERE site = 8", "Scans that cannot be read: 2."),
        ("INSERT INTO visits VALUES ('host1.example', 1, x'7b7d')", "Hosts whose visits cannot be read: 1."),
    ],
)
def test_damage_is_named(store: Store, sql: str, sentence: str) -> None:
    with store.database.writing() as db:
        db.execute(sql)
        db.execute("UPDATE meta SET changes = changes + 1")
    assert any(sentence in problem for problem in examine(store).problems)


def test_backup_is_a_whole_index(store: Store, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    reported: list[tuple[int, int]] = []
    size = backup(store, target, progress=lambda done, total: reported.append((done, total)))
    assert size == target.stat().st_size > 100_000
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert reported[-1][0] == reported[-1][1]
    assert {path.name for path in tmp_path.iterdir()} == {"index.db", "index.db-wal", "index.db-shm", "copy.db"}
    copy = Store(target)
    assert listed(copy) == listed(store)
    assert copy.get("host1.example") == store.get("host1.example")
    assert examine(copy).problems == ()
    copy.close()


def test_backup_while_the_index_is_written(store: Store, tmp_path: Path) -> None:
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
    copy = Store(tmp_path / "copy.db")
    assert examine(copy).problems == ()
    assert listed(copy) >= set(HOSTS)
    copy.close()


def test_backup_spares_what_is_there(store: Store, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    target.write_text("precious")
    with pytest.raises(BadValue, match="already there"):
        backup(store, target)
    assert target.read_text() == "precious"
    for bad in (store.path, tmp_path, tmp_path / "nowhere" / "copy.db"):
        with pytest.raises(ConfigError):
            backup(store, bad, overwrite=True)
    backup(store, target, overwrite=True)
    assert target.stat().st_size > 100_000
    assert not list(tmp_path.glob(".*"))
