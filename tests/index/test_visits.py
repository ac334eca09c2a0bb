"""Visits are kept beside the cards, and an index of the first release gets a place for them."""

from __future__ import annotations

import gzip
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from aui_tui.errors import NeverScanned
from aui_tui.index.reports import Reports
from aui_tui.model.query import Query
from tests.cards import WALLED
from tests.visits.records import verified, visits

RELEASED = Path(__file__).resolve().parents[1] / "data" / "released" / "0.1.0" / "index.db.gz"


def test_the_last_record_of_a_host_is_kept(store: Reports) -> None:
    assert store.visits("tickets.example") is None
    before = store.stamp()
    store.put_visits(visits(verified("Claude-User", 1, 0)))
    store.put_visits(visits(verified("Claude-User", 5, 0)))
    assert store.stamp() != before
    kept = store.visits("tickets.example")
    assert kept is not None
    assert kept.visitors[0].requests == 5


def test_forgetting_a_host_forgets_its_visits(store: Reports) -> None:
    store.put(WALLED)
    store.put_visits(visits())
    assert store.forget(WALLED.host) == 1
    assert store.visits(WALLED.host) is None
    store.put_visits(visits())
    assert store.forget(WALLED.host) == 0
    with pytest.raises(NeverScanned):
        store.forget(WALLED.host)


def test_a_broken_record_is_absent(store: Reports) -> None:
    store.put_visits(visits())
    with sqlite3.connect(store.path) as db:
        db.execute("UPDATE visits SET record = x'00'")
    assert store.visits("tickets.example") is None


def test_an_index_of_the_first_release_takes_visits(tmp_path: Path) -> None:
    (tmp_path / "index.db").write_bytes(gzip.decompress(RELEASED.read_bytes()))
    with closing(Reports(tmp_path / "index.db")) as store:
        assert store.warnings == ()
        assert len(store.index(Query()).ranked) > 10
        store.put_visits(visits())
        assert store.visits("tickets.example") is not None
