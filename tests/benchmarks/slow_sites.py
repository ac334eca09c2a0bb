"""What scans of slow sites take beside an earlier build: ``python -m tests.benchmarks.slow_sites [REVISION]``.

Each situation is a site on loopback, one for each build, and both scan at the same time. The earlier build gets an
environment of its own in a temporary folder. The bars: at most half of the earlier build's wall time in sum, no scan
over 45 s, and no verdict that is worse: wrong, or inconclusive where the earlier build had it right.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import random
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.faults import h2_site
from tests.faults.authority import Authority
from tests.faults.behaviours import sends, silence
from tests.faults.h2_site import H2Site
from tests.faults.site import AGENTS, HOMEPAGES, Asked, Behaviour, LoopbackSite, Site, answer, good
from tests.limiters.models import FixedWindow, LeakyBucket, Limiter, SlidingWindow

BASE: Final = "c4d5762e"
BAR: Final = 0.5
LONGEST: Final = 45.0
AT_ONCE: Final = 3
"""Situations at a time: most of their time is waiting."""
ROOT: Final = Path(__file__).parents[2]
SCAN: Final = """
import asyncio, json, sys, time
from aui_tui.checks.scoring import grade_card
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.policy import ConnectTo, ScanPolicy
from aui_tui.scan.scan import observe

async def scan(url, port, cafile):
    rule = ConnectTo("shop.test", None, "127.0.0.1", int(port))
    access = ScanPolicy(connect_to=(rule,), cafile=cafile, keyboard=True)
    async with ParserProcess() as parser:
        began = time.monotonic()
        observed = await observe(access.target(url), parser=parser, access=access)
        took = time.monotonic() - began
    card = grade_card(observed)
    readings = {name: reading.outcome for name, reading in observed.readings.items()}
    print(json.dumps({"seconds": took, "stance": card.stance, "readings": readings}))

