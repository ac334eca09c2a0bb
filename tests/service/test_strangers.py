"""What a stranger sends changes nothing for others: cards, records from the future, kept answers, HEAD."""

from __future__ import annotations

import json
import re
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil
import pytest
import trustme

from aui_tui.model import codec
from aui_tui.model.times import stamp
from aui_tui.scan.policy import ConnectTo, ScanPolicy
from aui_tui.service.publication import Publication
from tests.cards import RICH_OPEN, WALLED
from tests.cli.runner import aui, here
from tests.loopback import QuietHandler, listening
from tests.service.serving import Running, serving
from tests.service.test_serve import Served, served

PLACES = ("first", "second", "third", "fourth")
"""Shops of one server, one for each test, so that no test finds the cards of another."""
TRUST = {"AUI_TUI_CACERT": "ca.pem"}


def shop_at(place: str) -> str:
    return f"{place}.oak-and-thread.com"


def titled(title: str) -> type[QuietHandler]:
    """Return a site whose homepage has this title."""

    class Handler(QuietHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            page = f"<!doctype html><title>{title}</title><main>" + "words " * 60
            self.reply(200 if self.path == "/" else 404, page.encode() if self.path == "/" else b"none")

    return Handler


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the program, with the certificate that it trusts."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def rules(home: Path) -> Iterator[tuple[str, ...]]:
    """The rules that lead to shops on port 443, and to a default page on port 80."""
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*map(shop_at, PLACES)).configure_cert(context)
    authority.cert_pem.write_to_path(str(home / "ca.pem"))
    with listening(titled("The shop"), context) as tls, listening(titled("Default page")) as plain:
        ports = {443: tls.server_port, 80: plain.server_port}
        yield tuple(
            word
            for place in PLACES
            for port, to in ports.items()
            for word in ("--connect-to", f"{shop_at(place)}:{port}:127.0.0.1:{to}")
        )


@pytest.fixture(scope="module")
def running(home: Path, rules: tuple[str, ...]) -> Iterator[Served]:
    with served(home, *rules, env=TRUST) as running:
        yield running


@contextmanager
def published(home: Path, folder: Path, rules: tuple[str, ...]) -> Iterator[Running]:
    """Serve an index of its own, empty at first, in this process."""
    access = ScanPolicy(connect_to=tuple(map(ConnectTo.parse, rules[1::2])), cafile=str(home / "ca.pem"))
    with serving(Publication(folder, access=access)) as running:
        yield running


def asked(running: Served, url: str) -> tuple[str, str]:
    """Return the title on the card that a scan of ``url`` gives, and whether it came from the cache."""
    answer = running.get(f"/api/scan?url={url}")
    assert answer.status_code == 200, answer.text
    return answer.json()["human_title"], answer.headers["cache-status"].partition("; ")[2][:3]


@pytest.mark.parametrize(
    ("place", "scheme"), [("first", ""), ("second", "https://"), ("third", "http://")], ids=["host", "https", "http"]
)
def test_a_visitor_replaces_no_card_by_the_page_of_another_port(
    home: Path, running: Served, place: str, scheme: str
) -> None:
    host = shop_at(place)
    for url in (scheme + host, host, f"http://{host}"):
        asked(running, url)
    assert asked(running, host) == ("The shop", "hit")
    assert asked(running, f"http://{host}:80") == ("Default page", "hit")
    card = running.get(f"/api/site/{host}.json").json()
    assert card["human_title"] == "The shop"
    [row] = [row for row in running.get("/api/index.json").json()["ranked"] if row["host"].startswith(place)]
    assert (row["host"], row["scanned_at"]) == (host, card["scanned_at"])
    assert card["grade"] in re.sub("<[^>]*>", " ", running.get(f"/badge/{host}.svg").text)
    assert json.loads(here(home, "site", host, "--json").out)["human_title"] == "The shop"


def listed(running: Served) -> list[str]:
    return [row["host"] for row in running.get("/api/index.json").json()["ranked"]]


