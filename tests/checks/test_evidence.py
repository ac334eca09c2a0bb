from __future__ import annotations

import pytest
from hypothesis import given
from msgspec.structs import replace

from aui_tui.checks import TITLE
from aui_tui.checks.evidence import findings, is_note, sentences, subject, title
from aui_tui.checks.judge import judge
from aui_tui.checks.scoring import grade_card
from aui_tui.checks.wording import PLACE, out_of
from aui_tui.model.labels import status
from aui_tui.model.observations import (
    BROWSER,
    Arm,
    Exchange,
    FileFacts,
    Landmarks,
    Observations,
    PageFacts,
    RobotsFacts,
)
from aui_tui.model.vocabulary import SEVERITIES
from aui_tui.text import cells, clean, joined
from tests.scan import situations as site
from tests.strategies import observations


def reported(seen: Observations, severity: str = "") -> list[str]:
    return [line.text for line in findings(judge(seen)) if severity in ("", line.severity)]


@pytest.mark.ci
@given(observations())
def test_every_line_is_a_clean_sentence_in_order_of_weight(seen: Observations) -> None:
    lines = findings(judge(seen))
    assert lines
    assert [line.severity for line in lines] == sorted((line.severity for line in lines), key=SEVERITIES.index)
    for line in lines:
        assert line.text.endswith(".")
        assert not line.text.endswith("..")
        assert clean(line.text) == line.text
        assert len(line.text) <= 600
    assert len({line.text for line in lines}) == len(lines)


@given(observations())
def test_an_agent_that_was_turned_away_is_named_with_its_status(seen: Observations) -> None:
    text = " ".join(reported(seen))
    for probe in seen.live:
        if probe.outcome in ("challenged", "refused") and not seen.unreachable:
            assert str(probe.status) in text
            if probe.challenge is not None and probe.challenge.reference:
                assert probe.challenge.reference in text


def test_the_table_is_sorted_by_weight_and_every_sentence_ends() -> None:
    table = list(sentences().values())
    assert [line.t for line in table] == sorted((line.t for line in table), key=SEVERITIES.index)
    assert all(line.text.endswith(".") or line.text == "<<note>>" for line in table)


def test_every_sentence_has_a_short_title() -> None:
    for line in sentences().values():
        assert line.titles, line.id
        assert cells(PLACE.sub("", line.titles[-1])) <= TITLE, line.id


@given(observations())
def test_every_line_has_a_title_for_one_row_and_says_what_it_is_about(seen: Observations) -> None:
    for line in findings(judge(seen)):
        assert 0 < cells(title(line)) <= TITLE
        assert "<<" not in title(line)
        assert cells(subject(line)) <= 12


def test_a_title_names_whom_it_concerns_while_that_fits() -> None:
    lines = {line.id: line for line in findings(judge(site.half_open()))}
    assert title(lines["agents-away"]) == "ChatGPT and Perplexity get 403 Forbidden"
    alone = replace(
        lines["agents-away"], facts=lines["agents-away"].facts | {"agents": "Claude (Claude-User)", "number": "1"}
    )
    assert title(alone) == "Claude gets 403 Forbidden"
    many = replace(alone, facts=alone.facts | {"agents": "ChatGPT, Claude, Google agent and Perplexity"})
    assert title(many) == "Agents are turned away"
    assert title(replace(alone, facts={})) == "Agents are turned away", "kept by a program that knew fewer facts"
    assert title(replace(alone, id="", text="A line of another index: all of it.")) == "A line of another index"


@pytest.mark.parametrize(
    ("marks", "words"),
    [
        (Landmarks(main=0, nav=1, aria=1, forms=0), "No main landmark"),
        (Landmarks(main=0, nav=1, aria=0, forms=0), "No main landmark or aria-label"),
        (Landmarks(main=0, nav=0, aria=0, forms=0), "Landmarks and labels are missing"),
    ],
)
def test_a_title_names_the_landmarks_that_are_missing(marks: Landmarks, words: str) -> None:
    lines = findings(judge(replace(site.plain(), page=replace(site.RICH_PAGE, semantic=marks))))
    assert words in [title(line) for line in lines]


def test_notes_are_no_problems_of_the_site() -> None:
    lines = {line.id: line for line in findings(judge(site.half_open()))}
    assert is_note(lines["probe-limit"])
    assert not is_note(lines["agents-away"])


