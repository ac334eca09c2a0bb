"""Gates fail for what is wrong, say by how much, and never pass what could not be measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from aui_tui.checks.evidence import is_note, level
from aui_tui.checks.judge import judge
from aui_tui.checks.scoring import grade_card, ledger
from aui_tui.errors import BadValue
from aui_tui.model import points
from aui_tui.model.card import Evidence, ReportCard
from aui_tui.model.methods import METHODS
from aui_tui.model.observations import Exchange, Observations
from aui_tui.model.vocabulary import INCONCLUSIVE as SILENT
from aui_tui.report.gates import FAILED, INCONCLUSIVE, PASSED, GateOutcome, Gates, check, worst
from tests.cards import DEAD, OPEN_SITE, RICH_OPEN, WALLED
from tests.scan import situations
from tests.strategies import observations


def verdict(card: ReportCard, baseline: ReportCard | None = None, **gates: Any) -> tuple[int, list[str]]:
    outcome = check(card, Gates.of(**gates), baseline)
    return outcome.exit_code, [failure.message for failure in outcome.failures]


def half_silent() -> ReportCard:
    """Return the open card with two agents served and two that gave no answer."""
    silent = {slot: situations.silent(slot) for slot in ("agent_03", "agent_04")}
    exchanges = tuple(silent.get(one.name, one) for one in OPEN_SITE.exchanges)
    return grade_card(replace(OPEN_SITE, exchanges=exchanges), "v0.1")


def test_without_gates_all_pass_but_a_host_that_did_not_answer() -> None:
    assert not Gates()
    assert verdict(WALLED) == (PASSED, [])
    assert verdict(DEAD) == (INCONCLUSIVE, [])


def test_agents_that_got_an_answer_without_a_verdict_are_not_called_silent() -> None:
    rich = situations.open_rich()
    refused = {slot: situations.probe(slot, 403, limited=True) for slot in situations.LIVE}
    limited = replace(rich, exchanges=tuple(refused.get(one.name, one) for one in rich.exchanges))
    code, (grade, claude) = verdict(grade_card(limited), fail_grade="A", must_serve="claude")
    assert code == INCONCLUSIVE
    assert grade == "4 agents of 4 got no verdict, so grade A is inconclusive."
    assert claude == "Claude: inconclusive, because this scan has no verdict."


@pytest.mark.parametrize(
    ("least", "code", "message"),
    [(87, PASSED, []), (88, FAILED, ["The score is 87, 1 point under 88."]), (0, PASSED, [])],
)
def test_a_score_under_the_least_fails(least: int, code: int, message: list[str]) -> None:
    assert verdict(RICH_OPEN, fail_under=least) == (code, message)


def test_with_less_than_half_measured_the_rest_decides() -> None:
    thin = grade_card(situations.thin())
    little = "Only 12 of 50 points could be measured, so"
    assert verdict(thin, fail_under=24) == (PASSED, [])
    assert verdict(thin, fail_under=25) == (INCONCLUSIVE, [f"{little} a score of 25 is inconclusive."])
    assert verdict(thin, fail_grade="D") == (INCONCLUSIVE, [f"{little} grade D is inconclusive."])
    walled = replace(thin, stance="Walled", score=0)
    assert verdict(walled, fail_grade="D") == (FAILED, ["The grade can be at best F, 1 grade below D."])


@pytest.mark.parametrize(
    ("grade", "code", "message"),
    [("C", PASSED, []), ("b", PASSED, []), ("A", FAILED, ["The grade is B, 1 grade below A."])],
)
def test_a_grade_below_the_least_fails(grade: str, code: int, message: list[str]) -> None:
    assert verdict(RICH_OPEN, fail_grade=grade) == (code, message)
    assert verdict(replace(RICH_OPEN, grade="B-"), fail_grade=grade)[0] == code


def test_stance_is_the_least_open_one_that_passes() -> None:
    assert verdict(RICH_OPEN, require_stance="selective") == (PASSED, [])
    assert verdict(replace(RICH_OPEN, stance="Walled"), require_stance="Open") == (
        FAILED,
        ["The stance is Walled, not Open."],
    )


@pytest.mark.parametrize("names", ["claude", "Claude", "CLAUDE-USER", "agent_02", "matrix_key_3", "claude, chatgpt"])
def test_agents_are_named_by_slug_slot_token_or_label(names: str) -> None:
    assert verdict(RICH_OPEN, must_serve=names) == (PASSED, [])


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("gemini", ("gemini",)),
        ("Google agents,Google-Agent,Google agent", ("gemini",)),
        ("Google", ("gemini", "Google-GeminiNotebook")),
        ("OpenAI", ("chatgpt",)),
        ("anthropic, Claude-User", ("claude",)),
        ("Amazon", ("amazon",)),
        ("Alexa", ("Amzn-User",)),
        ("Mistral AI", ("MistralAI-User",)),
        ("Operator", ("Operator",)),
    ],
)
def test_a_gate_takes_product_token_and_company(name: str, asked: tuple[str, ...]) -> None:
    assert Gates.of(must_serve=name).must_serve == asked


def test_an_agent_that_is_shut_out_fails() -> None:
    assert verdict(WALLED, must_serve="claude,perplexity") == (
        FAILED,
        ["Claude: challenged.", "Perplexity: challenged."],
    )
    assert verdict(WALLED, must_serve="gemini")[0] == INCONCLUSIVE
    assert verdict(WALLED, must_serve="claude,gemini")[0] == FAILED
    blocked = replace(RICH_OPEN, ua_policy={**RICH_OPEN.ua_policy, "Devin": "blocked", "Amzn-User": "blocked"})
    assert verdict(blocked, must_serve="devin") == (FAILED, ["robots.txt disallows Devin."])
    assert verdict(blocked, must_serve="amazon") == (
        FAILED,
        ["robots.txt disallows Amzn-User (Amazon)."],
    )
    assert verdict(replace(RICH_OPEN, wildcard_block=True), must_serve="Devin")[0] == FAILED


def test_an_agent_that_is_dropped_again_and_again_is_turned_away_like_on_its_card() -> None:
    seen = situations.dropped()
    card, before = grade_card(seen), grade_card(situations.plain())
    outcome = check(card, Gates.of(must_serve="claude"), observations=seen)
    assert (outcome.exit_code, [one.message for one in outcome.failures]) == (FAILED, ["Claude: refused."])
    worse = check(card, Gates(no_regress=True), before, seen)
    assert "Claude: went from in to refused." in [one.message for one in worse.failures]


def test_a_purpose_stands_for_all_of_its_clients() -> None:
    assert Gates.of(must_serve="user").must_serve == ("chatgpt", "claude", "gemini", "perplexity")
    assert verdict(RICH_OPEN, must_serve="user") == (PASSED, [])
    assert verdict(RICH_OPEN, must_serve="user,search") == (PASSED, [])
    blocked = replace(
        RICH_OPEN, crawler_policy=RICH_OPEN.crawler_policy | {"GPTBot": "blocked", "OAI-SearchBot": "blocked"}
    )
    assert verdict(blocked, must_serve="user") == (PASSED, [])
    assert "robots.txt disallows OAI-SearchBot." in verdict(blocked, must_serve="search")[1]
    assert "robots.txt disallows GPTBot." in verdict(blocked, must_serve="training")[1]
    assert verdict(replace(RICH_OPEN, robots_status=503), must_serve="Devin")[0] == INCONCLUSIVE


@pytest.mark.parametrize("name", ["amazon", "meta_ai", "Devin"])
def test_what_nobody_asked_never_passes(name: str) -> None:
    code, (message,) = verdict(RICH_OPEN, must_serve=name)
    assert code == INCONCLUSIVE
    assert ": not asked; a scan asks for ChatGPT, Claude, " in message


def test_a_finding_of_the_severity_or_worse_fails() -> None:
    assert verdict(RICH_OPEN, fail_on="critical") == (PASSED, [])
    code, messages = verdict(RICH_OPEN, fail_on="warn")
    assert code == FAILED
    assert messages[0].startswith("2 findings of severity critical or warn; the first: shop.example/robots.txt")
    twice = replace(WALLED, evidence=WALLED.evidence[:1] * 2)
    assert check(twice, Gates.of(fail_on="critical")).failures[0].by == 2


def test_limits_of_the_test_and_facts_without_points_are_notes() -> None:
    good = grade_card(replace(situations.open_rich(), limits=("insecure", "credentials"), warnings=("One note.",)))
    assert [item.t for item in good.evidence].count("warn") >= 3
    assert verdict(good, fail_on="warn") == (PASSED, [])
    poor = grade_card(replace(situations.plain(), limits=("insecure",)))
    code, messages = verdict(poor, fail_on="warn")
    assert code == FAILED
    assert "certificate" not in messages[0].lower()
    assert verdict(grade_card(situations.limited()), fail_on="critical")[0] == INCONCLUSIVE


def test_what_could_not_be_measured_never_passes() -> None:
    every = Gates.of(fail_under=0, fail_grade="F", require_stance="Walled", must_serve="claude", fail_on="critical")
    assert check(DEAD, every).exit_code == INCONCLUSIVE
    assert verdict(DEAD, fail_under=0)[0] == INCONCLUSIVE
    assert verdict(half_silent(), require_stance="Open")[0] == INCONCLUSIVE
    assert verdict(half_silent(), fail_on="critical")[0] == INCONCLUSIVE


def test_a_score_passes_when_it_would_even_with_every_silent_agent_refused() -> None:
    card = half_silent()
    assert card.score == 87
    assert verdict(card, fail_under=73) == (PASSED, [])
    assert verdict(card, fail_under=74)[0] == INCONCLUSIVE
    assert verdict(card, fail_under=88)[0] == FAILED
    assert verdict(card, fail_grade="C")[0] == PASSED
    assert verdict(card, fail_grade="B")[0] == INCONCLUSIVE


@pytest.mark.ci
@given(observations(), st.sampled_from(tuple(METHODS)))
def test_the_lowest_score_is_the_score_with_every_silent_agent_refused(seen: Observations, method: str) -> None:
    card = grade_card(seen, method)
    if card.unreachable:
        return
    least = ledger(judge(replace(seen, exchanges=tuple(map(refused, seen.exchanges)))), METHODS[method])
    outcome = check(card, Gates.of(fail_under=card.score))
    if any(e.outcome == SILENT for e in seen.live) and least.score < card.score and not least.capped:
        assert outcome.exit_code == INCONCLUSIVE
    if not any(e.outcome == SILENT for e in seen.live):
        assert outcome.exit_code == PASSED


def refused(exchange: Exchange) -> Exchange:
    if not exchange.name.startswith("agent_") or exchange.outcome != SILENT:
        return exchange
    return replace(exchange, status=403, error="", detail="", challenge=None)


def test_no_regress_names_what_fell() -> None:
    worse = replace(
        RICH_OPEN,
        score=80,
        stance="Selective",
        matrix={**RICH_OPEN.matrix, "claude": "blocked"},
        ua_policy={**RICH_OPEN.ua_policy, "Devin": "blocked"},
    )
    code, messages = verdict(worse, RICH_OPEN, no_regress=True)
    assert code == FAILED
    assert messages == [
        "The score fell by 7 points, from 87 to 80.",
        "The stance fell from Open to Selective.",
        "Claude: went from in to refused.",
        "robots.txt: Devin went from not named to told no.",
    ]
    assert verdict(RICH_OPEN, worse, no_regress=True) == (PASSED, [])
    assert verdict(RICH_OPEN, RICH_OPEN, no_regress=True) == (PASSED, [])


def test_no_regress_cannot_tell_about_what_was_not_measured_this_time() -> None:
    """A server that is busy for one file, or for one agent, is not worse than before."""
    before = situations.open_rich()
    busy = replace(before, exchanges=tuple(replace(e, status=503) if e.name == "llms" else e for e in before.exchanges))
    busy = replace(busy, files=replace(busy.files, llms=False))
    code, messages = verdict(grade_card(busy), grade_card(before), no_regress=True)
    assert (code, messages) == (
        INCONCLUSIVE,
        ["Only 47 of 50 points could be measured, so a score of 100 is inconclusive."],
    )
    assert verdict(grade_card(busy), grade_card(busy), no_regress=True) == (PASSED, [])
    less = replace(busy, robots=situations.plain().robots)
    card = grade_card(less)
    assert (card.score, points.reach(card)) == (91, (86, 92))
    assert [verdict(card, fail_under=score)[0] for score in (91, 92, 93)] == [PASSED, INCONCLUSIVE, FAILED]
    assert verdict(grade_card(before), grade_card(busy), no_regress=True) == (PASSED, [])
    unread, paths = grade_card(situations.robots_down()), grade_card(situations.robots_paths())
    assert not any("robots.txt:" in message for message in verdict(paths, unread, no_regress=True)[1])
    one_silent = grade_card(situations.tarpit())
    code, messages = verdict(one_silent, grade_card(situations.plain()), no_regress=True)
    assert code == INCONCLUSIVE, messages
    assert "The stance is Selective: 1 agent of 4 got no verdict." in messages


@pytest.mark.ci
@pytest.mark.parametrize("situation", [situations.wall_for_agents, situations.dropped, situations.half_open])
def test_a_note_is_not_counted_beside_the_finding_that_it_explains(situation: Callable[[], Observations]) -> None:
    card = grade_card(situation())
    problems = {finding.id for finding in card.findings if not is_note(finding)}
    assert {"critical", "warn"} & {finding.severity for finding in card.findings if is_note(finding)}
    assert check(card, Gates.of(fail_on="warn"), accepted=problems).exit_code == PASSED


def test_what_only_a_site_with_such_a_server_can_declare_fails_no_gate() -> None:
    rich = situations.open_rich()
    card = grade_card(replace(rich, files=replace(rich.files, ucp=False, mcp=False)))
    assert [finding.id for finding in card.findings if level(finding) == "note"] == ["protocols-none"]
    assert verdict(card, fail_on="warn") == (PASSED, [])


def test_no_regress_cannot_tell_without_a_comparable_baseline() -> None:
    assert verdict(RICH_OPEN, None, no_regress=True)[0] == INCONCLUSIVE
    assert verdict(RICH_OPEN, WALLED, no_regress=True)[0] == INCONCLUSIVE
    assert verdict(WALLED, DEAD, no_regress=True)[0] == INCONCLUSIVE
    silent = replace(RICH_OPEN, matrix={**RICH_OPEN.matrix, "claude": "untested"})
    assert verdict(silent, RICH_OPEN, no_regress=True) == (
        INCONCLUSIVE,
        ["Claude: was in and is unclear now."],
    )


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"fail_under": 101}, "from 0 to 100, not 101"),
        ({"fail_grade": ""}, "The grade is empty; allowed are: A, B, C, D, F."),
        ({"require_stance": " "}, "The stance is empty; allowed are: Open, Selective, Walled."),
        ({"fail_on": ""}, "The severity is empty; allowed are: critical, warn."),
        ({"must_serve": ""}, "The agent is empty; allowed are: ChatGPT, Claude"),
        ({"must_serve": ","}, "The agent is empty"),
        ({"must_serve": "claude,"}, "The agent is empty"),
        ({"fail_grade": "E"}, "Unknown grade 'E'; allowed are: A, B, C, D, F."),
        ({"require_stance": "Shut"}, "allowed are: Open, Selective, Walled."),
        ({"fail_on": "good"}, "allowed are: critical, warn."),
        (
            {"must_serve": "claude,nobody"},
            "Unknown agent 'nobody'; allowed are: ChatGPT, Claude, Google agent, Perplexity, Amazon, Meta AI, ",
        ),
        (
            {"must_serve": "browser_agents"},
            "No gate can ask for in-browser: it cannot be tested over plain HTTP",
        ),
    ],
)
def test_bad_values_are_named(option: dict[str, Any], words: str) -> None:
    with pytest.raises(BadValue, match=words.replace("(", r"\(").replace(".", r"\.")):
        Gates.of(**option)


def test_the_worst_of_several_hosts_counts() -> None:
    assert worst([]) == PASSED
    assert worst([PASSED, INCONCLUSIVE]) == INCONCLUSIVE
    assert worst([INCONCLUSIVE, FAILED, PASSED]) == FAILED
    assert worst([PASSED, 4]) == 4
    assert GateOutcome(host="x").exit_code == PASSED


@pytest.mark.parametrize("gate", ["must_serve", "must_block"])
def test_a_robots_txt_that_was_not_read_to_its_end_says_nothing_of_names_that_were_not_met(gate: str) -> None:
    def asked(name: str) -> dict[str, Any]:
        return {gate: name}

    cut = grade_card(situations.site(robots=situations.rules(crawlers=["CCBot"], cut=True)))
    assert verdict(cut, None, **asked("gptbot")) == (
        INCONCLUSIVE,
        ["robots.txt could not be read to its end, so GPTBot is inconclusive."],
    )
    assert verdict(cut, None, **asked("ccbot"))[0] == (FAILED if gate == "must_serve" else PASSED)


def test_evidence_that_is_good_is_no_finding() -> None:
    card = replace(RICH_OPEN, evidence=(Evidence("good", "fine"),))
    assert verdict(card, fail_on="warn") == (PASSED, [])


def test_what_must_be_kept_out_is_judged_by_its_answer_or_by_robots_txt() -> None:
    told = replace(RICH_OPEN, crawler_policy=RICH_OPEN.crawler_policy | {"CCBot": "allowed"})
    assert verdict(told, must_block="gptbot") == (PASSED, [])
    assert verdict(told, must_block="gptbot,ccbot") == (
        FAILED,
        ["robots.txt does not disallow CCBot, and it was not asked."],
    )
    unnamed = replace(RICH_OPEN, wildcard_block=True, crawler_policy=RICH_OPEN.crawler_policy | {"CCBot": "unlisted"})
    assert verdict(unnamed, must_block="ccbot") == (PASSED, [])
    assert verdict(WALLED, must_block="claude") == (PASSED, [])
    assert verdict(RICH_OPEN, must_block="claude") == (FAILED, ["Claude: in."])
    assert verdict(WALLED, must_block="gemini")[0] == INCONCLUSIVE
    unknown = replace(RICH_OPEN, robots_status=503)
    assert verdict(unknown, must_block="claudebot")[0] == INCONCLUSIVE
    with pytest.raises(BadValue, match="both --must-serve and --must-block"):
        Gates.of(must_serve="user", must_block="claude,gptbot")
    with pytest.raises(BadValue):
        Gates.of(must_block="")
