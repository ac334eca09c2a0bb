"""A real edge that checks addresses: the probe is refused, the real agent gets in, and log and card say so."""

from __future__ import annotations

import ipaddress
import json
import shutil
import ssl
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
import trustme

from tests.applied import sites
from tests.applied.servers import Nginx
from tests.cli.runner import here
from tests.loopback import QuietHandler, listening

pytestmark = [
    pytest.mark.real_server,
    pytest.mark.skipif(shutil.which("nginx") is None, reason="needs nginx"),
]
PUBLISHED = {"ipv4Prefix": "160.79.104.0/23", "ipv6Prefix": "2607:6bc0::/48"}
REAL, REAL_6, STRANGER = "160.79.105.9", "2607:6bc0::17", "198.51.100.7"
CLAUDE = "Mozilla/5.0 (compatible; Claude-User/1.0; +Claude-User@anthropic.com)"
FORMAT = (
    '$remote_addr - - [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" '
    '"$http_x_real_ip"'
)


class Edge(Nginx):
    """nginx behind a load balancer on this machine, which writes the client's address into X-Real-IP."""

    def config(self) -> str:
        text = super().config().replace("access_log off;", f"log_format own '{FORMAT}';")
        text = text.replace("http {", "http { map $http_x_real_ip $client { default $http_x_real_ip; '' 127.0.0.1; }")
        return text.replace("root ", f"access_log {self.home}/access.log own; root ")

    def admit(self, folder: Path) -> None:
        """Install the rule that the plan wrote, with the published ranges, and without the address of the tester."""
        (self.conf / "agents.geo").write_text("".join(f"{network} 1;\n" for network in PUBLISHED.values()))
        rules = (folder / "server" / "agents.conf").read_text(encoding="utf-8")
        assert "geo $agent_range {" in rules
        self.install("agents.conf", rules.replace("geo $agent_range", "geo $client $agent_range"))
        self.install("agents-server.conf", (folder / "server" / "agents-server.conf").read_text(encoding="utf-8"))


class Vendor(QuietHandler):
    """Publishes the same ranges at every address."""

    def do_GET(self) -> None:
        body = json.dumps({"prefixes": [{key: value} for key, value in PUBLISHED.items()]}).encode()
        self.reply(200, body, "application/json")


@pytest.fixture
def vendor(tmp_path: Path) -> Iterator[tuple[str, ...]]:
    """The options with which the vendors' lists are fetched from this machine."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("claude.com").configure_cert(context)
    ca = tmp_path / "ca.pem"
    (tmp_path / "visits.toml").write_text(f'cacert = "{ca}"\ntrusted_proxy = ["127.0.0.0/8"]\n')
    with listening(Vendor, context) as server:
        yield (
            *("--update-ranges", "--allow-private", "--config", str(tmp_path / "visits.toml")),
            *("--connect-to", f":443:127.0.0.1:{server.server_port}"),
        )


def ask(url: str, address: str) -> int:
    try:
        with urlopen(Request(url, headers={"User-Agent": CLAUDE, "X-Real-IP": address}), timeout=10) as answer:
            return int(answer.status)
    except HTTPError as error:
        return error.code


def test_an_edge_that_admits_published_ranges_alone_is_seen_from_server_to_card(
    tmp_path: Path, vendor: tuple[str, ...]
) -> None:
    with Edge(tmp_path, {"index.html": sites.RICH}) as edge:
        host = edge.url.removeprefix("http://")
        assert here(tmp_path, "scan", edge.url, "--allow-private", "--quiet").code == 0
        fixes = tmp_path / "fixes"
        planned = here(
            tmp_path, "plan", host, "--grade", "100", "--write", str(fixes), env={"AUI_TUI_WITH_CLAIMS": "1"}
        )
        assert planned.code == 0, planned.err
        edge.admit(fixes)
        edge.stop()
        (tmp_path / "access.log").unlink()
        edge.start()
        scanned = here(tmp_path, "scan", edge.url, "--allow-private", "--force", "--quiet", "--json")
        before = json.loads(scanned.out)
        assert before["live_served"] == 0
        probes = (tmp_path / "access.log").read_text().count(CLAUDE[:30])
        answers = [ask(edge.url, address) for address in (*[REAL] * 40, *[REAL_6] * 20, *[STRANGER] * 5)]
        assert answers == [200] * 60 + [403] * 5
    assert ipaddress.ip_address(REAL) in ipaddress.ip_network(PUBLISHED["ipv4Prefix"])
    log = str(tmp_path / "access.log")
    read = here(tmp_path, "visits", log, "--host", host, "--json", *vendor)
    assert read.code == 0, read.err
    record = json.loads(read.out)
    claude = next(one for one in record["visitors"] if one["token"] == "Claude-User")
    assert record["unparsable"] == 0
    assert (claude["verified"], claude["verified_served"], claude["outside"]) == (60, 60, 5)
    assert claude["requests"] == 65 + claude["unchecked"]
    assert claude["unchecked"] <= probes + 5

    card = here(tmp_path, "site", host, "--details")
    said = " ".join(card.out.split())
    assert "60 of 60 verified visits were served, while the probe was turned away" in said
    assert "The site checks addresses, and the real Claude gets in." in said
    published = json.loads(here(tmp_path, "site", host, "--json").out)
    assert (published["score"], published["matrix"]) == (before["score"], before["matrix"])
    assert any(line["text"].startswith("Access log: Claude came from") for line in published["evidence"])
