"""What a target parser and an address table must refuse or allow; connections are counted in ``connections``."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

from aui_tui.errors import InvalidHost
from aui_tui.scan import target
from tests.scorecard import Row, share


def rows(folder: Path) -> Iterator[Row]:
    """Yield the rows of targets and addresses."""
    inputs = read(folder / "ssrf" / "inputs.csv")
    must = [row for row in inputs if row["strength"] == "must"]
    missed = [row["input_json"] for row in must if _refused(row["input_json"]) is not (row["expect"] == "reject")]
    yield share("targets", "inputs of strength must", len(must), missed)
    private = [row for row in inputs if row["strength"] == "must-not-reach-private"]
    missed = [row["input_json"] for row in private if not _kept_out(row["input_json"])]
    yield share("targets", "inputs that lead inside: refused, or a name to look up", len(private), missed)
    table = [row for row in read(folder / "ssrf" / "addresses.csv") if row["strength"] == "must"]
    missed = [row["address"] for row in table if target.is_public(row["address"]) is not (row["expect"] == "allow")]
    yield share("targets", "addresses of strength must", len(table), missed)


def read(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table with a heading."""
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def _refused(text: str) -> bool:
    try:
        target.parse(json.loads(text))
    except InvalidHost:
        return True
    return False


def _kept_out(text: str) -> bool:
    try:
        host = target.parse(json.loads(text)).host
    except InvalidHost:
        return True
    return target.parse_address(host) is None
