"""diff, plan, validate, forget and cache on stored cards and files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aui_tui.model.codec import encode_card
from tests.cards import RICH_OPEN, WALLED
from tests.cli.runner import here
from tests.cli.stored import EARLIER, SEEN, fill


@pytest.fixture
def home(tmp_path: Path) -> Path:
    fill(tmp_path, scans=SEEN)
    (tmp_path / "old.json").write_bytes(encode_card(EARLIER))
    (tmp_path / "new.json").write_bytes(encode_card(WALLED))
    return tmp_path


def test_diff_of_the_last_two_scans_of_times_and_of_files_is_the_same(home: Path) -> None:
    last = here(home, "diff", "tickets.example")
    assert last.code == 0, last.err
    assert "score 36 -> 42" in last.out
    assert "JSON-LD blocks: 0 -> 2" in last.out
    for pair in (["tickets.example", "2026-11-12", "last"], ["tickets.example", "first", "2026-11-20"]):
        assert here(home, "diff", *pair).out == last.out
    files = here(home, "diff", "old.json", "new.json")
    assert "JSON-LD blocks: 0 -> 2" in files.out
    assert here(home, "diff", "old.json", "tickets.example").out == files.out
    assert "score 42 -> 36" in here(home, "diff", "tickets.example", "last", "first").out


def test_diff_as_json_and_markdown_to_a_file(home: Path) -> None:
    found = json.loads(here(home, "diff", "tickets.example", "--format", "json").out)
    assert (found["before"]["score"], found["after"]["score"]) == (36, 42)
    done = here(
        home, "diff", "tickets.example", "-f", "markdown", "-o", "comment.md", env={"AUI_TUI_DETERMINISTIC": "1"}
    )
    assert (done.code, done.out) == (0, "")
    assert (home / "comment.md").read_text(encoding="utf-8").startswith("<!-- aui-tui diff -->")


def test_diff_grades_both_sides_under_one_method(home: Path) -> None:
    both = here(home, "diff", "shop.example", "tickets.example")
    assert "different methods" in both.out
    same = here(home, "diff", "seen.example", "other.example", "--method", "v0.1", "-f", "json")
    assert json.loads(same.out)["after"]["method"] == "v0.1"
    alone = here(home, "diff", "old.json", "new.json", "--method", "v0.1")
    assert (alone.code, alone.out) == (2, "")
    assert "exists under v0.2 only" in alone.sentence


def test_plan_names_the_steps_and_writes_the_snippets_once(home: Path) -> None:
    done = here(home, "plan", "seen.example", "--grade", "B", "--write", "fixes")
    assert done.code == 0, done.err
    assert "goal grade B" in done.out
    written = sorted(str(path.relative_to(home / "fixes")) for path in (home / "fixes").rglob("*") if path.is_file())
    assert "README.md" in written
    assert written
    assert all(f"wrote fixes/{name}" in done.err for name in written)
    again = here(home, "plan", "seen.example", "--grade", "B", "--write", "fixes")
    assert again.code == 2
    assert "--replace replaces it" in again.sentence
    assert here(home, "plan", "seen.example", "--grade", "B", "--write", "fixes", "--replace").code == 0
    assert json.loads(here(home, "plan", "other.example", "--json").out)["goal"].startswith("grade")


def test_validate_says_where_and_why(home: Path) -> None:
    good = here(home, "validate", "old.json", "new.json")
    assert (good.code, good.out) == (0, "old.json: valid, 1 card\nnew.json: valid, 1 card\n")
    piped = here(home, "validate", "-", stdin=encode_card(RICH_OPEN).decode() + "\n" + encode_card(WALLED).decode())
    assert piped.out == "-: valid, 2 cards\n"
    broken = encode_card(WALLED).replace(b'"score":42', b'"score":"42"').decode()
    bad = here(home, "validate", "-", stdin=broken)
    assert bad.code == 1
    assert bad.out.startswith("-: score: ")


def test_forget_removes_a_host_with_its_history(home: Path) -> None:
    done = here(home, "forget", "tickets.example", "none.example")
    assert done.code == 3
    assert done.out == "tickets.example: 2 scans removed\n"
    assert here(home, "site", "tickets.example").code == 3
    assert here(home, "site", "shop.example").code == 0


def test_cache_clear_loses_no_card(home: Path) -> None:
    assert here(home, "cache").out == "0 answers\n"
    assert here(home, "cache", "clear").out == "0 answers removed\n"
    assert here(home, "site", "shop.example").code == 0


def test_a_source_of_cards_alone_has_no_other_method_and_no_plan(home: Path) -> None:
    for command in (["site", "tickets.example", "--method", "v0.1"], ["plan", "tickets.example"]):
        done = here(home, *command, "--source", "new.json")
        assert (done.code, done.out) == (2 if "--method" in command else 3, "")
        assert "comes without what was seen" in done.sentence
