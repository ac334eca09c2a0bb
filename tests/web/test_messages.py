"""Whose page asked: what another site may cause here, and what it may only read."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Final

import pytest

from aui_tui.web.requests import identify
from tests.cards import RICH_OPEN, WALLED
from tests.service.serving import Running, serving
from tests.stored_service import StoredService

CHROME: Final = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36"
AGENT: Final = (
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot"
)
CACHED: Final = RICH_OPEN.host

FROM_ELSEWHERE: Final = {
    "Sec-Fetch-Site: cross-site": {"Sec-Fetch-Site": "cross-site"},
    "Sec-Fetch-Site: same-site": {"Sec-Fetch-Site": "same-site"},
    "Sec-Fetch-Site: unknown word": {"Sec-Fetch-Site": "elsewhere"},
    "a link, clicked": {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-User": "?1"},
    "Origin": {"Origin": "https://evil.example"},
    "opaque Origin": {"Origin": "null"},
    "Referer": {"Referer": "https://evil.example/page"},
    "Referer that is not a URL": {"Referer": "http://[evil"},
    "own Referer, other Origin": {"Origin": "https://evil.example", "Referer": "{own}/"},
    "a browser that says nothing": {"User-Agent": CHROME},
    "Referer of another port": {"Referer": "http://127.0.0.1:1/"},
}
FROM_HERE: Final = {
    "a program": {},
    "an agent": {"User-Agent": AGENT},
    "own page": {"Sec-Fetch-Site": "same-origin", "User-Agent": CHROME},
    "typed by the user": {"Sec-Fetch-Site": "none", "User-Agent": CHROME},
    "own Origin": {"Origin": "{own}", "User-Agent": CHROME},
    "own Referer": {"Referer": "{own}/?page=2", "User-Agent": CHROME},
}


@pytest.fixture(scope="module")
def served() -> Iterator[Running]:
    with serving(StoredService()) as running:
        yield running


@pytest.fixture
def site(served: Running) -> Running:
    """Return a server without a scan so far; one card is cached."""
    service = served.service
    assert isinstance(service, StoredService)
    service.spent.clear()
    service.recent.clear()
    service.recent.add(CACHED)
    return served


def fields(site: Running, found: dict[str, str]) -> dict[str, str]:
    return {name: value.replace("{own}", site.base_url) for name, value in found.items()}


def scans(site: Running) -> int:
    """Return the scans that were paid for."""
    service = site.service
    assert isinstance(service, StoredService)
    return sum(service.spent.values())


@pytest.mark.parametrize("found", FROM_ELSEWHERE.values(), ids=FROM_ELSEWHERE)
def test_a_request_of_another_site_scans_nothing(site: Running, found: dict[str, str]) -> None:
    headers = fields(site, found)
    for path in ("/api/scan?url=new.example", f"/api/scan?url={CACHED}&force=true"):
        answer = site.get(path, headers=headers)
        assert answer.status_code == 403
        assert answer.headers["content-type"] == "application/problem+json"
        problem = answer.json()
        assert problem["title"] == "Cross-site request refused"
        assert problem["type"] == f"{site.base_url}/problems#cross-site-request-refused"
        assert f"{site.base_url}/" in problem["detail"]
    posted = site.request("POST", "/scan", data={"url": "new.example"}, headers=headers)
    assert posted.status_code == 403
    assert scans(site) == 0


@pytest.mark.parametrize("found", FROM_ELSEWHERE.values(), ids=FROM_ELSEWHERE)
def test_what_is_there_already_is_readable_from_anywhere(site: Running, found: dict[str, str]) -> None:
    headers = fields(site, found)
    assert site.get(f"/api/scan?url={CACHED}", headers=headers).json()["host"] == CACHED
    for path in (f"/api/site/{WALLED.host}.json", "/api/index.json", f"/site/{WALLED.host}", "/"):
        assert site.get(path, headers=headers).status_code == 200
    shown = site.request("POST", "/scan", data={"url": CACHED}, headers=headers)
    assert (shown.status_code, shown.headers["location"]) == (303, f"/site/{CACHED}")
    assert scans(site) == 0


@pytest.mark.parametrize("found", FROM_HERE.values(), ids=FROM_HERE)
def test_own_pages_and_programs_scan(site: Running, found: dict[str, str]) -> None:
    headers = fields(site, found)
    assert site.get("/api/scan?url=new.example", headers=headers).status_code == 200
    assert site.get(f"/api/scan?url={CACHED}&force=true", headers=headers).status_code == 200
    assert site.request("POST", "/scan", data={"url": "other.example"}, headers=headers).status_code == 303
    assert scans(site) == 3


def test_an_admitted_site_may_scan_and_read_and_no_other() -> None:
    app = {"Origin": "https://app.example", "Sec-Fetch-Site": "cross-site"}
    with serving(StoredService(), allow_origin=("https://App.example:443",)) as running:
        answer = running.get("/api/scan?url=one.example", headers=app)
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == "https://app.example"
        image = {"Referer": "https://app.example/", "Sec-Fetch-Site": "cross-site"}
        assert running.get("/api/scan?url=two.example", headers=image).status_code == 200
        for origin in ("https://evil.example", "http://app.example", "https://app.example:8443", "null"):
            other = running.get("/api/scan?url=three.example", headers={**app, "Origin": origin})
            assert other.status_code == 403
            assert "access-control-allow-origin" not in other.headers


def test_a_site_that_may_read_may_not_scan() -> None:
    app = {"Origin": "https://app.example", "Sec-Fetch-Site": "cross-site"}
    with serving(StoredService(), cors=("https://app.example", "*")) as running:
        assert running.get("/api/index.json", headers=app).headers["access-control-allow-origin"]
        assert running.get("/api/scan?url=one.example", headers=app).status_code == 403


@pytest.mark.parametrize("found", [*FROM_HERE.values(), *FROM_ELSEWHERE.values()])
@pytest.mark.parametrize("asked", ["url=new.example", f"url={CACHED}", f"url={CACHED}&force=true", "url=nonsense", ""])
def test_head_answers_as_get_without_a_body(site: Running, found: dict[str, str], asked: str) -> None:
    headers, path = fields(site, found) | {"Accept-Encoding": "identity"}, f"/api/scan?{asked}"
    site.get(path, headers=headers)
    get, head = site.get(path, headers=headers), site.request("HEAD", path, headers=headers)
    names = ("cache-status", "content-length", "content-type")[get.headers.get("cache-status", "").count("request") :]
    assert head.content == b""
    assert (head.status_code, *map(head.headers.get, names)) == (get.status_code, *map(get.headers.get, names))


@pytest.mark.parametrize("found", FROM_ELSEWHERE.values(), ids=FROM_ELSEWHERE)
def test_the_tools_are_not_for_another_site(site: Running, found: dict[str, str]) -> None:
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "scan", "arguments": {"url": "a.example"}},
    }
    headers = {**fields(site, found), "Accept": "application/json"}
    assert site.request("POST", "/mcp", json=call, headers=headers).status_code == 403
    assert scans(site) == 0


PROXIES = tuple(ipaddress.ip_network(text) for text in ("10.0.0.0/8", "fd00::/8"))


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("203.0.113.7", (), "203.0.113.7"),
        ("203.0.113.7", ("198.51.100.1",), "203.0.113.7"),
        ("10.0.0.1", ("198.51.100.1",), "198.51.100.1"),
        ("10.0.0.1", ("6.6.6.6, 198.51.100.1",), "198.51.100.1"),
        ("10.0.0.1", ("6.6.6.6, 198.51.100.1, 10.9.9.9",), "198.51.100.1"),
        ("10.0.0.1", ("6.6.6.6", "198.51.100.1"), "198.51.100.1"),
        ("10.0.0.1", ("198.51.100.1:5431",), "198.51.100.1"),
        ("10.0.0.1", ("[2001:db8:1:2::9]:443",), "2001:db8:1:2::/64"),
        ("10.0.0.1", ("198.51.100.1, unknown",), "10.0.0.1"),
        ("10.0.0.1", ("198.51.100.1, unknown, 10.2.2.2",), "10.2.2.2"),
        ("10.0.0.1", ("",), "10.0.0.1"),
        ("10.0.0.1", ("10.3.3.3, 10.2.2.2",), "10.3.3.3"),
        ("2001:db8:1:2:3:4:5:6", (), "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1", (), "2001:db8:1:2::/64"),
        ("::ffff:203.0.113.7", (), "203.0.113.7"),
        ("fe80::1%eth0", (), "fe80::/64"),
        ("fd00::1", ("2001:db8::5",), "2001:db8::/64"),
        ("", (), "local"),
    ],
)
def test_client_is_the_peer_or_the_right_most_untrusted_hop(peer: str, forwarded: tuple[str, ...], client: str) -> None:
    assert identify(peer, forwarded, PROXIES) == client


@pytest.mark.ci
def test_without_trusted_proxies_a_hundred_forwarded_names_share_ten_scans() -> None:
    with serving(StoredService()) as running:
        codes = [
            running.get(
                "/api/scan",
                params={"url": f"s{number}.example"},
                headers={
                    "X-Forwarded-For": f"198.51.100.{number}",
                    "Forwarded": f"for=198.51.100.{number}",
                    "X-Real-IP": f"198.51.100.{number}",
                },
            ).status_code
            for number in range(100)
        ]
    assert codes.count(200) == 10
    assert codes.count(429) == 90


@pytest.mark.ci
def test_behind_a_trusted_proxy_each_client_has_ten_scans() -> None:
    service = StoredService()
    with serving(service, trusted_proxies=("127.0.0.0/8",)) as running:
        for number in range(12):
            running.get(
                "/api/scan",
                params={"url": f"s{number}.example"},
                headers={"X-Forwarded-For": f"6.6.6.{number}, 198.51.100.{number % 2}"},
            )
    assert dict(service.spent) == {"198.51.100.0": 6, "198.51.100.1": 6}
