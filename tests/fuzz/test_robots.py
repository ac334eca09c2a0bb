"""Random rules of robots.txt: the same answers as three independent ways to get them."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from protego import Protego

from aui_tui.scan import robots
from aui_tui.scan.robots import Rule, normal

PATHS = ["/" + "".join(letters) for size in range(4) for letters in product("/abz", repeat=size)]
"""Every path of up to three characters more; no pattern of ``PATTERNS`` names the letter z."""
PATTERNS = st.text("/ab*$", max_size=5)
RULES = st.lists(st.tuples(st.sampled_from(["Allow", "Disallow"]), PATTERNS), max_size=6)
ROOTED = st.lists(
    st.tuples(st.sampled_from(["Allow", "Disallow"]), st.text("/ab*", max_size=5).map("/".__add__)), max_size=6
)


def oracle(pattern: str, path: str) -> bool:
    """RFC 9309, 2.2.3, as a regular expression."""
    anchored = pattern.endswith("$")
    body = ".*".join(re.escape(part) for part in (pattern[:-1] if anchored else pattern).split("*"))
    return re.match(f"(?s){body}{'$' if anchored else ''}", path) is not None


def decide(rules: list[tuple[str, str]], path: str) -> bool:
    """RFC 9309, 2.2.2: most octets win, Allow wins a tie."""
    matching = [(len(pattern), key == "Allow") for key, pattern in rules if pattern and oracle(pattern, path)]
    return max(matching)[1] if matching else True


def text_of(rules: list[tuple[str, str]], agent: str = "X") -> str:
    return f"User-agent: {agent}\n" + "".join(f"{key}: {pattern}\n" for key, pattern in rules)


@given(PATTERNS.filter(lambda text: "$" not in text[:-1]), st.sampled_from(PATHS))
def test_matching_agrees_with_a_regular_expression(pattern: str, path: str) -> None:
    assert Rule(True, pattern.encode(), 1, b"").matches(path.encode()) is oracle(pattern, path)


@pytest.mark.ci
@given(RULES.map(lambda rules: [rule for rule in rules if "$" not in rule[1][:-1]]))
@example([("Disallow", "*/a"), ("Allow", "/*/a")])
@example([("Disallow", "/a"), ("Allow", "/*")])
def test_policy_agrees_with_trying_every_path(rules: list[tuple[str, str]]) -> None:
    parsed = robots.parse(text_of(rules).encode())
    policy = parsed.policy("X")
    verdicts = {path: decide(rules, path) for path in PATHS}
    assert {path: parsed.allows("X", path) for path in PATHS} == verdicts
    assert (policy == "blocked") is (not decide(rules, "/z"))
    if policy == "allowed":
        assert all(verdicts.values())
    long_paths = ["/" + "".join(letters) for letters in product(["zz", "/", "a", "b", ""], repeat=5)]
    if policy == "partial":
        assert not all(decide(rules, path) for path in [*PATHS, *long_paths])


@pytest.mark.ci
@given(ROOTED, ROOTED, st.sampled_from(PATHS))
def test_protego_agrees_on_every_rule(star: list[tuple[str, str]], own: list[tuple[str, str]], path: str) -> None:
    text = text_of(star, "*") + text_of(own, "GPTBot")
    parsed, protego = robots.parse(text.encode()), Protego.parse(text)
    for agent in ("GPTBot", "CCBot"):
        assert parsed.allows(agent, path) is protego.can_fetch(f"https://h.example{path}", agent)


@given(st.binary(max_size=40))
def test_normal_form_is_stable(octets: bytes) -> None:
    once = normal(octets)
    assert normal(once) == once
    assert once.isascii()
