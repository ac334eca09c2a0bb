"""What a person does, key by key, and what comes of it."""

from __future__ import annotations

import asyncio
import re
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from aui_tui.errors import ConfigError, RateLimited, Unavailable
from aui_tui.model.listing import Facets, IndexView
from aui_tui.model.query import Query
from aui_tui.model.surfaces import SURFACES
from aui_tui.model.vocabulary import CATEGORIES, STANCES
from aui_tui.report.overview import overview
from aui_tui.service.local import LocalService
from aui_tui.tui.app import AuiApp
from aui_tui.tui.bindings import TABLES, checked
from aui_tui.tui.context import Context, Preferences
from aui_tui.tui.rows import STYLES
from aui_tui.tui.screens.card import CardScreen
from aui_tui.tui.screens.first import FirstScreen
from aui_tui.tui.screens.index import IndexScreen
from aui_tui.tui.screens.listparts import chips_line
from aui_tui.tui.screens.windows import ReadScreen
from aui_tui.tui.state import ListState
from aui_tui.tui.widgets.dropdown import DropDown
from aui_tui.tui.widgets.listing import RowList
from aui_tui.tui.widgets.querybar import QueryLine

from .cards import NOW, host_name, make_card
from .service import OLD_COPY, CardService, PublishedService
from .stage import press, settle, shows, stage, text_of, work_ended


def index_of(pilot: Pilot[int]) -> IndexScreen:
    screen = pilot.app.screen
    assert isinstance(screen, IndexScreen)
    return screen


def host_of(pilot: Pilot[int]) -> str:
    row = index_of(pilot).table.row
    assert row is not None
    return row.summary.host


async def type_line(pilot: Pilot[int], text: str) -> None:
    """Open the query line and write it as a whole, as a paste does."""
    line = index_of(pilot).query_one(QueryLine)
    if not line.has_focus:
        await press(pilot, "slash")
    line.value = text
    await settle(pilot)


@pytest.mark.ci
async def test_stance_and_category_narrow_the_list_and_esc_widens_it_again() -> None:
    async with stage(CardService.of(60)) as pilot:
        everything = len(index_of(pilot).table)
        await press(pilot, "3")
        walled = len(index_of(pilot).table)
        assert 0 < walled < everything
        await press(pilot, "c", "down", "enter")
        assert 0 < len(index_of(pilot).table) < walled
        assert "◌ Walled" in text_of(pilot)
        assert "◉ Open   " not in text_of(pilot)
        await press(pilot, "escape")
        assert len(index_of(pilot).table) == everything


@pytest.mark.ci
async def test_enter_shows_a_line_of_a_comparison_in_full() -> None:
    async with stage(CardService.of(60), (50, 15)) as pilot:
        await press(pilot, "space", "space", "equals_sign", "down", "enter")
        assert isinstance(pilot.app.screen, ReadScreen)
        assert "…" not in "".join(pilot.app.screen.query_one(RowList).texts)
        assert len(pilot.app.screen.query_one(RowList).texts) == 5


