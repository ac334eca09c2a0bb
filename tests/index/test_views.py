"""The views of index.db say what the cards say, and the programs that people have read them."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from aui_tui.index.store import Store
from aui_tui.index.upkeep import backup
from aui_tui.model.card import ReportCard
from aui_tui.model.surfaces import SURFACES
from tests.cards import SAMPLES
from tests.index.clock import NOW
from tests.index.scans import DAY, scan

LATEST = {card.host: card for card in (*SAMPLES, scan("down.example", dead=True)[0], scan("shop.test", llms=True)[0])}
EARLIER = scan("shop.test", NOW - DAY)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with ``index.db``, in use, and ``shared.db``, a copy of it."""
    place = tmp_path_factory.mktemp("views")
    store = Store(place / "index.db")
    store.put(*EARLIER)
    for card in LATEST.values():
        store.put(card)
    backup(store, place / "shared.db")
    yield place
    store.close()


def rows(path: Path, sql: str) -> list[dict[str, Any]]:
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    db.row_factory = sqlite3.Row
    try:
        return [dict(row) for row in db.execute(sql)]
    finally:
        db.close()


@pytest.mark.parametrize("file", ["index.db", "shared.db"])
def test_the_views_say_what_the_cards_say(folder: Path, file: str) -> None:
    found = {row.pop("host"): row for row in rows(folder / file, "SELECT * FROM hosts")}
    assert set(found) == set(LATEST)
    for host, card in LATEST.items():
        assert found[host] == {
            "list": "unreachable" if card.unreachable else "ranked",
            "category": card.category,
            "score": graded(card, card.score),
            "grade": graded(card, card.grade),
            "stance": graded(card, card.stance),
            "method": card.method,
            "scanned_at": card.scanned_at,
            "change": card.score - EARLIER[0].score if host == "shop.test" else None,
            "scans": 2 if host == "shop.test" else 1,
        }
        verdicts = rows(folder / file, f"SELECT agent, verdict FROM agents WHERE host = '{host}'")
        assert [row["verdict"] for row in verdicts] == [graded(card, word) for word in card.matrix.values()]
        assert [row["agent"] for row in verdicts] == [surface.slug for surface in SURFACES]
        fixes = rows(folder / file, f"SELECT fix FROM fixes WHERE host = '{host}'")
        assert {row["fix"] for row in fixes} == {fix.k for fix in card.recommendations}


def graded(card: ReportCard, value: object) -> object:
    return None if card.unreachable else value


def test_the_history_has_every_kept_scan(folder: Path) -> None:
    found = rows(folder / "index.db", "SELECT * FROM history ORDER BY scanned_at")
    assert len(found) == len(LATEST) + 1
    assert (
        found.count(
            {
                "host": "shop.test",
                "scanned_at": EARLIER[0].scanned_at,
                "score": EARLIER[0].score,
                "grade": EARLIER[0].grade,
                "stance": EARLIER[0].stance,
                "method": EARLIER[0].method,
            }
        )
        == 1
    )


def test_a_view_cannot_be_written_to(folder: Path) -> None:
    with sqlite3.connect(folder / "shared.db") as db, pytest.raises(sqlite3.OperationalError, match="is a view"):
        db.execute("DELETE FROM hosts")


def test_views_of_the_users_own_stay(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    store = Store(path)
    store.put(SAMPLES[0])
    store.close()
    with sqlite3.connect(path) as db:
        db.execute("CREATE VIEW mine AS SELECT 2 AS kept")
    db.close()
    Store(path).close()
    assert rows(path, "SELECT * FROM mine") == [{"kept": 2}]


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="needs the sqlite3 command line")
def test_the_sqlite_command_line_reads_them(folder: Path) -> None:
    sql = "SELECT score FROM hosts WHERE host = 'shop.test'"
    done = subprocess.run(
        ["sqlite3", "-readonly", "-safe", str(folder / "index.db"), sql], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(LATEST["shop.test"].score)


@pytest.mark.ci
@pytest.mark.skipif(find_spec("datasette") is None, reason="needs datasette")
def test_datasette_serves_them(folder: Path) -> None:
    table = "/index/hosts.json?_shape=array&_sort=host"
    done = subprocess.run(
        [sys.executable, "-m", "datasette", str(folder / "index.db"), "--get", table],
        capture_output=True,
        text=True,
        check=True,
    )
    assert {row["host"]: row["grade"] for row in json.loads(done.stdout)} == {
        host: graded(card, card.grade) for host, card in LATEST.items()
    }
