"""Figures of the dashboard in a pseudo-terminal: ``python -m tests.benchmarks.tui [--keep DIR] [--sizes 1000,100000]``.

Textual's own floor, an application of one input and one line, is measured in turn with it. Times are in milliseconds
from the press of a key, or from the start of the process, to the last byte of the frame that shows what was asked for.
The first of the sizes is what movement is compared with.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import psutil
import pyte

from aui_tui.index.folder import places, prepare
from aui_tui.index.store import Store
from tests.benchmarks.store import fill
from tests.e2e.terminal import Terminal

SIZE: Final = (140, 40)
STARTS: Final = 9
PRESSES: Final = 40
ORDERS: Final = 8
"""Columns of the list that it can be ordered by."""
WORDS: Final = ("sho", "tra", "hub", "data", "new", "clo", "zen7", "qua", "market42", "tick", "x9")
DRAWN: Final = ("newest ", "▸", "Help")
"""What the first line, the first row of the list and the last line hold once the list is drawn."""
FLOOR_DRAWN: Final = ("minimal-is-ready",)
MINIMAL: Final = (sys.executable, "-m", "tests.benchmarks.minimal_app")
KEYS: Final = {
    "up": "\x1b[A",
    "down": "\x1b[B",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "escape": "\x1b",
}
BLINK: Final = 400
"""Characters that the blinking cursor writes at most."""
CHOICES: Final = (48, 10)
"""Cells and lines that the drop-down of the query line covers at most; its counts come when nobody types."""
QUIET: Final = 0.4
"""Seconds without more than that after which a key has had all its effect; a preview follows the cursor after 0.15."""

Region = Callable[[Sequence[str]], object]
"""The part of a screen, given by its lines, whose last change counts."""


def whole(lines: Sequence[str]) -> object:
    """Return all of the screen."""
    return tuple(lines)


def listed(lines: Sequence[str]) -> object:
    """Return the query line and the rows of the list, without scroll bar, preview and the choices of the line."""
    top = 2 + CHOICES[1]
    return lines[1], tuple(line[CHOICES[0] : 80] for line in lines[2:top]), tuple(line[:80] for line in lines[top:-2])


def rows_of(lines: Sequence[str]) -> object:
    """Return the rows of the list alone."""
    return tuple(line[:80] for line in lines[3:-2])


def counted(lines: Sequence[str]) -> object:
    """Return the line with the counts."""
    return lines[0]


def pump(terminal: Terminal, seconds: float) -> float | None:
    """Read what comes within ``seconds``; return when it came, None when nothing did."""
    before = len(terminal.raw)
    terminal.read(max(seconds, 0))
    return time.perf_counter() if len(terminal.raw) > before else None


def come_to_rest(terminal: Terminal, quiet: float) -> None:
    """Read until nothing came for ``quiet`` seconds."""
    while pump(terminal, quiet) is not None:
        pass


class Frames:
    """What a terminal shows, chunk by chunk; drawn between the measurements, never during one."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self._screen = pyte.Screen(*SIZE)
        self._stream = pyte.Stream(self._screen)
        self._drawn = 0

    def shown(self, end: int) -> list[str]:
        """Return the lines of the screen after the first ``end`` characters."""
        self._stream.feed(self.terminal.raw[self._drawn : end])
        self._drawn = end
        return list(self._screen.display)

    def press(
        self, key: str, *regions: Region, quiet: float = QUIET, longest: float = 20.0, first: bool = False
    ) -> list[float | None]:
        """Return for each region the time from the press of ``key`` to its last change, or to its ``first``.

        None when nothing changed.
        """
        terminal = self.terminal
        come_to_rest(terminal, 0.02)
        before = self.shown(len(terminal.raw))
        pressed = time.perf_counter()
        terminal.press(KEYS.get(key, key))
        chunks: list[tuple[float, int]] = []
        rest = pressed + quiet
        while (now := time.perf_counter()) < min(rest, pressed + longest):
            before_it = len(terminal.raw)
            came = pump(terminal, rest - now)
            if came is not None:
                chunks.append((came, len(terminal.raw)))
                rest = max(rest, came + quiet if len(terminal.raw) - before_it > BLINK else rest)
        last: list[float | None] = [None] * len(regions)
        known = [region(before) for region in regions]
        for came, end in chunks:
            lines = self.shown(end)
            for number, region in enumerate(regions):
                found = region(lines)
                if found != known[number] and not (first and last[number]):
                    known[number], last[number] = found, (came - pressed) * 1000
        return last


