"""The lists of the store equal the plain predicate and the plain order, for any cards and any query."""

from __future__ import annotations

import operator
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from aui_tui.checks.scoring import grade_card
from aui_tui.cli.complete import terms
from aui_tui.errors import BadValue
from aui_tui.index import store as module
from aui_tui.index.lists import FILLED
from aui_tui.index.store import Store
from aui_tui.model.agents import UNCLEAR, contradictions, outcome_of_each, outcomes, turned_away
from aui_tui.model.card import ReportCard, epoch_ms, stamp
from aui_tui.model.codec import names_of
from aui_tui.model.listing import Row
from aui_tui.model.observations import REFUSED
from aui_tui.model.overview import Move
from aui_tui.model.query import CONTRADICTIONS, HAS, SORTS, VERDICT_WORDS, Field, Query, Term, fields
from aui_tui.model.vocabulary import (
    CATEGORIES,
    CRAWLER_POLICIES,
    FIXES,
    GRADES,
    STANCES,
    VERDICTS,
)
from aui_tui.tui.columns import CHOICES, RANKED, cell
from aui_tui.tui.widgets.querybar import choices
from tests.benchmarks.samples import scans
from tests.cards import RICH_OPEN, cards
from tests.matching import counted, ordered
from tests.scan import situations

NOW = epoch_ms("2026-11-20T12:00:00.000Z") / 1000


@contextmanager
def reports(many: Sequence[ReportCard]) -> Iterator[Store]:
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "index.db")
        try:
            store.put_many((card, None) for card in many)
            yield store
        finally:
            store.close()


def scanned(host: str, day: int, **fields: Any) -> ReportCard:
    """Return a card of a scan on a day of November."""
    return replace(RICH_OPEN, host=host, scanned_at=f"2026-11-{day:02}T10:00:00.000Z", **fields)


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
    return replace(draw(cards()), **changes)


Holds = Callable[[ReportCard], bool]
Asked = tuple[str, Holds]
"""A query line, and which cards it chooses, in plain Python."""
COMPARE = {"": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq}
AGES = {"30m": 1800, "4h": 14_400, "7d": 604_800, "1w": 604_800, "0m": 0}


def reached(holds: Holds) -> Holds:
    """An unreachable host has no stance, score, grade or verdict."""
    return lambda card: not card.unreachable and holds(card)


def of_stance(word: str) -> Asked:
    return "stance:" + word, reached(lambda card: card.stance == word)


def of_verdict(slug: str, verdict: str) -> Asked:
    return f"agent:{slug}={verdict}", reached(lambda card: card.matrix[slug] == verdict)


def fate(card: ReportCard, slug: str) -> str:
    return [*outcome_of_each(card)][names_of("matrix").index(slug)].verdict


def of_fate(slugs: Sequence[str], word: str) -> Asked:
    wanted = VERDICT_WORDS[word]
    return f"agent:{','.join(slugs)}={word}", reached(lambda card: any(fate(card, slug) in wanted for slug in slugs))


def of_score(sign: str, number: int) -> Asked:
    return f"score:{sign}{number}", reached(lambda card: COMPARE[sign](card.score, number))


def of_scores(one: int, other: int) -> Asked:
    low, high = sorted((one, other))
    return f"score:{low}..{high}", reached(lambda card: low <= card.score <= high)


def of_grades(grades: Sequence[str]) -> Asked:
    return f"grade:{','.join(grades)}", reached(lambda card: card.grade in grades)


def of_fresh(sign: str, age: str) -> Asked:
    compare = COMPARE[sign or "<="]
    return f"fresh:{sign}{age}", lambda card: compare(max(NOW - epoch_ms(card.scanned_at) / 1000, 0), AGES[age])


def of_contradiction(words: Sequence[str]) -> Asked:
    text = f"contradiction:{','.join(words)}" if words else "contradiction"
    return text, reached(lambda card: bool(contradictions(card) & frozenset(words or ("out", "in"))))


def of_crawler(token: str, policy: str) -> Asked:
    return f"crawler:{token.lower()}={policy}", lambda card: card.crawler_policy[token] == policy


def of_text(text: str) -> Asked:
    folded = text.casefold()
    return text, lambda card: folded in card.host or folded in card.name.casefold()


