from __future__ import annotations

import dataclasses
import json
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from msgspec.structs import replace

from aui_tui.checks import BY_FIX
from aui_tui.checks.judge import judge
from aui_tui.checks.scoring import Labels, apply, grade_card, ledger, what_if
from aui_tui.errors import BadValue
from aui_tui.model.card import LedgerEntry
from aui_tui.model.codec import encode_card
from aui_tui.model.methods import METHODS, Method, round_half_up
from aui_tui.model.observations import BROWSER, Challenge, Observations, PageFacts
from aui_tui.model.points import gain, is_graded, lacking, totals
from aui_tui.model.vocabulary import FIXES, NO_GRADE, SEVERITIES
from tests.scan.situations import plain, probe, rules, site, thin
from tests.strategies import driven, observations

SCHEMA = Draft202012Validator(
    json.loads(files("aui_tui.model").joinpath("schemas/card.schema.json").read_text(encoding="utf-8"))
)
METHOD = st.sampled_from(tuple(METHODS.values()))


@pytest.mark.ci
@given(driven(), METHOD)
def test_every_card_follows_the_schema(seen: Observations, method: Method) -> None:
    card = grade_card(seen, method.name)
    SCHEMA.validate(json.loads(encode_card(card)))
    assert card.evidence
    assert [line.t for line in card.evidence] == sorted((line.t for line in card.evidence), key=SEVERITIES.index)


@pytest.mark.ci
@given(driven(), METHOD)
def test_earned_points_all_fixes_and_what_tasks_lack_make_the_possible_points(
    seen: Observations, method: Method
) -> None:
    card, book = grade_card(seen, method.name), ledger(judge(seen), method)
    earned = sum(int(points) for points in card.pillars.values() if points is not None)
    assert earned == book.earned
    assert earned + sum(fix.pts for fix in card.recommendations) + lacking(card) == book.possible
    assert totals(card) == (book.earned, book.possible)
    order = [(-fix.pts, FIXES.index(fix.k)) for fix in card.recommendations]
    assert order == sorted(order)
    for fix in card.recommendations:
        assert fix.pts > 0
        assert fix.pillar == method.pillar(BY_FIX[fix.k].pillar[method.name]).label


@pytest.mark.ci
@given(driven(), METHOD)
def test_points_of_a_fix_are_those_of_scoring_again(seen: Observations, method: Method) -> None:
    reported = {fix.k: fix.pts for fix in grade_card(seen, method.name).recommendations}
    measured = {entry.component for entry in ledger(judge(seen), method).entries if entry.measured}
    for fix in (fix for fix in FIXES if fix in measured):
        after = apply(seen, (fix,))
        assert ledger(judge(after), method).earned - ledger(judge(seen), method).earned == reported.get(fix, 0)
        assert fix in ("wba", "robots") or dataclasses.replace(judge(after), observations=seen) == judge(seen)


@given(observations(), METHOD)
def test_all_fixes_together_give_a_hundred(seen: Observations, method: Method) -> None:
    after = what_if(seen, FIXES, method)
    if seen.unreachable:
        assert (after.score, after.stance) == (0, "Selective" if seen.refuses_everybody else "Walled")
    else:
        assert (after.score, after.grade) == (100, "A")
        assert after.stance != "Walled"
        assert not grade_card(apply(seen, FIXES), method.name).recommendations


@given(observations(), METHOD, st.sampled_from(FIXES))
def test_a_fix_changes_its_own_component_only(seen: Observations, method: Method, fix: str) -> None:
    before, after = ledger(judge(seen), method), ledger(judge(apply(seen, (fix,))), method)
    for old, new in zip(before.entries, after.entries, strict=True):
        if old.component != fix:
            assert (old.earned, old.measured) == (new.earned, new.measured)
        elif old.measured:
            assert new.earned == new.possible
    assert after.score >= before.score


@given(observations(), METHOD)
def test_the_ledger_adds_up(seen: Observations, method: Method) -> None:
    book = ledger(judge(seen), method)
    assert book.earned == sum(entry.earned for entry in book.entries)
    assert all(0 <= entry.earned <= entry.possible for entry in book.entries)
    assert all(entry.reason.endswith(".") for entry in book.entries)
    assert book.score <= book.raw <= 100
    assert book.capped == (book.score < book.raw)


