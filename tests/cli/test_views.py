"""Cards and lists as people read them: widths, wide characters, colour, ASCII, hostile words."""

from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import given, settings

from aui_tui.checks.scoring import grade_card
from aui_tui.cli import cardview, index
from aui_tui.cli.terminal import Paint
from aui_tui.model.card import AgentAccess, Evidence, ReportCard
from aui_tui.model.listing import Facets, IndexView, Row
from aui_tui.model.observations import Observations
from aui_tui.model.query import Query
from aui_tui.model.report import HostReport
from aui_tui.model.signs import sign
from aui_tui.text import cells
from tests.cards import DEAD, RICH_OPEN, SAMPLES, WALLED, cards
from tests.scan import situations
from tests.scan.situations import probe
from tests.strategies import driven

LOST = msgspec.structs.replace(DEAD, host=f"{'x' * 60}.example")
LONG = Evidence("critical", "gone0.example turns everybody away: a browser and every agent get 500." * 3)


class Rows(list[Row]):
    """A list of rows as a window."""

    def find(self, host: str) -> int:
        return next((place for place, row in enumerate(self) if row.summary.host == host), -1)


def view(*found: ReportCard) -> IndexView:
    rows = [Row(summary=card.summary(), rank=number, change=number - 2) for number, card in enumerate(found, 1)]
    return IndexView(
        query=Query(),
        scanned_at="2026-11-20T10:00:00.250Z",
        ranked=Rows(row for row, card in zip(rows, found, strict=True) if not card.unreachable),
        unreachable=Rows(row for row, card in zip(rows, found, strict=True) if card.unreachable),
        facets=Facets(stance={}, category={}),
    )


def shown(card: ReportCard, paint: Paint | None = None, *, note: str = "", details: bool = False) -> list[str]:
    return list(cardview.lines(HostReport(card=card), paint or Paint(), note=note, details=details))


def test_the_card_of_a_host_without_an_answer_stands_whole_in_80_cells() -> None:
    text = "\n".join(shown(DEAD, Paint(width=80)))
    assert "nobody got a usable" in text
    assert "…" not in text


@pytest.mark.parametrize("asked", ["localhost", "www.quayside-books.example"])
def test_who_gets_in_stands_whole_in_80_cells_behind_a_redirect_to_another_host(asked: str) -> None:
    seen = situations.site(agents=lambda slot: probe(slot, 403) if slot != "agent_03" else probe(slot))
    seen = msgspec.structs.replace(seen, served_from=f"https://{asked}:8000")
    report = HostReport(card=grade_card(seen), observations=seen)
    text = "\n".join(cardview.lines(report, Paint(width=80)))
    assert "…" not in text
    assert f"{asked}:8000/robots.txt" in text, "no word is broken"
    assert len(text.splitlines()) <= 24


def spoken(card: ReportCard, note: str = "") -> list[str]:
    return list(cardview.sentences(HostReport(card=card), note=note))


@pytest.mark.parametrize("details", [False, True])
@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_nothing_is_wider_than_the_paper(width: int, details: bool) -> None:
    long = msgspec.structs.replace(
        WALLED,
        name="日本語の店" * 30,
        evidence=(Evidence("critical", "漢字" * 200), Evidence("warn", "x" * 500), Evidence("future", "new word")),
    )
    for card in (*SAMPLES, DEAD, long):
        assert max(cells(line) for line in shown(card, Paint(width=width), details=details)) <= width
    assert max(cells(line) for line in index.table(view(RICH_OPEN, long, DEAD), Paint(width=width))) <= width


def test_narrow_lists_drop_columns_but_never_the_stance() -> None:
    assert list(index.widths_for(80)) == ["#", "Score", "Δ", "Gr", "Stance", "Host", "Category", "Age"]
    assert list(index.widths_for(40)) == ["Score", "Gr", "Stance", "Host"]
    for width in range(40, 101):
        widths = index.widths_for(width)
        assert sum(widths.values()) + len(widths) - 1 == width
        assert "Stance" in widths


def test_colour_only_where_it_is_wanted_and_ascii_only_on_request() -> None:
    plain = "\n".join(shown(WALLED))
    coloured = "\n".join(shown(WALLED, Paint(colour=True)))
    assert "\x1b" not in plain
    assert "\x1b[31m" in coloured
    paper = Paint(ascii=True)
    ascii_only = "\n".join([*shown(WALLED, paper, details=True), *index.table(view(WALLED, DEAD, LOST), paper)])
    assert ascii_only.isascii()
    assert "Walled" in ascii_only


def test_unreachable_shows_no_score() -> None:
    for lines in (shown(DEAD), shown(DEAD, details=True), spoken(DEAD)):
        text = "\n".join(lines).lower()
        assert "unreachable" in text
        assert "not graded" in text
        assert not re.search(r"/100|of 100|walled|grade f|fixes", text)


def test_the_time_below_a_list_is_that_of_the_whole_index() -> None:
    some = msgspec.structs.replace(view(RICH_OPEN), query=Query.of(stance="open"))
    assert "(Open); newest card of all " in " ".join(index.table(some, Paint(width=100)))


def test_an_unreachable_host_is_one_line_of_a_list() -> None:
    gone = [msgspec.structs.replace(DEAD, host=f"gone{n}.example", evidence=(LONG,)) for n in range(3)]
    for width in (40, 80, 100):
        lines = list(index.table(view(*gone), Paint(width=width)))
        assert [line.split()[0] for line in lines[1:4]] == ["gone0.example", "gone1.example", "gone2.example"]
        assert lines[4] == ""
        assert max(cells(line) for line in lines[:4]) <= width
    assert " Turns everybody away: a" in lines[1]


@given(cards())
def test_any_card_can_be_shown_and_spoken(card: ReportCard) -> None:
    found = shown(card, note="a note")
    assert "\x1b" not in "\n".join(found)
    assert len(found) <= 24
    said = spoken(card, note="a note")
    assert card.host in said[0]
    assert not set("◉◐◌✓✗█░") & set("".join(said))


def test_a_verdict_is_said_once() -> None:
    refused = msgspec.structs.replace(
        RICH_OPEN,
        matrix=RICH_OPEN.matrix | {"claude": "blocked"},
        agent_access=RICH_OPEN.agent_access | {"Claude-User": AgentAccess(403, False, "")},
    )
    said = spoken(refused)
    assert any(line.startswith("Claude: refused (403)") for line in said), said[:12]


def test_a_row_is_spoken_as_a_sentence() -> None:
    said = spoken(WALLED)
    assert "Pillar Works: tasks not tried." in said
    assert "Pillar Built: 12/25 points." in said
    assert "Agent a browser: the site answers 200, verdict in." in said
    assert not any("answers not asked" in line for line in said)
    assert any("Every assistant that was asked gets in." in line for line in index.list_sentences(view(RICH_OPEN)))


@settings(max_examples=100)
@given(driven())
def test_the_answer_fits_a_screen_and_leads_with_who_gets_in(seen: Observations) -> None:
    card = grade_card(seen)
    found = list(cardview.lines(HostReport(card=card, observations=seen), Paint()))
    assert len(found) <= 24
    assert found[0].startswith(seen.host)
    assert found[1].startswith((f"{sign(card.stance).sign} {card.stance}  ", "– unreachable  "))
    assert card.unreachable or any(line.startswith("Score ") for line in found)
    assert any(line.startswith("Next ") for line in found)
