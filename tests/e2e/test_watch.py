"""Watching a site that changes: on files, on a key, on an interval."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.runner import read_until, start
from tests.e2e.conftest import RICH, Options
from tests.e2e.terminal import Terminal


@pytest.mark.ci
def test_files_that_change_cause_a_scan(tmp_path: Path, serve: Callable[..., Options]) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "robots.txt").write_text("User-agent: *\n", encoding="utf-8")
    rules = serve(RICH)
    with start(tmp_path, "watch", "http://rich.test", "--path", "site", "-q", *rules) as process:
        assert "first scan" in process.stdout.readline()
        assert process.stdout.readline() == "rich.test: score 100, grade A, Open\n"
        (folder / "robots.txt").write_text("User-agent: *\nDisallow: /x\n", encoding="utf-8")
        assert "robots.txt changed" in read_until(process.stdout, "robots.txt changed")
        read_until(process.stdout, "Nothing has changed.")
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130


def test_each_scan_is_a_record(tmp_path: Path, serve: Callable[..., Options]) -> None:
    """A host of this machine is scanned as often as wanted."""
    words = ("watch", "http://rich.test", *serve(RICH), "--every", "1s", "--json", "-q")
    with start(tmp_path, *words) as process:
        assert [json.loads(process.stdout.readline())["score"] for _ in range(2)] == [100, 100]
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130


@pytest.mark.pty
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_key_scans_and_q_leaves(tmp_path: Path, serve: Callable[..., Options]) -> None:
    with Terminal(tmp_path, ["watch", "http://rich.test", *serve(RICH), "-q"]) as terminal:
        terminal.wait_for("first scan", "score 100")
        terminal.press(" ")
        terminal.wait_for("asked for", "Nothing has changed.")
        terminal.press("q")
        assert terminal.finish() == 0
