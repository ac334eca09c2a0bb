"""A scan kept in a file and replayed with the network unplugged gives the same card."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.runner import aui
from tests.e2e.conftest import DEAD, GUARDED, RICH, Options

Serve = Callable[..., Options]


@pytest.mark.ci
@pytest.mark.parametrize(("site", "method"), [(RICH, "v0.1"), (GUARDED, "v0.2"), (DEAD, "v0.2")])
def test_a_replay_gives_the_identical_card(tmp_path: Path, serve: Serve, site: object, method: str) -> None:
    tape = tmp_path / "scan.json"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    host = site.host  # type: ignore[attr-defined]
    options = ("--json", "--method", method)
    live = aui(
        tmp_path, "scan", f"http://{host}", *serve(site), "--record", str(tape), "--category", "Retail", *options
    )
    replayed = aui(elsewhere, "scan", "--replay", str(tape), *options)
    assert replayed.out == live.out
    assert replayed.code == live.code
    assert json.loads(replayed.out)["category"] == "Retail"
    other = aui(elsewhere, "scan", "--replay", str(tape), "--json", "--category", "Tech")
    assert json.loads(other.out)["category"] == "Tech"


@pytest.mark.ci
def test_a_replay_stores_nothing_and_spends_no_scan(tmp_path: Path, serve: Serve) -> None:
    tape = tmp_path / "scan.json"
    second = tmp_path / "second"
    second.mkdir()
    aui(tmp_path, "scan", f"http://{RICH.host}", *serve(RICH), "--record", str(tape), "--json")
    aui(second, "scan", "--replay", str(tape), "--json")
    assert aui(second, "site", RICH.host).code == 3


@pytest.mark.ci
def test_a_cached_answer_can_be_recorded_too(tmp_path: Path, serve: Serve) -> None:
    rules = serve(RICH)
    first = aui(tmp_path, "scan", f"http://{RICH.host}", *rules, "--json")
    tape = tmp_path / "scan.json"
    again = aui(tmp_path, "scan", f"http://{RICH.host}", *rules, "--json", "--record", str(tape))
    assert again.out == first.out
    assert aui(tmp_path, "scan", "--replay", str(tape), "--json").out == first.out
    assert stat.S_ISREG(tape.stat().st_mode)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--replay", "absent.json"), "absent.json"),
        (("--replay", "noise.json"), "not a recording"),
        (("--replay", "noise.json", "x.com"), "leave the host out"),
        (("--replay", "noise.json", "--record", "y.json"), "one of"),
        (("--record", "y.json", "a.com", "b.com"), "name one host"),
        (("--record", "y.json", "a.com", "--source", "http://127.0.0.1:9"), "leave out --source"),
        ((), "Name a host"),
    ],
)
def test_a_bad_use_gets_one_sentence(tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    (tmp_path / "noise.json").write_bytes(b'{"noise": "\x1b[2J"}')
    done = aui(tmp_path, "scan", *(str(tmp_path / word) if word.endswith(".json") else word for word in arguments))
    assert done.code == 2
    assert words in done.err
    assert "Traceback" not in done.err
    assert "\x1b" not in done.err
    assert done.out == ""