def test_a_redirect_that_is_not_followed_says_why() -> None:
    def lost(name: str) -> Exchange:
        detail = "it redirects to “http://10.0.0.1/”, which is not on the public web"
        return site.probe(name, 302, error="redirect-address", detail=detail, title="")

    seen = site.site(agents=lambda slot: lost(slot) if slot in ("agent_01", "agent_02") else site.probe(slot))
    assert (
        "A redirect was not followed for ChatGPT and Claude: it redirects to “http://10.0.0.1/”, which is not on the"
        " public web (last status 302)." in reported(seen, "warn")
    )


def test_agents_without_an_answer_are_reported_together() -> None:
    seen = site.site(agents=lambda slot: site.silent(slot) if slot != "agent_01" else site.probe(slot))
    assert "Claude, Google agent and Perplexity are inconclusive and do not count: no answer in 12 s." in reported(
        seen, "warn"
    )
    assert not any("not scored" in line for line in reported(seen))


def test_a_site_that_leaves_every_agent_without_an_answer_is_not_scored_and_not_passed_over() -> None:
    silent = {finding.id: finding for finding in grade_card(site.site(agents=site.silent)).findings}["door-silent"]
    assert silent.text.startswith(
        "A browser gets the homepage (200) and none of the 4 probed agents gets an answer. It may be an outage,"
    )
    assert is_note(silent), "a doubt fails no gate"
    behind = site.site(site.probe(BROWSER, 403, challenge=site.CLOUDFLARE), agents=site.silent)
    assert "No agent got a usable answer, so access is not scored." in reported(behind, "warn")


@pytest.mark.parametrize("limited", [True, False])
def test_agents_that_got_an_answer_without_a_verdict_are_not_called_silent(limited: bool) -> None:
    seen = site.site(agents=lambda slot: site.probe(slot, 403, limited=limited, controls=0 if limited else 2))
    apart = (Arm(name="N", outcome="served", status=200), Arm(name="I", outcome="refused", status=403))
    lines = reported(seen if limited else replace(seen, arms=apart), "warn")
    assert "No agent got a usable answer, so access is not scored." in lines
    assert not any("gets an answer" in line for line in lines)


@pytest.mark.parametrize("host", ["localhost:8000", "a-host-with-a-rather-long-name.shop.example"])
def test_each_file_has_its_name_in_the_title_of_what_is_said_of_it(host: str) -> None:
    seen = site.site()
    paths = {"llms": "/llms.txt", "ucp": "/.well-known/ucp", "mcp": "/.well-known/mcp.json"}
    exchanges = (
        replace(one, status=403, url=f"http://{host}{paths[one.name]}") if one.name in paths else one
        for one in seen.exchanges
    )
    seen = replace(seen, exchanges=tuple(exchanges), origin=f"http://{host}")
    titles = [title(found) for found in grade_card(seen).findings if found.id in ("file-unseen", "protocol-unseen")]
    assert sorted(words.rpartition("/")[2] for words in titles) == [
        "llms.txt is not measured",
        "mcp.json is not measured",
        "ucp is not measured",
    ]


def test_an_owner_is_told_what_would_settle_a_silence() -> None:
    def told(seen: Observations) -> bool:
        return any("scan again with --force, or from another network" in line for line in reported(seen, "warn"))

    assert told(site.site(agents=site.silent))
    assert told(site.site(site.silent(BROWSER), agents=site.silent))
    assert not told(site.site())
    assert not told(site.bad_certificate())
    assert not told(site.dead())


def test_agents_of_one_rule_are_reported_together() -> None:
    rule = ("blocked", 18, "Disallow: /")
    seen = site.site(
        robots=site.rules({"ChatGPT-User": rule, "Claude-User": rule, "Devin": ("blocked", 30, "Disallow: *")})
    )
    assert reported(seen)[0] == (
        "shop.example/robots.txt disallows 3 of the 19 tested agents by name: ChatGPT and Claude (line 18) and Devin"
        " (line 30, as"
        " “devin”). An agent that obeys it cannot open the site for its user."
    )


