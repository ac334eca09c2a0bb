"""What is refused before any work, what a peer cannot hold up (threats 46 and 47)."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import msgspec
import pytest
from starlette.types import Receive, Scope, Send

from aui_tui import web
from aui_tui.web.answers import ResponseCache
from aui_tui.web.guard import Connection, GuardMiddleware
from tests.cards import WALLED
from tests.service.serving import PATIENCE, Running, serving
from tests.service.waiting import eventually
from tests.stored_service import StoredService, many


@pytest.fixture(scope="module")
def site() -> Iterator[Running]:
    with serving(StoredService(), base_url="https://index.example") as running:
        yield running


def raw(running: Running, data: bytes) -> bytes:
    """Return everything that the server sends after ``data`` until it closes."""
    with socket.create_connection(("127.0.0.1", running.port), timeout=PATIENCE) as peer:
        peer.sendall(data)
        found = b""
        while True:
            part = peer.recv(65536)
            if not part:
                return found
            found += part


@pytest.mark.parametrize(
    ("target", "host", "status"),
    [
        ("http://localhost/healthz", "localhost", 200),
        ("http://index.example/api/index.json?limit=1", "evil.example", 200),
        ("HTTPS://index.example", "index.example", 200),
        ("http://evil.example/healthz", "index.example", 421),
        ("http:///healthz", "index.example", 421),
        ("http://a@index.example/healthz", "index.example", 400),
    ],
)
def test_a_target_with_a_host_is_answered_and_its_host_counts(
    site: Running, target: str, host: str, status: int
) -> None:
    head = f"GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    assert raw(site, head.encode()).startswith(f"HTTP/1.1 {status} ".encode())


@contextmanager
def connected(running: Running, count: int) -> Iterator[list[socket.socket]]:
    """Open ``count`` connections to the server; close them at the end."""
    with ExitStack() as stack:
        address = ("127.0.0.1", running.port)
        yield [stack.enter_context(socket.create_connection(address, timeout=PATIENCE)) for _ in range(count)]


def closed(peer: socket.socket) -> bool:
    """Say whether the server closes the connection, instead of letting the socket's own time limit pass."""
    try:
        while peer.recv(65536):
            pass
        return True
    except TimeoutError:
        return False
    except ConnectionResetError:
        return True


OWN = ("index.example", "INDEX.example:443", "127.0.0.1", "127.0.0.1:9", "localhost:1", "[::1]:80", "127.8.8.8")
OTHERS = ("evil.example", "index.example.evil.example", "127.0.0.1.nip.io", "10.0.0.1", "", "[::ffff:8.8.8.8]")
NO_HOSTS = (
    *("localhost:abc", "localhost:65536", "localhost:-1", "localhost:80:80", "index.example:443@evil.example", "a b"),
    *("index.example/x", "index.example?x", "http://index.example", "[::1]x", "[localhost]", "a\x7fb"),
)


