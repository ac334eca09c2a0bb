"""Print the bars and today's figures; exit 1 when one is missed, 2 when the folder is not there."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.scorecard import Row, connections, pages, robots, serving, targets, walls

AREAS: tuple[Callable[[Path], Iterable[Row]], ...] = (
    robots.rows,
    targets.rows,
    connections.rows,
    walls.rows,
    walls.edge_rows,
    pages.rows,
    serving.rows,
)


def main(arguments: list[str]) -> int:
    """Measure every area."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print("usage: python -m tests.scorecard FOLDER  (the folder with the collections of cases)", file=sys.stderr)
        return 2
    failed = 0
    for area in AREAS:
        for row in area(Path(arguments[0])):
            failed += not row.met
            print(f"{'ok  ' if row.met else 'MISS'}  {row.area:<10} {row.figure:<28} {row.bar}", flush=True)
            for case in row.missed[:8]:
                print(f"{'':<16} not: {case}")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
