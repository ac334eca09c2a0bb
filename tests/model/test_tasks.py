from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aui_tui.checks.judge import judge
from aui_tui.checks.scoring import apply, grade_card, ledger
from aui_tui.index.store import Store
from aui_tui.model import points
from aui_tui.model.codec import decode_card, encode_card
from aui_tui.model.methods import METHODS, V02
from aui_tui.model.observations import Observations, decode_observations
from aui_tui.model.query import Query
from aui_tui.model.report import HostReport
from aui_tui.model.tasks import (
    TASKS,
    Rendered,
    TaskReport,
    TaskResult,
    pillar_points,
    points_of,
    runs_of,
    summary,
)
from aui_tui.model.vocabulary import FIXES
from aui_tui.report.diff import diff
from aui_tui.report.gates import Gates, check
from aui_tui.report.sections import sections
from aui_tui.tui.cardrows import answer
from aui_tui.tui.state import CardState
from tests.cards import published
from tests.scan.situations import open_rich
from tests.strategies import driven, observations, task_reports

METHOD = st.sampled_from(tuple(METHODS))


def report(*outcomes: str, door: str = "allowed", robots: str = "open") -> TaskReport:
    """One result per task in order: ``half`` is blocked with half the points."""
    results = tuple(
        TaskResult(
            task=task.key,
            outcome="blocked" if word == "half" else word,
            half=word == "half",
            note=f"The {task.key} ended so.",
        )
        for task, word in zip(TASKS, outcomes, strict=False)
    )
    return TaskReport(
        ran_at="2026-11-20T10:00:00.000Z", origin="https://a.example", results=results, door=door, robots=robots
    )


@pytest.fixture(scope="module")
def seen() -> Observations:
    """A healthy site."""
    return open_rich()


def test_points_are_the_weight_half_of_it_or_nothing() -> None:
    run = report("done", "half", "blocked", "absent", "half", "inconclusive")
    assert [points_of(result) for result in run.results] == [(15, 15), (5, 10), (0, 10), (0, 0), (3, 5), (0, 0)]
    assert pillar_points(runs_of(run), 50) == (23, 40)
    assert sum(task.weight for task in TASKS) == 50


def test_rows_and_sum_are_what_the_screen_shows() -> None:
    run = report("done", "done", "half", "done", "absent", "inconclusive")
    assert [(one.word, one.share) for one in runs_of(run)] == [
        ("done", "15/15"),
        ("done", "10/10"),
        ("partly", "5/10"),
        ("done", "5/5"),
        ("not offered", "–"),
        ("inconclusive", "–"),
    ]
    assert summary(run) == "Works: 35 of 40 points measured, 10 not"


def test_one_task_that_counts_is_too_few(seen: Observations) -> None:
    card = grade_card(seen.with_tasks(report("done", "absent", "inconclusive"), None))
    assert (card.pillars["works"], card.provisional) == (None, True)
    assert isinstance(card.task_runs, tuple)
    assert len(card.task_runs) == 3
    said = " ".join(str(part) for part in sections(HostReport(card=card)))
    assert "not tried" not in said
    assert "tasks not scored" in said
    shown = " ".join(row.content.plain for row in answer(CardState(card.host).with_report(HostReport(card=card)), 100))
    assert "Works ┄┄┄┄┄┄ not scored" in shown
    assert "too few tasks count for the score" in said


@pytest.mark.parametrize(
    ("door", "robots", "verdict"),
    [
        ("allowed", "open", "allowed"),
        ("allowed", "partial", "partial"),
        ("walled", "open", "walled"),
        ("blocked", "open", "blocked"),
        ("closed", "blocked", "disallowed"),
        ("", "open", "untested"),
    ],
)
def test_surfaces_without_a_name_are_judged_by_the_run(
    seen: Observations, door: str, robots: str, verdict: str
) -> None:
    card = grade_card(seen.with_tasks(report("done", "done", door=door, robots=robots), None))
    assert (card.matrix["chatgpt_agent"], card.matrix["browser_agents"]) == (verdict, verdict)
    untouched = grade_card(seen)
    assert (untouched.matrix["chatgpt_agent"], untouched.matrix["browser_agents"]) == ("untested", "untested")


@pytest.mark.parametrize(
    ("readable", "sent", "static", "shell"),
    [
        (2000, 399, False, True),
        (2000, 400, False, False),
        (2000, 2000, True, False),
        (192, 0, True, True),
        (192, 180, True, False),
        (0, 0, True, True),
        (0, 0, False, False),
    ],
)
def test_what_was_rendered_decides_the_shell(
    seen: Observations, readable: int, sent: int, static: bool, shell: bool
) -> None:
    page = msgspec.structs.replace(seen.page, noscript_shell=static)
    after = msgspec.structs.replace(seen, page=page).with_tasks(report(), Rendered(readable=readable, sent=sent))
    assert after.page.noscript_shell is shell
    assert grade_card(after).noscript_shell is shell


