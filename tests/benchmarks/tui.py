"""Figures of the dashboard in a pseudo-terminal: ``python -m tests.benchmarks.tui [--keep DIR] [--sizes 1000,100000]``.

Textual's own floor is measured beside it in the same run: an application of one input and one line. Times are in
milliseconds from the press of a key, or from the start of the process, to the last byte of what it draws.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import psutil

from aui_tui.store.folder import prepare
from aui_tui.store.places import places
from aui_tui.store.reports import Reports
from tests.benchmarks.store import fill
from tests.tui.terminal import Terminal, python

SIZE = (140, 40)
STARTS = 7
PRESSES = 60
WORDS = ("sho", "tra", "hub", "data", "new", "clo")
READY = b"Ranked "
MINIMAL = python("-m", "tests.benchmarks.minimal_app")


def dashboard(folder: Path) -> list[str]:
    """Return the command line of the dashboard on a data folder."""
    return python("-m", "aui_tui", "--data-dir", str(folder))


def filled(folder: Path, size: int) -> Path:
    """Return a data folder with ``size`` hosts below ``folder``, made on first use."""
    data = folder / f"bench-{size}"
    index = places(data).index
    if not index.exists():
        prepare(data)
        store = Reports(index)
        if size:
            print(f"filling {size:,} hosts …", file=sys.stderr)
            fill(store, size)
        store.close()
    return data


def first_paint(argv: Sequence[str], marker: bytes) -> float:
    """Return the time from the start of a process to the first frame with ``marker`` in it."""
    with Terminal(argv, SIZE) as terminal:
        came = terminal.wait_for_bytes(marker, 60)
        return (came - terminal.started) * 1000


def latencies(terminal: Terminal, keys: Sequence[str], quiet: float = 0.05) -> list[float]:
    """Return the time from each key to the last byte that it makes."""
    out = []
    for key in keys:
        terminal.settle(0.02)
        pressed = terminal.send(key)
        came = terminal.pump(2.0)
        if came is None:
            continue
        out.append((max(came, terminal.settle(quiet)) - pressed) * 1000)
    return out


def p(values: Sequence[float], share: float) -> float:
    """Return the value below which ``share`` of ``values`` lie."""
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def line(name: str, values: Sequence[float]) -> str:
    """Return median and 95th percentile of some times."""
    return f"  {name:<34} p50 {statistics.median(values):7.1f}   p95 {p(values, 0.95):7.1f}   n {len(values)}"


def opened(stack: ExitStack, argv: Sequence[str], marker: bytes) -> Terminal:
    """Return a terminal in which the program has drawn its first frame."""
    terminal = stack.enter_context(Terminal(argv, SIZE))
    terminal.wait_for_bytes(marker, 60)
    terminal.settle(0.5)
    return terminal


def movement(folder: Path) -> dict[str, list[float]]:
    """Return the times of cursor and page movement."""
    with ExitStack() as stack:
        terminal = opened(stack, dashboard(folder), READY)
        found = {
            "down": latencies(terminal, ["down"] * PRESSES),
            "page down": latencies(terminal, ["pagedown"] * PRESSES),
            "page up": latencies(terminal, ["pageup"] * PRESSES),
            "end, home": latencies(terminal, ["end", "home"] * (PRESSES // 6)),
        }
        terminal.send("q")
        terminal.end()
        return found


def typing(argv: Sequence[str], marker: bytes, begin: Callable[[Terminal], None]) -> list[float]:
    """Return the times of typing words and wiping them out again."""
    with ExitStack() as stack:
        terminal = opened(stack, argv, marker)
        begin(terminal)
        terminal.settle(0.3)
        out = []
        for word in WORDS:
            out += latencies(terminal, list(word), quiet=0.3)
            latencies(terminal, ["\x7f"] * len(word), quiet=0.3)
        return out


def memory(folder: Path) -> float:
    """Return the resident MB of the dashboard after moving about."""
    with ExitStack() as stack:
        terminal = opened(stack, dashboard(folder), READY)
        latencies(terminal, ["pagedown"] * 20 + ["end", "home"])
        return psutil.Process(terminal.process.pid).memory_info().rss / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path, help="folder in which the filled indexes stay for another run")
    parser.add_argument("--sizes", default="1000,100000,1000000")
    options = parser.parse_args()
    sizes = [int(part) for part in options.sizes.split(",")]
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        empty = filled(folder, 0)
        floor_start = [first_paint(MINIMAL, b"minimal-is-ready") for _ in range(STARTS)]
        floor_type = typing(MINIMAL, b"minimal-is-ready", lambda terminal: None)
        floor_memory = memory(empty)
        print("floor: Textual with one input and one line")
        print(line("start to first paint", floor_start))
        print(line("key to repaint", floor_type))
        base: dict[str, list[float]] = {}
        for size in sizes:
            data = filled(folder, size)
            print(f"{size:,} hosts")
            starts = [first_paint(dashboard(data), READY) for _ in range(STARTS)]
            ratio = statistics.median(starts) / statistics.median(floor_start)
            print(line("start to the list", starts) + f"   x floor {ratio:.2f}")
            for name, values in movement(data).items():
                base.setdefault(name, values)
                ratio = statistics.median(values) / statistics.median(base[name])
                print(line(name, values) + f"   x {sizes[0]:,} rows {ratio:.2f}")
            typed = typing(dashboard(data), READY, lambda terminal: terminal.send("/") and None)
            beyond = p(typed, 0.95) - p(floor_type, 0.95)
            print(line("query key to the repainted list", typed) + f"   p95 beyond floor {beyond:.0f} ms")
            print(f"  {'memory beyond an empty index':<34} {memory(data) - floor_memory:.1f} MB")


if __name__ == "__main__":
    main()
