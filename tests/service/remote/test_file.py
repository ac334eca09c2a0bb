"""An exported index as a source: every form that this program writes, what others publish, and what is none."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aui_tui.errors import AuiError, BadValue, ConfigError, NeverScanned, RecordError, Unavailable
from aui_tui.model import codec
from aui_tui.model.query import Query
from aui_tui.service.importer import read_card
from aui_tui.service.remote import open_source
from aui_tui.service.remote.imported import IndexFile
from aui_tui.service.remote.published import PublishedIndex
from aui_tui.service.remote.transport import HttpReply, complaint
from tests.cards import DEAD, INDEX, RICH_OPEN, SAMPLES, WALLED, cards, encode_index, published
from tests.cli.runner import aui, start
from tests.service.remote.reader import BODY, CARD, JSON
from tests.service.remote.scripted import Said, Source

LATER = msgspec.structs.replace(WALLED, scanned_at="2026-11-21T08:00:00.000Z", score=44)


def lines(*records: bytes) -> bytes:
    return b"\n".join(records) + b"\n"


async def hosts(service: IndexFile) -> tuple[list[str], list[str]]:
    view = await service.index(Query())
    return [row.summary.host for row in view.ranked[:]], [row.summary.host for row in view.unreachable[:]]


FORMS = {
    "index": encode_index(INDEX),
    "index with slots": encode_index(INDEX, "slots"),
    "index without a time": json.dumps(
        {k: v for k, v in json.loads(encode_index(INDEX)).items() if k != "scanned_at"}
    ).encode(),
    "index with a byte order mark": b"\xef\xbb\xbf" + encode_index(INDEX),
    "array of cards": b"[" + b",".join(codec.encode_card(card) for card in (*SAMPLES, DEAD)) + b"]",
    "cards by line": lines(*(codec.encode_card(card) for card in (*SAMPLES, DEAD))),
    "rows by line": lines(
        *(codec.encode_summary(row) for row in INDEX.ranked),
        *(b'{"list":"unreachable",' + codec.encode_summary(row)[1:] for row in INDEX.unreachable),
    ),
}


@pytest.mark.parametrize("form", FORMS)
async def test_every_exported_form_is_an_index(tmp_path: Path, form: str) -> None:
    path = tmp_path / "export.json"
    path.write_bytes(FORMS[form])
    service = IndexFile(str(path))
    assert await hosts(service) == ([RICH_OPEN.host, WALLED.host], [DEAD.host])
    assert (await service.index(Query())).scanned_at == INDEX.scanned_at
    assert (await service.index(Query())).notice == ""
    assert not service.can_scan
    assert await service.quota() is None


async def test_standard_input_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "index.json").write_bytes(encode_index(INDEX))
    ours = os.dup(0)
    try:
        with (tmp_path / "index.json").open("rb") as file:
            os.dup2(file.fileno(), 0)
        service = open_source("-")
        assert service.label == "standard input"
        assert len((await service.index(Query())).ranked) == 2
        assert (await service.overview(Query())).hosts == 2
    finally:
        os.dup2(ours, 0)
        os.close(ours)


async def test_cards_bring_history_and_answers_about_cards(tmp_path: Path) -> None:
    path = tmp_path / "cards.ndjson"
    path.write_bytes(lines(*(codec.encode_card(card) for card in (LATER, WALLED, RICH_OPEN))))
    service = IndexFile(str(path))
    report = await service.site(" Tickets.example ")
    assert published(report.card) == published(LATER)
    assert report.previous is not None
    assert published(report.previous) == published(WALLED)
    assert [point.score for point in report.history] == [WALLED.score, 44]
    assert published((await service.site(WALLED.host, at=WALLED.scanned_at)).card) == published(WALLED)
    view = await service.index(Query.of(line="has:llms"))
    assert [row.summary.host for row in view.ranked[:]] == [RICH_OPEN.host]
    with pytest.raises(BadValue) as error:
        await service.site(WALLED.host, at="2020-01-01T00:00:00.000Z")
    assert error.value.allowed == (WALLED.scanned_at, LATER.scanned_at)


async def test_what_a_file_cannot_do_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "index.json"
    path.write_bytes(FORMS["index"])
    service = IndexFile(str(path))
    with pytest.raises(Unavailable, match=r"^index\.json lists shop\.example but holds no report cards\.$"):
        await service.site(RICH_OPEN.host)
    with pytest.raises(NeverScanned):
        await service.site("unknown.example")
    with pytest.raises(Unavailable, match="cannot scan"):
        await service.scan("a.example")


async def test_broken_lines_are_left_out_and_reported(tmp_path: Path) -> None:
    path = tmp_path / "cards.ndjson"
    path.write_bytes(lines(codec.encode_card(WALLED), b'{"host": "half', codec.encode_card(RICH_OPEN), b"[]", b"7"))
    view = await IndexFile(str(path)).index(Query())
    assert len(view.ranked) == 2
    assert view.notice.startswith("3 broken records were left out: ")


@pytest.mark.parametrize(
    "data",
    [b"", b"   ", b"hello", b"{}", b"[]", b"null", b'{"ranked":7}', b"\x00\xff", b"[" * 50_000, b"<html></html>"],
)
async def test_a_file_that_is_no_index_is_refused_with_a_sentence(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(data)
    with pytest.raises(RecordError, match=r"^x\.json: "):
        await IndexFile(str(path)).index(Query())


async def test_a_path_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="neither a file nor an address"):
        open_source(str(tmp_path / "absent.json"))
    with pytest.raises(ConfigError, match="Cannot read"):
        await open_source(str(tmp_path)).index(Query())
    with pytest.raises(AuiError, match="neither a file nor an address"):
        open_source("index.example")


SLOTS = json.loads(encode_index(INDEX, "slots"))
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
async def test_foreign_names_and_unknown_fields_are_read(
    source: Source, service: PublishedIndex, raw: dict[str, Any]
) -> None:
    source.say["/api/index.json"] = Said(body=json.dumps(raw).encode(), fields=JSON)
    view = await service.index(Query())
    assert view.notice == ""
    row = view.ranked[:][0].summary
    assert list(row.matrix) == (list(RICH_OPEN.matrix) if raw is SLOTS else [f"Agent {n}" for n in range(8)])
    assert row.scanned_at.endswith("Z")


async def test_missing_optional_fields_are_filled_and_broken_rows_left_out(
    source: Source, service: PublishedIndex
) -> None:
    good = json.loads(codec.encode_summary(WALLED.summary()))
    poor = {key: value for key, value in good.items() if key not in ("name", "category", "top_evidence", "url")}
    rows = [{**poor, "host": "poor.example"}, {"host": "broken.example"}, 7, {**good, "score": "many"}, good]
    source.say["/api/index.json"] = Said(body=json.dumps({"ranked": rows, "unreachable": None}).encode(), fields=JSON)
    view = await service.index(Query())
    found = {row.summary.host: row.summary for row in view.ranked[:]}
    assert set(found) == {"poor.example", WALLED.host}
    assert (found["poor.example"].name, found["poor.example"].category) == ("poor.example", "Uncategorized")
    assert found["poor.example"].url == f"{source.url}/site/poor.example"
    assert view.notice.startswith("3 broken rows were left out: ")


async def test_poor_card_is_filled_and_an_address_that_is_none_of_the_web_is_replaced(
    source: Source, service: PublishedIndex
) -> None:
    raw = json.loads(codec.encode_card(RICH_OPEN))
    for name in ("input_host", "name", "seed", "probe_dead", "evidence", "recommendations"):
        del raw[name]
    raw["url"] = "javascript:alert(1)"
    source.say[CARD] = Said(body=json.dumps(raw).encode(), fields=JSON)
    card = (await service.site(RICH_OPEN.host)).card
    assert (card.name, card.input_host, card.recommendations) == (RICH_OPEN.host, RICH_OPEN.host, ())
    assert card.url == f"{source.url}/site/{RICH_OPEN.host}"


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
    error = complaint(HttpReply(status, fields, body), operation, "index.example", "a.example")
    assert isinstance(error, AuiError)
    assert str(error).isprintable()


@pytest.mark.ci
@given(cards())
def test_any_card_is_read_as_it_was_published(card: Any) -> None:
    card = published(card)
    assert read_card(codec.encode_card(card), card.host) == card
    slots = read_card(codec.encode_card(card, "slots"), card.host)
    assert msgspec.structs.replace(slots, url="") == msgspec.structs.replace(card, url="")


@pytest.mark.skipif(os.name != "posix", reason="whether a process has ended can be asked on POSIX alone")
def test_what_a_killed_run_left_of_its_temporary_index_is_removed_by_the_next(tmp_path: Path) -> None:
    temporary, source = tmp_path / "temporary", tmp_path / "index.json"
    temporary.mkdir()
    source.write_bytes(encode_index(INDEX))
    place = {"TMPDIR": str(temporary)}
    with start(tmp_path, "index", "--source", "-", env=place, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as run:
        while not (folders := list(temporary.iterdir())):
            assert run.poll() is None
            time.sleep(0.02)
        assert aui(tmp_path, "index", "--source", str(source), env=place).code == 0
        assert list(temporary.iterdir()) == folders, "that of a process that runs stays"
        run.kill()
    assert list(temporary.iterdir()) == folders
    assert aui(tmp_path, "index", "--source", str(source), env=place).code == 0
    assert not list(temporary.iterdir())
