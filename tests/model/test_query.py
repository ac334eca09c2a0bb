from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from aui_tui.errors import BadValue
from aui_tui.model import query
from aui_tui.model.codec import names_of
from aui_tui.model.query import CONTRADICTIONS, FIELDS, HAS, VERDICT_WORDS, Query, Term, parse
from aui_tui.model.vocabulary import FIXES, VERDICTS


def either(*parts: Term) -> Term:
    return Term(field="any", value="", parts=parts)


def between(field: str, low: tuple[str, float], high: tuple[str, float]) -> Term:
    """Both ends of a range, each as it is written and as a number."""
    least = Term(field=field, value=f">={low[0]}", op=">=", number=low[1])
    most = Term(field=field, value=f"<={high[0]}", op="<=", number=high[1])
    return Term(field="all", value=f"{low[0]}..{high[0]}", parts=(least, most))


def TEXT(value: str, *, negated: bool = False) -> Term:
    return Term(field="text", value=value, negated=negated)


def GRADE(value: str) -> Term:
    return Term(field="grade", value=value)


def AGENT(key: str, value: str) -> Term:
    return Term(field="agent", key=key, value=value)


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
        ("contradiction", (Term(field="contradiction", value=""),)),
        ("contradiction:OUT", (Term(field="contradiction", value="out"),)),
        ("not contradiction:in", (Term(field="contradiction", value="in", negated=True),)),
        ("NOT -shop", (Term(field="text", value="shop"),)),
        ('"not" "or shop"', (Term(field="text", value="not"), Term(field="text", value="or shop"))),
        ("shop and goods", (Term(field="text", value="shop"), Term(field="text", value="goods"))),
        ("shop or goods fair", (either(TEXT("shop"), TEXT("goods")), TEXT("fair"))),
        ("a OR -b OR not c", (either(TEXT("a"), TEXT("b", negated=True), TEXT("c", negated=True)),)),
        ("grade:a,B", (either(GRADE("A"), GRADE("B")),)),
        ("-grade:a,b", (replace(either(GRADE("A"), GRADE("B")), negated=True),)),
        ("grade:<c", (either(GRADE("D"), GRADE("F")),)),
        ("grade:>=b", (either(GRADE("A"), GRADE("B")),)),
        ("grade:>b", (GRADE("A"),)),
        ("grade:<=F", (GRADE("F"),)),
        ("grade:d..b", (either(GRADE("B"), GRADE("C"), GRADE("D")),)),
        ("grade:c..", (either(GRADE("C"), GRADE("D"), GRADE("F")),)),
        ("stance:walled,Walled", (Term(field="stance", value="Walled"),)),
        ("score:40..60", (between("score", ("40", 40), ("60", 60)),)),
        ("change:up", (Term(field="change", value="up", op=">", number=0),)),
        ("change:Same", (Term(field="change", value="Same", op="=", number=0),)),
        ("change:new", (Term(field="change", value="new"),)),
        ("change:<-5", (Term(field="change", value="<-5", op="<", number=-5),)),
        ("change:+3", (Term(field="change", value="+3", op="=", number=3),)),
        ("change:-5..5", (between("change", ("-5", -5), ("5", 5)),)),
        ("score:40..", (Term(field="score", value=">=40", op=">=", number=40),)),
        ("score:..60", (Term(field="score", value="<=60", op="<=", number=60),)),
        ("fresh:1d..1w", (between("fresh", ("1d", 86400), ("1w", 604800)),)),
        ("agent:claude,google=refused", (either(AGENT("claude", "blocked"), AGENT("gemini", "blocked")),)),
        (
            "agent:claude=out",
            (either(*(AGENT("claude", word) for word in ("blocked", "walled", "disallowed"))),),
        ),
        ("agent:any=partial", (either(*(AGENT(slug, "partial") for slug in names_of("matrix"))),)),
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
def test_a_line_is_read_as_these_terms(line: str, terms: tuple[Term, ...]) -> None:
    assert parse(line) == terms


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("stanc:walled", "did you mean stance:?"),
        ("matrix.claude:walled", "Unknown query term matrix.claude:"),
        ("stance:shut", "allowed are: Open, Selective, Walled"),
        ("category:zoo", "Uncategorized"),
        ("agent:claude", "agent:claude=blocked"),
        ("agent:bard=blocked", "perplexity"),
        ("agent:claude=eaten", "walled"),
        ("score:high", "score:40..60"),
        ("score:60..40", "write the smaller value first"),
        ("score:..", "score: needs a value"),
        ("score:1..x", "a range such as score:40..60"),
        ("grade:z", "There is no grade z. Grades are A, B, C, D, F"),
        ("grade:<f", "No grade is <f"),
        ("grade:a,", "grade: needs a value, for example grade:<c"),
        ("OR shop", "OR needs a term before it"),
        ("shop or", "OR needs a term after it; to search for the word, write it in quotes"),
        ("shop or or goods", "OR needs a term before it"),
        ("not", "NOT needs a term after it"),
        ("shop not or goods", "OR needs a term before it"),
        ("contradiction:maybe", "allowed are: out, in"),
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


@pytest.mark.parametrize("line", [line for line, _ in (*query.TERMS, *query.EXAMPLES) if line])
def test_every_example_of_the_page_of_help_parses(line: str) -> None:
    assert parse(line)


def test_the_page_of_help_names_every_term_and_every_word_for_a_verdict() -> None:
    terms = {line.partition(":")[0] for line, _ in query.TERMS}
    assert set(FIELDS) <= terms
    words = " ".join(meaning for _, meaning in query.TERMS)
    for word in (*VERDICTS, *VERDICT_WORDS, *HAS, *FIXES, *CONTRADICTIONS):
        assert re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", words), word
    for line in FIELDS.values():
        assert parse(line)
