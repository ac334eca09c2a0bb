"""Words that a plan leaves to the owner: marked in its texts, and named by the next scan where they were left in."""

from __future__ import annotations

import pytest

from aui_tui.checks.scoring import grade_card
from aui_tui.model.card import ReportCard
from aui_tui.model.observations import PLACEHOLDER
from aui_tui.scan.parser_process import ParserProcess
from tests.faults.lab import scan
from tests.faults.site import PAGE, Asked, Site, answer, good


async def scanned(
    parser: ParserProcess, llms: bytes, page: bytes = PAGE, robots: bytes = b"User-agent: *\nAllow: /\n"
) -> ReportCard:
    async def behave(asked: Asked, writer: object) -> None:
        found = {
            "/": answer(page, content_type="text/html; charset=utf-8"),
            "/llms.txt": answer(llms, "200 OK" if llms else "404 Not Found", "text/plain"),
            "/robots.txt": answer(robots, content_type="text/plain"),
        }
        if asked.path not in found:
            await good(asked, writer)  # type: ignore[arg-type]
            return
        writer.write(found[asked.path])  # type: ignore[attr-defined]
        await writer.drain()  # type: ignore[attr-defined]

    async with Site(default=behave) as site:
        return grade_card(await scan(site, parser))


def told(card: ReportCard) -> list[str]:
    return [line.text for line in card.evidence if PLACEHOLDER in line.text]


async def test_words_that_were_left_in_are_named_and_cost_nothing(parser: ParserProcess) -> None:
    drafted = b"# Shop\n\n- [Home](/): " + PLACEHOLDER.encode() + b" by what a visitor can do\n"
    page = PAGE.replace(b"<main>", b"<main><p>" + PLACEHOLDER.encode() + b" by a list</p>")
    left, written = await scanned(parser, drafted, page), await scanned(parser, b"# Shop\n\n- [Home](/): lamps\n")
    assert [text.split(" still says")[0] for text in sorted(told(left))] == ["The homepage", "shop.test/llms.txt"]
    assert told(written) == []
    assert left.score == written.score


@pytest.mark.parametrize("named", [b"", b"Sitemap: http://shop.test/all.xml\n"])
async def test_a_drafted_index_names_a_sitemap_only_where_there_is_one(parser: ParserProcess, named: bytes) -> None:
    card = await scanned(parser, b"", robots=b"User-agent: *\nAllow: /\n" + named)
    fix = next(fix for fix in card.recommendations if "llms" in fix.title.lower())
    assert PLACEHOLDER in fix.code
    assert ("http://shop.test/all.xml" in fix.code) == bool(named)
    assert ("sitemap" in fix.code.lower()) == bool(named)
