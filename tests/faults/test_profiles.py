"""What a server receives is what each client is known to send: fields, values, order and HTTP version."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pytest

from aui_tui.model.observations import BROWSER
from aui_tui.model.registry import registry
from aui_tui.scan import profiles
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.policy import ScanPolicy
from aui_tui.scan.scan import observe
from aui_tui.scan.target import Origin
from aui_tui.tasks.browser import find
from tests.faults.authority import Authority
from tests.faults.h2_site import H2Site
from tests.faults.site import AGENTS, HOMEPAGES, Asked, Site

CHATGPT, CLAUDE, GOOGLE, PERPLEXITY = AGENTS
CHROME = """
connection sec-ch-ua sec-ch-ua-mobile sec-ch-ua-platform upgrade-insecure-requests user-agent accept sec-fetch-site
sec-fetch-mode sec-fetch-user sec-fetch-dest accept-encoding accept-language
"""
CHROME_ORDER = CHROME.split()
INSECURE_ORDER = [name for name in CHROME_ORDER if not name.startswith("sec-")]
"""The same over plain HTTP, unless the host is this machine."""
ORDERS = {
    BROWSER: CHROME_ORDER,
    CHATGPT: ["user-agent", "accept", "accept-encoding", "accept-language"],
    CLAUDE: ["user-agent", "accept", "accept-encoding"],
    GOOGLE: CHROME_ORDER,
    PERPLEXITY: ["user-agent", "accept-encoding"],
}


async def received(site: Site | H2Site, access: ScanPolicy, parser: ParserProcess) -> dict[str, Asked]:
    """Return what ``site`` received for each homepage probe of one scan."""
    await observe(site.target, parser=parser, access=access)
    return {asked.place: asked for asked in site.asked if asked.path == "/"}


def names(asked: Asked, without: Iterable[str] = ("host",)) -> list[str]:
    return [name.lower() for name, _ in asked.fields if name.lower() not in without and not name.startswith(":")]


async def test_over_http_1_1_each_client_sends_its_own_fields_in_its_own_order(parser: ParserProcess) -> None:
    async with Site() as site:
        seen = await received(site, site.access(), parser)
    insecure = dict.fromkeys((BROWSER, GOOGLE), INSECURE_ORDER)
    assert {name: names(asked) for name, asked in seen.items()} == ORDERS | insecure
    for name, asked in seen.items():
        assert asked.fields[0] == ("Host", "shop.test")
        sent = profiles.over(profiles.profile(name).fields, Origin("http", "shop.test", 80))
        assert [value for _, value in asked.fields[1:]] == [value for field, value in sent if field != "priority"]
    assert seen[BROWSER].field("accept-encoding") == "gzip, deflate"


def test_this_machine_counts_as_secure_over_plain_http() -> None:
    fields = profiles.profile(BROWSER).fields
    for host in ("localhost", "shop.localhost", "127.0.0.1", "::1"):
        assert profiles.over(fields, Origin("http", host, 8000)) == fields


async def by_chromium(url: str, folder: Path) -> None:
    """Let the installed Chromium fetch ``url`` of shop.test. Skips where there is none."""
    found = find()
    if found is None:
        pytest.skip("no Chromium is installed")
    flags = ("--headless=new", "--no-sandbox", "--ignore-certificate-errors", "--lang=en-US", "--disable-gpu")
    rules = "--host-resolver-rules=MAP shop.test 127.0.0.1"
    process = await asyncio.create_subprocess_exec(
        *(str(found), *flags, rules, f"--user-data-dir={folder}", "--dump-dom", url),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        await asyncio.wait_for(process.wait(), 60)
    finally:
        with suppress(ProcessLookupError):
            process.kill()


def shape(asked: Asked) -> list[tuple[str, str]]:
    """Return the fields without what names the host, the platform or the brand."""
    own = ("host", "user-agent", "sec-ch-ua", "sec-ch-ua-platform", ":authority")
    return [(name.lower(), "" if name.lower() in own else value) for name, value in asked.fields]


@pytest.mark.parametrize("kind", ["http", "https with HTTP/1.1", "https with HTTP/2"])
async def test_the_browser_probe_is_the_installed_chromium_field_by_field(
    kind: str, parser: ParserProcess, authority: Authority, tmp_path: Path
) -> None:
    server = None if kind == "http" else authority.server()
    site = H2Site(authority.server()) if kind.endswith("/2") else Site(tls=server)
    async with site:
        ours = (await received(site, site.access(cafile=authority.cafile), parser))[BROWSER]
        site.asked.clear()
        await by_chromium(f"{site.url}:{site.port}/", tmp_path / "profile")
        theirs = next(asked for asked in site.asked if asked.path == "/")
    version = re.search(r"Chrome/(\d+)", theirs.field("user-agent"))
    assert version is not None
    if version[1] != registry().chrome_version.partition(".")[0]:
        pytest.skip(f"the installed Chromium is version {version[1]}")
    assert shape(ours) == shape(theirs)


async def test_over_tls_claude_speaks_http_1_1_and_the_others_http_2(
    parser: ParserProcess, authority: Authority
) -> None:
    async with H2Site(authority.server()) as site:
        seen = await received(site, site.access(cafile=authority.cafile), parser)
    versions = {name: asked.line.rpartition(" ")[2] for name, asked in seen.items()}
    assert versions == dict.fromkeys(HOMEPAGES, "HTTP/2") | {CLAUDE: "HTTP/1.1"}
    for name, order in ORDERS.items():
        priority = ["priority"] if name in (BROWSER, GOOGLE) else []
        assert names(seen[name]) == [field for field in order if field != "connection"] + priority
    assert seen[BROWSER].field("priority") == "u=0, i"


@pytest.mark.ci
async def test_over_tls_without_http_2_chrome_sends_no_priority(parser: ParserProcess, authority: Authority) -> None:
    async with Site(tls=authority.server()) as site:
        await received(site, site.access(cafile=authority.cafile), parser)
    assert all("priority" not in names(asked) for asked in site.asked)


@pytest.mark.ci
async def test_all_identities_at_once_offer_the_protocols_of_their_own(
    parser: ParserProcess, authority: Authority
) -> None:
    async with H2Site(authority.server()) as site:
        access = site.access(cafile=authority.cafile)
        scans = [observe(site.target, parser=parser, access=access) for _ in range(4)]
        await asyncio.gather(*scans)
    spoken = {(asked.line.rpartition(" ")[2], "Claude-User" in asked.field("user-agent")) for asked in site.asked}
    assert spoken == {("HTTP/1.1", True), ("HTTP/2", False)}


def test_every_field_names_the_same_version_of_chrome() -> None:
    major = registry().chrome_version.partition(".")[0]
    for name in (BROWSER, GOOGLE, "robots"):
        fields = dict(profiles.profile(name).fields)
        assert set(re.findall(r"Chrome/(\d+)", fields["User-Agent"])) == {major}
        assert {f'"Chromium";v="{major}"', f'"Google Chrome";v="{major}"'} < set(fields["sec-ch-ua"].split(", "))


def test_the_platform_is_that_of_the_user_agent() -> None:
    assert dict(profiles.profile(BROWSER).fields)["sec-ch-ua-platform"] == '"Windows"'
    assert dict(profiles.profile(GOOGLE).fields)["sec-ch-ua-platform"] == '"Linux"'
