"""Linear passes: titles, readable text, bodies that no parser survives."""

from __future__ import annotations

import time

import pytest

from aui_tui.scan import markup

MIB = 1 << 20


def endless(unit: bytes) -> bytes:
    return (unit * (MIB // len(unit) + 1))[:MIB]


@pytest.mark.parametrize(
    ("page", "title"),
    [
        (b"<title>Plain</title>", "Plain"),
        (b"<TITLE lang=en>\n  Two\twords </TITLE >", "Two words"),
        (b"<!-- <title>No</title> --><title>Yes</title>", "Yes"),
        (b"<!--><title>Yes</title>-->", "Yes"),
        (b"<!-- --!><title>Yes</title>-->", "Yes"),
        (b"<!--<title>No</title>", ""),
        (b"<script>'<title>No</title>'</script><title>Yes</title>", "Yes"),
        (b"<svg><title>No</title></svg><title>Yes</title>", "Yes"),
        (b"<a b='<title>No</title>'><title>Yes</title>", "Yes"),
        (b'<a b= "<title>No</title>" c><title>Yes</title>', "Yes"),
        (b"<a 'b=c\"><title>Yes</title>", "Yes"),
        (b"<a b='<title>No</title>", ""),
        (b"<title>a &amp; b &#x41;</title>", "a & b A"),
        (b"<title>&#" + b"9" * 3_900 + b"</title>", "\ufffd"),
        (b"<title>&#" + b"9" * 5_000 + b"</title>", "\ufffd"),
        (b"<title>Cut off", "Cut off"),
        (b"<title></title><title>Second</title>", ""),
        (b"<titles>No</titles>", ""),
        (b"", ""),
        ("<title>\x1b[2J\u202eevil</title>".encode(), "\ufffd[2J\ufffdevil"),
    ],
)
def test_the_first_title_of_the_page_is_its_title(page: bytes, title: str) -> None:
    assert markup.title(page) == title


def test_a_long_title_is_cut() -> None:
    assert len(markup.title(b"<title>" + b"word " * 1_000)) == markup.TITLE_LIMIT


@pytest.mark.parametrize(
    ("page", "count"),
    [
        (b"<p>four</p>", 4),
        (b"<p>" + b" " * 30_000 + b"fo&amp;r  a<b>b", 8),
        (b"<script>var text</script><style>p{}</style><noscript>none</noscript><template>none</template>", 0),
        (b"<title>none</title><p>a b</p>", 3),
        (b"<p>" + b"word " * 1_000, 200),
        (b"<!doctype html><!-- " + b"word " * 1_000 + b"--><p>four</p><!-- <b>no</b> --!>", 4),
        (b"<p>a<!-->b<!--->c</p><?xml none?><!-- " + b"word " * 1_000, 5),
        (b"<br>" * 6_000, 200),
    ],
)
def test_only_text_that_is_shown_counts_as_readable(page: bytes, count: int) -> None:
    assert markup.readable(page) == count


@pytest.mark.parametrize(
    ("page", "words"),
    [
        (b"<p>" * 5_000, ""),
        (b"<div><p>x</div>" * 5_000, ""),
        (b"<div><span>x</div>" * 5_000, ""),
        (b"<div>" * 1_000, ""),
        (b"<div>" * 1_001, "elements are nested more than 1,000 deep"),
        (b"<div></x>" * 1_001, "elements are nested more than 1,000 deep"),
        (b"<div>" * 1_000 + b"<p>x</p>", ""),
        (b"<div>" * 1_000 + b"<b>x</b>", "elements are nested more than 1,000 deep"),
        (b"<div><b class=x>y</b>" * 1_000, "elements are nested more than 1,000 deep"),
        (b"<div><b class=x>y</b></div>" * 5_000, ""),
        (b"<!-- " + b"<div>" * 1_001 + b" -->", ""),
        (b"<script>" + b"<div>" * 1_001 + b"</script>", ""),
        (b"<a " + b" ".join(b"a%d=''" % i for i in range(500)) + b">", ""),
        (b"<a " + b"/".join(b"a%d=''" % i for i in range(501)) + b">", "a tag has more than 500 attributes"),
        (b"<b " + b" ".join(b"a%d" % i for i in range(501)) + b">x</b>", "a tag has more than 500 attributes"),
        (b'<b ="' + b" a" * 501 + b'">x</b>', "a tag has more than 500 attributes"),
        (b"<title><b </title><a c='>' " + b"a " * 501 + b">x</a>", "a tag has more than 500 attributes"),
        (b"<img src=data:image/png;base64," + b"a/" * 2_000 + b">", ""),
        (b"<img src='" + b"x a=b " * 70_000 + b"'>", ""),
        (b"".join(b"<body a%d b%d>" % (i, i) for i in range(251)), "an element has more than 500 attributes"),
    ],
)
def test_markup_that_would_cost_too_much_is_named(page: bytes, words: str) -> None:
    assert markup.parser_risk(page) == words


@pytest.mark.parametrize(
    ("style", "declared"),
    [
        ("display:none", {"display": "none"}),
        ("DISPLAY : None ; visibility:Hidden", {"display": "none", "visibility": "hidden"}),
        ("display:none;display:block", {"display": "block"}),
        ("display:none ! important", {"display": "none"}),
        ("display:none!important;display:block", {"display": "none"}),
        ("--a:{display:none};visibility:visible", {"visibility": "visible"}),
        ("background:url(a;display:none)", {}),
        ("display/**/:/*;*/none/*x*/", {"display": "none"}),
        ("color", {}),
    ],
)
def test_of_a_style_the_last_valid_important_declaration_counts(style: str, declared: dict[str, str]) -> None:
    assert markup.styles(style) == declared


@pytest.mark.ci
@pytest.mark.parametrize(
    "unit",
    [
        *(
            b"<a ",
            b"</a ",
            b"<",
            b"<!--",
            b"<!",
            b"<?",
            b"<a>",
            b"</a>",
            b"<p>",
            b'<a b="',
            b"<a b=",
            b"<a = = ",
            b"<a b='",
            b"<a b c ",
            b"<a b='x'c>",
            b"<b>x",
            b"<b>x</b",
            b"<b b='</b>'>x</b>",
            b"<bb>x</b>",
            b"&#9",
        ),
        *(b"<script>", b"<script></scrip", b"<script></script ", b"<title></titl", b"<title></title>", b"\xff"),
        *(b"\0", b"<svg><title>x</title></svg>", b"<![CDATA[", b"<p a='\">", b"x ", b"<body a>", b"<a/b/c/d "),
    ],
)
def test_passes_are_linear(unit: bytes) -> None:
    """Four times the page takes about four times as long; sixteen times would be a pass that looks back."""

    def cost(page: bytes) -> float:
        best = 1e9
        for _ in range(2):
            start = time.process_time()
            markup.parser_risk(page)
            markup.title(page)
            markup.readable(page)
            best = min(best, time.process_time() - start)
        return best

    page = endless(unit)
    assert cost(page) < 10 * cost(page[: MIB // 4]) + 0.05


def test_a_doctype_is_not_text() -> None:
    assert markup.text(b"\n<!DOCTYPE html><title>x</title><p>Words", 100) == "Words"
    assert markup.text(b"<p>a <!doctype", 100).startswith("a")
