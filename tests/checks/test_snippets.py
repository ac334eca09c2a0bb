"""Every snippet is read with the code that detects the thing, so that pasting it earns the points promised."""

from __future__ import annotations

import json
import re
import subprocess
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from aui_tui.checks import points as points_of
from aui_tui.checks.jsonld import TYPES
from aui_tui.checks.judge import judge
from aui_tui.checks.scoring import Labels, grade_card, ledger
from aui_tui.checks.site import ABOUT, edges
from aui_tui.checks.wording import PLACE
from aui_tui.model.card import Recommendation
from aui_tui.model.labels import vendors
from aui_tui.model.methods import METHODS, V02
from aui_tui.model.observations import Cause, Landmarks, Observations
from aui_tui.model.registry import registry
from aui_tui.model.vocabulary import CATEGORIES
from aui_tui.scan import agent_files, page, robots
from aui_tui.text import cells, clean
from tests.scan import situations as site
from tests.strategies import observations

TOKENS = tuple(agent.token for agent in registry().agents)


def fixes(seen: Observations, *, name: str = "", category: str = "Uncategorized") -> dict[str, Recommendation]:
    card = grade_card(seen, labels=Labels(name=name, category=category))
    return {fix.k: fix for fix in card.recommendations}


def pasted(fix: Recommendation, seen: Observations) -> Observations:
    """Return the observations of the site once the snippet of ``fix`` alone is what the detecting code reads."""
    body = fix.code.encode()
    if fix.k in ("robots", "signal"):
        facts = robots.facts(body, 200, registry(), "text/plain")
        kept = seen.robots
        if fix.k == "signal":
            return replace(seen, robots=replace(kept, signal=facts.signal, signal_line=facts.signal_line))
        opened = replace(facts, signal=kept.signal, signal_line=kept.signal_line)
        return replace(seen, robots=opened)
    if fix.k == "llms":
        return replace(seen, files=replace(seen.files, llms=agent_files.check("llms", body, "text/plain", 200).found))
    if fix.k == "front-door":
        ucp, mcp = (agent_files.check(name, body, "application/json", 200).found for name in ("ucp", "mcp"))
        return replace(seen, files=replace(seen.files, ucp=seen.files.ucp or ucp, mcp=seen.files.mcp or mcp))
    found, facts_now = page.read(body, "text/html; charset=utf-8").facts, seen.page
    if fix.k == "jsonld":
        assert found.jsonld_broken == 0
        return replace(seen, page=replace(facts_now, jsonld=facts_now.jsonld + found.jsonld))
    if fix.k == "ssr":
        shell = b"<!doctype html><body><div id=root>" + body + b"</div><script src=app.js></script>"
        served = page.read(shell).facts
        return replace(seen, page=replace(facts_now, noscript_shell=served.noscript_shell, readable=served.readable))
    marks = found.semantic
    before = facts_now.semantic
    summed = Landmarks(
        main=before.main + marks.main,
        nav=before.nav + marks.nav,
        aria=before.aria + marks.aria,
        forms=before.forms,
    )
    assert not facts_now.forms_unlabelled or marks.forms
    return replace(seen, page=replace(facts_now, semantic=summed, forms_unlabelled=found.forms_unlabelled))


@pytest.mark.ci
@given(observations(), st.sampled_from(CATEGORIES), st.sampled_from(tuple(METHODS)))
def test_pasting_a_snippet_earns_the_points_promised(seen: Observations, category: str, method: str) -> None:
    card = grade_card(seen, method, labels=Labels(category=category))
    before = ledger(judge(seen), METHODS[method]).earned
    for fix in card.recommendations:
        if fix.k != "wba":
            assert ledger(judge(pasted(fix, seen)), METHODS[method]).earned - before == fix.pts, fix.k


@pytest.mark.ci
@given(observations(), st.sampled_from(CATEGORIES))
def test_every_recommendation_is_complete_and_clean(seen: Observations, category: str) -> None:
    for fix in fixes(seen, category=category).values():
        assert cells(fix.title) <= 40
        assert fix.body.endswith(".")
        assert "  " not in fix.body
        assert clean(fix.body) == fix.body
        assert clean(fix.code, block=True) == fix.code
        assert fix.code.strip() == fix.code != ""
        assert len(fix.body) < 1800
        assert "Check: " in fix.body


