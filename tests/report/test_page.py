"""The HTML page is one whole, well-formed file without scripts or requests, whatever the texts of a site."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from aui_tui.model.card import Index, ReportCard
from aui_tui.report.export import write_cards, write_listing
from aui_tui.text import clean
from tests.cards import DEAD, INDEX, RICH_OPEN, SAMPLES, WALLED, cards, indexes, listing_of
from tests.cli.runner import ROOT
from tests.report.hostile import PAYLOADS, hostile

VOID = {"meta"}
ELEMENTS = {
    *VOID,
    *("html", "head", "title", "style", "body", "main", "article", "h1", "h2", "h3", "p", "a", "time", "span"),
    *("div", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "pre", "code", "strong", "section", "small"),
    *("dl", "dt", "dd", "svg", "g", "rect", "line", "text", "circle", "polygon"),
}
ATTRIBUTES = {
    *("lang", "charset", "http-equiv", "name", "content", "class", "href", "rel", "scope", "datetime", "tabindex"),
    *("id", "role", "aria-label", "aria-labelledby", "aria-hidden", "data-label", "viewbox", "preserveaspectratio"),
    *("x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "rx", "points", "width", "height", "fill"),
    *("text-anchor", "font-size", "font-weight"),
}


class Checker(HTMLParser):
    """Reads a page and fails on what we never write: other elements or attributes, crossed or open tags."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.text: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ELEMENTS, tag
        names = [name for name, _ in attrs]
        assert set(names) <= ATTRIBUTES, names
        assert len(set(names)) == len(names)
        assert all(value is not None for _, value in attrs)
        self.links += [value or "" for name, value in attrs if name == "href" and not (value or "").startswith("#fix-")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text.append(data)


def read(page: str) -> Checker:
    """Return the page's texts and links. Fails when it is not well formed."""
    assert page.startswith("<!DOCTYPE html>\n")
    assert "<script" not in page
    assert "url(" not in page
    assert "@import" not in page
    checker = Checker()
    checker.feed(page)
    checker.close()
    assert checker.open == []
    return checker


def page_of(*written: ReportCard) -> str:
    return "".join(write_cards("html", written))


@pytest.mark.parametrize("text", PAYLOADS)
def test_a_hostile_text_is_shown_and_does_nothing(text: str) -> None:
    found = read(page_of(hostile(text)))
    shown = " ".join(" ".join(found.text).split())
    assert " ".join(clean(text).split()) in shown
    assert found.links == ["https://tickets.example"]


@settings(max_examples=12)
@given(cards())
def test_any_card_is_well_formed(card: ReportCard) -> None:
    read(page_of(card))


@pytest.mark.ci
@settings(max_examples=8)
@given(indexes())
def test_any_index_is_well_formed(index: Index) -> None:
    read("".join(write_listing("html", listing_of(index))))


@pytest.mark.parametrize(
    ("host", "link"),
    [
        ("shop.example", "https://shop.example"),
        ("http://plain.example:8080", "http://plain.example:8080"),
        ("localhost:8000", None),
        ("javascript:alert(1)", None),
        ("x.example/path", None),
        ('x"onmouseover="y', None),
    ],
)
def test_only_a_canonical_host_becomes_a_link(host: str, link: str | None) -> None:
    found = read(page_of(replace(RICH_OPEN, host=host)))
    assert found.links == ([link] if link else [])
    assert host in found.text


HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-{digest}'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main class="wrap">
"""


@pytest.mark.parametrize(
    ("page", "title"),
    [
        (page_of(RICH_OPEN), "shop.example: Agentic Usability Index"),
        (page_of(WALLED), "tickets.example: Agentic Usability Index"),
        (page_of(DEAD), "gone.example: Agentic Usability Index"),
        (
            "".join(write_listing("html", listing_of(INDEX, "Retail & Tickets"))),
            "Agentic Usability Index: Retail &amp; Tickets",
        ),
    ],
    ids=["open", "walled", "dead", "index"],
)
def test_the_head_names_the_page_and_admits_its_own_style_sheet_alone(page: str, title: str) -> None:
    style = f"\n{(ROOT / 'aui_tui/report/page.css').read_text('utf-8').strip()}\n"
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert page.startswith(HEAD.format(digest=digest, title=title, style=style))
    assert "prefers-color-scheme: dark" in style


def test_several_cards_are_one_document() -> None:
    found = read(page_of(*SAMPLES, DEAD))
    assert {"shop.example", "tickets.example", "gone.example"} <= set(found.text)
    read(page_of())


def test_no_colour_stands_alone() -> None:
    for kind, body in re.findall(r'<span class="(\w+)">([^<]*)<', page_of(WALLED)):
        assert body.strip(" ✗!✓?"), kind
