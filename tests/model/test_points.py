"""Sums of a card."""

from __future__ import annotations

import csv
import io
import re
from itertools import combinations
from pathlib import Path

import pytest
from msgspec.structs import replace

from aui_tui.checks.judge import judge
from aui_tui.checks.scoring import grade_card, ledger
from aui_tui.index.store import Store
from aui_tui.model import points
from aui_tui.model.codec import decode_card, encode_card, encode_summary
from aui_tui.model.listing import Row
from aui_tui.model.methods import METHODS
from aui_tui.model.observations import BROWSER, FILE_PROBES
from aui_tui.model.query import Query
from aui_tui.model.report import HostReport
from aui_tui.model.vocabulary import NO_GRADE
from aui_tui.report.export import write_cards, write_listing
from aui_tui.report.formats import FORMATS, Listing
from aui_tui.report.plan import plan_for, sections
from tests.scan import situations


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "lost", [names for count in range(1, 5) for names in combinations(("robots", "browser", "llms", "mcp"), count)]
)
def test_what_was_not_measured_leaves_both_sums(method: str, lost: tuple[str, ...]) -> None:
    seen = situations.plain()
    exchanges = tuple(
        replace(found, status=429, limited=True) if found.name in lost else found for found in seen.exchanges
    )
    seen = replace(seen, exchanges=exchanges)
    card, book = grade_card(seen, method), ledger(judge(seen), METHODS[method])
    assert any(not entry.measured for entry in book.entries)
    assert points.totals(card) == (book.earned, book.possible)


def test_rounding_is_half_up() -> None:
    assert [points.percent(*of) for of in ((1, 8), (1, 200), (0, 0), (50, 50))] == [13, 1, 0, 100]


@pytest.mark.parametrize("status", [0, 401, 403, 404, 503])
@pytest.mark.parametrize("form", [name for name in FORMATS if name != "json"])
def test_what_the_record_of_an_unreachable_host_must_hold_stands_nowhere_else(status: int, form: str) -> None:
    """Nobody is called Walled who turns everybody away alike, or answers nobody."""
    seen = situations.site(situations.probe(BROWSER, status), lambda slot: situations.probe(slot, status))
    card = grade_card(seen)
    stance = "Selective" if 400 < status < 500 else "Walled"
    assert (card.unreachable, card.score, card.grade, card.stance) == (True, 0, "F", stance)
    said = "".join(write_cards(form, [HostReport(card=card, observations=seen)]))
    row = Row(summary=card.summary())
    listing = Listing(scanned_at=card.scanned_at, ranked=(), unreachable=(row,))
    said += "".join(write_listing(form, listing)) if FORMATS[form].listing else ""
    said = re.sub(r"<style>.*?</style>", "", said, flags=re.DOTALL)
    assert stance.lower() not in said.lower()
    assert card.host in said


def test_with_less_than_half_measured_no_form_but_the_record_has_a_letter(tmp_path: Path) -> None:
    card = grade_card(situations.thin())
    assert (card.grade, decode_card(encode_card(card)).grade) == (NO_GRADE, NO_GRADE)
    assert b'"grade":"A"' in encode_card(card)
    assert b'"grade":"A"' in encode_summary(card.summary())
    (row,) = csv.DictReader(io.StringIO("".join(write_cards("csv", [HostReport(card=card)]))))
    assert (row["score"], row["grade"]) == ("100", "")
    store = Store(tmp_path / "index.db")
    store.put(card, situations.thin())
    assert [row.summary.grade for row in store.index(Query()).ranked[:]] == [NO_GRADE]
    assert not len(store.index(Query.of(line="grade:a")).ranked)
    store.close()


def test_with_less_than_half_measured_a_fix_promises_points_and_no_score() -> None:
    seen = situations.wall_for_all()
    walled = grade_card(seen)
    assert (walled.grade, points.gain(walled, "wba")) == ("F", "+12 points"), "the page is behind the wall"
    files = tuple(replace(one, status=403, limited=True) if one.name in FILE_PROBES else one for one in seen.exchanges)
    seen = replace(seen, exchanges=files)
    card = grade_card(seen)
    assert (card.grade, points.gain(card, "wba")) == (NO_GRADE, "+12 points")
    first, steps = sections(plan_for(HostReport(card=card, observations=seen))[0])
    assert {item.key: item.cells[1] for item in steps.items}["wba"] == "+12 points"
    assert not any("→" in cell for item in steps.items for cell in item.cells)
    assert "Only a part of the points could be measured" in first.text
