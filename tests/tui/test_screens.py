"""What is on the screen, as plain text: one golden per screen and size in tests/tui/screens."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from aui_tui.model.query import Query
from aui_tui.model.signs import ASCII
from aui_tui.model.surfaces import SURFACES
from aui_tui.text import cells
from aui_tui.tui.columns import RANKED, UNREACHABLE, Column
from aui_tui.tui.rows import term
from aui_tui.tui.screens.exchange import EXPLAINED
from aui_tui.tui.screens.help import NOTES
from aui_tui.tui.screens.index import IndexScreen
from aui_tui.tui.screens.listparts import column_foot, feed_line, legend_lines, row_foot
from aui_tui.tui.screens.overview import OverviewScreen
from aui_tui.tui.widgets.bars import KeyBar
from aui_tui.tui.widgets.querybar import QueryLine
from aui_tui.tui.words import TERMS

from .service import CardService
from .stage import press, settle, stage, text_of, until

FOLDER = Path(__file__).parent / "screens"
NARROW, WIDE, TINY = SIZES = ((80, 24), (140, 40), (50, 15))
JOURNEYS: dict[str, tuple[int, tuple[str, ...], tuple[tuple[int, int], ...]]] = {
    "index": (60, (), SIZES),
    "unreachable": (60, ("u",), (NARROW,)),
    "walled": (60, ("3",), (NARROW,)),
    "category": (60, ("c",), (NARROW,)),
    "search": (60, ("slash", "= nest category:"), (NARROW,)),
    "bad-query": (60, ("slash", "= stanc:w"), (NARROW,)),
    "empty": (0, (), (NARROW,)),
    "nothing": (60, ("slash", "= zzz", "enter"), (NARROW,)),
    "ask-scan": (0, ("s",), (NARROW,)),
    "marks": (60, ("space", "space"), (NARROW,)),
    "matrix": (60, ("m", "3"), (NARROW,)),
    "overview": (60, ("v",), (NARROW,)),
    "compare": (60, ("space", "space", "space", "equals_sign"), (NARROW,)),
    "card": (60, ("down", "down", "end", "enter"), SIZES),
    "card-unreachable": (60, ("u", "enter"), (NARROW,)),
    "card-find": (60, ("end", "enter", "2", "slash", "m", "e"), (NARROW,)),
    "card-agents": (60, ("end", "enter", "2"), (NARROW,)),
    "card-evidence": (60, ("end", "enter", "3"), (NARROW,)),
    "card-fixes": (60, ("end", "enter", "4", "down"), (NARROW,)),
    "card-what-if": (60, ("end", "enter", "4", "space", "down", "space"), (WIDE,)),
    "card-log": (60, ("end", "enter", "6"), (NARROW,)),
    "card-crawlers": (60, ("end", "enter", "2", "C", "end"), (NARROW,)),
    "card-ledger": (60, ("end", "enter", "l"), (NARROW,)),
    "card-changes": (60, ("end", "enter", "d"), (NARROW,)),
    "card-history": (60, ("end", "enter", "h"), (NARROW,)),
    "card-zoomed": (60, ("end", "enter", "3", "plus"), (WIDE,)),
    "help": (60, ("question_mark",), (NARROW,)),
    "method": (60, ("e",), (NARROW,)),
    "themes": (60, ("T",), (NARROW,)),
}
CASES = [(name, size) for name, (_, _, sizes) in JOURNEYS.items() for size in sizes]


def compare(name: str, text: str) -> None:
    """Hold ``text`` against its golden; with AUI_TUI_GOLDENS=write, write it instead."""
    path = FOLDER / f"{name}.txt"
    if os.environ.get("AUI_TUI_GOLDENS") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.ci
@pytest.mark.parametrize(("name", "size"), CASES, ids=[f"{name}-{size[0]}x{size[1]}" for name, size in CASES])
async def test_screen_is_as_agreed(name: str, size: tuple[int, int]) -> None:
    hosts, keys, _ = JOURNEYS[name]
    async with stage(CardService.of(hosts), size) as pilot:
        for key in keys:
            if key.startswith("= "):
                pilot.app.screen.query_one(QueryLine).value = key[2:]
            else:
                await pilot.press(key)
            await settle(pilot)
        text = text_of(pilot)
    assert len(text.splitlines()) == size[1]
    compare(f"{name}-{size[0]}x{size[1]}", text)


@pytest.mark.ci
@pytest.mark.parametrize("name", ["overview", "compare", "matrix", "help", "method", "card-history"])
async def test_a_screen_is_as_agreed_after_the_others_were_open(name: str) -> None:
    hosts, keys, ((width, height),) = JOURNEYS[name]
    async with stage(CardService.of(hosts), (width, height)) as pilot:
        for key in ("enter", "escape", "v", "escape", *keys):
            await pilot.press(key)
            await settle(pilot)
        compare(f"{name}-{width}x{height}", text_of(pilot))


@pytest.mark.ci
async def test_ascii_screen_has_nothing_but_ascii() -> None:
    async with stage(CardService.of(60), (80, 24), ascii=True) as pilot:
        for key in ("", "c", "escape", "m", "v", "escape", "enter", "2", "4", "l", "d", "6", "question_mark"):
            if key:
                await pilot.press(key)
                await settle(pilot)
            assert text_of(pilot).isascii()
            assert not re.search("^ *[+]-|-[+] *$", text_of(pilot), re.MULTILINE), "a corner is no “in”"


async def test_an_end_of_a_scroll_bar_is_no_sign_in_ascii() -> None:
    async with stage(CardService.of(60), (80, 24), ascii=True) as pilot:
        for place in range(12):
            await press(pilot, "pagedown" if place % 2 else "down")
            assert not {line[79:] for line in text_of(pilot).splitlines()[3:21]} - {"", " "}, text_of(pilot)


def test_every_sign_of_ours_has_an_ascii_form() -> None:
    labels = [column.label for column in (*RANKED, *UNREACHABLE)]
    assert not [text for text in (*labels, *NOTES.values()) if text.translate(ASCII).count("?") > text.count("?")]


def test_every_sentence_of_a_foot_stands_whole_in_80_cells() -> None:
    feet = [term(name, words) for name, words in {**TERMS, **EXPLAINED}.items()]
    assert [foot.plain for foot in feet if foot.cell_length > 80] == []


def test_names_of_the_matrix_stand_whole_where_80_cells_are() -> None:
    names = " ".join(row.plain for row in legend_lines(80))
    assert all(f"{number} {surface.label}" in names for number, surface in enumerate(SURFACES, 1))
    assert len(legend_lines(140)) == 1


@pytest.mark.parametrize("column", RANKED, ids=[column.key for column in RANKED])
def test_the_foot_of_a_column_keeps_the_shell_command_whole(column: Column) -> None:
    query = "category:retail agent:claude=out agent:chatgpt=in"
    for command in (
        "aui-tui index",
        f"aui-tui index --query '{query}'",
        f"aui-tui index --query '{query}' --sort -rank",
    ):
        shown = column_foot(column, 140, command).plain
        assert cells(shown) == 140
        assert shown.startswith(f" {column.label}  ")
        assert shown.endswith(f"  {command} ")
    assert "F counts it." in column_foot(column, 140, "aui-tui index").plain


async def test_the_foot_follows_the_width_of_the_screen() -> None:
    async with stage(CardService.of(60), WIDE) as pilot:
        for (width, height), there in ((NARROW, False), (WIDE, True)):
            await pilot.resize_terminal(width, height)
            await settle(pilot)
            assert ("aui-tui index" in text_of(pilot)) is there


async def test_a_wide_query_line_shows_three_terms_whole() -> None:
    line = "category:retail agent:claude=out agent:chatgpt=in"
    async with stage(CardService.of(60), WIDE, query=Query.of(line=line)) as pilot:
        assert line in text_of(pilot)


@pytest.mark.parametrize("size", [60, 80, 140])
def test_a_feed_says_how_far_it_is_and_what_stops_it(size: int) -> None:
    shown = feed_line("demo", 2, 35, size).plain
    assert len(shown) == size
    assert "demo: 2 of 35 scans" in shown
    assert "  esc stops" in shown
    assert "…" not in shown


def test_the_foot_of_a_row_is_its_finding_or_where_that_is_too_long_what_its_mark_means() -> None:
    row = asyncio.run(CardService.of(1).index(Query())).ranked[0:1][0]
    for words, foot in (("Short.", "Short."), ("long " * 30, "Gets the page")):
        row = replace(row, summary=replace(row.summary, matrix={}, top_evidence=words))
        shown = row_foot(row, 80).plain
        assert foot in shown
        assert len(shown) <= 80


async def test_a_click_on_a_key_does_what_the_key_does() -> None:
    async with stage(CardService.of(3), WIDE) as pilot:
        bar = pilot.app.screen.query_one("#keys", KeyBar)
        await pilot.click(bar, offset=(bar.render().plain.index("Overview"), 0))
        await until(lambda: isinstance(pilot.app.screen, OverviewScreen))
        await settle(pilot)  # a bar has its place only after the first layout
        bar = pilot.app.screen.query_one("#keys", KeyBar)
        await pilot.click(bar, offset=(bar.render().plain.index("Back"), 0))
        await until(lambda: isinstance(pilot.app.screen, IndexScreen))
