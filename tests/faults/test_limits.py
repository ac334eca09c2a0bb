"""The true limits: twelve seconds, thirteen in all, 64 MB, and an event loop that stays free."""

from __future__ import annotations

import subprocess
import sys

import pytest

from aui_tui.checks.scoring import grade_card
from aui_tui.model.observations import BROWSER
from aui_tui.model.progress import ProbeEvent
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.policy import ConnectTo, Limits, ScanPolicy
from aui_tui.scan.scan import observe
from aui_tui.scan.target import parse
from tests.faults import behaviours
from tests.faults.lab import responsive
from tests.faults.serve import FAULTS, serving
from tests.faults.site import AGENTS, TITLE, Site

TARGET = parse("http://shop.test", allow_private=True)
MEMORY = 64 << 20
STALL = 0.1


def reach(port: int, limits: Limits) -> ScanPolicy:
    return ScanPolicy(connect_to=(ConnectTo("shop.test", 80, "127.0.0.1", port),), limits=limits)


@pytest.mark.slow
async def test_a_probe_takes_twelve_seconds_and_a_scan_thirteen(parser: ParserProcess) -> None:
    faults = {
        AGENTS[0]: behaviours.silence,
        AGENTS[1]: behaviours.NO_ANSWER["headers one byte at a time"],
        AGENTS[2]: behaviours.drips(b"HTTP/1.1 103 Early Hints\r\nLink: ", b"a", 0.05),
        AGENTS[3]: behaviours.CUT_BODY["body one byte at a time"],
        "robots": behaviours.silence,
        "mcp": behaviours.silence,
    }
    events: list[ProbeEvent] = []
    async with Site(faults=faults) as site:
        access = site.access(Limits(budget=0))
        observed = await observe(TARGET, parser=parser, access=access, progress=events.append)
    for name in (*AGENTS[:3], "robots", "mcp"):
        exchange = observed.exchange(name)
        assert (exchange.status, exchange.error) == (0, "timeout")
        assert exchange.detail == "no answer within 12 s"
        assert exchange.elapsed_ms >= 12_000
    dripped = observed.exchange(AGENTS[3])
    assert (dripped.status, dripped.title, dripped.cut) == (200, TITLE, True)
    assert dripped.elapsed_ms >= 12_000
    heard = [event.name for event in events if event.state == "done"]
    assert heard.index(BROWSER) < min(map(heard.index, faults)), "it waits for none of them"
    assert observed.elapsed_ms <= 13_000
    card = grade_card(observed)
    assert card.live_served == 1
    assert card.robots_status == 0


@pytest.mark.slow
async def test_a_site_that_is_silent_everywhere_takes_no_longer(parser: ParserProcess) -> None:
    async with Site(default=behaviours.silence) as site:
        observed = await observe(TARGET, parser=parser, access=site.access(Limits()))
    assert observed.unreachable
    assert observed.probe_dead
    assert observed.elapsed_ms <= 13_000


MEASURE = """
import asyncio, sys, threading, time
import psutil
from aui_tui.scan.policy import ScanPolicy, ConnectTo, Limits
from aui_tui.scan.scan import observe
from aui_tui.scan.target import parse
from aui_tui.scan.parser_process import ParserProcess

highest, process = 0, psutil.Process()

def sample():
    global highest
    while True:
        highest = max(highest, process.memory_info().rss)
        time.sleep(0.002)

async def main(good, hostile):
    global highest
    target = parse("http://shop.test", allow_private=True)
    async def scan(port):
        access = ScanPolicy(connect_to=(ConnectTo("", 80, "127.0.0.1", port),), limits=Limits(probe=4, pause=0))
        await observe(target, parser=parser, access=access)
    async with ParserProcess() as parser:
        await asyncio.gather(*(scan(good) for _ in range(5)))
        before = highest = process.memory_info().rss
        for _ in range(2):
            await asyncio.gather(*(scan(hostile) for _ in range(5)))
        print(highest - before)

threading.Thread(target=sample, daemon=True).start()
asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
"""
HEAVY = [
    "gzip bomb",
    "gzip in gzip bomb",
    "Brotli bomb",
    "fifty codings",
    "endless body",
    "endless chunks",
    "endless headers",
    "one giant header",
    "9,000 small headers",
]


@pytest.mark.slow
@pytest.mark.parametrize("fault", HEAVY)
def test_no_fault_takes_much_memory(fault: str) -> None:
    """Five scans at once, the fault at every place of each; the highest resident memory of a fresh process."""
    with serving("none") as good, serving(fault) as hostile:
        done = subprocess.run(
            [sys.executable, "-c", MEASURE, str(good), str(hostile)],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
    print(f"{fault}: {int(done.stdout) / 1e6:.1f} MB")
    assert int(done.stdout) < MEMORY


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_no_fault_stalls_the_event_loop(parser: ParserProcess) -> None:
    """Processor time between two turns of the loop, which a busy machine does not distort."""
    turns: list[float] = []
    worst: dict[str, float] = {}
    await observe(TARGET, parser=parser, access=reach(1, Limits(probe=1)))
    for fault in FAULTS:
        with serving(fault) as port:
            async with responsive() as measured:
                await observe(TARGET, parser=parser, access=reach(port, Limits(probe=1, pause=0)))
            worst[fault] = max(measured)
            turns += measured
    turns.sort()
    p99 = turns[int(len(turns) * 0.99)]
    ranking = sorted(worst.items(), key=lambda item: -item[1])[:5]
    print(f"p99 {p99 * 1000:.1f} ms of {len(turns)} turns; worst {[(name, round(s * 1000)) for name, s in ranking]}")
    assert p99 < STALL