def dashboard(folder: Path) -> list[str]:
    """Return the command line of the dashboard on a data folder."""
    return [sys.executable, "-m", "aui_tui", "--data-dir", str(folder)]


def filled(folder: Path, size: int) -> Path:
    """Return a data folder with ``size`` hosts below ``folder``, made on first use."""
    data = folder / f"bench-{size}"
    index = places(data).index
    if not index.exists():
        prepare(data)
        store = Store(index)
        if size:
            print(f"filling {size:,} hosts …", file=sys.stderr)
            fill(store, size)
        store.close()
    return data


def wait_for_all(terminal: Terminal, markers: Sequence[str], seconds: float = 60.0) -> float:
    """Return when the last of ``markers`` had come."""
    end = time.perf_counter() + seconds
    came = terminal.started
    while not all(marker in terminal.raw for marker in markers):
        came = pump(terminal, end - time.perf_counter()) or end + 1
        if came > end:
            raise AssertionError(f"{markers!r} did not come; the screen is:\n{terminal.text}")
    return came


def started(argv: Sequence[str], env: Mapping[str, str] | None = None) -> Terminal:
    """Return a terminal in which ``argv`` runs; a key is sent without a pause before it."""
    found = Terminal(Path(tempfile.gettempdir()), argv=argv, columns=SIZE[0], lines=SIZE[1], env=env)
    found.child.delaybeforesend = None
    return found


def first_paint(argv: Sequence[str], markers: Sequence[str], env: Mapping[str, str]) -> float:
    """Return the time from the start of a process to its first whole frame."""
    with started(argv, env) as terminal:
        return (wait_for_all(terminal, markers) - terminal.started) * 1000


def opened(stack: ExitStack, argv: Sequence[str], markers: Sequence[str]) -> Frames:
    """Return a terminal in which the program has drawn its first frame and come to rest."""
    terminal = stack.enter_context(started(argv))
    wait_for_all(terminal, markers)
    come_to_rest(terminal, 0.6)
    return Frames(terminal)


def p(values: Sequence[float], share: float) -> float:
    """Return the value below which ``share`` of ``values`` lie."""
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def line(name: str, values: Sequence[float], note: str = "") -> None:
    """Print median and 95th percentile of some times."""
    figures = f"p50 {statistics.median(values):7.1f}   p95 {p(values, 0.95):7.1f}   n {len(values):3}"
    print(f"  {name:<36} {figures}   {note}", flush=True)


def starts(data: Path, bytecode: Path) -> None:
    """Print the time to the first frame, in turn with the floor.

    Both run from bytecode in the folder ``bytecode``, as installed programs do; a first run writes it.
    """
    env = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(bytecode)}
    floor, ours = [], []
    for _ in range(1 + STARTS):
        floor.append(first_paint(MINIMAL, FLOOR_DRAWN, env))
        ours.append(first_paint(dashboard(data), DRAWN, env))
    del floor[0], ours[0]
    line("start to the first frame, floor", floor)
    ratio = statistics.median(ours) / statistics.median(floor)
    line("start to the first frame", ours, f"x floor {ratio:.2f} (bar 1.3)")


def first_minute(data: Path, empty: Path) -> None:
    """Print the time from the command to the first fact: the first row of an index, or the field to type in."""
    env = {"PYTHONDONTWRITEBYTECODE": ""}
    for name, folder, markers in (("index", data, DRAWN), ("no index", empty, ("Can AI assistants",))):
        times = [first_paint(dashboard(folder), markers, env) for _ in range(STARTS)]
        line(f"command to the first fact, {name}", times, "bar 1500" if name == "index" else "")


