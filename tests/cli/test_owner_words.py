"""What an owner's first commands say: two files at once, a first comparison, a plan without files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aui_tui.cli.open_dashboard import speaks_unicode
from tests.cli.runner import here
from tests.cli.stored import fill

HOST = "shop.example"


def test_every_output_is_written(tmp_path: Path) -> None:
    fill(tmp_path)
    done = here(tmp_path, "site", HOST, "-o", "a.sarif", "-o", "b.md")
    assert (done.code, done.out) == (0, ""), done.err
    assert json.loads((tmp_path / "a.sarif").read_text())["version"] == "2.1.0"
    assert (tmp_path / "b.md").read_text().startswith("# ")


def test_a_first_comparison_is_empty_and_says_what_to_do_next(tmp_path: Path) -> None:
    fill(tmp_path)
    done = here(tmp_path, "diff", HOST)
    assert done.code == 0, done.err
    assert f"aui-tui scan {HOST}" in done.err
    assert "New findings" not in done.out
    assert json.loads(here(tmp_path, "diff", HOST, "--json").out)["same"] is True


@pytest.mark.parametrize(("encoding", "speaks"), [("utf-8", True), ("UTF8", True), ("iso8859-1", False)])
def test_a_terminal_without_unicode_gets_plain_signs(
    monkeypatch: pytest.MonkeyPatch, encoding: str, speaks: bool
) -> None:
    class Screen:
        pass

    Screen.encoding = encoding  # type: ignore[attr-defined]
    monkeypatch.setattr("sys.stderr", Screen())
    assert speaks_unicode() is speaks
