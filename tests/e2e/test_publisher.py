"""A published index is itself a site that agents can use: scanned with its tasks it has every point."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.runner import aui, read_until, start
from tests.cli.stored import fill
from tests.service.browser import BROWSER, MISSING

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.skipif(BROWSER is None, reason=MISSING)]


def test_its_own_scan_with_tasks_gives_every_point(tmp_path: Path) -> None:
    published, mine = tmp_path / "published", tmp_path / "mine"
    published.mkdir()
    mine.mkdir()
    fill(published)
    with start(published, "serve", "--port", "0") as server:
        said = read_until(server.stderr, "http://")
        address = "http://" + said.rpartition("http://")[2].split()[0]
        try:
            done = aui(mine, "scan", address, "--allow-private", "--tasks", "--json", "-q")
        finally:
            server.terminate()
            server.communicate(timeout=60)
    assert done.code == 0, done.err
    card = json.loads(done.out)
    assert (card["score"], card["grade"], card["stance"]) == (100, "A", "Open")
    runs = card["task_runs"]
    assert card["pillars"]["works"] == sum(run["points"] for run in runs) == sum(run["possible"] for run in runs) > 0
    assert card["recommendations"] == []
