"""Cards and lists as people read them: widths, wide characters, colour, ASCII, hostile words."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given

from aui_tui.cli import cardview, index
from aui_tui.cli.streams import Paint
from aui_tui.model.card import Evidence, ReportCard
from aui_tui.model.query import Query
from aui_tui.model.view import Facets, IndexView, Row
from aui_tui.text import cells
from tests.cards import DEAD, RICH_OPEN, SAMPLES, WALLED, cards


def view(*found: ReportCard) -> IndexView:
    rows = [Row(summary=card.summary(), rank=number, change=number - 2) for number, card in enumerate(found, 1)]
    return IndexView(
        query=Query(),
        scanned_at="2026-11-20T10:00:00.250Z",
        ranked=[row for row, card in zip(rows, found, strict=True) if not card.unreachable],
        unreachable=[row for row, card in zip(rows, found, strict=True) if card.unreachable],
        facets=Facets(stance={}, category={}),
    )


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_nothing_is_wider_than_the_paper(width: int) -> None:
    long = msgspec.structs.replace(
        WALLED,
        name="日本語の店" * 30,
        evidence=(Evidence("critical", "漢字" * 200), Evidence("warn", "x" * 500), Evidence("future", "new word")),
    )
    for card in (*SAMPLES, DEAD, long):
        assert max(cells(line) for line in cardview.lines(card, Paint(width=width))) <= width
    assert max(cells(line) for line in index.table(view(RICH_OPEN, long, DEAD), Paint(width=width))) <= width


def test_narrow_lists_drop_columns_but_never_the_stance() -> None:
    assert list(index.widths_for(80)) == ["#", "Score", "Δ", "Gr", "Stance", "Host", "Category", "Age"]
    assert list(index.widths_for(40)) == ["Score", "Gr", "Stance", "Host"]
    for width in range(40, 101):
        widths = index.widths_for(width)
        assert sum(widths.values()) + len(widths) - 1 == width
        assert "Stance" in widths


def test_colour_only_where_it_is_wanted_and_ascii_only_on_request() -> None:
    plain = "\n".join(cardview.lines(WALLED, Paint()))
    coloured = "\n".join(cardview.lines(WALLED, Paint(colour=True)))
    assert "\x1b" not in plain
    assert "\x1b[31m" in coloured
    ascii_only = "\n".join([*cardview.lines(WALLED, Paint(ascii=True)), *index.table(view(WALLED), Paint(ascii=True))])
    assert ascii_only.isascii()
    assert "Walled" in ascii_only


def test_unreachable_shows_no_score() -> None:
    text = "\n".join(cardview.lines(DEAD, Paint()))
    assert "Unreachable" in text
    assert "/100" not in text
    assert "Fixes" not in text
    spoken = "\n".join(cardview.sentences(DEAD))
    assert "Unreachable, so there is no score." in spoken


@given(cards())
def test_any_card_can_be_shown_and_spoken(card: ReportCard) -> None:
    shown = "\n".join(cardview.lines(card, Paint(), note="a note"))
    assert "\x1b" not in shown
    spoken = list(cardview.sentences(card, note="a note"))
    assert card.host in spoken[0]
    assert not set("◉◍◌✓✗█░") & {char for line in spoken[:3] for char in line}
