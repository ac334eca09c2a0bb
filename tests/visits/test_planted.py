"""A log with known truth: every figure exact."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from aui_tui.model.times import stamp
from aui_tui.model.visits import RangeList, Visits
from aui_tui.visits import logs
from aui_tui.visits.clients import Ranges
from aui_tui.visits.counting import LogOptions
from tests.visits.planted import RANGES, Truth, plant

FETCHED = {url: RangeList(url=url, fetched_at="2026-11-21T00:00:00.000Z") for url in RANGES}


def read(files: list[str], **options: object) -> Visits:
    chosen = LogOptions(**options)  # type: ignore[arg-type]
    whole = logs.count(files, chosen, {url: Ranges(found) for url, found in RANGES.items()})
    return logs.record(whole, files, chosen, FETCHED)


def top(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:10]


def check(record: Visits, truth: Truth) -> None:
    assert record.lines == truth.lines
    assert record.unparsable == truth.broken
    assert record.agent_lines == sum(found["requests"] for found in truth.agents.values())
    assert {one.token for one in record.visitors} == set(truth.agents)
    for token, found in truth.agents.items():
        one = record.visitor(token)
        assert one is not None
        assert (one.requests, one.served, one.refused) == (found["requests"], found["served"], found["refused"])
        assert one.bytes == found["bytes"]
        assert one.status == dict(found["status"])
        assert one.per_day == dict(sorted(found["days"].items()))
        assert (one.first, one.last) == (stamp(min(found["moments"])), stamp(max(found["moments"])))
        assert [(path.path, path.requests) for path in one.paths] == top(found["paths"])
        assert [(path.path, path.requests) for path in one.refused_paths] == top(found["refused_paths"])
        assert (one.robots_txt, one.llms_txt, one.markdown) == (
            found["robots_txt"],
            found["llms_txt"],
            found["markdown"],
        )
        assert one.paths_exact
        assert (one.verified, one.outside) == (found["inside"], found["outside"])
        assert (one.verified_served, one.verified_refused) == (found["inside_served"], found["inside_refused"])
        assert one.unchecked == one.requests - one.verified - one.outside


@pytest.mark.ci
def test_small_log_is_counted_exactly(tmp_path: Path) -> None:
    truth = plant(tmp_path / "access.log", 20_000)
    record = read([str(tmp_path / "access.log")])
    check(record, truth)
    assert (record.first[:10], record.last[:10]) == ("2026-11-08", "2026-11-21")
    assert record.examined < 0.12 * record.lines
    assert record.gaps == ()
    assert record.silent == ("Applebot-Extended", "Google-Extended")


@pytest.mark.slow
def test_a_million_lines_are_counted_exactly(tmp_path: Path) -> None:
    truth = plant(tmp_path / "access.log", 1_000_000)
    check(read([str(tmp_path / "access.log")]), truth)
