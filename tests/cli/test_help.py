"""Every command explains itself within 80 columns, lists what a choice takes, and names mistakes in its own words."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from aui_tui.cli.app import COMMANDS, application, value_words
from aui_tui.cli.cards import DIFF_FORMATS
from aui_tui.cli.options import DOCUMENTS, REPORTS
from aui_tui.model.methods import METHODS
from aui_tui.model.query import SORTS
from aui_tui.model.vocabulary import CATEGORIES, GRADES, STANCES
from aui_tui.report import diff, formats
from tests.cli.runner import here, required

PROGRAM: Any = application(tuple(COMMANDS))
CHOICES: dict[str, tuple[str, ...]] = {
    "--category": CATEGORIES,
    "--fail-grade": GRADES,
    "--fail-on": ("critical", "warn"),
    "--format": formats.CARD_FORMATS,
    "--method": tuple(METHODS),
    "--require-stance": STANCES,
    "--sort": SORTS,
    "--stance": STANCES,
}
FORMATS_OF: dict[str, tuple[str, ...]] = {
    "diff": (*diff.FORMATS,),
    "visits": ("json", "csv", "markdown", "nginx", "ipset"),
}
"""What ``--format`` takes where that is not every format of a card."""


def options(name: str) -> list[Any]:
    return [one for one in PROGRAM.commands[name].params if one.param_type_name == "option" and not one.hidden]


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


def test_lists_that_a_help_repeats_are_those_of_their_tables() -> None:
    assert (*DOCUMENTS, *REPORTS) == formats.CARD_FORMATS
    assert tuple(diff.FORMATS) == DIFF_FORMATS


def test_a_scan_has_few_options_and_so_has_the_program() -> None:
    assert len(options("scan")) <= 16
    own = [option for option in PROGRAM.params if option.name != "help" and not option.hidden]
    assert len({option.opts[0] for option in (*own, *(o for name in COMMANDS for o in options(name)))}) <= 45


@pytest.mark.parametrize("name", COMMANDS)
def test_a_word_outside_of_a_choice_is_answered_with_the_list(tmp_path: Path, name: str) -> None:
    for option in options(name):
        if option.opts[0] not in CHOICES:
            continue
        done = here(tmp_path, name, *required(PROGRAM.commands[name]), option.opts[0], "nonsense")
        assert (done.code, done.out) == (2, ""), option.opts
        named = [word for word in allowed(name, option.opts[0]) if word in done.sentence]
        assert len(named) >= 2, done.sentence
        assert "nonsense" in done.sentence


PARSER = ("Invalid value", "No such", "Missing argument", "Missing option", "Got unexpected", "requires an argument")
"""How the parser itself speaks."""


@pytest.mark.parametrize("name", COMMANDS)
def test_each_mistake_in_a_line_is_named_with_what_is_allowed(tmp_path: Path, name: str) -> None:
    needed = required(PROGRAM.commands[name])
    mistakes: list[tuple[list[str], list[str]]] = [
        ([*needed, "--bogus"], [f"aui-tui {name} has no option --bogus"]),
        ([*needed, "--quiet=yes"], ["--quiet takes no value"]),
    ]
    for option in options(name):
        long, takes = option.opts[0], value_words(option)
        if not option.is_flag:
            mistakes.append(([*needed, long], [f"{long} needs a value, {takes}: "]))
            if option.type.name != "str":
                mistakes.append(([*needed, long, "x"], [f"{long} takes {takes}, not 'x'."]))
    arguments = [one for one in PROGRAM.commands[name].params if one.param_type_name == "argument"]
    if all(one.nargs == 1 for one in arguments):
        words = ["one", "two", "three"][: len(arguments) + 1]
        mistakes.append((words, [f"aui-tui {name} takes ", repr(words[-1])]))
    if needed:
        mistakes.append(([], [f"aui-tui {name} needs "]))
    for line, wanted in mistakes:
        done = here(tmp_path, name, *line)
        assert (done.code, done.out) == (2, ""), line
        assert done.sentence.endswith(f"See aui-tui {name} --help."), done.sentence
        assert [word for word in wanted if word not in done.sentence] == [], done.sentence
        assert not any(word in done.sentence for word in PARSER), done.sentence
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (["serve", "--port", "99999"], "--port takes a whole number from 0 to 65535, not '99999'."),
        (["index", "--limit", "-3"], "--limit takes a whole number, 0 or more, not '-3'."),
        (["serve", "--prot", "1"], "aui-tui serve has no option --prot; did you mean --port or --host?"),
        (["serve", "8600"], "aui-tui serve takes no argument; leave out '8600'."),
        (["site"], "aui-tui site needs HOST: a host that was scanned."),
        (["schem"], "There is no command 'schem'; did you mean schema?"),
        (["scan"], "aui-tui scan needs URL...: hosts or http(s) addresses, such as example.com."),
        (["scan", "x", "--pace", "99"], "--pace must be a number from 0 to 60, not '99'."),
        (
            ["scan", "x", "--header", "A: b"],
            "aui-tui scan has no option --header; it is the setting headers of [sites.",
        ),
    ],
)
def test_how_a_mistake_reads(tmp_path: Path, line: list[str], sentence: str) -> None:
    done = here(tmp_path, *line)
    assert done.code == 2
    assert done.sentence.startswith(f"aui-tui: {sentence}")


def test_every_setting_is_an_option_of_a_single_run(tmp_path: Path) -> None:
    shown = here(tmp_path, "config", "--json", "--control", "plain", "--older-than=3d", "--with-claims").out
    found = {name: (row["value"], row["origin"]) for name, row in json.loads(shown).items()}
    assert found["control"] == ("plain", "--control")
    assert found["older_than"] == ("3d", "--older-than")
    assert found["with_claims"] == (True, "--with-claims")
    assert here(tmp_path, "config", "--control", "all").code == 2
    assert "--control" not in here(tmp_path, "scan", "--help").out
