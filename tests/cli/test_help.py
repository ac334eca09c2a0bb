"""Every command explains itself within 80 columns and closes with an example that parses."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from aui_tui.cli.app import COMMANDS
from tests.cli.runner import here


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_and_has_an_example(tmp_path: Path, name: str) -> None:
    done = here(tmp_path, name, "--help")
    assert (done.code, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= 80
    text = " ".join(done.out.split())
    example = text.partition("Example: ")[2]
    assert re.search(rf"aui-tui {name}\b", example), text[-200:]
    assert shlex.split(example)


def test_command_without_its_argument_is_one_sentence(tmp_path: Path) -> None:
    for name in ("scan", "site", "diff", "plan", "watch", "badge", "regrade", "validate", "import", "backup", "forget"):
        done = here(tmp_path, name)
        assert (done.code, done.out) == (2, ""), name
        assert "Missing" in done.sentence or "Name a host" in done.sentence
