"""The lists of the store equal the plain predicate and the plain order, for any cards and any query."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aui_tui.errors import BadValue
from aui_tui.index import columns, lists
from aui_tui.index.columns import facts_of
from aui_tui.index.reports import Reports
from aui_tui.model.card import ReportCard, epoch_ms, stamp
from aui_tui.model.codec import names_of
from aui_tui.model.query import HAS, OPERATORS, SORTS, Query, parse
from aui_tui.model.view import Row
from aui_tui.model.vocabulary import CATEGORIES, FIXES, GRADES, STANCES, VERDICTS
from tests.cards import RICH_OPEN, cards
from tests.matching import counted, matches, ordered

NOW = epoch_ms("2026-11-20T12:00:00.000Z") / 1000


@contextmanager
def reports(many: Sequence[ReportCard]) -> Iterator[Reports]:
    with tempfile.TemporaryDirectory() as folder:
        store = Reports(Path(folder) / "index.db", clock=lambda: NOW)
        try:
            store.put_many((card, None) for card in many)
            yield store
        finally:
            store.close()


def unique(many: Sequence[ReportCard]) -> list[ReportCard]:
    return list({card.host: card for card in many}.values())


_TIMES = st.sampled_from(("2026-11-20T11:59:30.500Z", "2026-11-20T08:00:00.000Z", "2026-11-13T12:00:00.000Z"))
_NAMES = st.sampled_from(("Shop", "straße", "ÇA & co", '"quoted"', "50%_off", "日本語の店"))


@st.composite
def near_cards(draw: st.DrawFn) -> ReportCard:
    """A random card with a time, a name and an edge that queries are likely to hit."""
    changes = {
        "scanned_at": draw(_TIMES | st.just("2026-11-21T12:00:00.000Z")),
        "edge": draw(st.sampled_from(("", "Akamai", "cloudflare nginx", "Datadome"))),
    }
    if draw(st.booleans()):
        changes["name"] = draw(_NAMES)
    return msgspec.structs.replace(draw(cards()), **changes)


def words() -> st.SearchStrategy[str]:
    slugs = st.sampled_from(names_of("matrix"))
    compare = st.sampled_from(("", "<", "<=", ">", ">=", "="))
    plain = st.one_of(
        st.sampled_from(STANCES).map(lambda word: "stance:" + word),
        st.sampled_from(CATEGORIES).map(lambda word: f'category:"{word}"'),
        st.tuples(slugs, st.sampled_from(VERDICTS)).map(lambda pair: f"agent:{pair[0]}={pair[1]}"),
        st.sampled_from(("akamai", "flare", "nginx", "a", "zz")).map(lambda word: "edge:" + word),
        st.tuples(compare, st.integers(0, 100)).map(lambda pair: f"score:{pair[0]}{pair[1]}"),
        st.sampled_from(GRADES).map(lambda word: "grade:" + word),
        st.sampled_from(HAS).map(lambda word: "has:" + word),
        st.tuples(st.integers(0, 100), st.integers(0, 100)).map(lambda pair: f"score:{min(pair)}..{max(pair)}"),
        st.lists(st.sampled_from(GRADES), min_size=1, max_size=3).map(lambda some: "grade:" + ",".join(some)),
        st.tuples(st.sampled_from(("<=", ">=")), st.sampled_from(GRADES)).map(lambda pair: "grade:" + "".join(pair)),
        st.tuples(slugs, slugs, st.sampled_from(("in", "out", "blocked,partial"))).map(
            lambda some: f"agent:{some[0]},{some[1]}={some[2]}"
        ),
        st.sampled_from(("contradiction:out", "contradiction:in", "contradiction:in,out", "fresh:4h..7d")),
        st.sampled_from(("signal:yes", "signal:no", "contradiction", "method:v0.1", "method:v0.2", "method:v9")),
        st.tuples(compare, st.sampled_from(("30m", "4h", "7d", "1w", "0m"))).map(lambda p: f"fresh:{p[0]}{p[1]}"),
        st.sampled_from(FIXES).map(lambda word: "fix:" + word),
        st.sampled_from(("up", "down", "same", "new", "<0", ">=-3", "-5..5")).map(lambda word: "change:" + word),
        st.sampled_from(("shop", "a", "0", "example", "STRASSE", "ça", "50%_", "%", "_", "日本", "本語の", "xyz")),
        st.from_regex(r"[a-z0-9]{1,4}", fullmatch=True).filter(lambda word: word.upper() not in OPERATORS),
    )
    return st.tuples(st.sampled_from(("", "", "-", "NOT ", "not -")), plain).map("".join)


@st.composite
def lines(draw: st.DrawFn) -> str:
    """A query line of up to three terms, joined by a space or an operator."""
    found = draw(st.lists(words(), max_size=3))
    return "".join(word + draw(st.sampled_from((" ", " OR ", " and "))) for word in found[:-1]) + "".join(found[-1:])


@st.composite
def queries(draw: st.DrawFn) -> Query:
    slugs = tuple("matrix." + slug for slug in names_of("matrix"))
    return Query.of(
        category=draw(st.sampled_from(("", "", *CATEGORIES))),
        stance=draw(st.sampled_from(("", "", *STANCES))),
        line=draw(lines()),
        sort=draw(st.sampled_from((*SORTS, *slugs))),
        descending=draw(st.booleans()),
    )


def expected(many: Sequence[ReportCard], query: Query, *, unreachable: bool = False) -> list[str]:
    chosen = [
        Row(summary=card.summary())
        for card in many
        if card.unreachable == unreachable and matches(card.summary(), query, now=NOW, facts=facts_of(card))
    ]
    return [row.summary.host for row in ordered(chosen, query)]


@pytest.mark.parametrize("few", [0, 5000], ids=["from the index", "in memory"])
@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(near_cards(), max_size=7), st.lists(queries(), min_size=1, max_size=8))
def test_lists_equal_predicate_and_order(few: int, many: list[ReportCard], asked: list[Query]) -> None:
    many = unique(many)
    with reports(many) as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr(lists, "FEW", few)
        for query in asked:
            view = store.index(query)
            ranked = expected(many, query)
            assert [row.summary.host for row in view.ranked[:]] == ranked
            assert len(view.ranked) == len(ranked)
            gone = expected(many, query, unreachable=True)
            assert [row.summary.host for row in view.unreachable[0:100]] == gone
            assert [store.position(host, query) for host in ranked] == list(range(len(ranked)))
            assert [store.position(host, query) for host in gone] == list(range(len(gone)))
            for start in range(len(ranked)):
                assert [row.summary.host for row in view.ranked[start : start + 2]] == ranked[start : start + 2]


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(near_cards(), max_size=8), queries())
def test_facets_say_what_each_choice_would_give(many: list[ReportCard], query: Query) -> None:
    many = unique(many)
    with reports(many) as store:
        facets = store.index(query).facets
        for stance in STANCES:
            assert facets.stance[stance] == len(expected(many, msgspec.structs.replace(query, stance=stance)))
        for category in CATEGORIES:
            assert facets.category[category] == len(expected(many, msgspec.structs.replace(query, category=category)))
        figures = store.overview(query)
        assert figures.hosts == len(expected(many, query))
        assert sum(figures.grades.values()) == figures.hosts
        assert sum(sum(row.values()) for row in figures.stances.values()) == figures.hosts
        refusing = Counter[str]()
        for edge, number in counted(store.index(query).ranked[:])["refusing"].items():
            refusing[edge.casefold()] += number
        assert figures.refusing == refusing
        for slug, counts in figures.disagree.items():
            for word, verdicts, number in zip(("out", "in"), ("refused,challenged", "disallowed"), counts, strict=True):
                text = f"{query.line} contradiction:{word} agent:{slug}={verdicts}"
                narrow = msgspec.structs.replace(query, line=text, terms=parse(text))
                assert number == len(expected(many, narrow))
        for key in FIXES:
            wanted = msgspec.structs.replace(query, terms=(*query.terms, *Query.of(line="fix:" + key).terms))
            assert figures.failing[key] == len(expected(many, wanted))


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(near_cards(), max_size=10))
def test_rows_carry_summary_and_competition_rank(many: list[ReportCard]) -> None:
    many = unique(many)
    with reports(many) as store:
        view = store.index(Query())
        scores = sorted((card.score for card in many if not card.unreachable), reverse=True)
        by_host = {card.host: card for card in many}
        for row in (*view.ranked[:], *view.unreachable[:]):
            card = by_host[row.summary.host]
            assert row.summary == card.summary()
            assert row.rank == (0 if card.unreachable else scores.index(card.score) + 1)
            assert (row.method, row.edge, row.change, row.scans) == (card.method, card.edge, None, 1)
            assert row.live == tuple(access.status for access in card.agent_access.values())
            assert store.get(card.host).card == card


def test_the_direction_of_a_contradiction_in_a_row_of_an_older_program() -> None:
    """Such a row says that there is one; the verdicts of the live agents say which way."""
    shut = msgspec.structs.replace(RICH_OPEN, host="shut.example", matrix={**RICH_OPEN.matrix, "claude": "blocked"})
    reported = msgspec.structs.replace(
        RICH_OPEN, host="told.example", matrix={**RICH_OPEN.matrix, "claude": "disallowed"}
    )
    with reports([shut, reported]) as store:
        with store.database.writing() as db:
            contradiction = 1 << columns.CONTRADICTION_AT
            db.execute("UPDATE site SET bits = (bits | ?) & ~?", (contradiction, 3 << columns.DIRECTION_AT))
        for word, host in (("out", "shut.example"), ("in", "told.example")):
            view = store.index(Query.of(line=f"contradiction:{word}"))
            assert [row.summary.host for row in view.ranked[:]] == [host]
        assert store.overview(Query()).disagree["claude"] == (1, 1)


@pytest.mark.parametrize(
    ("line", "hosts"),
    [
        ("change:up", ["up.example"]),
        ("change:down", ["down.example"]),
        ("change:same", ["same.example"]),
        ("change:new", ["new.example"]),
        ("-change:up", ["down.example", "new.example", "same.example"]),
        ("change:>=-100", ["down.example", "same.example", "up.example"]),
        ("change:-1..1 example", ["same.example"]),
    ],
)
def test_hosts_are_chosen_by_the_change_since_the_scan_before(line: str, hosts: list[str]) -> None:
    def scan(host: str, score: int, day: int) -> ReportCard:
        stamp = f"2026-11-{day:02}T10:00:00.000Z"
        return msgspec.structs.replace(RICH_OPEN, host=host, score=score, scanned_at=stamp)

    before = [scan("up.example", 40, 1), scan("down.example", 90, 1), scan("same.example", 60, 1)]
    after = [scan("up.example", 60, 2), scan("down.example", 60, 2), scan("same.example", 60, 2)]
    with reports([*before, *after, scan("new.example", 60, 2)]) as store:
        view = store.index(Query.of(line=line, sort="host"))
        assert [row.summary.host for row in view.ranked[:]] == hosts


def test_changes_are_counted_from_the_last_scan_up_to_the_end_of_a_day() -> None:
    def scan(host: str, score: int, day: int) -> ReportCard:
        stamp = f"2026-11-{day:02}T10:00:00.000Z"
        return msgspec.structs.replace(RICH_OPEN, host=host, score=score, scanned_at=stamp)

    many = [scan("up.example", score, day) for score, day in ((20, 1), (30, 5), (50, 9))]
    many += [scan("back.example", score, day) for score, day in ((60, 1), (90, 5), (60, 9))]
    with reports([*many, scan("new.example", 70, 9)]) as store:
        found = store.moves(Query(), "2026-11-04", 8)
        assert (found.risen, found.fallen, found.same, found.unknown) == (1, 0, 1, 1)
        assert found.up == (("up.example", 20, 50),)
        found = store.moves(Query(), "2026-11-05", 8)
        assert (found.up, found.down) == ((("up.example", 30, 50),), (("back.example", 90, 60),))
        assert store.moves(Query.of(line="back"), "2026-11-05", 8).risen == 0
        assert store.moves(Query(), "2026-10-31", 8).unknown == 3
        with pytest.raises(BadValue, match="2026-11-15"):
            store.moves(Query(), "yesterday", 8)


def test_the_assistants_that_were_let_in_or_shut_out_since_are_counted() -> None:
    def scan(host: str, claude: str, day: int) -> ReportCard:
        stamp = f"2026-11-{day:02}T10:00:00.000Z"
        matrix = {**RICH_OPEN.matrix, "claude": claude}
        return msgspec.structs.replace(RICH_OPEN, host=host, matrix=matrix, scanned_at=stamp)

    words = {
        "opened": ("blocked", "partial"),
        "opened2": ("disallowed", "allowed"),
        "shut": ("allowed", "walled"),
        "same": ("blocked", "walled"),
        "unclear": ("untested", "allowed"),
    }
    cards = [scan(f"{name}.example", word, day) for name, pair in words.items() for day, word in enumerate(pair, 1)]
    with reports([*cards, scan("new.example", "blocked", 2)]) as store:
        for since in ("", "2026-11-01"):
            found = store.moves(Query(), since, 8)
            assert found.agents["claude"] == (2, 1)
            assert found.agents["chatgpt"] == (0, 0)
            assert (found.same, found.unknown) == (5, 1)
        assert store.moves(Query.of(line="opened"), "", 8).agents["claude"] == (2, 0)
        shut = store.overview(Query()).shut["claude"]
        assert sum(out for out, _ in shut.values()) == 3
        assert sum(known for _, known in shut.values()) == 6


def test_the_share_that_lets_an_assistant_in_is_counted_at_the_end_of_each_of_twelve_weeks() -> None:
    def scan(host: str, claude: str, weeks_ago: float) -> ReportCard:
        matrix, moment = {**RICH_OPEN.matrix, "claude": claude}, NOW - weeks_ago * 7 * 86400
        return msgspec.structs.replace(RICH_OPEN, host=host, matrix=matrix, scanned_at=stamp(moment))

    kept = {
        "old.example": (("blocked", 30), ("allowed", 5.5)),
        "new.example": (("allowed", 3.5), ("blocked", 1.5), ("partial", 0.5)),
        "unclear.example": (("untested", 8),),
    }
    many = [scan(host, verdict, weeks_ago) for host, scans in kept.items() for verdict, weeks_ago in scans]
    with reports(many) as store:
        found = store.weeks(Query())
        assert found["claude"] == (0, 0, 0, 0, 0, 0, 100, 100, 100, 100, 50, 100)
        assert store.weeks(Query.of(line="new"))["claude"] == (-1,) * 8 + (100, 100, 0, 100)
        assert store.weeks(Query.of(line="unclear"))["claude"] == (-1,) * 12
