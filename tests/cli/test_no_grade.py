"""A site of which less than half could be measured has no grade, in each output alike."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aui_tui.checks.scoring import grade_card
from aui_tui.report.data import card_record
from tests.cli.runner import here
from tests.cli.stored import fill
from tests.scan import situations

HOST = "thin.example"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home whose index has that one site."""
    home = tmp_path_factory.mktemp("thin")
    fill(home, (), [situations.graded(HOST, situations.thin())])
    return home


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (f"site {HOST}", "-> 100, no grade: less than half"),
        (f"site {HOST} --details", "-> 100, no grade; "),
        (f"site {HOST} --format html", "no grade"),
        ("index --text", "score 100, no grade, "),
        ("index --overview", "no grade      1  100 %"),
        ("index --overview --text", "Grade no grade: 1 host"),
        (f"plan {HOST}", "score 100, no grade, "),
        (f"badge {HOST}", "agent usability: no grade"),
        ("export --format csv", f'"{HOST}","{HOST}","Uncategorized","100","",'),
    ],
)
def test_it_has_no_letter(home: Path, line: str, words: str) -> None:
    done = here(home, *line.split())
    assert words in done.out.replace("→", "->")
    assert "grade A" not in done.out
    assert "grade –" not in done.out


def test_programs_read_no_grade_too(home: Path, tmp_path: Path) -> None:
    assert json.loads(here(home, "plan", HOST, "--json").out)["grade"] is None
    run = json.loads(here(home, "site", HOST, "--format", "sarif").out)["runs"][0]
    assert run["properties"].keys() == {"host", "method", "score", "stance"}
    assert 'name="grade"' not in here(home, "site", HOST, "--format", "junit").out
    assert card_record(grade_card(situations.thin()))["grade"] is None
    fill(
        tmp_path,
        (),
        [situations.graded(HOST, situations.thin()), situations.graded("plain.example", situations.plain())],
    )
    sides = json.loads(here(tmp_path, "diff", HOST, "plain.example", "--json").out)
    assert (sides["before"]["grade"], sides["after"]["grade"]) == (None, "F")
