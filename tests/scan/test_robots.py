"""robots.txt by RFC 9309: the shared cases, and the facts of every tested token."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from aui_tui.model.registry import registry
from aui_tui.scan import robots

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "data" / "robots.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_path_is_allowed_as_rfc_9309_has_it(case: dict[str, Any]) -> None:
    parsed = robots.parse(case["robots"].encode())
    assert parsed.allows(case["token"], case["path"]) is case["allowed"]


@pytest.mark.parametrize(
    ("text", "policy"),
    [
        ("", "unlisted"),
        ("User-agent: *\nDisallow: /", "unlisted"),
        ("User-agent: X\nDisallow: /", "blocked"),
        ("User-agent: X\nDisallow: /*", "blocked"),
        ("User-agent: X\nDisallow: *", "blocked"),
        ("User-agent: X\nDisallow: /\nAllow: /", "allowed"),
        ("User-agent: X\nDisallow: /\nAllow: /*", "allowed"),
        ("User-agent: X\nDisallow: /\nAllow: /$", "blocked"),
        ("User-agent: X\nDisallow: /\nAllow: /blog", "blocked"),
        ("User-agent: X\nDisallow: /$", "partial"),
        ("User-agent: X\nDisallow: /private", "partial"),
        ("User-agent: X\nDisallow: /private\nAllow: /private", "allowed"),
        ("User-agent: X\nDisallow: /private\nAllow: /priv", "partial"),
        ("User-agent: X\nDisallow: /private\nAllow: /**********", "allowed"),
        ("User-agent: X\nDisallow: /*?", "partial"),
        ("User-agent: X\nDisallow: private", "allowed"),
        ("User-agent: X\nDisallow: https://example.com/private", "allowed"),
        ("User-agent: X\nDisallow:", "allowed"),
        ("Useragent: X\nUser agent: X\nDisallow: /", "unlisted"),
        ("User-agent: X\nDisalow: /\nDissallow: /", "allowed"),
        ("User-agent X\nDisallow /", "blocked"),
        ("User-agent X Y\nDisallow: /", "unlisted"),
        ("User-agent: X", "allowed"),
        ("User-agent: X\nAllow: /", "allowed"),
        ("User-agent: X\nDisallow: /robots.txt$", "allowed"),
        ("User-agent: X\nDisallow: /a\n\nUser-agent: Y\nDisallow: /\n\nUser-agent: x\nAllow: /a", "allowed"),
    ],
)
def test_policy_counts_effect_not_text(text: str, policy: str) -> None:
    assert robots.parse(text.encode()).policy("X") == policy


def test_facts_name_the_deciding_line_and_the_spelling() -> None:
    body = (
        b"# hello\nUser-agent: *\nDisallow: /tmp\n\nUser-agent: chatgpt-USER/2.0 # us\nAllow: /x\nDisallow: / # all\n"
    )
    facts = robots.facts(body, 200, registry(), "text/plain")
    agents = {policy.token: policy for policy in facts.agents}
    chatgpt = agents["ChatGPT-User"]
    assert (chatgpt.policy, chatgpt.effective, chatgpt.line) == ("blocked", "blocked", 7)
    assert (chatgpt.rule, chatgpt.spelling) == ("Disallow: / # all", "chatgpt-USER/2.0")
    claude = agents["Claude-User"]
    assert (claude.policy, claude.effective, claude.line, claude.spelling) == ("unlisted", "partial", 3, "")
    assert (facts.kind, facts.names, facts.wildcard_block, len(facts.crawlers)) == ("rules", 2, False, 15)


@pytest.mark.parametrize(
    ("status", "kind", "effective"),
    [
        (200, "rules", "blocked"),
        (404, "none", "open"),
        (301, "none", "open"),
        (503, "unknown", "unknown"),
        (0, "unknown", "unknown"),
    ],
)
def test_status_decides_whether_there_are_rules(status: int, kind: str, effective: str) -> None:
    facts = robots.facts(b"User-agent: *\nDisallow: /\n", status, registry())
    assert facts.kind == kind
    assert {policy.effective for policy in facts.agents} == {effective}
    assert facts.wildcard_block is (kind == "rules")


def test_a_page_is_no_robots_file() -> None:
    facts = robots.facts(
        b"<!doctype html>\n<pre>\nUser-agent: *\nDisallow: /\n</pre>", 200, registry(), "text/html; charset=utf-8"
    )
    assert (facts.kind, facts.names, facts.wildcard_block) == ("html", 0, False)


def test_content_signal_only_as_a_record() -> None:
    comments = b"# Content-Signal: search=yes\n# content-signal: ai-train=no\n"
    comments += b"User-agent: *\nContent-Usage: tdm=n\nDisallow: /x\n"
    assert robots.facts(comments, 200, registry()).signal_line == 0
    facts = robots.facts(comments + b"Content-signal : search=yes, ai-train=no # ours\n", 200, registry())
    assert (facts.signal, facts.signal_line) == ("search=yes, ai-train=no", 6)


@pytest.mark.parametrize(("first", "second", "line"), [("GPTBot", "*", 5), ("*", "GPTBot", 2), ("GPTBot", "CCBot", 2)])
def test_of_several_signals_the_one_for_everybody_counts(first: str, second: str, line: int) -> None:
    group = "User-agent: {}\nContent-Signal: ai-input=no\nDisallow:\n"
    assert robots.facts((group.format(first) + group.format(second)).encode(), 200, registry()).signal_line == line


def test_a_user_agent_value_of_white_space_names_nobody() -> None:
    parsed = robots.parse(b"User-agent: \x0b\nDisallow: /\n")
    assert parsed.allows("Claude-User", "/")


@pytest.mark.ci
def test_every_rule_of_a_long_file_counts() -> None:
    many = b"User-agent: *\n" + b"".join(b"Disallow: /a%d\n" % i for i in range(12_187))
    parsed = robots.parse(many + b"Disallow: /\n")
    policy = parsed.explain("*")
    assert (policy.policy, policy.line, parsed.cut) == ("blocked", 12_189, False)
    late = robots.parse(many + b"User-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\n")
    assert (late.policy("GPTBot"), late.policy("CCBot"), late.policy("*")) == ("blocked", "blocked", "partial")
    assert not late.allows("Other", "/a12186/x")
    assert late.allows("Other", "/b")


def test_groups_that_name_the_same_crawlers_are_one_and_the_first_of_equal_lines_is_quoted() -> None:
    parsed = robots.parse(
        b"User-agent: A\nUser-agent: B\nDisallow: /x\n\nUser-agent: b\nUser-agent: a\nDisallow: /x\nDisallow: /\n"
        b"\nUser-agent: A\nAllow: /\n"
    )
    assert (parsed.policy("A"), parsed.policy("B")) == ("partial", "blocked")
    assert (parsed.explain("A").line, parsed.explain("B").line) == (3, 8)


@pytest.mark.parametrize(
    ("rule", "path", "allowed"),
    [
        ("/a<d", "/a%3Cd", False),
        ("/a%3Cd", "/a<d", False),
        ('/a b{c}|"^`>\\', "/a%20b%7Bc%7D%7C%22%5E%60%3E%5C", False),
        ("/a%2Fb", "/a/b", True),
        ("/b%61z", "/baz", False),
        ("/baz", "/b%61z", False),
        ("/ツ", "/%e3%83%84", False),
        ("/%E3%83%84", "/ツ", False),
        ("/a%2Ab", "/a*b", False),
        ("/a[1]", "/a%5B1%5D", True),
        ("/a*b*c", "/a1b2c", False),
        ("/a*b*c", "/a1c2b", True),
        ("/a*b*c", "/a1c2", True),
    ],
)
def test_a_path_and_a_url_are_compared_alike(rule: str, path: str, allowed: bool) -> None:
    parsed = robots.parse(f"User-agent: *\nDisallow: {rule}\n".encode())
    asked = (path, f"https://shop.com{path}", f"https://shop.com{path}#part", f"{path}#part")
    assert {parsed.allows("X", text) for text in asked} == {allowed}


def test_only_whole_lines_of_the_first_mebibyte_count() -> None:
    body = b"User-agent: X\nDisallow: /\n" + b"#" * (robots.MAX_BYTES - 30) + b"\nAllow: /\n"
    assert robots.parse(body[: robots.MAX_BYTES]).policy("X") == "blocked"
    assert robots.parse(body).policy("X") == "blocked"
    assert robots.parse(body).cut
    assert robots.parse(b"x" * (robots.MAX_BYTES + 1)).tokens == {}


def test_an_alias_is_another_token() -> None:
    facts = robots.facts(b"User-agent: GoogleAgent-Mariner\nDisallow: /\n", 200, registry())
    assert {policy.policy for policy in facts.agents} == {"unlisted"}


@pytest.mark.parametrize(
    ("value", "token"),
    [
        ("Name", "name"),
        ("Name/1.0", "name"),
        ("Name*", "name"),
        ("Name/1.0*", "name"),
        ("**", "**"),
        ("Name text", "name"),
        ("Name\ttext", "name"),
        ("* text", "*"),
        ("*", "*"),
        ("*/1.0", "*/1.0"),
        ("*name", "*name"),
        ("Name2", "name2"),
        ("Name, Other", "name, other"),
        ("/Name", "/name"),
        ("Näme", "näme"),
    ],
)
def test_user_agent_values(value: str, token: str) -> None:
    assert list(robots.parse(f"User-agent: {value}\nDisallow: /\n".encode()).tokens) == [token.encode()]


@pytest.mark.ci
def test_hostile_files_take_little_more_than_ordinary_ones() -> None:
    ordinary = b"User-agent: *\n" + b"".join(b"Disallow: /products/item-%d\n" % i for i in range(6_000))
    hostile = [
        b"user-agent:*\n" + b"allow:/\n" * 150_000,
        b"user-agent:*\nallow:/\n" * 60_000,
        b"user-agent:*\n" + b"".join(b"disallow:/a*%d\nallow:/a*%d*\n" % (i, i) for i in range(6_000)),
        b"".join(b"user-agent:%x\n" % i for i in range(20_000)),
        b"\n" * 200_000,
        _named() + b"".join(b"disallow:/%x\nallow:/%x*\n" % (i, i) for i in range(5_000)) + _named(b"disallow:/z\n"),
        b"".join(b"user-agent:*\nuser-agent:%x\ndisallow:/%x\nallow:/%x*\n" % (i, i, i) for i in range(6_000)),
    ]
    size = len(ordinary)

    def seconds(body: bytes) -> float:
        best = 1e9
        for _ in range(3):
            start = time.process_time()
            robots.facts(body[:size], 200, registry())
            best = min(best, time.process_time() - start)
        return best

    assert max(map(seconds, hostile)) < 10 * seconds(ordinary)


def _named(rule: bytes = b"") -> bytes:
    """Every tested token, each in a group of its own with ``rule``, or all in one without."""
    tokens = [entry.token.encode() for entry in (*registry().agents, *registry().crawlers)]
    return b"".join(b"user-agent:" + token + b"\n" + rule for token in tokens)


def test_stars_are_matched_in_linear_time() -> None:
    def seconds(stars: int) -> float:
        parsed = robots.parse(b"User-agent: *\nDisallow: /" + b"*a" * stars + b"*b$\n")
        path = "/" + "a" * 10 * stars
        parsed.allows("x", path)
        start = time.process_time()
        for _ in range(20):
            assert parsed.allows("x", path)
        return time.process_time() - start

    assert seconds(2_000) < 30 * seconds(200) + 0.05


def test_groups_of_several_names_are_merged_for_each_of_them() -> None:
    parsed = robots.parse(
        b"User-agent: a\nUser-agent: b\nDisallow: /x\n\nUser-agent: b\nUser-agent: c\nDisallow: /\n\n"
        b"User-agent: *\nUser-agent: a\nAllow: /x*\n\nUser-agent: d\n"
    )
    policies = [parsed.policy(token) for token in ("a", "b", "c", "d", "e")]
    assert policies == ["allowed", "blocked", "blocked", "allowed", "unlisted"]
    assert parsed.explain("b").line == 7
