"""A plan is the beginning of the card's own list of fixes, keeps the ceiling, and writes over no file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from aui_tui.checks import Site
from aui_tui.checks.judge import judge
from aui_tui.checks.scoring import Labels, grade_card, site_of, what_if
from aui_tui.errors import BadValue, Unavailable
from aui_tui.index.packed import columns_of
from aui_tui.model.methods import METHODS, V02
from aui_tui.model.observations import FileFacts, Observations
from aui_tui.model.points import by_harm, foresees, gain
from aui_tui.model.registry import registry
from aui_tui.model.report import HostReport
from aui_tui.model.vocabulary import GRADES
from aui_tui.report import plan as plans
from aui_tui.report.markdown import escape, section_lines
from aui_tui.report.plan import INSERTED, Plan, as_json, members, pieces, readme, write_files
from aui_tui.report.sections import sections
from aui_tui.scan.robots import parse
from aui_tui.text import count
from tests.cards import DEAD_SITE, OPEN_SITE, RICH_OPEN, WALLED, WALLED_SITE, published
from tests.scan import situations
from tests.scan.situations import probe, site
from tests.strategies import observations


def plan(seen: Observations, *, grade: str = "", score: int | None = None, method: str = "v0.2") -> Plan:
    """Return the plan of a site as it was seen, with what only some sites can declare."""
    return plans.plan(
        grade_card(seen, method),
        what_if=lambda fixes: what_if(seen, fixes, METHODS[method]),
        grade=grade,
        score=score,
        with_claims=True,
    )


def seen_plan() -> tuple[plans.Plan, Site]:
    """The plan of a site as it was seen."""
    seen = situations.plain()
    return plans.plan_for(HostReport(card=grade_card(seen), observations=seen), score=100)


def keys(seen: Observations, *, more: int) -> list[str]:
    """Return the fixes that bring a site so many points of the score."""
    return [step.fix.k for step in plan(seen, score=grade_card(seen).score + more).steps]


def test_the_ceiling_of_a_walled_site_is_reckoned_with() -> None:
    assert WALLED.score == 42
    assert keys(WALLED_SITE, more=8) == ["wba"]
    assert [step.fix.k for step in plan(WALLED_SITE, grade="D").steps] == ["wba"]
    found = plan(WALLED_SITE, grade="A")
    assert [step.fix.k for step in found.steps] == ["wba", "signal", "llms", "front-door"]
    assert [step.score for step in found.steps] == [66, 74, 80, 100]
    assert {step.stance for step in found.steps} == {"Selective"}


def test_the_next_grade_is_the_goal_when_none_is_named() -> None:
    assert plan(WALLED_SITE).goal == "grade D"
    assert plan(OPEN_SITE, method="v0.1").goal == "grade A"
    perfect = plan(situations.open_rich(), method="v0.1")
    assert (perfect.goal, perfect.reached, perfect.steps) == ("score 100", True, ())


def test_the_worst_harm_comes_first_until_the_goal_is_reached() -> None:
    seen = replace(situations.robots_one(), page=replace(situations.RICH_PAGE, jsonld=0))
    assert keys(seen, more=1) == ["robots"]
    assert keys(seen, more=8) == ["robots", "signal"]
    assert keys(seen, more=20) == ["robots", "signal", "llms", "jsonld"]


def test_a_goal_that_is_reached_needs_no_step() -> None:
    found = plan(OPEN_SITE, grade="c", method="v0.1")
    assert (found.steps, found.reached, found.after) == ((), True, (87, "B", "Open"))
    assert words_of(found)[0].endswith("The goal is reached already.")


def test_a_goal_out_of_reach_gives_what_helps() -> None:
    shut = replace(WALLED, recommendations=tuple(f for f in WALLED.recommendations if f.k != "wba"))
    found = plans.plan(shut, what_if=lambda fixes: what_if(WALLED_SITE, fixes, V02), grade="A", with_claims=True)
    assert not found.reached
    assert found.after[0] == 59
    assert "All steps together: 42 → 59; grade A cannot be reached." in words_of(found)[0]


def words_of(found: Plan) -> list[str]:
    """Return what a plan says first, then its steps."""
    first, *others = plans.sections(found)
    return [
        first.text,
        *(f"{', '.join(filter(None, item.cells))}: {item.text}" for part in others for item in part.items),
    ]


def readme_text(found: Plan, site: Site) -> str:
    return "".join(section_lines(readme(found, site)))


@pytest.mark.ci
@given(observations(), st.sampled_from(tuple(METHODS)))
def test_a_card_says_where_each_fix_and_all_of_them_lead(seen: Observations, method: str) -> None:
    card = grade_card(seen, method)
    if not foresees(card):
        assert all(gain(card, fix.k).startswith(f"+{count(fix.pts, 'point')}") for fix in card.recommendations)
        return
    for fix in card.recommendations:
        after = what_if(seen, [fix.k], METHODS[method]).score
        assert gain(card, fix.k).removesuffix(" if granted").endswith(f"{card.score} → {after}")
    every = what_if(seen, [fix.k for fix in card.recommendations], METHODS[method]).score
    assert not card.recommendations or gain(card).removesuffix(" if granted") == f"{card.score} → {every}"


@pytest.mark.ci
@settings(max_examples=20)
@given(observations(), st.sampled_from(tuple(METHODS)), st.sampled_from(GRADES))
def test_a_plan_ends_with_the_fix_that_reaches_the_goal(seen: Observations, method: str, grade: str) -> None:
    card = grade_card(seen, method)
    if card.unreachable:
        return
    found = plan(seen, grade=grade, method=method)
    chosen = [step.fix.k for step in found.steps]
    assert chosen == [fix.k for fix in by_harm(card)][: len(chosen)]
    assert found.reached is (found.after[0] >= found.target)
    assert found.reached or len(chosen) == len(card.recommendations)
    assert len(words_of(found)) == 1 + len(chosen)
    assert found.after[0] == (found.steps[-1].score if chosen else card.score)
    if chosen:
        assert what_if(seen, chosen[:-1], METHODS[method]).score < found.target
    else:
        assert judge(seen).stance == found.after[2]


@pytest.mark.parametrize("left", [True, False])
def test_a_plan_without_a_step_names_what_it_leaves_out(left: bool) -> None:
    fixes = tuple(fix for fix in WALLED.recommendations if left and fix.k == "front-door")
    card = replace(WALLED, recommendations=fixes)
    found = plans.plan(card, what_if=lambda fixes: what_if(WALLED_SITE, fixes, V02), score=100)
    assert (found.steps, found.reached, bool(found.claims)) == ((), False, left)
    assert words_of(found)[0].endswith("need AUI_TUI_WITH_CLAIMS=1." if left else " No fix gains points here.")


def test_a_plan_claims_nothing_that_the_site_may_lack() -> None:
    found = plans.plan_for(HostReport(card=WALLED, observations=WALLED_SITE), score=100)[0]
    assert "front-door" not in {step.fix.k for step in found.steps}
    assert not found.reached
    assert "WITH_CLAIMS" in words_of(found)[0]
    assert found.claims == ("front-door",)
    found, site = seen_plan()
    assert not [path for path in pieces(found, site) if "mcp" in path]


def test_letting_agents_in_comes_first_whatever_its_points() -> None:
    assert plan(WALLED_SITE, score=100).steps[0].fix.k == "wba"
    seen = site(
        agents=lambda slot: probe(slot, 403 if slot == "agent_02" else 200),
        page=replace(situations.RICH_PAGE, readable=12, noscript_shell=True),
        files=FileFacts(llms=True, ucp=True),
    )
    card = grade_card(seen)
    assert max(card.recommendations, key=lambda fix: fix.pts).k != "wba"
    assert keys(seen, more=1)[0] == "wba"
    assert [fix.k for fix in by_harm(card)][:2] == ["wba", "ssr"]


@pytest.mark.parametrize(("edge", "promised"), [("", False), ("shopify", False), ("nginx", True), ("akamai", True)])
def test_what_somebody_else_decides_comes_first_and_promises_nothing(edge: str, promised: bool) -> None:
    seen = replace(situations.half_open(), edge=edge)
    card = grade_card(seen)
    found, site = plans.plan_for(HostReport(card=card, observations=seen), score=100)
    first = found.steps[0]
    assert (first.fix.k, first.promised, first.score > card.score) == ("wba", promised, promised)
    with_door = what_if(seen, [step.fix.k for step in found.steps], V02).score
    assert found.granted == with_door
    assert (found.after[0] == with_door) is promised
    assert words_of(found)[1].startswith(f"{first.fix.title}, {gain(card, 'wba')}")
    assert f"### 1. {first.fix.title}\n\n{gain(card, 'wba')}" in readme_text(found, site)
    assert members(found, site)["steps"][0]["gain"] == gain(card, "wba")
    assert members(found, site)["steps"][0]["promised"] is promised
    assert gain(card, "wba").endswith("if granted") is not promised
    following = next(item for item in sections(HostReport(card=card))[0].items if item.key == "next")
    assert (" if granted" in following.text) is not promised
    columns = columns_of(card, seen)
    assert (columns["best_fix"], bool(columns["best_points"])) == (first.fix.title, promised)


def test_the_owner_of_this_machine_asks_nobody() -> None:
    seen = replace(situations.half_open(), edge="", host="localhost:8000", origin="http://localhost:8000")
    card = grade_card(seen)
    found, _ = plans.plan_for(HostReport(card=card, observations=seen), score=100)
    assert found.steps[0].promised
    assert not gain(card, "wba").endswith("if granted")


def test_the_files_for_a_site_of_this_machine_are_titled_by_host_and_port() -> None:
    seen = replace(situations.plain(), host="localhost:8000", origin="http://localhost:8000")
    found, site = plans.plan_for(HostReport(card=grade_card(seen), observations=seen), score=100)
    assert next(iter(readme(found, site))).title == "Fixes for localhost:8000"
    [jsonld] = [step.fix.body for step in found.steps if step.fix.k == "jsonld"]
    assert "paste it there" in jsonld, "a public validator reads no page of this machine"


def test_what_the_site_must_have_first_is_the_last_advice() -> None:
    card = grade_card(replace(situations.open_rich(), files=FileFacts()))
    assert max(card.recommendations, key=lambda fix: fix.pts).k == "front-door"
    assert [fix.k for fix in by_harm(card)][-1] == "front-door"
    shown = {part.name: part for part in sections(HostReport(card=card))}
    assert "MCP card" not in next(item.text for item in shown["verdict"].items if item.key == "next")


def test_targets_are_checked() -> None:
    with pytest.raises(BadValue, match="Unknown grade 'E'"):
        plan(WALLED_SITE, grade="E")
    with pytest.raises(BadValue, match="from 0 to 100, not 101"):
        plan(WALLED_SITE, score=101)
    with pytest.raises(BadValue, match="one target"):
        plan(WALLED_SITE, grade="A", score=3)
    with pytest.raises(Unavailable, match=r"gone\.example could not be measured"):
        plan(DEAD_SITE)


def test_a_plan_begins_with_the_card_and_numbers_its_fixes() -> None:
    first, step, *_ = words_of(plan(WALLED_SITE, grade="C"))
    assert first == "Now score 42, grade F, Walled; goal grade C."
    assert step.startswith("Verify agents instead of blocking them, 42 → 66, grade D, Selective: ChatGPT, Claude and ")


def test_files_are_written_where_they_belong_with_a_text_that_says_so(tmp_path: Path) -> None:
    found, site = seen_plan()
    folder = tmp_path / "fixes"
    written = {str(path.relative_to(folder)): path.read_text() for path in write_files(found, folder, site)}
    text = written.pop("README.md")
    assert {"llms.txt", "robots.txt", "homepage/head.html"} <= set(written)
    assert written == {path: piece.text.strip("\n") + "\n" for path, piece in pieces(found, site).items()}
    for path, piece in pieces(found, site).items():
        assert f"| {escape(path)} | " in text
        assert f'"place":"{piece.place}"' in as_json(found, site)
    assert f"{found.steps[0].score} → {found.steps[1].score}" in text


def test_what_was_seen_gives_whole_files_at_their_paths() -> None:
    seen = situations.robots_all()
    found = plan(seen, score=100)
    site = site_of(
        seen, Labels(name=grade_card(seen).name, public_url="https://shop.example.org", tester="198.51.100.7")
    )
    files = pieces(found, site)
    assert {"llms.txt", ".well-known/mcp.json"} <= set(files) | {"llms.txt"}
    for path in ("llms.txt", ".well-known/mcp.json"):
        if path in files:
            assert "https://shop.example.org/" in files[path].text
            assert "https://shop.example/" not in files[path].text
    text = readme_text(found, site)
    assert "shop.example.org" in text
    assert ("to leave these tags out" in text) == any(path in INSERTED for path in files)
    commands = re.findall(r"`(curl [^`]+)`", text)
    assert len(commands) == text.count("curl ") > 0
    assert not any("\\" in command for command in commands), "a command is copied as it is"


@pytest.mark.ci
@given(observations(), st.sampled_from(tuple(METHODS)))
def test_a_robots_txt_that_is_written_whole_does_what_it_promises(seen: Observations, method: str) -> None:
    card = grade_card(seen, method)
    if card.unreachable or not {"robots", "signal"} & {fix.k for fix in card.recommendations}:
        return
    site = site_of(seen, Labels(name=card.name))
    files = pieces(plan(seen, score=100, method=method), site)
    assert ("robots.txt" in files) != any(path.startswith("by-hand/robots") for path in files)
    if "robots.txt" not in files:
        return
    robots = parse(files["robots.txt"].text.encode())
    assert all(robots.allows(agent.token, "/") for agent in registry().agents)
    if any(fix.k == "signal" for fix in card.recommendations):
        assert "ai-input=yes" in files["robots.txt"].text


def test_no_file_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "fixes").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "fixes" / "homepage").symlink_to(tmp_path / "elsewhere")
    found, site = seen_plan()
    with pytest.raises(BadValue, match="is a link"):
        write_files(found, tmp_path / "fixes", site, force=True)
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize("kind", ["file", "link", "folder"])
def test_nothing_is_written_when_one_file_is_there(tmp_path: Path, kind: str) -> None:
    found, site = seen_plan()
    victim = tmp_path / "victim"
    folder = tmp_path / "fixes"
    folder.mkdir()
    if kind == "link":
        (folder / "README.md").symlink_to(victim)
    elif kind == "file":
        (folder / "README.md").write_text("mine")
    else:
        (folder / "README.md").mkdir()
    with pytest.raises(BadValue, match=r"README\.md is already there; --replace replaces it"):
        write_files(found, folder, site)
    assert [entry.name for entry in folder.iterdir()] == ["README.md"]
    assert not victim.exists()
    if kind != "folder":
        assert len(write_files(found, folder, site, force=True)) == 1 + len(pieces(found, site))
        assert (folder / "README.md").read_text().startswith("# Fixes for shop")
        assert not victim.exists()


def test_what_a_fix_gains_names_points_and_score() -> None:
    assert (gain(WALLED, "signal"), gain(WALLED)) == ("42 → 50", "42 → 100")
    foreign = published(WALLED)
    assert (gain(foreign, "signal"), gain(foreign)) == ("+4 points", "+29 points")
    assert gain(RICH_OPEN, "wba") == ""
