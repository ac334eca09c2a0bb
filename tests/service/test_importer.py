"""Records from files into the index."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aui_tui.errors import NoCard
from aui_tui.index.store import Store
from aui_tui.model.codec import encode_card, encode_summary
from aui_tui.model.query import Query
from aui_tui.model.report import HostReport
from aui_tui.service import importer
from aui_tui.service.importer import ImportResult, read, take_records
from tests.cards import DEAD, INDEX, RICH_OPEN, SAMPLES, WALLED, encode_index, published
from tests.index.clock import NOW, Clock
from tests.index.scans import scan


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    clock.now = NOW + 10 * 86400  # after the cards of the tests
    with closing(Store(tmp_path / "index.db")) as opened:
        yield opened


def taken(store: Store, data: bytes) -> ImportResult:
    return take_records(read(io.BytesIO(data)), store)


def hosts(store: Store) -> tuple[list[str], list[str]]:
    view = store.index(Query())
    return [row.summary.host for row in view.ranked[:]], [row.summary.host for row in view.unreachable[:]]


PRETTY = json.dumps(json.loads(encode_card(RICH_OPEN)), indent=2).encode()
LINES = b"".join(encode_card(card) + b"\n" for card in SAMPLES)


@pytest.mark.parametrize(
    ("data", "count"),
    [
        (encode_card(RICH_OPEN), 1),
        (PRETTY, 1),
        (b"\xef\xbb\xbf" + PRETTY, 1),
        (b"\n\n" + encode_card(RICH_OPEN) + b"\n\n", 1),
        (LINES, 2),
        (LINES.replace(b"\n", b"\r\n\r\n"), 2),
        (b"[" + b",".join(encode_card(card) for card in SAMPLES) + b"]", 2),
        (b"[\n" + b",\n".join(encode_card(card) for card in SAMPLES) + b"\n]", 2),
        (encode_card(WALLED, keys="slots") + b"\n" + encode_card(RICH_OPEN, keys="slots"), 2),
    ],
    ids=["one", "pretty", "byte-order mark", "blank lines", "lines", "CR LF", "array", "array in lines", "slots"],
)
def test_cards_are_taken_as_they_are(store: Store, data: bytes, count: int) -> None:
    done = taken(store, data)
    assert (done.read, done.new, done.problems) == (count, count, ())
    assert store.get(RICH_OPEN.host).card == published(RICH_OPEN)
    assert len(hosts(store)[0]) == count


def test_card_with_observations_can_be_graded_again(store: Store) -> None:
    card, seen = scan("shop.example")
    both = {"card": json.loads(encode_card(card)), "observations": json.loads(msgspec.json.encode(seen))}
    assert taken(store, json.dumps(both).encode()).problems == ()
    assert store.get("shop.example") == HostReport(card=published(card), observations=seen)


def test_index_of_another_is_listed_as_it_was(store: Store) -> None:
    done = taken(store, encode_index(INDEX))
    assert (done.read, done.new, done.problems) == (3, 3, ())
    view = store.index(Query())
    assert tuple(row.summary for row in view.ranked[:]) == INDEX.ranked
    assert tuple(row.summary for row in view.unreachable[:]) == INDEX.unreachable
    assert [row.method for row in view.ranked[:]] == ["v0.1", "v0.2"]
    with pytest.raises(NoCard, match=r"Only the summary of tickets\.example is known"):
        store.get("tickets.example")
    assert len(store.index(Query.of(line="stance:walled agent:claude=walled")).ranked) == 1
    assert len(store.index(Query.of(line="has:llms")).ranked) == 0


def test_summaries_give_way_to_cards_and_never_replace_them(store: Store) -> None:
    store.put(WALLED)
    later = msgspec.structs.replace(WALLED.summary(), scanned_at="2026-11-21T00:00:00.000Z", score=1)
    done = taken(store, encode_summary(later) + b"\n" + encode_summary(RICH_OPEN.summary()))
    assert (done.read, done.new) == (2, 1)
    assert store.get(WALLED.host).card == WALLED
    assert store.row(WALLED.host).summary == WALLED.summary()
    older = msgspec.structs.replace(RICH_OPEN, scanned_at="2026-11-19T00:00:00.000Z")
    assert store.put(older)
    assert store.get(RICH_OPEN.host).card == older
    assert store.row(RICH_OPEN.host).scans == 1


def test_newer_summary_replaces_an_older_one(store: Store) -> None:
    first = WALLED.summary()
    later = msgspec.structs.replace(first, scanned_at="2026-11-21T00:00:00.000Z", score=1)
    for row, new in ((first, 1), (later, 1), (first, 0)):
        assert taken(store, encode_summary(row)).new == new
    assert store.row(WALLED.host).summary == later
    assert store.row(WALLED.host).scans == 1


def test_older_card_goes_to_the_history(store: Store) -> None:
    store.put(WALLED)
    older = msgspec.structs.replace(WALLED, scanned_at="2026-11-19T00:00:00.000Z")
    assert taken(store, encode_card(older)).new == 0
    assert [point.scanned_at for point in store.history(WALLED.host)] == [older.scanned_at, WALLED.scanned_at]


def changed(card: Any, **fields: Any) -> bytes:
    return json.dumps(json.loads(encode_card(card)) | fields).encode()


def test_bad_records_are_named_by_place_and_passed_over(store: Store) -> None:
    data = b"\n".join(
        (
            b"{broken",
            encode_card(RICH_OPEN),
            b"",
            changed(WALLED, score=101),
            changed(WALLED, host="user@evil.example"),
            changed(WALLED, host="../../etc/passwd"),
            b"7",
            b'{"card": {}, "observations": null}',
            b"[1]",
            b"\xff\xfe\x00",
            encode_card(WALLED),
        )
    )
    done = taken(store, data)
    assert hosts(store)[0] == [RICH_OPEN.host, WALLED.host]
    assert done.new == 2
    assert [problem.split(":")[0] for problem in done.problems] == [f"line {n}" for n in (1, 4, 5, 6, 7, 8, 9, 10)]
    assert done.problems[0].startswith("line 1: Not JSON")
    assert all(problem.endswith(".") and problem.isprintable() for problem in done.problems)
    assert "score" in done.problems[1]


def test_bad_row_of_an_index_does_not_spoil_the_rest(store: Store) -> None:
    index = json.loads(encode_index(INDEX))
    index["ranked"][0]["stance"] = "Ajar"
    index["unreachable"].append(17)
    done = taken(store, json.dumps(index, indent=1).encode())
    assert (done.read, done.broken, done.new) == (2, 2, 2)
    assert [problem.split(":")[0] for problem in done.problems] == ["ranked[0]", "unreachable[1]"]
    assert hosts(store) == ([WALLED.host], [DEAD.host])


def test_overlong_line_is_passed_over(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importer, "MAX_LINE", 20_000)
    done = taken(store, encode_card(RICH_OPEN) + b"\n" + b"x" * 70_000 + b"\n" + encode_card(WALLED))
    assert (done.read, done.broken, done.new) == (2, 1, 2)
    assert done.problems == ("line 2: The line is longer than 0 MiB.",)


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_empty_file_holds_nothing(store: Store, data: bytes) -> None:
    assert taken(store, data) == ImportResult(read=0, cards=0, new=0, problems=())


def test_many_problems_are_kept_to_a_limit(store: Store) -> None:
    done = take_records(read(io.BytesIO(b"7\n" * 3000)), store, limit=10)
    assert (done.read, done.broken, len(done.problems)) == (0, 3000, 10)


@given(
    st.lists(
        st.sampled_from((encode_card(RICH_OPEN), encode_index(INDEX), b"{}", b"[", b"\n", b"null", b'"')), max_size=5
    ),
    st.binary(max_size=40),
    st.integers(0, 5),
)
def test_any_bytes_are_read_without_a_crash(parts: list[bytes], noise: bytes, place: int) -> None:
    data = b"\n".join((*parts[:place], noise, *parts[place:]))
    for record in importer.read(io.BytesIO(data)):
        assert bool(record.error) != (record.card is not None or record.summary is not None)
        assert record.place


def test_a_database_is_named_for_what_it_is(store: Store, tmp_path: Path) -> None:
    done = taken(store, (tmp_path / "index.db").read_bytes())
    assert (done.read, done.broken, done.new) == (0, 1, 0)
    assert "It is a database" in done.problems[0]
    assert "--data-dir" in done.problems[0]
