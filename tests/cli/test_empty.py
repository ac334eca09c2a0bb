"""An empty value is bad input: what an unset variable of a script leaves behind never passes for "not asked"."""

from __future__ import annotations

from pathlib import Path

import pytest

from aui_tui.cli.app import COMMANDS, command_of
from tests.cli.runner import aui, here, required


@pytest.mark.ci
@pytest.mark.parametrize("name", COMMANDS)
def test_no_option_of_any_command_takes_an_empty_value(tmp_path: Path, name: str) -> None:
    command = command_of(name)
    for option in (one.opts[0] for one in command.params if one.param_type_name == "option" and not one.is_flag):
        for value in ("", "  "):
            done = here(tmp_path, name, *required(command), option, value)
            assert (done.code, done.out) == (2, ""), (option, done)
            assert option in done.sentence
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("option", ["--data-dir", "--source", "--config", "--via"])
def test_nor_does_an_option_before_the_command(tmp_path: Path, option: str) -> None:
    done = here(tmp_path, option, "", "paths")
    assert (done.code, done.out) == (2, "")
    assert option in done.sentence


@pytest.mark.parametrize("option", ["--data-dir", "--source", "--config", "--open"])
def test_nor_one_of_the_dashboard_which_takes_no_other_word_for_its_value(tmp_path: Path, option: str) -> None:
    done = aui(tmp_path, f"{option}=", "index")
    assert (done.code, done.sentence) == (2, f"aui-tui: {option} is empty. Give it a value, or leave it out.")


@pytest.mark.parametrize("name", [name for name in COMMANDS if required(command_of(name))])
def test_an_empty_argument_is_named(tmp_path: Path, name: str) -> None:
    done = here(tmp_path, name, *(["", *required(command_of(name))[1:]]))
    assert (done.code, done.out) == (2, "")
    assert done.sentence.startswith("aui-tui: An argument is empty.")


@pytest.mark.parametrize(
    "line", [["scan", "--force", ""], ["scan", "-q", ""], ["export", "--cards", ""], ["plan", "--", ""], ["-q", ""]]
)
def test_a_switch_before_an_empty_argument_is_not_called_empty(tmp_path: Path, line: list[str]) -> None:
    done = here(tmp_path, *line)
    assert (done.code, done.out) == (2, "")
    assert done.sentence == "aui-tui: An argument is empty. Give it a value, or leave it out."
