"""Faults and soak: what ``tests/faults`` asserts in each place of a scan, and what many scans leave behind."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.scorecard import Row
from tests.soak.__main__ import DRIFT, run

ROOT = Path(__file__).resolve().parents[2]
SCANS, CONCURRENCY = 2000, 50


def rows(folder: Path) -> Iterator[Row]:
    """Yield the rows of faults and of the soak; they need no case from ``folder``."""
    yield _faults()
    result = run(SCANS, CONCURRENCY)
    left = f"{result.tasks} tasks, {result.sockets} sockets, {result.files} files"
    bar = f"{SCANS} scans at {CONCURRENCY}: nothing left, memory drift under {DRIFT:.0%}"
    yield Row("soak", bar, f"{left}, {result.drift:+.1%}", result.clean)


def _faults() -> Row:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rfE", "--tb=no", "tests/faults"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    counts = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|error)", done.stdout)}
    missed = tuple(re.findall(r"^(?:FAILED|ERROR) (\S.*)", done.stdout, re.MULTILINE))
    total = sum(counts.values())
    bar = "fault matrix in each place; 12 s, 13 s, 64 MB, 100 ms"
    return Row("faults", bar, f"{counts.get('passed', 0)} of {total}", done.returncode == 0, missed)
