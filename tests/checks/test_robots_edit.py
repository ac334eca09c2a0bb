"""The corrected robots.txt: agents get in, everybody else keeps what they had, and every other line stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aui_tui.checks.robots_edit import let_in, with_signal
from aui_tui.model.registry import registry
from aui_tui.scan import robots

AGENTS = tuple(agent.token for agent in registry().agents)
CRAWLERS = tuple(crawler.token for crawler in registry().crawlers)
OTHERS = (*CRAWLERS, "Googlebot", "*")
LIST = "\n".join(f"User-agent: {name}" for name in ("AI2Bot", *CRAWLERS, *AGENTS, "ImagesiftBot", "YouBot"))
LIST = (
    f"# block AI\n{LIST}\nDisallow: /\n\n# the rest\nUser-agent: *\nDisallow: /cart\nSitemap: https://a.example/s.xml\n"
)
RULES = st.sampled_from(
    ("Disallow: /", "Disallow: /a", "Allow: /", "Disallow:", "Allow: /b", "# note", "", "Crawl-delay: 5", "Sitemap: /s")
)
NAMES = st.sampled_from((*AGENTS[:6], "chatgpt-user/1.0", *OTHERS[:4], "Googlebot", "*")).map("User-agent: {}".format)
FILES = st.lists(
    st.tuples(st.lists(NAMES, min_size=1, max_size=4), st.lists(RULES, min_size=1, max_size=4)), max_size=5
).map(lambda groups: "\n".join(line for names, rules in groups for line in (*names, *rules)) + "\n")


def shut(text: str) -> list[str]:
    parsed = robots.parse(text.encode())
    return [
        token
        for token in AGENTS
        if parsed.explain(token).effective == "blocked" or parsed.explain(token).policy == "partial"
    ]


def said(text: str) -> dict[str, list[object]]:
    parsed = robots.parse(text.encode())
    return {
        token: [
            token == "*" or parsed.policy(token),
            *(parsed.allows(token, path) for path in ("/", "/a", "/b", "/cart")),
        ]
        for token in OTHERS
    }


def test_a_list_of_bots_loses_the_agents_alone() -> None:
    after = let_in(LIST, shut(LIST))
    gone = [line for line in LIST.split("\n") if line not in after.split("\n")]
    assert gone == [f"User-agent: {token}" for token in AGENTS]
    assert "User-agent: GPTBot\n" in after
    assert said(after) == said(LIST)
    assert not shut(after)


def test_a_name_without_a_rule_at_the_end_does_not_join_the_new_group() -> None:
    text = "User-agent: *\nDisallow: /\nUser-agent: Googlebot\n"
    after = let_in(text, shut(text))
    assert not shut(after)
    assert said(after) == said(text) | {"Googlebot": said(after)["Googlebot"]}
    assert not robots.parse(after.encode()).allows("GPTBot", "/")


def test_a_file_closed_to_everybody_stays_closed_to_everybody_else() -> None:
    text = "# private\nUser-agent: *\nDisallow: /\n"
    after = let_in(text, shut(text))
    assert after.startswith(text)
    assert said(after) == said(text)
    assert not shut(after)
    assert shut(with_signal(text, "search=yes")) == shut(text)


@given(FILES)
def test_agents_get_in_and_nobody_else_notices(text: str) -> None:
    wanted = shut(text)
    after = let_in(text, wanted)
    assert not shut(after)
    assert said(after) == said(text)
    kept = iter(after.split("\n"))
    staying = [line for line in text.split("\n") if line.startswith(("#", "Sitemap"))]
    assert all(any(line == other for other in kept) for line in staying)
    assert set(after.split("\n")) - set(text.split("\n")) <= {
        "# Agents that open a page because a person asked for it",
        "Allow: /",
        "Disallow:",
        "User-agent: *",
        *(f"User-agent: {token}" for token in AGENTS),
    }


@given(FILES)
def test_a_signal_changes_no_rule(text: str) -> None:
    after = with_signal(text, "search=yes, ai-input=yes")
    assert robots.parse(after.encode()).signal == b"search=yes, ai-input=yes"
    assert said(after)["Googlebot"] == said(text)["Googlebot"]
    assert shut(after) == shut(text)
    assert [line for line in after.split("\n") if line in text.split("\n")]


def test_a_signal_takes_the_place_of_the_one_that_is_there() -> None:
    text = "User-agent: *\nContent-Signal: ai-input=no\nDisallow: /x\n"
    assert with_signal(text, "ai-input=yes", 2) == "User-agent: *\nContent-Signal: ai-input=yes\nDisallow: /x\n"


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_the_file_is_kept_with_what_was_seen(ending: str) -> None:
    text = ending.join(("# ours", "User-agent: GPTBot", "Disallow: /", ""))
    assert robots.facts(text.encode(), 200, registry()).text == text.replace("\r\n", "\n")
    assert robots.facts(b"\xef\xbb\xbf" + text.encode(), 200, registry()).text == text.replace("\r\n", "\n")


@pytest.mark.parametrize(
    "body",
    [
        b"User-agent: *\n# \xff\n",
        b"User-agent: *\n# \x1b[2J\n",
        b"User-agent: *\n" + b"# x\n" * 20_000,
        b"User-agent:\xc2\xa0Claude-User\nDisallow: /\n",
    ],
    ids=["bytes", "escape", "long", "no-break space"],
)
def test_a_file_that_could_not_be_given_back_is_not_kept(body: bytes) -> None:
    assert robots.facts(body, 200, registry()).text == ""
