"""Remarks on a robots.txt that are not scored."""

from __future__ import annotations

import pytest

from aui_tui.checks.robots_lint import MOST, remarks


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("User-agent: anthropic-ai\nDisallow: /\n", "line 1: no agent calls itself"),
        ("User-agent: GPTBot/1.1\nDisallow: /\n", "line 1: “GPTBot/1.1” is not a product token"),
        ("User-agent: *\nAllow: /\n\nUser-agent: Google-Agent\nDisallow: /\n", "line 4: Google says that Google-Agent"),
        ("# BEGIN Cloudflare Managed content\nUser-agent: GPTBot\nDisallow: /\n", "written by Cloudflare"),
    ],
)
def test_what_is_worth_a_remark(text: str, words: str) -> None:
    assert [words in remark for remark in remarks(text)] == [True]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "User-agent: *\nDisallow: /cart\n",
        "User-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\n",
        "User-agent: Google-Agent\nDisallow: /cart\n",
        "# anthropic-ai is a name of the past\nUser-agent: ClaudeBot\nDisallow: /\n",
        "Disallow: /\nUser-agent: *\nDisallow:\n",
    ],
)
def test_what_is_not(text: str) -> None:
    assert list(remarks(text)) == []


def test_a_long_file_has_a_few_remarks() -> None:
    assert len(list(remarks("User-agent: a/1\n" * 10_000))) == MOST
