"""Real servers that limit everybody: nginx, HAProxy and Apache with mod_evasive, as Debian ships them."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from aui_tui.engine.policy import Limits, ScanPolicy
from aui_tui.engine.scan import Parser, observe
from aui_tui.engine.scoring import grade_card
from aui_tui.records.card import ReportCard
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
    """nginx with a zone for every address."""

    zone: ClassVar[str] = ""
    guard: ClassVar[str] = ""

    def config(self) -> str:
        return super().config().replace("access_log off;", f"access_log off; {self.zone}", 1)


class Rate30(LimitedNginx):
    zone = "limit_req_zone $binary_remote_addr zone=one:1m rate=30r/m;"
    guard = "limit_req zone=one burst=3 nodelay;"


class Rate5(LimitedNginx):
    zone = "limit_req_zone $binary_remote_addr zone=one:1m rate=5r/s;"
    guard = "limit_req zone=one burst=5 nodelay;"


class Rate2Dropped(LimitedNginx):
    zone = "limit_req_zone $binary_remote_addr zone=one:1m rate=2r/s; limit_req_status 444;"
    guard = "limit_req zone=one burst=1 nodelay;"


class Delayed(LimitedNginx):
    zone = "limit_req_zone $binary_remote_addr zone=one:1m rate=4r/s;"
    guard = "limit_req zone=one burst=20;"


class OneConnection(LimitedNginx):
    zone = "limit_conn_zone $binary_remote_addr zone=one:1m; limit_conn_status 429;"
    guard = "limit_conn one 1;"


class LimitedHAProxy(HAProxy):
    """HAProxy with a stick table of request rates."""

    rule: ClassVar[str] = ""

    def config(self) -> str:
        start, _, rest = super().config().partition("    http-request deny")
        return f"{start}    {self.rule}\n{rest.partition(chr(10))[2]}"


class Sticky429(LimitedHAProxy):
    rule = """stick-table type ip size 10k expire 1m store http_req_rate(3s)
    http-request track-sc0 src
    http-request deny deny_status 429 if { sc_http_req_rate(0) gt 5 }"""


class StickyTarpit(LimitedHAProxy):
    rule = """timeout tarpit 1s
    stick-table type ip size 10k expire 1m store http_req_rate(3s)
    http-request track-sc0 src
    http-request tarpit deny_status 500 if { sc_http_req_rate(0) gt 5 }"""


class StickyConnections(LimitedHAProxy):
    rule = """stick-table type ip size 10k expire 1m store conn_rate(3s)
    tcp-request connection track-sc0 src
    tcp-request connection reject if { sc_conn_rate(0) gt 6 }"""


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


class RefusesBehindLimit(LimitedNginx):
    """nginx that refuses names (rewrite phase) before it limits everybody (preaccess phase)."""

    zone = "limit_req_zone $binary_remote_addr zone=one:1m rate=60r/m; limit_req_status 429;"
    guard = "if ($bad_bot) { return 403; } limit_req zone=one burst=3 nodelay;"


class RefusesAfterLimit(LimitedHAProxy):
    """HAProxy that limits everybody first and then refuses names."""

    rule = f"""stick-table type ip size 10k expire 1m store http_req_rate(3s)
    http-request track-sc0 src
    http-request return status 429 hdr Retry-After 3 if {{ sc_http_req_rate(0) gt 5 }}
    http-request deny if {{ req.hdr(User-Agent) -m reg ({NAMES}) }}"""


SERVERS: tuple[type[Server], ...] = (
    *(Rate30, Rate5, Rate2Dropped, Delayed, OneConnection),
    *(Sticky429, StickyTarpit, StickyConnections, Evasive),
)


async def card_of(site: Folder, parser: Parser, limits: Limits = LIMITS) -> ReportCard:
    access = ScanPolicy(allow_private=True, limits=limits)
    observed = await observe(access.target(site.url), parser=parser, access=access)
    assert observed.elapsed_ms < 1000 * limits.whole
    return grade_card(observed)


@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.__name__)
async def test_a_limit_for_everybody_is_held_against_no_agent_and_no_file(
    server: type[Server], parser: Parser, tmp_path: Path
) -> None:
    if shutil.which(server.program) is None:
        pytest.skip(f"{server.program} is not installed")
    if server is Evasive and not EVASIVE.exists():
        pytest.skip("mod_evasive is not installed")
    with server(tmp_path, FILES) as site:
        card = await card_of(site, parser)
    assert not accusations(card), [line.text for line in card.evidence]


@pytest.mark.parametrize("server", [RefusesBehindLimit, RefusesAfterLimit], ids=lambda server: server.__name__)
async def test_a_site_that_limits_everybody_and_refuses_agents_is_found_to_refuse_them(
    server: type[Server], parser: Parser, tmp_path: Path
) -> None:
    if shutil.which(server.program) is None:
        pytest.skip(f"{server.program} is not installed")
    with server(tmp_path, FILES) as site:
        card = await card_of(site, parser, PATIENT)
    assert card.stance == "Walled", [line.text for line in card.evidence]
    assert [card.matrix[slug] for slug in list(card.matrix)[1:5]] == ["blocked"] * 4
    assert "403" in card.evidence[0].text


async def test_a_mild_limit_costs_no_point(parser: Parser, tmp_path: Path) -> None:
    if shutil.which("nginx") is None:
        pytest.skip("nginx is not installed")
    with Folder(tmp_path / "free", FILES) as site:
        free = await card_of(site, parser)
    (tmp_path / "limited").mkdir()
    with Rate5(tmp_path / "limited", FILES) as site:
        limited = await card_of(site, parser)
    assert (limited.score, limited.stance) == (free.score, "Open")