@pytest.mark.parametrize(
    ("robots", "code", "line"),
    [
        (
            RobotsFacts(kind="html"),
            200,
            "A web page is served as shop.example/robots.txt (status 200), so it holds no rules. Serve a text file,"
            " or status 404"
            " where there is none.",
        ),
        (
            RobotsFacts(kind="none"),
            404,
            "There is no shop.example/robots.txt (status 404 Not Found), so no agent is disallowed.",
        ),
        (
            RobotsFacts(kind="none"),
            403,
            "shop.example/robots.txt answers 403 Forbidden, which RFC 9309 reads as no rules at all; one widely used"
            " fetch server,"
            " mcp-server-fetch, then reads nothing of the site. If agents are to stay out, that must be written as"
            " rules with status 200.",
        ),
        (
            RobotsFacts(kind="none"),
            400,
            "shop.example/robots.txt answers 400 Bad Request, which RFC 9309 reads as no rules at all. If agents are"
            " to stay out,"
            " that must be written as rules with status 200.",
        ),
        (
            RobotsFacts(kind="unknown"),
            0,
            "shop.example/robots.txt could not be fetched (no answer in 12 s): agents that follow RFC 9309 must then"
            " stay away from"
            " the whole site. Serve it with status 200, or 404 where there is none.",
        ),
    ],
)
def test_the_outcome_of_robots_txt_is_reported(robots: RobotsFacts, code: int, line: str) -> None:
    assert line in reported(site.site(robots=robots, robots_status=code))


def test_without_rules_the_edge_that_refuses_still_contradicts() -> None:
    seen = replace(site.half_open(), robots=RobotsFacts(kind="none"))
    first = reported(seen)[0]
    assert "No robots.txt of shop.example keeps them out." in first


def test_a_browser_that_meets_a_wall_is_said_beside_agents_that_are_refused() -> None:
    wall = site.probe(BROWSER, 403, challenge=site.CLOUDFLARE, title="Just a moment...")
    first, second = reported(site.site(wall, lambda slot: site.probe(slot, 403), page=PageFacts()), "critical")
    assert first.startswith("The browser probe gets a Cloudflare")
    assert second.startswith("All 4 probed agents get 403 Forbidden")


def test_an_agent_that_robots_txt_refuses_is_not_said_to_be_invited() -> None:
    seen = site.site(
        agents=lambda slot: site.probe(slot, 403),
        robots=site.rules(wildcard=("blocked", 2, "Disallow: /")),
    )
    assert not any("says yes" in line for line in reported(seen))
    unknown = site.site(
        agents=lambda slot: site.probe(slot, 403), robots=RobotsFacts(kind="unknown"), robots_status=503
    )
    assert not any("says yes" in line for line in reported(unknown))


def test_a_content_signal_that_refuses_live_input_is_a_warning() -> None:
    seen = site.site(robots=site.rules(signal="ai-input=no", signal_line=4))
    assert any(
        line.startswith("Content-Signal on line 4 of shop.example/robots.txt says ai-input=no")
        for line in reported(seen, "warn")
    )


def test_a_page_that_was_not_analysed_tells_only_why() -> None:
    seen = site.site(page=PageFacts(problem="a tag has more than 500 attributes"))
    lines = reported(seen)
    assert (
        "The homepage could not be judged, so nothing on it is measured: a tag has more than 500 attributes." in lines
    )
    assert not any("JSON-LD" in line or "readable" in line for line in lines)


def test_a_label_that_may_come_later_is_not_missed_and_a_file_that_may_hold_a_line_is_not_called_without_it() -> None:
    whole = site.plain()
    cut = replace(whole, exchanges=tuple(replace(e, cut=e.name == BROWSER) for e in whole.exchanges))
    assert any("without a label" in line for line in reported(whole))
    assert not any("without a label" in line for line in reported(cut))
    reasons = {entry.component: entry.reason for entry in grade_card(site.robots_down()).ledger.entries}
    assert (
        reasons["signal"] == "shop.example/robots.txt could not be fetched, so no agent reads a Content-Signal there."
    )


def test_broken_structured_data_is_reported() -> None:
    page = PageFacts(jsonld=3, jsonld_broken=2, readable=900, semantic=Landmarks(main=1, nav=1, aria=1))
    lines = reported(site.site(page=page))
    assert (
        "2 of 3 JSON-LD blocks on the homepage cannot be parsed, so an agent gets nothing from what they say, and"
        " parsers that stop at the first fault, such as extruct, get nothing of the others." in lines
    )
    assert "The homepage has 1 JSON-LD block." in lines


