"""One convention: ``--json`` prints one document, or one object a line; standard error is JSON too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aui_tui.cli.app import COMMANDS, command_of
from aui_tui.model.codec import encode_card
from tests.cards import WALLED
from tests.cli.runner import here
from tests.cli.stored import SEEN, fill

SILENT = {
    "badge": "a picture",
    "key": "a key, and its directory, which is JSON as it is",
    "serve": "a server",
    "mcp": "a server that speaks JSON-RPC",
    "web": "the dashboard in a browser",
    "demo": "the dashboard; --headless prints the index",
    "schema": "JSON",
}
"""Commands that report nothing, and what they give instead."""
ONE = {
    "index": ("index",),
    "overview": ("index", "--overview"),
    "site": ("site", "tickets.example"),
    "diff": ("diff", "tickets.example"),
    "plan": ("plan", "seen.example"),
    "export": ("export",),
    "doctor": ("doctor",),
    "backup": ("backup", "copy.db"),
    "cache": ("cache",),
    "clear": ("cache", "clear"),
    "help": ("help", "query"),
    "config": ("config",),
    "paths": ("paths",),
}
LINES = {
    "regrade": ("regrade", "seen.example", "other.example", "--method", "v0.1"),
    "validate": ("validate", "card.json", "card.json"),
    "import": ("import", "card.json", "card.json"),
    "forget": ("forget", "tickets.example", "shop.example"),
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    fill(tmp_path, scans=SEEN)
    (tmp_path / "card.json").write_bytes(encode_card(WALLED))
    return tmp_path


def test_every_command_that_reports_has_the_option() -> None:
    without = {name for name in COMMANDS if all("--json" not in one.opts for one in command_of(name).params)}
    assert without == set(SILENT)


@pytest.mark.parametrize("name", ONE)
def test_json_is_one_document_for_one_thing(home: Path, name: str) -> None:
    done = here(home, *ONE[name], "--json", "-q")
    assert done.code in (0, 1), done.err
    assert isinstance(json.loads(done.out), dict)
    assert done.err == ""


@pytest.mark.parametrize("name", LINES)
def test_one_object_a_line(home: Path, name: str) -> None:
    done = here(home, *LINES[name], "--json", "-q")
    assert done.code == 0, done.err
    assert [type(json.loads(line)) for line in done.out.splitlines()] == [dict, dict]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("site", "none.example"), ("none.example has never been scanned.", "Host never scanned", 3)),
        (("scan", "bad host"), (None, "Invalid host", 2)),
        (("index", "--stance", "shut"), (None, "Bad value", 2)),
        (("index", "--bogus"), (None, "Usage error", 2)),
        (("bogus",), (None, "Usage error", 2)),
        (("site", "shop.example", "--fail-grade", ""), (None, "Bad value", 2)),
        (("paths", "--config", "none.toml"), (None, "Bad configuration", 2)),
    ],
)
def test_an_error_is_one_object(home: Path, arguments: tuple[str, ...], error: tuple[str | None, str, int]) -> None:
    done = here(home, *arguments, "--json")
    reported = json.loads(done.err)
    assert list(reported) == ["error", "title", "exit_code"]
    assert (reported["title"], reported["exit_code"]) == error[1:]
    assert error[0] in (None, reported["error"])
    assert (done.code, done.out) == (error[2], "")
    assert reported["error"] in here(home, *arguments).sentence


def test_the_rate_limit_and_a_notice_are_objects_too(home: Path) -> None:
    first = here(home, "site", "shop.example", "--no-regress", "last", "--json", env={"AUI_TUI_FIRST_RUN": "pass"})
    (notice,) = (json.loads(line) for line in first.err.splitlines())
    assert list(notice) == ["notice"]
    several = here(home, "forget", "none.example", "shop.example", "--json")
    assert json.loads(several.err)["exit_code"] == 3
    assert json.loads(several.out) == {"host": "shop.example", "removed": 1}


@pytest.mark.ci
def test_without_the_option_or_after_two_hyphens_it_is_a_sentence(home: Path) -> None:
    assert here(home, "site", "none.example").sentence == "aui-tui: none.example has never been scanned."
    assert here(home, "site", "--", "--json").sentence.startswith("aui-tui: ")
