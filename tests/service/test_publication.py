"""The local index as it is published: clients apart, favours taken back, and the service's own pages as a model."""

from __future__ import annotations

import asyncio
import pickle
import socket
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import aclosing, closing, contextmanager
from functools import partial
from pathlib import Path

import psutil
import pytest

from aui_tui.errors import InvalidHost, NeverScanned, ScansRefused
from aui_tui.index.store import Store
from aui_tui.model.observations import Observations
from aui_tui.model.options import ScanOptions
from aui_tui.model.progress import Progress
from aui_tui.scan.policy import ConnectTo, ScanPolicy
from aui_tui.scan.signing import Signer, new_key
from aui_tui.scan.target import Target
from aui_tui.service.local import LocalService
from aui_tui.service.publication import Publication
from tests.cards import SAMPLES
from tests.service.serving import Running, serving

PRIVATE = ("127.0.0.1", "http://10.0.0.1/", "localhost", "example.com:8080", "[::1]")


@contextmanager
def publishing(folder: Path) -> Iterator[Running]:
    publication = Publication(folder)
    publication.store.put_many((card, None) for card in SAMPLES)
    with serving(publication) as running:
        yield running


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """An index that nobody changes."""
    with publishing(tmp_path_factory.mktemp("published")) as running:
        yield running


@pytest.mark.parametrize("method", ["v0.1", "v0.2"])
async def test_own_service_scores_100_and_is_open(published: Running, tmp_path: Path, method: str) -> None:
    access = ScanPolicy(allow_private=True)
    async with aclosing(LocalService(tmp_path / "own", access=access, method=method)) as scanner:
        card = (await scanner.scan(published.base_url)).card
    assert (card.score, card.grade, card.stance) == (100, "A", "Open"), card.evidence
    assert card.recommendations == ()
    assert card.files == ("llms.txt",)


@pytest.mark.parametrize("path", ["/api/index.json", f"/api/site/{SAMPLES[0].host}.json", f"/site/{SAMPLES[0].host}"])
def test_a_client_that_asks_by_time_alone_learns_of_a_deletion(tmp_path: Path, path: str) -> None:
    index = tmp_path / "index.db"
    with publishing(tmp_path) as running:
        with closing(sqlite3.connect(index)) as db, db:
            db.execute("UPDATE meta SET at = at - 3600000")  # an hour ago
        first = running.get(path)
        known = {"If-Modified-Since": first.headers["last-modified"]}
        assert running.get(path, headers=known).status_code == 304
        other = Store(index)
        other.forget(min(SAMPLES, key=lambda card: card.scanned_at).host)
        other.close()
        assert running.get(path, headers=known).status_code in (200, 404)


async def test_what_the_operator_allows_himself_is_not_for_others(tmp_path: Path) -> None:
    access = ScanPolicy(
        allow_private=True,
        headers=(("X-Key", "secret-word"),),
        basic_auth=("me", "secret"),
        insecure=True,
        root_browser=True,
        signer=Signer(new_key(tmp_path), ""),
    )
    async with aclosing(Publication(tmp_path, access=access)) as publication:
        for url in PRIVATE:
            with pytest.raises(InvalidHost):
                await publication.scan(url, ScanOptions(client="a"))
        kept = publication.access
        assert (kept.headers, kept.basic_auth, kept.insecure, kept.allow_private) == ((), None, False, False)
        assert (kept.signer, kept.root_browser) == (None, False)


async def test_a_rule_of_the_operator_opens_nothing_to_others(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as sentinel:
        port = sentinel.getsockname()[1]
        rules = tuple(ConnectTo.parse(rule.format(port)) for rule in ("::127.0.0.1:{}", ":80::{}", ":::{}"))
        for rule in rules:
            async with aclosing(Publication(tmp_path, access=ScanPolicy(connect_to=(rule,)))) as publication:
                for url in (*PRIVATE, f"localhost:{port}"):
                    with pytest.raises(InvalidHost):
                        await publication.scan(url, ScanOptions(client="a"))
        sentinel.setblocking(False)
        with pytest.raises(BlockingIOError):
            sentinel.accept()


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/",
        "127.0.0.1",
        "localhost",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::ffff:127.0.0.1]/",
        "http://2130706433/",
        "example.com:8443",
        "file:///etc/passwd",
        "http://user@example.com/",
        "a\r\nb.example",
    ],
)
def test_a_remote_client_reaches_no_private_address_and_no_other_port(published: Running, url: str) -> None:
    answer = published.get("/api/scan", params={"url": url.format(port=published.port)})
    assert answer.status_code == 400
    assert answer.json()["title"] == "Invalid host"
    assert answer.headers["content-type"] == "application/problem+json"