@pytest.mark.ci
@pytest.mark.parametrize("path", ["/llms.txt", "/.well-known/mcp.json"])
@pytest.mark.parametrize(("said", "counts"), [("answers 404", False), ("still says “REPLACE THIS”", True)])
def test_a_file_with_words_of_a_plan_counts_and_is_not_said_not_to(path: str, said: str, counts: bool) -> None:
    left, notes = ((path,), ()) if counts else ((), (f"{path} {said}",))
    seen = replace(site.plain(), files=FileFacts(llms=counts, mcp=counts, notes=notes, unwritten=left))
    (found,) = [title(line) for line in findings(judge(seen)) if said in line.text]
    assert ("does not count" in found) is not counts
    assert ("has words of a plan" in found) is counts


def test_why_a_file_was_not_counted_is_reported() -> None:
    files = FileFacts(ai_plugin=True, notes=("/llms.txt answers 200 with an HTML page",))
    lines = reported(site.site(files=files), "warn")
    assert "shop.example/llms.txt answers 200 with an HTML page." in lines
    assert not any(line.startswith("There is no shop.example/llms.txt") for line in lines)
    assert "Only the legacy shop.example/.well-known/ai-plugin.json was found, and no current agent reads it." in lines


def test_what_was_relaxed_is_reported_even_of_an_unreachable_site() -> None:
    for seen in (site.plain(), site.dead()):
        relaxed = replace(seen, limits=("insecure", "connect-to"), warnings=("nothing listens at port 443",))
        assert any(line.startswith("Certificates were not checked (the setting") for line in reported(relaxed, "warn"))
        assert "Nothing listens at port 443." in reported(relaxed, "warn")
        assert reported(relaxed)[-1].startswith("About this scan: connections went to another address (--connect-to)")


@pytest.mark.parametrize(
    ("served", "words"),
    [
        (("agent_01",), "while ChatGPT gets the homepage"),
        (("agent_01", "agent_02"), "while ChatGPT and Claude get the"),
    ],
)
def test_a_name_keeps_its_capital_and_a_verb_its_number(served: tuple[str, ...], words: str) -> None:
    seen = site.plain()
    probes = {name: site.probe(name, 403) for name in (BROWSER, "agent_01", "agent_02", "agent_03", "agent_04")}
    kept = tuple(one if one.name in served else probes.get(one.name, one) for one in seen.exchanges)
    assert any(words in line for line in reported(replace(seen, exchanges=kept)))


def test_a_refused_browser_is_no_shut_out_of_agents() -> None:
    seen = site.site(site.probe(BROWSER, 403), lambda slot: site.probe(slot, 403))
    assert reported(seen)[0] == (
        "shop.example turns everybody away: a browser and every agent get 403 Forbidden. So nothing follows about"
        " agents, and nothing is graded. A scan with Chromium (extra “browser”: aui-tui help tasks) can tell whether a"
        " real browser gets in."
    )
    real = replace(seen, arms=(Arm(name="R", outcome="refused", status=403, client="Chromium 156"),))
    assert "A real browser (Chromium 156) is turned away too, so it may be this address" in reported(real)[0]
    served = site.site(site.probe(BROWSER, 403))
    assert (
        "The browser probe gets 403 Forbidden each time while all 4 probed agents get the homepage: a fact about"
        " browsers, not about agents, which are judged by their own answers; a scan with Chromium (aui-tui help tasks)"
        " would show what people get."
    ) in reported(served, "warn")
    assert any("its text, landmarks and JSON-LD are not measured" in line for line in reported(served, "warn"))


def test_a_control_is_named_for_what_it_was() -> None:
    def away(slot: str) -> Exchange:
        return site.probe(slot, 403, controls=2) if slot == "agent_02" else site.probe(slot)

    (by_browser,) = reported(site.site(agents=away), "critical")
    (by_agent,) = reported(site.site(site.probe(BROWSER, 403), away), "critical")
    assert "asked again alone, with a browser served right before and after. " in by_browser
    assert "asked again alone, with another agent served right before and after. " in by_agent


