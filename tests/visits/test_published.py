"""Published ranges, fetched from files on loopback in the forms that vendors use."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from aui_tui.addresses import address_of
from aui_tui.errors import ConfigError, RecordError
from aui_tui.model.visits import Visits
from aui_tui.scan.policy import ScanPolicy
from aui_tui.visits import clients, logs
from aui_tui.visits.counting import LogOptions
from aui_tui.visits.ranges import RangeBook, allow_list, published
from tests.loopback import QuietHandler, listening

V4, V6 = "20.42.10.176/28", "2a01:4f8::/48"
STYLES = {
    "google": {"creationTime": "2026-11-20T00:00:00", "prefixes": [{"ipv4Prefix": V4}, {"ipv6Prefix": V6}]},
    "aws": {"syncToken": "1", "prefixes": [{"ip_prefix": V4}], "ipv6_prefixes": [{"ipv6_prefix": V6}]},
    "plain": [V4, V6],
}
LINE = '{address} - - [19/Nov/2026:04:54:30 +0000] "GET / HTTP/1.1" 200 512 "-" "{agent}/1.0"\n'


class Vendor(QuietHandler):
    """Serves ``server.body``, with an ETag; ``/moved`` redirects."""

    def do_GET(self) -> None:
        server = self.server
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/list")
            self.end_headers()
            return
        if self.headers.get("If-None-Match") == '"one"' and server.status == 200:
            self.send_response(304)
            self.end_headers()
            return
        self.send_response(server.status)
        self.send_header("ETag", '"one"')
        self.send_header("Content-Length", str(len(server.body)))
        self.end_headers()
        self.wfile.write(server.body)


@pytest.fixture
def vendor() -> Iterator[Any]:
    with listening(Vendor) as server:
        server.status, server.body = 200, json.dumps(STYLES["google"]).encode()
        yield server


@pytest.fixture
def address(vendor: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of the list of Claude, in place of the vendor's."""
    url = f"http://127.0.0.1:{vendor.server_port}/moved"
    table = {
        name: msgspec.structs.replace(client, ip_ranges=url if client.token == "Claude-User" else "")
        for name, client in clients.clients().items()
    }
    for module in ("clients", "logs"):
        monkeypatch.setattr(f"aui_tui.visits.{module}.clients", lambda: table)
    return url


ACCESS = ScanPolicy(allow_private=True)


async def verified(folder: Path, *addresses: str, agent: str = "Claude-User") -> Visits:
    log = folder / "access.log"
    log.write_text("".join(LINE.format(address=one, agent=agent) for one in addresses))
    ranges, fetched = RangeBook(folder / "ranges").ranges()
    files = [str(log)]
    return logs.record(logs.count(files, LogOptions(), ranges), files, LogOptions(), fetched)


@pytest.mark.parametrize("style", STYLES)
async def test_lists_of_every_style_verify(tmp_path: Path, vendor: Any, address: str, style: str) -> None:
    vendor.body = json.dumps(STYLES[style]).encode()
    done = await RangeBook(tmp_path / "ranges").update(ACCESS)
    assert [(one.state, one.detail) for one in done] == [("fetched", "2 ranges")]
    inside = ("20.42.10.176", "20.42.10.191", "2a01:4f8::9", "::ffff:20.42.10.177")
    outside = ("20.42.10.192", "2a01:4f9::1", "198.51.100.1")
    claude = (await verified(tmp_path, *inside, *outside, "hashed")).visitors[0]
    assert (claude.addresses, claude.verified, claude.outside, claude.unchecked) == ("checked", 4, 3, 1)


