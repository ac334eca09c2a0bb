"""All places say the same: which fix comes next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest
from hypothesis import given, settings
from selectolax.lexbor import LexborHTMLParser

from aui_tui.checks.scoring import grade_card
from aui_tui.index.packed import columns_of
from aui_tui.model.observations import Observations
from aui_tui.model.report import HostReport
from aui_tui.report import plan
from aui_tui.report.sections import sections
from aui_tui.tui.state import CardState
from aui_tui.web import ApiConfig
from aui_tui.web.rendering import environment
from tests.scan import situations
from tests.strategies import observations

SITUATIONS = (
    situations.wall_for_agents,
    situations.half_open,
    situations.robots_all,
    situations.robots_one,
    situations.shell,
    situations.plain,
)
CONFIG: Final = ApiConfig(base_url="http://127.0.0.1:8080")


def named(seen: Observations) -> dict[str, str]:
    """Return the title of the first fix of each place that names one."""
    from aui_tui.web.toolset import card_result

    card = grade_card(seen)
    report = HostReport(card=card, observations=seen)
    parts = {part.name: part for part in sections(report)}
    following = next(item.text for item in parts["verdict"].items if item.key == "next")
    title = next((fix.title for fix in card.recommendations if following.startswith(f"{fix.title}: ")), following)
    page = environment(CONFIG, scans=False).get_template("site.html").render(card=card, report=report)
    tree = LexborHTMLParser(page)
    told = card_result(report, "").content[0]
    goal = plan.plan_for(report, score=100, with_claims=True)[0]
    near = plan.plan_for(report, with_claims=True)[0]
    return {
        "card": title,
        "fixes": parts["fixes"].items[0].label,
        "plan": goal.steps[0].fix.title,
        "plan to the next grade": near.steps[0].fix.title,
        "page": tree.css_first(".next a").text(),
        "fixes of the page": tree.css_first("#fix-1").text(),
        "tool": next(line for line in told.text.splitlines() if line.startswith("fix ")).partition("): ")[2],
        "dashboard": CardState(card.host).with_report(report).fixes[0].title,
        "list": columns_of(card, seen)["best_fix"],
    }


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda one: one.__name__)
def test_every_place_names_the_same_next_step(situation: Callable[[], Observations]) -> None:
    found = named(situation())
    assert len(set(found.values())) == 1, found


@settings(max_examples=40, deadline=None)
@given(observations())
def test_every_place_names_the_same_next_step_of_any_card(seen: Observations) -> None:
    card = grade_card(seen)
    if not card.unreachable and card.recommendations and card.score < 100:
        found = named(seen)
        assert len(set(found.values())) == 1, found


def test_letting_agents_in_is_the_next_step_of_a_site_that_refuses_one_whatever_its_points() -> None:
    seen = situations.half_open()
    fixes = {fix.k: fix for fix in grade_card(seen).recommendations}
    assert fixes["wba"].pts < fixes["front-door"].pts
    assert set(named(seen).values()) == {fixes["wba"].title}


def test_what_is_wrong_with_a_certificate_is_the_next_step() -> None:
    report = HostReport(card=grade_card(situations.bad_certificate()))
    (following,) = [item.text for item in sections(report)[0].items if item.key == "next"]
    assert following == "Install a certificate that browsers accept, then scan again."