@pytest.mark.parametrize(
    ("host", "status"),
    [*((host, 200) for host in OWN), *((host, 421) for host in OTHERS), *((host, 400) for host in NO_HOSTS)],
)
def test_only_the_own_name_and_loopback_literals_are_served(site: Running, host: str, status: int) -> None:
    for path in ("/healthz", "/.well-known/http-message-signatures-directory", "/", "/mcp"):
        found = raw(site, f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        if path == "/healthz" or status != 200:
            assert found.startswith(f"HTTP/1.1 {status} ".encode()), path
        if status == 421:
            assert b"content-type: application/problem+json" in found


def test_a_request_without_host_is_refused(site: Running) -> None:
    assert raw(site, b"GET /healthz HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 400")
    assert raw(site, b"GET /healthz HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 421")


async def test_a_service_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aui_tui.web.answers.REQUEST_SECONDS", 0.1)

    async def never(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(60)

    async def stamp() -> str:
        return ""

    guard = GuardMiddleware(ResponseCache(never, stamp), web.checked_config("http://127.0.0.1:1"))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(guard), base_url="http://127.0.0.1:1") as client:
        answer = await client.get("/api/index.json")
    assert answer.status_code == 503
    assert answer.json()["detail"] == "The answer took too long."


def test_no_other_origin_may_read_unless_configured(site: Running) -> None:
    asked = {"Origin": "https://app.example"}
    assert "access-control-allow-origin" not in site.get("/api/index.json", headers=asked).headers
    with serving(StoredService(), cors=("https://app.example",)) as running:
        answer = running.get("/api/index.json", headers=asked)
        assert answer.headers["access-control-allow-origin"] == "https://app.example"
        other = running.get("/api/index.json", headers={"Origin": "https://evil.example"})
        assert "access-control-allow-origin" not in other.headers
        preflight = running.request("OPTIONS", "/api/scan", headers={**asked, "Access-Control-Request-Method": "GET"})
        assert preflight.status_code == 200


def test_a_request_with_two_lengths_is_refused_and_the_connection_closed(site: Running) -> None:
    hidden = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    head = b"POST /scan HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = raw(site, head + b"0\r\n\r\n" + hidden)
    assert answer.startswith(b"HTTP/1.1 400")
    assert answer.count(b"HTTP/1.1 ") == 1


def test_long_addresses_and_many_fields_are_refused(site: Running) -> None:
    assert site.get("/api/index.json?x=" + "a" * web.MAX_TARGET).status_code == 414
    assert site.get("/healthz", headers={f"X-{n}": "1" for n in range(web.MAX_FIELDS)}).status_code == 431
    assert site.get("/healthz", headers={"X-Big": "a" * web.MAX_HEAD}).status_code == 431
    endless = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 20_000
    assert raw(site, endless).startswith(b"HTTP/1.1 400")
    fields = b"".join(b"X-%d: 1\r\n" % n for n in range(10_000))
    answer = raw(site, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + fields + b"\r\n")
    assert answer.startswith((b"HTTP/1.1 400", b"HTTP/1.1 431"))
    assert b"application/problem+json" in answer


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n X: folded\x00\r\n\r\n",
    ],
)
def test_bytes_that_are_no_request_are_answered_400_and_closed(site: Running, data: bytes) -> None:
    assert raw(site, data).startswith(b"HTTP/1.1 400")


def test_a_body_is_bounded(site: Running) -> None:
    for path in ("/scan", "/mcp"):
        assert site.request("POST", path, content=b"url=" + b"a" * (web.MAX_BODY + 1)).status_code == 413


def test_a_slow_head_is_cut_while_others_are_served(site: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Connection, "request_seconds", 0.6)
    with connected(site, 1) as [silent], connected(site, 30) as peers:
        started = time.monotonic()
        for peer in peers:
            peer.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n")
        while peers and time.monotonic() - started < PATIENCE:
            for peer in list(peers):
                try:
                    peer.sendall(b"X: 1\r\n")
                except OSError:
                    peers.remove(peer)
                    peer.close()
            assert site.get("/healthz").status_code == 200
            time.sleep(0.05)
        assert not peers
        assert closed(silent)


def test_a_kept_connection_has_no_more_time_for_its_second_head(site: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Connection, "request_seconds", 0.5)
    with socket.create_connection(("127.0.0.1", site.port), timeout=PATIENCE) as peer:
        peer.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert peer.recv(65536).startswith(b"HTTP/1.1 200")
        peer.sendall(b"GET /hea")
        started = time.monotonic()
        assert closed(peer)
        assert time.monotonic() - started < web.SEND_SECONDS


def long_answers() -> StoredService:
    """Return a service whose index takes 10 MB, more than the system keeps of what a peer does not take."""
    return StoredService(msgspec.structs.replace(card, name="N" * 10_000) for card in many(1_000))


