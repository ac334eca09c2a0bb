"""Long lists: the first rows before the figures, the figures by one pass, and answers that are given up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import count, cycle
from pathlib import Path
from typing import cast

import msgspec
import pytest

from aui_tui.errors import Unavailable
from aui_tui.index import database, lists
from aui_tui.index import store as store_module
from aui_tui.index.store import Store
from aui_tui.model.listing import IndexView
from aui_tui.model.query import SORTS, Query
from aui_tui.model.times import stamp
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
    "agent:claude=out",
    "agent:any=unclear score:<60",
    "-agent:gemini=in fix:llms",
    "change:up,down",
)
ORDERS = (*SORTS, "matrix.claude", "matrix.amazon", "matrix.browser_agents")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    opened = Store(tmp_path_factory.mktemp("first_page") / "index.db")
    first = list(scans(HOSTS))
    opened.put_many(first)
    later = (
        (msgspec.structs.replace(card, score=min(card.score + place % 7, 100), scanned_at=stamp(benchmark.START)), seen)
        for place, (card, seen) in enumerate(first[::4])
    )
    opened.put_many(later)
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
    monkeypatch.setattr(store_module, "SOON", 60.0)
    monkeypatch.setattr(lists, "RARE", 1)
    for query, sort in zip(queries(), cycle(ORDERS)):
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
    monkeypatch.setattr(store_module, "SOON", 60.0)
    monkeypatch.setattr(lists, "RARE", 1)
    monkeypatch.setattr(database, "STEPS", 1)
    monkeypatch.setattr(benchmark, "TEMPLATES", 50)

    with closing(Store(tmp_path / "short.db")) as short, closing(Store(tmp_path / "long.db")) as long:
        benchmark.fill(short, 500)
        benchmark.fill(long, 2000)
        for line in ("", "s", "score:<50"):
            (_, taken), (_, least) = (looked(store, Query.of(line=line)) for store in (long, short))
            assert taken < 1.3 * least


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """An index of 6,000 hosts that counts as large."""
    monkeypatch.setattr(store_module, "LONG", 100)
    monkeypatch.setattr(store_module, "SOON", 60.0)
    monkeypatch.setattr("time.time", lambda: benchmark.START + 60.0)
    monkeypatch.setattr(database, "STEPS", 1)
    monkeypatch.setattr(benchmark, "TEMPLATES", 50)
    with closing(Store(tmp_path / "index.db")) as store:
        benchmark.fill(store, 6000)
        yield store


def looked(store: Store, query: Query) -> tuple[IndexView, int]:
    """Return the first page of ``query``, and how many instructions of SQLite it takes."""
    done = count()
    return store.first_page(query, lambda: next(done) < 0), next(done)


@pytest.mark.ci
def test_the_first_rows_of_an_order_come_without_a_look_at_every_host(
    large: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def steps(sort: str, line: str = "") -> int:
        taken = 0
        for turned in (False, True):
            query = Query.of(sort=sort, descending=turned, line=line)
            first, number = looked(large, query)
            assert list(first.ranked[:]) == list(large.index(query).ranked[: store_module.FIRST])
            taken += number
        return taken

    every_host = steps("rank", "tasks:yes")
    for sort in ORDERS:
        assert steps(sort, "tasks:yes") < 1.5 * every_host  # nobody is looked at twice to know that there is none
    monkeypatch.setattr(lists, "LOOKED", 10)  # enough for a page
    cases = [
        *((sort, "") for sort in ORDERS),
        *((sort, "agent:claude=out") for sort in ORDERS if sort != "category"),  # no tally has both
        *((sort, "o") for sort in (*SORTS, "matrix.claude")),
    ]
    for sort, line in cases:
        assert steps(sort, line) < every_host / 2, (sort, line)


@pytest.mark.ci
def test_a_search_that_an_index_answers_looks_at_few_hosts(large: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "RARE", 300)

    def steps(line: str) -> int:
        first, number = looked(large, Query.of(line=line))
        assert (len(first.ranked), first.counting) == (0, False)
        return number

    every_host = steps("zq")
    for line in ("zqx", "host:zqx", "zqx OR xqz", "host:zqx,xqz", "s (zqx OR xqz)", "fresh:<1m", "fresh:1m..2m"):
        assert steps(line) < every_host / 5, line
    for line in ("shop OR market77", "host:7,market77", "fresh:>1m", "fresh:>=1m fresh:<9999w", "-zqx", "fresh:=0m"):
        monkeypatch.setattr(lists, "RARE", 6001)
        found = list(large.index(Query.of(line=line)).ranked[:])
        monkeypatch.setattr(lists, "RARE", 0)
        assert found == list(large.index(Query.of(line=line)).ranked[:])


class CountedIds:
    """The ids of hosts, each look at one of them counted."""

    def __init__(self, ids: Sequence[int]) -> None:
        self.ids, self.looks = ids, 0

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, place: int) -> int:
        self.looks += 1
        return self.ids[place]


def test_the_place_of_a_host_is_found_without_a_look_at_every_host(store: Store) -> None:
    for sort, turned in ((sort, turned) for sort in ORDERS for turned in (False, True)):
        query = Query.of(sort=sort, descending=turned)
        with store.database.reading() as db:
            ids = CountedIds(lists.find_hosts(db, query, ranked=True))
        window = lists.IdWindow(store.database.reader, cast("Sequence[int]", ids), [0] * 101, query)
        listed = store.index(query).ranked
        for place in range(0, len(ids), 37):
            assert window.find(listed[place : place + 1][0].summary.host) == place
        assert ids.looks < 12 * (len(ids) / 37 + 1)
        assert window.find("nobody.example") == -1


def test_a_host_that_has_moved_since_is_found_where_the_list_has_it(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "index.db")) as store:
        store.put_many(scans(30))
        view = store.index(Query())
        hosts = [row.summary.host for row in view.ranked[:]]
        card = store.get(hosts[3]).card
        store.put(msgspec.structs.replace(card, score=0, scanned_at=stamp(benchmark.START + 60)))
        store.forget(hosts[20])
        assert [view.ranked.find(host) for host in hosts] == [
            place if place != 20 else -1 for place in range(len(hosts))
        ]


def test_an_answer_that_nobody_waits_for_is_given_up(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "STEPS", 10)
    with pytest.raises(Unavailable, match="interrupted"):
        store.index(Query.of(line="to"), stop=lambda: True)
    assert len(store.index(Query.of(line="to"), stop=lambda: False).ranked) > 0
    assert len(store.index(Query.of(line="se")).ranked) > 0
