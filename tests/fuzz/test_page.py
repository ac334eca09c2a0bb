"""Pages under random input: what one walk counts is what the parser's own selectors say."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from aui_tui.scan import page

TAGS = """
<main> </main> </nav> </div> <p> </p> <form> </form> <input> <label> </label> <svg> </svg> <title> </title> <script>
</script> <template> </template> <noscript> </noscript> <table> <td> </table> <select> <b> <!-- --> </ <! <? < > ' {}
&amp; &#0; words \0 \x1b[2J é \ufeff
"""
PIECES = (
    *TAGS.split(),
    *("<nav role=none>", "<div role=main>", "<div hidden>", "<label for=a>", "<input id=a>", " ", 'aria-label="x"'),
    *("<script type='application/ld+json'>", "<meta property=og:site_name content=x>", "<meta charset=utf-16>"),
    *("<a aria-label=x>", "<a aria-labelledby=' '>"),
)


@pytest.mark.ci
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
@example("<svg><template><form>")
@example("<svg><script><script type='application/ld+json'>")
def test_one_walk_counts_what_selectors_count(soup: str) -> None:
    facts = page.read(soup.encode(), "text/html; charset=utf-8").facts
    tree = LexborHTMLParser(soup.removeprefix("\ufeff").encode())
    assert facts.semantic.forms == len(tree.css("form"))
    assert facts.jsonld == len(tree.css("script[type='application/ld+json']"))
    assert facts.semantic.aria == len(tree.css("[aria-label=x]"))
    assert facts.semantic.main <= len(tree.css("main, [role=main]"))
    assert facts.semantic.nav == 0
