from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aui_tui.errors import BadValue
from aui_tui.model import labels, query_line
from aui_tui.model.codec import names_of
from aui_tui.model.query import Query
from aui_tui.model.query_line import CONTRADICTIONS, HAS, VERDICT_WORDS, fields, parse
from aui_tui.model.vocabulary import FIXES, VERDICTS


@pytest.mark.parametrize(
    ("line", "same"),
    [
        ("", ""),
        ("stance:WALLED", "stance:walled"),
        ("category:real", 'category:"Real estate"'),
        ('category:"social & media"', "category:soc"),
        ("agent:google-agent=refused", "agent:gemini=refused"),
        ('agent:"Google agents"=told-no', 'agent:gemini="told no"'),
        ("agent:claude,google=out", "agent:claude,gemini=out"),
        ("agent:any=part", f"agent:{','.join(names_of('matrix'))}=part"),
        ("crawler:GPTBot=blocked", "crawler:gptbot=blocked"),
        ("crawler:gptbot", "crawler:gptbot=blocked,partial,allowed"),
        ("edge:Akamai", "edge:akamai"),
        ("edge:=Akamai", 'edge:="akamai"'),
        ("contradiction:OUT", "contradiction:out"),
        ("not contradiction:in", "-contradiction:in"),
        ('"shop"', "shop"),
        ("shop and goods", "shop goods"),
        ("shop or goods fair", "(shop or goods) fair"),
        ("(shop)", "shop"),
        ("-(a b)", "NOT (a AND b)"),
        ("grade:a,B", "grade:A or grade:b"),
        ("grade:<c", "grade:d..f"),
        ("grade:>=b", "grade:..b"),
        ("grade:>b", "grade:a"),
        ("grade:c..", "grade:f..c"),
        ("stance:walled,Walled", "stance:walled"),
        ("score:40..", "score:>=40"),
        ("score:..60", "score:<=60"),
        ("score:87", "score:=87"),
        ("change:up", "change:>0"),
        ("change:Same", "change:0"),
        ("change:+3", "change:=3"),
        ("fresh:1d..1w", "fresh:24h..7d"),
        ("fresh:7d", "fresh:<=1w"),
    ],
)
def test_two_ways_to_write_a_line(line: str, same: str) -> None:
    assert parse(line) == parse(same)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("shop", "shop"),
        ('"or shop"', "or shop"),
        ('"not"', "not"),
        ("localhost:8080", "localhost:8080"),
        ("127.0.0.1:8080", "127.0.0.1:8080"),
        ('"score>50"', "score>50"),
        ('"(a | b)"', "(a | b)"),
        ("Yahoo!", "yahoo!"),
        ("you&me", "you&me"),
    ],
)
def test_words_are_looked_for_in_host_and_name(line: str, text: str) -> None:
    assert [term.values for term in parse(line)] == [(text, text)]


def test_a_query_names_its_fields() -> None:
    assert Query.of(line="shop (has:llms OR -fresh:<7d) contradiction").fields == {
        "text",
        "has",
        "fresh",
        "contradiction",
    }


@pytest.mark.parametrize(
    ("line", "form"),
    [
        ("score>50", "score:>50"),
        ("score >50", '">50"'),
        ("grade>=b", "grade:>=b"),
        ("stance=walled", "stance:walled"),
        ("stance!=walled", "-stance:walled"),
        ("host=shop", "host:shop"),
        ("claude=out", "agent:claude=out"),
        ("claude:out", "agent:claude=out"),
        ("gptbot=blocked", "crawler:gptbot=blocked"),
        ("!stance:open", "-stance:open"),
        ("!shop", "-shop"),
        ("+stance:open", "stance:open"),
        ("a | b", "OR between"),
        ("a || b", "OR between"),
        ("a && b", "a space between"),
        ("h11*", "write h11"),
        ("*.com", "write .com"),
        ("host:*.com", "write .com"),
        ("server:nginx*", "write nginx"),
        ("age<7d", "fresh:<7d"),
        ("name=shop", "host:shop"),
        ("x=y", "double quotes"),
    ],
)
def test_a_word_in_the_form_of_another_language_names_the_form_of_this_one(line: str, form: str) -> None:
    with pytest.raises(BadValue) as caught:
        parse(line)
    assert form.replace('">50"', "double quotes") in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["r:c", "stance:walled", "contradiction:out", "score>50", "or", "-a", "h11*", "(", ")"]
)
def test_what_begins_with_a_quote_is_a_text(text: str) -> None:
    [term] = parse(f'"{text}"')
    assert term.values == (text, text)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("stanc:walled", "did you mean stance:?"),
        ("age:7", "did you mean fresh:?"),
        ("rank:1", "did you mean score:?"),
        ("points:60", "Unknown query term points:"),
        ("matrix.claude:walled", "Unknown query term matrix.claude:"),
        ("stance:shut", "allowed are: Open, Selective, Walled"),
        ("category:zoo", "Uncategorized"),
        ("agent:claude", "agent:claude=out"),
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
        ("(shop", "parenthesis that is not closed"),
        ("shop)", "closes a parenthesis that is not open"),
        ("shop ()", "hold no term"),
        ("(shop OR)", "OR needs a term after it"),
        ("(" * 30 + "a" + ")" * 30, "more than 20 parentheses"),
        ("crawler:gptbot=eaten", "allowed are: unlisted, blocked, partial, allowed"),
        ("crawler:shopbot", "GPTBot"),
        ("method:v9", "v0.1, v0.2"),
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


@pytest.mark.parametrize("line", [line for line, _ in (*query_line.terms(), *query_line.EXAMPLES) if line])
def test_every_example_of_the_page_of_help_parses(line: str) -> None:
    assert parse(line)


def test_the_page_of_help_names_every_term_and_every_word_for_a_verdict() -> None:
    terms = {line.partition(":")[0] for line, _ in query_line.terms()}
    assert set(fields()) <= terms
    words = " ".join(meaning for _, meaning in query_line.terms())
    for word in (*VERDICTS, *VERDICT_WORDS, *HAS, *FIXES, *CONTRADICTIONS):
        assert re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", words), word
    for field in fields().values():
        assert parse(field.example)


def test_the_drop_down_calls_an_assistant_as_the_screens_do() -> None:
    offered = dict(fields()["agent"].values)
    assert offered == {slug: labels.name(slug) for slug in offered}
    assert (offered["gemini"], offered["amazon"]) == ("Google agent", "Amazon")