def blocked_file(*tokens: str) -> bytes:
    return "".join(f"User-agent: {token}\nDisallow: /\n\n" for token in tokens).encode()


@pytest.mark.parametrize("blocked", [TOKENS[:1], TOKENS[:10], TOKENS, ("*",)], ids=["one", "ten", "all", "wildcard"])
@pytest.mark.parametrize("kept", [True, False], ids=["whole", "group"])
def test_the_robots_snippet_opens_the_file(blocked: tuple[str, ...], kept: bool) -> None:
    text = blocked_file(*blocked)
    facts = robots.facts(text, 200, registry(), "text/plain")
    seen = replace(site.plain(), robots=facts if kept else replace(facts, text=""))
    card = grade_card(seen, "v0.1")
    fix = next((fix for fix in card.recommendations if fix.k == "robots"), None)
    assert fix is not None
    whole = fix.code.encode() if kept else text + fix.code.encode() + b"\n"
    after = robots.facts(whole, 200, registry(), "text/plain")
    assert {policy.effective for policy in after.agents} == {"open"}
    assert {policy.effective for policy in after.crawlers} == {policy.effective for policy in seen.robots.crawlers}


def test_the_group_for_a_file_that_is_not_kept_names_the_agents_as_they_call_themselves() -> None:
    text = b"User-agent: CLAUDE-USER\nUser-agent: chatgpt-user/1.0\nDisallow: /\n"
    facts = robots.facts(text, 200, registry(), "text/plain")
    assert fixes(replace(site.plain(), robots=facts))["robots"].code == "User-agent: *\nDisallow:"
    fix = fixes(replace(site.plain(), robots=replace(facts, text="")))["robots"]
    assert fix.code == "User-agent: ChatGPT-User\nUser-agent: Claude-User\nAllow: /"
    assert "line 3" in fix.body


def test_the_signal_snippet_changes_no_rule_wherever_it_is_pasted() -> None:
    code = fixes(site.plain())["signal"].code.encode()
    rest = b"User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nDisallow: /cart\n"
    for text in (code + b"\n" + rest, rest + b"\n" + code + b"\n"):
        before, after = robots.parse(rest), robots.parse(text)
        assert after.signal
        for token in ("GPTBot", "Claude-User"):
            for path in ("/", "/cart/1", "/x"):
                assert after.allows(token, path) == before.allows(token, path)


def test_a_signal_that_refuses_input_is_replaced_and_its_other_values_stay() -> None:
    robots_facts = site.rules(signal="Search=yes, ai-input=NO,ai-train=no, use=reference", signal_line=7)
    fix = fixes(replace(site.plain(), robots=robots_facts))["signal"]
    assert fix.code == "Content-Signal: search=yes, ai-input=yes, ai-train=no, use=reference"
    assert fix.body.startswith("Line 7 of robots.txt says ai-input=no")


def test_an_unanswered_robots_txt_is_replaced_by_a_whole_file() -> None:
    fix = fixes(site.robots_down())["robots"]
    after = robots.facts(fix.code.encode(), 200, registry(), "text/plain")
    assert {policy.effective for policy in after.agents} == {"open"}
    assert "503 Service Unavailable" in fix.body


@pytest.mark.parametrize("category", CATEGORIES)
def test_the_front_door_suits_the_trade(category: str) -> None:
    document = json.loads(fixes(site.plain(), category=category)["front-door"].code)
    if category in ("Travel", "Grocery & food", "Retail", "Tickets"):
        endpoint = document["ucp"]["services"]["dev.ucp.shopping"][0]["endpoint"]
        assert endpoint == "https://shop.example/ucp/v1"
    else:
        assert document["name"] == "example.shop/mcp"
        assert document["remotes"][0]["url"] == "https://shop.example/mcp"


@pytest.mark.parametrize("name", ["</script><script>alert(1)</script>", "# # x", "<b>&amp;", "a <<host>> b", '"\\'])
def test_the_name_of_a_site_cannot_break_out_of_a_snippet(name: str) -> None:
    made = fixes(replace(site.plain(), page=site.SHELL_PAGE), name=name)
    block = page.read(f"<html><body>{made['jsonld'].code}</body></html>".encode()).facts
    assert (block.jsonld, block.jsonld_broken, block.scripts) == (1, 0, 0)
    inside = made["jsonld"].code.removeprefix('<script type="application/ld+json">').removesuffix("</script>")
    assert json.loads(inside)["@graph"][0]["name"] == name
    assert page.read(made["ssr"].code.encode()).facts.scripts == 0
    assert page.read(made["landmarks"].code.encode()).facts.scripts == 0
    assert made["llms"].code.splitlines()[0] == f"# {name}"