async def test_a_list_is_asked_for_again_by_its_etag(
    tmp_path: Path, vendor: Any, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = RangeBook(tmp_path / "ranges")
    monkeypatch.setattr(time, "time", lambda: 1_795_000_000)
    await book.update(ACCESS)
    monkeypatch.setattr(time, "time", lambda: 1_795_100_000)
    assert [one.state for one in await book.update(ACCESS)] == ["unchanged"]
    assert book.ranges()[1][address].fetched_at.startswith("2026-11-19")


@pytest.mark.parametrize(
    ("status", "body", "why"),
    [
        (500, b"{}", "status 500"),
        (404, b"", "status 404"),
        (200, b"<html>moved</html>", "it is not JSON, nor a page with JSON in it"),
        (200, b'{"prefixes": []}', "it holds no address ranges"),
        (200, b'["0.0.0.0/0"]', "its range 0.0.0.0/0 covers a large part of the Internet"),
        (200, b"[" * 100_000, "it is not JSON, nor a page with JSON in it"),
    ],
)
async def test_a_broken_list_keeps_the_one_before(
    tmp_path: Path, vendor: Any, address: str, status: int, body: bytes, why: str
) -> None:
    book = RangeBook(tmp_path / "ranges")
    await book.update(ACCESS)
    vendor.status, vendor.body = status, body
    kept = book.kept(address)
    for path in (tmp_path / "ranges").iterdir():
        path.write_text(path.read_text().replace('\\"one\\"', '\\"two\\"'))
    done = await book.update(ACCESS)
    assert [one.state for one in done] == ["failed"]
    assert done[0].detail.startswith(why)
    assert kept is not None
    assert book.kept(address).prefixes == kept.prefixes


async def test_not_fetched_none_published_and_outside_are_three_words(
    tmp_path: Path, vendor: Any, address: str
) -> None:
    assert (await verified(tmp_path, "198.51.100.1")).visitors[0].addresses == "not fetched"
    await RangeBook(tmp_path / "ranges").update(ACCESS)
    claude = (await verified(tmp_path, "198.51.100.1")).visitors[0]
    assert (claude.addresses, claude.outside) == ("checked", 1)
    assert (await verified(tmp_path, "198.51.100.1", agent="Devin")).visitors[0].addresses == "none published"


async def test_a_kept_list_that_is_broken_counts_as_not_fetched(tmp_path: Path, vendor: Any, address: str) -> None:
    book = RangeBook(tmp_path / "ranges")
    await book.update(ACCESS)
    next((tmp_path / "ranges").iterdir()).write_text("{")
    assert book.ranges() == ({}, {})
    assert book.broken == [address]


@pytest.mark.parametrize(
    ("peer", "reason"),
    [("10.0.0.7", "private addresses"), ("104.16.1.7", "addresses of Cloudflare"), ("203.0.113.0", "masked")],
)
async def test_addresses_that_are_no_clients_are_not_checked(
    tmp_path: Path, vendor: Any, address: str, peer: str, reason: str
) -> None:
    await RangeBook(tmp_path / "ranges").update(ACCESS)
    record = await verified(tmp_path, *[peer] * 20)
    assert reason in record.verification
    claude = record.visitors[0]
    assert (claude.addresses, claude.verified, claude.outside, claude.unchecked) == ("off", 0, 0, 20)
    assert record.kind == ("origin" if "Cloudflare" in reason else "unknown")


def test_json_inside_a_page_is_found() -> None:
    page = b'<p>{"note": 1}</p><pre>{&quot;prefixes&quot;: [{&quot;ip_prefix&quot;: &quot;52.4.0.0/24&quot;}]}</pre>'
    assert published(page) == ["52.4.0.0/24"]
    with pytest.raises(RecordError):
        published(b"")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("192.0.2.1:443", "192.0.2.1"),
        ("[2001:db8::1]:443", "2001:db8::1"),
        ("fe80::1%eth0", "fe80::1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("unix:", None),
        ("-", None),
    ],
)
def test_addresses_as_logs_write_them(text: str, found: str | None) -> None:
    parsed = address_of(text)
    assert (str(parsed) if parsed else None) == found


CHECKS = {
    "nginx": (
        "nginx",
        "events {{}} http {{ geo $agent_range {{ default 0; include {rules}; }} }}",
        ("nginx", "-t", "-q", "-c", "{config}"),
    ),
}


@pytest.mark.real_server
@pytest.mark.parametrize("form", CHECKS)
async def test_an_allow_list_passes_the_servers_own_checker(tmp_path: Path, address: str, form: str) -> None:
    program, config, check = CHECKS[form]
    if shutil.which(program) is None:
        pytest.skip(f"needs {program}")
    book = RangeBook(tmp_path / "ranges")
    await book.update(ACCESS)
    rules, file = tmp_path / "rules", tmp_path / "config"
    rules.write_text(allow_list(book, form))
    file.write_text(config.format(rules=rules, config=file))
    done = subprocess.run([word.format(config=file) for word in check], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "20.42.10.176/28" in rules.read_text()


async def test_an_allow_list_keeps_its_ranges_when_a_download_fails(
    tmp_path: Path, vendor: Any, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = RangeBook(tmp_path / "ranges")
    with pytest.raises(ConfigError, match="No address ranges were fetched yet"):
        allow_list(book, "nginx")
    await book.update(ACCESS)
    before = allow_list(book, "nginx")
    assert "20.42.10.176/28 1;" in before
    assert "2a01:4f8::/48 1;" in before
    vendor.status, vendor.body = 500, b""
    assert [done.state for done in await book.update(ACCESS)] == ["failed"]
    assert allow_list(book, "nginx") == before
    later = time.time() + 31 * 86400
    monkeypatch.setattr(time, "time", lambda: later)
    assert "over 30 days old" in allow_list(book, "nginx")
    assert allow_list(book, "cloudflare").split() == ["20.42.10.176/28", "2a01:4f8::/48"]
