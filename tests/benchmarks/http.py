"""The HTTP API beside the same JSON as a constant Starlette answer: ``python -m tests.benchmarks.http [SECONDS]``.

An index of 1,000 hosts, one card, and one cached scan, with 1 and 2 workers, driven by wrk on loopback. The rounds of
the two servers take turns; each figure is the median of ROUNDS rounds. Prints ratios of requests per second, and of
requests per second of CPU time of the server, which holds on a busy machine too: that one is compared with the bar.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import psutil

from aui_tui.service.publication import Publication
from tests.loopback import QuietHandler, listening
from tests.stored_service import many

HOSTS = 1000
ROUNDS = 3
CONNECTIONS = 32
SCAN = "/api/scan?url=cached.oak-and-thread.com"
BARS = {"index": 0.7, "site": 0.8, "scan": 0.3}


class Server(NamedTuple):
    """A running server."""

    url: str
    pid: int

    def cpu(self) -> float:
        """Return the seconds of CPU time that it and its workers have used."""
        own = psutil.Process(self.pid)
        return sum(sum(one.cpu_times()[:2]) for one in (own, *own.children(recursive=True)))


class Rate(NamedTuple):
    """Requests per second, and per second of CPU time; the 99th percentile in milliseconds; answers but 2xx."""

    per_second: float
    per_cpu: float
    p99: float
    failed: float


def wrk(server: Server, path: str, seconds: float) -> Rate:
    """Return what wrk measures at ``path`` of ``server``."""
    url = server.url + path
    before = server.cpu()
    tool = shutil.which("wrk")
    if tool is None:
        raise SystemExit("wrk is not installed (Debian: apt-get install wrk).")
    line = [tool, "-t2", f"-c{CONNECTIONS}", f"-d{max(1, round(seconds))}s", "--latency", url]
    out = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    used = server.cpu() - before
    rate = re.search(r"Requests/sec:\s*([\d.]+)", out)
    total = re.search(r"(\d+) requests in", out)
    tail = re.search(r"99%\s*([\d.]+)(us|ms|s)", out)
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", out)
    assert rate, out
    assert total, out
    assert tail, out
    unit = {"us": 0.001, "ms": 1.0, "s": 1000.0}[tail[2]]
    return Rate(float(rate[1]), int(total[1]) / used, float(tail[1]) * unit, int(bad[1]) if bad else 0)


@contextlib.contextmanager
def website() -> Iterator[str]:
    """Run one site on loopback and yield the connection rule that leads every host to it."""

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/" else 404)
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>Any</title>" + b"words " * 60)

    with listening(Handler) as server:
        yield f"::127.0.0.1:{server.server_port}"


def drain(descriptor: int) -> None:
    """Take the access log as an operator's log keeper would, at little cost."""
    with contextlib.suppress(OSError):
        while os.read(descriptor, 1 << 20):
            time.sleep(0.05)


@contextlib.contextmanager
def ours(folder: Path, rule: str, workers: int) -> Iterator[Server]:
    """Run ``aui-tui serve``."""
    line = [sys.executable, "-m", "aui_tui", "serve", "--port", "0", "--workers", str(workers), "--connect-to", rule]
    process = subprocess.Popen(
        [*line, "--data-dir", str(folder)], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    assert process.stderr is not None
    found = None
    while found is None:
        found = re.search(r"Serving on (\S+)", process.stderr.readline())
    threading.Thread(target=drain, args=(process.stderr.fileno(),), daemon=True).start()
    try:
        yield Server(_ready(found[1], "/healthz"), process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


@contextlib.contextmanager
def yardstick(files: list[Path], workers: int) -> Iterator[Server]:
    """Run the constant answers."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.benchmarks.static_server", *map(str, files)],
        env={**os.environ, "STATIC_WORKERS": str(workers)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield Server(_ready(f"http://127.0.0.1:{int(process.stdout.readline())}", "/0"), process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def _ready(url: str, path: str) -> str:
    for _ in range(300):
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(url + path, trust_env=False).status_code == 200:
                return url
        time.sleep(0.1)
    raise SystemExit(f"{url} does not answer.")


async def fill(folder: Path) -> str:
    """Put HOSTS cards into the index in ``folder`` and return one of their hosts."""
    publication = Publication(folder)
    cards = many(HOSTS)
    publication.store.put_many((card, None) for card in cards)
    await publication.aclose()
    return cards[0].host


def main(seconds: float) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name, website() as rule:
        folder = Path(name)
        host = asyncio.run(fill(folder / "data"))
        paths = {"index": "/api/index.json", "site": f"/api/site/{host}.json", "scan": SCAN}
        for workers in (1, 2):
            with ours(folder / "data", rule, workers) as server:
                files = []
                for kind, path in paths.items():
                    body = httpx.get(server.url + path, trust_env=False, timeout=30).raise_for_status().content
                    files.append(folder / kind)
                    files[-1].write_bytes(body)
                with yardstick(files, workers) as static:
                    for number, (kind, path) in enumerate(paths.items()):
                        rounds = [
                            (wrk(server, path, seconds), wrk(static, f"/{number}", seconds)) for _ in range(ROUNDS)
                        ]
                        report(kind, workers, files[number].stat().st_size, rounds)


def report(kind: str, workers: int, size: int, rounds: list[tuple[Rate, Rate]]) -> None:
    """Print a line on one endpoint and its constant answer."""
    mine, static = (
        Rate(*(statistics.median(values) for values in zip(*(found[side] for found in rounds), strict=True)))
        for side in (0, 1)
    )
    ratio = mine.per_cpu / static.per_cpu
    print(
        f"{kind:<6} {workers} worker{'s' if workers > 1 else ' '} {size:>8} bytes  "
        f"ours {mine.per_second:8.0f}/s p99 {mine.p99:7.1f} ms  constant {static.per_second:8.0f}/s "
        f"p99 {static.p99:7.1f} ms  ratio {mine.per_second / static.per_second:.2f}, by CPU {ratio:.2f}  "
        f"bar {BARS[kind]}: {'met' if ratio >= BARS[kind] else 'MISSED'}"
        + (f"  {mine.failed:.0f} failed" if mine.failed else ""),
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", type=float, nargs="?", default=4, help="length of each measurement (4)")
    main(parser.parse_args().seconds)