async def test_stamp_changes_with_every_change_and_with_nothing_else(tmp_path: Path) -> None:
    async with aclosing(Publication(tmp_path)) as one, aclosing(Publication(tmp_path)) as other:
        seen = [await one.stamp()]
        assert await one.stamp() == seen[0]
        for service, card in ((one, SAMPLES[0]), (other, SAMPLES[1])):
            service.store.put(card)
            seen.append(await one.stamp())
        await one.site(SAMPLES[0].host)
        assert await one.stamp() == seen[-1]
        await other.forget(SAMPLES[0].host)
        seen.append(await one.stamp())
        assert len(set(seen)) == 4


async def test_every_client_has_scans_of_its_own(tmp_path: Path) -> None:
    async with aclosing(Publication(tmp_path)) as publication:
        publication.scans.quota.spend("203.0.113.7")
        assert (await publication.quota("203.0.113.7")).left == 9
        assert (await publication.quota("203.0.113.8")).left == 10


def test_publication_can_be_handed_to_a_worker_process(tmp_path: Path) -> None:
    rule = ConnectTo.parse("a.example::127.0.0.1:80")
    made = partial(Publication, tmp_path, access=ScanPolicy(connect_to=(rule,)))
    publication = pickle.loads(pickle.dumps(made))()
    assert publication.access.connect_to == (rule,)
    publication.store.close()


async def test_scans_at_once_are_bounded_and_a_refused_one_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow:
        running = most = 0

        async def observe(
            self, target: Target, *, access: ScanPolicy, progress: Progress, keep: object = None
        ) -> Observations:
            self.running += 1
            self.most = max(self.most, self.running)
            await asyncio.sleep(0.3)
            self.running -= 1
            raise InvalidHost(f"{target.host} leads nowhere.")

    slow = Slow()
    monkeypatch.setattr("aui_tui.service.scans.Scanner.observe", slow.observe)
    async with aclosing(Publication(tmp_path, at_once=3)) as publication:
        asked = [publication.scan(f"h{n}.com", ScanOptions(client=f"c{n}")) for n in range(8)]
        found = await asyncio.gather(*asked, return_exceptions=True)
        assert slow.most == 3
        assert Counter(type(error).__name__ for error in found) == {"InvalidHost": 6, "Unavailable": 2}
        assert [(await publication.quota(f"c{n}")).left for n in range(8)] == [10] * 8


async def nowhere(host: str) -> list[str]:
    raise OSError("no such name")


async def test_a_name_that_does_not_resolve_is_not_kept_because_a_visitor_asked(tmp_path: Path) -> None:
    async with aclosing(Publication(tmp_path, access=ScanPolicy(resolver=nowhere))) as publication:
        found = await publication.scan("gone.example.com", ScanOptions(client="visitor"))
        assert found.card.probe_dead
        assert found.warnings == ("The name gone.example.com does not resolve, so no card is kept.",)
        with pytest.raises(NeverScanned):
            await publication.site("gone.example.com")
        publication.store.put(SAMPLES[0])
        assert publication.store.history("gone.example.com") == ()


@pytest.mark.ci
async def test_a_form_for_such_a_name_says_so(tmp_path: Path) -> None:
    with serving(Publication(tmp_path, access=ScanPolicy(resolver=nowhere))) as running:
        said = running.request("POST", "/scan", data={"url": "gone.example.com"}, headers={"Origin": running.base_url})
    assert said.status_code == 404
    assert "The name gone.example.com does not resolve" in said.text


@pytest.mark.ci
async def test_read_only_lets_nobody_scan(tmp_path: Path) -> None:
    publication = Publication(tmp_path, read_only=True)
    publication.store.put_many((card, None) for card in SAMPLES)
    with pytest.raises(ScansRefused):
        await publication.scan("example.com", ScanOptions(client="visitor"))
    with serving(publication) as running:
        for force in ("", "&force=true"):
            refused = running.get(f"/api/scan?url=example.com{force}")
            assert (refused.status_code, refused.json()["type"].partition("#")[2]) == (403, "scans-refused")
        form = running.request("POST", "/scan", data={"url": "example.com"}, headers={"Origin": running.base_url})
        assert form.status_code == 403
        assert running.get(f"/api/site/{SAMPLES[0].host}.json").status_code == 200
        for path in ("/", "/site/never.example"):
            assert '<form class="scan"' not in running.get(path).text
        listed = running.request(
            "POST",
            "/mcp",
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}},
            headers={"Accept": "application/json, text/event-stream"},
            timeout=60,
        )
        assert {tool["name"] for tool in listed.json()["result"]["tools"]} == {"index", "site"}


async def test_a_service_that_scans_for_visitors_has_its_parser_up_before_they_come(tmp_path: Path) -> None:
    for read_only, children in ((True, 0), (False, 1)):
        publication = Publication(tmp_path / str(read_only), read_only=read_only)
        before = {child.pid for child in psutil.Process().children()}
        await publication.prepare()
        for _ in range(600 * children):
            if {child.pid for child in psutil.Process().children()} - before:
                break
            await asyncio.sleep(0.05)
        assert len({child.pid for child in psutil.Process().children()} - before) == children
        await publication.aclose()