@pytest.mark.parametrize(
    ("edge", "sign"),
    [
        ("cloudflare", 'http.host eq "shop.example"'),
        ("akamai", "Change request"),
        ("apache", "SetEnvIfExpr"),
        ("caddy", "not remote_ip 192.0.2.1"),
        ("varnish", "acl agent_range"),
        ("iis", "stopProcessing"),
        ("haproxy", "acl agent_range src -f /etc/haproxy/agents.lst"),
        ("vercel", "vercel firewall rules add 'Verified ChatGPT-User'"),
        ("nginx", "geo $agent_range"),
        ("cloudfront", '"Name": "verified-agents-shop-example"'),
        ("fastly", "fastly.bot.category.is_verified"),
        ("strange", "Change request"),
        ("", "Change request"),
    ],
)
def test_the_door_fix_suits_the_edge(edge: str, sign: str) -> None:
    fix = fixes(replace(site.half_open(), edge=edge))["wba"]
    assert sign in fix.code
    assert (
        "ChatGPT and Perplexity get 403 Forbidden on shop.example while a browser gets the homepage (200)" in fix.body
    )
    assert "RFC 9421" in fix.body
    if sign == "Change request":
        assert "https://openai.com/chatgpt-user.json" in fix.code
        assert "- Perplexity-User: 403 Forbidden" in fix.code
        assert "http-message-signatures-directory" in fix.code


def test_the_wall_that_was_met_decides_before_the_edge_that_was_seen() -> None:
    fix = fixes(replace(site.wall_for_agents(), edge="akamai nginx"))["wba"]
    assert "On Cloudflare" in fix.body


def test_recipes_for_services_are_well_formed() -> None:
    rule = fixes(replace(site.half_open(), edge="iis"))["wba"].code
    assert ElementTree.fromstring(rule).find("action").attrib == {"type": "None"}
    commands = fixes(replace(site.half_open(), edge="vercel"))["wba"].code
    assert subprocess.run(["sh", "-n"], input=commands, text=True, check=False).returncode == 0
    for value in re.findall(r"--condition '(.*)'", commands):
        assert json.loads(value)["type"] in ("ip_address", "user_agent")
    expression = fixes(replace(site.half_open(), edge="cloudflare"))["wba"].code
    assert expression.count("(") == expression.count(")")
    assert "ip.src eq 192.0.2.1" in expression


def test_a_refusal_says_which_server_it_came_from() -> None:
    bare = (("cache-control", "no-cache"), ("content-type", "text/html"))
    for headers, word in (
        (bare, "On HAProxy"),
        ((("server", "Caddy"),), "On Caddy"),
        ((("server", "Microsoft-IIS/10.0"),), "On IIS"),
    ):
        seen = site.half_open()
        refused = tuple(replace(probe, headers=headers) if probe.status == 403 else probe for probe in seen.exchanges)
        assert word in fixes(replace(seen, exchanges=refused, edge="gunicorn"))["wba"].body


