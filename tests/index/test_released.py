"""Files that a released version wrote still open, with every card and scan in them.

``tests/data/released/VERSION`` holds an index, the 24 h cache and the exports that the release itself made of them.
They are never made again: a change of records or schema must read them as they are.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.runner import aui

RELEASED = Path(__file__).resolve().parents[1] / "data" / "released"
RELEASES = sorted(path.name for path in RELEASED.iterdir())


def unpacked(version: str, name: str) -> bytes:
    return gzip.decompress((RELEASED / version / name).read_bytes())


@pytest.fixture(params=RELEASES)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def home(tmp_path: Path, version: str) -> Path:
    """A home whose data folder is the one that the release left."""
    data = tmp_path / "data"
    cache = data / "scan-cache"
    cache.mkdir(parents=True, mode=0o700)
    data.chmod(0o700)
    (data / "index.db").write_bytes(unpacked(version, "index.db.gz"))
    (cache / "cache.db").write_bytes(unpacked(version, "scan-cache.db.gz"))
    return tmp_path


def released_cards(version: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in unpacked(version, "cards.ndjson.gz").splitlines()]


JUDGED = {"evidence", "recommendations", "score", "grade", "stance", "pillars", "detail", "matrix"}
"""What the current revision of the method judges anew from what was seen."""


def test_what_a_release_saw_reads_as_it_was_written(home: Path, version: str) -> None:
    done = aui(home, "export", "--cards", "--format", "json")
    assert done.code == 0, done.err
    now = {card["host"]: card for card in json.loads(done.out)}
    then = released_cards(version)
    assert set(now) == {card["host"] for card in then}
    for card in then:
        assert {key: now[card["host"]][key] for key in card.keys() - JUDGED} == {
            key: card[key] for key in card.keys() - JUDGED
        }
        assert now[card["host"]].keys() >= card.keys()


def test_the_list_of_a_release_says_what_its_cards_say_now(home: Path, version: str) -> None:
    """Graded again under the present revision of the method, and in its order."""
    done = aui(home, "index", "--json")
    assert done.code == 0, done.err
    now, then = json.loads(done.out), json.loads(unpacked(version, "index.json.gz"))
    for part in ("ranked", "unreachable"):
        assert {row["host"] for row in now[part]} == {row["host"] for row in then[part]}
        assert now[part] == sorted(now[part], key=lambda row: (-row["score"], row["host"]))
    cards = {card["host"]: card for card in json.loads(aui(home, "export", "--cards", "--format", "json").out)}
    before = {row["host"]: row["score"] for row in then["ranked"]}
    for row in now["ranked"]:
        for field in ("score", "grade", "stance", "pillars", "matrix"):
            assert row[field] == cards[row["host"]][field]
    assert any(row["score"] != before[row["host"]] for row in now["ranked"])


@pytest.mark.ci
def test_history_and_search_of_a_release_work(home: Path) -> None:
    difference = aui(home, "diff", "cloud.demo.test")
    assert difference.code == 0, difference.err
    assert difference.out.startswith("cloud.demo.test: score 52 -> 100, grade F -> A")
    found = aui(home, "index", "--query", "outlet", "--json")
    assert [row["host"] for row in json.loads(found.out)["ranked"]] == ["outlet.demo.test"]


def test_a_scan_of_a_release_is_graded_again_from_what_it_saw(home: Path, version: str) -> None:
    done = aui(home, "site", "outlet.demo.test", "--json", "--method", "v0.1")
    assert done.code == 0, done.err
    card = json.loads(done.out)
    then = next(card for card in released_cards(version) if card["host"] == "outlet.demo.test")
    assert card["method"] == "v0.1"
    assert card["agent_access"] == then["agent_access"]
    assert card["pillar_max"] == {"access": 40, "consent": 10, "surface": 25, "protocols": 15, "task": 10}


@pytest.mark.ci
def test_the_doctor_finds_a_release_sound(home: Path) -> None:
    done = aui(home, "doctor")
    assert done.code == 0, done.out + done.err
