"""``aui-tui serve`` as its own process: addresses, workers, an orderly stop, and the limits over all workers."""

from __future__ import annotations

import asyncio
import contextlib
import re
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import msgspec
import psutil
import pytest

from aui_tui.model import codec
from tests.cards import RICH_OPEN
from tests.cli.runner import Running, aui, here, python, start
from tests.loopback import QuietHandler, listening
from tests.service.waiting import eventually


@dataclass
class Served:
    """A running command and the address it told."""

    process: Running
    url: str
    log: list[str]

    def get(self, path: str, **options: Any) -> httpx.Response:
        return httpx.get(self.url + path, trust_env=False, verify=False, **{"timeout": 60, **options})

    def answers(self) -> bool:
        with contextlib.suppress(httpx.TransportError):
            return self.get("/healthz").status_code == 200
        return False

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(60)


@contextlib.contextmanager
def served(home: Path, *options: str, env: Mapping[str, str] | None = None) -> Iterator[Served]:
    process = start(home, "serve", "--port", "0", *options, env=env)
    log: list[str] = []
    try:
        for line in process.stderr:
            log.append(line)
            found = re.search(r"Serving on (http://\S+)", line)
            if found:
                break
        else:
            raise AssertionError("".join(log))
        threading.Thread(target=log.extend, args=(process.stderr,), daemon=True).start()
        running = Served(process, found[1], log)
        eventually(running.answers)
        yield running
        if process.poll() is None:
            running.stop()
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(60)


