"""Records are judged as the published schemas judge them, and each problem says where and why."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from msgspec.structs import replace

from aui_tui.model.codec import encode_card, encode_summary
from aui_tui.report.export import write_cards, write_listing
from aui_tui.validate import KINDS, MAX_PROBLEMS, Verdict, _kind_of, schema, validate
from tests.cards import DEAD, INDEX, RICH_OPEN, SAMPLES, WALLED, cards, encode_index, indexes, listing_of

REACHED = replace(INDEX, unreachable=())
"""Tables leave the values of an unreachable host empty, so only the others are records of the contract."""
BASE: dict[str, Any] = json.loads(encode_card(RICH_OPEN))


def judged(value: Any) -> Verdict:
    return validate(json.dumps(value).encode())


def problems(**fields: Any) -> list[str]:
    return [str(problem) for problem in judged({**BASE, **fields}).problems]


@pytest.mark.parametrize("keys", ["names", "slots"])
def test_what_we_write_is_valid(keys: Any) -> None:
    for card in (*SAMPLES, DEAD):
        assert validate(encode_card(card, keys)) == Verdict(kind="card", records=1, problems=())
        assert validate(encode_summary(card.summary(), keys)).kind == "summary"
    assert validate(encode_index(INDEX, keys)) == Verdict(kind="index", records=1, problems=())


@pytest.mark.parametrize(
    ("text", "kind", "records"),
    [
        ("".join(write_cards("json", SAMPLES)), "cards", 2),
        ("".join(write_cards("ndjson", SAMPLES)), "cards", 2),
        ("".join(write_listing("ndjson", listing_of(REACHED))), "summaries", 2),
        ("".join(write_listing("json", listing_of(INDEX))), "index", 1),
        ("\ufeff" + "".join(write_cards("json", [WALLED])), "card", 1),
        ("[]", "records", 0),
    ],
)
def test_what_we_export_is_valid(text: str, kind: str, records: int) -> None:
    verdict = validate(text.encode())
    assert (verdict.valid, verdict.kind, verdict.records) == (True, kind, records)


@pytest.mark.ci
@settings(max_examples=6)
@given(cards(), indexes())
def test_random_records_are_valid(card: Any, index: Any) -> None:
    assert validate(encode_card(card)).valid
    assert validate(encode_index(index)).valid


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.sampled_from((0, 1, -1, 4, 19, 100, 101, 1.0, 0.5, "", "Open", "allowed", "v0.1", "v0.2", "C+", "local-node"))
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=4,
)


def place(draw: st.DataObject, value: Any) -> Any:
    """Return ``value`` with something changed, added or taken away somewhere in it."""
    if isinstance(value, dict) and value and draw.draw(st.integers(0, 5)):
        key = draw.draw(st.sampled_from(sorted(value)))
        action = draw.draw(st.sampled_from(("into", "into", "into", "drop", "add")))
        if action == "drop":
            return {name: item for name, item in value.items() if name != key}
        if action == "add":
            return {**value, draw.draw(st.text(max_size=4)): draw.draw(JUNK)}
        return {**value, key: place(draw, value[key])}
    if isinstance(value, list) and value and draw.draw(st.booleans()):
        at = draw.draw(st.integers(0, len(value) - 1))
        return [*value[:at], place(draw, value[at]), *value[at + 1 :], *draw.draw(st.lists(JUNK, max_size=1))]
    return draw.draw(JUNK)


LIBRARY = {kind: Draft202012Validator(schema(kind)) for kind in KINDS}
RECORDS = {
    "card": [BASE, json.loads(encode_card(WALLED))],
    "index": [json.loads(encode_index(INDEX))],
    "summary": [json.loads(encode_summary(card.summary())) for card in SAMPLES],
}


@pytest.mark.ci
@given(st.data())
def test_a_record_is_valid_exactly_when_the_schema_says_so(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(KINDS))
    value = place(data, data.draw(st.sampled_from(RECORDS[kind])))
    assert judged([value]).valid == LIBRARY[_kind_of(value)].is_valid(value)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"score": 117}, "score: 117 is greater than the maximum of 100."),
        ({"score": "50"}, "score: '50' is not of type 'integer'."),
        ({"stance": "Shut"}, "stance: 'Shut' is not one of ['Open', 'Selective', 'Walled']."),
        ({"method": "v0.3"}, "method: 'v0.3' is not one of ['v0.1', 'v0.2']."),
        ({"scanned_at": "2026-02-30T00:00:00.000Z"}, "scanned_at: '2026-02-30T00:00:00.000Z' is not a date and time"),
        ({"extra": 1}, "the record: Additional properties are not allowed ('extra' was unexpected)."),
        ({"live_total": 5}, "live_total: 4 was expected."),
        ({"files": ["llms.txt", "llms.txt"]}, "files: ['llms.txt', 'llms.txt'] has non-unique elements."),
        ({"pillars": {**BASE["pillars"], "access": 41}}, "pillars.access: 41 is greater than the maximum of 40."),
        ({"evidence": [{"t": "good", "text": ""}]}, "evidence[0].text: "),
        ({"agent_access": {**BASE["agent_access"], "Claude-User": 1}}, "agent_access['Claude-User']: 1 is not of type"),
        ({"human_title": "\x1b[2J" * 100, "score": -1}, "score: -1 is less than the minimum of 0."),
    ],
)
def test_where_and_why(fields: dict[str, Any], words: str) -> None:
    (problem,) = problems(**fields)
    assert problem.startswith(words)


def test_missing_fields_are_named() -> None:
    assert [str(problem) for problem in judged({"found": True, "method": "v0.1"}).problems][:2] == [
        "the record: 'host' is a required property.",
        "the record: 'input_host' is a required property.",
    ]
    assert [str(problem) for problem in judged({}).problems] == ["the record: 'method' is a required property."]


def test_a_row_of_an_index_is_numbered() -> None:
    index = json.loads(encode_index(INDEX))
    index["ranked"][1]["score"] = 117
    index["unreachable"][0]["scanned_at"] = "2026-13-01T00:00:00.000Z"
    assert [str(problem) for problem in judged(index).problems] == [
        "ranked[1].score: 117 is greater than the maximum of 100.",
        "unreachable[0].scanned_at: '2026-13-01T00:00:00.000Z' is not a date and time of the calendar.",
    ]


def test_a_line_is_numbered() -> None:
    good = encode_card(WALLED)
    bad = json.dumps({**BASE, "score": 117, "pillars": {**BASE["pillars"], "access": 41}}).encode()
    verdict = validate(b"\n".join([good, bad, b'{"half":', good]))
    assert [str(problem) for problem in verdict.problems] == [
        "line 2: score: 117 is greater than the maximum of 100.",
        "line 2: pillars.access: 41 is greater than the maximum of 40.",
        "line 3: not JSON: Input data was truncated.",
    ]
    assert (verdict.kind, verdict.records) == ("cards", 3)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the record: not JSON: "),
        (b'{\n "a": 1,\n}', "the record: not JSON: "),
        (b'{"a": "\xff"}', "the record: not JSON: "),
        (b'{"a": NaN}', "the record: not JSON: "),
        (b'{"a": 1e999}', "the record: not JSON: "),
        (b'{"a": ' + b"9" * 5000 + b"}", "the record: not JSON: "),
        (b"[" * 100_000, "the record: not JSON that can be read: nested too deep."),
        (b"5", "the record: 5 is not of type 'object'."),
        (b"[5]", "[0]: 5 is not of type 'object'."),
    ],
)
def test_what_cannot_be_read_is_one_problem(data: bytes, words: str) -> None:
    (problem,) = validate(data).problems
    assert str(problem).startswith(words)
    assert "\n" not in str(problem)


def test_problems_are_reported_up_to_a_limit() -> None:
    assert len(judged([{} for _ in range(500)]).problems) == MAX_PROBLEMS


def test_hostile_keys_are_cleaned() -> None:
    (problem,) = judged({**BASE, "\x1b[2J" * 100: 1}).problems
    assert "\x1b" not in str(problem)
    assert len(str(problem)) < 200
