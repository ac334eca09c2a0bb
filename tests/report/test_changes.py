"""Two cards differ in exactly the fields that were changed, in words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from aui_tui.checks.scoring import apply, grade_card
from aui_tui.model.card import AgentAccess, Evidence, ReportCard, Semantic
from aui_tui.model.codec import decode_card, encode_card
from aui_tui.model.methods import METHODS, V01, V02
from aui_tui.model.observations import Observations
from aui_tui.report.diff import diff
from tests.cards import RICH_OPEN, WALLED, cards, sums
from tests.strategies import observations

SERVED = AgentAccess(200, False, "Shop")
REFUSED = AgentAccess(403, False, "")
FULL = {"wba": 24, "robots": 16, "signal": 10, "ssr": 9, "landmarks": 6, "jsonld": 5, "llms": 5, "front-door": 15}


def card(components: dict[str, int] | None = None, stance: str = "Open", **fields: Any) -> ReportCard:
    """Return the v0.1 sample with other points and fields."""
    return replace(RICH_OPEN, **sums(V01, {**FULL, **(components or {})}, stance), **fields)


def refusing(*names: str) -> dict[str, AgentAccess]:
    return {name: REFUSED if name in names else SERVED for name in RICH_OPEN.agent_access}


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
    before = card({"wba": 18}, "Selective", agent_access=refusing("Claude-User"), live_served=3)
    before = replace(before, matrix={**before.matrix, "claude": "blocked"})
    after = card(agent_access=refusing())
    assert words(before, after) == [
        "Access: 34 → 40",
        "Claude: refused → in, +6 Access",
        "Answer to Claude-User: 403 → 200",
        "Agents served: 3 → 4",
    ]
    assert diff(before, after).headline() == "score 93 → 100, grade A, Selective → Open"


def test_points_that_do_not_divide_stand_on_the_count() -> None:
    names = ("ChatGPT-User", "Claude-User", "Google-Agent")
    before = replace(
        WALLED,
        **sums(V02, {**dict.fromkeys(FULL, 0), "wba": 3}, "Selective"),
        agent_access=refusing(*names),
        live_served=1,
        matrix={**WALLED.matrix, "chatgpt": "blocked", "claude": "blocked", "gemini": "blocked"},
    )
    earned = {**dict.fromkeys(FULL, 0), "wba": 10}
    after = replace(
        before,
        **sums(V02, earned, "Selective"),
        agent_access=refusing(),
        matrix={**before.matrix, "chatgpt": "allowed", "claude": "allowed", "gemini": "allowed"},
        live_served=4,
    )
    found = words(before, after)
    assert "Agents served: 1 → 4, +7 Welcome" in found
    assert "Claude: refused → in" in found


@pytest.mark.parametrize(
    ("component", "low", "fields", "sentence"),
    [
        ("llms", 0, {"files": ()}, "llms.txt: missing → found, +5 Surface"),
        ("jsonld", 0, {"jsonld": 0}, "JSON-LD blocks: 0 → 11, +5 Surface"),
        ("signal", 0, {"content_signal": False}, "Content-Signal line: no → yes, +10 Consent"),
        ("ssr", 0, {"noscript_shell": True}, "Empty without scripts: yes → no, +9 Surface"),
        ("landmarks", 4, {"semantic": Semantic(0, 2, 40, 2)}, "main landmarks: 0 → 1, +2 Surface"),
        ("robots", 15, {"agents_disallowed": 1}, "Agents disallowed by robots.txt: 1 → 0, +1 Access"),
        ("front-door", 0, {}, "MCP card or shop manifest: 0 of 15 points → 15 of 15 points, +15 Protocols"),
        ("signal", 5, {}, "Content-Signal: 5 of 10 points → 10 of 10 points, +5 Consent"),
    ],
)
def test_each_component_names_its_cause(component: str, low: int, fields: dict[str, Any], sentence: str) -> None:
    before, after = card({component: low}, **fields), card()
    assert sentence in words(before, after)
    turned = words(after, before)
    assert any(f"-{FULL[component] - low} " in line for line in turned)


def test_new_and_resolved_findings_are_kept_apart() -> None:
    one, two, three = (Evidence("critical", f"finding {number}") for number in (1, 2, 3))
    good = Evidence("good", "fine")
    found = diff(card(evidence=(one, two, two)), card(evidence=(two, three, good)))
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
    silent = {**refusing(), "Claude-User": AgentAccess(0, False, "")}
    change = diff(card(agent_access=refusing()), card(agent_access=silent)).changes[0]
    assert (change.words(), change.direction) == ("Answer to Claude-User: 200 → no answer", 0)
