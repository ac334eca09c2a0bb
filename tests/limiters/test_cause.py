"""One planted rule at a time: the evidence names by what the site decides."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from aui_tui.checks.scoring import grade_card
from aui_tui.model.observations import Observations, Recording, decode_recording, encode_recording
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.scan import observe
from tests.faults.authority import Authority
from tests.faults.behaviours import sends
from tests.faults.h2_site import H2Site, Talk
from tests.faults.site import AGENTS, Asked, LoopbackSite, Site, answer, good
from tests.limiters import servers

LIMITS = replace(servers.LIMITS, probe=10.0, connect=5.0, budget=40.0, whole=80.0)
"""A slow machine has time for the cause too."""
REFUSE = sends(answer(b"no", "403 Forbidden"), close=False)
CHATGPT, CLAUDE, GOOGLE, PERPLEXITY = AGENTS
Rule = Callable[[Asked], bool]
HOMEPAGE_REQUESTS = 5


def lacks(name: str) -> Rule:
    return lambda asked: not asked.field(name)


def named(word: str) -> Rule:
    return lambda asked: word in asked.field("user-agent")


RULES: dict[str, tuple[Rule, str, tuple[str, ...]]] = {
    "one name": (named("Claude-User"), "name", ()),
    "every name": (lambda asked: "compatible;" in asked.field("user-agent"), "name", ()),
    "no Accept-Language": (lacks("accept-language"), "field", ("Accept-Language",)),
    "no Sec-Fetch": (lacks("sec-fetch-mode"), "field", ("Sec-Fetch",)),
    "no client hints": (lacks("sec-ch-ua"), "field", ("sec-ch-ua",)),
    "no Accept": (lacks("accept"), "field", ("Accept",)),
    "an Accept without HTML": (lambda asked: "html" not in asked.field("accept"), "field", ("Accept",)),
    "name and no Accept-Language": (
        lambda asked: named("Claude-User")(asked) and lacks("accept-language")(asked),
        "together",
        (),
    ),
}


async def look(site: LoopbackSite, parser: ParserProcess, cafile: str = "") -> Observations:
    found = await observe(site.target, parser=parser, access=site.access(LIMITS, cafile=cafile))
    assert decode_recording(encode_recording(Recording(observations=found))).observations.cause == found.cause
    return found


OTHER_NAMES = 4
"""Requests under an invented name and a search engine's, each at most twice."""


@pytest.mark.parametrize("rule", RULES)
async def test_the_evidence_names_what_the_site_decides_by(rule: str, parser: ParserProcess) -> None:
    planted, by, fields = RULES[rule]

    async def serve(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await (REFUSE if asked.path == "/" and planted(asked) else good)(asked, writer)

    async with Site(default=serve, host="localhost") as site:  # over plain HTTP, browsers send less elsewhere
        found = await look(site, parser)
        requests = [asked for asked in site.asked if asked.path == "/"]
    assert found.cause is not None
    assert (found.cause.by, found.cause.fields) == (by, fields)
    again = sum(len(exchange.attempts) for exchange in found.live)
    mixed = any(exchange.outcome == "served" for exchange in found.live)
    controls = 2 + 3 + 4 if mixed else 1 + 1  # an agent and the browser, which is asked more often from round to round
    assert len(requests) <= HOMEPAGE_REQUESTS + again + controls + 4 + OTHER_NAMES
    texts = [line.text for line in grade_card(found).evidence]
    assert any(text.startswith(("The site decides by", "The site does not decide by")) for text in texts)
    for field in fields:
        assert any(field in text for text in texts)


SORRY = b"<title>Sorry</title><h1>Sorry</h1><p>Automated requests are not served here.</p>"


@pytest.mark.parametrize(
    ("rule", "page"),
    [("one name", SORRY), ("every name", b""), ("no Accept-Language", SORRY)],
    ids=["one name, a block page", "every name, an empty page", "no Accept-Language, a block page"],
)
async def test_the_cause_of_a_block_page_with_status_200_is_named(
    rule: str, page: bytes, parser: ParserProcess
) -> None:
    planted, by, fields = RULES[rule]

    async def serve(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await (sends(answer(page)) if asked.path == "/" and planted(asked) else good)(asked, writer)

    async with Site(default=serve) as site:
        found = await look(site, parser)
    assert found.cause is not None
    assert (found.cause.by, found.cause.fields) == (by, fields)


@pytest.mark.ci
async def test_the_http_version_is_named(parser: ParserProcess, tmp_path: Path) -> None:
    async def h2_only(number: int, asked: Asked, writer: asyncio.StreamWriter) -> None:
        await (REFUSE if asked.path == "/" else good)(asked, writer)

    authority = Authority(tmp_path, "shop.test")
    async with H2Site(authority.server(), http11=h2_only) as site:
        found = await look(site, parser, authority.cafile)
    assert found.exchange(CLAUDE).status == 403
    assert found.cause is not None
    assert (found.cause.agents, found.cause.by, found.cause.fields) == ((CLAUDE,), "field", ("HTTP version",))


@pytest.mark.ci
async def test_over_http_2_a_name_is_named(parser: ParserProcess, tmp_path: Path) -> None:
    async def serve(talk: Talk) -> None:
        await talk.head("403", end=True)

    authority = Authority(tmp_path, "shop.test")
    async with H2Site(authority.server(), faults={CHATGPT: serve}) as site:
        found = await look(site, parser, authority.cafile)
    assert found.cause is not None
    assert (found.cause.agents, found.cause.by) == ((CHATGPT,), "name")


async def test_a_site_that_serves_everybody_has_no_cause(parser: ParserProcess) -> None:
    async with Site() as site:
        assert (await look(site, parser)).cause is None


@pytest.mark.parametrize(("field", "words"), [("accept-language", "Accept-Language"), ("sec-fetch-mode", "Sec-Fetch")])
async def test_a_program_that_fails_without_a_field_is_fixed_in_its_code(
    field: str, words: str, parser: ParserProcess
) -> None:
    fails = sends(answer(b"Traceback", "500 Internal Server Error"), close=False)

    async def serve(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await (fails if asked.path == "/" and not asked.field(field) else good)(asked, writer)

    async with Site(default=serve, host="localhost") as site:
        card = grade_card(await look(site, parser))
    assert any("fault of the site’s program" in line.text.replace("'", "’") for line in card.evidence)
    fix = next(fix for fix in card.recommendations if fix.k == "wba")
    assert words in fix.body
    assert "no rule of a firewall" in fix.body
    assert "curl" in fix.code
    assert "RFC 9421" not in fix.body
