"""Completion in the three shells: scripts, commands, options, words and hosts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.runner import here
from tests.cli.stored import fill


def complete(home: Path, line: str) -> list[str]:
    env = {"_AUI_TUI_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    return here(home, env=env).out.split()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script_for_each_shell(tmp_path: Path, shell: str) -> None:
    done = here(tmp_path, env={"_AUI_TUI_COMPLETE": f"source_{shell}"})
    assert done.code == 0
    assert "_AUI_TUI_COMPLETE" in done.out


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("aui-tui sc", ["scan", "schema"]),
        ("aui-tui scan --fail-u", ["--fail-under"]),
        ("aui-tui index --stance W", ["Walled"]),
        ("aui-tui scan x.com --must-serve claude,ch", ["claude,chatgpt"]),
        ("aui-tui site shop", ["shop.example"]),
        ("aui-tui forget g", ["gone.example"]),
        ("aui-tui schema c", ["card"]),
        ("aui-tui plan x.com --grade ", ["A", "B", "C", "D", "F"]),
        ("aui-tui diff x.com --format m", ["markdown"]),
    ],
)
def test_words_that_fit(tmp_path: Path, line: str, wanted: list[str]) -> None:
    fill(tmp_path)
    assert complete(tmp_path, line) == wanted


def test_hosts_without_an_index_are_none_and_create_nothing(tmp_path: Path) -> None:
    assert complete(tmp_path, "aui-tui site s") == []
    assert not (tmp_path / "data").exists()
