"""JUnit XML, SARIF and the badge follow their published schemas, whatever the texts of a site."""

from __future__ import annotations

import json
from csv import DictReader
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from jsonschema import Draft4Validator
from msgspec.structs import replace

from aui_tui.checks import BY_FIX
from aui_tui.checks.scoring import grade_card
from aui_tui.cli.output import located
from aui_tui.model.card import ReportCard
from aui_tui.model.report import HostReport
from aui_tui.model.vocabulary import GRADES
from aui_tui.report.export import write_cards
from aui_tui.report.formats import HostResult, Refusal
from aui_tui.report.gates import Gates, check
from aui_tui.report.page import COLOURS, UNKNOWN, badge, svg
from aui_tui.text import clean
from tests.cards import DEAD, RICH_OPEN, SAMPLES, WALLED, cards, published
from tests.report.hostile import PAYLOADS, hostile
from tests.scan import situations as site
from tests.scan.situations import plain

SCHEMAS = Path(__file__).parents[1] / "data" / "schemas"
SARIF = Draft4Validator(json.loads((SCHEMAS / "sarif-2.1.0.json").read_bytes()))
REFUSED = Refusal('ftp://x<&"', "Invalid host", 400, "only <http>")
GATES = Gates.of(fail_under=60, must_serve="claude,gemini,perplexity", fail_on="warn")


@cache
def junit() -> Any:
    """Return the schema of JUnit's files."""
    from xmlschema import XMLSchema

    return XMLSchema(str(SCHEMAS / "junit.xsd"))


def gated(name: str, *written: ReportCard | Refusal, **options: Any) -> str:
    results = [
        HostResult(one) if isinstance(one, Refusal) else HostResult(HostReport(card=one), outcome=check(one, GATES))
        for one in written
    ]
    return "".join(write_cards(name, results, **options))


def suites(*written: ReportCard | Refusal, **options: Any) -> list[ElementTree.Element]:
    text = gated("junit", *written, **options)
    junit().validate(text)
    return list(ElementTree.fromstring(text))


def runs(*written: ReportCard | Refusal, **options: Any) -> list[dict[str, Any]]:
    log = json.loads(gated("sarif", *written, **options))
    SARIF.validate(log)
    found: list[dict[str, Any]] = log["runs"]
    return found


@pytest.mark.parametrize("text", PAYLOADS)
def test_hostile_texts_stay_texts(text: str) -> None:
    suites(hostile(text))
    runs(hostile(text))


@settings(max_examples=15)
@given(cards())
def test_any_card_follows_the_schemas(card: ReportCard) -> None:
    suites(card)
    runs(card)


def test_no_card_is_a_whole_document() -> None:
    assert suites() == []
    assert runs() == []


def test_a_refused_host_is_a_suite_that_errs_and_a_run_that_failed() -> None:
    card, lost = suites(RICH_OPEN, REFUSED)
    assert (card.get("id"), lost.get("id")) == ("0", "1")
    assert (lost.get("name"), lost.get("tests"), lost.get("errors")) == ('ftp://x<&"', "1", "1")
    error = lost.find("testcase/error")
    assert error is not None
    assert (error.get("type"), error.text) == ("Invalid host", "only <http>")
    _, failed = runs(RICH_OPEN, REFUSED)
    (invocation,) = failed["invocations"]
    assert not invocation["executionSuccessful"]
    assert invocation["toolExecutionNotifications"][0]["message"]["text"] == "only <http>"
    assert failed["results"] == []


@pytest.mark.parametrize("name", ["json", "ndjson", "csv", "markdown", "html"])
def test_a_refused_host_and_the_reason_are_in_every_format(name: str) -> None:
    for written in ((), (RICH_OPEN,)):
        text = gated(name, *written, REFUSED, many=True)
        assert "ftp:" in text
        assert "only" in text
        if name in ("json", "ndjson"):
            found = json.loads(text) if name == "json" else [json.loads(line) for line in text.splitlines()]
            assert found[-1] == {"found": False, **REFUSED._asdict()}
        elif name == "csv":
            row = list(DictReader(StringIO(text)))[-1]
            assert (row["found"], row["host"], row["score"]) == ("false", REFUSED.host, "")
            assert row["evidence"] == "critical: only <http>"


def test_counts_are_the_counts() -> None:
    for suite in suites(*SAMPLES, DEAD):
        cases = suite.findall("testcase")
        assert suite.get("tests") == str(len(cases))
        for attribute, element in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert suite.get(attribute) == str(sum(case.find(element) is not None for case in cases))


