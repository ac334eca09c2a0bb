"""Markdown shows the texts of a site as they are, and nothing in them becomes markup."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from aui_tui.report.export import write_cards
from aui_tui.report.markdown import escape, fenced
from aui_tui.text import clean
from tests.report.hostile import PAYLOADS, hostile

GITHUB = MarkdownIt("gfm-like")
BREAK = "<!-- -->"
BARE_HOST = re.compile(r'<a href="http://(?!www\.)([^"/]+)">\1</a>')
"""What this library makes a link and GitHub does not: a host without a scheme or www."""


def shown(markdown: str) -> str:
    """Return what a reader of the rendered paragraph sees; fails on any element but the paragraph."""
    rendered = BARE_HOST.sub(r"\1", GITHUB.render(markdown).replace(BREAK, ""))
    tags = set(re.findall(r"</?([a-z0-9]+)", rendered))
    assert tags <= {"p"}, rendered
    return html.unescape(re.sub(r"</?p>", "", rendered)).strip()


@pytest.mark.parametrize("text", PAYLOADS)
def test_escaped_text_shows_itself(text: str) -> None:
    assert shown(escape(text)) == clean(text).strip()


@example("1.ba")
@given(st.text(alphabet=st.sampled_from("ab1 *_`[]()<>#+-=.!|~$&@:/\\\"'{}\u00e9"), min_size=1, max_size=30))
def test_any_escaped_text_shows_itself(text: str) -> None:
    if text.strip():
        assert shown(escape(text)).split() == clean(text).split()


@pytest.mark.parametrize("text", PAYLOADS)
def test_a_hostile_card_renders_to_our_elements_alone(text: str) -> None:
    rendered = GITHUB.render("".join(write_cards("markdown", [hostile(text)])))
    tags = set(re.findall(r"<([a-z][a-z0-9]*)", rendered.replace(BREAK, "")))
    ours = {"h1", "h2", "h3", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "pre", "code"}
    assert tags <= ours


@pytest.mark.parametrize("text", PAYLOADS)
def test_every_row_of_a_table_has_the_same_cells(text: str) -> None:
    rendered = GITHUB.render("".join(write_cards("markdown", [hostile(text)])))
    for body in re.findall(r"<table>(.*?)</table>", rendered, re.DOTALL):
        widths = {len(re.findall(r"<t[hd]", row)) for row in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)}
        assert len(widths) == 1


@pytest.mark.parametrize("code", ["x", "```\nx\n```", "````` x", "~~~", "\n\n", "x\n"])
def test_a_snippet_cannot_close_its_fence(code: str) -> None:
    rendered = GITHUB.render(fenced(code, "text") + "\nafter\n")
    assert rendered.endswith("<p>after</p>\n")
    assert html.unescape(re.findall(r"<code[^>]*>(.*)</code>", rendered, re.DOTALL)[0]).strip() == code.strip()