@given(observations())
def test_the_record_alone_tells_an_unreachable_site(seen: Observations) -> None:
    card = grade_card(seen)
    assert card.unreachable == seen.unreachable
    if seen.unreachable:
        assert (card.score, card.grade, card.recommendations) == (0, "F", ())
        assert card.stance == ("Selective" if seen.refuses_everybody else "Walled")
        assert card.evidence[0].t == "critical"


@given(st.integers(0, 10_000), st.integers(1, 500))
def test_rounding_is_half_up(numerator: int, denominator: int) -> None:
    rounded = round_half_up(numerator, denominator)
    assert 2 * denominator * rounded - denominator <= 2 * numerator < 2 * denominator * rounded + denominator


def test_an_unknown_method_is_reported_with_the_known_ones() -> None:
    with pytest.raises(BadValue, match=r"v0\.1, v0\.2"):
        grade_card(plain(), "v9")


@given(observations())
def test_the_name_is_the_given_one_else_the_sites_else_the_host(seen: Observations) -> None:
    assert grade_card(seen, labels=Labels(name="Given")).name == "Given"
    assert grade_card(seen).name == (seen.page.site_name.strip() or seen.host)


def ledger_of(seen: Observations) -> dict[str, LedgerEntry]:
    return {entry.component: entry for entry in ledger(judge(seen), METHODS["v0.2"]).entries}


@pytest.mark.parametrize("status", [401, 403, 429, 451, 500, 503])
def test_a_file_that_is_kept_back_is_not_measured(status: int) -> None:
    seen = plain()
    exchanges = tuple(replace(one, status=status) if one.name in ("llms", "mcp") else one for one in seen.exchanges)
    entries = ledger_of(replace(seen, exchanges=exchanges))
    assert not entries["llms"].measured
    assert not entries["front-door"].measured
    assert ledger_of(seen)["llms"].measured


def test_nothing_is_absent_from_a_page_that_was_cut() -> None:
    seen = plain()
    exchanges = tuple(replace(one, cut=True) if one.name == BROWSER else one for one in seen.exchanges)
    bare = replace(seen, exchanges=exchanges, page=PageFacts(readable=900, scripts=3))
    entries = ledger_of(bare)
    assert [entries[name].measured for name in ("ssr", "landmarks", "jsonld")] == [True, False, False]
    there = ledger_of(replace(bare, page=replace(bare.page, jsonld=2)))
    assert (there["jsonld"].measured, there["jsonld"].earned) == (True, 3)
    texts = " ".join(line.text for line in grade_card(bare).evidence)
    assert "no JSON-LD" not in texts
    assert "lacks" not in texts


@pytest.mark.parametrize(
    "page", [PageFacts(problem="it is application/json, not a page"), PageFacts(problem="it is made of frames")]
)
def test_a_homepage_that_is_no_page_is_not_measured(page: PageFacts) -> None:
    entries = ledger_of(replace(plain(), page=page))
    assert not any(entries[name].measured for name in ("ssr", "landmarks", "jsonld"))


def test_nothing_to_read_is_never_good() -> None:
    entry = ledger_of(replace(plain(), page=PageFacts(readable=0, scripts=1)))["ssr"]
    assert (entry.measured, entry.earned, entry.fix) == (True, 0, "ssr")


def test_with_less_than_half_measured_there_is_no_grade() -> None:
    assert is_graded(grade_card(plain()))
    card = grade_card(thin())
    assert not is_graded(card)
    assert (card.score, card.grade, gain(card)) == (100, NO_GRADE, "")
    assert [finding.text for finding in card.findings if finding.id == "thin"] == [
        "Only 12 of 50 points could be measured, less than half: too little for a grade. What was not measured is named"
        " below the score, with the reason."
    ]


@pytest.mark.parametrize(
    ("edge", "vendor", "who"),
    [("nginx", "", "server"), ("apache", "", "server"), ("cloudflare nginx", "", "edge"), ("", "", "server"),
     ("nginx", "datadome", "edge"), ("nginx", "anubis", "server"), ("varnish", "", "server")],
)  # fmt: skip
def test_only_a_cdn_or_a_firewall_is_called_the_edge(edge: str, vendor: str, who: str) -> None:
    wall = Challenge(vendor=vendor, signal="a sign", tier="A") if vendor else None
    seen = site(
        agents=lambda slot: replace(probe(slot, 403), challenge=wall),
        edge=edge,
        robots=rules({}),
    )
    assert f"robots.txt says yes, the {who} says no." in grade_card(seen).top_evidence
