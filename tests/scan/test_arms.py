"""The arms of the control: sites that go by the TLS greeting, by a list of names or by addresses."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest
import pytest_asyncio

from aui_tui.checks.scoring import grade_card
from aui_tui.model.observations import Observations
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.policy import ConnectTo, ScanPolicy
from aui_tui.scan.scan import observe
from aui_tui.tasks.browser_control import InstalledChromium
from tests.faults.authority import Authority
from tests.faults.site import AGENTS, GOOD, PAGE, QUICK, TITLE, Asked, Site, answer, good

pytestmark = [
    pytest.mark.ci,
    pytest.mark.skipif(bool(InstalledChromium().missing), reason="no Chromium is installed"),
    pytest.mark.asyncio(loop_scope="module"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def real() -> AsyncIterator[InstalledChromium]:
    """The installed Chromium."""
    browser = InstalledChromium()
    yield browser
    await browser.aclose()


def has_grease(hello: bytes) -> bool:
    """Return whether a ClientHello offers a cipher suite of RFC 8701, as every Chromium does and OpenSSL does not."""
    body = hello[5 + 4 + 2 + 32 :]
    size = body[0]
    suites = body[1 + size + 2 : 1 + size + 2 + int.from_bytes(body[1 + size : 3 + size], "big")]
    return any(suites[at] == suites[at + 1] and suites[at] & 0x0F == 0x0A for at in range(0, len(suites) - 1, 2))


Rule = Callable[[bool, str], int]
"""What a site answers to the homepage: a status, from whether the greeting is a browser's, and the User-Agent.

