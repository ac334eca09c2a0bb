"""doctor, backup and import on the index of this machine."""

from __future__ import annotations

import json
import random
import sqlite3
from pathlib import Path

import pytest

from aui_tui.model.codec import encode_card
from tests.cards import INDEX, RICH_OPEN, WALLED, encode_index
from tests.cli.runner import here
from tests.cli.stored import fill


def test_a_sound_index_is_counted_and_called_sound(tmp_path: Path) -> None:
    fill(tmp_path)
    done = here(tmp_path, "doctor")
    assert done.code == 0, done.out
    assert "hosts     3\nscans     4\n" in done.out
    assert done.out.endswith("sound\n")


def test_unreadable_card_is_found(tmp_path: Path) -> None:
    fill(tmp_path)
    with sqlite3.connect(tmp_path / "data" / "index.db") as db:
        db.execute("UPDATE scan SET card = x'00' WHERE id = (SELECT min(id) FROM scan)")
    found = here(tmp_path, "doctor")
    assert found.code == 1
    assert "problem   " in found.out
    assert "damaged" in found.out


def test_backup_can_be_used_as_an_index(tmp_path: Path) -> None:
    fill(tmp_path)
    done = here(tmp_path, "backup", "copy.db")
    assert (done.code, done.out) == (0, "")
    again = here(tmp_path, "backup", "copy.db")
    assert again.code == 2
    assert "already there" in again.sentence
    assert here(tmp_path, "backup", "copy.db", "--replace").code == 0
    (tmp_path / "other").mkdir()
    (tmp_path / "copy.db").rename(tmp_path / "other" / "index.db")
    listed = json.loads(here(tmp_path, "index", "--json", "--data-dir", "other").out)
    assert [row["host"] for row in listed["ranked"]] == ["shop.example", "tickets.example"]


def test_import_cards_rows_and_pipes(tmp_path: Path) -> None:
    (tmp_path / "card.json").write_bytes(encode_card(WALLED))
    done = here(tmp_path, "import", "card.json", "-", stdin=encode_card(RICH_OPEN).decode())
    assert done.code == 0, done.err
    assert done.out == "card.json: 1 record read, 1 new or newer\n-: 1 record read, 1 new or newer\n"
    assert json.loads(here(tmp_path, "site", "shop.example", "--json").out)["score"] == 87
    index = here(tmp_path, "import", "-", stdin=encode_index(INDEX).decode())
    assert index.code == 0, index.err
    exported = here(tmp_path, "export", "--cards", "-f", "ndjson")
    assert exported.code == 3
    assert exported.sentence == "aui-tui: 1 host left out: only their summaries are known."
    assert here(tmp_path, "import", "-", "--data-dir", "copy", stdin=exported.out).code == 0
    ranked = ["export", "-f", "ndjson", "--query=-gone"]
    assert here(tmp_path, *ranked, "--data-dir", "copy").out == here(tmp_path, *ranked).out != ""


def test_hosts_without_a_card_are_reported_with_the_reason_and_the_rest_kept(tmp_path: Path) -> None:
    lost = '{"found":false,"line":4,"host":"a b","title":"Bad row","status":400,"detail":"It holds a space."}'
    done = here(tmp_path, "import", "-", stdin=f"{lost}\n{encode_card(WALLED).decode()}\n")
    assert done.code == 1
    assert done.sentence == "aui-tui: -: line 1: No card of a b: It holds a space."
    assert "1 new or newer" in done.out


@pytest.mark.ci
@pytest.mark.parametrize("name", ["noise", "picture", "database"])
def test_a_file_that_holds_no_records_and_no_hosts_gets_one_sentence(tmp_path: Path, name: str) -> None:
    parts = {"noise": random.Random(7).randbytes(20_000), "picture": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\xff" * 300}
    data = parts.get(name, b"SQLite format 3\0" + bytes(4000))
    (tmp_path / "file").write_bytes(data)
    imported = here(tmp_path, "import", "file")
    assert (imported.code, imported.out) == (2, "")
    assert "file: " in imported.sentence
    assert imported.sentence.endswith("Cards, rows and indexes are taken, as JSON or one record a line.")
    crawled = here(tmp_path, "crawl", "file")
    assert (crawled.code, crawled.out) == (2, "")
    assert "This is no list of hosts; line 1: The line " in crawled.sentence
    assert crawled.sentence.endswith("A list has lines, or CSV of host, name, category.")
    assert "No cards yet" in here(tmp_path, "index").out