def test_the_address_of_the_tester_is_in_a_file_for_aws_and_akamai_beside_a_rule_in_json() -> None:
    aws = fixes(replace(site.half_open(), edge="cloudfront"))["wba"].code
    commands = aws[: aws.index("\n# AWS WAF: a rule")]
    assert subprocess.run(["sh", "-n"], input=commands, text=True, check=False).returncode == 0
    assert "--ip-address-version IPV4 --addresses 192.0.2.1/32" in commands
    assert json.loads(aws.rpartition("of the Bot Control rule group\n")[2])["Action"] == {"Allow": {}}
    akamai = fixes(replace(site.half_open(), edge="akamai"))["wba"].code
    body = akamai[akamai.index("{") : akamai.index("}") + 1]
    assert json.loads(body)["list"] == ["192.0.2.1"]
    assert "Change request" in akamai


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        (Cause(agents=("agent_01",), by="name"), "ChatGPT away checks the name in User-Agent"),
        (
            Cause(agents=("agent_01",), by="field", fields=("Sec-Fetch",)),
            "does not check the name but the header fields Sec-Fetch-*",
        ),
        (
            Cause(agents=("agent_01",), by="field", fields=("HTTP version",)),
            "does not check the name but the HTTP version",
        ),
        (
            Cause(agents=("agent_01",), by="fields", fields=("Accept", "priority")),
            "Accept and the header field priority",
        ),
        (Cause(agents=("agent_01",), by="together"), "checks the name together with other header fields"),
        (Cause(agents=("agent_01",), by="either"), "Two rules turn ChatGPT away"),
    ],
)
def test_the_advice_fits_by_what_the_site_decides(cause: Cause, words: str) -> None:
    for edge in ("nginx", "strange"):
        fix = fixes(replace(site.half_open(), edge=edge, cause=cause))["wba"]
        assert words in fix.body
        assert ("only borrow its name" in fix.body) == (not cause.by.startswith("field"))
        assert (words in fix.code) == (edge == "strange")


def test_a_request_for_payment_is_answered_with_its_own_advice() -> None:
    assert "agent with a wallet" in fixes(site.pay_with_terms())["wba"].body
    assert "agent with a wallet" not in fixes(site.pay_without_terms())["wba"].body


def test_nothing_is_said_of_a_robots_txt_that_nobody_could_read() -> None:
    assert "does not say what its content may be used for" in fixes(site.robots_all())["signal"].body
    assert fixes(site.robots_down())["signal"].body.startswith("robots.txt could not be read")


def test_a_platform_knows_better_than_a_cdn_where_robots_txt_is_written() -> None:
    seen = replace(site.robots_all(), edge="cloudflare shopify")
    assert "robots.txt.liquid" in fixes(seen)["robots"].body
    assert "Cloudflare Managed content" in fixes(replace(seen, edge="cloudflare nginx"))["robots"].body


@pytest.mark.parametrize(
    ("marks", "proposed"),
    [(Landmarks(main=1, nav=0, aria=3, forms=0), "<nav"), (Landmarks(main=1, nav=1, aria=0, forms=0), "aria-label")],
)
def test_only_what_is_missing_is_proposed_and_what_is_there_is_named(marks: Landmarks, proposed: str) -> None:
    code = fixes(replace(site.plain(), page=replace(site.RICH_PAGE, semantic=marks)))["landmarks"].code
    assert proposed in code
    assert "<main" not in code
    assert "<form" not in code
    assert "<footer" not in code
    assert "<header" not in code
    assert ("Give the nav that the page has a name" in code) == (marks.nav > 0)


def test_the_tables_are_whole() -> None:
    assert set(ABOUT) == set(CATEGORIES)
    assert set(TYPES) <= set(CATEGORIES)
    table = edges()
    known = set(table.wba) | set(table.robots)
    assert set(table.recipe.values()) <= known
    assert {key for key in known if key not in ("generic", "request")} <= set(table.recipe.values())
    assert all(recipe.step and not PLACE.search(recipe.step) for key, recipe in table.wba.items() if key != "request")
    assert all(re.fullmatch(r"[a-z0-9-]+", key) for key in vendors())


def test_a_silent_door_gets_no_door_fix() -> None:
    seen = site.site(agents=site.silent)
    assert "wba" not in fixes(seen)
    assert ledger(judge(seen), V02).possible == 50 - points_of("v0.2")["wba"]


def test_a_local_scan_says_how_to_name_the_public_address() -> None:
    local = replace(site.plain(), host="http://localhost:8000", origin="http://localhost:8000")
    for key, fix in fixes(local).items():
        assert ("public_url" in fix.body) == (key in ("jsonld", "llms", "front-door", "ssr")), key
    assert not any("public_url" in fix.body for fix in fixes(site.plain()).values())
    card = grade_card(local, labels=Labels(public_url="https://shop.example"))
    for fix in card.recommendations:
        assert "public_url" not in fix.body
        assert "Once it is public, the same at https://shop.example/." in fix.body
        if fix.k in ("jsonld", "llms", "front-door"):
            assert "https://shop.example/" in fix.code
            assert "localhost" not in fix.code