429 comes with the field of a challenge.
"""


@contextlib.asynccontextmanager
async def greeted(authority: Authority, rule: Rule) -> AsyncIterator[ScanPolicy]:
    """Run a site over TLS that reads the greeting of each connection; yield the policy that reaches it."""
    context = authority.server()
    context.set_alpn_protocols(["http/1.1"])
    tasks: set[asyncio.Task[None]] = set()
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setblocking(False)
    loop = asyncio.get_running_loop()

    async def serve(connection: socket.socket) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            hello = b""
            for _ in range(200):
                with contextlib.suppress(BlockingIOError):
                    hello = connection.recv(4096, socket.MSG_PEEK)
                if len(hello) > 200:
                    break
                await asyncio.sleep(0.01)
            browser = len(hello) > 200 and has_grease(hello)
            reader = asyncio.StreamReader()
            protocol = asyncio.StreamReaderProtocol(reader)
            transport, _ = await loop.connect_accepted_socket(lambda: protocol, connection, ssl=context)
            writer = asyncio.StreamWriter(transport, protocol, reader, loop)
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                path = head.split(" ")[1]
                agent = next((line[12:] for line in head.split("\r\n") if line.lower().startswith("user-agent: ")), "")
                status = rule(browser, agent) if path == "/" else 200 if path in GOOD else 404
                kind, body = GOOD.get(path, ("text/plain", b"no"))
                extra = b"x-vercel-mitigated: challenge\r\n" if status == 429 else b""
                writer.write(answer(body if status == 200 else b"<p>no</p>", f"{status} x", kind, extra))
                await writer.drain()

    async def accept() -> None:
        while True:
            connection, _ = await loop.sock_accept(listener)
            connection.setblocking(False)
            task = asyncio.create_task(serve(connection))
            tasks.add(task)

    accepting = asyncio.create_task(accept())
    try:
        to = ConnectTo("shop.test", 443, "127.0.0.1", listener.getsockname()[1])
        limits = replace(QUICK, probe=15.0, connect=15.0, pause=0.1)
        yield ScanPolicy(connect_to=(to,), cafile=authority.cafile, limits=limits, keyboard=True)
    finally:
        for task in (accepting, *tasks):
            task.cancel()
        await asyncio.gather(accepting, *tasks, return_exceptions=True)
        listener.close()


async def seen(authority: Authority, rule: Rule, parser: ParserProcess, real: InstalledChromium) -> Observations:
    async with greeted(authority, rule) as access:
        return await observe(access.target("https://shop.test"), parser=parser, access=access, real=real)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """A throw-away certificate authority for ``shop.test``."""
    return Authority(tmp_path_factory.mktemp("authority"), "shop.test")


async def test_a_site_that_admits_a_browsers_greeting_alone_walls_programs(
    authority: Authority, parser: ParserProcess, real: InstalledChromium
) -> None:
    found = await seen(authority, lambda browser, agent: 200 if browser else 403, parser, real)
    assert {arm.name: arm.outcome for arm in found.arms} == {"R": "served", "RA": "served"}, found.arms
    assert found.arms[0].client.startswith("Chromium ")
    card = grade_card(found)
    assert (card.stance, list(card.matrix.values())[1:5]) == ("Walled", ["walled"] * 4)
    assert "Programs are shut out, whatever their name" in card.top_evidence
    assert "under an agent’s name too" in card.top_evidence
    assert (found.page.title, found.page.seen_by) == (TITLE, "R")


async def test_a_challenge_with_429_is_no_limit_and_chromium_is_asked(
    authority: Authority, parser: ParserProcess, real: InstalledChromium
) -> None:
    found = await seen(authority, lambda browser, agent: 200 if browser else 429, parser, real)
    assert {one.outcome for one in found.homepages} == {"challenged"}
    assert {arm.name: arm.outcome for arm in found.arms} == {"R": "served", "RA": "served"}, found.arms
    card = grade_card(found)
    assert (card.stance, list(card.matrix.values())[1:5]) == ("Walled", ["walled"] * 4)
    assert (found.page.title, found.page.seen_by) == (TITLE, "R")


async def test_a_site_that_goes_by_greeting_and_name_walls_by_both(
    authority: Authority, parser: ParserProcess, real: InstalledChromium
) -> None:
    found = await seen(authority, lambda browser, agent: 200 if browser and "-User" not in agent else 403, parser, real)
    outcomes = {arm.agent: arm.outcome for arm in found.arms if arm.name == "RA"}
    assert outcomes == dict.fromkeys(AGENTS, "refused")
    assert "but not under an agent’s name" in grade_card(found).top_evidence


async def test_a_site_that_refuses_a_false_chrome_limits_nobody(
    authority: Authority, parser: ParserProcess, real: InstalledChromium
) -> None:
    found = await seen(
        authority,
        lambda browser, agent: 403 if "Chrome/" in agent and "Google-Agent" not in agent and not browser else 200,
        parser,
        real,
    )
    card = grade_card(found)
    assert found.elapsed_ms < 60_000
    assert (card.stance, list(card.matrix.values())[1:5]) == ("Open", ["partial"] * 4)
    assert found.page.title == TITLE
    texts = [line.text for line in card.evidence]
    assert any("a fact about browsers" in text and "a real browser (Chromium" in text for text in texts)
    assert not any("limits everybody" in text for text in texts)


async def test_a_site_that_refuses_a_real_browser_too_says_nothing_of_agents(
    authority: Authority, parser: ParserProcess, real: InstalledChromium
) -> None:
    found = await seen(authority, lambda browser, agent: 403, parser, real)
    card = grade_card(found)
    assert (card.unreachable, card.stance) == (True, "Selective")
    assert "turned away too, so it may be this address" in card.top_evidence


async def test_a_challenge_that_a_browser_passes_is_waited_for(parser: ParserProcess, real: InstalledChromium) -> None:
    async def serve(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.path == "/" and "pass=1" not in asked.field("cookie"):
            body = b"<title>Just a moment...</title><script>document.cookie='pass=1';location.reload()</script>"
            writer.write(answer(body, "403 Forbidden"))
            await writer.drain()
            return
        await good(asked, writer)

    async with Site(default=serve) as site:
        access = replace(site.access(QUICK), keyboard=True)
        found = await observe(site.target, parser=parser, access=access, real=real)
    assert [(arm.name, arm.outcome) for arm in found.arms if arm.name == "R"] == [("R", "served")]
    assert found.page.title == TITLE
    assert grade_card(found).stance == "Walled"


async def refusing(status: Callable[[str], str], parser: ParserProcess) -> Observations:
    """Scan a site whose homepage answers a User-Agent with a ``status``; empty: it serves the page."""

    async def serve(asked: Asked, writer: asyncio.StreamWriter) -> None:
        said = status(asked.field("user-agent")) if asked.path == "/" else ""
        if not said:
            await good(asked, writer)
            return
        writer.write(answer(b"no", said))
        await writer.drain()

    async with Site(default=serve) as site:
        return await observe(site.target, parser=parser, access=site.access())


@pytest.mark.parametrize(
    ("admits", "why", "verdict"),
    [
        (lambda agent: "Chrome/" in agent and "compatible" not in agent, "list", "blocked"),
        (
            lambda agent: "Googlebot" not in agent and "-User" not in agent and "-Agent" not in agent,
            "address",
            "untested",
        ),
        (lambda agent: not re.search("bot|crawl|claude|perplexity", agent, re.IGNORECASE), "list", "blocked"),
        (lambda agent: ("-User/" not in agent and "-Agent" not in agent) or "Ordinary" in agent, "name", "blocked"),
    ],
)
async def test_other_names_say_what_a_refusal_goes_by(
    admits: Callable[[str], bool], why: str, verdict: str, parser: ParserProcess
) -> None:
    def status(agent: str) -> str:
        passes = "Ordinary-User" in agent if why == "address" and "Ordinary" in agent else admits(agent)
        return "" if passes else "403 Forbidden"

    found = await refusing(status, parser)
    assert {reading.why for reading in found.readings.values()} == {why}
    assert list(grade_card(found).matrix.values())[1:5] == [verdict] * 4
    assert (grade_card(found).stance == "Walled") == (verdict == "blocked")


async def test_another_name_that_meets_a_limit_says_nothing_of_a_refusal(parser: ParserProcess) -> None:
    def status(agent: str) -> str:
        if "Googlebot" in agent:
            return "429 Too Many Requests"
        named = "Ordinary" not in agent and ("-User" in agent or "-Agent" in agent)
        return "403 Forbidden" if named else ""

    found = await refusing(status, parser)
    assert [(arm.name, arm.outcome) for arm in found.arms] == [("N", "served")]
    assert grade_card(found).stance == "Walled"


async def test_where_a_field_decides_no_other_name_is_asked_what_the_name_does(parser: ParserProcess) -> None:
    async def serve(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.path == "/" and "text/html" not in asked.field("accept"):
            writer.write(answer(b"no", "406 Not Acceptable"))
            await writer.drain()
            return
        await good(asked, writer)

    async with Site(default=serve) as site:
        found = await observe(site.target, parser=parser, access=site.access())
    assert found.cause is not None
    assert (found.cause.by, found.cause.fields, found.arms) == ("field", ("Accept",), ())
    assert not any("invented name" in line.text for line in grade_card(found).evidence)


SECRET = (("X-Key", "s3cret-token"),)


async def test_own_credentials_go_with_other_names_to_the_scanned_origin_alone(parser: ParserProcess) -> None:
    async def elsewhere(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(answer(PAGE))
        await writer.drain()

    async with Site(default=elsewhere, host="other.test") as other:
        away = f"Location: {other.url}\r\n".encode()

        async def serve(asked: Asked, writer: asyncio.StreamWriter) -> None:
            agent = asked.field("user-agent")
            if asked.path != "/" or "compatible" not in agent:
                await good(asked, writer)
                return
            strange = "Ordinary-User" in agent or "Googlebot" in agent
            writer.write(answer(b"", "302 Found", extra=away) if strange else answer(b"no", "403 Forbidden"))
            await writer.drain()

        async with Site(default=serve) as site:
            access = site.access(QUICK, headers=SECRET)
            rules = (*access.connect_to, *other.access().connect_to)
            access = replace(access, connect_to=rules)
            found = await observe(access.target(site.url), parser=parser, access=access)
    assert [arm.name for arm in found.arms] == ["N", "I"]
    assert {asked.field("x-key") for asked in site.asked} == {"s3cret-token"}
    assert {asked.field("x-key") for asked in other.asked} == {""}
    assert any("Ordinary-User" in asked.field("user-agent") for asked in other.asked)


async def test_own_credentials_go_with_a_real_browser_to_the_scanned_origin_alone(
    parser: ParserProcess, real: InstalledChromium
) -> None:
    async with Site(host="other.test") as other:
        away = f"Location: {other.url}\r\n".encode()

        async def serve(asked: Asked, writer: asyncio.StreamWriter) -> None:
            if asked.path == "/moved":
                writer.write(answer(b"", "302 Found", extra=away))
            elif asked.path == "/" and "pass=1" not in asked.field("cookie"):
                code = b"document.cookie='pass=1';location.reload()"
                writer.write(answer(b"<title>Just a moment...</title><script>" + code + b"</script>", "403 Forbidden"))
            elif asked.path == "/":
                writer.write(answer(PAGE + f"<img src=/moved><img src={other.url}x.png>".encode()))
            else:
                await good(asked, writer)
            await writer.drain()

        async with Site(default=serve) as site:
            access = site.access(QUICK, headers=SECRET)
            rules = (*access.connect_to, *other.access().connect_to)
            access = replace(access, connect_to=rules, keyboard=True)
            found = await observe(site.target, parser=parser, access=access, real=real)
    assert {arm.name for arm in found.arms} == {"R", "RA"}
    passed = [asked for asked in site.asked if "pass=1" in asked.field("cookie") and asked.path == "/"]
    assert passed
    assert {asked.field("x-key") for asked in site.asked if asked.path == "/"} == {"s3cret-token"}
    assert {asked.field("x-key") for asked in other.asked} <= {""}
