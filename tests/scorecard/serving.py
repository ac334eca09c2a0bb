"""How long another client of a real ``serve`` waits while it scans every fault of the lab."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import httpx

from aui_tui.scan.policy import Limits
from tests.faults import behaviours, h2_floods
from tests.faults.serve import serving_all
from tests.scorecard import Row

FAULTS = ("none", *behaviours.NO_ANSWER, *behaviours.CUT_BODY, *behaviours.EMPTY_BODY, *h2_floods.FLOODS)
TOGETHER = 4
"""Scans at a time."""
P99, WORST = 250.0, 1000.0
"""Milliseconds that a request of another client may take."""
PAUSE = 0.02


class Waits(NamedTuple):
    """Milliseconds that requests took, in order: of the worker that scans, and of an idle one beside it."""

    scanning: list[float]
    idle: list[float]


def rows(folder: Path) -> Iterator[Row]:
    """Yield the rows of a worker under hostile sites; they need no case from ``folder``.

    What the machine itself adds is measured at an idle worker in the same moments, and does not count.
    """
    with tempfile.TemporaryDirectory() as scratch, serving_all(FAULTS, f"{scratch}/root.pem") as ports:
        waits, elapsed = asyncio.run(_measure(Path(scratch), ports))
    p99, worst = _ends(waits.scanning)
    idle_p99, idle_worst = _ends(waits.idle)
    met = p99 - idle_p99 < P99 and worst - idle_worst < WORST
    figure = f"p99 {p99:.0f}, worst {worst:.0f} ms (idle {idle_p99:.0f}, {idle_worst:.0f})"
    yield Row("serve", f"another client waits {P99:.0f} ms (p99), {WORST:.0f} at worst", figure, met)
    limit = Limits().whole + 1
    late = tuple(f"{name}: {seconds:.1f} s" for name, seconds in elapsed.items() if seconds > limit)
    figure = f"{len(elapsed)} scans, slowest {max(elapsed.values()):.1f} s"
    yield Row("serve", f"each scan ends within {limit:.0f} s", figure, not late, late)


def _ends(waits: list[float]) -> tuple[float, float]:
    waits.sort()
    return waits[len(waits) * 99 // 100], waits[-1]


async def _measure(scratch: Path, ports: dict[str, int]) -> tuple[Waits, dict[str, float]]:
    """Return the waits of the other client, and the seconds of each scan by fault."""
    hosts = {name: f"f{number}.example.com" for number, name in enumerate(ports)}
    rules = [
        f"--connect-to={hosts[name]}:{443 if name in h2_floods.FLOODS else 80}:127.0.0.1:{port}"
        for name, port in ports.items()
    ]
    os.environ["AUI_TUI_TRUSTED_PROXY"] = "127.0.0.1"
    os.environ["AUI_TUI_CACERT"] = str(scratch / "root.pem")
    async with _serving(scratch / "idle") as idle, _serving(scratch / "busy", *rules) as busy:
        waits, elapsed = Waits([], []), {}
        watching = [asyncio.create_task(_watch(base, kept)) for base, kept in zip((busy, idle), waits, strict=True)]
        places = asyncio.Semaphore(TOGETHER)
        async with httpx.AsyncClient(base_url=busy, timeout=120, trust_env=False) as client:

            async def scan(number: int, name: str) -> None:
                url = f"{'https' if name in h2_floods.FLOODS else 'http'}://{hosts[name]}"
                async with places:
                    fields = {"X-Forwarded-For": f"198.51.100.{number}"}
                    answer = await client.get("/api/scan", params={"url": url}, headers=fields)
                    elapsed[name] = answer.raise_for_status().json()["elapsed_ms"] / 1000

            await asyncio.gather(*(scan(number, name) for number, name in enumerate(hosts)))
        for task in watching:
            task.cancel()
    return waits, elapsed


async def _watch(base: str, waits: list[float]) -> None:
    """Ask for a small answer again and again and put down how long each takes."""
    async with httpx.AsyncClient(base_url=base, timeout=120, trust_env=False) as client:
        while True:
            began = time.perf_counter()
            (await client.get("/healthz")).raise_for_status()
            waits.append(1000 * (time.perf_counter() - began))
            await asyncio.sleep(PAUSE)


@asynccontextmanager
async def _serving(folder: Path, *options: str) -> AsyncIterator[str]:
    """Serve an empty index with one worker of its own process; give the address."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "aui_tui", "serve", "--port", "0", "--data-dir", str(folder), *options),
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield await _address(process)
    finally:
        process.kill()
        await process.wait()


async def _address(process: asyncio.subprocess.Process) -> str:
    assert process.stderr is not None
    async for line in process.stderr:
        if found := re.search(rb"Serving on (\S+)", line):
            _draining.add(asyncio.create_task(_drain(process.stderr)))
            return found[1].decode()
    raise RuntimeError("the service did not start")


_draining: set[asyncio.Task[None]] = set()


async def _drain(stream: asyncio.StreamReader) -> None:
    while await stream.read(1 << 16):
        pass
