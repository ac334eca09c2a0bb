"""Pages under random input: no crash, bounded counts, and the same as the parser's own selectors say."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from aui_tui.scan import agent_files, charset, markup, page
from aui_tui.scan.charset import ENCODING

PIECES = st.sampled_from(
    [
        *("<main>", "</main>", "<nav role=none>", "</nav>", "<div role=main>", "</div>", "<div hidden>", "<p>", "</p>"),
        *("<form>", "</form>", "<input>", "<label>", "</label>", "<label for=a>", "<input id=a>", "<svg>", "</svg>"),
        *("<title>", "</title>", "<script>", "</script>", "<script type='application/ld+json'>", "{}", "<!--", "-->"),
        *("<template>", "</template>", "<noscript>", "</noscript>", "<table>", "<td>", "</table>", "<select>", "<b>"),
        *(
            "<meta charset=utf-16>",
            "<meta property=og:site_name content=x>",
            "&amp;",
            "&#0;",
            "words",
            " ",
            "<",
            ">",
            "'",
        ),
        *(
            'aria-label="x"',
            "<a aria-label=x>",
            "<a aria-labelledby=' '>",
            "\0",
            "\x1b[2J",
            "é",
            "\ufeff",
            "</",
            "<!",
            "<?",
        ),
    ]
)
SOUP = st.lists(PIECES, max_size=40).map("".join)
BODIES = st.one_of(
    st.binary(max_size=200),
    SOUP.map(str.encode),
    st.tuples(SOUP, st.binary(max_size=9)).map(lambda p: p[0].encode() + p[1]),
)
TYPES = st.one_of(
    st.just(""), st.text(max_size=30), st.sampled_from(sorted(ENCODING)).map("text/html; charset={}".format)
)


@pytest.mark.ci
@given(BODIES, TYPES)
def test_any_body_gives_facts(body: bytes, content_type: str) -> None:
    facts = page.read(body, content_type)
    assert facts.problem in ("", "it is empty", "it has nothing to read") or facts.problem.endswith(", not a page")
    assert 0 <= facts.jsonld_broken <= facts.jsonld
    assert 0 <= facts.forms_unlabelled <= facts.semantic.forms
    assert not facts.noscript_shell or (facts.readable < 200 and facts.scripts > 0)
    for text in (facts.title, facts.site_name, page.title(body, content_type)):
        assert "\x1b" not in text
        assert len(text) <= markup.TITLE_LIMIT


@pytest.mark.ci
@given(SOUP)
@example("<svg><template><form>")
@example("<svg><script><script type='application/ld+json'>")
def test_one_walk_counts_what_selectors_count(soup: str) -> None:
    facts = page.read(soup.encode(), "text/html; charset=utf-8")
    tree = LexborHTMLParser(soup.removeprefix("\ufeff").encode())
    assert facts.semantic.forms == len(tree.css("form"))
    assert facts.jsonld == len(tree.css("script[type='application/ld+json']"))
    assert facts.semantic.aria == len(tree.css("[aria-label=x]"))
    assert facts.semantic.main <= len(tree.css("main, [role=main]"))
    assert facts.semantic.nav == 0


@given(st.binary(max_size=300), TYPES)
def test_any_bytes_decode(body: bytes, content_type: str) -> None:
    charset.decode(body, content_type).encode("utf-8", "replace")


@given(st.binary(max_size=300))
def test_any_bytes_pass_the_linear_passes(body: bytes) -> None:
    assert markup.parser_risk(body) == ""
    markup.title(body)
    assert 0 <= markup.readable(body) <= 200
    for name, _, start, end, after in markup.tags(body):
        assert name
        assert 0 <= start < end <= after <= len(body)


@pytest.mark.ci
@given(st.binary(max_size=100), TYPES, st.sampled_from([0, 200, 301, 404, 500]), st.booleans())
def test_any_body_is_judged_as_a_file(body: bytes, content_type: str, status: int, unchanged: bool) -> None:
    for name in ("llms", "ai-plugin", "ucp", "mcp"):
        finding = agent_files.check(name, body, content_type, status, unchanged)
        assert not (finding.found and (finding.note or status != 200 or not unchanged))
