from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from aui_tui.checks.judge import judge
from aui_tui.checks.scoring import grade_card
from aui_tui.model.card import ReportCard
from aui_tui.model.observations import BROWSER, Exchange, Observations
from tests.scan import situations as site

LIVE_OPEN = "untested allowed allowed allowed allowed allowed-robots allowed-robots untested"
LIVE_BLOCKED = "untested blocked blocked blocked blocked allowed-robots allowed-robots untested"
UNTESTED = "untested untested untested untested untested untested untested untested"


class Golden(NamedTuple):
    """What a situation must give: stance, matrix in order, pillars and score under both methods, evidence.

    ``top`` is the first line of the evidence, ``note`` a later one.
    """

    make: Callable[[], Observations]
    stance: str
    matrix: str
    v02: tuple[int, int, int]
    v01: tuple[int, int, int, int, int]
    top: str
    note: str = ""


GOLDEN = (
    Golden(
        site.dropped, "Walled", "untested untested untested untested untested allowed-robots allowed-robots untested",
        (9, 12, 42), (16, 0, 20, 0, 40),
        "AI agents are shut out: all 4 probed agents get no usable answer (the server closed the connection without an"
        " answer) while a browser gets the homepage (200), asked again alone, with a browser served right before and"
        " after. shop.example/robots.txt says yes, the server says no. Users who send an agent see an error.",
    ),
    Golden(
        site.limited, "Selective", "untested untested untested allowed allowed untested untested untested",
        (12, 12, 71), (24, 0, 20, 0, 75),
        "The site limits everybody: asked alone, the browser was turned away too. So the result of ChatGPT"
        " and Claude (429 Too Many Requests) does not count; a scan with --force and AUI_TUI_PACE=10, one request"
        " every 10 s, may bring a verdict.",
        "The site limits everybody: asked alone, the browser was turned away too. So the result of ChatGPT"
        " and Claude (429 Too Many Requests) does not count; a scan with --force and AUI_TUI_PACE=10, one request"
        " every 10 s, may bring a verdict.",
    ),
    Golden(
        site.failing, "Open", LIVE_OPEN, (21, 12, 66), (40, 0, 20, 0, 67),
        "The site fails at random: 1 of 6 requests for the homepage got a 5xx, from clients that were served at another"
        " time.",
        "Claude got 502 Bad Gateway at first and the homepage (200) when asked again, alone and after a pause; the"
        " second answer counts.",
    ),
    Golden(
        site.open_rich, "Open", LIVE_OPEN, (25, 25, 100), (40, 10, 25, 15, 100),
        "All 4 probed agents get the homepage, as a browser does.",
    ),
    Golden(
        site.plain, "Open", LIVE_OPEN, (21, 6, 54), (40, 0, 10, 0, 56),
        "There is no Content-Signal line in shop.example/robots.txt, so the site does not say whether an agent may"
        " read it to"
        " answer its user.",
    ),
    Golden(
        site.wall_for_all, "Walled", "walled walled walled walled walled walled walled walled",
        (9, 0, 24), (16, 0, 0, 0, 23),
        "Everybody meets a wall: the browser probe and all 4 probed agents get a Cloudflare challenge page (403, known"
        " by “Just a moment...”), which a person may pass and an agent cannot.",
    ),
    Golden(
        site.wall_for_agents, "Walled", "untested walled walled walled walled walled walled untested",
        (9, 12, 42), (16, 0, 20, 0, 40),
        "AI agents are shut out: all 4 probed agents get a Cloudflare challenge page (403, known by “Just a moment...”)"
        " while a browser gets the homepage (200), also when asked again, alone and after a pause."
        " shop.example/robots.txt says yes, the edge says no. Users who send an agent see an error.",
    ),
    Golden(
        site.pay_with_terms, "Selective", LIVE_BLOCKED, (9, 12, 42), (16, 0, 20, 0, 40),
        "All 4 probed agents are asked to pay: status 402 Payment Required with machine-readable terms.",
    ),
    Golden(
        site.pay_without_terms, "Walled", LIVE_BLOCKED, (9, 12, 42), (16, 0, 20, 0, 40),
        "AI agents are shut out: all 4 probed agents get 402 Payment Required (no machine-readable terms, so no agent"
        " can tell what to pay or how) while a browser gets the homepage (200). shop.example/robots.txt says yes, the"
        " server says no. Users who send an agent see an error.",
    ),
    Golden(
        site.robots_all, "Walled",
        "untested disallowed disallowed disallowed disallowed disallowed disallowed untested",
        (12, 6, 36), (24, 0, 10, 0, 38),
        "shop.example/robots.txt line 2 (“Disallow: /” for User-agent: *) disallows every agent without a group of"
        " its own:"
        " all 19 tested. An agent that obeys it cannot open the site for its user.",
    ),
    Golden(
        site.robots_ten, "Walled",
        "untested disallowed disallowed disallowed disallowed partial allowed-robots untested",
        (16, 6, 44), (32, 0, 10, 0, 47),
        "shop.example/robots.txt disallows 10 of the 19 tested agents by name: ChatGPT (line 2, as “chatgpt-user”),"
        " Claude (line 4,"
        " as “claude-user”), Google agent (line 6, as “google-agent”), Perplexity (line 8, as “perplexity-user”) and"
        " 6 more. An agent that obeys it cannot open the site for its user.",
    ),
    Golden(
        site.robots_nine, "Selective",
        "untested disallowed disallowed disallowed disallowed partial allowed-robots untested",
        (17, 6, 46), (32, 0, 10, 0, 47),
        "shop.example/robots.txt disallows 9 of the 19 tested agents by name: ChatGPT (line 2, as “chatgpt-user”),"
        " Claude (line 4,"
        " as “claude-user”), Google agent (line 6, as “google-agent”), Perplexity (line 8, as “perplexity-user”) and"
        " 5 more. An agent that obeys it cannot open the site for its user.",
    ),
    Golden(
        site.robots_one, "Selective",
        "untested allowed disallowed allowed allowed allowed-robots allowed-robots untested",
        (20, 6, 52), (39, 0, 10, 0, 54),
        "shop.example/robots.txt disallows 1 of the 19 tested agents by name: Claude (line 12, as “claude-user”)."
        " An agent that obeys it cannot open the site for its user.",
    ),
    Golden(
        site.robots_paths, "Open", "untested partial partial partial partial partial partial untested",
        (21, 6, 54), (40, 0, 10, 0, 56),
        "shop.example/robots.txt keeps 1 agent by name from some paths: ChatGPT (line 9, “Disallow: /search”, as"
        " “chatgpt-user”).",
    ),
    Golden(
        site.tarpit, "Selective", "untested allowed allowed untested allowed allowed-robots allowed-robots untested",
        (21, 6, 54), (40, 0, 10, 0, 56),
        "There is no Content-Signal line in shop.example/robots.txt, so the site does not say whether an agent may"
        " read it to answer its user.",
        "Google agent is inconclusive and does not count: no answer in 12 s.",
    ),
    Golden(
        site.dead, "Walled", UNTESTED, (0, 0, 0), (0, 0, 0, 0, 0),
        "shop.example could not be judged: the host name does not resolve.",
    ),
    Golden(
        site.down, "Walled", "untested untested untested untested untested untested untested untested",
        (0, 0, 0), (0, 0, 0, 0, 0),
        "shop.example turns everybody away: a browser and every agent get 503 Service Unavailable. So nothing follows"
        " about agents, and nothing is graded. The site is failing: scan again when its homepage answers.",
    ),
    Golden(
        site.loop, "Walled", "untested untested untested untested untested allowed-robots allowed-robots untested",
        (0, 0, 0), (0, 0, 0, 0, 0),
        "shop.example could not be judged: it redirects in a circle, 2 times so far.",
    ),
    Golden(
        site.shell, "Open", LIVE_OPEN, (21, 1, 44), (40, 0, 2, 0, 47),
        "Without scripts the homepage is empty: 12 readable characters and 7 scripts. An agent that runs no scripts has"
        " nothing to tell its user; send readable HTML.",
    ),
    Golden(
        site.bad_certificate, "Walled", UNTESTED, (0, 0, 0), (0, 0, 0, 0, 0),
        "shop.example could not be judged: the certificate is not accepted: certificate has expired. A browser"
        " warns its user there, and an agent stops.",
    ),
    Golden(
        site.burst, "Open", LIVE_OPEN, (21, 6, 54), (40, 0, 10, 0, 56),
        "There is no Content-Signal line in shop.example/robots.txt, so the site does not say whether an agent may"
        " read it to answer its user.",
        "Claude got 429 Too Many Requests at first and the homepage (200) when asked again, alone and after a pause;"
        " the second answer counts.",
    ),
    Golden(
        site.half_open, "Selective",
        "untested blocked disallowed allowed blocked allowed-robots allowed-robots untested",
        (14, 6, 40), (26, 0, 10, 0, 40),
        "ChatGPT and Perplexity get 403 Forbidden while a browser gets the homepage (200). shop.example/robots.txt lets"
        " Perplexity in, the edge does not. Users who send an agent see an error.",
    ),
    Golden(
        site.robots_down, "Open", "untested allowed allowed allowed allowed untested untested untested",
        (12, 6, 36), (24, 0, 10, 0, 38),
        "shop.example/robots.txt answers 503 Service Unavailable: agents that follow RFC 9309 must then stay away"
        " from the"
        " whole site. Serve it with status 200, or 404 where there is none.",
    ),
)  # fmt: skip


