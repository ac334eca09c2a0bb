"""A scan kept in a file and replayed with the network unplugged gives the same card."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.runner import here
from tests.e2e.conftest import DEAD, GUARDED, RICH, Options

Serve = Callable[..., Options]


@pytest.mark.ci
@pytest.mark.parametrize(("site", "method"), [(RICH, "v0.1"), (GUARDED, "v0.2"), (DEAD, "v0.2")])
def test_a_replay_gives_the_identical_card(tmp_path: Path, serve: Serve, site: object, method: str) -> None:
    tape = tmp_path / "scan.recording"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    host = site.host  # type: ignore[attr-defined]
    options = ("--json", "--method", method)
    live = here(tmp_path, "scan", f"http://{host}", *serve(site), "-o", str(tape), "--category", "Retail", *options)
    replayed = here(elsewhere, "regrade", str(tape), *options)
    assert replayed.out == live.out
    assert (replayed.code, live.code) == (0, 3 if site is DEAD else 0)
    assert json.loads(replayed.out)["category"] == "Retail"


@pytest.mark.ci
def test_a_replay_stores_nothing_and_spends_no_scan(tmp_path: Path, serve: Serve) -> None:
    tape = tmp_path / "scan.recording"
    second = tmp_path / "second"
    second.mkdir()
    here(tmp_path, "scan", f"http://{RICH.host}", *serve(RICH), "-o", str(tape), "--json")
    here(second, "regrade", str(tape), "--json")
    assert here(second, "site", RICH.host).code == 3


@pytest.mark.ci
def test_a_cached_answer_can_be_recorded_too(tmp_path: Path, serve: Serve) -> None:
    rules = serve(RICH)
    first = here(tmp_path, "scan", f"http://{RICH.host}", *rules, "--json")
    tape = tmp_path / "scan.recording"
    again = here(tmp_path, "scan", f"http://{RICH.host}", *rules, "--json", "--cached", "-o", str(tape))
    assert again.out == first.out
    assert here(tmp_path, "regrade", str(tape), "--json").out == first.out
    assert stat.S_ISREG(tape.stat().st_mode)