def test_evidence_names_the_task_the_reason_and_what_only_scripts_bring(seen: Observations) -> None:
    page = Rendered(readable=900, sent=300, share=66, headings=("Rooms by the water",), prices=("49 €", "61 €"))
    card = grade_card(seen.with_tasks(report("blocked", "done", "half", "done", "absent", "inconclusive"), page))
    texts = {line.text: line.t for line in card.evidence}
    assert texts["Read the homepage, tried in a browser: The read ended so."] == "critical"
    assert texts["Search, tried in a browser: The search ended so."] == "warn"
    assert texts["Find an offer, tried in a browser, has no clear result: The offer ended so."] == "warn"
    assert texts["An agent in a browser completed 2 tasks: Follow a link and Find a contact."] == "good"
    scripts = (
        "66 % of the readable text exists only after scripts run, among it the heading “Rooms by the water” and "
        "the prices “49 €” and “61 €”: an agent that runs none does not see it."
    )
    assert texts[scripts] == "warn"


@pytest.mark.ci
@given(driven(), METHOD)
def test_a_card_is_provisional_exactly_when_its_works_are_null(found: Observations, method: str) -> None:
    card = grade_card(found, method)
    if method == V02.name:
        assert card.provisional is (card.pillars["works"] is None)
        earned = pillar_points(card.task_runs or (), 50)
        assert card.pillars["works"] == (None if found.unreachable or earned is None else earned[0])
    assert decode_card(encode_card(card)) == published(card)
    assert decode_observations(msgspec.json.encode(found)) is not None
    assert grade_card(found, method) == card


@pytest.mark.ci
@given(driven(), METHOD)
def test_all_fixes_leave_only_what_the_tasks_lack(found: Observations, method: str) -> None:
    assume(not found.unreachable)
    after = ledger(judge(apply(found, FIXES)), METHODS[method])
    card = grade_card(found, method)
    assert after.earned + points.lacking(card) == after.possible


@pytest.mark.ci
@given(observations(), task_reports(), METHOD)
def test_a_run_changes_nothing_that_is_compared_with_a_card_without_one(
    found: Observations, run: TaskReport, method: str
) -> None:
    without, with_run = grade_card(found, method), grade_card(found.with_tasks(run, None), method)
    assert points.without_tasks(with_run) == without.score
    assert points.comparable(without, with_run) == points.comparable(with_run, without)[::-1]
    change = diff(without, with_run)
    assert change.before.score == change.after.score == without.score or points.task_points(with_run) is None
    assert bool(change.note) == (points.task_points(with_run) is not None)


def test_no_regress_compares_what_both_cards_measured(seen: Observations) -> None:
    gate = Gates.of(no_regress=True)
    poor = grade_card(seen.with_tasks(report("blocked", "blocked", "blocked"), None))
    plain = grade_card(seen)
    assert poor.score < plain.score
    assert check(poor, gate, plain).exit_code == 0
    assert check(plain, gate, poor).exit_code == 0
    rich = grade_card(seen.with_tasks(report("done", "done", "done"), None))
    assert check(poor, gate, rich).exit_code == 1


def test_the_list_and_the_history_compare_what_both_scans_measured(tmp_path: Path, seen: Observations) -> None:
    store = Store(tmp_path / "index.db")
    later = msgspec.structs.replace(seen, scanned_at="2026-11-21T10:00:00.000Z")
    poor = later.with_tasks(report("blocked", "blocked", "blocked"), None)
    for found in (seen, poor):
        store.put(grade_card(found), found)
    (row,) = store.index(Query.of(line="tasks:yes")).ranked[0:5]
    assert (row.change, row.summary.score < grade_card(seen).score) == (0, True)
    assert len(store.index(Query.of(line="tasks:no")).ranked) == 0
    assert len(store.index(Query.of(line="-tasks:no")).ranked) == 1
    assert [point.plain for point in store.history(seen.host)] == [None, grade_card(seen).score]
    kept = store.get(seen.host).observations
    assert kept is not None
    assert kept.tasks == poor.tasks
    store.close()


@pytest.mark.parametrize("runs", ["[]", '["a", 7, {"task": "read"}, [[]]]'])
def test_foreign_elements_of_task_runs_are_passed_over_and_own_ones_kept(seen: Observations, runs: str) -> None:
    run = report("done", "half")
    assert decode_card(encode_card(grade_card(seen.with_tasks(run, None)))).task_runs == runs_of(run)
    raw = encode_card(grade_card(seen)).replace(b'"task_runs":[]', b'"task_runs":' + runs.encode())
    assert decode_card(raw).task_runs == ()
