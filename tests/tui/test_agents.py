"""Panes 6 and 7: tasks and visits as a reader sees them."""

from __future__ import annotations

from msgspec.structs import replace

from aui_tui.records.tasks import Step as TaskStep
from aui_tui.records.tasks import TaskReport, TaskResult, run_of
from aui_tui.records.view import Dossier
from aui_tui.records.visits import visit_rows
from aui_tui.tui.draw import plain, width
from aui_tui.tui.panes import agents
from tests.engine import situations
from tests.visits import records

from .cards import make_card

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
    dossier = Dossier(card=card, observations=seen)
    for size in (40, 76, 120):
        rows = agents.tasks(dossier, size)
        assert all(width(row) <= size for row in rows)
    text = "\n".join(plain(row) for row in agents.tasks(dossier, 76))
    for words in ("✓ done", "15/15", "~ half", "5/10", "Search, step by step", "searchbox “Find a room”", "To change:"):
        assert words in text
    assert agents.tasks_title(dossier) == "20 of 25 points, 10.3 s"


def test_without_a_run_the_pane_says_how_to_start_one() -> None:
    text = "".join(plain(row) for row in agents.tasks(Dossier(card=make_card(1)), 76))
    assert "Not run. a opens the site" in text
    assert agents.tasks_title(Dossier(card=make_card(1))) == ""


def test_visits_stand_beside_what_the_probe_got() -> None:
    record = records.visits(records.verified("Claude-User", 1202, 2))
    dossier = Dossier(card=make_card(1), visits=record)
    for size in (60, 76, 120):
        rows = agents.visits(record, dossier, size)
        assert all(width(row) <= size for row in rows)
    text = "\n".join(plain(row) for row in agents.visits(record, dossier, 120))
    for row in visit_rows(record, dossier.card):
        assert row.label in text


def test_shares_are_in_percent() -> None:
    assert [agents.percent(share) for share in (None, 0.0, 0.998, 1.0)] == ["–", "0 %", "99.8 %", "100 %"]