@pytest.mark.ci
async def test_enter_shows_what_the_chosen_site_of_a_comparison_did_and_o_opens_that_site(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    async with stage(CardService(map(make_card, range(60))), (140, 40)) as pilot:  # cards without what was seen
        await press(pilot, "home", "space", "end", "space", "equals_sign")
        said = {}
        for side, key in (("codeyard14.example", ""), ("shophub0.example", "right"), ("codeyard14.example", "left")):
            await press(pilot, *filter(None, (key,)), "o")
            assert pilot.app.clipboard == f"https://{side}/"
            await press(pilot, "enter")
            assert isinstance(pilot.app.screen, ReadScreen)
            said[side] = " ".join(" ".join(pilot.app.screen.query_one(RowList).texts).split())
            await press(pilot, "escape")
    assert "The site answers this name with a challenge page (403)." in said["codeyard14.example"]
    assert "The site serves the page to this name." in said["shophub0.example"]


@pytest.mark.ci
async def test_keys_of_the_list_work_again_once_it_has_rows_again() -> None:
    async with stage(CardService.of(60)) as pilot:
        await press(pilot, "slash", *"zzz", "enter", "down")
        assert isinstance(pilot.app.screen, IndexScreen)
        assert pilot.app.screen.host() == ""
        await press(pilot, "escape", "home", "down")
        assert pilot.app.screen.table.cursor == 1


@pytest.mark.ci
async def test_leaving_the_search_restores_list_and_cursor() -> None:
    async with stage(CardService.of(60)) as pilot:
        index_of(pilot).table.move_to(7)
        before = host_of(pilot)
        await press(pilot, "slash", *"nest")
        assert all("nest" in row.summary.host for row in (index_of(pilot).state.window or [])[:])
        await press(pilot, "escape")
        assert host_of(pilot) == before
        assert index_of(pilot).state.query.line == ""


@pytest.mark.ci
async def test_a_bad_term_keeps_the_list_and_says_what_is_wrong() -> None:
    async with stage(CardService.of(20), (140, 40)) as pilot:
        await type_line(pilot, "nest")
        found = len(index_of(pilot).table)
        await type_line(pilot, "nest stanc:x")
        assert "did you mean stance:?" in text_of(pilot)
        assert len(index_of(pilot).table) == found > 0


@pytest.mark.ci
async def test_card_opens_walks_and_returns_to_the_same_host() -> None:
    async with stage(CardService.of(30)) as pilot:
        await press(pilot, "down", "down", "enter")
        assert isinstance(pilot.app.screen, CardScreen)
        await press(pilot, "n", "n")
        host = pilot.app.screen.state.host
        assert host in text_of(pilot)
        await press(pilot, "escape")
        assert host_of(pilot) == host


@pytest.mark.ci
async def test_cursor_stays_on_its_host_over_resize_and_reload() -> None:
    async with stage(CardService.of(60)) as pilot:
        index_of(pilot).table.move_to(30)
        host = host_of(pilot)
        await pilot.resize_terminal(50, 15)
        await settle(pilot)
        assert host in text_of(pilot)
        await press(pilot, "r")
        await pilot.resize_terminal(140, 40)
        await settle(pilot)
        assert host_of(pilot) == host
        assert host in text_of(pilot)


@pytest.mark.ci
async def test_scan_shows_one_line_per_probe_and_the_app_stays_usable() -> None:
    service = CardService.of(12)
    service.gate = asyncio.Event()
    async with stage(service) as pilot:
        host = host_of(pilot)
        await press(pilot, "s")
        await shows(pilot, "ChatGPT", "Claude", "robots.txt", "llms.txt", "browser", "12 s", "2/11 probes")
        await press(pilot, "down")
        assert host_of(pilot) != host
        service.gate.set()
        await work_ended(pilot)
        await settle(pilot)
        assert "6 scans left" in text_of(pilot)
        assert not any(scan.running for scan in pilot.app.scans)  # type: ignore[attr-defined]


@pytest.mark.ci
async def test_esc_cancels_the_scan_and_nothing_is_stored() -> None:
    service = CardService.of(12)
    service.gate = asyncio.Event()
    async with stage(service) as pilot:
        assert isinstance(pilot.app, AuiApp)
        await press(pilot, "s")
        await shows(pilot, "2/11 probes")
        await press(pilot, "escape")
        await work_ended(pilot)
        await settle(pilot)
        assert [scan.state for scan in pilot.app.scans] == ["cancelled"]
        assert service.left == 7


@pytest.mark.ci
@pytest.mark.parametrize(
    "error",
    [
        Unavailable("The store cannot be read."),
        RateLimited("No scans left this hour; the next slot frees at 10:42.", retry_after=9, reset_at=0.0),
        ValueError("[/nope] [@click=app.quit]x[/] \x1b]0;t\x07"),
    ],
)
async def test_errors_are_one_sentence_and_the_app_lives(error: Exception) -> None:
    service = CardService.of(3)
    async with stage(service) as pilot:
        service.failure = error
        await press(pilot, "s")
        await press(pilot, "r")
        await press(pilot, "enter")
        assert pilot.app.is_running
        assert "\x1b" not in text_of(pilot)


async def test_a_source_that_fails_at_the_start_is_reported() -> None:
    service = CardService.of(3)
    service.failure = Unavailable("The store cannot be read.")
    async with stage(service, (140, 40)) as pilot:
        assert "The store cannot be read." in text_of(pilot)


def test_keymap_names_the_nearest_and_every_problem() -> None:
    with pytest.raises(ConfigError) as caught:
        checked({"scann": "s", "scan": "ctrl+shift+banana"})
    assert "did you mean scan?" in str(caught.value)
    assert "banana" in str(caught.value)


def test_keymap_refuses_two_actions_on_one_key() -> None:
    with pytest.raises(ConfigError, match=r"c is both"):
        checked({"scan": "c"})


def test_keymap_is_spelled_for_textual() -> None:
    assert checked({"scan": "f2,!"} | {"search": "ctrl+f"}) == {"scan": "f2,exclamation_mark", "search": "ctrl+f"}


@pytest.mark.ci
@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_an_old_copy_of_a_list_and_of_a_card_says_so(size: tuple[int, int]) -> None:
    async with stage(PublishedService.of(3), size) as pilot:
        assert OLD_COPY in text_of(pilot).splitlines()[-2]
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, CardScreen)
        assert "the copy of 3 h ago" in text_of(pilot)


