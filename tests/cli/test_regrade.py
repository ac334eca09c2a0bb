"""Cards under the other method: stored, from a file, and piped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aui_tui.model.codec import encode_card
from tests.cards import RICH_OPEN, WALLED
from tests.cli.runner import here
from tests.cli.stored import fill


def test_stored_file_and_pipe_give_the_same(tmp_path: Path) -> None:
    fill(tmp_path)
    stored = json.loads(here(tmp_path, "regrade", "tickets.example", "--method", "v0.1", "--json").out)
    (tmp_path / "card.json").write_bytes(encode_card(WALLED))
    filed = json.loads(here(tmp_path, "regrade", "card.json", "--method", "v0.1", "--json").out)
    piped = here(tmp_path, "regrade", "-", "--method", "v0.1", "--json", stdin=encode_card(WALLED).decode())
    assert stored == filed == json.loads(piped.out)
    assert (stored["method"], stored["host"], stored["pillars"]["consent"]) == ("v0.1", "tickets.example", 0)


def test_many_cards_and_a_broken_one(tmp_path: Path) -> None:
    lines = b"\n".join(encode_card(card) for card in (RICH_OPEN, WALLED)).decode()
    done = here(tmp_path, "regrade", "-", "--method", "v0.2", "-f", "csv", "--fields", "host,method", stdin=lines)
    assert done.out.splitlines()[1:] == ['"shop.example","v0.2"', '"tickets.example","v0.2"']
    odd = encode_card(RICH_OPEN).replace(b'"access":40', b'"access":12').decode()
    refused = here(tmp_path, "regrade", "-", "--method", "v0.2", stdin=odd)
    assert (refused.code, refused.out) == (2, "")
    assert "do not add up" in refused.sentence


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "words"),
    [
        (["x.json"], "", 2, "Cannot read x.json"),
        (["-"], "nonsense", 2, "is not JSON"),
        (["-"], "[]", 2, "holds no report card"),
        (["none.example"], "", 3, "never been scanned"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path: Path, arguments: list[str], stdin: str, code: int, words: str) -> None:
    done = here(tmp_path, "regrade", *arguments, "--method", "v0.1", stdin=stdin)
    assert (done.code, done.out) == (code, "")
    assert words in done.sentence
