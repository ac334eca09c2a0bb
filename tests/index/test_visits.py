"""Visits are kept beside the cards."""

from __future__ import annotations

import sqlite3

import pytest

from aui_tui.errors import NeverScanned
from aui_tui.index.store import Store
from tests.cards import WALLED
from tests.visits.records import verified, visits


def test_the_last_record_of_a_host_is_kept(store: Store) -> None:
    assert store.visits("tickets.example") is None
    before = store.stamp()
    store.put_visits(visits(verified("Claude-User", 1, 0)))
    store.put_visits(visits(verified("Claude-User", 5, 0)))
    assert store.stamp() != before
    kept = store.visits("tickets.example")
    assert kept is not None
    assert kept.visitors[0].requests == 5


def test_forgetting_a_host_forgets_its_visits(store: Store) -> None:
    store.put(WALLED)
    store.put_visits(visits())
    assert store.forget(WALLED.host) == 1
    assert store.visits(WALLED.host) is None
    store.put_visits(visits())
    assert store.forget(WALLED.host) == 0
    with pytest.raises(NeverScanned):
        store.forget(WALLED.host)


def test_a_broken_record_is_absent(store: Store) -> None:
    store.put_visits(visits())
    with sqlite3.connect(store.path) as db:
        db.execute("UPDATE visits SET record = x'00'")
    assert store.visits("tickets.example") is None
