"""How long commands take to start, in units of ``import httpx``: ``python -m tests.benchmarks.start``.

The bar: listing 1,000 hosts as JSON takes at most 3 times as long as a Python that imports httpx and nothing else.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from aui_tui.service.local import LocalService
from tests.cards import RICH_OPEN, WALLED

HOSTS = 1000
ROUNDS = 15
BAR = 3.0


def timed(arguments: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(arguments, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        service = LocalService(Path(folder))
        cards = (msgspec.structs.replace((RICH_OPEN, WALLED)[n % 2], host=f"h{n}.example") for n in range(HOSTS))
        service.store.put_many((card, None) for card in cards)
        service.store.close()
        aui = [sys.executable, "-m", "aui_tui", "--data-dir", folder]
        sides = {
            "python -c 'import httpx'": [sys.executable, "-c", "import httpx"],
            "aui-tui --version": [*aui, "--version"],
            "aui-tui index": [*aui, "index"],
            "aui-tui index --json": [*aui, "index", "--json"],
        }
        seconds: dict[str, list[float]] = {name: [] for name in sides}
        for _ in range(ROUNDS):
            for name, arguments in sides.items():
                seconds[name].append(timed(arguments))
    one, *_ = medians = [statistics.median(found) for found in seconds.values()]
    for name, median in zip(sides, medians, strict=True):
        print(f"{name:<26} {median * 1000:6.0f} ms  {median / one:.2f}")
    return 0 if medians[-1] / one <= BAR else 1


if __name__ == "__main__":
    raise SystemExit(main())