def results(suite: ElementTree.Element) -> dict[str, str]:
    return {
        f"{(case.get('classname') or '').rpartition('.')[2]} {case.get('name')}": case[0].tag if len(case) else "passed"
        for case in suite.findall("testcase")
    }


def test_a_shut_out_agent_fails_a_silent_one_errs_and_open_advice_is_skipped() -> None:
    found = results(suites(WALLED)[0])
    assert found["agents Claude"] == "failure"
    assert found["agents Google agent"] == "error"
    assert found["agents in-browser"] == "skipped"
    assert found["checks llms.txt"] == "skipped"
    assert found["checks JSON-LD"] == "passed"
    assert found["gates fail-under"] == "failure"


def test_a_check_that_was_not_measured_or_lacks_points_does_not_pass() -> None:
    seen = site.wall_for_all()
    card = grade_card(seen)
    text = "".join(write_cards("junit", [HostReport(card=card, observations=seen)]))
    (suite,) = ElementTree.fromstring(text)
    skipped = {case.get("name"): case.findtext("skipped") for case in suite.iterfind("testcase[skipped]")}
    assert {check.label for check in BY_FIX.values()} - {*skipped} == {BY_FIX["robots"].label}
    assert skipped["JSON-LD"].startswith("Not measured. The homepage is behind a wall")


def test_an_agent_has_the_verdict_and_the_reason_of_the_card() -> None:
    seen = site.dropped()
    text = "".join(write_cards("junit", [HostReport(card=grade_card(seen), observations=seen)]))
    (claude,) = ElementTree.fromstring(text).findall(".//testcase[@name='Claude']/failure")
    assert claude.text == "Claude: refused; no answer, while a browser is served, though robots.txt lets it in."


def test_names_of_cases_are_the_same_for_every_site() -> None:
    one, other = (results(suite) for suite in suites(*SAMPLES))
    assert [name for name in one if not name.startswith("gates")] == [n for n in other if not n.startswith("gates")]


def test_an_unreachable_site_errs_and_has_no_score() -> None:
    (suite,) = suites(DEAD)
    assert results(suite) == {"agents the site answers": "error", "gates reachable": "error"}
    assert [entry.get("name") for entry in suite.findall("properties/property")] == ["method"]
    (run,) = runs(DEAD)
    assert run["invocations"][0]["executionSuccessful"] is False
    assert "score" not in run["properties"]


@pytest.mark.parametrize(
    ("card", "others"), [(WALLED, ("finding", "note")), (published(WALLED), ("fix", "note"))], ids=["own", "foreign"]
)
def test_sarif_levels_follow_severity(card: ReportCard, others: tuple[str, str]) -> None:
    """A foreign card does not say which finding a fix is about, so its fixes stand alone."""
    (run,) = runs(card)
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
    kinds = {(result["ruleId"].partition("/")[0], result["level"]) for result in run["results"]}
    assert kinds == {("finding", "error"), ("finding", "warning"), ("gate", "error"), others}


def test_sarif_names_a_rule_for_each_kind_of_finding_with_help_and_a_place_to_read_on() -> None:
    (run,) = runs(WALLED)
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules) > 3
    for rule in rules:
        assert rule["shortDescription"]["text"]
        assert rule["help"]["text"]
        assert rule["helpUri"].startswith("https://")
    used = {result["ruleId"] for result in run["results"]}
    assert used == {rule["id"] for rule in rules}


def test_the_description_of_a_rule_reads_without_the_facts_of_one_site() -> None:
    (run,) = runs(grade_card(site.dropped()))
    described = {rule["id"]: rule["shortDescription"]["text"] for rule in run["tool"]["driver"]["rules"]}
    assert described["finding/shut-out"] == "Shut out: an agent is refused or challenged."
    assert described["finding/probe-limit"].startswith("Limit of this test: a probe borrows")
    assert not any("..." in text or "<<" in text for text in described.values())


def test_no_problem_is_shown_twice_and_each_has_its_snippet() -> None:
    """A fix stands with the finding that it is for, and alone only where no finding speaks of it."""
    seen = plain()
    card = grade_card(seen, "v0.2")
    (run,) = json.loads("".join(write_cards("sarif", [card])))["runs"]
    found = [(one["ruleId"], one["message"]["text"]) for one in run["results"]]
    assert len({one["partialFingerprints"]["auiTui/v1"] for one in run["results"]}) == len(found)
    titles = [fix.title for fix in card.recommendations]
    assert titles
    for title in titles:
        assert sum(title in text for _, text in found) == 1
    assert any(rule.startswith("finding/") and titles[0] in text for rule, text in found)
    for fix in card.recommendations:
        (result,) = (one for one in run["results"] if fix.title in one["message"]["text"])
        assert clean(fix.code, block=True).strip() in result["message"]["text"]
        assert "```" in result["message"]["markdown"]


