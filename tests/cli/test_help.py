"""Every command explains itself within 80 columns, lists what a choice takes, and says what a mistake was."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from aui_tui.cli.app import COMMANDS, command_of, program
from aui_tui.cli.cards import DIFF_FORMATS
from aui_tui.model.methods import METHODS
from aui_tui.model.query import SORTS
from aui_tui.model.vocabulary import CATEGORIES, GRADES, STANCES
from aui_tui.report import diff
from aui_tui.report.formats import CARD_FORMATS
from tests.cli.runner import here, required

PROGRAM: Any = program()
CHOICES: dict[str, tuple[str, ...]] = {
    "--category": CATEGORIES,
    "--fail-grade": GRADES,
    "--fail-on": ("critical", "warn"),
    "--format": CARD_FORMATS,
    "--method": tuple(METHODS),
    "--require-stance": STANCES,
    "--sort": SORTS,
    "--stance": STANCES,
}
FORMATS_OF: dict[str, tuple[str, ...]] = {
    "diff": DIFF_FORMATS,
    "visits": ("json", "csv", "markdown", "nginx", "cloudflare"),
}
"""What ``--format`` takes where that is not every format of a card."""


def options(name: str) -> list[Any]:
    return [one for one in command_of(name).params if one.param_type_name == "option" and not one.hidden]


def allowed(name: str, option: str) -> tuple[str, ...]:
    return FORMATS_OF.get(name, CHOICES[option]) if option == "--format" else CHOICES[option]


def tables(text: str) -> list[list[str]]:
    """Return the lines of each section of a help that has a heading."""
    parts = [part.splitlines() for part in text.split("\n\n")]
    return [lines[1:] for lines in parts if lines and lines[0].endswith(":")]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example_on_one_line(tmp_path: Path, name: str) -> None:
    done = here(tmp_path, name, "--help")
    assert (done.code, done.err) == (0, "")
    example = done.out.rstrip().splitlines()[-1].strip()
    assert example.startswith("Example: ")
    assert re.search(rf"aui-tui {name}\b", example)
    assert shlex.split(example)


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_fits_80_columns_and_its_text_has_at_least_40_of_them(tmp_path: Path, name: str) -> None:
    text = here(tmp_path, *([name] if name else []), "--help").out
    assert max(map(len, text.splitlines())) <= 80
    assert "aui-\n" not in text, "the name is copied"
    found = tables(text)
    assert found
    for lines in found:
        later = [len(line) - len(line.lstrip()) for line in lines if line.startswith("    ")]
        first = [start.end() for line in lines if (start := re.match(r"  \S.*?\s{2,}", line))]
        assert max([*later, *first], default=0) <= 40, lines


@pytest.mark.parametrize("name", COMMANDS)
def test_help_lists_the_words_that_a_choice_takes(tmp_path: Path, name: str) -> None:
    text = " ".join(here(tmp_path, name, "--help").out.split())
    for option in options(name):
        long = option.opts[0]
        if long not in CHOICES:
            continue
        said = text.partition(f"{long} ")[2]
        assert [word for word in allowed(name, long) if word not in said] == [], long


def test_a_list_that_a_help_repeats_is_that_of_its_table() -> None:
    assert ("text", *diff.FORMATS) == DIFF_FORMATS


def test_a_scan_has_few_options_and_so_has_the_program() -> None:
    assert len(options("scan")) <= 18
    own = [option for option in PROGRAM.params if option.name != "help" and not option.hidden]
    assert len({option.opts[0] for option in (*own, *(o for name in COMMANDS for o in options(name)))}) <= 47


@pytest.mark.parametrize("name", COMMANDS)
def test_a_word_outside_of_a_choice_is_answered_with_the_list(tmp_path: Path, name: str) -> None:
    for option in options(name):
        if option.opts[0] not in CHOICES:
            continue
        done = here(tmp_path, name, *required(command_of(name)), option.opts[0], "nonsense")
        assert (done.code, done.out) == (2, ""), option.opts
        named = [word for word in allowed(name, option.opts[0]) if word in done.sentence]
        assert len(named) >= 2, done.sentence
        assert "nonsense" in done.sentence


@pytest.mark.parametrize("name", COMMANDS)
def test_each_mistake_in_a_line_is_named_with_what_is_allowed(tmp_path: Path, name: str) -> None:
    needed = required(command_of(name))
    mistakes: list[tuple[list[str], list[str]]] = [
        ([*needed, "--bogus"], ["--bogus"]),
        ([*needed, "--quiet=yes"], ["--quiet", "not take a value"]),
    ]
    for option in options(name):
        long = option.opts[0]
        if not option.is_flag:
            mistakes.append(([*needed, long], [f"{long} {option.metavar}: {' '.join(option.help.split())}"]))
            if option.type.name != "str":
                mistakes.append(([*needed, long, "x"], [f"{long} {option.metavar}: {option.help}", "'x'"]))
    arguments = [one for one in command_of(name).params if one.param_type_name == "argument"]
    if all(one.nargs == 1 for one in arguments):
        words = ["one", "two", "three"][: len(arguments) + 1]
        mistakes.append((words, [words[-1]]))
    if needed:
        mistakes.append(([], [f"{arguments[0].metavar}: {arguments[0].help}"]))
    for line, wanted in mistakes:
        done = here(tmp_path, name, *line)
        assert (done.code, done.out) == (2, ""), line
        assert done.sentence.endswith(f"See aui-tui {name} --help."), done.sentence
        assert [word for word in wanted if word not in done.sentence] == [], done.sentence
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["serve", "--port", "99999"], ("--port", "99999", "65535")),
        (["serve", "--prot", "1"], ("--prot", "--port")),
        (["schem"], ("There is no command 'schem'; did you mean schema?",)),
        (["scan", "x", "--pace", "99"], ("--pace: must be a number <= 60", "0 to 60")),
        (["scan", "x", "--header", "A: b"], ("--header", '[sites."HOST"]')),
    ],
)
def test_how_a_mistake_reads(tmp_path: Path, line: list[str], words: tuple[str, ...]) -> None:
    done = here(tmp_path, *line)
    assert done.code == 2
    assert [word for word in words if word not in done.sentence] == []


def test_every_setting_can_be_given_for_a_single_run(tmp_path: Path) -> None:
    words = ("--control", "plain", "--set", "older_than=3d", "--set=with-claims=yes", "--set", "mouse=no")
    shown = here(tmp_path, "config", "--json", *words).out
    found = {name: (row["value"], row["origin"]) for name, row in json.loads(shown).items()}
    assert found["control"] == ("plain", "--control")
    assert found["older_than"] == ("3d", "--set older_than")
    assert found["with_claims"] == (True, "--set with_claims")
    assert found["mouse"][0] is False
    for wrong in (("--control", "all"), ("--set", "contro=all"), ("--set", "mouse"), ("--set", "keys=a")):
        done = here(tmp_path, "config", *wrong)
        assert done.code == 2
        assert wrong[-1] in done.sentence or "control" in done.sentence
    assert "--control" not in here(tmp_path, "scan", "--help").out
