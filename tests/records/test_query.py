from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aui_tui.errors import BadValue
from aui_tui.records.query import Query, Term, parse


@pytest.mark.parametrize(
    ("line", "terms"),
    [
        ("", ()),
        ("shop", (Term(field="text", value="shop"),)),
        ("stance:WALLED", (Term(field="stance", value="Walled"),)),
        ("category:travel", (Term(field="category", value="Travel"),)),
        ("category:real", (Term(field="category", value="Real estate"),)),
        ('category:"social & media"', (Term(field="category", value="Social & media"),)),
        ("agent:claude=blocked", (Term(field="agent", key="claude", value="blocked"),)),
        ("agent:google-agent=blocked", (Term(field="agent", key="gemini", value="blocked"),)),
        ('agent:"Google agents"=walled', (Term(field="agent", key="gemini", value="walled"),)),
        ("edge:Akamai", (Term(field="edge", value="akamai"),)),
        ("score:<40", (Term(field="score", value="<40", op="<", number=40),)),
        ("score:87", (Term(field="score", value="87", op="=", number=87),)),
        ("grade:f", (Term(field="grade", value="F"),)),
        ("has:llms signal:no", (Term(field="has", value="llms"), Term(field="signal", value="no"))),
        ("fresh:<7d", (Term(field="fresh", value="<7d", op="<", number=604800),)),
        ("-contradiction", (Term(field="contradiction", value="", negated=True),)),
        ("localhost:8080", (Term(field="text", value="localhost:8080"),)),
        ("127.0.0.1:8080", (Term(field="text", value="127.0.0.1:8080"),)),
    ],
)
def test_terms(line: str, terms: tuple[Term, ...]) -> None:
    assert parse(line) == terms


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("stanc:walled", "did you mean stance:?"),
        ("stance:shut", "allowed are: Open, Selective, Walled"),
        ("category:zoo", "Uncategorized"),
        ("agent:claude", "agent:claude=blocked"),
        ("agent:bard=blocked", "perplexity"),
        ("agent:claude=eaten", "walled"),
        ("score:high", "score:<40"),
        ("fresh:7", "fresh:<7d"),
        ("has:", "has:llms"),
        ('"open', "not closed"),
    ],
)
def test_a_bad_term_is_named(line: str, said: str) -> None:
    with pytest.raises(BadValue) as caught:
        parse(line)
    assert said in str(caught.value)


@given(st.text(max_size=80))
def test_any_line_gives_terms_or_one_sentence(line: str) -> None:
    said = ""
    try:
        parse(line)
    except BadValue as error:
        said = str(error)
    assert "\n" not in said


def test_a_query_says_its_filters() -> None:
    query = Query.of(category="retail", stance="walled", line="shop")
    assert query.words() == 'Walled in Retail matching "shop"'


def test_an_unknown_sort_column_is_refused() -> None:
    with pytest.raises(BadValue, match=r"matrix\.claude"):
        Query.of(sort="colour")
