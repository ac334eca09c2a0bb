"""Cards under the other method: stored, from a file, and piped; without what was seen there is no other."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from aui_tui.checks.scoring import grade_card
from aui_tui.model.codec import encode_card
from tests.cards import RICH_OPEN, WALLED
from tests.cli.runner import here
from tests.cli.stored import fill
from tests.scan import situations


def test_stored_file_and_pipe_give_the_same(tmp_path: Path) -> None:
    seen = situations.half_open()
    card = grade_card(seen)
    fill(tmp_path, [], [(card, seen)])
    stored = json.loads(here(tmp_path, "regrade", card.host, "--method", "v0.1", "--json").out)
    line = json.dumps({"card": json.loads(encode_card(card)), "observations": msgspec.to_builtins(seen)})
    (tmp_path / "scans.ndjson").write_text(line + "\n")
    filed = json.loads(here(tmp_path, "regrade", "scans.ndjson", "--method", "v0.1", "--json").out)
    piped = json.loads(here(tmp_path, "regrade", "-", "--method", "v0.1", "--json", stdin=line).out)
    assert filed == piped
    assert (stored["method"], stored["pillars"]) == ("v0.1", filed["pillars"])
    assert stored["score"] == filed["score"] == grade_card(seen, "v0.1").score


def test_a_card_alone_exists_under_its_own_method_only(tmp_path: Path) -> None:
    lines = b"\n".join(encode_card(card) for card in (RICH_OPEN, WALLED)).decode()
    done = here(tmp_path, "regrade", "-", "--method", "v0.2", "--json", stdin=lines)
    assert done.code == 2
    assert [json.loads(line)["host"] for line in done.out.splitlines()] == ["tickets.example"]
    assert json.loads(done.err)["error"].endswith(
        "The card of shop.example comes without what was seen, so it exists under v0.1 only. Scan it again."
    )