def test_a_visitor_lists_no_host_by_the_page_of_another_port(running: Served) -> None:
    host = shop_at("fourth")
    assert asked(running, f"http://{host}") == ("Default page", "fwd")
    assert host not in listed(running)
    assert running.get(f"/api/site/{host}.json").status_code == 404
    assert asked(running, host) == ("The shop", "fwd")
    assert host in listed(running)


def test_an_owners_look_at_staging_is_not_the_card_of_the_shop(
    home: Path, tmp_path: Path, rules: tuple[str, ...]
) -> None:
    host = shop_at("first")
    with published(home, tmp_path / "data", rules) as running:
        assert running.get(f"/api/scan?url={host}").json()["human_title"] == "The shop"
    done = here(tmp_path, "scan", f"http://{host}", *rules, "--json", "-q")
    assert json.loads(done.out)["human_title"] == "Default page"
    assert json.loads(here(tmp_path, "site", host, "--json").out)["human_title"] == "The shop"


def test_a_record_from_the_future_is_refused_on_import(tmp_path: Path) -> None:
    ahead = {"in-time.example": 240.0, "soon.example": 360.0, "late.example": 7973 * 365.25 * 86400.0}
    lines = []
    for host, seconds in ahead.items():
        card = json.loads(codec.encode_card(RICH_OPEN)) | {"host": host}
        lines.append(json.dumps(card | {"scanned_at": stamp(min(time.time() + seconds, 253402300799))}))
    row = json.loads(codec.encode_summary(WALLED.summary())) | {"scanned_at": "9999-01-01T00:00:00.000Z"}
    (tmp_path / "cards.ndjson").write_text("\n".join([*lines, json.dumps(row)]))
    done = here(tmp_path, "import", "cards.ndjson")
    assert done.err.count("is more than five minutes ahead.") == 3
    assert "line 2: Its time " in done.err
    listed = json.loads(here(tmp_path, "index", "--json").out)
    assert [row["host"] for row in listed["ranked"]] == ["in-time.example"]


def test_head_starts_no_scan_and_answers_from_what_is_kept(home: Path, tmp_path: Path, rules: tuple[str, ...]) -> None:
    host = shop_at("first")
    with published(home, tmp_path, rules) as running:
        path, plain = f"/api/scan?url={host}", {"headers": {"Accept-Encoding": "identity"}}

        def head(extra: str = "") -> tuple[int, str]:
            answer = running.request("HEAD", path + extra, **plain)
            return answer.status_code, answer.headers.get("content-length", "") if answer.status_code == 200 else ""

        for _ in range(12):
            assert head() == (404, "")
        assert head("&force=true") == (404, "")
        assert running.get("/api/index.json").json()["ranked"] == []
        got = running.get(path, **plain)
        assert got.headers["ratelimit"].startswith('"scan";r=9;')
        for extra in ("", "&force=true"):
            assert head(extra) == (200, got.headers["content-length"])
        assert running.get(path).headers["ratelimit"].startswith('"scan";r=9;')


PAGES: dict[str, Callable[[int], str]] = {
    "beyond the end": lambda number: f"limit=5&offset={number + 10}",
    "of many lengths": lambda number: f"limit={number + 1}",
}


@pytest.mark.slow
@pytest.mark.parametrize("pages", PAGES)
def test_no_number_of_pages_makes_a_server_grow(tmp_path: Path, pages: str) -> None:
    (tmp_path / "one.json").write_bytes(codec.encode_card(RICH_OPEN))
    assert aui(tmp_path, "import", "one.json").code == 0
    with served(tmp_path) as running, httpx.Client(base_url=running.url, trust_env=False, timeout=60) as client:

        def ask(numbers: range) -> int:
            for number in numbers:
                assert client.get(f"/api/index.json?{PAGES[pages](number)}").status_code == 200
            return psutil.Process(running.process.pid).memory_info().rss

        ask(range(2000))
        before = ask(range(2000, 3000))
        assert ask(range(3000, 7000)) - before < 4 << 20
