"""Two cards differ in exactly the fields that were changed, in words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from aui_tui.checks.scoring import apply, grade_card
from aui_tui.model.card import Evidence, ReportCard
from aui_tui.model.codec import decode_card, encode_card
from aui_tui.model.methods import METHODS
from aui_tui.model.observations import Exchange, FileFacts, Landmarks, Observations
from aui_tui.report.diff import diff
from tests.cards import RICH_OPEN, WALLED, cards
from tests.scan import situations
from tests.strategies import observations

DONE = situations.open_rich()


def card(**changes: Any) -> ReportCard:
    """Return the v0.1 card of a site with every point, but for ``changes`` of what was seen."""
    return grade_card(replace(DONE, **changes), "v0.1")


def answers(refused: tuple[str, ...], silent: tuple[str, ...] = ()) -> tuple[Exchange, ...]:
    """Return the answers of a site that refuses the agents in the slots ``refused`` and answers none in ``silent``."""

    def agent(slot: str) -> Exchange:
        return situations.silent(slot) if slot in silent else situations.probe(slot, 403 if slot in refused else 200)

    return situations.site(agents=agent, files=DONE.files).exchanges


def words(before: ReportCard, after: ReportCard) -> list[str]:
    return [change.words() for change in diff(before, after).changes]


@pytest.mark.ci
@settings(max_examples=12)
@given(cards())
def test_a_card_does_not_differ_from_itself(one: ReportCard) -> None:
    found = diff(one, replace(one, scanned_at="2030-01-01T00:00:00.000Z", elapsed_ms=1))
    assert found.same
    assert not [*found.changes, *found.new, *found.resolved]


@pytest.mark.ci
@given(cards(), cards())
def test_any_two_cards_compare_and_turn_round(one: ReportCard, other: ReportCard) -> None:
    there, back = diff(one, other), diff(other, one)
    assert {c.field: (c.before, c.after, c.direction) for c in there.changes if c.field != "files"} == {
        c.field: (c.after, c.before, -c.direction) for c in back.changes if c.field != "files"
    }
    assert (there.new, there.resolved) == (back.resolved, back.new)
    assert all(change.words() and "\n" not in change.words() for change in there.changes)


@pytest.mark.ci
@given(observations())
def test_the_points_of_the_changes_are_the_points_of_the_score(seen: Observations) -> None:
    for method in METHODS:
        before = grade_card(seen, method)
        after = grade_card(apply(seen, (fix.k for fix in before.recommendations)), method)
        moved = sum(v or 0 for v in after.pillars.values()) - sum(v or 0 for v in before.pillars.values())
        if not before.unreachable:
            assert sum(change.points for change in diff(before, after).changes) == moved


def test_a_fix_reads_as_the_sentence_that_people_say() -> None:
    before, after = card(exchanges=answers(refused=("agent_02",))), card()
    assert words(before, after) == [
        "Access: 34 → 40",
        "Claude: refused → in, +6 Access",
        "Answer to Claude-User: 403 → 200",
        "Agents served: 3 → 4",
    ]
    assert diff(before, after).headline() == "score 93 → 100, grade A, Selective → Open"


def test_points_that_do_not_divide_stand_on_the_count() -> None:
    before = grade_card(replace(DONE, exchanges=answers(refused=("agent_01", "agent_02", "agent_03"))), "v0.2")
    after = grade_card(replace(DONE, exchanges=answers(refused=(), silent=("agent_03",))), "v0.2")
    found = words(before, after)
    assert "Agents served: 1 → 3, +9 Welcome" in found
    assert "Claude: refused → in" in found


@pytest.mark.parametrize(
    ("changes", "points", "sentence"),
    [
        ({"files": FileFacts(ucp=True)}, 5, "llms.txt: missing → found, +5 Surface"),
        ({"page": replace(DONE.page, jsonld=0)}, 5, "JSON-LD blocks: 0 → 2, +5 Surface"),
        ({"robots": situations.rules()}, 10, "Content-Signal line: no → yes, +10 Consent"),
        (
            {"page": replace(DONE.page, readable=12, noscript_shell=True)},
            9,
            "Empty without scripts: yes → no, +9 Surface",
        ),
        (
            {"page": replace(DONE.page, semantic=Landmarks(main=0, nav=2, aria=9, forms=1))},
            2,
            "main landmarks: 0 → 1, +2 Surface",
        ),
        (
            {
                "robots": situations.rules(
                    {"Devin": ("blocked", 2, "Disallow: /")}, signal=DONE.robots.signal, signal_line=7
                )
            },
            1,
            "Agents disallowed by robots.txt: 1 → 0, +1 Access",
        ),
        (
            {"files": FileFacts(llms=True)},
            15,
            "MCP card or shop manifest: 0 of 15 points → 15 of 15 points, +15 Protocols",
        ),
        (
            {"robots": replace(DONE.robots, signal="ai-input=no")},
            5,
            "Content-Signal: 5 of 10 points → 10 of 10 points, +5 Consent",
        ),
    ],
)
def test_each_component_names_its_cause(changes: dict[str, Any], points: int, sentence: str) -> None:
    before, after = card(**changes), card()
    assert sentence in words(before, after)
    assert any(f"-{points} " in line for line in words(after, before))


def test_new_and_resolved_findings_are_kept_apart() -> None:
    one, two, three = (Evidence("critical", f"finding {number}") for number in (1, 2, 3))
    good = Evidence("good", "fine")
    found = diff(replace(WALLED, evidence=(one, two, two)), replace(WALLED, evidence=(two, three, good)))
    assert found.resolved == (one, two)
    assert found.new == (three,)


def test_foreign_maps_compare_by_position() -> None:
    foreign = dict(zip("abcdefgh", RICH_OPEN.matrix.values(), strict=True))
    theirs = decode_card(encode_card(replace(RICH_OPEN, matrix={**foreign, "c": "blocked"})))
    assert words(RICH_OPEN, theirs) == ["c: in → refused"]


def test_what_limits_the_comparison_is_said() -> None:
    found = diff(RICH_OPEN, replace(WALLED, host="shop.example"))
    assert found.note.startswith("The cards are graded under different methods (v0.1, v0.2)")
    assert not any(change.field.startswith("pillars.") or change.points for change in found.changes)
    assert diff(WALLED, replace(WALLED, host="other.example")).note.startswith("The cards are of different hosts")


def test_no_answer_is_neither_better_nor_worse() -> None:
    found = diff(card(), card(exchanges=answers(refused=(), silent=("agent_02",))))
    directions = {change.words(): change.direction for change in found.changes}
    assert directions["Claude: in → unclear"] == directions["Answer to Claude-User: 200 → no answer"] == 0
