"""Real servers that limit everybody: nginx, HAProxy and Apache with mod_evasive, as Debian ships them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aui_tui.checks.scoring import grade_card
from aui_tui.model.card import ReportCard
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.policy import Limits, ScanPolicy
from aui_tui.scan.scan import observe
from tests.applied.servers import NAMES, Apache, Folder, HAProxy, Nginx, Server
from tests.faults.site import GOOD
from tests.limiters.servers import accusations

pytestmark = [pytest.mark.real_server, pytest.mark.slow]
LIMITS = Limits(probe=6.0, pause=0.3, again=1.0, budget=20.0, whole=30.0)
PATIENT = replace(LIMITS, budget=60.0, whole=75.0)
"""A scan that decides ends early; a slow machine gets the time of an ordinary scan."""
EVASIVE = Path("/usr/lib/apache2/modules/mod_evasive20.so")
FILES = {("index.html" if path == "/" else path[1:]): body.decode() for path, (_, body) in GOOD.items()}


class LimitedNginx(Nginx):
    """nginx with a ``zone`` for every address and a ``guard`` in front of the site."""

    def __init__(self, home: Path, files: Mapping[str, str], zone: str, guard: str) -> None:
        self.zone, self.guard = zone, guard
        super().__init__(home, files)

    def config(self) -> str:
        return super().config().replace("access_log off;", f"access_log off; {self.zone}", 1)


class LimitedHAProxy(HAProxy):
    """HAProxy with a stick table of what each address asked in the last three seconds, and a rule on it."""

    def __init__(self, home: Path, files: Mapping[str, str], counts: str, rule: str) -> None:
        self.rule = f"stick-table type ip size 10k expire 1m store {counts}(3s)\n    {rule}"
        super().__init__(home, files)

    def config(self) -> str:
        start, _, rest = super().config().partition("    http-request deny")
        return f"{start}    {self.rule}\n{rest.partition(chr(10))[2]}"


class Evasive(Apache):
    """Apache with mod_evasive: more than two requests for a page, or eight in all, a second."""

    rules = """<IfModule mod_evasive20.c>
            DOSHashTableSize 3097
            DOSPageCount 2
            DOSPageInterval 1
            DOSSiteCount 8
            DOSSiteInterval 1
            DOSBlockingPeriod 3
        </IfModule>"""

    def config(self) -> str:
        load = f"LoadModule evasive20_module {EVASIVE}\n        TypesConfig"
        one = (
            "StartServers 1\n        ServerLimit 1\n        ThreadsPerChild 25\n        MaxRequestWorkers 25\n        "
        )
        return super().config().replace("TypesConfig", one + load, 1)


ZONE = "limit_req_zone $binary_remote_addr zone=one:1m rate="
REQUESTS = "http-request track-sc0 src\n    http-request"
MILD = (LimitedNginx, f"{ZONE}5r/s;", "limit_req zone=one burst=5 nodelay;")
LIMITED: dict[str, tuple[Any, ...]] = {
    "nginx, 30 a minute": (LimitedNginx, f"{ZONE}30r/m;", "limit_req zone=one burst=3 nodelay;"),
    "nginx, 5 a second": MILD,
    "nginx that drops": (
        LimitedNginx,
        f"{ZONE}2r/s; limit_req_status 444;",
        "limit_req zone=one burst=1 nodelay;",
    ),
    "nginx that delays": (LimitedNginx, f"{ZONE}4r/s;", "limit_req zone=one burst=20;"),
    "nginx, one connection": (
        LimitedNginx,
        "limit_conn_zone $binary_remote_addr zone=one:1m; limit_conn_status 429;",
        "limit_conn one 1;",
    ),
    "HAProxy, 429": (
        LimitedHAProxy,
        "http_req_rate",
        f"{REQUESTS} deny deny_status 429 if {{ sc_http_req_rate(0) gt 5 }}",
    ),
    "HAProxy, tarpit": (
        LimitedHAProxy,
        "http_req_rate",
        f"timeout tarpit 1s\n    {REQUESTS} tarpit deny_status 500 if {{ sc_http_req_rate(0) gt 5 }}",
    ),
    "HAProxy, connections": (
        LimitedHAProxy,
        "conn_rate",
        "tcp-request connection track-sc0 src\n    tcp-request connection reject if { sc_conn_rate(0) gt 6 }",
    ),
    "Apache with mod_evasive": (Evasive,),
}
"""Servers that limit everybody alike: what serves, and its settings."""
REFUSING: dict[str, tuple[Any, ...]] = {
    "nginx, before the limit": (
        LimitedNginx,
        f"{ZONE}60r/m; limit_req_status 429;",
        "if ($bad_bot) { return 403; } limit_req zone=one burst=3 nodelay;",
    ),
    "HAProxy, after the limit": (
        LimitedHAProxy,
        "http_req_rate",
        f"{REQUESTS} return status 429 hdr Retry-After 3 if {{ sc_http_req_rate(0) gt 5 }}\n"
        f"    http-request deny if {{ req.hdr(User-Agent) -m reg ({NAMES}) }}",
    ),
}
"""The same for servers that refuse agents by name besides: nginx in its rewrite phase, which comes first."""


def started(home: Path, kind: type[Server], *settings: str) -> Server:
    """Return the server of ``kind``, to be entered. Skips where it is not installed."""
    if shutil.which(kind.program) is None:
        pytest.skip(f"{kind.program} is not installed")
    if kind is Evasive and not EVASIVE.exists():
        pytest.skip("mod_evasive is not installed")
    return kind(home, FILES, *settings)


async def card_of(site: Folder, parser: ParserProcess, limits: Limits = LIMITS) -> ReportCard:
    access = ScanPolicy(allow_private=True, limits=limits)
    observed = await observe(access.target(site.url), parser=parser, access=access)
    assert observed.elapsed_ms < 1000 * limits.whole
    return grade_card(observed)


@pytest.mark.parametrize("name", LIMITED)
async def test_a_limit_for_everybody_is_held_against_no_agent_and_no_file(
    name: str, parser: ParserProcess, tmp_path: Path
) -> None:
    with started(tmp_path, *LIMITED[name]) as site:
        card = await card_of(site, parser)
    assert not accusations(card), [line.text for line in card.evidence]


@pytest.mark.parametrize("name", REFUSING)
async def test_a_site_that_limits_everybody_and_refuses_agents_is_found_to_refuse_them(
    name: str, parser: ParserProcess, tmp_path: Path
) -> None:
    with started(tmp_path, *REFUSING[name]) as site:
        card = await card_of(site, parser, PATIENT)
    assert card.stance == "Walled", [line.text for line in card.evidence]
    assert [card.matrix[slug] for slug in list(card.matrix)[1:5]] == ["blocked"] * 4
    assert "403" in card.evidence[0].text


async def test_a_mild_limit_costs_no_point(parser: ParserProcess, tmp_path: Path) -> None:
    (tmp_path / "limited").mkdir()
    with started(tmp_path / "limited", *MILD) as site:
        limited = await card_of(site, parser)
    with Folder(tmp_path / "free", FILES) as site:
        free = await card_of(site, parser)
    assert (limited.score, limited.stance) == (free.score, "Open")
