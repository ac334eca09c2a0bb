"""Floods of small things: the event loop stays free for others, a scan ends in time, and memory is bounded."""

from __future__ import annotations

from collections.abc import Iterator

import psutil
import pytest

from aui_tui.model.observations import BROWSER, Observations
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.policy import ConnectTo, Limits, ScanPolicy
from aui_tui.scan.scan import observe
from tests.faults import behaviours, h2_floods
from tests.faults.lab import check_record, responsive
from tests.faults.serve import serving_all
from tests.faults.site import TITLE

LIMITS = Limits(probe=5.0, connect=5.0, budget=12.0, whole=20.0)
MEMORY = 64 << 20
FLOODS = {
    name: name in behaviours.CUT_BODY
    for name in (*behaviours.NO_ANSWER, *behaviours.CUT_BODY)
    if name.startswith("flood")
} | {name: name in h2_floods.IN_BODY for name in h2_floods.FLOODS}
"""Every flood, and whether a page comes before it."""


@pytest.fixture(scope="module")
def ports() -> Iterator[dict[str, int]]:
    with serving_all(list(FLOODS)) as found:
        yield found


async def scanned(name: str, port: int, parser: ParserProcess) -> Observations:
    tls = name in h2_floods.FLOODS
    rule = ConnectTo("shop.test", 443 if tls else 80, "127.0.0.1", port)
    access = ScanPolicy(connect_to=(rule,), insecure=True, limits=LIMITS)
    target = access.target(f"{'https' if tls else 'http'}://shop.test")
    return await observe(target, parser=parser, access=access)


async def endured(name: str, port: int, parser: ParserProcess) -> Observations:
    """Return what is seen of a flood, having held that it cost others nothing."""
    before = psutil.Process().memory_info().rss
    async with responsive():
        observed = await scanned(name, port, parser)
    check_record(observed)
    assert observed.elapsed_ms <= 1000 * LIMITS.longest
    assert psutil.Process().memory_info().rss - before < MEMORY
    return observed


@pytest.mark.ci
@pytest.mark.parametrize("name", FLOODS)
async def test_a_flood_holds_nobody_up(name: str, ports: dict[str, int], parser: ParserProcess) -> None:
    browser = (await endured(name, ports[name], parser)).exchange(BROWSER)
    if FLOODS[name]:
        assert (browser.status, browser.title, browser.cut) == (200, TITLE, True)
    else:
        assert (browser.status, browser.error) == (0, "protocol")
        assert browser.detail
        assert not browser.attempts, "a client that a flood met is not asked again"
