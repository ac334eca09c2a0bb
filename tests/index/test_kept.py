"""An index of an earlier program opens with all that it holds, and answers two thousand questions as it did."""

from __future__ import annotations

import gzip
import json
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from aui_tui.index import compression
from aui_tui.index.reports import Reports
from aui_tui.index.schema import VERSION
from aui_tui.index.upkeep import examine
from aui_tui.model.card import stamp
from aui_tui.model.query import Query
from tests.cli.runner import ROOT
from tests.index.kept import answer, host_of, shortened

DATA = Path(__file__).resolve().parents[1] / "data" / "index"


@cache
def kept() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress((DATA / "answers.json.gz").read_bytes()))
    return found


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reports]:
    file = tmp_path_factory.mktemp("kept") / "index.db"
    file.write_bytes(gzip.decompress((DATA / "index.db.gz").read_bytes()))
    reports = Reports(file)
    yield reports
    reports.close()


def test_every_host_has_its_row_its_history_and_its_visits(opened: Reports) -> None:
    index = opened.index(Query())
    listed = [row.summary.host for window in (index.ranked, index.unreachable) for row in window[:]]
    assert sorted(listed) == sorted(kept()["hosts"])
    for host, then in kept()["hosts"].items():
        assert host_of(opened, host) == then, host


JUDGED = {"stance", "score", "grade", "agent", "contradiction"}
"""Fields of which an unreachable host has none. The earlier program took it for Walled, with a score of 0."""


def judges(query: Query) -> bool:
    return bool(query.stance or JUDGED & query.fields)


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.ci) for part in range(1, 8))])
def test_every_question_has_the_answer_of_then(opened: Reports, part: int) -> None:
    for question in kept()["questions"][part::8]:
        now, then, query = answer(opened, question), question["answer"], Query.of(**question["query"])
        if question["ask"] == "overview":
            for figures in (now, then):
                figures["edges"] = {edge: count for edge, count in figures["edges"].items() if count > 20}
                figures["refusing"] = {edge: figures["refusing"].get(edge) for edge in figures["edges"]}
        if isinstance(now, dict) and "unreachable" in now and judges(query):
            left, before = now.pop("unreachable"), then.pop("unreachable")
            assert type(left) is type(before)
            assert not query.stance or left in (0, shortened([]))
        assert now == then, question


def test_every_card_and_all_that_was_seen_are_kept_as_they_were(opened: Reports, tmp_path: Path) -> None:
    """What the file held and what the index gives, read without the program's tables."""
    before = tmp_path / "before.db"
    before.write_bytes(gzip.decompress((DATA / "index.db.gz").read_bytes()))
    sql = "SELECT host, scan.at, card, observations FROM scan JOIN site ON site.id = scan.site ORDER BY 1, 2"
    found = []
    for path in (before, opened.path):
        with closing(sqlite3.connect(path)) as db:
            found.append(db.execute(sql).fetchall())
    assert len(found[0]) > 3000
    assert found[0] == found[1]
    for host, at, card, seen in found[0][::20]:
        if card is not None:
            scan = opened.get(host, stamp(at / 1000))
            assert scan.card == compression.unpack_card(card)
            assert scan.observations == (None if seen is None else compression.unpack_observations(seen))


KILLED = """
import os, pathlib, signal, sys
from aui_tui.index import migration, reports

path, statement = sys.argv[1:]
migrate = migration.migrate

def watched(db, version):
    db.set_trace_callback(lambda sql: sql.startswith(statement) and os.kill(os.getpid(), signal.SIGKILL))
    migrate(db, version)

migration.migrate = watched
reports.Reports(pathlib.Path(path))
"""
"""Opens an index and ends its own process at a statement of the migration."""


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_killed_migration_starts_again(tmp_path: Path, version: int) -> None:
    path = tmp_path / "index.db"
    path.write_bytes(gzip.decompress((DATA / "index.db.gz").read_bytes()))
    with closing(sqlite3.connect(path)) as db:
        hosts = db.execute("SELECT count(*) FROM site").fetchone()
        for table in ("ALTER TABLE scan DROP COLUMN plain", "DROP TABLE visits")[: 3 - version]:
            db.execute(table)
        db.execute(f"PRAGMA user_version = {version}")
    for statement in ("CREATE TABLE old_site", "INSERT INTO site_text", "DROP TABLE IF EXISTS edge"):
        child = subprocess.run([sys.executable, "-c", KILLED, path, statement], check=False, cwd=ROOT)
        assert child.returncode == -signal.SIGKILL
    reports = Reports(path)
    with reports.database.reading() as db:
        assert db.execute("SELECT count(*) FROM site").fetchone() == hosts
        assert db.execute("PRAGMA user_version").fetchone() == (VERSION,)
    assert examine(reports).problems == ()
    reports.close()
