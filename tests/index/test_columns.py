"""Lists, their filters and orders, and the figures above them: what each query of the fields finds."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

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
from aui_tui.model.agents import outcomes
from aui_tui.model.card import ReportCard
from aui_tui.model.fates import UNCLEAR, turned_away
from aui_tui.model.listing import Row
from aui_tui.model.overview import Move, Moves
from aui_tui.model.query import Query
from aui_tui.model.query_line import Field, fields
from aui_tui.model.terms import Term
from aui_tui.model.times import epoch_ms, stamp
from aui_tui.model.vocabulary import (
    CATEGORIES,
    FIXES,
    GRADES,
    NO_GRADE,
    REFUSED,
    STANCES,
)
from aui_tui.report.overview import overview
from aui_tui.tui.columns import CHOICES, RANKED, cell
from aui_tui.tui.typed import choices
from tests.benchmarks.samples import scans
from tests.cards import RICH_OPEN, cards
from tests.index.list_sites import CARDS
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


LINES: Final = (
    ("", "a b f h g c k l e d", "i j"),
    ("stance:open", "a b h", ""),
    ("stance:selective", "f g l", ""),
    ("stance:walled", "c k e d", ""),
    ('category:"Retail"', "a g c k e", "j"),
    ("category:trav", "b f", "i"),
    ("agent:claude=walled", "c d", ""),
    ("agent:claude=allowed", "a b h", ""),
    ("agent:claude=in", "a b h", ""),
    ("agent:claude=out", "f g c k l e d", ""),
    ("agent:claude=told-no", "f g e", ""),
    ("agent:claude=refused", "k l", ""),
    ("agent:claude=challenged", "c d", ""),
    ("agent:claude,perplexity=in", "a b f h", ""),
    ("score:<42", "e d", ""),
    ("score:<=42", "c k l e d", ""),
    ("score:>42", "a b f h g", ""),
    ("score:>=42", "a b f h g c k l", ""),
    ("score:=42", "c k l", ""),
    ("score:42", "c k l", ""),
    ("score:40..80", "f h g c k l", ""),
    ("grade:A", "a", ""),
    ("grade:B,F", "b c k l e d", ""),
    ('has:"llms"', "a", ""),
    ('has:"jsonld"', "a c k l", ""),
    ('has:"main"', "a c k l", ""),
    ('has:"nav"', "a b f g c k l e", ""),
    ('has:"forms"', "a b f g c k l e", ""),
    ('has:"signal"', "a", ""),
    ('has:"wildcard"', "e", ""),
    ('has:"shell"', "h", ""),
    ('signal:"yes"', "a", ""),
    ('signal:"no"', "b f h g c k l e d", ""),
    ('method:"v0.1"', "e", ""),
    ('method:"v0.2"', "a b f h g c k l d", "i j"),
    ('fix:"wba"', "g c k l d", ""),
    ('fix:"llms"', "b f h g c k l e d", ""),
    ('fix:"signal"', "b f h g c k l e d", ""),
    ('host:"b."', "b", ""),
    ('edge:"nginx"', "b c l e", ""),
    ('edge:"flare"', "c d", ""),
    ("fresh:4h", "a b h g c k l e", "i"),
    ("fresh:<4h", "h c", ""),
    ("fresh:>7d", "f", ""),
    ("fresh:>=7d", "f d", "j"),
    ("fresh:<=1w", "a b h g c k l e d", "i j"),
    ("fresh:30m", "h c", ""),
    ("fresh:>0m", "a b f g c k l e d", "i j"),
    ("contradiction", "f g c k l e d", ""),
    ("contradiction:out", "g c k l d", ""),
    ("contradiction:in", "f g e", ""),
    ("crawler:gptbot=blocked", "f", ""),
    ("crawler:gptbot=unlisted", "a b h g c k l e d", ""),
    ("shop", "a g c l", "i"),
    ("STRASSE", "b", ""),
    ("ça", "c", ""),
    ("50%_", "e", ""),
    ("%", "e", ""),
    ("_", "e", ""),
    ("日本", "f", ""),
    ("xyz", "", ""),
    ("-stance:walled", "a b f h g l", "i j"),
    ("NOT shop", "b f h k e d", "j"),
    ("not -shop", "a g c l", "i"),
    ("shop score:>50", "a g", ""),
    ("stance:open OR score:<40", "a b h e d", ""),
    ("shop stance:open or stance:walled", "a c", ""),
    ("shop and stance:walled", "c", ""),
    ("-(stance:open or stance:walled)", "f g l", "i j"),
    ("(shop stance:walled) OR (method:v0.2 -has:jsonld)", "b f h g c d", "i j"),
)
"""A query line, the hosts of CARDS that it chooses, best first, and those of them that cannot be reached."""
ORDERS: Final = (
    ("rank", "a b f h g c k l e d"),
    ("score", "a b f h g c k l e d"),
    ("change", "a b f h g c k l e d"),
    ("grade", "a b f h g c k l e d"),
    ("stance", "a b h f g l c k e d"),
    ("host", "a b c d e f g h k l"),
    ("name", "e a d h k l g b c f"),
    ("category", "a g c k e h l d b f"),
    ("age", "c a b g k l e d f h"),
    ("matrix.claude", "a b h f g e k l c d"),
)
"""What a list is sorted by, and the hosts in that order; turned round, it is the reverse."""


@pytest.fixture(scope="module")
def small() -> Iterator[Store]:
    """An index of CARDS."""
    with reports(CARDS) as store:
        yield store


def names(rows: Sequence[Row]) -> str:
    return " ".join(row.summary.host.partition(".")[0] for row in rows)


@pytest.mark.parametrize(("line", "ranked", "unreachable"), LINES)
def test_a_query_chooses_hosts(
    small: Store, monkeypatch: pytest.MonkeyPatch, line: str, ranked: str, unreachable: str
) -> None:
    query = Query.of(line=line)
    view = small.index(query)
    assert (names(view.ranked[:]), names(view.unreachable[:])) == (ranked, unreachable)
    hosts = [row.summary.host for row in view.ranked[:]]
    assert len(view.ranked) == len(hosts)
    assert [view.ranked.find(host) for host in hosts] == list(range(len(hosts)))
    for start in range(len(hosts)):
        assert names(view.ranked[start : start + 2]) == names(view.ranked[:][start : start + 2])
    monkeypatch.setattr(module, "LONG", 0)
    first = small.first_page(query)
    assert names(first.ranked[:]) == ranked


@pytest.mark.parametrize(("sort", "hosts"), ORDERS)
def test_a_list_is_sorted(small: Store, sort: str, hosts: str) -> None:
    assert names(small.index(Query.of(sort=sort)).ranked[:]) == hosts
    turned = small.index(Query.of(sort=sort, descending=True))
    assert names(turned.ranked[:]) == " ".join(reversed(hosts.split()))
    assert turned.ranked.find(turned.ranked[:1][0].summary.host) == 0


@pytest.mark.parametrize(
    ("filters", "hosts"),
    [
        ({"stance": "Walled"}, "c k e d"),
        ({"category": "Travel"}, "b f"),
        ({"category": "Retail", "stance": "Walled", "line": "-shop", "sort": "host"}, "e k"),
    ],
    ids=str,
)
def test_filters_and_a_line_hold_together(small: Store, filters: dict[str, Any], hosts: str) -> None:
    assert names(small.index(Query.of(**filters)).ranked[:]) == hosts


LINE = st.sampled_from([line for line, _, _ in LINES])


@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(near_cards(), max_size=8), LINE)
def test_a_figure_counts_the_hosts_that_it_opens(many: list[ReportCard], line: str) -> None:
    query = Query.of(line=line)
    with reports(unique(many)) as store:

        def opened(terms: str) -> int:
            return len(store.index(query.narrowed(terms)).ranked)

        facets, figures = store.index(query).facets, store.overview(query)
        assert facets.stance == {stance: opened(f"stance:{stance}") for stance in STANCES}
        assert facets.category == {name: opened(f'category:"{name}"') for name in CATEGORIES}
        assert figures.hosts == len(store.index(query).ranked)
        assert figures.grades == {grade: opened(f"grade:{grade}") for grade in GRADES}
        assert sum(sum(row.values()) for row in figures.stances.values()) == figures.hosts
        for edge, number in figures.refusing.items():
            assert not edge or number == opened(f'edge:="{edge}" agent:any=refused,challenged')
        for slug, counts in figures.disagree.items():
            turned, told = (f"agent:{slug}=refused,challenged", f"agent:{slug}=told-no")
            assert counts == (opened(f"contradiction:out {turned}"), opened(f"contradiction:in {told}"))
        assert figures.failing == {key: opened(f"fix:{key}") for key in FIXES}


@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(near_cards(), max_size=8), LINE, st.booleans())
def test_unused_columns_are_those_that_are_empty_in_every_row(many: list[ReportCard], line: str, twice: bool) -> None:
    many = unique(many)
    before = [replace(card, scanned_at="2026-11-01T10:00:00.000Z", score=max(card.score - 1, 0)) for card in many[::2]]
    with reports([*(before if twice else ()), *many]) as store, pytest.MonkeyPatch.context() as patch:
        for query in (Query.of(line=line), Query()):
            view = store.index(query)
            rows = view.ranked[:]
            empty = {one.key for one in (*RANKED, *CHOICES[:2]) if not any(cell(one, row, NOW).text for row in rows)}
            assert view.unused == (empty if rows else set(FILLED))
            patch.setattr(module, "RARE", 0)
            assert store.index(query).unused <= view.unused
            patch.undo()


@settings(max_examples=12)
@given(st.lists(near_cards(), max_size=10))
def test_rows_carry_summary_and_competition_rank(many: list[ReportCard]) -> None:
    many = unique(many)
    with reports(many) as store:
        view = store.index(Query())
        unranked = {card.host for card in many if card.unreachable or card.grade == NO_GRADE}
        scores = sorted((card.score for card in many if card.host not in unranked), reverse=True)
        by_host = {card.host: card for card in many}
        for row in (*view.ranked[:], *view.unreachable[:]):
            card = by_host[row.summary.host]
            assert row.summary == card.summary()
            assert row.rank == (0 if card.host in unranked else scores.index(card.score) + 1)
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
    for reader in ("aui_tui.model.query_line", "aui_tui.tui.typed"):
        monkeypatch.setattr(f"{reader}.fields", lambda: more)
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


@pytest.mark.parametrize(
    ("line", "descending", "hosts"),
    [
        ("", False, "twin up low same down other new"),
        ("", True, "down same low up twin new other"),
        ("score:<60", False, "low down"),
        ("-host:other -host:twin", True, "down same low up new"),
    ],
)
def test_hosts_are_sorted_by_the_change_since_the_scan_before(line: str, descending: bool, hosts: str) -> None:
    """The greatest gain first, of like ones the better score; those without a scan before come last either way."""
    scores = {"up": (40, 60), "twin": (41, 61), "low": (20, 40), "same": (60, 60), "down": (90, 50)}
    many = [
        scanned(f"{name}.example", day, score=score)
        for name, pair in scores.items()
        for day, score in enumerate(pair, 1)
    ]
    many += [scanned("new.example", 2, score=65), scanned("other.example", 2, score=80)]
    with reports(many) as store:
        query = Query.of(line=line, sort="change", descending=descending)
        view = store.index(query)
        assert names(view.ranked[:]) == hosts
        found = [row.summary.host for row in view.ranked[:]]
        assert [view.ranked.find(host) for host in found] == list(range(len(found)))


@pytest.mark.parametrize(
    ("twice", "words"),
    [
        ("", "None has a scan to compare with."),
        ("up down", "1 rose and 1 fell since the scan before, of 2 with one."),
        ("up down same", "1 rose and 1 fell since the scan before."),
    ],
)
def test_a_host_that_was_scanned_once_is_not_said_to_have_stayed(twice: str, words: str) -> None:
    scores = {"up": (40, 60), "down": (60, 40), "same": (50, 50)}
    many = [scanned(f"{name}.example", 2, score=pair[1]) for name, pair in scores.items()]
    many += [scanned(f"{name}.example", 1, score=scores[name][0]) for name in twice.split()]
    with reports(many) as store:
        figures = store.overview(Query())
        assert figures.compared == len(twice.split())
        assert next(overview(figures)).text == words


@pytest.mark.parametrize(("known", "words"), [((50,), "–"), ((50, 50), "0"), ((50, 75), "+25"), ((), "–")])
def test_one_week_is_no_trend(known: tuple[int, ...], words: str) -> None:
    with reports([scanned("once.example", 2)]) as store:
        weeks = {"claude": (-1,) * (12 - len(known)) + known}
        parts = {part.name: part for part in overview(store.overview(Query()), Moves(weeks=weeks))}
    item = next(item for item in parts["assistants"].items if item.label == "Claude")
    assert item.cells[parts["assistants"].columns.index("In 12 weeks")] == words


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
