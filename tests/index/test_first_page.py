"""Long lists: the first rows before the figures, the figures by one pass, and answers that are given up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from aui_tui.errors import Unavailable
from aui_tui.index import lists, reports
from aui_tui.index.bitmaps import Selection
from aui_tui.index.lists import needed, sweep
from aui_tui.index.reports import Reports
from aui_tui.model.card import stamp
from aui_tui.model.query import Query
from tests.benchmarks.samples import START, scans

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
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reports]:
    opened = Reports(tmp_path_factory.mktemp("first_page") / "index.db", clock=lambda: START)
    opened.put_many(scans(HOSTS))
    yield opened
    opened.close()


def queries() -> Iterator[Query]:
    for line in LINES:
        for stance, category in (("", ""), ("Open", ""), ("", "Travel"), ("Walled", "Tech")):
            yield Query.of(line=line, stance=stance, category=category)


@pytest.mark.parametrize("query", [query for query in queries() if needed(query)], ids=Query.words)
def test_one_pass_finds_the_figures_that_sets_of_hosts_give(store: Reports, query: Query) -> None:
    with store.reading() as db:
        swept, selected = sweep(db, query, START), Selection(db, query, START)
        assert swept.facets == selected.facets()
        assert list(swept.scores) == [selected.per_score(selected.chosen(ranked)) for ranked in (0, 1)]


@pytest.mark.parametrize("few", [0, lists.FEW])
@pytest.mark.parametrize("turned", [False, True])
def test_a_glimpse_shows_the_first_rows_of_the_list(
    store: Reports, monkeypatch: pytest.MonkeyPatch, few: int, turned: bool
) -> None:
    monkeypatch.setattr(lists, "LONG", 1)
    monkeypatch.setattr(lists, "FEW", few)
    monkeypatch.setattr(lists, "RARE", 1)
    seen = 0
    for query in queries():
        asked = msgspec.structs.replace(query, descending=turned)
        first = store.first_page(asked)
        whole = store.index(asked)
        assert not whole.counting
        store._views.clear()
        if first is None:
            continue
        seen += 1
        assert first.counting
        assert (first.query, first.scanned_at) == (whole.query, whole.scanned_at)
        for part, full in ((first.ranked, whole.ranked), (first.unreachable, whole.unreachable)):
            assert list(part[:]) == list(full[: lists.FIRST])
    assert seen > 20


def test_there_is_no_glimpse_where_the_whole_answer_comes_as_soon(
    store: Reports, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert store.first_page(Query.of(line="s")) is None
    monkeypatch.setattr(lists, "LONG", 1)
    assert store.first_page(Query.of(line="s")) is not None
    assert store.first_page(Query.of(line="stance:walled")) is None
    assert store.first_page(Query.of(line="s", sort="age")) is None
    store.index(Query.of(line="s"))
    assert store.first_page(Query.of(line="s")) is None
    assert store.first_page(Query.of(line="shop")) is None, "few hosts have it: the text index is quicker"
    monkeypatch.setattr(lists, "RARE", 1)
    monkeypatch.setattr(lists, "FIRST", 5)
    assert store.first_page(Query.of(line="shop")) is not None
    assert store.first_page(Query.of(line="zzzzqqqq")) is None
    monkeypatch.setattr(lists, "PROBE", 50)
    assert store.first_page(Query.of(line="shop")) is None


def test_an_answer_that_nobody_waits_for_is_given_up(store: Reports, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "STEPS", 10)
    with pytest.raises(Unavailable, match="interrupted"):
        store.index(Query.of(line="to"), stop=lambda: True)
    assert len(store.index(Query.of(line="to"), stop=lambda: False).ranked) > 0
    assert len(store.index(Query.of(line="se")).ranked) > 0


def test_views_hold_a_bounded_number_of_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "HELD", 100)
    store = Reports(tmp_path / "index.db", clock=lambda: START)
    store.put_many(scans(60))
    views = [store.index(Query.of(sort=sort)) for sort in ("age", "host", "grade", "change")]
    assert [len(view.ranked) + len(view.unreachable) for view in views] == [60] * 4
    assert len(store._views) == 1
    assert store.index(Query.of(sort="change")) is views[-1]
    assert stamp(START) >= views[0].scanned_at
    store.close()
