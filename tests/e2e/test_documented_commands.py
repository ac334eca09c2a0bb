"""Every command line of README and the documentation runs, as it is written, against sites on loopback."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import pytest
import trustme

from aui_tui import docs
from aui_tui.cli.app import COMMANDS
from tests.cli.runner import ROOT, Result, here, start
from tests.e2e.terminal import Terminal
from tests.e2e.workshop import shop, tool, with_tools
from tests.loopback import files_of, free_port
from tests.service.browser import BROWSER, MISSING

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="the lines are for a POSIX shell")]

LOG = '198.51.100.7 - - [19/Nov/2026:04:54:30 +0000] "GET / HTTP/1.1" 200 512 "-" "Claude-User/1.0"\n'
NAMES = ("example.com", "shop.example", "staging.shop.example", "agent.shop.example")
PAGES = ("README", *(topic for topic in docs.TOPICS if topic not in ("skill", "architecture")))
"""Every page with command lines; tests/e2e/test_agents.py follows the skill."""
SCANNING = ("scan", "watch", "crawl")
"""Commands that reach sites, and are led to those on loopback."""
WAITING = ("serve", "watch", "mcp", "web")
"""Commands that go on until they are interrupted."""
SCREENS = ("", "demo")
"""Commands that open the dashboard; the empty one is the dashboard itself."""
CHANGED = (("AUI_TUI_PACE=10", "AUI_TUI_PACE=0.01"), ("/var/log/nginx/access.log", "access.log"))
"""What is not run as written: waiting, and a file of the system."""
ELSEWHERE = {
    "python3 -m venv": "tests/e2e/test_wheel.py installs and runs the package",
    ".venv/bin/pip install": "so does that",
    "aui-tui visits --update-ranges --format": "tests/visits/test_published.py does that on loopback",
}
OTHERS = {name: find_spec(name) is not None for name in ("duckdb", "datasette")} | {
    name: shutil.which(name) is not None for name in ("sqlite3", "jq")
}
"""Other people's programs that lines name, and whether they are here; the first two as Python packages."""
DUCKDB = """import sys, duckdb
assert sys.argv[1] == "-c"
found = duckdb.sql(sys.argv[2])
found.show()
assert found.shape[0]"""
SH_ONLY = re.compile(r"[|>]|&&|^[A-Z_]+=")
TRUST = {"AUI_TUI_CACERT": "staging-ca.pem"}