class LongIndex(CardService):
    """Gives the first rows when ``found`` is set, if it is there, and the rest when ``counted`` is."""

    found: asyncio.Event | None = None
    counted: asyncio.Event | None = None

    async def first_page(self, query: Query) -> IndexView | None:
        if self.found is not None:
            await self.found.wait()
        view = await super().index(query)
        zero = Facets(stance=dict.fromkeys(STANCES, 0), category=dict.fromkeys(CATEGORIES, 0))
        changed = {"ranked": view.ranked[:20], "unreachable": view.unreachable[:20], "facets": zero}
        return replace(view, **changed, counting=True) if query.terms else None

    async def index(self, query: Query) -> IndexView:
        if self.counted is not None:
            await self.counted.wait()
        return await super().index(query)


@pytest.mark.ci
async def test_first_rows_of_a_long_list_come_before_its_figures_and_the_cursor_stays_where_it_was_put() -> None:
    service = LongIndex.of(60)
    async with stage(service, (140, 40)) as pilot:
        await press(pilot, "slash")
        service.counted = asyncio.Event()
        index_of(pilot).line.value = "o"
        await shows(pilot, "AUI  … of ")
        assert len(index_of(pilot).table) == 20
        assert "… unreachable" in text_of(pilot)
        assert "◉ Open …" in chips_line(index_of(pilot).state, 140).plain
        index_of(pilot).table.move_to(3)
        host = host_of(pilot)
        service.counted.set()
        await settle(pilot)
        assert "…" not in text_of(pilot).splitlines()[0]
        assert len(index_of(pilot).table) > 20
        assert host_of(pilot) == host


@pytest.mark.ci
async def test_a_search_that_takes_long_says_so_and_an_order_begins_with_its_first_rows() -> None:
    service = LongIndex.of(60)
    async with stage(service, (140, 40)) as pilot:
        await press(pilot, "slash")
        service.found, service.counted = asyncio.Event(), asyncio.Event()
        index_of(pilot).line.value = "zq"
        await shows(pilot, "AUI  searching 55 sites …")
        assert len(index_of(pilot).table) > 0
        service.found.set()
        await shows(pilot, "No host")  # before the counts
        assert "AUI  … of " in text_of(pilot)
        service.counted.set()
        await shows(pilot, "AUI  0 of ")
        assert "No host" in text_of(pilot)
        index_of(pilot).line.value = "o"
        await press(pilot, "enter")
        service.counted.clear()
        first = host_of(pilot)
        await pilot.press("t")
        await shows(pilot, "AUI  … of ")
        assert index_of(pilot).table.cursor == 0
        assert host_of(pilot) != first
        service.counted.set()
        await settle(pilot)
        assert index_of(pilot).table.cursor == 0
        await press(pilot, "down", "down")
        second = host_of(pilot)
        await press(pilot, "R")
        await settle(pilot)
        assert host_of(pilot) == second


