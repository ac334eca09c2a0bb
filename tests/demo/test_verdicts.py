"""Every site of the demo is judged as the kind of site it stands for, under both methods."""

from __future__ import annotations

import asyncio
import json
from importlib.resources import files
from typing import NamedTuple

import pytest
from jsonschema import Draft202012Validator

from aui_tui.checks.scoring import grade_card
from aui_tui.demo.web import DemoSite, DemoWeb, sites
from aui_tui.model.codec import encode_card, encode_summary
from aui_tui.model.observations import Observations
from aui_tui.model.vocabulary import STANCES
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.policy import ConnectTo, Limits, ScanPolicy
from aui_tui.scan.scan import observe


class Expected(NamedTuple):
    """Stance, and the verdicts of ChatGPT, Claude, Gemini, Perplexity, the Amazon agents and Meta AI."""

    stance: str
    verdicts: tuple[str, ...]
    unreachable: bool = False


ALLOWED, PARTIAL = ("allowed",) * 4 + ("allowed-robots",) * 2, ("partial",) * 6
WALLED, DISALLOWED = ("walled",) * 6, ("disallowed",) * 6

EXPECTED = {
    "fly.demo.test": Expected("Open", ALLOWED),
    "stay.demo.test": Expected("Walled", WALLED),
    "rail.demo.test": Expected("Walled", ("untested",) * 4 + ("partial",) * 2),
    "news.demo.test": Expected("Selective", ("blocked",) * 4 + ("allowed-robots",) * 2),
    "chat.demo.test": Expected("Walled", DISALLOWED),
    "video.demo.test": Expected("Open", PARTIAL),
    "forum.demo.test": Expected("Walled", DISALLOWED),
    "grocer.demo.test": Expected("Open", ALLOWED),
    "recipes.demo.test": Expected("Open", ALLOWED),
    "pizza.demo.test": Expected("Walled", ("blocked",) * 4 + ("partial",) * 2),
    "shop.demo.test": Expected("Open", PARTIAL),
    "market.demo.test": Expected("Walled", WALLED),
    "outlet.demo.test": Expected("Selective", ("partial", "blocked", "partial", "partial", "partial", "partial")),
    "gadgets.demo.test": Expected("Open", PARTIAL),
    "tickets.demo.test": Expected("Walled", WALLED),
    "gigs.demo.test": Expected("Walled", WALLED),
    "arena.demo.test": Expected("Walled", WALLED),
    "homes.demo.test": Expected("Walled", WALLED),
    "rooms.demo.test": Expected("Open", ALLOWED),
    "land.demo.test": Expected("Open", ("allowed",) * 4 + ("untested",) * 2),
    "cloud.demo.test": Expected("Open", ALLOWED),
    "phone.demo.test": Expected("Walled", ("untested",) * 6, unreachable=True),
    "status.demo.test": Expected("Walled", ("untested",) * 6, unreachable=True),
    "wallet.demo.test": Expected("Selective", ("walled", "allowed", "allowed", "walled") + ("allowed-robots",) * 2),
    "docs.demo.test": Expected("Open", ALLOWED),
    "api.demo.test": Expected("Open", ALLOWED),
    "forge.demo.test": Expected("Walled", WALLED),
    "packages.demo.test": Expected("Open", ALLOWED),
    "blog.demo.test": Expected("Open", ALLOWED),
    "legacy.demo.test": Expected("Open", ALLOWED),
    "loop.demo.test": Expected("Walled", ("untested",) * 4 + ("allowed-robots",) * 2, unreachable=True),
    "quiet.demo.test": Expected("Walled", ("untested",) * 6, unreachable=True),
}
QUICK = Limits(pause=0.05, retry_after=0.5)
"""Short waits, and all the time of an ordinary scan: a busy machine may need it."""
AT_ONCE = 8
"""Sites scanned at a time: with all of them a probe's 12 s may pass on a busy machine."""
SLOW = {"rail.demo.test", "quiet.demo.test", "packages.demo.test"}
"""Sites that need the real times: a probe's 12 s, or the second between probes."""


def schema(name: str) -> Draft202012Validator:
    text = files("aui_tui.model").joinpath("schemas", f"{name}.schema.json").read_text(encoding="utf-8")
    return Draft202012Validator(json.loads(text))


async def scan(web: DemoWeb, wanted: list[DemoSite], limits: Limits) -> dict[str, Observations]:
    access = ScanPolicy(connect_to=tuple(ConnectTo.parse(rule) for rule in web.connect_to), limits=limits)
    places = asyncio.Semaphore(AT_ONCE)
    async with ParserProcess() as parser:

        async def one(site: DemoSite) -> Observations:
            async with places:
                return await observe(access.target(site.host), parser=parser, access=access)

        found = await asyncio.gather(*(one(site) for site in wanted))
    return {site.host: seen for site, seen in zip(wanted, found, strict=True)}


def check(found: dict[str, Observations]) -> None:
    card_schema, row_schema = schema("card"), schema("summary")
    for host, seen in found.items():
        expected = EXPECTED[host]
        for method in ("v0.1", "v0.2"):
            card = grade_card(seen, method)
            assert (card.stance, tuple(card.matrix.values())[1:7]) == expected[:2], host
            assert card.unreachable == expected.unreachable, host
            for keys in ("names", "slots"):
                assert not list(card_schema.iter_errors(json.loads(encode_card(card, keys)))), host
                assert not list(row_schema.iter_errors(json.loads(encode_summary(card.summary(), keys)))), host


def test_table_names_every_site_and_every_stance() -> None:
    assert set(EXPECTED) == {site.host for site in sites()}
    assert {expected.stance for expected in EXPECTED.values()} == set(STANCES)


@pytest.mark.ci
async def test_sites_are_judged_as_what_they_are() -> None:
    wanted = [site for site in sites() if site.host not in SLOW]
    with DemoWeb(wanted) as web:
        found = await scan(web, wanted, QUICK)
    check(found)
    assert grade_card(found["fly.demo.test"], "v0.1").score == 100
    assert grade_card(found["fly.demo.test"], "v0.2").score == 100
    assert grade_card(found["api.demo.test"]).host == "api.demo.test"
    assert grade_card(found["video.demo.test"]).noscript_shell
    assert not grade_card(found["rooms.demo.test"]).files
    assert grade_card(found["docs.demo.test"]).files == ("llms.txt", "ai-plugin.json")
    for host in ("stay.demo.test", "gigs.demo.test", "arena.demo.test"):
        first = grade_card(found[host]).evidence[0]
        assert first.t == "critical"
        assert "browser" in first.text
        assert "agent" in first.text


@pytest.mark.slow
async def test_tarpits_and_limiters_are_judged_in_their_own_time() -> None:
    wanted = [site for site in sites() if site.host in SLOW]
    with DemoWeb(wanted) as web:
        found = await scan(web, wanted, Limits())
    check(found)
    assert [e.status for e in found["rail.demo.test"].live] == [0, 0, 0, 0]
    assert sum(len(e.attempts) for e in found["packages.demo.test"].live) == 2


async def test_walls_that_fell_between_two_scans_show_as_better_scores() -> None:
    with DemoWeb([site for site in sites() if site.before is not None]) as web:
        for site in web.sites:
            web.show(site.earlier())
        before = await scan(web, list(web.sites), QUICK)
        for site in web.sites:
            web.show(site)
        after = await scan(web, list(web.sites), QUICK)
    for host in before:
        assert grade_card(before[host]).score < grade_card(after[host]).score, host
