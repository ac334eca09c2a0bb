"""Hosts per second and CPU per host of a crawl over TLS, next to Scrapy and to a bare loop of the same HTTP client.

``python -m tests.benchmarks.crawl [HOSTS [ROUNDS]]``. Every side sends the same GETs to the same server: five times a
60 KB homepage, each identity on connections of its own, and six small files. The bare loop reads the bodies and does
nothing else: our rate cannot be above its rate. Scrapy (extra ``bench``, left out where it is not installed) reads the
bodies too, parses no page, verifies no certificate and keeps nothing; a crawl of ours does all that. The bars are
ratios of one run; the median of the rounds counts.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import psutil
import trustme

from aui_tui.model.observations import BROWSER, FILE_PATHS
from aui_tui.model.registry import registry
from aui_tui.scan import profiles
from aui_tui.scan.agent_files import MCP_PATHS
from aui_tui.scan.network import HttpClient, Network
from aui_tui.scan.policy import ConnectTo, Limits, ScanPolicy
from aui_tui.scan.target import Origin, parse
from aui_tui.service.crawl.cluster import Cluster
from aui_tui.service.crawl.crawl import Crawl
from aui_tui.service.crawl.listing import GROUP, BadRow, ListedHost
from aui_tui.service.crawl.work import QUEUE_PATIENCE, CrawlSettings, Here, raise_file_limit
from aui_tui.service.local import LocalService
from aui_tui.settings import IN_FLIGHT
from tests.benchmarks.fast_server import in_own_process

MANY = 500
DELAY = 0.1
FILES = (*FILE_PATHS.values(), *MCP_PATHS[1:])
NO_BAR = 0.0
BARS = {
    "one process, in units of Scrapy": 1.6,
    "two processes, in units of Scrapy": NO_BAR,
    "one process, in units of the bare loop": 0.6,
    "two processes, in units of one": 1.5 if (os.cpu_count() or 1) >= 4 else NO_BAR,
    "100 ms added, in units of what they allow": 0.8,
    "one process that reads the pages (--reads), in units of one": 0.8,
}


class Measured(NamedTuple):
    """Hosts per second, and milliseconds of CPU per host."""

    rate: float
    cpu: float

    def __str__(self) -> str:
        return f"{self.rate:7.1f} hosts/s  {self.cpu:6.1f} ms CPU a host"


def cpu_seconds() -> float:
    """Return the CPU time of this process and of those below it that live."""
    spent = 0.0
    own = psutil.Process()
    for process in (own, *own.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):
            if "tests.benchmarks.fast_server" not in process.cmdline():
                spent += sum(process.cpu_times()[:2])
    return spent


def hosts(count: int, prefix: str) -> list[str]:
    return [f"{prefix}{number}.bench.test" for number in range(count)]


async def bare(access: ScanPolicy, names: list[str]) -> Measured:
    """Send the GETs of a scan and read the answers."""
    places = asyncio.Semaphore(IN_FLIGHT)
    agents = [profiles.profile(agent.key).fields for agent in registry().live]
    browser = profiles.profile(BROWSER).fields
    plain = profiles.profile("robots").fields

    async def get(client: HttpClient, origin: Origin, path: str, fields: profiles.Fields) -> None:
        encoded = [(name.encode(), value.encode()) for name, value in fields]
        async with client.get(origin, path, encoded) as reply:
            async for _ in reply.chunks:
                pass

    async def one(name: str) -> None:
        origin = parse(f"https://{name}", allow_private=True).origin
        async with places, Network(access) as network, AsyncExitStack() as stack:
            first, *others = [await stack.enter_async_context(network.client()) for _ in range(1 + len(agents))]
            async with asyncio.TaskGroup() as group:
                group.create_task(get(first, origin, "/", browser))
                for path in FILES:
                    group.create_task(get(first, origin, path, plain))
                for client, fields in zip(others, agents, strict=True):
                    group.create_task(get(client, origin, "/", fields))

    began, spent = time.perf_counter(), cpu_seconds()
    async with asyncio.TaskGroup() as group:
        for name in names:
            group.create_task(one(name))
    return Measured(len(names) / (time.perf_counter() - began), (cpu_seconds() - spent) / len(names) * 1000)


async def listed(names: Sequence[str]) -> AsyncIterator[list[ListedHost | BadRow]]:
    """Yield rows in groups as a list is read."""
    for begin in range(0, len(names), GROUP):
        yield [
            ListedHost(line, f"https://{name}", name)
            for line, name in enumerate(names[begin : begin + GROUP], begin + 1)
        ]


async def crawl(
    access: ScanPolicy, names: list[str], processes: int, in_flight: int = IN_FLIGHT, *, reads: bool = False
) -> Measured:
    """Crawl ``names`` into an index of its own, after a warm-up: in this process, or on a cluster of ``processes``."""
    settings = CrawlSettings.of(access, base_url="", reads=reads)
    with tempfile.TemporaryDirectory() as folder:
        service = LocalService(Path(folder), access=access)
        async with Here(settings) if processes == 1 else Cluster(settings, processes=processes) as workers:
            await Crawl(service, workers).run(listed(hosts(10 * processes, "warm")))
            began, spent = time.perf_counter(), cpu_seconds()
            counts = await Crawl(service, workers, concurrency=in_flight).run(listed(names))
            took, used = time.perf_counter() - began, cpu_seconds() - spent
        found = Measured(len(names) / took, used / len(names) * 1000)
        assert counts.scanned == len(names), counts
        cards = [service.store.get(name) for name in names[:20]]
        assert all(scan.card.live_served == 4 for scan in cards)
        assert all((scan.observations.reads is not None) is reads for scan in cards)
        await service.aclose()
    return found


def scrapy(port: int, names: list[str]) -> Measured:
    """Send the same GETs by Scrapy, in a process of its own that measures itself."""
    agents = [agent.user_agent for agent in registry().live]
    plan = {"port": port, "hosts": names, "agents": [registry().browser_user_agent, *agents]}
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.scrapy_side"],
        input=json.dumps(plan | {"files": FILES, "in_flight": IN_FLIGHT}),
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    seconds, spent, answers = json.loads(done.stdout.splitlines()[-1])
    assert answers == (5 + len(FILES)) * len(names), answers
    return Measured(len(names) / seconds, spent / len(names) * 1000)


def main(count: int, rounds: int) -> int:
    raise_file_limit()
    found: dict[str, list[float]] = {name: [] for name in BARS}
    with tempfile.TemporaryDirectory() as folder:
        authority = trustme.CA()
        authority.cert_pem.write_to_path(f"{folder}/root.pem")
        leaf = authority.issue_cert("*.bench.test")
        leaf.private_key_and_cert_chain_pem.write_to_path(f"{folder}/site.pem")
        with (
            in_own_process(certificate=f"{folder}/site.pem") as port,
            in_own_process(DELAY, f"{folder}/site.pem") as late_port,
        ):

            def access(to: int) -> ScanPolicy:
                rule = ConnectTo("", 443, "127.0.0.1", to)
                return ScanPolicy(
                    connect_to=(rule,), cafile=f"{folder}/root.pem", limits=Limits(patience=QUEUE_PATIENCE)
                )

            for number in range(1, rounds + 1):
                print(f"round {number} of {rounds}, {count} hosts, load {os.getloadavg()[0]:.1f}")
                names = hosts(count, f"r{number}-")
                loop = asyncio.run(bare(access(port), names))
                print(f"  bare loop      {loop}")
                one = asyncio.run(crawl(access(port), names, 1))
                print(f"  one process    {one}")
                read = asyncio.run(crawl(access(port), names, 1, reads=True))
                print(f"  --reads        {read}")
                found["one process that reads the pages (--reads), in units of one"].append(read.rate / one.rate)
                two = asyncio.run(crawl(access(port), names, 2))
                print(f"  two processes  {two}")
                late = asyncio.run(crawl(access(late_port), names, 1, MANY))
                print(f"  100 ms added   {late}  ({MANY} in flight)")
                allowed = min(one.rate, min(count, MANY) / DELAY)
                found["one process, in units of the bare loop"].append(one.rate / loop.rate)
                found["two processes, in units of one"].append(two.rate / one.rate)
                found["100 ms added, in units of what they allow"].append(late.rate / allowed)
                if find_spec("scrapy") is not None:
                    rival = scrapy(port, names)
                    print(f"  Scrapy         {rival}")
                    found["one process, in units of Scrapy"].append(one.rate / rival.rate)
                    found["two processes, in units of Scrapy"].append(two.rate / rival.rate)
    missed = 0
    for name, bar in BARS.items():
        if found[name]:
            value = statistics.median(found[name])
            missed += value < bar
            print(f"{name:60} {value:5.2f}  " + (f"(bar {bar})" if bar else "(no bar)"))
    return 1 if missed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("hosts", type=int, nargs="?", default=200, help="hosts a round (200)")
    parser.add_argument("rounds", type=int, nargs="?", default=3, help="rounds (3)")
    given = parser.parse_args()
    raise SystemExit(main(given.hosts, given.rounds))