def texts(card: ReportCard, severity: str = "") -> list[str]:
    return [line.text for line in card.evidence if severity in ("", line.t)]


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden.make.__name__)
def test_a_situation_is_judged_as_it_is(golden: Golden) -> None:
    seen = golden.make()
    card, old = grade_card(seen), grade_card(seen, "v0.1")
    assert card.stance == old.stance == judge(seen).stance == golden.stance
    assert " ".join(card.matrix.values()) == golden.matrix
    assert (card.pillars["welcome"], card.pillars["built"], card.score) == golden.v02
    assert (*list(old.pillars.values())[:4], old.score) == golden.v01
    assert card.top_evidence == golden.top
    assert golden.note in ("", *texts(card))
    assert card.evidence == old.evidence
    refused = any(probe.outcome in ("challenged", "refused") or probe.dropped for probe in seen.live)
    said = sum("borrows an agent's name" in text for text in texts(card))
    assert said == (refused and not seen.unreachable), "the limit of the method is said once, where it matters"


@pytest.mark.parametrize(
    "make", [site.wall_for_agents, site.wall_for_all, site.pay_without_terms, site.dropped, site.bad_certificate]
)
def test_one_cause_is_one_line(make: Callable[[], Observations]) -> None:
    assert len(texts(grade_card(make()), "critical")) == 1


