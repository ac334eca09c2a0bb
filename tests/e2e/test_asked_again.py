"""The command that asks the same: what it sends is what the probe sent."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.runner import here
from tests.loopback import QuietHandler, listening

PAGE = f"<!doctype html><title>Corner shop</title><main><h1>Bread</h1><p>{'Open from eight to six. ' * 20}</p></main>"


class Recorder(QuietHandler):
    """Serves the browser, turns agents away, and keeps every request as it came; ``/`` leads to ``/home``."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.server.requests.append(f"{self.requestline}\n{self.headers}")
        if self.path == "/":
            self.send_response(302)
            self.send_header("Location", "/home")
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif self.path != "/home":
            self.reply(404, b"", "text/plain")
        elif "compatible;" in self.headers.get("User-Agent", ""):
            self.reply(403, b"Forbidden")
        else:
            self.reply(200, PAGE.encode())


@pytest.mark.ci
@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_each_command_sends_what_its_probe_sent(tmp_path: Path) -> None:
    with listening(Recorder) as server:
        server.requests = []
        done = here(tmp_path, "scan", f"127.0.0.1:{server.server_port}", "--json", "--details")
        probed, exchanges = set(server.requests), json.loads(done.out)
        for exchange in exchanges:
            server.requests.clear()
            subprocess.run(["sh", "-c", exchange["curl"]], check=True, capture_output=True)
            assert server.requests, exchange["name"]
            for request in server.requests:
                assert request in probed, exchange["curl"]
    names = [exchange["name"] for exchange in exchanges]
    assert {"browser", "agent_01", "agent_02", "agent_03", "agent_04", "robots", "mcp"} <= set(names)


@pytest.mark.ci
def test_details_of_a_scan_are_those_of_its_stored_card(tmp_path: Path) -> None:
    with listening(Recorder) as server:
        server.requests = []
        host = f"127.0.0.1:{server.server_port}"
        scanned = here(tmp_path, "scan", host, "--details").out
    stored = here(tmp_path, "site", host, "--details").out
    for out in (scanned, stored):
        assert out.count("ask it yourself") == 4
        assert "Browser and ChatGPT" in out or "browser and ChatGPT" in out
    without_age = [line for line in stored.splitlines() if not line.startswith("Scanned ")]
    assert without_age == [line for line in scanned.splitlines() if not line.startswith("Scanned ")]
