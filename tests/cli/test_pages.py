"""``scan --page``: who gets other pages than the homepage, with the same control; never scored."""

from __future__ import annotations

import asyncio
import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from tests.cli.runner import Result, here
from tests.faults.site import PAGE, Asked, Site, answer, good

SCHEMA = json.loads(files("aui_tui.model").joinpath("schemas/card.schema.json").read_text(encoding="utf-8"))
CARD = jsonschema.Draft202012Validator(SCHEMA)
PRODUCT = "/product/1?size=m"
AGENTS = ("ChatGPT-User", "Claude-User", "Google-Agent", "Perplexity-User")


async def shop(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """A shop whose homepage and help are open to all, and whose product pages refuse Claude and Perplexity."""
    agent = asked.field("user-agent")
    if asked.path.startswith("/product"):
        away = "Claude-User" in agent or "Perplexity-User" in agent
        writer.write(answer(b"no", "403 Forbidden") if away else answer(PAGE))
    elif asked.path == "/help":
        writer.write(answer(PAGE))
    else:
        await good(asked, writer)
    await writer.drain()


async def run(home: Path, *arguments: str) -> Result:
    return await asyncio.to_thread(lambda: here(home, *arguments))


async def test_a_page_that_is_closed_to_agents_is_shown_and_not_scored(tmp_path: Path) -> None:
    async with Site(default=shop) as site:
        url = f"http://127.0.0.1:{site.port}"
        plain = await run(tmp_path, "scan", url, "--json")
        pages = ("--page", PRODUCT, "--page", f"{url}/help#top", "--page", "/gone", "--page", "/")
        found = await run(tmp_path, "scan", url, *pages, "--json")
        requests = len(site.asked)
        kept = (*pages, "--cached")
        cached = await run(tmp_path, "scan", url, *kept, "--json")
        slots = await run(tmp_path, "scan", url, *kept, "--json", "--set", "json_keys=slots")
        text = await run(tmp_path, "scan", url, *kept)
        assert len(site.asked) == requests
        gate = await run(tmp_path, "scan", url, "--page", PRODUCT, "--fail-on", "critical")
        assert len(site.asked) > requests
    assert [one.code for one in (plain, found, cached, slots, text, gate)] == [0, 0, 0, 0, 0, 1]
    card, before = json.loads(found.out), json.loads(plain.out)
    CARD.validate(card)
    assert "pages" not in before
    assert (card["score"], card["stance"], card["matrix"]) == (before["score"], before["stance"], before["matrix"])
    assert card["pages"] == json.loads(cached.out)["pages"]
    by_path = {page["path"]: page for page in card["pages"]}
    assert list(by_path) == [PRODUCT, "/help", "/gone"]
    outcomes = {agent: answer["outcome"] for agent, answer in by_path[PRODUCT]["agents"].items()}
    assert outcomes == dict(zip(AGENTS, ("served", "refused", "served", "refused"), strict=True))
    assert {answer["outcome"] for answer in by_path["/help"]["agents"].values()} == {"served"}
    assert by_path["/gone"]["status"] == 404
    assert {answer["outcome"] for answer in by_path["/gone"]["agents"].values()} == {"inconclusive"}
    said = [line["text"] for line in card["evidence"] if "product" in line["text"]]
    assert said == [
        f"At “{PRODUCT}” Claude and Perplexity get 403 Forbidden while a browser gets that page (200), asked again"
        " alone, with a browser served right before and after. Not scored."
    ]
    assert list(json.loads(slots.out)["pages"][0]["agents"]) == ["agent_01", "agent_02", "agent_03", "agent_04"]
    assert "Pages, not scored" in text.out
    assert f"{PRODUCT}" in text.out


async def test_an_answer_kept_without_the_pages_is_not_taken_for_one_with_them(tmp_path: Path) -> None:
    async with Site(default=shop) as site:
        url = f"http://127.0.0.1:{site.port}"
        await run(tmp_path, "scan", url)
        before = len(site.asked)
        await run(tmp_path, "scan", url, "--page", "/help")
        assert {asked.path for asked in site.asked[before:]} >= {"/", "/help"}
        before = len(site.asked)
        kept = await run(tmp_path, "scan", url, "--json", "--cached")
        assert len(site.asked) == before
    assert "pages" not in json.loads(kept.out)


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("https://other.example/product", "“https://other.example/product” is not a page of 127.0.0.1"),
        ("//other.example/product", "is not a page; write a path such as /product/1"),
        ("http://127.0.0.1:1/product", "is not a page of 127.0.0.1"),
        ("product/1", "“product/1” is not a page; write a path"),
        ("ftp://127.0.0.1/x", "is not a page; write a path"),
        ("", "--page is empty"),
        ("/a\nb", "is not a page; write a path"),
    ],
)
async def test_a_page_of_another_host_is_one_sentence_before_any_request(tmp_path: Path, page: str, said: str) -> None:
    async with Site(default=shop) as site:
        result = await run(tmp_path, "scan", f"http://127.0.0.1:{site.port}", "--page", page)
        assert site.opened == 0
    assert (result.code, result.out) == (2, "")
    assert said in result.sentence


async def test_the_path_of_the_address_is_asked_as_a_page_beside_the_homepage(tmp_path: Path) -> None:
    async with Site(default=shop) as site:
        found = await run(tmp_path, "scan", f"http://127.0.0.1:{site.port}/help?x=1#top", "--json")
    assert [page["path"] for page in json.loads(found.out)["pages"]] == ["/help?x=1"]
    assert json.loads(found.out)["score"] is not None
