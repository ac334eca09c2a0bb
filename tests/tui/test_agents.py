"""Panes 6 and 7: tasks and visits as a reader sees them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from aui_tui.checks.scoring import grade_card
from aui_tui.model.methods import DEFAULT_METHOD
from aui_tui.model.observations import Cause
from aui_tui.model.registry import registry
from aui_tui.model.tasks import Step as TaskStep
from aui_tui.model.tasks import TaskReport, TaskResult, run_of
from aui_tui.model.view import HostReport
from aui_tui.model.visits import visit_rows
from aui_tui.text import cells
from aui_tui.tui.draw import plain, width
from aui_tui.tui.panes import agents
from aui_tui.tui.panes.verdict import head
from aui_tui.tui.screens.exchange import opened
from aui_tui.tui.screens.windows import help_sections
from aui_tui.tui.state import CardState
from tests.scan import situations
from tests.visits import records

from .cards import make_card
from .memory import MemoryService
from .stage import press, settle, stage, text_of

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


def test_tasks_show_outcome_points_and_where_they_got_stuck() -> None:
    report = TaskReport(ran_at="2026-11-20T10:00:00.000Z", origin="https://shop.example", results=(READ, SEARCH))
    seen = replace(situations.open_rich(), tasks=report)
    card = replace(make_card(1), task_runs=tuple(run_of(one) for one in report.results))
    dossier = HostReport(card=card, observations=seen)
    for size in (40, 76, 120):
        rows = agents.tasks(dossier, size)
        assert all(width(row) <= size for row in rows)
    text = "\n".join(plain(row) for row in agents.tasks(dossier, 76))
    for words in ("✓ done", "15/15", "~ half", "5/10", "Search, step by step", "searchbox “Find a room”", "To change:"):
        assert words in text
    assert agents.tasks_title(dossier) == "20 of 25 points, 10.3 s"


def test_without_a_run_the_pane_says_how_to_start_one() -> None:
    text = " ".join(plain(row) for row in agents.tasks(HostReport(card=make_card(1)), 76))
    assert "Not run. a tries six tasks" in text
    assert "Fill a form" not in text
    text = "\n".join(plain(row) for row in agents.tasks(HostReport(card=make_card(1)), 76, alone=True))
    assert "Fill a form (not sent)     5 points" in text
    assert agents.tasks_title(HostReport(card=make_card(1))) == ""


def test_without_a_log_the_pane_names_the_line_that_reads_one() -> None:
    dossier = HostReport(card=make_card(1))
    assert ":visits FILE" in plain(agents.visits(None, dossier, 120)[0])
    assert "nginx" in "".join(plain(row) for row in agents.visits(None, dossier, 120, alone=True))


def refused_claude() -> HostReport:
    """A site whose robots.txt lets Claude in and whose server refuses it by its name."""
    name = registry().live[1].key
    seen = situations.open_rich()
    exchanges = tuple(situations.probe(name, 403) if one.name == name else one for one in seen.exchanges)
    seen = replace(seen, exchanges=exchanges, cause=Cause(agents=(name,), by="name"))
    return HostReport(card=grade_card(seen, DEFAULT_METHOD), observations=seen)


@pytest.mark.parametrize("size", [40, 60, 76, 96, 118, 132, 150, 198])
@pytest.mark.parametrize("crawlers", [False, True])
def test_the_columns_of_the_agents_stand_under_their_headings(size: int, crawlers: bool) -> None:
    dossier = refused_claude()
    head, *rows = [plain(row) for row in agents.agent_table(dossier, size, crawlers=crawlers)]
    place = head.find("so it is") if "so it is" in head else None
    claude = next(row for row in rows if row.split()[0] == "Claude")
    assert all(cells(row) <= size for row in (head, *rows))
    assert "403" in claude
    assert "≠" in claude
    for row in rows:
        if place is not None and row.strip() and "Crawlers" not in row:
            assert row[place] in "✓~✗#⊘?·", row
    if size >= agents.NAMES_FROM:
        assert "Claude-User" in claude
    if size >= agents.CAUSES_FROM:
        assert claude[head.index("goes by") :].startswith("the name")


def test_the_deciding_line_is_named_wherever_it_fits() -> None:
    seen = situations.robots_paths()
    dossier = HostReport(card=grade_card(seen, DEFAULT_METHOD), observations=seen)
    narrow = "\n".join(plain(row) for row in agents.agent_table(dossier, 76))
    wide = "\n".join(plain(row) for row in agents.agent_table(dossier, 140))
    assert "line " in narrow
    assert "Disallow: " in wide


def test_visits_stand_beside_what_the_probe_got() -> None:
    record = records.visits(records.verified("Claude-User", 1202, 2))
    dossier = HostReport(card=make_card(1), visits=record)
    for size in (60, 76, 120):
        rows = agents.visits(record, dossier, size)
        assert all(width(row) <= size for row in rows)
    text = "\n".join(plain(row) for row in agents.visits(record, dossier, 120))
    for row in visit_rows(record, dossier.card):
        assert row.label in text


def test_shares_are_in_percent() -> None:
    assert [agents.percent(share) for share in (None, 0.0, 0.998, 1.0)] == ["–", "0 %", "99.8 %", "100 %"]


async def test_tab_turns_the_sides_of_an_exchange_and_its_help_says_so() -> None:
    async with stage(MemoryService.of(3)) as pilot:
        pilot.app.push_screen(opened(refused_claude(), registry().live[1].key))
        await settle(pilot)
        for side in ("browser raw", "Claude raw", "Text", "Compared"):
            await press(pilot, "tab")
            assert f"[{side}]" in text_of(pilot)
        await press(pilot, "shift+tab")
        assert "[Text]" in text_of(pilot)
        exchange = dict(help_sections(pilot.app.screen))["Exchange"]
        assert ("tab", "Both sides, one side raw, the text") in exchange


def test_a_card_of_the_first_method_names_every_pillar_in_80_cells() -> None:
    seen = situations.open_rich()
    dossier = HostReport(card=grade_card(seen, "v0.1"), observations=seen)
    rows = [plain(row).strip() for row in head(CardState("shop.example", dossier=dossier), 80, 24)]
    assert "Access 40/40   Consent 10/10   Surface 25/25   Protocols 15/15   Task –" in rows
