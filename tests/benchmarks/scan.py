"""How long a whole scan takes, in units of one request by the same client: ``python -m tests.benchmarks.scan``.

The server adds 100 ms to each answer. Both sides include setting up the client, its connections and, for the scan,
judging the bodies. The bar is a ratio of 1.1, median of 20 after a warm-up.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable

from aui_tui.model.observations import BROWSER
from aui_tui.scan import profiles
from aui_tui.scan.network import Network
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.policy import ConnectTo, ScanPolicy
from aui_tui.scan.probes import ProbePlan, Url, probe
from aui_tui.scan.scan import observe
from aui_tui.scan.target import parse
from tests.cli.runner import helper

DELAY = 0.1
ROUNDS = 20
BAR = 1.1


async def timed(call: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await call()
    return time.perf_counter() - began


async def measure(port: int) -> tuple[float, float]:
    """Return the median seconds of one request and of one scan."""
    access = ScanPolicy(connect_to=(ConnectTo("", None, "127.0.0.1", port),))
    target = parse("http://shop.test", allow_private=True)
    fields = profiles.profile(BROWSER).fields

    async def request() -> None:
        async with Network(access) as network, network.client() as client:
            found = await probe(client, ProbePlan(BROWSER, Url(target.origin, "/"), fields, access.limits.page), access)
        assert found.status == 200

    async with ParserProcess() as parser:

        async def scan() -> None:
            observed = await observe(target, parser=parser, access=access)
            assert [exchange.status for exchange in observed.homepages] == [200] * 5
            assert observed.exchange("mcp").status == 404

        for _ in range(2):
            await timed(request)
            await timed(scan)
        pairs = [(await timed(request), await timed(scan)) for _ in range(ROUNDS)]
    return statistics.median(one for one, _ in pairs), statistics.median(whole for _, whole in pairs)


def main() -> int:
    with helper("tests.benchmarks.delayed_server", str(DELAY)) as said:
        one, whole = asyncio.run(measure(int(said.readline())))
    ratio = whole / one
    print(f"one request {one * 1000:.1f} ms, whole scan {whole * 1000:.1f} ms, ratio {ratio:.2f} (bar {BAR})")
    return 0 if ratio <= BAR else 1


if __name__ == "__main__":
    raise SystemExit(main())
