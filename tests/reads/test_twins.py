"""A version in Markdown beside the page: found by link, Accept and name, and told where its facts are other ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aui_tui.checks.scoring import grade_card
from aui_tui.model.observations import Observations
from aui_tui.model.reads import Reads, Twin
from aui_tui.model.report import HostReport
from aui_tui.reads.reading import twin
from aui_tui.report.sections import sections
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.scan import observe
from tests.faults.behaviours import sends
from tests.faults.site import QUICK, Asked, Behaviour, Site, answer, good

WORDS = "<p>We sell second-hand books by the quay, and everybody who walks along is welcome to look.</p>" * 6
LINK = '<link rel="alternate" type="text/markdown" href="/shop.md">'
PAGE = (
    f"<!doctype html><html lang=en><title>Shop</title>{LINK}<main><h1>Shop</h1>{WORDS}<p>Maps cost € 29.50.</p></main>"
)
SAME = b"# Shop\n\nMaps cost \xe2\x82\xac 29\\.50.\n"
OTHER = b"# Shop\n\nMaps cost \xe2\x82\xac 19.00. Write to quay@shop.example.\n"


def shop(markdown: bytes, *, kind: str = "text/markdown", page: str = PAGE) -> Behaviour:
    """Return a site with ``markdown`` at the address that its page names, for Accept, and as index.md."""

    async def behave(asked: Asked, writer: object) -> None:
        accepts = asked.path == "/" and asked.field("accept").startswith("text/markdown")
        if accepts or asked.path in ("/shop.md", "/index.md"):
            found: Behaviour = sends(answer(markdown, content_type=kind))
        else:
            found = sends(answer(page.encode(), content_type="text/html; charset=utf-8")) if asked.path == "/" else good
        await found(asked, writer)  # type: ignore[arg-type]

    return behave


async def reads_of(site: Site, parser: ParserProcess, *, ask: bool = False) -> tuple[Observations, Reads]:
    access = replace(site.access(replace(QUICK, whole=40.0)), open_agents=ask)
    found = await observe(site.target, parser=parser, access=access)
    assert found.reads is not None
    return found, found.reads


def said(found: Observations) -> str:
    [part] = [one for one in sections(HostReport(card=grade_card(found), observations=found)) if one.name == "reads"]
    return "\n".join(item.text for item in part.items if item.key == "reads-twin")


def test_facts_are_compared_however_markdown_writes_them() -> None:
    assert twin(PAGE.encode(), "text/html", SAME, "text/markdown").difference == ""
    found = twin(PAGE.encode(), "text/html", OTHER, "text/markdown")
    assert [fact.value for fact in found.lost] == ["29.50"]
    assert {fact.value for fact in found.added} == {"19.00", "quay@shop.example"}
    assert found.difference.startswith("lacks the price 29.50 and has the price 19.00")


async def test_the_version_that_the_page_names_is_read_with_every_scan(parser: ParserProcess) -> None:
    async with Site(default=shop(OTHER)) as site:
        found, reads = await reads_of(site, parser)
    assert [one.by for one in reads.twins] == ["the page names it"]
    assert sum(one.path.endswith(".md") for one in site.asked) == 1
    assert "lacks the price 29.50 and has the price 19.00" in said(found)
    [line] = [one for one in grade_card(found).findings if one.id == "readers-twin"]
    assert "agents that take it are told something else" in line.text


async def test_accept_and_the_name_are_tried_on_request_and_one_text_is_told_once(parser: ParserProcess) -> None:
    page = PAGE.replace(LINK, "")
    async with Site(default=shop(SAME, page=page)) as site:
        _, plain = await reads_of(site, parser)
        asked = len([one for one in site.asked if one.path.endswith(".md")])
        found, reads = await reads_of(site, parser, ask=True)
    assert (plain.twins, asked) == ((), 0)
    assert [one.by for one in reads.twins] == ["Accept: text/markdown"]
    assert "its facts are those of the page" in said(found)


@pytest.mark.parametrize(
    ("markdown", "kind", "link"),
    [
        (PAGE.encode(), "text/markdown", "/shop.md"),
        (b"", "text/markdown", "/shop.md"),
        (OTHER, "application/octet-stream", "/shop.md"),
        (OTHER, "text/markdown", "https://other.example/shop.md"),
        (OTHER, "text/markdown", "javascript:void(0)"),
        (OTHER, "text/markdown", "http://[::1"),
    ],
)
async def test_what_is_no_markdown_of_the_site_is_no_twin(
    parser: ParserProcess, markdown: bytes, kind: str, link: str
) -> None:
    async with Site(default=shop(markdown, kind=kind, page=PAGE.replace("/shop.md", link))) as site:
        found, reads = await reads_of(site, parser)
    assert reads.twins == ()
    assert "The page names a version in Markdown" in said(found)


async def test_a_large_pair_is_compared_in_the_worker(parser: ParserProcess) -> None:
    page = PAGE.replace(WORDS, WORDS * 200)
    async with Site(default=shop(OTHER, page=page)) as site:
        _, reads = await reads_of(site, parser)
    [one] = reads.twins
    assert isinstance(one, Twin)
    assert "lacks the price 29.50" in one.difference