asyncio.run(scan(*sys.argv[1:4]))
"""
OUT: Final = frozenset({"refused", "challenged"})


class Result(NamedTuple):
    """Seconds of a scan, and who gets in: for each agent ``in``, ``out`` or ``unclear``."""

    seconds: float
    stance: str
    verdicts: tuple[str, ...]


class Situation(NamedTuple):
    """A slow site: what makes one, and who gets in by its rules."""

    make: Callable[[Authority], LoopbackSite]
    truth: tuple[str, ...]


def slowly(seconds: float, status: str) -> Behaviour:
    """Return what holds a request for ``seconds`` before it refuses."""
    refuse = sends(answer(b"no", status))

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(seconds)
        await refuse(asked, writer)

    return behave


async def drop(asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


def limited(limiter: Limiter, status: str, names: Sequence[str], extra: bytes = b"") -> Site:
    """Return a site whose limit holds for ``names``, or everybody."""
    refuse = sends(answer(b"slow down", status, extra=extra))

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        held = not names or asked.place in names
        await (good if not held or limiter.admit(time.monotonic()) else refuse)(asked, writer)

    return Site(default=behave)


def for_a_time(seconds: float, status: str, names: Sequence[str], extra: Callable[[float], bytes]) -> Site:
    """Return a site that refuses ``names`` until ``seconds`` after the first request; ``extra``: fields by the time."""
    began: list[float] = []

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        began.append(time.monotonic())
        passed = time.monotonic() - began[0]
        refuse = sends(answer(b"no", status, extra=extra(passed)))
        await (refuse if asked.place in names and passed < seconds else good)(asked, writer)

    return Site(default=behave)


def at_random(share: float) -> Site:
    chance = random.Random(11)
    refuse = sends(answer(b"no", "502 Bad Gateway"))

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await (refuse if asked.place in HOMEPAGES and chance.random() < share else good)(asked, writer)

    return Site(default=behave)


def faulty(fault: Behaviour, names: Sequence[str]) -> Callable[[Authority], LoopbackSite]:
    return lambda authority: Site(faults=dict.fromkeys(names, fault))


IN, NONE, NOBODY = ("in",) * 4, ("out",) * 4, ("unclear",) * 4
SITUATIONS: Final[Mapping[str, Situation]] = {
    "silence for all agents": Situation(faulty(silence, AGENTS), NONE),
    "silence for two agents": Situation(faulty(silence, AGENTS[:2]), ("out", "out", "in", "in")),
    "silence for everybody's homepage": Situation(faulty(silence, HOMEPAGES), NOBODY),
    "connections dropped for all agents": Situation(faulty(drop, AGENTS), NONE),
    "a tarpit of 4 s, then 403": Situation(faulty(slowly(4, "403 Forbidden"), AGENTS), NONE),
    "a tarpit of 8 s, then 429": Situation(faulty(slowly(8, "429 Too Many Requests"), AGENTS), NONE),
    "a tarpit of 3 s, then 500": Situation(faulty(slowly(3, "500 Oops"), AGENTS), NONE),
    "500 for two agents": Situation(faulty(sends(answer(b"no", "500 Oops")), AGENTS[2:]), ("in", "in", "out", "out")),
    "503 for all agents": Situation(faulty(sends(answer(b"no", "503 Busy")), AGENTS), NONE),
    "a limit of 20 a minute": Situation(lambda _: limited(LeakyBucket(20, 60.0), "429 Too Many", ()), IN),
    "5 in 20 s, Retry-After": Situation(
        lambda _: limited(FixedWindow(5, 20.0), "429 Too Many", (), b"Retry-After: 10\r\n"), IN
    ),
    "12 in 10 s, refused ones counted": Situation(lambda _: limited(SlidingWindow(12, 10.0, True), "503 Busy", ()), IN),
    "agents share 10 a minute": Situation(lambda _: limited(LeakyBucket(10, 60.0), "429 Too Many", AGENTS), IN),
    "503 and Retry-After: 6 for everybody": Situation(
        lambda _: for_a_time(5.5, "503 Busy", HOMEPAGES, lambda passed: b"Retry-After: 6\r\n"), IN
    ),
    "a cached refusal": Situation(
        lambda _: for_a_time(
            9, "403 Forbidden", AGENTS, lambda passed: b"Age: %d\r\nCache-Control: max-age=12\r\n" % (passed + 3)
        ),
        IN,
    ),
    "502 for three requests in ten": Situation(lambda _: at_random(0.3), IN),
    "HTTP/2 streams refused": Situation(
        lambda authority: H2Site(authority.server(), faults=dict.fromkeys((AGENTS[0], AGENTS[2]), h2_site.reset)),
        ("out", "in", "out", "in"),
    ),
}


def environment(revision: str, folder: Path) -> tuple[str, Path]:
    """Return the interpreter and the sources of a build of its own."""
    packed = subprocess.run(["git", "archive", revision], cwd=ROOT, check=True, capture_output=True).stdout
    sources = folder / "sources"
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(sources, filter="data")
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = str(folder / "venv" / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", str(sources)], check=True)
    return python, folder


async def scanned(python: str, folder: Path, situation: Situation, authority: Authority) -> Result:
    async with contextlib.AsyncExitStack() as stack:
        site: Any = await stack.enter_async_context(situation.make(authority))  # type: ignore[arg-type]
        words = [site.url, str(site.port), authority.cafile]
        process = await asyncio.create_subprocess_exec(
            python, "-c", SCAN, *words, cwd=folder, stdout=asyncio.subprocess.PIPE
        )
        out, _ = await process.communicate()
    found = json.loads(out)
    words_of = {"served": "in", **dict.fromkeys(OUT, "out")}
    verdicts = tuple(words_of.get(found["readings"][name], "unclear") for name in AGENTS)
    return Result(found["seconds"], found["stance"], verdicts)


def worse(before: Result, now: Result, truth: Sequence[str]) -> bool:
    """Tell whether an agent has a wrong verdict, or none where it had the right one."""
    pairs = zip(before.verdicts, now.verdicts, truth, strict=True)
    return any(new != right and (new != "unclear" or old == right) for old, new, right in pairs)


async def measure(revision: str, names: Sequence[str]) -> int:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        earlier = environment(revision, folder)
        authority = Authority(folder, "shop.test")
        room = asyncio.Semaphore(AT_ONCE)

        async def both(name: str) -> tuple[str, Result, Result]:
            async with room:
                builds = (earlier, (sys.executable, ROOT))
                before, now = await asyncio.gather(*(scanned(*one, SITUATIONS[name], authority) for one in builds))
            mark = " WORSE" if worse(before, now, SITUATIONS[name].truth) else ""
            verdicts = " ".join(before.verdicts), " ".join(now.verdicts)
            print(
                f"{name:38}{before.seconds:7.1f} s{now.seconds:7.1f} s  {verdicts[0]} -> {verdicts[1]}{mark}",
                flush=True,
            )
            return name, before, now

        results = await asyncio.gather(*map(both, names))
    sums = [sum(result.seconds for result in column) for column in list(zip(*results, strict=True))[1:]]
    ratio, longest = sums[1] / sums[0], max(now.seconds for _, _, now in results)
    print(
        f"sum {sums[0]:.1f} s -> {sums[1]:.1f} s: ratio {ratio:.2f}, bar {BAR}; longest {longest:.1f} s, bar {LONGEST}"
    )
    lost = [name for name, before, now in results if worse(before, now, SITUATIONS[name].truth)]
    return 0 if ratio <= BAR and longest <= LONGEST and not lost else 1


if __name__ == "__main__":
    revision, *chosen = [*sys.argv[1:], *([BASE] if len(sys.argv) == 1 else [])]
    raise SystemExit(asyncio.run(measure(revision, chosen or list(SITUATIONS))))
