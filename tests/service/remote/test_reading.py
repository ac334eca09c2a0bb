"""Reading what others publish: foreign names, missing fields, any bytes at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aui_tui.errors import (
    AuiError,
)
from aui_tui.records import codec
from aui_tui.records.query import Query
from aui_tui.service.remote.file import read_card
from aui_tui.service.remote.transport import Reply, complaint
from tests.cards import INDEX, RICH_OPEN, WALLED, cards
from tests.service.remote.reader import BODY, CARD, JSON, remote
from tests.service.remote.scripted import Said, Source

SLOTS = json.loads(codec.encode_index(INDEX, "slots"))
FOREIGN = {
    **json.loads(BODY),
    "generated_by": {"anything": [1, 2, {"deep": None}]},
    "ranked": [
        {
            **json.loads(codec.encode_summary(RICH_OPEN.summary())),
            "matrix": {f"Agent {n}": "allowed" for n in range(8)},
            "extra": "field",
            "scanned_at": "2026-11-20T10:00:00Z",
        }
    ],
}


@pytest.mark.parametrize("raw", [SLOTS, FOREIGN], ids=["slots", "foreign"])
async def test_foreign_names_and_unknown_fields_are_read(source: Source, raw: dict[str, Any]) -> None:
    source.say["/api/index.json"] = Said(body=json.dumps(raw).encode(), fields=JSON)
    service = remote(source)
    view = await service.index(Query())
    assert view.notice == ""
    row = view.ranked[:][0].summary
    assert list(row.matrix) == (list(RICH_OPEN.matrix) if raw is SLOTS else [f"Agent {n}" for n in range(8)])
    assert row.scanned_at.endswith("Z")
    await service.aclose()


async def test_missing_optional_fields_are_filled_and_broken_rows_left_out(source: Source) -> None:
    good = json.loads(codec.encode_summary(WALLED.summary()))
    poor = {key: value for key, value in good.items() if key not in ("name", "category", "top_evidence", "url")}
    rows = [{**poor, "host": "poor.example"}, {"host": "broken.example"}, 7, {**good, "score": "many"}, good]
    source.say["/api/index.json"] = Said(body=json.dumps({"ranked": rows, "unreachable": None}).encode(), fields=JSON)
    service = remote(source)
    view = await service.index(Query())
    found = {row.summary.host: row.summary for row in view.ranked[:]}
    assert set(found) == {"poor.example", WALLED.host}
    assert (found["poor.example"].name, found["poor.example"].category) == ("poor.example", "Uncategorized")
    assert found["poor.example"].url == f"{source.url}/site/poor.example"
    assert view.notice.startswith("3 broken rows were left out: ")
    await service.aclose()


async def test_poor_card_is_filled_and_an_address_that_is_none_of_the_web_is_replaced(source: Source) -> None:
    raw = json.loads(codec.encode_card(RICH_OPEN))
    for name in ("input_host", "name", "seed", "probe_dead", "evidence", "recommendations"):
        del raw[name]
    raw["url"] = "javascript:alert(1)"
    source.say[CARD] = Said(body=json.dumps(raw).encode(), fields=JSON)
    service = remote(source)
    card = (await service.site(RICH_OPEN.host)).card
    assert (card.name, card.input_host, card.recommendations) == (RICH_OPEN.host, RICH_OPEN.host, ())
    assert card.url == f"{source.url}/site/{RICH_OPEN.host}"
    await service.aclose()


@given(
    st.integers(0, 999),
    st.dictionaries(st.sampled_from(("retry-after", "ratelimit", "content-type", "location")), st.text(max_size=30)),
    st.one_of(
        st.binary(max_size=200),
        st.recursive(st.none() | st.text() | st.integers(), st.lists).map(lambda v: json.dumps(v).encode()),
    ),
    st.sampled_from(("index", "site", "scan")),
)
def test_no_answer_breaks_the_reader(status: int, fields: Mapping[str, str], body: bytes, operation: str) -> None:
    error = complaint(Reply(status, fields, body), operation, "index.example", "a.example", 1000.0)
    assert isinstance(error, AuiError)
    assert str(error).isprintable()


@given(cards())
def test_any_card_is_read_as_it_was_published(card: Any) -> None:
    assert read_card(codec.encode_card(card), card.host) == card
    slots = read_card(codec.encode_card(card, "slots"), card.host)
    assert msgspec.structs.replace(slots, url="") == msgspec.structs.replace(card, url="")
