"""The demo as a user runs it: served, scanned for real, printed, and gone."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from aui_tui.demo.web import sites
from aui_tui.model.vocabulary import CATEGORIES, STANCES
from tests.cli.runner import aui, read_until, start


@pytest.mark.slow
def test_headless_demo_prints_the_index_and_leaves_nothing(tmp_path: Path) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    done = aui(tmp_path, "demo", "--headless", env={"TMPDIR": str(temporary)}, timeout=120)
    assert done.code == 0, done.err
    index = json.loads(done.out)
    schema = json.loads(aui(tmp_path, "schema", "index").out)
    assert not list(Draft202012Validator(schema).iter_errors(index))
    rows = index["ranked"] + index["unreachable"]
    assert {row["host"]: (row["name"], row["category"]) for row in rows} == {
        site.host: (site.name, site.category) for site in sites()
    }
    assert {row["category"] for row in index["ranked"]} == set(CATEGORIES)
    assert {row["stance"] for row in index["ranked"]} == set(STANCES)
    assert index["ranked"][0]["score"] == 100
    assert len(index["unreachable"]) == 4
    assert "fly.demo.test: score 100, grade A, Open" in done.err
    assert not list(temporary.iterdir())
    assert not (tmp_path / "data").exists()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_demo_leaves_nothing(tmp_path: Path, number: signal.Signals, code: int) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    with start(tmp_path, "demo", "--headless", env={"TMPDIR": str(temporary)}) as process:
        read_until(process.stderr, "fly.demo.test")
        assert list(temporary.iterdir())
        process.send_signal(number)
        out, err = process.stdout.read(), process.stderr.read()
    assert (process.returncode, out) == (code, "")
    assert "Traceback" not in err
    assert not list(temporary.iterdir())
