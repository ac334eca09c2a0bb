"""One table of agents: its words, its order, and that it never says more than the card."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from aui_tui.checks.scoring import grade_card
from aui_tui.model import agents, fates
from aui_tui.model.agents import NO_RULES, Outcome, agent_rows, crawler_rows, outcomes
from aui_tui.model.methods import DEFAULT_METHOD
from aui_tui.model.observations import ANOTHER_PAGE, Challenge, Observations, RobotsFacts
from aui_tui.model.points import by_harm
from aui_tui.model.registry import registry
from aui_tui.model.surfaces import SURFACES
from aui_tui.model.tasks import TaskReport, TaskResult
from aui_tui.model.vocabulary import REFUSED
from aui_tui.report.words import who_gets_in
from tests.scan import situations

ALIKE = (situations.open_rich, situations.wall_for_agents, situations.half_open, situations.dead)
"""Sites of which the card alone says what the scan says."""


def graded(seen: Observations) -> tuple[Outcome, ...]:
    return outcomes(grade_card(seen, DEFAULT_METHOD), seen)


def says(seen: Observations) -> str:
    return who_gets_in(grade_card(seen, DEFAULT_METHOD), seen)


def one_refused(status: int = 403, **changes: object) -> Observations:
    """Claude alone gets something else, whatever robots.txt says."""
    seen = situations.open_rich()
    name = registry().live[1].key
    other = situations.probe(name, status, **changes)
    return replace(seen, exchanges=tuple(other if one.name == name else one for one in seen.exchanges))


def test_a_refusal_against_robots_txt_is_a_disagreement_and_stands_first() -> None:
    first, *others = graded(one_refused())
    assert (first.verdict, first.names) == ("refused", ("Claude",))
    assert first.reason == "refused (403)"
    assert first.disagree
    assert first.probe == "agent_02"
    assert {one.verdict for one in others} == {"in", "not asked"}
    assert says(one_refused()) == "Claude is refused; ChatGPT, Google agent and Perplexity get in."


@pytest.mark.parametrize(("readable", "reason"), [(0, "an empty page (200)"), (48, "another page (200)")])
def test_another_page_is_not_said_to_be_a_test_for_humans(readable: int, reason: str) -> None:
    other = Challenge(vendor=ANOTHER_PAGE, signal="48 readable characters", tier="")
    first = graded(one_refused(200, challenge=other, readable=readable))[0]
    assert (first.verdict, first.names, first.reason) == ("challenged", ("Claude",), reason)


def test_the_check_of_a_fix_asks_under_the_name_that_was_turned_away() -> None:
    fix = by_harm(grade_card(one_refused(), DEFAULT_METHOD))[0]
    assert "curl -sSI -A Claude-User https://" in fix.body


@pytest.mark.parametrize("make", [*ALIKE, situations.robots_ten, situations.robots_paths, situations.robots_one])
def test_outcomes_and_rows_say_what_the_card_says(make: Callable[[], Observations]) -> None:
    seen = make()
    card, found = grade_card(seen, DEFAULT_METHOD), graded(seen)
    assert sorted(key for one in found for key in one.keys) == sorted(card.matrix)
    words = [fates.WORST_FIRST.index(one.verdict) for one in found]
    assert words == sorted(words)
    rows = {row.key: row.verdict for row in agent_rows(card, seen)}
    for surface, verdict in zip(SURFACES, card.matrix.values(), strict=True):
        if surface.live:
            assert rows[surface.live] == fates.word_of(verdict)
    if make in ALIKE:
        assert [one.verdict for one in outcomes(card)] == [one.verdict for one in found]
        assert who_gets_in(card) == who_gets_in(card, seen)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (situations.open_rich, "Every assistant that was asked gets in."),
        (situations.robots_paths, "Every assistant that was asked gets in."),
        (situations.wall_for_agents, "All four assistants that were asked are challenged; a browser gets in."),
        (situations.wall_for_all, "All four assistants that were asked are challenged, as a browser is."),
        (situations.dropped, "No assistant that was asked gets an answer; a browser gets in."),
        (situations.down, "A browser and every agent that was asked get 503. Not graded."),
        (
            situations.robots_one,
            "robots.txt tells Claude to stay out, the site serves it anyway; "
            "ChatGPT, Google agent and Perplexity get in.",
        ),
        (situations.dead, "No usable answer, to a browser or to anyone. Not graded."),
    ],
)
def test_the_sentence_says_who_gets_in(make: Callable[[], Observations], words: str) -> None:
    assert says(make()) == words


def test_an_agent_that_is_left_without_an_answer_is_turned_away_in_its_row_too() -> None:
    """The record calls it untested; door, stance and evidence count it as turned away, and so does its row."""
    seen = situations.dropped()
    card = grade_card(seen)
    assert set(card.matrix.values()) >= {"untested"}
    for known in (seen, None):
        rows = {row.key: row for row in agents.agent_rows(card, known)}
        assert {rows[agent.key].verdict for agent in registry().live} == {REFUSED}
        shut = next(one for one in agents.outcomes(card, known) if one.source == "live")
        assert (shut.verdict, shut.reason, shut.disagree) == (REFUSED, agents.DROPPED, True)


def test_a_redirect_to_nowhere_against_robots_txt_is_a_disagreement_like_any_refusal() -> None:
    first, *_ = graded(one_refused(302, error="redirect-loop", detail="it redirects in a circle", controls=2))
    assert (first.verdict, first.names, first.disagree) == ("refused", ("Claude",), True)


def test_an_agent_that_robots_txt_stops_and_the_site_serves_is_told_no_and_disagrees() -> None:
    seen = situations.robots_all()
    rows = [row for row in agent_rows(grade_card(seen, DEFAULT_METHOD), seen) if row.key == "agent_01"]
    assert [(row.robots, row.outcome, row.verdict, row.disagree) for row in rows] == [("no", "served", "told no", True)]


def test_who_was_not_asked_is_not_said_to_get_in_where_everyone_asked_was_tested() -> None:
    seen = situations.wall_for_agents()
    rows = agent_rows(grade_card(seen, DEFAULT_METHOD), seen)
    assert {row.verdict for row in rows if not row.asked} == {"not asked"}


def test_fixes_that_let_assistants_in_come_first() -> None:
    card = grade_card(one_refused(), DEFAULT_METHOD)
    fixes = by_harm(card)
    assert fixes[0].k == "wba"
    assert sorted(fix.k for fix in fixes) == sorted(fix.k for fix in card.recommendations)
    rest = [fix.pts for fix in fixes[1:]]
    assert rest == sorted(rest, reverse=True)


@pytest.mark.parametrize(
    ("door", "verdict", "words"),
    [
        ("allowed", "in", "the task run got the page"),
        ("walled", "challenged", "the browser of the task run was challenged"),
        ("blocked", "refused", "the browser of the task run was refused"),
        ("closed", "told no", "robots.txt told the task run to stay out"),
        ("", "unclear", "the task run got no clear answer"),
        (None, "not asked", "needs a browser (--tasks)"),
    ],
)
def test_after_a_task_run_its_browser_speaks_for_the_assistants_that_drive_one(
    door: str | None, verdict: str, words: str
) -> None:
    result = TaskResult(task="read", outcome="done", note="")
    seen = situations.open_rich()
    if door is not None:
        run = TaskReport(ran_at="2026-11-20T10:00:00.000Z", origin="https://a.example", results=(result,), door=door)
        seen = replace(seen, tasks=run)
    driven = next(one for one in graded(seen) if "chatgpt_agent" in one.keys)
    assert (driven.verdict, driven.reason) == (verdict, words)


def test_a_wall_has_its_vendors_own_name_in_the_row_as_in_the_evidence() -> None:
    wall = Challenge(vendor="datadome", signal="header x-dd-b", tier="A")
    seen = situations.site(agents=lambda slot: replace(situations.probe(slot, 403), challenge=wall))
    card = grade_card(seen)
    assert "a DataDome challenge page" in card.top_evidence
    assert "a DataDome challenge page (403)" in {one.reason for one in outcomes(card, seen)}


def test_a_refusal_without_a_robots_txt_is_not_said_to_contradict_one() -> None:
    seen = situations.site(
        agents=lambda slot: situations.probe(slot, 403), robots=RobotsFacts(kind="none"), robots_status=404
    )
    card = grade_card(seen)
    for known in (seen, None):
        assert "refused (403), though no robots.txt keeps them out" in {one.why for one in outcomes(card, known)}
        assert {row.robots for row in (*agent_rows(card, known)[1:], *crawler_rows(card, known))} == {NO_RULES}
        assert {one.reason for one in outcomes(card, known) if "Amazon" in one.names} == {"robots.txt has no rules"}
    assert "No robots.txt of shop.example keeps them out." in card.top_evidence