@pytest.mark.parametrize(
    ("seen_by", "words"),
    [
        ("", "those of the challenge."),
        ("R", "those of what a real browser (Chromium 156) gets."),
        ("agent_02", "those of what Claude gets."),
    ],
)
def test_a_challenged_browser_leaves_the_page_to_who_got_it(seen_by: str, words: str) -> None:
    seen = site.site(site.probe(BROWSER, 403, challenge=site.CLOUDFLARE))
    arms = (Arm(name="R", outcome="served", status=200, client="Chromium 156"),)
    seen = replace(seen, arms=arms, page=replace(site.RICH_PAGE, seen_by=seen_by))
    assert any(line.endswith(f"not about agents. The page facts below are {words}") for line in reported(seen, "warn"))


@pytest.mark.parametrize(
    ("arms", "words"),
    [
        ((), "which a person may pass and an agent cannot."),
        ((Arm(name="R", outcome="served", client="Chromium 156"),), "; a real browser (Chromium 156) passes it."),
        ((Arm(name="R", outcome="challenged", client="Chromium 156"),), "; a real browser (Chromium 156) does not"),
    ],
)
def test_a_wall_before_everybody_says_whether_a_real_browser_passes(arms: tuple[Arm, ...], words: str) -> None:
    assert words in reported(replace(site.wall_for_all(), arms=arms))[0]


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "basic_auth_env of [sites.HOST]"),
        (404, "no page at https://shop.example/"),
        (451, "AUI_TUI_VIA"),
        (500, "is failing"),
    ],
)
def test_what_everybody_gets_comes_with_what_to_do(status: int, words: str) -> None:
    seen = site.site(site.probe(BROWSER, status), lambda slot: site.probe(slot, status))
    card = grade_card(seen)
    assert words in card.top_evidence
    assert (card.unreachable, card.recommendations) == (True, ())
    assert card.stance == ("Walled" if status == 500 else "Selective")


ROWS = {
    "interstitial": ("challenged", "challenged", {}, "walled", "Walled"),
    "not believed": ("refused", "served", {}, "allowed", "Open"),
    "greeting": ("refused", "served", {"R": "served"}, "allowed", "Open"),
    "programs": ("refused", "refused", {"R": "served", "RA": "served"}, "walled", "Walled"),
    "programs and name": ("refused", "refused", {"R": "served", "RA": "refused"}, "walled", "Walled"),
    "everybody": ("refused", "refused", {"R": "refused"}, "untested", "Selective"),
    "no Chromium": ("refused", "refused", {}, "untested", "Selective"),
    "a list": ("served", "refused", {"N": "refused"}, "blocked", "Walled"),
    "addresses": ("served", "refused", {"N": "served", "I": "refused"}, "untested", "Selective"),
    "by name": ("served", "refused", {"N": "served"}, "blocked", "Walled"),
    "by name, search engines pass": ("served", "refused", {"N": "served", "I": "served"}, "blocked", "Walled"),
}


@pytest.mark.parametrize("row", ROWS)
def test_each_row_of_the_arms_has_its_verdict(row: str) -> None:
    browser, agent, arms, verdict, stance = ROWS[row]
    got = {"served": {}, "refused": {"status": 403}, "challenged": {"status": 403, "challenge": site.CLOUDFLARE}}
    seen = site.site(site.probe(BROWSER, **got[browser]), lambda slot: site.probe(slot, **got[agent]))  # type: ignore[arg-type]
    card = grade_card(replace(seen, arms=tuple(Arm(name=name, outcome=found) for name, found in arms.items())))
    assert list(card.matrix.values())[1:5] == [verdict] * 4
    assert card.stance == stance
    assert any(fix.k == "wba" for fix in card.recommendations) == (verdict in ("walled", "blocked"))


def test_places_are_filled_once() -> None:
    seen = replace(site.plain(), files=FileFacts(notes=("odd <<host>> note",)))
    assert "Odd <<host>> note." in reported(seen)
    assert not any(PLACE.search(line) for line in reported(site.plain()))


def test_lists_and_counts_read_well() -> None:
    assert joined(["a"]) == "a"
    assert joined(["a", "b", "a"]) == "a and b"
    assert joined("abcde") == "a, b, c, d and e"
    assert joined("abcdef", 5) == "a, b, c, d and 2 more"
    assert out_of(19, 19) == "all 19"
    assert status(999) == "999"


@pytest.mark.ci
@given(observations())
def test_a_note_stands_behind_the_problems_of_its_weight(seen: Observations) -> None:
    lines = findings(judge(seen))
    order = [(SEVERITIES.index(line.severity), is_note(line)) for line in lines]
    assert order == sorted(order)