def test_agents_that_get_different_answers_are_named_apart() -> None:
    def answer(slot: str) -> Exchange:
        return site.probe(slot, 403 if slot in ("agent_01", "agent_03") else 429)

    lines = texts(grade_card(site.site(agents=answer)), "critical")
    assert [line.partition(" while")[0] for line in lines] == [
        "AI agents are shut out: ChatGPT and Google agent get 403 Forbidden",
        "AI agents are shut out: Claude and Perplexity get 429 Too Many Requests",
    ]


def test_the_reverse_contradiction_is_reported_too() -> None:
    assert (
        "shop.example/robots.txt says no, the server says yes: Claude is disallowed (line 12), but the homepage is"
        " served, so only agents that obey the file stay away." in texts(grade_card(site.robots_one()), "warn")
    )


def test_a_named_and_unrestricted_agent_gets_a_line_of_its_own() -> None:
    card = grade_card(site.open_rich())
    assert card.ua_policy["Claude-User"] == "unlisted"
    assert "shop.example/robots.txt names Claude (Claude-User) (line 3, “Allow: /”) and does not restrict it." in texts(
        card, "good"
    )


def test_blocked_crawlers_are_reported_and_not_scored() -> None:
    card = grade_card(site.robots_one())
    line = (
        "shop.example/robots.txt blocks 2 of the 15 training and search crawlers by name (not scored): CCBot and"
        " GPTBot."
    )
    assert (card.crawlers_blocked, card.crawlers_total) == (2, 15)
    assert list(card.crawler_policy.values()).count("blocked") == 2
    assert line in texts(card, "warn")


@pytest.mark.parametrize(("make", "disallowed"), [(site.robots_all, 19), (site.robots_ten, 10), (site.robots_nine, 9)])
def test_agents_are_counted_as_disallowed_by_name_or_by_everybodys_rule(
    make: Callable[[], Observations], disallowed: int
) -> None:
    card = grade_card(make())
    assert (card.agents_disallowed, card.crawlers_blocked) == (disallowed, 0)
    assert card.wildcard_block is (disallowed == 19)
    named = list(card.ua_policy.values()).count("blocked")
    assert named == (0 if card.wildcard_block else disallowed), "under a wildcard block agents stay unlisted"


def test_an_agent_without_a_verdict_says_why_it_has_none() -> None:
    seen = site.limited()
    for why, words in (
        ({}, "limits everybody: asked alone, the browser was turned away too"),
        ({"random": True}, "because the site fails at random"),
        ({"unsettled": True}, "a browser was served each time, but the scan ended"),
    ):
        texts = [line.text for line in grade_card(replace(seen, **why)).evidence]
        assert sum(words in text for text in texts) == 1
        assert sum("ChatGPT and Claude (429 Too Many Requests)" in text for text in texts) == 1


def test_a_refusal_that_asks_for_a_signature_says_what_to_try_next() -> None:
    seen = site.wall_for_agents()
    asked = tuple(
        replace(exchange, headers=(*exchange.headers, ("accept-signature", 'sig1=("@authority")')))
        if exchange.name == "agent_02"
        else exchange
        for exchange in seen.exchanges
    )
    card = grade_card(replace(seen, exchanges=asked))
    said = [line.text for line in card.evidence if "Accept-Signature" in line.text]
    assert len(said) == 1
    assert said[0].startswith("Claude is turned away with a request for a signature")
    assert "AUI_TUI_SIGN=1" in said[0]


def test_a_limit_that_nobody_passes_says_when_to_scan_again() -> None:
    seen = site.site(site.probe(BROWSER, 429, limited=True), lambda slot: site.probe(slot, 429, limited=True))
    said = grade_card(seen).top_evidence
    assert "get 429 Too Many Requests" in said
    assert "Scan again later, or with --force and AUI_TUI_PACE=15" in said


def test_agents_that_a_stopped_scan_did_not_hear_are_not_said_to_be_without_an_answer() -> None:
    stopped = site.site(
        agents=lambda slot: site.silent(slot, "stopped", "the scan was stopped before an answer came"), incomplete=True
    )
    silent = site.site(agents=site.silent)
    said = [[line.text for line in grade_card(seen).evidence] for seen in (stopped, silent)]
    nobody = [any("none of the 4 probed agents gets an answer" in text for text in texts) for texts in said]
    assert nobody == [False, True]
    assert sum("stopped before its end" in text for text in said[0]) == 1
