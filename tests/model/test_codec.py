"""Records survive the way to bytes and back; broken ones are refused with the name of the field."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aui_tui.errors import RecordError
from aui_tui.model.card import Index, ReportCard
from aui_tui.model.codec import (
    MAPS,
    Keys,
    decode_card,
    encode_card,
    encode_summary,
    names_of,
    slots_of,
    summary_from,
)
from aui_tui.model.summary import SiteSummary
from aui_tui.text import clean
from tests.cards import (
    RICH_OPEN,
    SAMPLES,
    WALLED,
    cards,
    decode_index,
    encode_index,
    indexes,
    published,
    summaries,
)

BASE: dict[str, Any] = json.loads(encode_card(RICH_OPEN))


def changed(**fields: Any) -> bytes:
    """Return the sample card as JSON with ``fields`` replaced."""
    return json.dumps({**BASE, **fields}).encode()


def refused(data: bytes, decode: Callable[[bytes], Any] = decode_card) -> str:
    """Return the sentence with which ``data`` is refused."""
    with pytest.raises(RecordError) as caught:
        decode(data)
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert len(sentence) < 400
    return sentence


@pytest.mark.ci
@given(cards(), st.sampled_from(("names", "slots")))
def test_a_card_survives(card: ReportCard, keys: Keys) -> None:
    assert decode_card(encode_card(card, keys)) == published(card)


@pytest.mark.ci
@given(summaries(), st.sampled_from(("names", "slots")))
def test_a_summary_survives(summary: SiteSummary, keys: Keys) -> None:
    assert summary_from(json.loads(encode_summary(summary, keys))) == summary


@settings(max_examples=12)
@given(indexes(), st.sampled_from(("names", "slots")))
def test_an_index_survives(index: Index, keys: Keys) -> None:
    assert decode_index(encode_index(index, keys)) == index


def test_fields_come_in_the_order_of_the_specification() -> None:
    assert list(BASE) == [name for name in ReportCard.__struct_fields__ if name in BASE]
    assert list(json.loads(encode_card(WALLED)))[-3:] == ["detail", "provisional", "task_runs"]
    assert "detail" not in BASE


@pytest.mark.parametrize("field", MAPS)
@pytest.mark.parametrize("card", SAMPLES, ids=lambda card: card.host)
def test_slots_are_written_in_position(card: ReportCard, field: str) -> None:
    named = json.loads(encode_card(card))[field]
    slotted = json.loads(encode_card(card, "slots"))[field]
    assert list(named) == list(names_of(field))
    assert list(slotted) == list(slots_of(field))
    assert list(named.values()) == list(slotted.values())


def test_slot_names_follow_the_specification() -> None:
    assert (slots_of("ua_policy")[0], slots_of("ua_policy")[-1]) == ("agent_01", "agent_19")
    assert slots_of("crawler_policy")[-1] == "crawler_15"
    assert slots_of("agent_access") == ("agent_01", "agent_02", "agent_03", "agent_04")
    assert slots_of("matrix")[-1] == "matrix_key_8"


@pytest.mark.parametrize("keys", [names_of, slots_of])
def test_known_keys_may_come_in_any_order(keys: Callable[[str], tuple[str, ...]]) -> None:
    matrix = dict(zip(keys("matrix"), RICH_OPEN.matrix.values(), strict=True))
    card = decode_card(changed(matrix=dict(reversed(matrix.items()))))
    assert list(card.matrix.items()) == list(zip(names_of("matrix"), RICH_OPEN.matrix.values(), strict=True))


def test_foreign_names_keep_their_order_and_are_written_by_position() -> None:
    matrix = {f"surface {number}": verdict for number, verdict in enumerate(RICH_OPEN.matrix.values())}
    card = decode_card(changed(matrix=matrix))
    assert list(card.matrix.items()) == list(matrix.items())
    assert json.loads(encode_card(card, "slots"))["matrix"] == dict(
        zip(slots_of("matrix"), matrix.values(), strict=True)
    )


def test_two_casings_of_a_foreign_record_may_differ() -> None:
    policies = {**RICH_OPEN.ua_policy, "Meta-ExternalFetcher": "blocked"}
    assert decode_card(changed(ua_policy=policies)).ua_policy["meta-externalfetcher"] == "unlisted"


def test_unknown_fields_are_ignored_wherever_they_lie_and_however_deep() -> None:
    deep = json.loads("[" * 40 + "]" * 40)
    access = {name: {"status": 200, "challenged": False, "title": "", "took": 5} for name in names_of("agent_access")}
    assert decode_card(changed(extra=deep, agent_access=access)).agent_access["ChatGPT-User"].status == 200
    row = {**json.loads(encode_summary(RICH_OPEN.summary())), "rank": deep}
    assert summary_from(row) == RICH_OPEN.summary()


def test_future_words_are_kept_as_they_came() -> None:
    card = decode_card(changed(category="Zoo", vantage="moon", method="v9", edge="a\x1bb"))
    assert (card.category, card.vantage, card.method, card.edge) == ("Zoo", "moon", "v9", "a\ufffdb")


@pytest.mark.parametrize("field", [name for name in BASE if name != "found"])
def test_a_missing_field_is_named(field: str) -> None:
    data = json.dumps({name: value for name, value in BASE.items() if name != field}).encode()
    assert f"`{field}`" in refused(data)


@pytest.mark.parametrize("field", BASE)
@pytest.mark.parametrize("value", [None, {"a": {"b": None}}, [[None]], -1.5])
def test_a_wrong_type_is_named(field: str, value: Any) -> None:
    assert field in refused(changed(**{field: value}))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"score": 101}, "score: must be a whole number <= 100"),
        ({"score": -1}, "score: must be a whole number >= 0"),
        ({"score": "50"}, "score: must be a whole number, not text"),
        ({"jsonld": 2**53}, "jsonld"),
        ({"jsonld": True}, "jsonld: must be a whole number, not true or false"),
        ({"live_total": 5}, "live_total: must be a whole number <= 4"),
        ({"agents_total": 18}, "agents_total: must be a whole number >= 19"),
        ({"live_served": 5}, "live_served: must be a whole number <= 4"),
        ({"stance": "open"}, "stance: must be one of Open, Selective, Walled"),
        ({"grade": "G"}, "grade: must be a letter from A to F"),
        ({"matrix": {"a": "allowed"}}, "matrix: must be a table of names and values of length >= 8"),
        ({"ua_policy": {}}, "ua_policy: must be a table of names and values of length >= 19"),
        ({"pillars": {"access": 1}}, "pillars and pillar_max do not name the same pillars"),
        ({"found": False}, "found is false"),
        ({"host": ""}, "host: must be text of length >= 1"),
        ({"evidence": [{"t": "good"}]}, "evidence[0]: lacks `text`"),
    ],
)
def test_what_is_out_of_range_is_named(fields: dict[str, Any], words: str) -> None:
    assert words in refused(changed(**fields))


@pytest.mark.parametrize("number", ["1e999", "-1e999", "-1", "1001", "1" + "0" * 400, "NaN", "Infinity"])
def test_points_are_finite_numbers(number: str) -> None:
    data = encode_card(RICH_OPEN).replace(b'"access":40', f'"access":{number}'.encode(), 1)
    sentence = refused(data)
    assert "pillars (one of its entries)" in sentence or "not a number" in sentence


def test_whole_floats_are_integers() -> None:
    assert decode_card(changed(jsonld=11.0)) == published(RICH_OPEN)
    assert "jsonld" in refused(changed(jsonld=11.5))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2026-11-20T10:00:00Z", "2026-11-20T10:00:00.000Z"),
        ("2026-11-20T10:00:00.5Z", "2026-11-20T10:00:00.500Z"),
        ("2026-11-20T10:00:00.123456789+00:00", "2026-11-20T10:00:00.123Z"),
    ],
)
def test_times_get_milliseconds(written: str, read: str) -> None:
    assert decode_card(changed(scanned_at=written)).scanned_at == read


@pytest.mark.parametrize(
    "written",
    [
        "",
        "yesterday",
        "2026-11-20",
        "2026-11-20 10:00:00Z",
        "2026-11-20T10:00:00",
        "2026-11-20T10:00:00+02:00",
        "2026-11-20T10:00:00Z\n",
        "2026-13-01T00:00:00Z",
        "2026-02-30T00:00:00.000Z",
        "2026-11-20T24:61:00.000Z",
        "２０２６-11-20T10:00:00Z",
    ],
)
def test_what_is_no_utc_time_is_refused(written: str) -> None:
    assert "scanned_at: must be a UTC time" in refused(changed(scanned_at=written))


@pytest.mark.parametrize("written", [b"a\\ud800b", b"a\\udc00b", b"a\xffb"])
def test_what_is_no_character_becomes_the_replacement_character(written: bytes) -> None:
    data = encode_card(RICH_OPEN).replace(b"=Shop | Home", written)
    assert decode_card(data).human_title == "a\ufffdb"


def test_every_text_is_cleaned_and_cut() -> None:
    hostile = "\x1b[2J\u202e\u200b" + "x" * 100_000
    card = decode_card(changed(human_title=hostile, edge=hostile, evidence=[{"t": "good", "text": hostile}]))
    for text, limit in ((card.human_title, 500), (card.edge, 500), (card.evidence[0].text, 2000)):
        assert len(text) <= limit
        assert clean(text) == text
    matrix = {f"{hostile}{number}"[:40] + str(number): "allowed" for number in range(8)}
    assert all(clean(key) == key for key in decode_card(changed(matrix=matrix)).matrix)


def test_snippets_keep_their_lines() -> None:
    fix = {**BASE["recommendations"][0], "code": "a\r\nb\tc\x1b", "title": "a\nb"}
    card = decode_card(changed(recommendations=[fix]))
    assert (card.recommendations[0].code, card.recommendations[0].title) == ("a\nb c\ufffd", "a b")


@pytest.mark.parametrize(
    "data", [b"[" * 200_000, b'{"a":' * 200_000, b'{"task_runs":' + b"[" * 900 + b"]" * 900 + b"}"]
)
def test_deep_nesting_is_refused_in_words(data: bytes) -> None:
    assert "nested too deep" in refused(data)


@pytest.mark.parametrize("data", [b"", b"{", b"nope", b"\x00", b"[]", b"null", b'"x"', b"1", b"9" * 5000])
def test_what_is_no_json_object_is_refused_in_words(data: bytes) -> None:
    assert "not JSON" in refused(data) or "not a JSON object" in refused(data)


@pytest.mark.ci
@given(st.data())
def test_a_record_changed_anywhere_is_read_or_refused(data: st.DataObject) -> None:
    raw = json.loads(encode_card(data.draw(cards())))
    junk = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        max_leaves=5,
    )
    for field in data.draw(st.lists(st.sampled_from(sorted(raw)), min_size=1, max_size=3, unique=True)):
        raw[field] = data.draw(junk)
    changed_data = json.dumps(raw).encode()
    try:
        card = decode_card(changed_data)
    except RecordError:
        assert refused(changed_data)
        return
    assert decode_card(encode_card(card)) == card