@pytest.mark.ci
async def test_each_of_the_two_lists_keeps_its_cursor() -> None:
    async with stage(CardService.of(60)) as pilot:
        index_of(pilot).table.move_to(9)
        ranked = host_of(pilot)
        await press(pilot, "u", "down", "down")
        gone = host_of(pilot)
        await press(pilot, "u")
        assert host_of(pilot) == ranked
        await press(pilot, "u")
        assert host_of(pilot) == gone


@pytest.mark.parametrize("size", [(140, 40), (80, 24), (50, 15)], ids=str)
async def test_counts_of_all_stances_stay_on_the_screen_beside_the_longest_category(size: tuple[int, int]) -> None:
    async with stage(CardService.of(60), size) as pilot:
        screen = index_of(pilot)
        screen.become(screen.state.asking(category="Grocery & food"))
        await settle(pilot)
        chips = text_of(pilot).splitlines()[1]
        view = screen.state.view
        assert view is not None
        for number, (stance, sign) in enumerate((("Open", "◉"), ("Selective", "◐"), ("Walled", "◌")), 1):
            assert f"{number} {sign}" in chips
            assert f" {view.facets.stance[stance]}" in chips.partition(sign)[2]
        assert "…" not in chips


FIGURES = (
    "agent:claude=challenged",
    "agent:claude=in",
    "grade:a",
    "score:90..100",
    "fix:signal",
)


def panes(pilot: Pilot[int]) -> list[RowList]:
    return list(pilot.app.screen.query(RowList))


def here(pilot: Pilot[int]) -> RowList:
    focused = pilot.app.focused
    assert isinstance(focused, RowList)
    return focused


def keys_of(pane: RowList) -> list[str]:
    """Return the keys of all rows and figures that can be chosen, from top to bottom."""
    return [key for row in pane.rows for key in ([stop.key for stop in row.stops] or [row.key]) if key]


def go_to(pilot: Pilot[int], key: str) -> RowList:
    pane = next(pane for pane in panes(pilot) if pane.go_to(key))
    pane.focus()
    return pane


@pytest.mark.ci
@pytest.mark.parametrize("size", [(80, 24), (140, 40), (50, 15)], ids=str)
async def test_every_figure_of_the_overview_is_reached_by_its_pane_and_the_arrows(size: tuple[int, int]) -> None:
    async with stage(CardService.of(60), size) as pilot:
        await press(pilot, "v")
        wanted = {key for pane in panes(pilot) for key in keys_of(pane)}
        assert len(wanted) > 30
        seen = set()
        for digit in "123456":
            await press(pilot, digit)
            pane = here(pilot)
            for _ in keys_of(pane):
                for _ in range(20):
                    seen.add(pane.key)
                    pane.action_side(1)
                pane.action_step(1)
        assert seen == wanted


@pytest.mark.ci
@pytest.mark.parametrize("line", FIGURES)
async def test_a_figure_opens_the_hosts_that_it_counts_and_esc_comes_back_to_it(line: str) -> None:
    async with stage(CardService.of(60), (140, 40)) as pilot:
        everything = len(index_of(pilot).table)
        await press(pilot, "v")
        go_to(pilot, line)
        await press(pilot, "enter")
        assert index_of(pilot).state.query.line == line
        assert index_of(pilot).line.value == line
        assert 0 < len(index_of(pilot).table) <= everything
        await press(pilot, "escape")
        assert here(pilot).key == line
        await press(pilot, "escape")
        assert len(index_of(pilot).table) == everything


@pytest.mark.ci
async def test_the_cursor_of_the_overview_goes_up_down_and_aside_and_stays_over_a_resize() -> None:
    async with stage(CardService.of(60), (140, 40)) as pilot:
        await press(pilot, "v", "down", "right", "left", "up", "down", "down")
        before = here(pilot).key
        await pilot.resize_terminal(50, 15)
        await settle(pilot)
        assert here(pilot).key == before


