"""Visits are kept beside the cards, and an index of the first release gets a place for them."""

from __future__ import annotations

import gzip
import sqlite3
from pathlib import Path

import pytest

from aui_tui.errors import NeverScanned
from aui_tui.index.reports import Reports
from tests.cards import WALLED
from tests.visits.records import verified, visits

RELEASED = Path(__file__).resolve().parents[1] / "data" / "released" / "0.1.0" / "index.db.gz"


def test_the_last_record_of_a_host_is_kept(tmp_path: Path) -> None:
    reports = Reports(tmp_path / "index.db")
    assert reports.visits("tickets.example") is None
    before = reports.stamp()
    reports.put_visits(visits(verified("Claude-User", 1, 0)))
    reports.put_visits(visits(verified("Claude-User", 5, 0)))
    assert reports.stamp() != before
    kept = reports.visits("tickets.example")
    assert kept is not None
    assert kept.visitors[0].requests == 5
    reports.close()


def test_forgetting_a_host_forgets_its_visits(tmp_path: Path) -> None:
    reports = Reports(tmp_path / "index.db")
    reports.put(WALLED)
    reports.put_visits(visits())
    assert reports.forget(WALLED.host) == 1
    assert reports.visits(WALLED.host) is None
    reports.put_visits(visits())
    assert reports.forget(WALLED.host) == 0
    with pytest.raises(NeverScanned):
        reports.forget(WALLED.host)
    reports.close()


def test_a_broken_record_is_absent(tmp_path: Path) -> None:
    reports = Reports(tmp_path / "index.db")
    reports.put_visits(visits())
    with sqlite3.connect(tmp_path / "index.db") as db:
        db.execute("UPDATE visits SET record = x'00'")
    assert reports.visits("tickets.example") is None
    reports.close()


def test_an_index_of_the_first_release_takes_visits(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    path.write_bytes(gzip.decompress(RELEASED.read_bytes()))
    reports = Reports(path)
    assert reports.warnings == ()
    assert sum(1 for _ in reports.hosts()) > 10
    reports.put_visits(visits())
    assert reports.visits("tickets.example") is not None
    reports.close()
