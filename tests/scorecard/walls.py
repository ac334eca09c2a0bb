"""Block pages and edge names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from aui_tui.scan import walls
from tests.scorecard import Row, share


def rows(folder: Path) -> Iterator[Row]:
    """Yield the rows of block and challenge pages."""
    cases = json.loads((folder / "challenge" / "cases.json").read_text("utf-8"))
    found = {
        case["id"]: walls.recognise(
            case["status"], case["headers"], (folder / "challenge" / "pages" / case["file"]).read_bytes()
        )
        for case in cases
    }
    true = [case["id"] for case in cases if case["expect_challenged"] is True]
    yield share("walls", "block pages found, at least 17 of 19", len(true), [i for i in true if not found[i]], 17)
    false = [case["id"] for case in cases if case["expect_challenged"] is False]
    yield share("walls", "ordinary pages left alone, all", len(false), [i for i in false if found[i]])
    policy = [case for case in cases if case["expect_challenged"] == "policy"]
    for case in policy:
        verdict = found[case["id"]]
        rule = f"{verdict.vendor}, tier {verdict.tier}: {verdict.signal}" if verdict else _rule(case["status"])
        yield Row("walls", f"{case['id']}: {rule}", "challenged" if verdict else "not challenged", True)
    seen = [challenge for challenge in found.values() if challenge]
    quoted = sum(bool(challenge.reference) for challenge in seen)
    yield Row("walls", "with an id to quote (no bar)", f"{quoted} of {len(seen)}", True)


def edge_rows(folder: Path) -> Iterator[Row]:
    """Yield the row of edge names."""
    cases = json.loads((folder / "edge.json").read_text("utf-8"))
    missed = []
    for case in cases:
        names = walls.edge({name: ", ".join(values) for name, values in case["headers"].items()}).split()
        if not set(case["edge_facts"]) <= set(names):
            missed.append(f"{case['host']}: {set(case['edge_facts']) - set(names)}")
    yield share("edge", "every fact of at least 95 %", len(cases), missed, -(-95 * len(cases) // 100))


def _rule(status: int) -> str:
    if 200 <= status <= 299:
        return "no signal, or none of tier A on a page with text: served"
    return "no signal of tier A or B: refused"
