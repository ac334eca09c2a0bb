"""Panes 6 and 7: tasks and visits as a reader sees them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from msgspec.structs import replace
from textual.content import Content

from aui_tui.checks.scoring import grade_card
from aui_tui.model.methods import DEFAULT_METHOD
from aui_tui.model.observations import BROWSER, Cause, RobotsFacts
from aui_tui.model.registry import registry
from aui_tui.model.report import HostReport
from aui_tui.model.tasks import Step as TaskStep
from aui_tui.model.tasks import TaskReport, TaskResult, run_of
from aui_tui.model.visits import visit_rows
from aui_tui.report.comparison import comparison, sentence
from aui_tui.text import cells
from aui_tui.tui import cardrows
from aui_tui.tui.rows import ListEntry, entry
from aui_tui.tui.screens.compare import CompareScreen, compare
from aui_tui.tui.screens.exchange import around_difference, opened
from aui_tui.tui.screens.help import help_sections
from aui_tui.tui.screens.windows import ReadScreen
from aui_tui.tui.state import CardState
from aui_tui.tui.widgets.listing import RowList
from tests.scan import situations
from tests.visits import records

from .cards import NOW, make_card
from .service import CardService
from .stage import press, settle, shows, stage, text_of

SEARCH = TaskResult(
    task="search",
    outcome="blocked",
    note="needs a mouse",
    half=True,
    change="make “Go” a button",
    steps=(TaskStep(verb="typed", role="searchbox", name="Find a room"), TaskStep(verb="looked", mark="stuck")),
    elapsed_ms=6200,
)
READ = TaskResult(task="read", outcome="done", note="2,140 characters", elapsed_ms=4100)


def words_of(entries: Sequence[ListEntry]) -> str:
    return "\n".join(line.content.plain for line in entries)


def fit_in(entries: Sequence[ListEntry], size: int) -> bool:
    return all(cells(row) <= size for line in entries for row in line.content.plain.split("\n"))


def test_tasks_show_outcome_points_and_where_they_got_stuck() -> None:
    run = TaskReport(ran_at="2026-11-20T10:00:00.000Z", origin="https://shop.example", results=(READ, SEARCH))
    seen = replace(situations.open_rich(), tasks=run)
    card = replace(make_card(1), task_runs=tuple(run_of(one) for one in run.results))
    report = HostReport(card=card, observations=seen)
    assert all(
        fit_in(cardrows.tasks(CardState(report.card.host), report, size, NOW.timestamp()), size)
        for size in (40, 76, 120)
    )
    shown = words_of(cardrows.tasks(CardState(report.card.host), report, 76, NOW.timestamp()))
    for words in ("✓", "15/15", "~", "5/10", "step by step", "searchbox “Find a room”", "To change:"):
        assert words in shown


@pytest.mark.parametrize("size", [44, 50, 76, 120])
def test_sentences_that_stand_below_leave_the_columns_their_room(size: int) -> None:
    run = TaskReport(ran_at="2026-11-20T10:00:00.000Z", origin="https://shop.example", results=(READ, SEARCH))
    seen = replace(situations.open_rich(), tasks=run)
    card = replace(make_card(1), task_runs=tuple(run_of(one) for one in run.results))
    report = HostReport(card=card, observations=seen)
    shown = cardrows.tasks(CardState(card.host), report, size, NOW.timestamp())
    assert fit_in(shown, size)
    assert "Read the homepage  done " in words_of(shown)


def test_without_a_run_or_a_log_the_panes_say_how_to_get_one() -> None:
    report = HostReport(card=make_card(1))
    shown = words_of(cardrows.tasks(CardState(report.card.host), report, 76, NOW.timestamp()))
    assert "Not run. a tries six tasks" in shown
    assert "Fill a form (not sent)     5 points" in shown
    assert "Read an access log" in words_of(cardrows.visits(report, 120))


def refused_claude() -> HostReport:
    """A site whose robots.txt lets Claude in and whose server refuses it by its name."""
    name = registry().live[1].key
    seen = situations.open_rich()
    exchanges = tuple(situations.probe(name, 403) if one.name == name else one for one in seen.exchanges)
    seen = replace(seen, exchanges=exchanges, cause=Cause(agents=(name,), by="name"))
    return HostReport(card=grade_card(seen, DEFAULT_METHOD), observations=seen)


@pytest.mark.parametrize("size", [40, 60, 76, 96, 118, 132, 150, 198])
@pytest.mark.parametrize("crawlers", [False, True])
def test_the_rows_of_the_agents_fit_and_alike_ones_are_folded(size: int, crawlers: bool) -> None:
    report = refused_claude()
    state = CardState(report.card.host, crawlers=crawlers).with_report(report)
    rows = cardrows.agent_rows(state, report, size)
    assert size < 60 or fit_in(rows, size)
    claude = next(row.content.plain for row in rows if row.content.plain.split()[1:2] == ["Claude"])
    assert "403" in claude
    if size >= 96:
        assert "≠" in claude
    folded = next(row for row in rows if row.key.startswith("+"))
    one_by_one = cardrows.agent_rows(replace(state, unfolded=frozenset({folded.key[1:]})), report, size)
    assert len(one_by_one) == len(rows) + int(folded.content.plain.split()[1]) - 1
    assert cardrows.why(report, registry().live[1].key).endswith("robots.txt lets in what the site turns away.")


def test_visits_stand_beside_what_the_probe_got() -> None:
    record = records.visits(records.verified("Claude-User", 1202, 2))
    report = HostReport(card=make_card(1), visits=record)
    assert fit_in(cardrows.visits(report, 120), 120)
    shown = words_of(cardrows.visits(report, 120))
    assert all(row.label[:8] in shown for row in visit_rows(record, report.card))


async def test_a_row_longer_than_its_list_ends_in_an_ellipsis() -> None:
    async with stage(CardService.of(3), (40, 20)) as pilot:
        pilot.app.push_screen(ReadScreen("Long", lambda _size: [entry("x" * 100), entry("short")]))
        await shows(pilot, "xx…", "short")


async def test_the_exchange_says_answer_cause_request_and_command_on_the_first_screen() -> None:
    async with stage(CardService.of(3), (80, 24)) as pilot:
        pilot.app.push_screen(opened(refused_claude(), registry().live[1].key))
        await settle(pilot)
        shown = text_of(pilot).replace("│", "")
        told = (
            *("╭─ the answer: browser · Claude ─", "status", "title", "── why: it goes by the name ─", "User-Agent"),
            "swapped Claude's fields: served ≠ browser's fields: refused",
            "robots.txt – ≠ says yes line 3: Allow: /",
            *("── asked", "── ask it yourself", "curl -sS"),
        )
        places = [" ".join(shown.split()).find(words) for words in told]
        assert -1 not in places, shown
        assert places == sorted(places)
        assert "Claude-" in shown[shown.index("User-Agent  ") :].split("\n")[0]
        await press(pilot, "end")
        assert "curl -sS" in text_of(pilot)


@pytest.mark.parametrize("room", [25, 40, 300])
def test_a_long_value_is_cut_to_the_words_that_the_other_side_does_not_have(room: int) -> None:
    browser, agent = "Mozilla/5.0 (X11) Gecko Chrome/156", "Mozilla/5.0 Gecko (compatible; Claude-User/1.0)"
    cut = ("…X11) Gecko Chrome/156", "…compatible; Claude-User/1.0)")
    assert around_difference(browser, agent, room) == (cut if room < 300 else (browser, agent))
    assert around_difference(agent, agent, room) == (agent, agent)


async def test_each_side_of_an_exchange_has_its_own_title_and_legend() -> None:
    async with stage(CardService.of(3)) as pilot:
        pilot.app.push_screen(opened(refused_claude(), BROWSER))
        await settle(pilot)
        legends = ("≠ differs  = alike", "> asked  < answered", "> asked  < answered", "- on the left alone")
        for side, legend in zip(("Compared", "Browser raw", "ChatGPT raw", "Text"), legends, strict=True):
            assert f"[{side}]" in text_of(pilot)
            assert legend in text_of(pilot)
            await press(pilot, "tab")
        assert "[Compared]" in text_of(pilot)
        await press(pilot, "shift+tab")
        assert "[Text]" in text_of(pilot)
        exchange = dict(help_sections(pilot.app.screen))["Exchange"]
        assert ("tab", "Both sides, one side raw, the text") in exchange


async def test_unfolding_agents_that_are_alike_leaves_the_cursor_on_the_first_of_them() -> None:
    async with stage(CardService.of(60)) as pilot:
        await press(pilot, "end", "enter", "2")
        pane = pilot.app.screen.query_one("#pane-2", RowList)
        while not pane.key.startswith("+"):
            await press(pilot, "down")
        fold = pane.key
        await press(pilot, "enter")
        assert pane.key == fold[1:]


async def test_enter_on_an_empty_comparison_says_that_there_is_nothing() -> None:
    async with stage(CardService.of(3)) as pilot:
        await pilot.app.push_screen(CompareScreen(("gone.example", "lost.example")))
        await press(pilot, "enter")
        assert "There is nothing to open here." in text_of(pilot)


async def test_rows_that_come_in_another_order_have_one_cursor() -> None:
    """A card that is read again after a scan may put what is under the cursor elsewhere."""
    async with stage(CardService.of(3)) as pilot:
        await press(pilot, "enter")
        strip = pilot.app.screen.query_one("#strip", RowList)
        rows = [entry(f" {name}", key=name) for name in "abcd"]
        for shown in (rows, rows[::-1], rows[2:], rows):

            def build(_size: int, shown: list[ListEntry] = shown) -> list[ListEntry]:
                return shown

            strip.show(build)
            await settle(pilot)
            await press(pilot, "down")
            prompts = [str(strip.get_option_at_index(place).prompt) for place in range(strip.option_count)]
            assert [prompt for prompt in prompts if prompt.startswith("▸")] == [f"▸{strip.key}"]


async def test_the_mark_on_a_figure_comes_and_goes_with_the_focus() -> None:
    """The rows may be there before the focus, as when one comes back from another pane."""

    def marked(strip: RowList) -> bool:
        prompt = strip.get_option_at_index(strip.highlighted or 0).prompt
        return isinstance(prompt, Content) and any(span.style == "reverse" for span in prompt.spans)

    async with stage(CardService.of(3)) as pilot:
        await press(pilot, "enter")
        strip = pilot.app.screen.query_one("#strip", RowList)
        assert strip.has_focus
        assert marked(strip)
        await press(pilot, "2")
        assert not marked(strip)
        await press(pilot, "1")
        assert strip.has_focus
        assert marked(strip)


async def test_esc_takes_away_what_was_said() -> None:
    async with stage(CardService.of(3)) as pilot:
        await press(pilot, "enter", "Z")
        assert "Z does nothing here" in text_of(pilot)
        await press(pilot, "escape")
        assert "Z does nothing here" not in text_of(pilot)


def test_a_card_of_the_first_method_names_every_pillar_in_80_cells() -> None:
    seen = situations.open_rich()
    report = HostReport(card=grade_card(seen, "v0.1"), observations=seen)
    rows = cardrows.answer(CardState("shop.example").with_report(report), 62)
    shown = re.sub("[━─ ]+", " ", " ".join(entry.content.plain for entry in rows))
    assert all(words in shown for words in ("Access 40/40", "Consent 10/10", "Surface 25/25", "Protocols 15/15"))


def of_rules(policies: dict[str, tuple[str, int, str]]) -> HostReport:
    seen = situations.site(robots=situations.rules(policies))
    return HostReport(card=grade_card(seen, DEFAULT_METHOD), observations=seen)


def test_a_comparison_names_the_line_of_robots_txt_which_alone_is_no_difference() -> None:
    told, google = ("blocked", 2, "Disallow: /"), ("blocked", 9, "Disallow: /")
    one, other = of_rules({"Claude-User": told}), of_rules({"Claude-User": google, "Google-Agent": google})
    parts = comparison((one, other), now=NOW.timestamp())
    differs, alike = ({item.label: item.cells[1:] for item in part.items} for part in parts)
    assert alike["Claude"] == ("⊘ told no (line 2, “Disallow: /”)", "⊘ told no (line 9, “Disallow: /”)")
    assert differs["Google agent"] == ("✓ in", "⊘ told no (line 9, “Disallow: /”)")
    for size, words in ((76, "⊘ told no (line 9"), (136, "⊘ told no (line 9, “Disallow: /”)"), (40, "⊘ told ")):
        rows = compare(*parts, size)
        assert size == 40 or fit_in(rows, size)
        assert any(words in row.content.plain + " " for row in rows), words


def test_a_comparison_says_that_robots_txt_turns_away_where_nothing_else_does() -> None:
    told = ("blocked", 2, "Disallow: /")
    one, other, refused = of_rules({"Claude-User": told}), of_rules({"Claude-User": told}), refused_claude()
    named = [replace(each, card=replace(each.card, host=name)) for each, name in ((one, "a"), (other, "b"))]
    assert sentence(named) == "Both turn Claude away by robots.txt."
    mixed = [named[0], replace(refused, card=replace(refused.card, host="c"))]
    assert sentence(mixed) == "Both turn Claude away."


def test_a_comparison_calls_nothing_done_that_nobody_measured() -> None:
    makes = (situations.plain, situations.limited, situations.dead, situations.open_rich)
    cards = [replace(grade_card(make()), host=make.__name__) for make in makes]
    parts = comparison([HostReport(card=card) for card in cards], now=NOW.timestamp())
    cells = {item.label: item.cells[1:] for part in parts for item in part.items}
    assert cells["Add an /llms.txt file"] == ("to do", "not measured", "not measured", "✓ nothing to do")
    assert sentence([HostReport(card=cards[2])]) == "None of them gave a usable answer."


def test_a_refusal_without_a_robots_txt_is_told_without_one() -> None:
    seen = situations.site(
        agents=lambda slot: situations.probe(slot, 403), robots=RobotsFacts(kind="none"), robots_status=404
    )
    report = HostReport(card=grade_card(seen), observations=seen)
    text = cardrows.why(report, registry().live[1].key)
    assert (
        text == "robots.txt has no rules. The site answers this name with an error (403). No robots.txt keeps it out."
    )