async def test_changes_are_counted_since_a_day_that_was_typed(tmp_path: Path) -> None:
    service = LocalService(tmp_path)
    for score, stamp in ((40, "2026-11-01"), (55, "2026-11-10"), (90, "2026-11-19")):
        card = replace(make_card(0), host="rising.example", score=score, scanned_at=stamp + "T10:00:00.000Z")
        service.store.put(card, None)
    async with stage(service, (140, 40)) as pilot:
        await press(pilot, "v")
        assert re.search(r"rising\.example +\+35 +90 +55", text_of(pilot))
        await press(pilot, "d", "end", "enter", *"2026-11-05", "enter")
        shown = text_of(pilot)
        assert "changes since 11-05" in shown
        assert "6 Since 11-05" in shown
        assert re.search(r"rising\.example +\+50 +90 +40", shown)
        await press(pilot, "d", "end", "enter", *"soon", "enter")
        assert "A day is written as 2026-11-15, not 'soon'." in text_of(pilot)
    await service.aclose()


async def test_each_assistant_has_its_change_and_its_weeks(tmp_path: Path) -> None:
    service = LocalService(tmp_path)
    plain = next(card for card in map(make_card, range(60)) if not card.unreachable)
    for number in range(6):
        for day, claude in (("2026-11-01", "blocked"), ("2026-11-10", "allowed" if number < 2 else "blocked")):
            matrix = {**plain.matrix, "claude": claude}
            host, at = f"shop{number}.example", day + "T10:00:00.000Z"
            service.store.put(replace(plain, host=host, matrix=matrix, category="Travel", scanned_at=at), None)

    async with stage(service, (200, 60)) as pilot:
        await press(pilot, "v")
        shown = text_of(pilot)
        assert "In 12 weeks" in shown
        assert re.search(r"Claude .* \+33 ", shown), "of 0 % to 33 %"
        assert re.search(r"Assistant +Let in now +Kept out now", shown)
        assert re.search(r"Claude +2 +0 ", shown)
        await press(pilot, "d", "end", "enter", *"2026-11-15", "enter")
        assert "Let in now" not in text_of(pilot)
    await service.aclose()


@pytest.mark.parametrize(
    ("lines", "size"),
    [
        (("contradiction:out agent:claude=refused,challenged", "contradiction:in agent:claude=told-no"), (200, 60)),
        (
            (
                'edge:="cloudflare nginx" agent:any=refused,challenged',
                'edge:="nginx" agent:any=refused,challenged',
            ),
            (140, 40),
        ),
    ],
    ids=["contradictions", "edges"],
)
async def test_a_count_of_sites_that_turn_an_assistant_away_opens_them(
    tmp_path: Path, lines: tuple[str, ...], size: tuple[int, int]
) -> None:
    service = LocalService(tmp_path)
    many = [*map(make_card, range(60))]
    served = next(card for card in many if card.live_served == 4)
    many.append(
        replace(
            served,
            host="served.example",
            wildcard_block=True,
            ua_policy=dict.fromkeys(served.ua_policy, "unlisted"),
            matrix={**served.matrix, "claude": "disallowed"},
        )
    )
    walled = next(card for card in many if card.edge == "cloudflare nginx" and not card.live_served)
    many.append(replace(walled, host="own.example", edge="nginx"))
    service.store.put_many((card, None) for card in many)
    async with stage(service, size) as pilot:
        await press(pilot, "v")
        for line in lines:
            pane = go_to(pilot, line)
            row = pane.rows[pane.highlighted or 0]
            stop = next(stop for stop in row.stops if stop.key == pane.key)
            number = int(row.content.plain[stop.start : stop.end].split()[0])
            await press(pilot, "enter")
            assert index_of(pilot).state.query.line == line
            assert len(index_of(pilot).table) == number > 0
            await press(pilot, "escape")
    await service.aclose()


@pytest.mark.parametrize("keys", [(), ("m",), ("u",)], ids=["ranked", "matrix", "unreachable"])
async def test_the_next_column_to_sort_by_is_one_on_show(keys: tuple[str, ...]) -> None:
    async with stage(CardService.of(60), (50, 20)) as pilot:
        await press(pilot, *keys)
        table = index_of(pilot).table
        heads = [text_of(pilot).splitlines()[2]]
        for _ in range(12):
            await press(pilot, "greater_than_sign")
            assert index_of(pilot).state.query.sort in {column.sort for column in table._columns}
            heads.append(text_of(pilot).splitlines()[2])
        assert all(head != after for head, after in pairwise(heads)) or keys == ("u",)


