"""What a host costs as the index grows: ``python -m tests.benchmarks.grow [--sizes 1000,1000000] [--keep DIR]``.

In alternating rounds the same crawl goes into a copy of an index of each size: hosts that are new to it, and hosts of
its own that are refreshed. A host in the largest index may cost at most BAR times what it costs in the smallest, by the
clock and in CPU; the median of the rounds counts. Then hosts whose card is recent, where only the look at the index
works: a look reads pages that a small index has at hand and a large one has not, so it has a bar of its own, its share
of the cost of a scan.

Then ``index --json`` of every listed size: its first byte, after that of ``--version`` measured beside it, the whole
list, and the largest resident memory.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import trustme

from aui_tui.index.reports import Reports
from aui_tui.scan.policy import ConnectTo, ScanPolicy
from aui_tui.service.crawl import Crawl, CrawlSettings, Here
from aui_tui.service.crawl.work import raise_file_limit
from aui_tui.service.local import LocalService
from tests.benchmarks.crawl import Measured, cpu_seconds, hosts, listed
from tests.benchmarks.fast_server import in_own_process
from tests.benchmarks.samples import START
from tests.benchmarks.store import fill

BAR = 1.2
"""Cost of a host in the largest index, in units of the smallest."""
LOOK = 0.01
"""Cost of a look at a host, in units of the refreshing of one in the same index."""
FIRST_BYTE = 0.2
"""Seconds to the first byte of a list, after a bare start."""
LISTED = 10_000
AGES = 10 * 366 * 86_400.0
"""Seconds: every card of a sample is younger."""
LAUNCH = """\
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
sys.stderr.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(code)
"""
"""Runs a command and tells its largest resident memory in KiB. A child counts the memory of the process that it is
begun by as its own, so that must be a small one."""
WORKS = ("new hosts", "refreshed hosts", "recent hosts")


class Listing(NamedTuple):
    """Seconds to the first byte and to the last one, the largest resident memory in MiB, and the bytes."""

    first: float
    whole: float
    memory: float
    size: int


def built(folder: Path, size: int) -> Path:
    """Return the folder of an index of ``size`` hosts below ``folder``, filled where it is not there yet."""
    found = folder / f"grow-{size}"
    if not (found / "index.db").exists():
        making = folder / f"making-{size}"
        shutil.rmtree(making, ignore_errors=True)
        making.mkdir(parents=True)
        store = Reports(making / "index.db", clock=lambda: START)
        fill(store, size)
        store.close()
        making.rename(found)
    return found


async def crawl(folder: Path, access: ScanPolicy, names: Sequence[str], age: float) -> Measured:
    """Crawl ``names`` into the index in ``folder``, after a warm-up of the process that scans."""
    service = LocalService(folder, access=access)
    async with Here(CrawlSettings.of(access, base_url="")) as here:
        await Crawl(service, here, older_than=0).run(listed(hosts(10, "warm")))
        began, spent = time.perf_counter(), cpu_seconds()
        counts = await Crawl(service, here, older_than=age).run(listed(names))
        seconds, spent = time.perf_counter() - began, cpu_seconds() - spent
    assert (counts.fresh if age else counts.scanned) == len(names), counts
    await service.aclose()
    return Measured(len(names) / seconds, spent / len(names) * 1000)


def own_hosts(folder: Path) -> list[str]:
    store = Reports(folder / "index.db")
    found = [host for host, _ in store.hosts()]
    store.close()
    return found


def crawls(folders: Mapping[int, Path], count: int, rounds: int) -> bool:
    """Print what a host costs in each of ``folders``; return whether the bar is kept."""
    own = {size: own_hosts(folder) for size, folder in folders.items()}
    draw = random.Random(5)
    renewed = {size: draw.sample(names, min(rounds * count, len(names))) for size, names in own.items()}
    recent = {size: draw.choices(names, k=LISTED) for size, names in own.items()}
    found: dict[str, dict[int, list[Measured]]] = {work: {size: [] for size in folders} for work in WORKS}
    with tempfile.TemporaryDirectory() as scratch:
        authority = trustme.CA()
        authority.cert_pem.write_to_path(f"{scratch}/root.pem")
        names = sorted({name for drawn in renewed.values() for name in drawn})
        leaf = authority.issue_cert("*.bench.test", *names)
        leaf.private_key_and_cert_chain_pem.write_to_path(f"{scratch}/site.pem")
        with in_own_process(certificate=f"{scratch}/site.pem") as port:
            access = ScanPolicy(connect_to=(ConnectTo("", 443, "127.0.0.1", port),), cafile=f"{scratch}/root.pem")
            for number in range(rounds):
                print(f"round {number + 1} of {rounds}, {count} hosts, load {os.getloadavg()[0]:.1f}")
                for work in WORKS:
                    sizes = list(folders)[:: 1 if number % 2 else -1]
                    for size in sizes:
                        some = {
                            "new hosts": hosts(count, f"r{number}-"),
                            "refreshed hosts": renewed[size][number * count :][:count],
                            "recent hosts": recent[size],
                        }[work]
                        age = AGES if work == "recent hosts" else 0.0
                        one = asyncio.run(crawl(folders[size], access, some, age))
                        print(f"  {size:>9,}  {work:16} {one}")
                        found[work][size].append(one)
    kept = True
    smallest, *_, largest = folders
    for work in WORKS[:2]:
        pairs = list(zip(found[work][smallest], found[work][largest], strict=True))
        clock = statistics.median(small.rate / large.rate for small, large in pairs)
        cpu = statistics.median(large.cpu / small.cpu for small, large in pairs)
        kept = kept and max(clock, cpu) <= BAR
        print(f"{work:16} time a host {clock:5.2f}, CPU a host {cpu:5.2f}  (bar {BAR})")
    for size in folders:
        look = statistics.median(LISTED / one.rate for one in found["recent hosts"][size])
        scan = statistics.median(LISTED / one.rate for one in found["refreshed hosts"][size])
        kept = kept and look / scan <= LOOK
        print(
            f"{size:>9,} looks at {LISTED:,} recent hosts {look:6.3f} s, {look / scan:.3%} of a scan  (bar {LOOK:.0%})"
        )
    return kept


def listing(folder: Path, *arguments: str) -> Listing:
    """Run the program over the index in ``folder`` and read what it prints."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "aui_tui", "--data-dir", str(folder), *arguments]
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", LAUNCH, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        size = len(os.read(process.stdout.fileno(), 1 << 16))
        first = time.perf_counter() - began
        while data := os.read(process.stdout.fileno(), 1 << 20):
            size += len(data)
        whole = time.perf_counter() - began
        memory = int(process.stderr.read())
    assert process.returncode == 0, process.returncode
    return Listing(first, whole, memory / 1024, size)