def lines_of(page: str) -> list[str]:
    """Return the command lines of a page: its indented blocks, and those fenced as sh."""
    text = (ROOT / "README.md").read_text(encoding="utf-8") if page == "README" else docs.read(page)
    text = re.sub(r"^```(?!sh$)\w+\n.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    fenced = "\n".join(re.findall(r"^```sh\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)).splitlines()
    indented = [line[4:] for line in text.splitlines() if line.startswith("    ")]
    return [line for line in (*indented, *fenced) if line.strip()]


WITH_LINES = [page for page in PAGES if lines_of(page)]


@dataclass
class World:
    """Sites on loopback, and a folder to run commands in."""

    folder: Path
    plain: int
    tls: int
    published: int = 0
    """Port of a published index."""

    @property
    def rules(self) -> list[str]:
        """Options that lead every scan to the sites."""
        ports = {80: self.plain, 8000: self.plain, 443: self.tls}
        return [word for port, to in ports.items() for word in ("--connect-to", f":{port}:127.0.0.1:{to}")]

    def led(self, words: list[str]) -> list[str]:
        """Return the words of a command line with what leads it to the sites."""
        if words and words[0] in SCANNING:
            return [words[0], *self.rules, *words[1:]]
        return words

    def run(self, line: str) -> Result:
        """Run a line that ends by itself."""
        if not SH_ONLY.search(line) and line.startswith("aui-tui "):
            return here(self.folder, *self.led(shlex.split(line, comments=True)[1:]), env=TRUST)
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", line],
            cwd=self.folder,
            env=with_tools(self.folder) | TRUST,
            capture_output=True,
            text=True,
            timeout=150,
            check=False,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    def interrupt(self, line: str) -> None:
        """Run a line that goes on until it is interrupted; it must have something to say by then, or to answer."""
        words = self.led(shlex.split(line, comments=True)[1:])
        ends = words[0] == "mcp"
        with start(self.folder, *words, env=TRUST, stdin=subprocess.DEVNULL if ends else None) as process:
            if not ends:
                stream = process.stdout if words[0] == "watch" else process.stderr
                assert stream.readline()
                process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        assert process.returncode in ((0,) if ends else (0, 130)), err
        assert "Traceback" not in err

    def look(self, line: str) -> None:
        """Run a line that opens the dashboard, and leave it."""
        words = shlex.split(line, comments=True)[1:]
        with Terminal(self.folder, words, columns=120, lines=30) as terminal:
            terminal.wait_for("Score", seconds=120)
            terminal.press("q")
            assert terminal.finish(60) == 0


class Site(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A client that leaves is nothing to report."""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Sites that every agent may use, and an index in which they were scanned twice."""
    folder = tmp_path_factory.mktemp("documented")
    public = shop(folder)
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "staging-ca.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*NAMES).configure_cert(context)
    servers = [Site(("127.0.0.1", 0), files_of(public)) for _ in range(2)]
    servers[1].socket = context.wrap_socket(servers[1].socket, server_side=True, do_handshake_on_connect=False)
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    world = World(folder, servers[0].server_port, servers[1].server_port)
    (folder / "hosts.csv").write_text("example.com,Example,Tech\nshop.example,Shop,Retail\n")
    (folder / "page.html").write_text(
        "<!doctype html><title>Shop</title><main><h1>Shop</h1><p>Maps for 9 EUR.</p></main>"
    )
    (folder / "tranco.csv").write_text("1,example.com\n2,shop.example\n")
    (folder / "access.log").write_text(LOG * 20)
    led = " ".join(shlex.quote(word) for word in world.rules)
    script = f"""case "$1" in
  scan|crawl) word=$1; shift; exec {shlex.quote(sys.executable)} -m aui_tui "$word" {led} "$@" ;;
  *) exec {shlex.quote(sys.executable)} -m aui_tui "$@" ;;
esac
"""
    tool(folder, "aui-tui", script)
    tool(folder, "duckdb", f'exec {shlex.quote(sys.executable)} -c {shlex.quote(DUCKDB)} "$@"\n')
    tool(folder, "datasette", f'exec {shlex.quote(sys.executable)} -m datasette "$@"\n')
    for _ in range(2):
        done = world.run("aui-tui scan https://shop.example https://example.com http://localhost:8000 --force")
        assert done.code == 0, done.err
    world.published = free_port()
    published = start(folder, "serve", "--port", str(world.published))
    assert "http://" in published.stderr.readline()
    try:
        yield world
    finally:
        published.terminate()
        published.wait(60)
        for server in servers:
            server.shutdown()
            server.server_close()


@pytest.fixture
def world(prepared: World, tmp_path: Path) -> World:
    """The same sites, and a copy of the folder."""
    folder = tmp_path / "work"
    shutil.copytree(prepared.folder, folder)
    return World(folder, prepared.plain, prepared.tls, prepared.published)


@pytest.mark.parametrize("page", [name for name in WITH_LINES if name != "tasks"])
def test_every_line_runs(page: str, world: World) -> None:
    run_all(lines_of(page), world)


@pytest.mark.browser
@pytest.mark.skipif(BROWSER is None, reason=MISSING)
def test_every_line_on_tasks_runs(world: World) -> None:
    run_all(lines_of("tasks"), world)


def run_all(lines: list[str], world: World) -> None:
    for line in lines:
        line = line.replace("https://index.example", f"http://127.0.0.1:{world.published}")
        for written, here_instead in CHANGED:
            line = line.replace(written, here_instead)
        if any(line.startswith(start) for start in ELSEWHERE) or skipped(line):
            continue
        if line.startswith("pip install"):
            extra = re.search(r"'\.\[(\w+)\]'", line)
            assert extra
            assert f"\n{extra[1]} = [" in (ROOT / "pyproject.toml").read_text()
            continue
        words = shlex.split(line, comments=True)
        command = next((word for word in words[1:] if word in COMMANDS), "")
        if words[0] == "aui-tui" and not SH_ONLY.search(line) and (command in WAITING or "--starter" in words):
            elsewhere = f" --port {free_port()}" if command == "web" else ""
            world.interrupt(line.partition("#")[0].replace("8600", str(free_port())) + elsewhere)
        elif words[0] == "aui-tui" and not SH_ONLY.search(line) and command in SCREENS:
            world.look(line)
        else:
            done = world.run(line)
            assert done.code == 0, f"{line}\n{done.out}\n{done.err}"
            assert "Traceback" not in done.err


def skipped(line: str) -> bool:
    """Whether a line needs a program that is not installed here, or a cluster of machines."""
    words = shlex.split(line, comments=True)
    if words[0] == "dask" or (words[0] in OTHERS and not OTHERS[words[0]]):
        return True
    return words[0].startswith("AUI_TUI_SCHEDULER") or words[:3] == ["python", "-m", "playwright"]
