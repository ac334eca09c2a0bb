"""Runs of the tasks on servers of the tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import pytest

from aui_tui.demo.web import LoopbackServer
from aui_tui.model.observations import Observations
from aui_tui.model.tasks import TaskEvent, TaskResult
from aui_tui.scan import robots
from aui_tui.scan.policy import ConnectTo, ScanPolicy
from aui_tui.tasks.browser import Browser
from aui_tui.tasks.fence import Fence
from aui_tui.tasks.outline import Outline
from aui_tui.tasks.page import Page
from aui_tui.tasks.proxy import Allowance
from aui_tui.tasks.run import TaskRunning, run_tasks
from aui_tui.tasks.tree import COMPARED, letters, unlike
from tests.tasks.shop import Shop

HOST = "shop.demo.test"
KNOWN = (None, "", "aria-hidden", "inert")
"""What keeps an element of the DOM from the tree; empty for one that nobody sees."""


def others_slow(names: Iterable[str], quick: Sequence[str]) -> list[Any]:
    """Return ``names`` as cases of a test; those that are not ``quick`` run with the slow tests."""
    return [pytest.param(name, marks=() if name in quick else pytest.mark.slow) for name in names]


@asynccontextmanager
async def opened(browser: Browser, port: int, *, settle: float = Allowance().settle) -> AsyncIterator[Page]:
    """Open the homepage of the server at ``port`` behind a fence, and yield its tab."""
    fence = Fence(browser, no_rules, f"http://{HOST}", leading_to(port), Allowance(settle=settle))
    try:
        page = Page(fence)
        await page.leave(fresh=True)
        await page.open(f"http://{HOST}/")
        yield page
    finally:
        await fence.close()


def named(outline: Outline) -> Counter[tuple[str, str]]:
    """Return how often each role and name stands in an outline."""
    return Counter((node.role, letters(node.name)) for node in outline.nodes if node.role in COMPARED)


async def differences(page: Page) -> list[str]:
    """Return where the outline of the page that is open and its accessibility tree differ without a known cause.

    Known are what nobody sees, what ``aria-hidden`` and ``inert`` take away, and closed shadow roots.
    """
    merged, tree = await page.look(), await page.tree()
    both = named(merged), named(Outline(tree))
    gone, added = unlike(merged)
    return [
        *(f"the outline alone has {node}" for node in both[0] - both[1]),
        *(f"the tree alone has {node}" for node in both[1] - both[0]),
        *[str(node) for node in gone if await page.ask(node, "unheard") not in KNOWN],
        *[str(node) for node in added if not await page.ask(node, "closed")],
    ]


class Ran(NamedTuple):
    """A run on a shop, and the shop with its log."""

    run: TaskRunning
    shop: Shop
    events: list[TaskEvent]

    def result(self, task: str) -> TaskResult:
        return next(result for result in self.run.report.results if result.task == task)

    @property
    def outcomes(self) -> dict[str, str]:
        return {result.task: result.outcome + ("/half" if result.half else "") for result in self.run.report.results}


async def no_rules(origin: str) -> robots.Robots | None:
    """What a fence reads of an origin whose robots.txt closes nothing."""
    return robots.parse(b"")


def seen_at(origin: str, host: str = HOST) -> Observations:
    """The least that a run needs to know of a scan."""
    return Observations(
        host=host, input_host=host, origin=origin, scanned_at="2026-11-20T10:00:00.000Z", elapsed_ms=0, exchanges=()
    )


@asynccontextmanager
async def serving(shop: Shop) -> AsyncIterator[int]:
    """Serve ``shop`` and yield its port."""
    with LoopbackServer(shop.answer) as server:
        yield server.port


def leading_to(port: int, *names: str) -> ScanPolicy:
    """What lets a run reach ``names`` at a loopback port, and nothing else."""
    return ScanPolicy(connect_to=tuple(ConnectTo.parse(f"{name}:80:127.0.0.1:{port}") for name in names or (HOST,)))


async def run_on(browser: Browser, *faults: str, act: bool = False, allowance: Allowance | None = None) -> Ran:
    """Run the tasks on a shop with ``faults``."""
    shop = Shop(faults=frozenset(faults))
    events: list[TaskEvent] = []
    async with serving(shop) as port:
        run = await run_tasks(
            seen_at(f"http://{HOST}"),
            browser,
            access=leading_to(port),
            act=act,
            allowance=allowance,
            tell=events.append,
        )
    return Ran(run, shop, events)
