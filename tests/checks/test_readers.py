"""The card says what fetch tools of open agents make of a page, by the table of those that were run."""

from __future__ import annotations

from msgspec.structs import replace

from aui_tui.checks.scoring import grade_card
from aui_tui.model.observations import BROWSER, Hop, Observations, PageFacts
from aui_tui.model.open_agents import table
from aui_tui.scan import page
from tests.scan import situations as site


def said(seen: Observations, word: str) -> list[str]:
    return [finding.text for finding in grade_card(seen).findings if word in finding.text]


def through(*hops: Hop) -> Observations:
    return site.site(replace(site.probe(BROWSER), hops=hops))


def test_thirteen_tools_were_run_and_only_they_are_counted() -> None:
    assert len(table().tool) == 13
    assert len({tool.key for tool in table().tool}) == 13


def test_a_page_behind_a_refresh_is_one_that_no_reader_gets() -> None:
    [sentence] = said(through(Hop(url="https://shop.example/", status=200, location="/shop", letters=88)), "by itself")
    assert sentence == (
        "The homepage comes after a page that sends its reader on by itself (https://shop.example/): none of the 13"
        " open readers that we ran follows that. They get 88 letters of that page."
    )


def test_readers_stop_at_redirects() -> None:
    def hops(number: int) -> list[str]:
        return said(
            through(*(Hop(url="https://shop.example/", status=302, location="/") for _ in range(number))), "stop"
        )

    assert hops(2) == []
    assert hops(3) == [
        "The homepage comes after 3 redirects: 1 of 13 open readers that we ran stop earlier, one after 2."
    ]
    assert hops(12) == [
        "The homepage comes after 12 redirects: 4 of 13 open readers that we ran stop earlier, one after 2."
    ]


def test_a_charset_in_a_meta_element_alone_gives_some_readers_wrong_letters() -> None:
    html = (
        '<html><head><meta charset="windows-1251"><title>Кофе</title></head><body><p>Кофейня у моря</p></body></html>'
    )
    alone = page.read(html.encode("cp1251"), "text/html").facts
    assert said(site.site(page=alone), "meta element") == [
        "The charset windows-1251 of the homepage stands in a meta element alone: 5 of 13 open readers that we ran get"
        " wrong letters. Send it in the field: Content-Type: text/html; charset=windows-1251."
    ]
    sent = page.read(html.encode("cp1251"), "text/html; charset=windows-1251").facts
    assert not said(site.site(page=sent), "meta element")
    plain = page.read(b'<meta charset="windows-1251"><p>Coffee by the sea', "text/html").facts
    assert not said(site.site(page=plain), "meta element")


def test_a_long_page_is_cut_by_some_readers() -> None:
    def readable(letters: int) -> str:
        [sentence] = said(site.site(page=PageFacts(title="Books", readable=letters)), "readable character")
        return sentence

    assert readable(5000) == "The homepage has 5,000 readable characters without scripts."
    assert readable(5001) == (
        "The homepage has 5,001 readable characters without scripts; 1 of 13 open readers that we ran cuts it after"
        " 5,000."
    )
    assert readable(200_286) == (
        "The homepage has 200,286 readable characters without scripts; 3 of 13 open readers that we ran cut it after"
        " 5,000, 40,000 and 100,000."
    )


def test_a_homepage_of_markdown_is_text_for_most_readers() -> None:
    browser = replace(site.probe(BROWSER), headers=(("content-type", "text/markdown; charset=utf-8"),))
    facts = page.read(b"# Books\n\nBy the quay.", "text/markdown; charset=utf-8").facts
    assert said(site.site(browser, page=facts), "Markdown") == [
        "The homepage is Markdown for everybody, so nothing of its HTML is measured. 10 of 13 open readers that we ran"
        " give its text, 3 nothing."
    ]


def test_a_page_without_json_ld_hears_what_it_is_for() -> None:
    [sentence] = said(site.site(page=PageFacts(title="Books", readable=400)), "JSON-LD, from")
    assert "search engines" in sentence
    assert "12 of 13 open readers that we ran drop it" in sentence