def card(data: Path) -> None:
    """Print the times of keys on a card, in turn with those of an application that has one line."""
    floor: list[float] = []
    ours: list[float] = []
    with ExitStack() as stack:
        least = opened(stack, MINIMAL, FLOOR_DRAWN)
        frames = opened(stack, dashboard(data), DRAWN)
        frames.press("\r", whole)
        for key in ["down", "up"] * (PRESSES // 2):
            for side, press, found in ((least, "x", floor), (frames, key, ours)):
                took = side.press(press, whole, quiet=0.1)[0]
                found += [took] if took is not None else []
    line("key to the repainted screen, floor", floor)
    ratio = statistics.median(ours) / statistics.median(floor)
    line("key on a card", ours, f"x floor {ratio:.2f} (bar 1.2)")


def movement(base: Path, data: Path) -> None:
    """Print the times of cursor and page movement, in turn with those on the smallest index."""
    kinds = {
        "down": ["down"] * PRESSES,
        "page down": ["pagedown"] * PRESSES,
        "page up": ["pageup"] * PRESSES,
        "end, home": ["end", "home"] * (PRESSES // 4),
    }
    with ExitStack() as stack:
        small, large = (opened(stack, dashboard(folder), DRAWN) for folder in (base, data))
        for name, keys in kinds.items():
            times: tuple[list[float], list[float]] = ([], [])
            for key in keys:
                for side, found in zip((small, large), times, strict=True):
                    took = side.press(key, listed, quiet=0.25)[0]
                    if took is not None:
                        found.append(took)
            ratio = statistics.median(times[1]) / statistics.median(times[0])
            line(name, times[1], f"x {ratio:.2f} of {statistics.median(times[0]):.1f} (bar 1.5)")


def typing(data: Path, quiet: float) -> None:
    """Print the times of typing words and wiping them out again, in turn with the floor."""
    floor: list[float] = []
    rows: list[float] = []
    counts: list[float] = []
    with ExitStack() as stack:
        least = opened(stack, MINIMAL, FLOOR_DRAWN)
        ours = opened(stack, dashboard(data), DRAWN)
        ours.press("/", whole)
        for word in WORDS:
            for key in (*word, *("\x7f" * len(word))):
                echoed = least.press(key, whole, quiet=0.1)[0]
                page, count = ours.press(key, listed, counted, quiet=quiet)
                floor += [echoed] if echoed is not None else []
                rows += [page] if page is not None else []
                counts += [count] if count is not None else []
    line("key to the repainted screen, floor", floor)
    beyond = p(rows, 0.95) - p(floor, 0.95)
    line("query key to the repainted list", rows, f"p95 beyond floor {beyond:.0f} ms (bar 20)")
    line("query key to the final counts", counts, f"p95 beyond floor {p(counts, 0.95) - p(floor, 0.95):.0f} ms")


def ordering(data: Path, quiet: float) -> None:
    """Print the times of keys that give the list another stance or order, in turn with the floor."""
    floor: list[float] = []
    rows: list[float] = []
    with ExitStack() as stack:
        least = opened(stack, MINIMAL, FLOOR_DRAWN)
        ours = opened(stack, dashboard(data), DRAWN)
        for key in ("1", "2", "3", "0", *">" * ORDERS, *"tt" * 3) * 2:
            echoed = least.press("x", whole, quiet=0.1)[0]
            page = ours.press(key, rows_of, quiet=quiet, first=True)[0]
            floor += [echoed] if echoed is not None else []
            rows += [page] if page is not None else []
    line("key to the repainted screen, floor", floor)
    beyond = p(rows, 0.95) - p(floor, 0.95)
    line("key to the first rows of another list", rows, f"p95 beyond floor {beyond:.0f} ms")


def memory(data: Path) -> tuple[float, float]:
    """Return the private and the resident MB of the dashboard after moving about and searching."""
    with ExitStack() as stack:
        frames = opened(stack, dashboard(data), ("AUI", DRAWN[-1]))
        for key in (*["pagedown"] * 20, "end", "home", "/", *"shop", *["\x7f"] * 4, *"x9", "escape"):
            frames.press(key, whole, quiet=0.3)
        found = psutil.Process(frames.terminal.child.pid).memory_full_info()
        return found.uss / 1e6, found.rss / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path, help="folder in which the filled indexes stay for another run")
    parser.add_argument("--sizes", default="1000,100000,1000000")
    parser.add_argument("--only", default="start,first,card,move,type,order,memory", help="which figures")
    options = parser.parse_args()
    sizes = [int(part) for part in options.sizes.split(",")]
    wanted = options.only.split(",")
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        empty = memory(filled(folder, 0)) if "memory" in wanted else (0.0, 0.0)
        base = filled(folder, sizes[0])
        for size in sizes:
            data = filled(folder, size)
            print(f"{size:,} hosts   (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors)", flush=True)
            if "start" in wanted:
                starts(data, Path(scratch) / "bytecode")
            if "first" in wanted:
                first_minute(data, filled(folder, 0))
            if "card" in wanted:
                card(data)
            if "move" in wanted:
                movement(base, data)
            if "type" in wanted:
                typing(data, QUIET if size <= 200_000 else 1.0)
            if "order" in wanted:
                ordering(data, QUIET if size <= 200_000 else 1.0)
            if "memory" in wanted:
                private, resident = (now - then for now, then in zip(memory(data), empty, strict=True))
                note = f"of {empty[0]:.0f} and {empty[1]:.0f} (bar 60)"
                print(
                    f"  beyond an empty index: private {private:.1f} MB, resident {resident:.1f} MB   {note}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