class Web:
    """Every host of the web at once, on one loopback port; homepages wait for ``open``."""

    def __init__(self) -> None:
        self.homepages: Counter[str] = Counter()
        self.gate = threading.Event()
        self.gate.set()
        web = self

        class Handler(QuietHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                home = self.path == "/"
                if home:
                    web.homepages[self.headers["Host"]] += 1
                    web.gate.wait(60)
                body = b"<!doctype html><title>Any</title><main>" + b"words " * 60 if home else b"none"
                self.reply(200 if home else 404, body)

        self.handler = Handler
        self.rule = ""

    @property
    def scans(self) -> int:
        return sum(self.homepages.values()) // 5


@pytest.fixture
def web() -> Iterator[Web]:
    found = Web()
    with listening(found.handler) as server:
        found.rule = f"::127.0.0.1:{server.server_port}"
        yield found
        found.gate.set()


@pytest.mark.slow
def test_port_0_tells_the_real_address_and_the_three_commands_read_it(tmp_path: Path, web: Web) -> None:
    with served(tmp_path, "--connect-to", web.rule) as running:
        other = tmp_path / "other"
        other.mkdir()
        source = ["--source", running.url]
        scanned = aui(other, "scan", "http://shop.oak-and-thread.com", "--json", *source)
        assert scanned.code == 0, scanned.err
        listed = aui(other, "index", "--json", *source)
        card = aui(other, "site", "shop.oak-and-thread.com", "--json", *source)
        assert listed.code == card.code == 0
        assert '"shop.oak-and-thread.com"' in listed.out
        assert f'"{running.url}/site/shop.oak-and-thread.com"' in card.out
        missing = aui(other, "site", "unknown.oak-and-thread.com", "--json", *source)
        assert missing.code == 3
        assert "has never been scanned" in missing.sentence
        assert running.stop(signal.SIGINT) == 130
        offline = aui(other, "index", "--json", *source)
        assert offline.code == 0
        assert offline.out == listed.out
        again = aui(other, "site", "shop.oak-and-thread.com", "--json", *source)
        assert (again.code, again.out) == (0, card.out)
        assert "This is the copy " in offline.sentence
        assert "This is the copy " in again.sentence
    assert running.process.stdout.read() == ""
    assert any('127.0.0.1 "GET /api/scan?url=' in line for line in running.log)
    assert not any("Traceback" in line for line in running.log)


def _refuses(running: Served) -> bool:
    """Whether a server takes no connection any more."""
    try:
        running.get("/healthz")
    except httpx.TransportError:
        return True
    return False


@pytest.mark.slow
def test_a_running_scan_finishes_before_the_server_stops(tmp_path: Path, web: Web) -> None:
    web.gate.clear()
    with served(tmp_path, "--connect-to", web.rule) as running, ThreadPoolExecutor(1) as pool:
        answer = pool.submit(running.get, "/api/scan?url=http://slow.oak-and-thread.com", timeout=30)
        eventually(lambda: web.homepages)
        running.process.send_signal(signal.SIGTERM)
        eventually(lambda: _refuses(running))
        web.gate.set()
        assert answer.result().status_code == 200
        assert answer.result().json()["host"] == "slow.oak-and-thread.com"
        assert running.process.wait(60) == 0
    kept = aui(tmp_path, "site", "slow.oak-and-thread.com", "--json")
    assert kept.code == 0


@pytest.mark.slow
def test_of_many_first_visitors_at_once_ten_get_a_card(tmp_path: Path, web: Web) -> None:
    """The first scans load the engine in threads, while the refused ones load a part of it in the event loop."""
    hosts = [f"s{number}.oak-and-thread.com" for number in range(30)]

    async def ask(base: str) -> list[httpx.Response]:
        async with httpx.AsyncClient(base_url=base, timeout=60, trust_env=False) as client:
            return await asyncio.gather(*(client.get(f"/api/scan?url=http://{host}") for host in hosts))

    with served(tmp_path, "--connect-to", web.rule) as running:
        answers = asyncio.run(ask(running.url))
    assert sorted(answer.status_code for answer in answers) == [200] * 10 + [429] * 20


@pytest.mark.slow
def test_a_scan_whose_caller_went_away_is_kept(tmp_path: Path, web: Web) -> None:
    web.gate.clear()
    with served(tmp_path, "--connect-to", web.rule) as running:
        with pytest.raises(httpx.ReadTimeout):
            running.get("/api/scan?url=http://left.oak-and-thread.com", timeout=0.7)
        web.gate.set()
        eventually(lambda: running.get("/api/site/left.oak-and-thread.com.json").status_code == 200)
        again = running.get("/api/scan?url=http://left.oak-and-thread.com")
        assert again.headers["cache-status"] == "aui-tui; hit"
        assert again.headers["ratelimit"].startswith('"scan";r=9;')
        assert web.scans == 1


def test_a_taken_port_is_one_sentence_and_exit_code_2(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = here(tmp_path, "serve", "--port", port)
    assert f"Cannot listen on 127.0.0.1 port {port}" in done.sentence
    assert done.code == 2
    assert done.out == ""


WITHOUT = """
import importlib.util, sys
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name in ("starlette", "jinja2") else find(name, *rest)
from aui_tui.cli.app import run
sys.exit(run(["serve"]))
"""


def test_without_the_extra_one_sentence_says_how_to_get_it(tmp_path: Path) -> None:
    done = python(tmp_path, WITHOUT)
    assert done.code == 2
    assert (
        "Serving needs the extra “serve”; install aui-tui again with it: pip install -e '.[serve]' in" in done.sentence
    )


@pytest.mark.slow
def test_hundred_callers_at_once_share_one_scan_over_two_workers(tmp_path: Path, web: Web) -> None:
    with served(tmp_path, "--connect-to", web.rule, "--workers", "2") as running:
        limits = httpx.Limits(max_connections=None)
        with ThreadPoolExecutor(100) as pool, httpx.Client(trust_env=False, timeout=60, limits=limits) as client:
            answers = list(pool.map(client.get, [running.url + "/api/scan?url=http://busy.oak-and-thread.com"] * 100))
        assert {answer.status_code for answer in answers} == {200}
        assert len({answer.json()["scanned_at"] for answer in answers}) == 1
        assert web.scans == 1
        assert (
            running.get("/api/scan?url=http://busy.oak-and-thread.com").headers["ratelimit"].startswith('"scan";r=9;')
        )
        assert running.stop() == 0


def _flood(url: str, first: int, count: int) -> Counter[int]:
    codes: Counter[int] = Counter()
    with httpx.Client(trust_env=False, timeout=60) as client:
        for number in range(first, first + count):
            codes[
                client.get(f"{url}/api/scan", params={"url": f"http://h{number}.oak-and-thread.com"}).status_code
            ] += 1
    return codes


@pytest.mark.slow
def test_8_processes_of_one_client_get_exactly_10_scans(tmp_path: Path, web: Web) -> None:
    with served(tmp_path, "--connect-to", web.rule, "--workers", "2") as running:
        with ProcessPoolExecutor(8) as pool:
            floods = [pool.submit(_flood, running.url, 1000 * number, 200) for number in range(8)]
            codes = sum((flood.result(150) for flood in floods), Counter())
        assert codes == {200: 10, 429: 1590}
        assert web.scans == 10


def _workers(parent: int) -> list[psutil.Process]:
    """Return the live worker processes of a server."""
    found = []
    for child in psutil.Process(parent).children():
        with contextlib.suppress(psutil.Error):
            if "spawn_main" in " ".join(child.cmdline()):
                found.append(child)
    return found


@pytest.mark.slow
def test_a_killed_worker_is_replaced(tmp_path: Path, web: Web) -> None:
    with served(tmp_path, "--connect-to", web.rule, "--workers", "2") as running:
        before = _workers(running.process.pid)
        assert len(before) == 2
        before[0].suspend()
        time.sleep(2)
        with contextlib.suppress(psutil.NoSuchProcess):  # the parent may have ended it already
            before[0].kill()
        eventually(lambda: len(_workers(running.process.pid)) == 2)
        for _ in range(20):
            assert running.get("/healthz").status_code == 200
        assert running.stop() == 0


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_workers_end_with_their_parent(tmp_path: Path, number: signal.Signals, code: int) -> None:
    with served(tmp_path, "--workers", "2") as running:
        workers = _workers(running.process.pid)
        assert len(workers) == 2
        assert running.stop(number) == code
        assert psutil.wait_procs(workers, timeout=60)[1] == []


@pytest.mark.slow
def test_index_of_an_exported_file_is_read_by_the_commands(tmp_path: Path) -> None:
    path = tmp_path / "cards.json"
    path.write_bytes(codec.encode_card(RICH_OPEN))
    done = aui(tmp_path, "site", RICH_OPEN.host, "--json", "--source", str(path))
    assert done.code == 0
    assert codec.decode_card(done.out.encode()) == msgspec.structs.replace(RICH_OPEN, ledger=msgspec.UNSET)
    piped = aui(tmp_path, "index", "--json", "--source", "-", stdin=codec.encode_card(RICH_OPEN).decode())
    assert piped.code == 0
    assert RICH_OPEN.host in piped.out
    refused = aui(tmp_path, "scan", "a.oak-and-thread.com", "--source", str(path))
    assert refused.code == 3
    assert "cannot scan" in refused.sentence


@pytest.mark.slow
def test_the_access_log_comes_without_a_stop_and_loses_nothing_at_one(tmp_path: Path) -> None:
    with served(tmp_path, "--workers", "2") as running:
        assert running.get("/api/index.json?mark=first").status_code == 200
        eventually(lambda: any("mark=first" in line for line in running.log))
        for number in range(50):
            running.get(f"/api/index.json?mark=n{number}.")
        assert running.stop() == 0
        eventually(lambda: sum("mark=n" in line for line in running.log) == 50)


@pytest.mark.ci
def test_a_service_that_listens_everywhere_warns_and_derives_no_loopback_links(tmp_path: Path) -> None:
    process = start(tmp_path, "serve", "--port", "0", "--host", "0.0.0.0")
    try:
        lines = [process.stderr.readline(), process.stderr.readline()]
    finally:
        process.terminate()
        process.wait(60)
    assert "give its public address by AUI_TUI_BASE_URL" in lines[0]
    assert "Serving on http://" in lines[1]
    assert "127.0.0.1" not in lines[0] + lines[1]