async def test_a_key_for_a_host_says_that_an_empty_list_has_none() -> None:
    async with stage(CardService.of(3), (140, 40)) as pilot:
        await press(pilot, "slash", *"zzz", "enter")
        assert not {"space Mark", "F Count", "y Copy"} & set(re.split("  +", text_of(pilot).splitlines()[-1]))
        for key in ("enter", "space", "y", "Y", "o", "a", "F"):
            await press(pilot, key)
            assert "This list has no hosts." in text_of(pilot), key
            pilot.app.clear_notifications()
            await settle(pilot)
            assert "This list has no hosts." not in text_of(pilot)
        await press(pilot, "escape", "escape")
        assert "space Mark" in text_of(pilot)


async def test_an_empty_list_says_what_is_filtered() -> None:
    async with stage(CardService.of(60), (140, 40)) as pilot:
        await press(pilot, "3", "slash")
        await type_line(pilot, "zzz")
        await press(pilot, "enter")
        assert 'No Walled host matches "zzz".' in text_of(pilot)
        await press(pilot, "3", "u")
        assert 'No unreachable host matches "zzz".' in text_of(pilot)


async def test_digits_filter_by_stance_in_every_list() -> None:
    async with stage(CardService.of(60), (140, 40)) as pilot:
        for keys, stance in (("2", "Selective"), ("m3", "Walled"), ("u1", "Open")):
            await press(pilot, *keys)
            assert index_of(pilot).state.query.stance == stance, keys


async def test_columns_stay_with_a_filter() -> None:
    async with stage(CardService.of(60), (140, 40)) as pilot:
        heads = text_of(pilot).splitlines()[2][:90]
        for keys in (("1",), ("3",), ("0", "slash", *"shop", "enter")):
            await press(pilot, *keys)
            assert text_of(pilot).splitlines()[2][:90] == heads, keys


async def test_an_assistant_of_the_overview_offers_what_it_gets_with_the_rows_that_open() -> None:
    surface = next(surface for surface in SURFACES if surface.slug == "claude")
    async with stage(CardService.of(60), (140, 40)) as pilot:
        figures = await index_of(pilot).context.service.overview(Query())
        (who,) = [part for part in overview(figures) if part.name == "assistants"]
        (row,) = [item for item in who.items if item.label == surface.label]
        counts = [int(cell) for cell, opens in zip(row.cells, row.opens, strict=True) if opens]
        assert len(counts) >= 3
        for place, number in enumerate(counts):
            await press(pilot, "v")
            go_to(pilot, "claude")
            await press(pilot, "enter", *["down"] * place, "enter")
            assert len(index_of(pilot).table) == number > 0
            index_of(pilot).view(ListState())
            await settle(pilot)


async def test_esc_before_the_answer_has_come_takes_no_filled_index_for_an_empty_one() -> None:
    async with stage(CardService.of(3)) as pilot:
        await press(pilot, "slash", *"zzz", "enter")
        screen = index_of(pilot)
        screen.state = screen.state.with_line("")  # asked for, and what is on show is still the answer before
        screen.action_back()
        await settle(pilot)
        assert pilot.app.screen is screen


async def test_a_key_that_does_nothing_is_named_as_it_is_typed() -> None:
    async with stage(CardService.of(3)) as pilot:
        await press(pilot, "exclamation_mark")
        assert "! does nothing here." in text_of(pilot)
        await press(pilot, "enter", "2", "slash", "enter")
        assert "There is no line to go to" in text_of(pilot)


async def test_reading_again_asks_the_source_however_lately_it_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    service, asked = PublishedService.of(5), list[str]()
    monkeypatch.setattr(service, "refresh", lambda: asked.append("again"))
    async with stage(service) as pilot:
        await press(pilot, "r")
    assert asked == ["again"]


async def test_a_source_without_earlier_scans_says_so() -> None:
    async with stage(PublishedService.of(5), (140, 40)) as pilot:
        await press(pilot, "v", "d", "down", "enter")
        assert "This source keeps no earlier scans" in text_of(pilot)
        assert "6 Since each scan before" in text_of(pilot)


