"""Long lists: the first rows before the figures, the figures by one pass, and answers that are given up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import count, cycle
from pathlib import Path

import msgspec
import pytest

from aui_tui.errors import Unavailable
from aui_tui.index import database, lists
from aui_tui.index import store as store_module
from aui_tui.index.store import Store
from aui_tui.model.query import SORTS, Query
from tests.benchmarks import store as benchmark
from tests.benchmarks.samples import scans

HOSTS = 700
LINES = (
    "s",
    "sh",
    "x9",
    "-s",
    "fresh:<7d",
    "shop",
    "s stance:walled",
    "market fresh:>3d",
    "zq",
    "o -has:llms score:<60",
    "s -change:up",
    "x9 change:new",
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    opened = Store(tmp_path_factory.mktemp("first_page") / "index.db")
    opened.put_many(scans(HOSTS))
    yield opened
    opened.close()


def queries() -> Iterator[Query]:
    for line in LINES:
        for stance, category in (("", ""), ("Open", ""), ("", "Travel"), ("Walled", "Tech")):
            yield Query.of(line=line, stance=stance, category=category)


@pytest.mark.parametrize("turned", [False, True])
def test_the_first_page_has_the_first_rows_of_the_list(
    store: Store, monkeypatch: pytest.MonkeyPatch, turned: bool
) -> None:
    monkeypatch.setattr(store_module, "LONG", 1)
    monkeypatch.setattr(lists, "RARE", 1)
    for query, sort in zip(queries(), cycle((*SORTS, "matrix.claude"))):
        asked = msgspec.structs.replace(query, sort=sort, descending=turned)
        first = store.first_page(asked)
        whole = store.index(asked)
        assert not whole.counting
        assert (first.query, first.scanned_at) == (whole.query, whole.scanned_at)
        for part, full in ((first.ranked, whole.ranked), (first.unreachable, whole.unreachable)):
            assert list(part[:]) == list(full[: store_module.FIRST])
        complete = max(len(whole.ranked), len(whole.unreachable)) < store_module.FIRST
        assert first.counting is not (complete and not query.stance and not query.category)
        assert first.counting or first.facets == whole.facets


def test_rows_that_take_long_come_as_far_as_they_are_found(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "LONG", 1)
    monkeypatch.setattr(lists, "RARE", 1)
    monkeypatch.setattr(store_module, "SOON", 0.0)
    monkeypatch.setattr(database, "STEPS", 1)
    for query in queries():
        first, whole = store.first_page(query), store.index(query)
        for part, full in ((first.ranked, whole.ranked), (first.unreachable, whole.unreachable)):
            assert list(part[:]) == list(full[: len(part)])
            assert bool(len(part)) is bool(len(full))
        assert first.counting or not any(map(len, (whole.ranked, whole.unreachable)))


def test_the_whole_answer_comes_first_where_it_comes_as_soon(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for asked in (Query.of(line="s"), Query.of(line="s", sort="age")):
        monkeypatch.setattr(store_module, "LONG", 1000)
        first = store.first_page(asked)
        assert not first.counting
        assert first.facets == store.index(asked).facets
        monkeypatch.setattr(store_module, "LONG", 1)
        assert store.first_page(asked).counting


def test_the_first_rows_of_a_long_list_come_as_soon_as_those_of_a_short_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "LONG", 1)
    monkeypatch.setattr(lists, "RARE", 1)
    monkeypatch.setattr(database, "STEPS", 1)
    monkeypatch.setattr(benchmark, "TEMPLATES", 50)

    def steps(store: Store, line: str) -> int:
        """Return how many instructions of SQLite the first rows take."""
        done = count()
        store.first_page(Query.of(line=line), lambda: next(done) < 0)
        return next(done)

    with closing(Store(tmp_path / "short.db")) as short, closing(Store(tmp_path / "long.db")) as long:
        benchmark.fill(short, 500)
        benchmark.fill(long, 2000)
        for line in ("", "s", "score:<50"):
            assert steps(long, line) < 1.3 * steps(short, line)


def test_an_answer_that_nobody_waits_for_is_given_up(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "STEPS", 10)
    with pytest.raises(Unavailable, match="interrupted"):
        store.index(Query.of(line="to"), stop=lambda: True)
    assert len(store.index(Query.of(line="to"), stop=lambda: False).ranked) > 0
    assert len(store.index(Query.of(line="se")).ranked) > 0
