"""Writing out lists and cards, and gates on stored cards."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from aui_tui.model.codec import encode_card
from tests.cards import WALLED
from tests.cli.runner import here
from tests.cli.stored import EARLIER, fill


@pytest.fixture
def home(tmp_path: Path) -> Path:
    fill(tmp_path)
    return tmp_path


def test_list_in_every_format(home: Path) -> None:
    whole = json.loads(here(home, "export").out)
    assert [row["host"] for row in whole["ranked"]] == ["shop.example", "tickets.example"]
    lines = here(home, "export", "--format", "ndjson").out.splitlines()
    assert [json.loads(line)["host"] for line in lines] == ["shop.example", "tickets.example", "gone.example"]
    table = list(csv.DictReader(io.StringIO(here(home, "export", "-f", "csv", "--stance", "walled").out)))
    assert [row["host"] for row in table] == ["tickets.example"]
    assert "| tickets.example |" in here(home, "export", "-f", "markdown").out
    assert here(home, "export", "-f", "html").out.startswith("<!DOCTYPE html>")


def test_the_name_of_a_file_says_its_format(home: Path) -> None:
    for name in ("rows.ndjson", "rows.jsonl"):
        assert here(home, "export", "-o", name).code == 0
    assert (home / "rows.jsonl").read_bytes() == (home / "rows.ndjson").read_bytes()
    assert "use .json, .ndjson, .jsonl, .csv, .md, .html, .parquet" in here(home, "export", "-o", "rows.doc").sentence
    listed = here(home, "export", "--help").out.partition("--format")[2].partition("--output")[0]
    assert "with --cards also" in " ".join(listed.partition("junit")[0].split())


def test_a_term_beside_the_options_is_told_its_place(home: Path) -> None:
    for command in ("index", "export"):
        done = here(home, command, "score>50")
        assert (done.code, "--query" in done.sentence) == (2, True)
    assert "--query" not in here(home, "paths", "score>50").sentence


def test_fields_limit_order_and_keys(home: Path) -> None:
    done = here(home, "export", "-f", "ndjson", "--fields", "host,matrix.claude", "--limit", "1", "--sort", "host")
    assert json.loads(done.out.splitlines()[0]) == {"host": "shop.example", "matrix": {"claude": "allowed"}}
    slots = json.loads(here(home, "export", env={"AUI_TUI_JSON_KEYS": "slots"}).out)
    assert "matrix_key_1" in slots["ranked"][0]["matrix"]


def test_cards_instead_of_rows(home: Path) -> None:
    cards = json.loads(here(home, "export", "--cards").out)
    assert [card["host"] for card in cards] == ["shop.example", "tickets.example", "gone.example"]
    assert "evidence" in cards[0]
    assert "<testsuite " in here(home, "export", "--cards", "-f", "junit").out


def test_file_is_written_whole_or_not_at_all(home: Path) -> None:
    target = home / "out.csv"
    done = here(home, "export", "-f", "csv", "-o", "out.csv")
    assert (done.code, done.out) == (0, "")
    before = target.read_bytes()
    assert before.startswith(b'"host"')
    assert here(home, "export", "-f", "csv", "--fields", "nope", "-o", "out.csv").code == 2
    assert target.read_bytes() == before
    refused = here(home, "export", "-o", "none/out.json")
    assert refused.code == 2
    assert "the folder does not exist" in refused.sentence


def test_card_of_an_unreachable_host_is_printed_and_exits_3(home: Path) -> None:
    done = here(home, "site", "gone.example", "--json")
    assert (done.code, json.loads(done.out)["host"]) == (3, "gone.example")


def test_one_card_in_every_format(home: Path) -> None:
    assert json.loads(here(home, "site", "shop.example", "-f", "json").out)["score"] == 87
    assert json.loads(here(home, "site", "shop.example", "-f", "sarif").out)["version"] == "2.1.0"
    env = {"AUI_TUI_DETERMINISTIC": "1"}
    again = [here(home, "site", "shop.example", "-f", "html", env=env).out for _ in range(2)]
    assert again[0] == again[1]
    assert "10:00" not in again[0]


def test_gates_pass_fail_and_are_inconclusive(home: Path) -> None:
    assert here(home, "site", "shop.example", "--fail-under", "80", "--must-serve", "claude,chatgpt").code == 0
    failed = here(home, "site", "tickets.example", "--fail-under", "50", "--require-stance", "Open", "--json")
    assert failed.code == 1
    assert json.loads(failed.out)["host"] == "tickets.example"
    notices = [json.loads(line)["notice"] for line in failed.err.splitlines()]
    assert notices[0] == "gate fail-under failed: tickets.example: The score is 42, 8 points under 50."
    assert notices[1].startswith("gate require-stance failed")
    unknown = here(home, "site", "gone.example", "--fail-under", "0")
    assert unknown.code == 3
    assert "inconclusive" in unknown.err


def test_a_document_speaks_of_gates_only_when_some_were_asked_for(home: Path) -> None:
    for form, sign in (("markdown", "## Gates"), ("html", "Gates"), ("junit", ".gates")):
        assert sign not in here(home, "site", "shop.example", "-f", form).out
        assert sign in here(home, "site", "shop.example", "-f", form, "--fail-under", "80").out


def test_no_regress_compares_with_the_scan_before_or_a_file(home: Path) -> None:
    assert here(home, "site", "shop.example", "--no-regress", "last").code == 3
    better = home / "better.json"
    better.write_bytes(encode_card(WALLED))
    worse = home / "worse.ndjson"
    worse.write_bytes(encode_card(EARLIER) + b"\n" + encode_card(EARLIER) + b"\n")
    now = here(home, "site", "tickets.example", "--no-regress", "worse.ndjson")
    assert "fell" not in now.err
    old = here(home, "site", "tickets.example", EARLIER.scanned_at, "--no-regress", "better.json")
    assert old.code == 1
    assert "The score fell by 6 points, from 42 to 36." in old.err
    first = here(home, "site", "tickets.example", EARLIER.scanned_at, "--no-regress", "last")
    assert first.code == 3
    assert "There is no earlier card to compare with. Keep one in a file" in first.sentence
    broken = home / "broken.json"
    broken.write_text('{"found": true}', encoding="utf-8")
    refused = here(home, "site", "tickets.example", "--no-regress", "broken.json")
    assert refused.code == 2
    assert "broken.json" in refused.sentence


@pytest.mark.parametrize("when", ["2026-11-12", "2026-11-12 08:00", "first"])
def test_an_earlier_scan_is_named_by_the_beginning_of_its_time(home: Path, when: str) -> None:
    found = json.loads(here(home, "site", "tickets.example", when, "--json").out)
    assert (found["scanned_at"], found["score"]) == (EARLIER.scanned_at, 36)
    refused = here(home, "site", "tickets.example", "1999")
    assert (refused.code, refused.out) == (2, "")
    assert f"kept: {WALLED.scanned_at}, {EARLIER.scanned_at}" in refused.sentence


def test_a_badge_shows_grade_and_score(home: Path) -> None:
    done = here(home, "badge", "tickets.example", "-o", "badge.svg")
    assert done.code == 0
    assert "F 42" in (home / "badge.svg").read_text(encoding="utf-8")


PASS = {"AUI_TUI_FIRST_RUN": "pass"}


@pytest.mark.parametrize("baseline", ["last", "not-yet.json"])
def test_a_first_run_passes_only_when_that_was_asked_for(home: Path, baseline: str) -> None:
    asked = ("site", "shop.example", "--no-regress", baseline)
    assert here(home, *asked).code == (3 if baseline == "last" else 2)
    done = here(home, *asked, "--json", env=PASS)
    assert (done.code, json.loads(done.out)["host"]) == (0, "shop.example")
    assert "gate no-regress passes: shop.example: first run, no card to compare with." in done.err
    assert here(home, *asked, "--fail-under", "100", "-q", env=PASS).code == 1


def test_first_run_changes_nothing_once_there_is_a_card_to_compare_with(home: Path) -> None:
    (home / "better.json").write_bytes(encode_card(WALLED))
    earlier = ("site", "tickets.example", EARLIER.scanned_at, "--no-regress", "better.json")
    assert here(home, *earlier, env=PASS).code == 1
    dead = here(home, "site", "gone.example", "--no-regress", "last", env=PASS)
    assert dead.code == 3