@pytest.mark.parametrize("size", [(80, 24), (140, 40)], ids=str)
async def test_a_digit_puts_the_cursor_into_its_pane_of_the_overview(size: tuple[int, int]) -> None:
    kinds = {"1": "chatgpt", "2": "grade", "3": "category", "4": "edge", "5": "fix", "6": "host"}
    async with stage(CardService.of(60), size) as pilot:
        await press(pilot, "v")
        for digit in "654321":
            await press(pilot, digit)
            assert here(pilot).key.split(":")[0] == kinds[digit]


async def test_plus_gives_one_pane_of_the_overview_the_whole_screen() -> None:
    async with stage(CardService.of(60), (200, 60)) as pilot:
        await press(pilot, "v")
        everything = text_of(pilot)
        titles = [f"─ {n} " for n in range(1, 7)]
        assert all(title in everything for title in titles)
        await press(pilot, "6", "plus")
        alone = text_of(pilot)
        assert [title for title in titles if title in alone] == ["─ 6 "]
        assert sum("│" in row for row in alone.splitlines()) >= 54
        await press(pilot, "3")
        assert "─ 3 Stances" in text_of(pilot)
        await press(pilot, "plus")
        assert all(title in text_of(pilot) for title in titles)


async def test_plus_gives_a_pane_of_the_card_all_the_room_below_the_answer() -> None:
    async with stage(CardService.of(60), (200, 60), start_host="shophub0.example") as pilot:
        screen = pilot.app.screen
        for digit in "2458":
            await press(pilot, digit, "plus")
            shown = [pane for pane in screen.query(".column .pane") if pane.display and pane.region.height]
            assert f"pane-{digit}" in {pane.id for pane in shown}
            tabs, panes = screen.query_one("#tabs").region, screen.query_one("#panes").region
            assert panes.y == tabs.bottom
            assert sum(pane.region.height for pane in shown) == panes.height
            assert all(pane.region.width == 200 for pane in shown)
            await press(pilot, "plus")


@pytest.mark.ci
async def test_keys_on_an_overview_without_figures_do_nothing() -> None:
    async with stage(CardService.of(3)) as pilot:
        await press(pilot, "slash", *"zzz", "enter", "v", "enter", "down", "right", "tab", "end", "pagedown")
        assert "nothing to count" in text_of(pilot)


async def test_an_unfinished_term_keeps_the_list_and_offers_its_values() -> None:
    async with stage(CardService.of(60)) as pilot:
        await press(pilot, "slash")
        await type_line(pilot, "stance:wal")
        assert len(index_of(pilot).table) == 55
        assert "shut out" in text_of(pilot)
        assert "typing …" in text_of(pilot)
        await press(pilot, "tab")
        assert index_of(pilot).line.value == "stance:walled"
        assert 0 < len(index_of(pilot).table) < 55


@pytest.mark.ci
async def test_a_wrong_term_is_said_and_never_rewritten() -> None:
    async with stage(CardService.of(60), (140, 40)) as pilot:
        await press(pilot, "slash")
        await type_line(pilot, "stance:walled score:<40x")
        walled = len(index_of(pilot).table)
        assert "score: takes a number" in text_of(pilot) or "score:" in text_of(pilot).splitlines()[-2]
        await press(pilot, "enter")
        assert index_of(pilot).line.value == "stance:walled score:<40x"
        assert index_of(pilot).state.query.line == "stance:walled"
        assert len(index_of(pilot).table) == walled < 55
        await press(pilot, "escape")
        assert index_of(pilot).line.value == ""


@pytest.mark.ci
async def test_arrows_choose_in_the_drop_down_and_the_first_esc_closes_it() -> None:
    async with stage(CardService.of(60)) as pilot:
        await press(pilot, "slash")
        await type_line(pilot, "grade:")
        drop_down = index_of(pilot).query_one(DropDown)
        assert len(drop_down.completions) == 5
        await press(pilot, "down", "down")
        assert drop_down.chosen is not None
        assert drop_down.chosen.text == "b"
        await press(pilot, "escape")
        assert index_of(pilot).line.has_focus
        assert not drop_down.completions
        await press(pilot, "escape")
        assert not index_of(pilot).line.has_focus


