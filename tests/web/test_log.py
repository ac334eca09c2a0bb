"""The log of ``serve`` when nobody reads it."""

from __future__ import annotations

import http.client
import re
from pathlib import Path

import pytest

from tests.cli.runner import read_until, start
from tests.cli.stored import fill

LONG = "/api/none?" + "x" * 250
SENT = 900
"""Requests: some 200 lines fill the pipe, 500 wait, the rest has no room."""


@pytest.mark.ci
def test_a_log_that_nobody_reads_stops_nothing_and_what_is_dropped_is_counted(tmp_path: Path) -> None:
    fill(tmp_path)
    with start(tmp_path, "serve", "--port", "0") as server:
        try:
            address = re.search(r"http://127.0.0.1:(\d+)", read_until(server.stderr, "Serving on"))
            assert address is not None
            client = http.client.HTTPConnection("127.0.0.1", int(address[1]), timeout=60)

            def ask(path: str = LONG, times: int = SENT) -> None:
                for _ in range(times):
                    client.request("GET", path)
                    answer = client.getresponse()
                    answer.read()
                    assert answer.status == 404

            ask()
            written = read_until(server.stderr, "of this log dropped")
            ask("/api/last", 1)
            written += read_until(server.stderr, "/api/last")
            dropped = re.findall(r"(\d+) lines? of this log dropped", written)
            assert written.count(LONG[:30]) + sum(map(int, dropped)) == SENT
            ask()
            server.terminate()
            assert server.wait(60) == 0, "the end waits for its reader"
        finally:
            server.kill()
