"""The small web behaves like the sites it stands for, on the wire."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from aui_tui.demo.shop import FAULTS, Request
from aui_tui.demo.web import Behaviour, DemoWeb, answers, shops, sites
from aui_tui.model.registry import registry
from aui_tui.model.vocabulary import CATEGORIES

AGENT = {agent.token: agent.user_agent for agent in registry().live}
BROWSER = registry().browser_user_agent
PATIENCE = 60
"""Seconds after which an answer that does not come fails the test."""


@pytest.fixture(scope="module")
def web() -> Iterator[DemoWeb]:
    with DemoWeb() as running:
        yield running


def get(
    web: DemoWeb, host: str, path: str = "/", user_agent: str = BROWSER, name: str = ""
) -> tuple[int, http.client.HTTPMessage, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", web.ports[host], timeout=PATIENCE)
    try:
        connection.request("GET", path, headers={"Host": name or host, "User-Agent": user_agent})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def test_table_is_sound() -> None:
    table = sites()
    assert len(table) >= 24
    assert {site.category for site in table} == set(CATEGORIES)
    assert len({site.host for site in table}) == len(table)
    tokens = set(AGENT) | {"everybody", "browser", "agents"}
    for site in table:
        for rule in (*site.rule, *site.earlier().rule):
            assert rule.to in tokens
            assert (rule.answer in answers()) != (rule.action == "hang")
    assert {fault for shop in shops() for fault in shop.shop} == set(FAULTS)


def test_every_site_that_serves_a_browser_shows_its_name(web: DemoWeb) -> None:
    for site in web.sites:
        walled = any(rule.to == "everybody" for rule in site.rule)
        if walled or site.moved or site.mode == "closed":
            continue
        status, headers, body = get(web, site.host, name=site.canonical)
        assert status == 200, site.host
        assert site.name.replace("&", "&amp;").encode() in body.replace(b"&#x27;", b"'")
        assert headers["server"] == site.headers.get("server", headers["server"])


@pytest.mark.parametrize(
    ("host", "token", "status", "field"),
    [
        ("stay.demo.test", "ChatGPT-User", 403, ("cf-mitigated", "challenge")),
        ("news.demo.test", "Claude-User", 402, ("crawler-price", "USD 0.01")),
        ("pizza.demo.test", "Google-Agent", 429, ("retry-after", "3600")),
        ("gigs.demo.test", "Perplexity-User", 202, ("x-amzn-waf-action", "challenge")),
        ("arena.demo.test", "Claude-User", 403, ("x-dd-b", "1")),
        ("outlet.demo.test", "Claude-User", 403, ("server", "nginx")),
    ],
)
def test_wall_tells_agents_from_a_browser(
    web: DemoWeb, host: str, token: str, status: int, field: tuple[str, str]
) -> None:
    refused, headers, _ = get(web, host, user_agent=AGENT[token])
    assert (refused, headers[field[0]]) == (status, field[1])
    assert get(web, host)[0] == 200
    assert get(web, host, "/robots.txt", AGENT[token])[0] == 200


def test_limiter_lets_two_a_second_through() -> None:
    now = 100.0
    crates = Behaviour(next(site for site in sites() if site.host == "packages.demo.test"), lambda: now)

    def status(agent: str) -> int:
        answer = crates.respond(Request("GET", "/", {"host": "packages.demo.test", "user-agent": agent}, b""))
        return answer.status if answer else 0

    assert [status(agent) for agent in AGENT.values()] == [200, 200, 429, 429]
    assert status(BROWSER) == 200
    now += 1
    assert status(AGENT["Claude-User"]) == 200


def test_files_redirects_and_charsets(web: DemoWeb) -> None:
    assert get(web, "fly.demo.test", "/llms.txt")[2].startswith(b"# Wingspan Air")
    status, headers, _ = get(web, "api.demo.test", "/llms.txt")
    assert (status, urlsplit(headers["location"]).hostname) == (301, "www.api.demo.test")
    assert get(web, "loop.demo.test")[1]["location"] == "/home"
    assert "Müllerstraße".encode("latin-1") in get(web, "legacy.demo.test")[2]


def test_a_wall_for_everybody_refuses_a_browser_too(web: DemoWeb) -> None:
    for agent in (BROWSER, AGENT["Claude-User"]):
        assert get(web, "tickets.demo.test", user_agent=agent)[0] == 403


def test_dead_host_refuses(web: DemoWeb) -> None:
    with pytest.raises(ConnectionRefusedError):
        get(web, "phone.demo.test")


def test_persistent_connections_and_broken_requests(web: DemoWeb) -> None:
    with socket.create_connection(("127.0.0.1", web.ports["fly.demo.test"]), timeout=PATIENCE) as peer:
        for _ in range(3):
            peer.sendall(b"HEAD / HTTP/1.1\r\nHost: fly.demo.test\r\n\r\n")
            assert peer.recv(4096).startswith(b"HTTP/1.1 200 OK\r\n")
    with socket.create_connection(("127.0.0.1", web.ports["fly.demo.test"]), timeout=PATIENCE) as peer:
        peer.sendall(b"nonsense\r\n\r\n")
        assert peer.recv(4096) == b""
    with socket.create_connection(("127.0.0.1", web.ports["fly.demo.test"]), timeout=PATIENCE) as peer:
        peer.sendall(b"POST / HTTP/1.1\r\nHost: fly.demo.test\r\nConnection: close\r\n\r\n")
        assert peer.recv(4096).startswith(b"HTTP/1.1 405 ")


def test_connect_to_rules_cover_every_name(web: DemoWeb) -> None:
    rules = web.connect_to
    assert len(rules) == 2 * sum(len(site.names) for site in web.sites)
    assert f"fly.demo.test:80:127.0.0.1:{web.ports['fly.demo.test']}" in rules
