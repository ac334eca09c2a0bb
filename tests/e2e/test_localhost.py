"""A site on this machine is scanned as it was typed: no option, no scheme; nothing else on this machine is reached."""

from __future__ import annotations

import asyncio
import json
import socket
from contextlib import aclosing
from pathlib import Path

import pytest

from aui_tui.service.local import LocalService
from tests.cli.runner import aui, here
from tests.loopback import QuietFiles, QuietHandler, files_of, listening

HOME = "<!doctype html><title>Corner shop</title><main><h1>Bread</h1><p>Open from eight to six, every day.</p></main>"


class Moody(QuietHandler):
    """Serves everybody until ``refusing``, and then the browser alone."""

    refusing = False

    def do_GET(self) -> None:
        agent = "compatible;" in self.headers.get("User-Agent", "")
        if self.path != "/":
            self.reply(404, b"", "text/plain")
        elif agent and type(self).refusing:
            self.reply(403, b"Forbidden")
        else:
            self.reply(200, HOME.encode())


class LogIn(QuietHandler):
    """Gives the browser a page and agents a form to log in, with the same status."""

    def do_GET(self) -> None:
        agent = "compatible;" in self.headers.get("User-Agent", "")
        form = "<!doctype html><title>Log in</title><form method=post><input type=password name=p></form>"
        page = form if agent else HOME.replace("<p>", f"<p>{'Fresh bread and cakes from our own oven. ' * 20}")
        self.reply(200 if self.path == "/" else 404, page.encode() if self.path == "/" else b"")


@pytest.mark.ci
def test_progress_does_not_call_another_page_a_refusal(tmp_path: Path) -> None:
    with listening(LogIn) as server:
        done = here(tmp_path, "scan", f"localhost:{server.server_port}")
    assert "Claude: once more, alone (it got another page than the browser)" in done.err
    assert "ChatGPT: 200 another page than the browser's" in done.err
    assert "turned away" not in done.err


@pytest.mark.ci
@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "shop.localhost"])
def test_a_port_of_this_machine_is_asked_over_http(tmp_path: Path, name: str) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text(HOME)
    with listening(files_of(tmp_path / "site", QuietFiles)) as server:
        done = here(tmp_path, "scan", f"{name}:{server.server_port}", "--json")
    card = json.loads(done.out)
    assert done.code == 0, done.err
    assert (card["host"], card["human_title"], card["live_served"]) == (
        f"{name}:{server.server_port}",
        "Corner shop",
        4,
    )
    assert any("speaks plain HTTP" in item["text"] for item in card["evidence"])


class NoRules(QuietHandler):
    """Serves the homepage and fails at robots.txt."""

    def do_GET(self) -> None:
        code = {"/": 200, "/robots.txt": 500}.get(self.path, 404)
        self.reply(code, HOME.encode() if code == 200 else b"")


@pytest.mark.ci
def test_progress_does_not_call_a_file_absent_that_was_not_read(tmp_path: Path) -> None:
    with listening(NoRules) as server:
        done = here(tmp_path, "scan", f"localhost:{server.server_port}")
    assert "robots.txt: 500 inconclusive" in done.err
    assert "robots.txt: 500 absent" not in done.err
    assert "llms.txt: 404 absent" in done.err


class Crowded(QuietHandler):
    """Speaks plain HTTP, and breaks off every third TLS handshake without a word."""

    handshakes = 0

    def handle(self) -> None:
        if self.connection.recv(1, socket.MSG_PEEK) == b"\x16":
            type(self).handshakes += 1
            if type(self).handshakes % 3 == 1:
                return
        super().handle()

    def do_GET(self) -> None:
        self.reply(200 if self.path == "/" else 404, HOME.encode() if self.path == "/" else b"")


@pytest.mark.ci
def test_a_busy_port_of_plain_http_is_asked_over_http_though_some_handshakes_get_no_word(tmp_path: Path) -> None:
    Crowded.handshakes = 0
    with listening(Crowded) as server:
        done = here(tmp_path, "scan", f"localhost:{server.server_port}", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["live_served"] == 4


@pytest.mark.ci
def test_a_host_of_this_machine_is_asked_afresh_and_costs_nothing(tmp_path: Path) -> None:
    Moody.refusing = False
    with listening(Moody) as server:
        words = ("scan", f"localhost:{server.server_port}")
        assert "from the cache" not in here(tmp_path, *words).out
        assert "from the cache" not in here(tmp_path, *words).out
        assert "from the cache" in here(tmp_path, *words, "--cached").out
        assert asyncio.run(used(tmp_path)) == 0


async def used(home: Path) -> int:
    """Return how many of the scans of this hour are used up."""
    async with aclosing(LocalService(home / "data")) as service:
        quota = await service.quota()
        return quota.limit - quota.left if quota is not None else -1


@pytest.mark.ci
def test_a_list_may_name_this_machine(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text(HOME)
    with listening(files_of(tmp_path / "site", QuietFiles)) as server:
        (tmp_path / "hosts").write_text(f"localhost:{server.server_port}\n")
        done = aui(tmp_path, "crawl", "hosts", "--json")
    assert json.loads(done.out)["live_served"] == 4


@pytest.mark.ci
def test_a_gate_never_passes_on_an_earlier_answer(tmp_path: Path) -> None:
    with listening(Moody) as server:
        address = f"localhost:{server.server_port}"
        assert here(tmp_path, "scan", address, "--json").code == 0
        Moody.refusing = True
        done = here(tmp_path, "scan", address, "--must-serve", "claude,chatgpt", "--json")
    assert done.code == 1
    assert json.loads(done.out)["stance"] == "Walled"


@pytest.mark.ci
def test_a_baseline_of_another_host_is_refused(tmp_path: Path) -> None:
    with listening(Moody) as server, listening(Moody) as other:
        Moody.refusing = False
        card = here(tmp_path, "scan", f"localhost:{other.server_port}", "--json").out
        (tmp_path / "base.json").write_text(card)
        done = here(tmp_path, "scan", f"localhost:{server.server_port}", "--no-regress", "base.json", "--json", "-q")
    assert done.code == 2
    assert (
        f"--no-regress names cards of localhost:{other.server_port}, not of localhost:{server.server_port}" in done.err
    )


@pytest.mark.ci
def test_a_wrong_category_is_corrected_for_good(tmp_path: Path) -> None:
    """The packaged list calls github.com Developer; the user's own word outlives the next scan."""
    Moody.refusing = False
    with listening(Moody) as server:
        asked = ("scan", "http://github.com", "--connect-to", f"github.com:80:127.0.0.1:{server.server_port}", "--json")
        found = [
            json.loads(here(tmp_path, *asked, "--force", *more).out)["category"]
            for more in ((), ("--category", "Retail"), ())
        ]
    assert found == ["Developer", "Retail", "Retail"]