@pytest.mark.ci
def test_a_peer_that_takes_nothing_of_a_long_answer_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Connection, "stall_seconds", 0.5)
    with serving(long_answers()) as running:
        peer = socket.socket()
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        peer.settimeout(PATIENCE)
        peer.connect(("127.0.0.1", running.port))
        peer.sendall(b"GET /api/index.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
        state = running.server.server_state
        assert peer.recv(1, socket.MSG_PEEK), "the answer has begun"
        eventually(lambda: not state.connections)
        peer.close()
        eventually(lambda: not state.tasks)


@pytest.mark.ci
def test_peers_that_take_nothing_make_room_where_they_hold_every_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Connection, "max_open", 8)
    with serving(long_answers()) as running, ExitStack() as stalled:
        for _ in range(8):
            peer = stalled.enter_context(socket.socket())
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            peer.connect(("127.0.0.1", running.port))
            peer.sendall(b"GET /api/index.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
        eventually(lambda: sum(one.flow.write_paused for one in Connection.open_now) == 8)
        for _ in range(8):
            assert httpx.get(f"{running.base_url}/healthz", timeout=PATIENCE, verify=False).status_code == 200


def test_a_body_that_does_not_come_is_waited_for_as_a_head_is(site: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Connection, "request_seconds", 0.5)
    with connected(site, 5) as peers:
        started = time.monotonic()
        for peer in peers:
            peer.sendall(b"POST /scan HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n")
        assert all(closed(peer) for peer in peers)
        assert time.monotonic() - started < web.SEND_SECONDS
    recovered(site)


def test_over_the_limit_of_connections_the_answer_is_problem_details(
    site: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet(site)
    monkeypatch.setattr(Connection, "max_open", len(Connection.open_now))
    refused = site.get("/api/index.json")
    monkeypatch.undo()
    assert refused.status_code == 503
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.headers["connection"] == "close"
    assert int(refused.headers["retry-after"]) > 0
    assert refused.json()["type"].endswith("#unavailable")
    recovered(site)


def quiet(site: Running) -> None:
    """Return once the server has seen all its connections end; fails when it never does."""
    eventually(lambda: not site.server.server_state.connections)


def recovered(site: Running) -> None:
    """Assert that the server serves again once all its connections have ended."""
    quiet(site)
    assert site.get("/healthz").status_code == 200


def test_every_answer_has_the_safe_fields(site: Running) -> None:
    for path in ("/", "/api/index.json", "/api/nothing", f"/api/site/{WALLED.host}.json"):
        fields = site.get(path).headers
        assert fields["x-content-type-options"] == "nosniff"
        assert fields["referrer-policy"] == "same-origin"
        assert "server" not in fields


def test_each_request_is_one_clean_log_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log"
    with log.open("w") as stderr, monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", stderr)  # not capfd, which loses what is written while it reads
        with serving(StoredService(), logged=True) as running:
            raw(running, b"GET /api/%0d%0aevil\x1b[2J HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            running.get("/api/index.json?stance=Open%0a%1b")
    line = r'\S+Z aui_tui\.access 127\.0\.0\.1 "GET /api/index\.json\?stance=Open%0a%1b" 400 \d+ \d+\.\dms'
    assert re.search(line, log.read_text())
    assert "\x1b" not in log.read_text()


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET /healthz HTTP/1.1\r\nHost: ",
        b"POST /scan HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n",
    ],
)
def test_connections_that_wait_make_room_for_one_that_asks(
    site: Running, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    quiet(site)
    monkeypatch.setattr(Connection, "max_open", len(Connection.open_now) + 20)
    with connected(site, 60) as waiting:
        for peer in waiting:
            with contextlib.suppress(OSError):
                peer.sendall(sent)
        for _ in range(20):
            assert site.get("/healthz").status_code == 200
        assert site.get("/api/index.json").status_code == 200
        assert len(Connection.open_now) <= Connection.max_open
    recovered(site)
