"""The report card: what is sought in a pane, a host without a card, fixes supposed done."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.geometry import Offset
from textual.pilot import Pilot

from aui_tui.checks.scoring import grade_card, what_if
from aui_tui.model.listing import Row
from aui_tui.model.methods import DEFAULT_METHOD, METHODS
from aui_tui.model.observations import Declaration, Declared
from aui_tui.model.points import Standing
from aui_tui.model.report import HostReport
from aui_tui.service.local import LocalService
from aui_tui.text import cells
from aui_tui.tui import app as app_module
from aui_tui.tui.app import AuiApp
from aui_tui.tui.context import Context
from aui_tui.tui.rows import paragraph
from aui_tui.tui.screens.card import CardScreen
from tests.scan import situations

from .cards import NOW, host_name, make_card
from .service import CardService
from .stage import press, settle, shows, stage, text_of, until, work_ended

HOST = host_name(1)


def card_of(pilot: Pilot[int]) -> CardScreen:
    screen = pilot.app.screen
    assert isinstance(screen, CardScreen)
    return screen


class SlowCard(CardService):
    """Gives a card when ``ready`` is set."""

    ready: asyncio.Event | None = None

    async def site(self, host: str, *, method: str = "", at: str = "") -> HostReport:
        if self.ready is not None:
            await self.ready.wait()
        return await super().site(host, method=method, at=at)


async def test_the_cursor_is_in_the_summary_however_late_the_card_comes() -> None:
    service = SlowCard.of(3)
    async with stage(service, (140, 40)) as pilot:
        service.ready = asyncio.Event()
        await pilot.press("enter")
        await until(lambda: isinstance(pilot.app.screen, CardScreen))
        card = card_of(pilot)
        card.become(card.state)
        assert "reading …" in text_of(pilot)
        service.ready.set()
        await settle(pilot)
        assert card.focused is card.query_one("#strip")


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (140, 40), (50, 15)], ids=str)
async def test_find_marks_counts_and_steps_through_a_pane(size: tuple[int, int]) -> None:
    async with stage(CardService.of(12), size, start_host=HOST) as pilot:
        await press(pilot, "2", "slash", *"QUUX")
        assert "nothing found" in text_of(pilot)
        await press(pilot, *["backspace"] * 4, *"in")
        pane = card_of(pilot).pane(2)
        hits = [number for number, text in enumerate(pane.texts) if "in" in text.lower()]
        assert len(hits) > 2
        assert f"1 of {len(hits)} lines" in text_of(pilot)
        for step in range(1, len(hits) + 1):
            await press(pilot, "enter")
            assert f"{step % len(hits) + 1} of {len(hits)} lines" in text_of(pilot)
            top = pane.scroll_offset.y
            assert top <= hits[step % len(hits)] < top + pane.size.height
        await press(pilot, "up")
        assert f"{len(hits)} of {len(hits)} lines" in text_of(pilot)
        await press(pilot, "escape")
        assert " of " + str(len(hits)) + " lines" not in text_of(pilot)
        assert pilot.app.focused is pane


async def test_what_the_site_declares_is_shown_where_it_was_asked_for() -> None:
    entries = (
        Declaration(key="a2a", name="A2A agent card", state="declared", where="/a", agent="refused", status=403),
        Declaration(key="acp", name="ACP discovery", state="absent"),
    )
    card = replace(make_card(1), declared=Declared(at="", agent="ChatGPT-User", requests=3, entries=entries))
    async with stage(CardService([card, make_card(2)]), (140, 40), start_host=HOST) as pilot:
        shown = " ".join(" ".join(card_of(pilot).pane(5).texts).split())
        assert "Declared for agents, not scored" in shown
        assert "A2A agent card" in shown
    async with stage(CardService([make_card(1)]), (140, 40), start_host=HOST) as pilot:
        assert not any("Declared" in text for text in card_of(pilot).pane(5).texts)


@pytest.mark.ci
async def test_another_pane_ends_the_search() -> None:
    async with stage(CardService.of(12), start_host=HOST) as pilot:
        await press(pilot, "5", "slash", *"robots")
        assert "1 of 2 lines" in text_of(pilot)
        await press(pilot, "escape", "3", "slash")
        assert "find in this pane" in text_of(pilot)


@pytest.mark.ci
async def test_host_without_a_card_says_so_and_offers_the_scan() -> None:
    service = CardService.of(3)
    async with stage(service, start_host="new.example") as pilot:
        text = text_of(pilot)
        for words in ("no report card", "There is no report card of new.example.", "s scans it now"):
            assert words in text
        assert "y Copy" not in text
        await press(pilot, "y", "d", "x", "h", "slash")
        assert isinstance(pilot.app.screen, CardScreen)
        await press(pilot, "s")
        await work_ended(pilot)
        await settle(pilot)
        assert service.scanned == [("new.example", False)]
        assert "  65 D " in text_of(pilot)
        assert "no report card" not in text_of(pilot)


@pytest.mark.parametrize("label", ["long", "長い"], ids=["narrow", "wide"])
async def test_a_very_long_host_name_is_cut_and_what_is_said_of_it_stays(label: str) -> None:
    asked, kept = (".".join([word * 8] * 8) + ".example" for word in (label, "long"))
    card = replace(make_card(1), host=kept, name=f"{label} name " * 14)
    for host, cards in ((asked, []), (kept, [card])):
        async with stage(CardService(cards), start_host=host) as pilot:
            for size in ((80, 24), (140, 40), (50, 15)):
                await pilot.resize_terminal(*size)
                await settle(pilot)
                title = text_of(pilot).splitlines()[0]
                assert cells(title) <= size[0]
                assert host[:8] in title
                assert "…" in title
                assert cards or "no report card" in title
                assert "7 scans left" in title
                text = text_of(pilot)
                assert card.stance in text or not cards


@pytest.mark.ci
async def test_walking_passes_over_a_host_that_has_gone() -> None:
    service = CardService.of(30)
    async with stage(service) as pilot:
        await press(pilot, "enter")
        first = card_of(pilot).state.host
        window = card_of(pilot)._window
        assert window is not None
        gone: Row = window[1:2][0]
        after: Row = window[2:3][0]
        service.store.forget(gone.summary.host)
        await press(pilot, "n")
        assert card_of(pilot).state.host == after.summary.host
        assert "no report card" not in text_of(pilot)
        assert first not in text_of(pilot)
        await press(pilot, "p")
        assert card_of(pilot).state.host == first


async def test_ages_grow_while_the_screen_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_module, "AGING", 0.02)
    now = [NOW.timestamp() - 2 * 3600 + 180]
    service = CardService([make_card(0)])
    app = AuiApp(Context(service, clock=lambda: now[0]), start_host=host_name(0))
    async with app.run_test(size=(100, 30)) as pilot:
        await shows(pilot, "scanned 3 min ago")
        now[0] += 3600
        await shows(pilot, "scanned 1 h ago")
        await pilot.press("escape")
        await shows(pilot, "1h")
        now[0] += 86400
        await shows(pilot, "1d")


@pytest.mark.ci
async def test_scans_left_are_asked_for_again_when_one_has_come_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_module, "AGING", 0.02)
    now = [NOW.timestamp()]
    service = CardService.of(3)
    app = AuiApp(Context(service, clock=lambda: now[0]))
    async with app.run_test(size=(100, 30)) as pilot:
        await shows(pilot, "7 scans left")
        service.left = 8
        now[0] += 3600
        await shows(pilot, "8 scans left")


@pytest.mark.ci
async def test_what_if_is_reckoned_by_the_service(tmp_path: Path) -> None:
    seen = situations.wall_for_agents()
    card = grade_card(seen, DEFAULT_METHOD)
    assert card.stance == "Walled"
    service = LocalService(tmp_path)
    service.store.put(card, seen)
    fixes = [fix.k for fix in card.recommendations]
    others = frozenset(fixes) - {"wba"}
    method = METHODS[DEFAULT_METHOD]
    async with stage(service, (140, 40), start_host=card.host, standing=False) as pilot:
        await press(pilot, "4", "home")
        for fix in fixes:
            if fix in others:
                await press(pilot, "space")
            await press(pilot, "down")
        walled = card_of(pilot).state.reached
        exact = what_if(seen, others, method)
        assert walled is not None
        assert (walled.score, walled.grade, walled.stance) == (exact.score, exact.grade, "Walled")
        assert walled.score == 59
        assert str(card.score) + " → 59, no more while Walled" in text_of(pilot)
        while (here := card_of(pilot).state.fix) is not None and here.k != "wba":
            await press(pilot, "up")
        await press(pilot, "space")
        exact = what_if(seen, fixes, method)
        reached = card_of(pilot).state.reached
        assert reached is not None
        assert (reached.score, reached.grade, reached.stance) == (exact.score, exact.grade, exact.stance)
        assert exact.stance != "Walled"
        assert " → " + str(exact.score) + " " + exact.grade in text_of(pilot)
    await service.aclose()


@pytest.mark.ci
async def test_standing_of_other_fixes_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    service = CardService.of(12)
    asked, answer, known = asyncio.Event(), asyncio.Event(), service.what_if

    async def slow(host: str, fixes: frozenset[str], *, method: str = "", at: str = "") -> Standing:
        asked.set()
        await answer.wait()
        return await known(host, fixes, method=method, at=at)

    monkeypatch.setattr(service, "what_if", slow)
    async with stage(service, start_host=HOST) as pilot:
        await press(pilot, "4")
        await pilot.press("space")
        await asked.wait()
        await pilot.press("space")
        answer.set()
        await settle(pilot)
        assert not card_of(pilot).state.done
        assert card_of(pilot).state.reached is None


@pytest.mark.ci
async def test_from_an_earlier_scan_the_newest_is_chosen_again() -> None:
    cards = [make_card(1, back=back) for back in (2, 1, 0)]
    async with stage(CardService(cards), start_host=HOST) as pilot:
        newest = f"  {cards[-1].score} {cards[-1].grade} "
        assert newest in text_of(pilot)
        await press(pilot, "h", "down", "down", "enter")
        assert f"  {cards[0].score} {cards[0].grade} " in text_of(pilot)
        await press(pilot, "h")
        assert str(cards[1].score) + " " + cards[1].grade in text_of(pilot)
        await press(pilot, "home", "enter")
        assert newest in text_of(pilot)
        assert card_of(pilot).state.at == ""


@pytest.mark.parametrize("redrawn", [False, True], ids=["as shown", "drawn again"])
async def test_the_legend_below_a_pane_has_the_width_that_the_pane_gets_when_it_is_shown(redrawn: bool) -> None:
    async with stage(CardService.of(60), start_host=HOST) as pilot:
        pane = card_of(pilot).pane(3)
        assert not pane.size.width
        pane.write_below(lambda size: f"{size} cells")
        pane.display = True
        if redrawn:
            pane.write_below(lambda size: f"{size} cells")
        await settle(pilot)
        assert str(pane.border_subtitle) == f"{pane.size.width} cells"


@pytest.mark.ci
async def test_a_list_that_is_shown_while_another_one_scrolls_has_its_rows() -> None:
    async with stage(CardService.of(3), (80, 24)) as pilot:
        await press(pilot, "enter")
        screen = card_of(pilot)
        pane = screen.pane(3)  # in a column that is shown, beside the pane that is
        pane.show(lambda size: [paragraph("a row", size)])
        screen._refresh_layout(scroll=True)  # what Textual does for a scroll
        pane.display = True
        assert pane.region  # known before it is laid out, so Textual does not tell it of its size
        await settle(pilot)
        assert pane.texts == ["a row"]


@pytest.mark.ci
async def test_a_fix_that_cannot_be_tried_is_not_marked() -> None:
    async with stage(CardService([make_card(1)]), start_host=HOST) as pilot:  # without what was seen
        await press(pilot, "4", "space")
        assert "comes without what was seen, so no fix can" in text_of(pilot)
        assert card_of(pilot).state.done == frozenset()
        assert "→ …" not in text_of(pilot)


@pytest.mark.ci
async def test_a_source_of_cards_alone_says_how_to_see_what_was_asked() -> None:
    async with stage(CardService([make_card(1)]), (140, 40), start_host=HOST) as pilot:
        await press(pilot, "6")
        assert f"aui-tui scan {HOST}" in text_of(pilot)
        await press(pilot, "d")
        assert "No earlier scan of this host is known here." in text_of(pilot)
        assert "s scans it again" not in text_of(pilot)
        await press(pilot, "h")
        assert "Only one scan of this host is known here." in text_of(pilot)


async def test_text_that_the_mouse_selects_is_copied_and_opens_nothing() -> None:
    async with stage(CardService.of(12), (140, 40), start_host=HOST) as pilot:
        pane = card_of(pilot).pane(3)
        first = pane.content_region.offset + Offset(3, 0)
        words = text_of(pilot).splitlines()[first.y][first.x : first.x + 9]
        await pilot.mouse_down(offset=first)
        await pilot.hover(offset=first + Offset(9, 0))
        await pilot.mouse_up(offset=first + Offset(9, 0))
        await settle(pilot)
        assert isinstance(pilot.app.screen, CardScreen)
        await press(pilot, "y")
        assert pilot.app.clipboard.startswith(words.strip())
        assert "Copied the selected text." in text_of(pilot)
        await pilot.click(offset=first)
        await settle(pilot)
        assert not isinstance(pilot.app.screen, CardScreen)


async def test_a_click_on_a_bar_shows_how_its_points_came_about() -> None:
    async with stage(CardService.of(12), (140, 40), start_host=HOST) as pilot:
        lines = text_of(pilot).splitlines()
        row = next(number for number, line in enumerate(lines) if "Welcome ━" in line)
        await pilot.click(offset=(lines[row].index("Welcome ━") + 10, row))
        await settle(pilot)
        assert card_of(pilot).state.ledger
        assert "How the score came about" in text_of(pilot)