def test_a_problem_stands_at_a_file_that_exists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert located("/robots.txt") == ""
    (tmp_path / "README.md").touch()
    assert located("/robots.txt") == "README.md"
    (tmp_path / "public").mkdir()
    (tmp_path / "public" / "index.html").touch()
    assert located("") == located("/robots.txt") == "public/index.html"
    (tmp_path / "public" / "robots.txt").touch()
    assert located("/robots.txt") == "public/robots.txt"
    (run,) = json.loads("".join(write_cards("sarif", [WALLED], locate=located)))["runs"]
    for result in run["results"]:
        assert (tmp_path / result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]).is_file()


@pytest.mark.parametrize(
    ("host", "uri"),
    [
        ("shop.example", "shop.example"),
        ("localhost:8000", "localhost%3A8000"),
        ("[::1]:8000", "%5B%3A%3A1%5D%3A8000"),
        ("http://plain.example", "http%3A%2F%2Fplain.example"),
        ("no host at all", "no%20host%20at%20all"),
    ],
)
def test_every_location_is_a_relative_file_as_code_scanning_wants(host: str, uri: str) -> None:
    (run,) = runs(replace(WALLED, host=host))
    places = {result["ruleId"]: result["locations"][0]["physicalLocation"] for result in run["results"]}
    uris = {place["artifactLocation"]["uri"] for place in places.values()}
    assert {uri, f"{uri}/robots.txt"} <= uris
    for place in places.values():
        parts = urlsplit(place["artifactLocation"]["uri"])
        assert (parts.scheme, parts.netloc) == ("", "")
        assert place["region"] == {"startLine": 1}


def test_a_finding_keeps_its_fingerprint_when_only_figures_change() -> None:
    def prints(*tokens: str, line: int = 3) -> set[str]:
        rules = site.rules(dict.fromkeys(tokens, ("blocked", line, "Disallow: /")))
        (run,) = runs(grade_card(site.site(robots=rules)))
        return {
            r["partialFingerprints"]["auiTui/v1"] for r in run["results"] if r["ruleId"] == "finding/robots-blocked"
        }

    assert prints("Devin") == prints("Devin", line=4) == prints("Devin", "Claude-User") != set()
    assert prints() == set()
    (run,) = runs(WALLED)
    every = [result["partialFingerprints"]["auiTui/v1"] for result in run["results"]]
    assert len(set(every)) == len(every)


@pytest.mark.parametrize("card", [*SAMPLES, DEAD], ids=lambda card: card.host)
def test_a_badge_is_one_well_formed_picture(card: ReportCard) -> None:
    picture = ElementTree.fromstring(badge(card))
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    allowed = {"svg", "title", "rect", "g", "text"}
    assert {element.tag.rpartition("}")[2] for element in picture.iter()} == allowed
    assert not any("href" in name for element in picture.iter() for name in element.attrib)
    text = [element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert text == ["agent usability", "unreachable" if card is DEAD else f"{card.grade} {card.score}"]


def test_a_badge_escapes_its_words() -> None:
    for payload in PAYLOADS:
        ElementTree.fromstring(svg(payload, payload, UNKNOWN))
    assert "unreachable" in badge(DEAD)
    assert UNKNOWN in badge(replace(RICH_OPEN, grade="E"))


def test_the_words_of_a_badge_can_be_read() -> None:
    def light(colour: str) -> float:
        parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    assert set(COLOURS) == set(GRADES)
    for colour in (*COLOURS.values(), UNKNOWN, "#333a42"):
        assert 1.05 / (light(colour) + 0.05) > 5


def test_a_gate_is_one_case_however_many_fail_it() -> None:
    outcome = check(WALLED, Gates.of(must_block="gptbot,ccbot,claudebot,bytespider", must_serve="claude,chatgpt"))
    gates = [failure.gate for failure in outcome.failures]
    assert len(gates) > len(set(gates)), "several fail one gate"
    written = [HostResult(HostReport(card=WALLED), outcome=outcome)]
    suite = ElementTree.fromstring("".join(write_cards("junit", written)))
    cases = [(case.get("classname"), case.get("name")) for case in suite.iter("testcase")]
    assert len(cases) == len(set(cases))
    assert all(failure.message in ElementTree.tostring(suite, encoding="unicode") for failure in outcome.failures)
