"""How long reading an access log takes, beside GoAccess on the same file, and how much memory.

    python -m tests.benchmarks.visits [--lines 1000000] [--agents 0.003] [--visitors 100000]

The log is made for this, with known figures, which are checked: 3 lines of 1,000 are agents', and a visitor has ten
lines, unless said otherwise. GoAccess (Debian package) counts everything, while here only agents are parsed. Compare
ratios of one run.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.visits.planted import Truth, plant


def main() -> None:
    """Print one line a program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--agents", type=float, default=0.003, help="share of the agents in the lines")
    parser.add_argument("--visitors", type=int, default=0, help="addresses of the others (default: a tenth of lines)")
    chosen = parser.parse_args()
    lines = chosen.lines
    with tempfile.TemporaryDirectory(prefix="visits-") as folder:
        path = Path(folder) / "access.log"
        truth = plant(path, lines, agents=chosen.agents, visitors=chosen.visitors or lines // 10)
        size = path.stat().st_size / 1e6
        print(f"{lines:,} lines, {size:,.0f} MB, {os.cpu_count()} cores")
        own = measured([sys.executable, "-m", "aui_tui", "visits", str(path), "--json", "--quiet"], folder)
        check(own[2], truth)
        report("aui-tui visits", own, size)
        if shutil.which("goaccess") is None:
            print("goaccess is not installed: apt install goaccess")
            return
        other = measured(
            ["goaccess", str(path), "--log-format=COMBINED", "--no-progress", "-o", str(Path(folder) / "out.json")],
            folder,
        )
        report("goaccess", other, size)
        print(f"time {own[0] / other[0]:.3f}, CPU time {own[1] / other[1]:.3f} of GoAccess's")


def measured(command: list[str], folder: str) -> tuple[float, float, bytes, float]:
    """Return seconds, CPU seconds, standard output, and the most memory of one process in MB."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    env = {**os.environ, "AUI_TUI_HOME": str(Path(folder) / "home")}
    began = time.perf_counter()
    memory = 0.0
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env) as process:
        assert process.stdout is not None
        while process.poll() is None:
            memory = max(memory, sum(resident(process.pid)))
            time.sleep(0.05)
        output = process.stdout.read()
    took = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, output, memory


def resident(pid: int) -> list[float]:
    """Return the memory of a process and of its children in MB, each page shared by several counted in part."""
    import psutil

    try:
        process = psutil.Process(pid)
        return [one.memory_full_info().pss / 1e6 for one in (process, *process.children(recursive=True))]
    except psutil.Error:
        return []


def check(output: bytes, truth: Truth) -> None:
    """Exit with an error when a figure is wrong."""
    record = json.loads(output)
    found = {one["token"]: (one["requests"], one["refused"]) for one in record["visitors"]}
    wanted = {token: (row["requests"], row["refused"]) for token, row in truth.agents.items()}
    if found != wanted or record["lines"] != truth.lines:
        sys.exit("The figures are wrong.")


def report(name: str, run: tuple[float, float, bytes, float], size: float) -> None:
    """Print one line."""
    print(f"{name:<16}{run[0]:8.1f} s {run[1]:8.1f} s CPU {size / run[0]:8.0f} MB/s {run[3]:8.0f} MB of memory")


if __name__ == "__main__":
    main()
