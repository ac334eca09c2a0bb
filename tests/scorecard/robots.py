"""robots.txt: the cases of Google's parser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from aui_tui.scan import robots
from tests.scorecard import Row, share


def rows(folder: Path) -> Iterator[Row]:
    """Yield the rows of robots.txt."""
    found = json.loads((folder / "robots.json").read_text("utf-8"))
    general = [case for case in found["cases"] if not _googles_own(case)]
    missed = [case["id"] for case in general if not _right(case, found["bodies"])]
    yield share("robots", "cases that are not Google's own, all", len(general), missed)
    special = [case for case in found["cases"] if _googles_own(case)]
    accepted = sum(_right(case, found["bodies"]) for case in special)
    yield Row("robots", "Google's own extensions (no bar)", f"{accepted} of {len(special)}", True)


def _googles_own(case: dict[str, object]) -> bool:
    """Google's matcher takes a URL as it stands; RFC 9309, 2.2.2 has octets outside ASCII escaped before comparison."""
    return bool(case["google_specific"]) or not str(case["url"]).isascii()


def _right(case: dict[str, object], bodies: dict[str, dict[str, str]]) -> bool:
    parsed = robots.parse(bodies[str(case["body"])]["robots"].encode())
    return parsed.allows(str(case["agent"]), str(case["url"])) is case["allowed"]