async def test_a_key_meant_for_another_screen_finds_one_without_its_widgets() -> None:
    async with stage(CardService()) as pilot:
        complete = pilot.app.push_screen(FirstScreen())
        for binding in TABLES["first screen"]:
            await pilot.app.run_action(binding.action, pilot.app.screen)
        await complete
        await shows(pilot, "Can AI assistants get into your site?")


def count_layouts(pilot: Pilot[int]) -> list[object]:
    """Return a list that grows each time that the screen is laid out."""
    laid_out: list[object] = []
    index_of(pilot).screen_layout_refresh_signal.subscribe(index_of(pilot), laid_out.append)
    return laid_out


async def test_a_letter_of_the_query_draws_the_rows_and_does_not_lay_out_the_screen() -> None:
    async with stage(CardService.of(60)) as pilot:
        await press(pilot, "slash", "p", "l")
        laid_out = count_layouts(pilot)
        await press(pilot, "a")
        assert 0 < len(index_of(pilot).table) < 55
        assert not laid_out


async def test_another_row_under_the_cursor_does_not_lay_out_the_screen() -> None:
    async with stage(CardService.of(60), (140, 40)) as pilot:
        laid_out = count_layouts(pilot)
        await press(pilot, "down", "end")
        await shows(pilot, "History")
        assert not laid_out


def marked_chips(pilot: Pilot[int]) -> list[str]:
    chips = chips_line(index_of(pilot).state, 140)
    return [chips.plain[span.start : span.end].strip() for span in chips.spans if span.style == STYLES["found"]]


async def test_filters_that_are_typed_are_marked_as_those_that_are_chosen() -> None:
    async with stage(CardService.of(60), (140, 40)) as pilot:
        await press(pilot, "3")
        assert marked_chips(pilot) == ["◌ Walled 19"]
        await press(pilot, "0", "slash")
        await type_line(pilot, "stance:walled category:travel")
        await press(pilot, "enter")
        assert [chip.split()[:2] for chip in marked_chips(pilot)] == [["◌", "Walled"], ["Category:", "Travel"]]
        await press(pilot, "slash")
        await type_line(pilot, "NOT stance:walled")
        await press(pilot, "enter")
        assert not marked_chips(pilot)


def headings(pilot: Pilot[int]) -> list[str]:
    return text_of(pilot).splitlines()[2].split()


@pytest.mark.parametrize(("size", "more"), [((80, 24), {"Category"}), ((140, 40), {"Category"}), ((240, 40), set())])
async def test_a_column_without_a_value_gives_its_room_to_others(size: tuple[int, int], more: set[str]) -> None:
    once = [make_card(number) for number in range(0, 60, 3)]
    async with stage(CardService(once), size) as pilot:
        assert not {"Δ", "≠", "by"} & set(headings(pilot))
        alone = headings(pilot)
        await press(pilot, *["greater_than_sign"] * 2)
        assert index_of(pilot).state.query.sort == "grade"
    async with stage(CardService([*once, make_card(0, back=1), make_card(1)]), size) as pilot:
        shown = headings(pilot)
        assert {"Δ"} < set(shown) - set(alone)
        assert set(alone) - set(shown) <= more


async def test_columns_stay_whatever_the_filter() -> None:
    service = CardService([make_card(0), make_card(0, back=1), make_card(3), make_card(6)])
    async with stage(service, (140, 40)) as pilot:
        assert "Δ" in headings(pilot)
        await press(pilot, "slash")
        await type_line(pilot, "NOT " + host_name(0))
        assert len(index_of(pilot).table) == 2
        assert "Δ" in headings(pilot)
        await press(pilot, "enter")
        assert "Δ" in headings(pilot)


async def test_columns_that_were_chosen_stay_on_show(tmp_path: Path) -> None:
    preferences = Preferences(columns=("score", "change", "host"))
    app = AuiApp(Context(CardService([make_card(0)]), clock=NOW.timestamp, preferences=preferences))
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        assert headings(pilot)[1:] == ["Δ", "Host"]