def of_column(field: str, word: str) -> Asked:
    held: dict[str, Holds] = {
        "category": lambda card: card.category == word,
        "edge": lambda card: word in card.edge.casefold(),
        "host": lambda card: word in card.host,
        "method": lambda card: card.method == word,
        "fix": lambda card: word in {fix.k for fix in card.recommendations},
        "signal": lambda card: card.content_signal == (word == "yes"),
        "has": lambda card: {
            "llms": "llms.txt" in card.files,
            "ai-plugin": "ai-plugin.json" in card.files,
            "jsonld": card.jsonld > 0,
            "main": card.semantic.main > 0,
            "nav": card.semantic.nav > 0,
            "forms": card.semantic.forms > 0,
            "signal": card.content_signal,
            "wildcard": card.wildcard_block,
            "shell": card.noscript_shell,
        }[word],
        "change": lambda card: word == "new",
    }
    return f'{field}:"{word}"', held[field]


def words() -> st.SearchStrategy[Asked]:
    slugs = st.sampled_from(names_of("matrix"))
    compare = st.sampled_from(tuple(COMPARE))
    number = st.integers(0, 100)
    plain = st.one_of(
        st.sampled_from(STANCES).map(of_stance),
        st.builds(of_column, st.just("category"), st.sampled_from(CATEGORIES)),
        st.builds(of_verdict, slugs, st.sampled_from(VERDICTS)),
        st.builds(of_fate, st.lists(slugs, min_size=1, max_size=2), st.sampled_from(tuple(VERDICT_WORDS))),
        st.builds(of_column, st.just("edge"), st.sampled_from(("akamai", "flare", "nginx", "a", "zz"))),
        st.builds(of_score, compare, number),
        st.builds(of_scores, number, number),
        st.lists(st.sampled_from(GRADES), min_size=1, max_size=3).map(of_grades),
        st.builds(of_column, st.just("has"), st.sampled_from(HAS)),
        st.builds(of_column, st.just("signal"), st.sampled_from(("yes", "no"))),
        st.builds(of_column, st.just("method"), st.sampled_from(("v0.1", "v0.2"))),
        st.builds(of_column, st.just("fix"), st.sampled_from(FIXES)),
        st.builds(of_column, st.just("host"), st.sampled_from(("a", "0", "example", "https"))),
        st.builds(of_column, st.just("change"), st.sampled_from(("up", "down", "same", "new", "<0", ">=-3", "-5..5"))),
        st.builds(of_fresh, compare, st.sampled_from(tuple(AGES))),
        st.lists(st.sampled_from(CONTRADICTIONS), max_size=2).map(of_contradiction),
        st.builds(of_crawler, st.sampled_from(names_of("crawler_policy")[:5]), st.sampled_from(CRAWLER_POLICIES)),
        st.sampled_from(("shop", "a", "0", "example", "STRASSE", "ça", "50%_", "%", "_", "日本", "本語の", "xyz")).map(
            of_text
        ),
    )
    return st.builds(
        lambda sign, asked: (sign + asked[0], (lambda card: not asked[1](card)) if sign in ("-", "NOT ") else asked[1]),
        st.sampled_from(("", "", "-", "NOT ", "not -")),
        plain,
    )


@st.composite
def lines(draw: st.DrawFn, depth: int = 1) -> Asked:
    """A query line of up to three terms, joined by a space or an operator, some of them in parentheses."""
    part = words() if not depth else words() | lines(depth - 1).map(lambda inner: (f"({inner[0]})", inner[1]))
    found = draw(st.lists(part, min_size=1, max_size=3))
    text, groups = found[0][0], [[found[0][1]]]
    for word, holds in found[1:]:
        joint = draw(st.sampled_from((" ", " OR ", " and ")))
        text += joint + word
        if joint == " OR ":
            groups[-1].append(holds)
        else:
            groups.append([holds])
    return text, lambda card: all(any(one(card) for one in group) for group in groups)


@st.composite
def queries(draw: st.DrawFn) -> tuple[Query, Holds]:
    slugs = tuple("matrix." + slug for slug in names_of("matrix"))
    line, holds = draw(lines() | st.just(("", lambda card: True)))
    query = Query.of(
        category=draw(st.sampled_from(("", "", *CATEGORIES))),
        stance=draw(st.sampled_from(("", "", *STANCES))),
        line=line,
        sort=draw(st.sampled_from((*SORTS, *slugs))),
        descending=draw(st.booleans()),
    )
    return query, holds


