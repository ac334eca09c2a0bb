"""JSON and NDJSON follow the contract and the choice of fields."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from aui_tui.checks.scoring import grade_card
from aui_tui.errors import BadValue
from aui_tui.model.card import Index, ReportCard
from aui_tui.model.codec import Keys, decode_card, slots_of, summary_from
from aui_tui.model.listing import PAGE, Row, rows
from aui_tui.report.export import write_cards, write_listing
from aui_tui.report.formats import Listing
from tests.cards import DEAD, INDEX, RICH_OPEN, SAMPLES, WALLED, cards, decode_index, indexes, listing_of, published
from tests.scan import situations as site


def card_json(name: str = "json", card: ReportCard = RICH_OPEN, **options: Any) -> Any:
    return json.loads("".join(write_cards(name, [card], **options)))


def listing(index: Index = INDEX) -> Listing:
    return listing_of(index)


@settings(max_examples=15)
@given(cards())
def test_a_card_is_read_back(card: ReportCard) -> None:
    assert decode_card("".join(write_cards("json", [card])).encode()) == published(card)
    again = decode_card("".join(write_cards("ndjson", [card])).encode())
    assert again == published(card) or (card.unreachable and again.unreachable and again.evidence == card.evidence)


@pytest.mark.ci
@settings(max_examples=8)
@given(indexes())
def test_an_index_is_read_back(index: Index) -> None:
    assert decode_index("".join(write_listing("json", listing(index))).encode()) == index
    lines = "".join(write_listing("ndjson", listing(index))).splitlines()
    again = [summary_from(json.loads(line)) for line in lines]
    assert again[: len(index.ranked)] == list(index.ranked)
    assert [row.host for row in again[len(index.ranked) :]] == [row.host for row in index.unreachable]


def test_one_card_is_an_object_and_several_are_an_array() -> None:
    assert isinstance(card_json(), dict)
    assert isinstance(card_json(many=True), list)
    assert [card["host"] for card in json.loads("".join(write_cards("json", SAMPLES)))] == [c.host for c in SAMPLES]
    assert json.loads("".join(write_cards("json", []))) == []


def test_keys_can_be_the_slots_of_the_specification() -> None:
    assert list(card_json(keys="slots")["agent_access"]) == list(slots_of("agent_access"))
    row = json.loads("".join(write_listing("json", listing(), keys="slots")))["ranked"][0]
    assert list(row["matrix"]) == list(slots_of("matrix"))


def test_chosen_evidence_has_the_id_the_fix_and_the_facts_of_each_finding() -> None:
    graded = grade_card(site.site(robots=site.rules({"Claude-User": ("blocked", 3, "Disallow: /")})))
    lines = card_json(card=graded, fields="evidence.id,evidence.fix,evidence.facts")["evidence"]
    blocked = next(line for line in lines if line["id"] == "robots-blocked")
    assert (blocked["fix"], blocked["facts"]["agents"]) == ("robots", "Claude (line 3, as “claude-user”)")
    assert len(lines) == len(graded.evidence)
    assert list(card_json(card=graded)["evidence"][0]) == ["t", "text"]


def test_chosen_fields_come_in_the_order_they_were_chosen() -> None:
    chosen = card_json(
        fields="stance, host,matrix.Claude,matrix.chatgpt,evidence.t,semantic,agent_access.chatgpt-user.status"
    )
    assert list(chosen) == ["stance", "host", "matrix", "evidence", "semantic", "agent_access"]
    assert chosen["matrix"] == {"claude": "allowed", "chatgpt": "allowed"}
    assert chosen["evidence"] == [{"t": item.t} for item in RICH_OPEN.evidence]
    assert chosen["semantic"] == {"main": 1, "nav": 2, "aria": 40, "forms": 2}
    assert chosen["agent_access"] == {"ChatGPT-User": {"status": 200}}


def test_a_field_that_the_record_does_not_have_is_null() -> None:
    assert card_json(fields="pillars.works,detail.door,detail") == {"pillars": {"works": None}, "detail": None}


def test_fields_of_a_foreign_map_are_chosen_by_position() -> None:
    foreign = replace(RICH_OPEN, matrix=dict(zip("abcdefgh", WALLED.matrix.values(), strict=True)))
    assert card_json(card=foreign, fields="matrix.claude") == {"matrix": {"claude": "walled"}}
    assert card_json(fields="matrix.claude", keys="slots") == {"matrix": {"claude": "allowed"}}


def test_rows_know_their_list_and_rank_when_asked() -> None:
    lines = "".join(write_listing("ndjson", listing(), fields="host,list,rank")).splitlines()
    assert [json.loads(line) for line in lines] == [
        {"host": "shop.example", "list": "ranked", "rank": 1},
        {"host": "tickets.example", "list": "ranked", "rank": 2},
        {"host": "gone.example", "list": "unreachable", "rank": None},
    ]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ("scor", "Unknown field 'scor'; did you mean score?"),
        ("host,matrix.clade", "Unknown field 'matrix.clade'; did you mean matrix.claude?"),
        ("zzz", "Unknown field 'zzz'; allowed are: found, method, host"),
        ("host.x", "Unknown field 'host.x': host has no parts."),
        ("matrix.", "Unknown field 'matrix.'"),
        (",", "The list of fields is empty"),
        ("lists", "Unknown field 'lists'; did you mean list?"),
    ],
)
def test_an_unknown_field_is_named_with_the_nearest(fields: str, words: str) -> None:
    with pytest.raises(BadValue) as caught:
        write_cards("json", [RICH_OPEN], fields=fields)
    assert str(caught.value).startswith(words)


def test_an_unknown_format_is_named() -> None:
    with pytest.raises(BadValue, match="Unknown format 'yaml'; allowed are: json, ndjson, csv"):
        write_cards("yaml", [])
    with pytest.raises(BadValue, match="Unknown format 'sarif'; allowed are: json, ndjson, csv, markdown, html"):
        write_listing("sarif", listing())


def test_rows_are_read_as_they_are_written() -> None:
    read = 0

    def rows() -> Iterator[Row]:
        nonlocal read
        for number in range(10_000):
            read += 1
            yield Row(summary=replace(RICH_OPEN.summary(), host=f"h{number}.example"))

    source = Listing(scanned_at=INDEX.scanned_at, ranked=rows(), unreachable=())
    for name in ("json", "ndjson", "csv"):
        chunks = write_listing(name, source)
        for _ in range(6):
            next(chunks)
    assert read < 30


def test_windows_are_read_page_by_page() -> None:
    asked: list[tuple[int, int]] = []

    class Counting:
        def __len__(self) -> int:
            return PAGE + 2

        def __getitem__(self, span: slice, /) -> list[Row]:
            asked.append((span.start, span.stop))
            return [Row(summary=RICH_OPEN.summary())] * len(range(*span.indices(len(self))))

        def find(self, host: str) -> int:
            raise NotImplementedError

    assert len(list(rows(Counting()))) == PAGE + 2
    assert asked == [(0, PAGE), (PAGE, PAGE + 2)]
    assert len(list(rows(Counting(), 3))) == 3
    assert asked[2:] == [(0, 3)]


def keys_of(value: Any) -> Iterator[list[str]]:
    """Yield the keys of every object in ``value``."""
    if isinstance(value, dict):
        yield list(value)
        for item in value.values():
            yield from keys_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from keys_of(item)


@pytest.mark.parametrize("keys", ["names", "slots"])
def test_no_two_keys_of_a_line_differ_in_case_alone_and_the_line_is_still_the_card(keys: Keys) -> None:
    """As DuckDB and pandas need it; the second casing of a name is written by its slot."""
    for card in (RICH_OPEN, WALLED, DEAD):
        line = "".join(write_cards("ndjson", [card], keys=keys))
        for found in keys_of(json.loads(line)):
            assert len({key.casefold() for key in found}) == len(found)
        assert decode_card(line.encode()) == published(card)
    named = set(json.loads("".join(write_cards("ndjson", [WALLED])))["ua_policy"])
    assert named & {"meta-externalfetcher", "agent_13", "Meta-ExternalFetcher"} == {"meta-externalfetcher", "agent_13"}


def test_an_unreachable_host_is_distinguished_from_a_bad_one_in_every_export() -> None:
    cards = [WALLED, DEAD]
    lines = [json.loads(line) for line in "".join(write_cards("ndjson", cards)).splitlines()]
    assert [line["list"] for line in lines] == ["ranked", "unreachable"]
    rows = list(csv.DictReader(io.StringIO("".join(write_cards("csv", cards)))))
    assert [row["list"] for row in rows] == ["ranked", "unreachable"]
    chosen = json.loads("".join(write_cards("json", cards, fields="host,list")))
    assert [card["list"] for card in chosen] == ["ranked", "unreachable"]
    assert "list" not in json.loads("".join(write_cards("json", [WALLED])))
    for name in ("markdown", "html", "junit", "sarif"):
        ranked, dead = ("".join(write_cards(name, [card])).casefold() for card in cards)
        assert any(word in dead and word not in ranked for word in ("unreachable", '"executionsuccessful": false'))
    for name in ("ndjson", "csv"):
        text = "".join(write_listing(name, listing()))
        assert ("unreachable" in text, "ranked" in text) == (True, True)
