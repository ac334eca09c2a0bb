"""``demo --tasks``: four shops whose tasks have known answers, tried in a real browser, in the index record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aui_tui.tasks.browser import available
from tests.cli.runner import here

WORKS = {"quay.demo.test": 50, "loft.demo.test": 38, "tide.demo.test": 41, "mist.demo.test": None}
"""Points of each shop: healthy; half for search and form and none for the offer; half for contact and offer, and 45
measured, as there is no form to fill; nothing read behind a cover, and no other task counts."""


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.timeout(400)
def test_the_shops_get_the_points_that_they_were_built_for(tmp_path: Path) -> None:
    missing = available()
    if missing:
        pytest.skip(f"needs {missing}")
    done = here(tmp_path, "demo", "--tasks", "--headless")
    assert done.code == 0, done.err[-2000:]
    cards = {card["host"]: card for card in json.loads(done.out)["ranked"]}
    assert {host: cards[host]["pillars"]["works"] for host in WORKS} == WORKS
    assert cards["outlet.demo.test"]["pillars"]["works"] is None
    assert "loft.demo.test: search: partly 5/10" in done.err
    assert "mist.demo.test: read: blocked 0/15" in done.err
    assert "mist.demo.test: follow: inconclusive" in done.err