def expected(many: Sequence[ReportCard], asked: tuple[Query, Holds], *, unreachable: bool = False) -> list[str]:
    query, holds = asked
    chosen = [
        Row(summary=card.summary())
        for card in many
        if card.unreachable == unreachable
        and query.category in ("", card.category)
        and (not query.stance or (not unreachable and card.stance == query.stance))
        and holds(card)
    ]
    return [row.summary.host for row in ordered(chosen, query)]


@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(near_cards(), max_size=7), st.lists(queries(), min_size=1, max_size=8))
def test_lists_equal_predicate_and_order(many: list[ReportCard], asked: list[tuple[Query, Holds]]) -> None:
    many = unique(many)
    with reports(many) as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "LONG", 0)
        for one in asked:
            query = one[0]
            ranked, gone = expected(many, one), expected(many, one, unreachable=True)
            first = store.first_page(query)
            if first is not None:
                assert [row.summary.host for row in first.ranked[:]] == ranked
            view = store.index(query)
            assert [row.summary.host for row in view.ranked[:]] == ranked
            assert len(view.ranked) == len(ranked)
            assert [row.summary.host for row in view.unreachable[0:100]] == gone
            assert [store.position(host, query) for host in ranked] == list(range(len(ranked)))
            assert [store.position(host, query) for host in gone] == list(range(len(gone)))
            for start in range(len(ranked)):
                assert [row.summary.host for row in view.ranked[start : start + 2]] == ranked[start : start + 2]


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(near_cards(), max_size=8), queries())
def test_facets_say_what_each_choice_would_give(many: list[ReportCard], asked: tuple[Query, Holds]) -> None:
    many = unique(many)
    query, holds = asked
    with reports(many) as store:
        facets = store.index(query).facets
        for stance in STANCES:
            assert facets.stance[stance] == len(expected(many, (replace(query, stance=stance), holds)))
        for category in CATEGORIES:
            narrowed = replace(query, category=category)
            assert facets.category[category] == len(expected(many, (narrowed, holds)))
        figures = store.overview(query)
        hosts = set(expected(many, asked))
        chosen = [card for card in many if card.host in hosts]
        assert figures.hosts == len(chosen)
        assert sum(figures.grades.values()) == figures.hosts
        assert sum(sum(row.values()) for row in figures.stances.values()) == figures.hosts
        refusing = Counter[str]()
        for edge, number in counted(store.index(query).ranked[:])["refusing"].items():
            refusing[edge.casefold()] += number
        assert figures.refusing == refusing
        for slug, counts in figures.disagree.items():
            fates = (("refused", "challenged"), ("told no",))
            for word, wanted, number in zip(CONTRADICTIONS, fates, counts, strict=True):
                assert number == sum(word in contradictions(card) and fate(card, slug) in wanted for card in chosen)
        for key in FIXES:
            assert figures.failing[key] == sum(key in {fix.k for fix in card.recommendations} for card in chosen)


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(near_cards(), max_size=8), st.lists(queries(), min_size=1, max_size=4), st.booleans())
def test_unused_columns_are_those_that_are_empty_in_every_row(
    many: list[ReportCard], asked: list[tuple[Query, Holds]], twice: bool
) -> None:
    many = unique(many)
    before = [replace(card, scanned_at="2026-11-01T10:00:00.000Z", score=max(card.score - 1, 0)) for card in many[::2]]
    with reports([*(before if twice else ()), *many]) as store, pytest.MonkeyPatch.context() as patch:
        for query, _ in (*asked, (Query(), None)):
            view = store.index(query)
            rows = view.ranked[:]
            empty = {one.key for one in (*RANKED, *CHOICES[:2]) if not any(cell(one, row, NOW).text for row in rows)}
            assert view.unused == (empty if rows else set(FILLED))
            patch.setattr(module, "RARE", 0)
            assert store.index(query).unused <= view.unused
            patch.undo()


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


@pytest.mark.parametrize("kept", [True, False])
def test_an_agent_without_an_answer_is_refused_in_lists_filters_and_figures_as_on_its_card(
    tmp_path: Path, *, kept: bool
) -> None:
    store, seen = Store(tmp_path / "index.db"), situations.dropped()
    card = grade_card(seen)
    store.put_many([(card, seen if kept else None)])
    said = {key: one.verdict for one in outcomes(card, seen) for key in one.keys}
    assert (said["claude"], card.matrix["claude"]) == (REFUSED, "untested")
    (row,) = store.index(Query()).ranked[:]
    assert row.summary == card.summary()
    assert turned_away(row.verdicts)[0] == REFUSED
    assert store.weeks(Query())["claude"][-1] == 0
    counted = store.overview(Query()).verdicts
    assert [*counted["claude"]] == [REFUSED]
    for term, found in ((REFUSED, 1), ("out", 1), ("untested", 1), (UNCLEAR, 0), ("blocked", 0)):
        assert len(store.index(Query.of(line=f"agent:claude={term}")).ranked) == found, term
    store.close()


