"""An index of an earlier program opens with all that it holds, and answers two thousand questions as it did."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from aui_tui.index.reports import Reports
from tests.index.kept import NOW, answer, host_of

DATA = Path(__file__).resolve().parents[1] / "data" / "index"


@cache
def kept() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress((DATA / "answers.json.gz").read_bytes()))
    return found


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reports]:
    file = tmp_path_factory.mktemp("kept") / "index.db"
    file.write_bytes(gzip.decompress((DATA / "index.db.gz").read_bytes()))
    reports = Reports(file, clock=lambda: NOW)
    yield reports
    reports.close()


def test_every_host_has_its_row_its_history_and_its_visits(opened: Reports) -> None:
    assert [host for host, _ in opened.hosts()] == sorted(kept()["hosts"])
    for host, then in kept()["hosts"].items():
        assert host_of(opened, host) == then, host


@pytest.mark.parametrize("part", range(8))
def test_every_question_has_the_answer_of_then(opened: Reports, part: int) -> None:
    for question in kept()["questions"][part::8]:
        now, then = answer(opened, question), question["answer"]
        if question["ask"] == "overview":
            for figures in (now, then):
                figures["edges"] = {edge: count for edge, count in figures["edges"].items() if count > 20}
                figures["refusing"] = {edge: figures["refusing"].get(edge) for edge in figures["edges"]}
        assert now == then, question
