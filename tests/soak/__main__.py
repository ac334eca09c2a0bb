"""Many scans in one process against broken servers in another: ``python -m tests.soak [SCANS] [CONCURRENCY]``.

At the end no task, socket, file or thread of a scan is left, and resident memory has not drifted: its mean over the
last fifth of the run against the second fifth, when pools and caches are warm. The short form takes 2,000 scans at
concurrency 50, the nightly one 10,000.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import psutil

from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.policy import ConnectTo, Limits, ScanPolicy
from aui_tui.scan.scan import observe
from aui_tui.scan.target import parse
from tests.cli.runner import helper

LIMITS = Limits(probe=3, connect=3, lookup=1, pause=0.01)
SITES = 120
DRIFT = 0.05
"""Largest relative growth of resident memory between the two windows."""


@dataclass
class Result:
    """What a run left: ``first`` and ``last`` are resident bytes, ``lag`` the loop's delay in seconds (p99)."""

    scans: int
    seconds: float
    tasks: int
    sockets: int
    files: int
    threads: int
    first: float
    last: float
    lag: float
    outcomes: Counter[str]

    @property
    def drift(self) -> float:
        return self.last / self.first - 1

    @property
    def clean(self) -> bool:
        """Whether nothing is left and memory has not drifted."""
        return max(self.tasks, self.sockets, self.files, self.threads) <= 0 and self.drift <= DRIFT

    def __str__(self) -> str:
        return (
            f"{self.scans} scans in {self.seconds:.0f} s, {self.scans / self.seconds:.0f} a second\n"
            f"left: {self.tasks} tasks, {self.sockets} sockets, {self.files} files, {self.threads} threads\n"
            f"memory: {self.first / 1e6:.1f} to {self.last / 1e6:.1f} MB, drift {self.drift:+.1%} (bar {DRIFT:.0%})\n"
            f"event loop: p99 of its delay {self.lag * 1000:.0f} ms\n"
            f"homepage outcomes: {dict(self.outcomes)}"
        )


async def soak(ports: Sequence[int], scans: int, concurrency: int) -> Result:
    """Run ``scans`` scans of the sites at ``ports``, ``concurrency`` at a time."""
    process = psutil.Process()
    outcomes: Counter[str] = Counter()
    memory: list[int] = []
    lags: list[float] = []
    turn = itertools.cycle(ports)
    todo = iter(range(scans))
    target = parse("http://shop.test", allow_private=True)
    async with ParserProcess() as parser:

        async def one() -> None:
            access = ScanPolicy(connect_to=(ConnectTo("shop.test", 80, "127.0.0.1", next(turn)),), limits=LIMITS)
            observed = await observe(target, parser=parser, access=access)
            outcomes.update(exchange.outcome for exchange in observed.homepages)

        async def worker() -> None:
            for _ in todo:
                await one()
                memory.append(process.memory_info().rss)

        async def watch() -> None:
            while True:
                asked = time.monotonic()
                await asyncio.sleep(0.01)
                lags.append(time.monotonic() - asked - 0.01)

        parser.prestart()
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        await asyncio.to_thread(int)  # the thread of an executor comes when it is needed first, and stays
        for _ in range(0, len(ports), concurrency):
            await asyncio.gather(*(one() for _ in range(concurrency)))
        outcomes.clear()
        gc.collect()
        before = _held(process)
        began = time.monotonic()
        watching = asyncio.create_task(watch())
        await asyncio.gather(*(worker() for _ in range(concurrency)))
        seconds = time.monotonic() - began
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        gc.collect()
        after = _held(process)
    fifth = max(len(memory) // 5, 1)
    return Result(
        scans=scans,
        seconds=seconds,
        tasks=after[0] - before[0],
        sockets=after[1] - before[1],
        files=after[2] - before[2],
        threads=after[3] - before[3],
        first=sum(memory[fifth : 2 * fifth]) / fifth,
        last=sum(memory[-fifth:]) / fifth,
        lag=sorted(lags)[int(len(lags) * 0.99)],
        outcomes=outcomes,
    )


def _held(process: psutil.Process) -> tuple[int, int, int, int]:
    """Return the numbers of tasks, connections, open descriptors and threads."""
    files = process.num_fds() if hasattr(process, "num_fds") else 0
    return len(asyncio.all_tasks()), len(process.net_connections()), files, process.num_threads()


def run(scans: int, concurrency: int) -> Result:
    """Start the servers, run the scans, stop the servers."""
    with helper("tests.soak.servers", str(SITES)) as said:
        ports = [int(line) for line in iter(said.readline, "\n")]
        return asyncio.run(soak(ports, scans, concurrency))


def main() -> int:
    scans = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    concurrency = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    result = run(scans, concurrency)
    print(result)
    return 0 if result.clean else 1


if __name__ == "__main__":
    raise SystemExit(main())