def lists(folders: Mapping[int, Path], rounds: int) -> bool:
    """Print what listing costs in each of ``folders``; return whether the bar is kept."""
    kept = True
    smallest = 0.0
    print(f"index --json, load {os.getloadavg()[0]:.1f}")
    for size, folder in folders.items():
        bare, many = [], []
        for _ in range(rounds):
            bare.append(listing(folder, "--version").first)
            many.append(listing(folder, "index", "--json"))
        after = statistics.median(one.first - start for one, start in zip(many, bare, strict=True))
        whole = statistics.median(one.whole for one in many)
        memory = max(one.memory for one in many)
        smallest = smallest or memory
        kept = kept and after <= FIRST_BYTE and memory / smallest <= BAR
        print(
            f"  {size:>9,}  first byte {after * 1000:4.0f} ms (bar {FIRST_BYTE * 1000:.0f}) after a bare start of "
            f"{statistics.median(bare) * 1000:.0f}; whole {whole:6.2f} s, {many[0].size / 2**20:6.1f} MiB; "
            f"memory {memory:5.1f} MiB, {memory / smallest:4.2f} of the smallest index (bar {BAR})"
        )
    return kept


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,1000000", help="hosts in the indexes that are crawled into")
    parser.add_argument("--lists", default="1000,100000,1000000", help="hosts in the indexes that are listed")
    parser.add_argument("--hosts", type=int, default=200, help="hosts a round (200)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds (3)")
    parser.add_argument("--keep", type=Path, help="folder in which filled indexes are kept and found again")
    options = parser.parse_args()
    raise_file_limit()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        filled = {size: built(folder, size) for size in map(int, options.lists.split(",")) if size}
        kept = lists(filled, options.rounds)
        copies = {}
        for size in map(int, options.sizes.split(",")):
            copies[size] = Path(scratch) / str(size)
            shutil.copytree(built(folder, size), copies[size])
        os.sync()
        kept = crawls(copies, options.hosts, options.rounds) and kept
    return 0 if kept else 1


if __name__ == "__main__":
    raise SystemExit(main())
