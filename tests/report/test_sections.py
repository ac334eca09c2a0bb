"""Every sentence and figure of a report agrees with the others, on the demo's kinds of site and on random ones."""

from __future__ import annotations

import inspect
import re

import pytest
from hypothesis import Phase, given, settings
from msgspec.structs import replace

from aui_tui.checks.scoring import grade_card
from aui_tui.model import agents, fates
from aui_tui.model.methods import METHODS, MOST_AGENTS
from aui_tui.model.observations import Observations
from aui_tui.model.points import task_points, unknown
from aui_tui.model.report import HostReport
from aui_tui.model.signs import SIGNS, sign
from aui_tui.model.surfaces import SURFACES
from aui_tui.report.sections import NAMES, Section, facts, sections
from aui_tui.report.words import agent_counts
from tests.scan import situations
from tests.strategies import driven, observations


def report_of(seen: Observations, name: str = "v0.2") -> HostReport:
    return HostReport(card=grade_card(seen, name), observations=seen)


def by_name(report: HostReport) -> dict[str, Section]:
    return {section.name: section for section in sections(report)}


def check(report: HostReport) -> None:
    card, found = report.card, by_name(report)
    sentence, outcomes = found["verdict"].text, agents.outcomes(card, report.observations)
    assert found["verdict"].word == ("unreachable" if card.unreachable else card.stance)
    names = {name: one for one in outcomes for name in one.names}
    assert len(names) == len(card.matrix)
    if card.unreachable:
        assert sentence.endswith("Not graded.")
        assert {one.verdict for one in outcomes} <= {"unclear", "not asked"}
        assert not found.keys() & {"points", "fixes", "agents", "ledger"}
        return
    said = {name for name in names if re.search(rf"\b{re.escape(name)}\b(?! agent)", sentence)}
    shut = {name for name, one in names.items() if one.verdict in fates.SHUT and one.asked}
    inside = {name for name, one in names.items() if one.verdict in (fates.IN, fates.PART) and one.asked}
    everybody = "every assistant that was asked gets in" in sentence.lower()
    nobody = "ssistants that were asked" in sentence or "no assistant that was asked" in sentence.lower()
    assert everybody == (bool(inside) and inside == {name for name, one in names.items() if one.asked})
    if card.agents_disallowed < card.agents_total and not nobody:
        assert shut <= said
    assert not (said - shut - inside) & {name for name, one in names.items() if one.verdict == fates.IN}
    if card.stance == "Walled":
        assert card.agents_disallowed >= MOST_AGENTS or not {name for name in inside if names[name].source == "live"}
        if card.agents_disallowed >= MOST_AGENTS:
            assert str(card.agents_disallowed) in sentence
    if card.stance == "Open":
        assert not {name for name in shut if names[name].source == "live"}
        assert "stay out" not in sentence or {one.source for one in outcomes if one.verdict == "told no"} == {"none"}
    if card.stance == "Selective":
        assert not everybody or "stay out" in sentence, sentence
    rows = agents.agent_rows(card, report.observations)
    assert sum(map(int, re.findall(r"\d+", agent_counts(rows)))) == card.agents_total
    assert {row.verdict for row in rows} <= SIGNS.keys()
    for surface, (key, verdict) in zip(SURFACES, card.matrix.items(), strict=True):
        one = names[surface.label]
        assert key in one.keys
        dropped = one.reason == agents.DROPPED  # the record has no word of its own for it
        if surface.source == "robots":
            assert one.verdict in (fates.TOLD_NO, fates.NOT_ASKED)
        else:
            word = fates.word_of(verdict, surface.source, ran=bool(card.task_runs) or task_points(card) is not None)
            older = " now; an earlier task run" in one.reason
            assert older or (word in fates.SHUT or dropped) == (one.verdict in fates.SHUT)
    fixes = found["fixes"].items if "fixes" in found else ()
    assert {fix.key for fix in fixes} == {fix.k for fix in card.recommendations}
    following = next(item for item in found["verdict"].items if item.key == "next")
    if fixes:
        assert following.text.startswith(fixes[0].label)
        assert following.code == fixes[0].code
        assert fixes[0].cells[1] in following.text
    for section in found.values():
        assert section.name in NAMES
        for item in section.items:
            assert not item.word or item.word in SIGNS


@pytest.mark.parametrize(
    "make",
    [
        make
        for name, make in vars(situations).items()
        if inspect.isfunction(make)
        and inspect.signature(make).return_annotation == "Observations"
        and not inspect.signature(make).parameters
    ],
)
def test_a_situation_is_told_without_contradiction(make: object) -> None:
    assert callable(make)
    check(report_of(make()))


@settings(max_examples=125, phases=(Phase.explicit, Phase.generate))
@given(driven())
def test_a_random_card_is_told_without_contradiction(seen: Observations) -> None:
    for name in METHODS:
        check(report_of(seen, name))
        check(HostReport(card=grade_card(seen, name)))


def test_every_sign_has_a_twin_of_one_cell_and_each_group_of_words_has_its_own() -> None:
    for group in (fates.WORST_FIRST, ("Open", "Selective", "Walled"), ("critical", "warn", "good")):
        assert len({sign(word).sign for word in group}) == len({sign(word).ascii for word in group}) == len(group)
    assert all(len(one.sign) == len(one.ascii) == 1 and one.ascii.isascii() for one in SIGNS.values())


def seen_of(seen: Observations) -> dict[str, str]:
    return {item.cells[0]: item.text for item in facts(report_of(seen)).items}


@pytest.mark.ci
def test_what_was_not_read_is_not_counted_as_none() -> None:
    down = seen_of(situations.robots_down())
    assert down["robots.txt"].endswith(", so its rules are not known")
    assert not {"Agents", "Crawlers", "Signal"} & set(down)
    wall = seen_of(situations.wall_for_all())
    assert wall["Page"] == "not measured: JSON-LD, landmarks"
    cut = seen_of(situations.site(robots=situations.rules(crawlers=["CCBot"], cut=True)))
    assert cut["robots.txt"] == "200, names 1 user agent in the part that was read"
    assert cut["Signal"] == "not measured"
    by_agent = replace(situations.wall_for_all(), page=replace(situations.RICH_PAGE, seen_by="agent_01"))
    assert seen_of(by_agent)["Page"].startswith("2 JSON-LD blocks, 1 main"), "an agent's page was seen"
    everybody = seen_of(situations.robots_all())
    assert everybody["Agents"] == "robots.txt tells 19 of 19 to stay out"
    assert everybody["Crawlers"] == "0 of 15 told no by name; shown, not scored"
    plain = seen_of(situations.plain())
    assert "not measured" not in "".join(plain.values())
    assert plain["Signal"] == "no Content-Signal"
    assert " aria label" in plain["Page"]


@pytest.mark.ci
@given(observations())
def test_the_facts_and_the_ledger_agree_on_what_is_measured(seen: Observations) -> None:
    card = grade_card(seen)
    if not card.unreachable:
        shown, lost = seen_of(seen), unknown(card)
        assert ("none" in shown["Files"]) <= (not {"llms", "front-door"} <= lost)
        assert ({"jsonld", "landmarks"} <= lost) <= (shown["Page"] == "not measured: JSON-LD, landmarks")
        assert ("Signal" in shown) is card.robots_known
        assert (shown.get("Signal") == "not measured") <= ("signal" in lost and not card.content_signal)
