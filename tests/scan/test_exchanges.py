"""Walls that answer 200, sites whose pages differ for other reasons, as real servers on loopback; files for agents."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
from collections.abc import Callable, Mapping

import pytest

from aui_tui.checks.scoring import grade_card
from aui_tui.model.observations import BROWSER, Observations
from aui_tui.model.vocabulary import CHALLENGED, SERVED
from aui_tui.scan import agent_files
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.scan import observe
from tests.faults.site import AGENTS, Asked, Behaviour, Site, answer, good

CLOSE = b"Connection: close\r\n"
Pages = Callable[[Asked], bytes]
WORDS = (
    *("bread", "rolls", "cakes", "coffee", "morning", "market", "street", "order", "online", "delivery", "wedding"),
    *("birthday", "sourdough", "rye", "spelt", "butter", "croissant", "family", "bakers", "team", "jobs", "contact"),
    *("map", "parking", "garden", "terrace", "breakfast", "lunch", "catering", "voucher"),
)
OTHER_WORDS = " ".join(word[::-1] for word in WORDS * 9)


def html(text: str, title: str = "Bakery", attributes: str = "") -> bytes:
    return answer(f"<html{attributes}><title>{title}</title><main><h1>{title}</h1><p>{text}</p></main>".encode())


def prose(seed: int, count: int = 300) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=count))


def redirect(to: str, cookie: bytes = b"") -> bytes:
    return answer(b"", "302 Found", extra=b"Location: " + to.encode() + b"\r\n" + cookie)


def serving(pages: Pages) -> Behaviour:
    """Return a site whose pages come from ``pages``, and whose files are in place."""

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.place not in (BROWSER, *AGENTS):
            await good(asked, writer)
            return
        page = pages(asked)
        writer.write(page)
        await writer.drain()
        if CLOSE in page:
            writer.close()

    return behave


def for_agents(page: Pages, home: Pages, only: frozenset[str] = frozenset(AGENTS)) -> Pages:
    return lambda asked: page(asked) if asked.place in only else home(asked)


async def scanned(pages: Pages) -> Observations:
    async with ParserProcess() as parser, Site(default=serving(pages)) as site:
        return await observe(site.target, parser=parser, access=site.access())


def bakery(asked: Asked) -> bytes:
    """The homepage with what differs from request to request on most sites."""
    token = random.randbytes(16).hex()
    return html(f"{prose(1)} <i>Visit {token}</i><input type=hidden value={token}>", attributes=" lang=en")


def moved(asked: Asked) -> bytes:
    if asked.path == "/blocked":
        return html("We are sorry. Please call us when you think that this is wrong.", "Blocked")
    return redirect("/blocked")


WALLS: Mapping[str, Pages] = {
    "an empty body": lambda asked: answer(b""),
    "no content": lambda asked: b"HTTP/1.1 204 No Content\r\n\r\n",
    "an empty page": lambda asked: answer(b"<html><head><title></title></head><body></body></html>"),
    "a block page": lambda asked: html("Your request looks automated.", "Access denied"),
    "a block page in another language": lambda asked: html("Доступ закрыт для роботов", "Ошибка"),
    "a line of text": lambda asked: answer(b"Go away.", content_type="text/plain"),
    "a redirect to a block page": moved,
    "a page that is cut off before its text": lambda asked: answer(b"<p>" + b" " * 9000, extra=CLOSE)[:-8000],
    "a picture": lambda asked: answer(b"\x89PNG\r\n", content_type="image/png"),
    "the homepage’s title and length without its text": lambda asked: answer(
        b"<html><title>Bakery</title><main>Sorry, automated requests are not served.<!--" + b"x" * 9000 + b"-->"
    ),
    "an invented page as long as the homepage": lambda asked: html(OTHER_WORDS, "A guide", " lang='en-GB'"),
    "a refresh to elsewhere": lambda asked: answer(b"<meta http-equiv=refresh content='0;url=/wait'>"),
}


@pytest.mark.parametrize("wall", WALLS)
async def test_a_wall_with_status_200_is_found(wall: str) -> None:
    observed = await scanned(for_agents(WALLS[wall], bakery))
    assert [probe.outcome for probe in observed.homepages] == [SERVED, *[CHALLENGED] * 4]
    card = grade_card(observed)
    assert (card.stance, card.live_served, card.human_challenged) == ("Walled", 0, False)
    assert all(access.challenged for access in card.agent_access.values())
    assert card.score <= 59


@pytest.mark.parametrize("wall", ["an empty body", "a redirect to a block page"])
async def test_a_wall_for_one_agent_is_found(wall: str) -> None:
    observed = await scanned(for_agents(WALLS[wall], bakery, frozenset(AGENTS[:1])))
    assert [probe.outcome for probe in observed.live] == [CHALLENGED, SERVED, SERVED, SERVED]
    assert grade_card(observed).stance == "Selective"


async def test_a_small_homepage_is_enough_to_tell_a_page_that_says_that_it_blocks() -> None:
    small = html("Our bread, our rolls and our cakes are on sale in the market street.")
    observed = await scanned(for_agents(moved, lambda asked: small))
    assert {probe.outcome for probe in observed.live} == {CHALLENGED}


async def test_an_empty_answer_beside_an_app_that_needs_scripts_is_a_wall() -> None:
    shell = answer(b"<title>App</title><div id=root></div><script src=/a.js></script>")
    observed = await scanned(for_agents(WALLS["an empty body"], lambda asked: shell))
    assert {probe.outcome for probe in observed.live} == {CHALLENGED}


@pytest.mark.ci
async def test_the_evidence_quotes_the_title_and_counts_what_there_is_to_read() -> None:
    texts = [line.text for line in grade_card(await scanned(for_agents(moved, bakery))).evidence]
    assert any("another page" in text and "“Blocked”" in text and "/blocked" in text for text in texts), texts
    texts = [line.text for line in grade_card(await scanned(for_agents(WALLS["an empty body"], bakery))).evidence]
    assert any("nothing to read" in text for text in texts), texts
    texts = [line.text for line in grade_card(await scanned(for_agents(WALLS["a line of text"], bakery))).evidence]
    assert any("“Go away.”" in text for text in texts), texts


def rotating() -> Pages:
    """Another page for each request, long or short."""
    pages = itertools.cycle([html(prose(1)), html("Closed on Mondays."), html(OTHER_WORDS)])
    return lambda asked: next(pages)


def split_test() -> Pages:
    """An A/B test by chance, with a sparse variant."""
    sides = random.Random(7)
    return lambda asked: html(prose(1)) if sides.random() < 0.5 else html("Something new is baking", "Soon")


def cookie(asked: Asked) -> bytes:
    if "seen=1" in asked.field("cookie"):
        return html(prose(1))
    return redirect(asked.path, b"Set-Cookie: seen=1; Path=/\r\n")


def greeting(asked: Asked) -> bytes:
    return html(f"Good morning, visitor {random.randrange(10**9)}. {prose(1)}", f"Hello {random.randrange(99)}")


def advertising(asked: Asked) -> bytes:
    banner = " ".join(random.choices([word[::-1] for word in WORDS], k=80))
    return html(f"{prose(1)} <aside>{banner}</aside>")


VARIED: Mapping[str, Callable[[], Pages]] = {
    "the same page": lambda: bakery,
    "rotating pages": rotating,
    "an A/B test": split_test,
    "a cookie redirect": lambda: cookie,
    "a greeting": lambda: greeting,
    "advertisements": lambda: advertising,
    "a light version": lambda: for_agents(lambda asked: html(prose(1, 30), "Bakery, light"), bakery),
    "Markdown for agents": lambda: for_agents(
        lambda asked: answer(f"# Bakery\n\n{prose(1, 40)}\n".encode(), content_type="text/markdown"), bakery
    ),
    "a page of its own in Markdown": lambda: for_agents(
        lambda asked: answer(b"# For agents\n\nAsk [us](https://api.shop.test/v1).", content_type="text/markdown"),
        bakery,
    ),
    "another language": lambda: for_agents(lambda asked: html(OTHER_WORDS, "Boulangerie"), bakery),
    "the same shell": lambda: lambda asked: answer(b"<title>App</title><div id=root></div><script src=/a.js></script>"),
    "plain text": lambda: for_agents(
        lambda asked: answer(f"What we sell. {OTHER_WORDS[:400]}".encode(), content_type="text/plain"), bakery
    ),
    "JSON": lambda: for_agents(
        lambda asked: answer(b'{"shop": "Gnitset", "hours": "8-18"}', content_type="application/json"), bakery
    ),
    "a redirect to /llms.txt": lambda: for_agents(
        lambda asked: (
            redirect("/llms.txt")
            if asked.path == "/"
            else answer(f"# Shop\n\n{OTHER_WORDS[:400]}".encode(), content_type="text/plain")
        ),
        bakery,
    ),
    "a summary in HTML": lambda: for_agents(lambda asked: html(prose(1, 12), "Bakery in short"), bakery),
    "a light version with a log-in": lambda: for_agents(
        lambda asked: html(f"{prose(1, 30)}<form><input type=password></form>", "Bakery, light"), bakery
    ),
    "a chooser of countries": lambda: for_agents(
        lambda asked: html("".join(f"<a href='/{code}/'>{code}</a>" for code in ("de", "fr", "es", "it")), "Where?"),
        bakery,
    ),
}


@pytest.mark.parametrize("site", VARIED)
async def test_a_page_that_differs_for_another_reason_is_served(site: str) -> None:
    observed = await scanned(VARIED[site]())
    assert {probe.outcome for probe in observed.homepages} == {SERVED}
    assert grade_card(observed).stance == "Open"


async def test_a_healthy_site_is_asked_no_more_often() -> None:
    async with ParserProcess() as parser, Site(default=serving(bakery)) as site:
        await observe(site.target, parser=parser, access=site.access())
        assert sum(asked.place in (BROWSER, *AGENTS) for asked in site.asked) == 1 + len(AGENTS)


async def test_what_differs_is_said_where_the_page_is_served_all_the_same() -> None:
    def light(asked: Asked) -> bytes:
        return redirect("/text") if asked.path == "/" else html(prose(1, 30), "Bakery, text only")

    card = grade_card(await scanned(for_agents(light, bakery)))
    found = [line for line in card.evidence if "/text" in line.text]
    assert len(found) == 1
    assert found[0].t == "warn"
    assert "“Bakery, text only” instead of “Bakery”" in found[0].text
    assert "readable characters instead of" in found[0].text
    assert not [line for line in grade_card(await scanned(bakery)).evidence if "instead of" in line.text]


def test_llms_txt_is_markdown_text_that_begins_with_a_heading() -> None:
    assert agent_files.check("llms", b"\xef\xbb\xbf\n# Shop\n\n> Sells.\n", "text/plain", 200).found
    assert not agent_files.check("llms", b"<!DOCTYPE html><h1># Shop</h1>", "text/plain", 200).found
    assert not agent_files.check("llms", b"# Shop", "text/html; charset=utf-8", 200).found
    assert not agent_files.check("llms", b"## Shop\n# Later", "text/plain", 200).found
    assert not agent_files.check("llms", b"# Shop", "text/plain", 200, path_unchanged=False).found
    wrong = agent_files.check("llms", b"# Shop", "text/html; charset=utf-8", 200)
    assert wrong.note == "/llms.txt is Markdown sent as text/html: send it as text/plain or text/markdown"
    assert agent_files.check("llms", b"## Sh", "text/plain", 200, cut=True) == agent_files.FileCheck(False, unseen=True)
    assert agent_files.check("llms", b"# Shop", "text/plain", 404) == agent_files.FileCheck(False)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# 404 Not Found\n", False),
        ("# Not Found\n\nThe page you asked for is gone.\n", False),
        ("# Page not found on shop.example", False),
        ("# Error\n", False),
        ("# Error 500", False),
        ("---\ntitle: x\n---\n# 404\n", False),
        ("# Seite nicht gefunden\n", False),
        ("# Página no encontrada\n", False),
        ("# ページが見つかりません\n", False),
        ("# Errore 404\n\nPagina inesistente.\n", False),
        ("# Erro 404\n", False),
        ("# Sidan kunde inte hittas\n", False),
        ("# 페이지를 찾을 수 없습니다\n", False),
        ("# We'll be back soon\n\nScheduled maintenance.\n", False),
        ("# Oops! Something went wrong\n", False),
        ("# Access Denied\n\nYou don't have permission.\n", False),
        ("# Forbidden\n", False),
        ("# Fehler\n", False),
        ("# 404 Media\n\n> Journalism.\n", True),
        ("# 500 Startups\n\n> Money.\n", True),
        ("# Forbidden Planet\n\n> Comics.\n", True),
        ("# Maintenance Depot\n\n> Tools.\n", True),
        ("# Acme Status, the maintenance mode plugin for WordPress\n", True),
        ("# Docs of the library that reports when a page was not found\n", True),
        ("# Error Handling in Go\n\n> A course.\n", True),
        ("# Not found\n" + "- [A page](/a): what it is\n" * 80, True),
    ],
)
def test_an_error_page_is_no_llms_txt(text: str, found: bool) -> None:
    assert agent_files.check("llms", text.encode(), "text/markdown", 200).found is found


def test_ai_plugin_is_an_object_with_its_name_and_api() -> None:
    good = {"schema_version": "v1", "name_for_model": "shop", "api": {"type": "openapi", "url": "/a"}}
    assert agent_files.check("ai-plugin", json.dumps(good).encode(), "application/json", 200).found
    finding = agent_files.check("ai-plugin", b'{"schema_version":"v1"}', "application/json", 200)
    assert finding.note == "/.well-known/ai-plugin.json has no name_for_model and no api"
    for body in (b"", b"[]", b"<html>", b"{", b"[" * 100_000, b'{"a": NaN}'):
        finding = agent_files.check("ai-plugin", body, "application/json", 200)
        assert not finding.found
        assert finding.note


@pytest.mark.parametrize(
    ("name", "data", "found"),
    [
        ("ucp", {"ucp": {"version": "2026-01-11", "services": {"dev.ucp.shopping": {"rest": {}}}}}, True),
        ("ucp", {"ucp": {"version": "2026-01-23", "services": {"dev.ucp.shopping": [{"transport": "rest"}]}}}, True),
        ("ucp", {"ucp": {"version": "2026-01-23", "services": {"dev.ucp.shopping": {"rest": {}}}}}, False),
        ("ucp", {"ucp": {"version": "2026-01-23", "services": {"dev.ucp.shopping": [{}]}}}, False),
        ("ucp", {"ucp": {"version": "2026-01-11", "services": {}}}, False),
        ("ucp", {"ucp": {"version": "2026-01-11", "services": {"dev.ucp.shopping": {}}}}, False),
        ("ucp", {"ucp": {"version": "1.0", "services": {"dev.ucp.shopping": {"rest": {}}}}}, False),
        ("ucp", {"ucp": {"version": "2026-01-11", "services": []}}, False),
        ("ucp", {"ucp": []}, False),
        ("ucp", {}, False),
        ("mcp", {"name": "x", "version": "1"}, False),
        ("mcp", {"name": "x", "remotes": []}, False),
        ("mcp", {"name": "x", "remotes": [{}]}, False),
        ("mcp", {"name": "x", "remotes": [{"type": "streamable-http", "url": "https://x/mcp"}]}, True),
        ("mcp", {"name": "x", "packages": [{"registryType": "npm", "identifier": "@x/mcp"}]}, True),
        ("mcp", {"name": "x"}, False),
        ("mcp", {"serverInfo": {}}, False),
        ("mcp", {"serverInfo": {"name": "x"}, "transport": {"type": "streamable-http", "endpoint": "/mcp"}}, True),
        ("mcp", {"servers": []}, False),
        ("mcp", {"servers": [{"url": "https://x/mcp"}]}, True),
        ("mcp", {"mcpServers": {}}, False),
        ("mcp", {"mcpServers": {"x": {"command": "npx"}}}, True),
        ("mcp", {"version": "1"}, False),
    ],
)
def test_a_ucp_profile_names_its_version_and_services_and_an_mcp_card_its_servers(
    name: str, data: object, found: bool
) -> None:
    assert agent_files.check(name, json.dumps(data).encode(), "application/json", 200).found is found


async def test_the_kept_text_of_a_page_is_read_in_the_pages_own_encoding() -> None:
    words = "Хлеб и булочки каждое утро"
    page = f"<title>Пекарня</title><main><p>{words}</p></main>".encode("windows-1251")
    observed = await scanned(lambda asked: answer(page, content_type="text/html; charset=windows-1251"))
    assert observed.browser.title == "Пекарня"
    assert observed.browser.text == words