def test_a_new_field_is_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parser, SQL, page of help, drop-down and completion take it from there."""
    field = Field(
        "kind of title",
        (("short:yes", "whether the name has under six letters"),),
        lambda value: Term(f"(length(name) < 6) = {int(value == 'yes')}"),
        (("yes", ""), ("no", "")),
    )
    more = {**fields(), "short": field}
    monkeypatch.setattr("aui_tui.model.query.fields", lambda: more)
    monkeypatch.setattr("aui_tui.tui.widgets.querybar.fields", lambda: more)
    with reports([replace(RICH_OPEN, host=f"{name}.example", name=name) for name in ("Shop", "Long name")]) as store:
        view = store.index(Query.of(line="short:yes"))
        assert [row.summary.host for row in view.ranked[:]] == ["Shop.example"]
    assert [choice.line for choice in choices("short:")] == ["short:yes", "short:no"]
    assert terms("sho") == ["short:", "short:yes"]
    with pytest.raises(BadValue, match="short"):
        Query.of(line="zort:yes")


def test_servers_crawlers_and_hosts_are_asked_for(tmp_path: Path) -> None:
    store = Store(tmp_path / "index.db")
    store.put_many(scans(40))
    found = {row.summary.host for row in store.index(Query.of(line="crawler:gptbot=blocked")).ranked[:]}
    wanted = {row.summary.host for row in store.index(Query()).ranked[:]}
    wanted = {host for host in wanted if store.get(host).card.crawler_policy["GPTBot"] == "blocked"}
    assert found == wanted != set()
    assert store.index(Query.of(line="crawler:gptbot -crawler:gptbot=blocked,partial")).ranked[:] == []
    assert len(store.index(Query.of(line="server:cloudflare")).ranked) == len(store.index(Query()).ranked)
    assert len(store.index(Query.of(line="server:nginx")).ranked) == 0
    host = min(wanted)
    assert [row.summary.host for row in store.index(Query.of(line=f"host:{host}")).ranked[:]] == [host]
    store.close()


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
    before = [scanned(f"{name}.example", 1, score=score) for name, score in (("up", 40), ("down", 90), ("same", 60))]
    after = [scanned(f"{name}.example", 2, score=60) for name in ("up", "down", "same", "new")]
    with reports([*before, *after]) as store:
        view = store.index(Query.of(line=line, sort="host"))
        assert [row.summary.host for row in view.ranked[:]] == hosts


def test_changes_are_counted_from_the_last_scan_up_to_the_end_of_a_day() -> None:
    many = [scanned("up.example", day, score=score) for score, day in ((20, 1), (30, 5), (50, 9))]
    many += [scanned("back.example", day, score=score) for score, day in ((60, 1), (90, 5), (60, 9))]
    with reports([*many, scanned("new.example", 9, score=70)]) as store:
        found = store.moves(Query(), "2026-11-04", 8)
        assert (found.risen, found.fallen, found.same, found.unknown) == (1, 0, 1, 1)
        assert found.up == (Move("up.example", 20, 50),)
        found = store.moves(Query(), "2026-11-05", 8)
        assert (found.up, found.down) == ((Move("up.example", 30, 50),), (Move("back.example", 90, 60),))
        assert store.moves(Query.of(line="back"), "2026-11-05", 8).risen == 0
        assert store.moves(Query(), "2026-10-31", 8).unknown == 3
        with pytest.raises(BadValue, match="2026-11-15"):
            store.moves(Query(), "yesterday", 8)


def test_the_assistants_that_were_let_in_or_shut_out_since_are_counted() -> None:
    def scan(host: str, claude: str, day: int) -> ReportCard:
        return scanned(host, day, matrix={**RICH_OPEN.matrix, "claude": claude})

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
        return replace(RICH_OPEN, host=host, matrix=matrix, scanned_at=stamp(moment))

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
