"""Ten minutes of steady load on ``aui-tui serve``: ``python -m tests.benchmarks.load [MINUTES] [RATE]``.

RATE requests a second in all, half to the service (its list, a card, a cached scan; pages, filters, faults and
addresses that differ each time beside them) and half to constant answers of the same bytes, in turns on kept
connections. Prints resident memory by the minute, and the percentiles of both. The bar: memory of the last fifth at
most 2 % above the fifth before it, when the caches are full, p99 at most twice that of the constant answers.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil

from tests.benchmarks.http import SCAN, Server, fill, ours, website, yardstick

CLIENTS = 8
"""Connections to each server."""
DRIFT = 1.02
SLOWER = 2.0


def others(host: str) -> Iterator[str]:
    """Yield requests beside the measured ones, no two alike."""
    for number in itertools.count():
        yield from (
            f"/?q=host{number}",
            f"/api/index.json?q=x{number}",
            f"/site/{host}",
            f"/api/site/no-{number}.example.json",
            f"/api/index.json?offset={number}&limit=20",
            f"/badge/{host}.svg?{number}",
            f"/api/index.json?stance=nonsense{number}",
            f"/nothing/{number}",
        )


async def client(
    server: Server, paths: Iterator[tuple[str, bool]], every: float, end: float, seconds: list[float]
) -> None:
    """Send a request each ``every`` seconds until ``end``; keep how long those took that are measured."""
    async with httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=30) as http:
        due = time.perf_counter()
        while due < end:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            path, measured = next(paths)
            begun = time.perf_counter()
            await http.get(path)
            if measured:
                seconds.append(time.perf_counter() - begun)
            due = max(due + every, begun)


def resident(server: Server) -> float:
    """Return the resident megabytes of a server and its workers."""
    own = psutil.Process(server.pid)
    return sum(one.memory_info().rss for one in (own, *own.children(recursive=True))) / 1e6


async def run(server: Server, static: Server, host: str, minutes: float, rate: float) -> None:
    """Drive both and print."""
    took: tuple[list[float], list[float]] = ([], [])
    mixed = others(host)
    kinds = ("/api/index.json", f"/api/site/{host}.json", SCAN)
    mine = ((next(mixed), False) if number % 2 else (kinds[number // 2 % 3], True) for number in itertools.count())
    constant = ((f"/{number % 3}", True) for number in itertools.count())
    end = time.perf_counter() + 60 * minutes
    every = 2 * CLIENTS / rate
    drivers = [
        *(asyncio.create_task(client(server, mine, every, end, took[0])) for _ in range(CLIENTS)),
        *(asyncio.create_task(client(static, constant, every, end, took[1])) for _ in range(CLIENTS)),
    ]
    sizes = [resident(server)]
    for number in range(1, 10 * max(1, round(minutes)) + 1):
        await asyncio.sleep(6)
        sizes.append(resident(server))
        if number % 10 == 0:
            print(f"minute {number // 10:>2}: {sizes[-1]:.1f} MB", flush=True)
    await asyncio.gather(*drivers)
    fifth = len(sizes) // 5
    drift = statistics.mean(sizes[-fifth:]) / statistics.mean(sizes[-2 * fifth : -fifth])
    p99 = []
    for name, seconds in zip(("ours", "constant"), took, strict=True):
        cuts = statistics.quantiles(seconds, n=100)
        p99.append(cuts[98])
        print(f"{name:<9} {len(seconds)} measured, p50 {1000 * cuts[49]:.1f} ms, p99 {1000 * cuts[98]:.1f} ms")
    print(f"memory {drift:.3f} of the fifth before (bar {DRIFT}), p99 {p99[0] / p99[1]:.2f} times (bar {SLOWER:g})")


def main(minutes: float, rate: float) -> None:
    """Fill an index, start both servers, and measure."""
    with tempfile.TemporaryDirectory() as name, website() as rule:
        folder = Path(name)
        host = asyncio.run(fill(folder / "data"))
        with ours(folder / "data", rule, 1) as server:
            files = []
            for number, path in enumerate(("/api/index.json", f"/api/site/{host}.json", SCAN)):
                files.append(folder / str(number))
                files[-1].write_bytes(httpx.get(server.url + path, trust_env=False, timeout=30).content)
            with yardstick(files, 1) as static:
                asyncio.run(run(server, static, host, minutes, rate))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("minutes", type=float, nargs="?", default=10)
    parser.add_argument("rate", type=float, nargs="?", default=80, help="requests a second in all (80)")
    arguments = parser.parse_args()
    main(arguments.minutes, arguments.rate)
