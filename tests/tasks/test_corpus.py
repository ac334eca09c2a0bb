"""Pages with a broken twin each: what the tasks say is true, and the outline and the tree name the same elements."""

from __future__ import annotations

import pytest

from aui_tui.tasks.browser import Browser
from aui_tui.tasks.outline import Outline
from aui_tui.tasks.page import Page
from tests.tasks.corpus import BROKEN, Twin, measured, site, tried, twins
from tests.tasks.pages import hosted
from tests.tasks.running import named, opened, others_slow

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(3600)]

TWINS = {twin.name: twin for twin in twins()}
QUICK_PAIRS = ("search: a button without a name opens a hidden form", "follow: one listener on the list for all cards")
QUICK = [f"{name} ({which})" for name in QUICK_PAIRS for which in ("works", BROKEN)]
APART = ("<area", "aria-hidden", "inert", "attachShadow({mode:'closed'})", "showModal", "aria-modal")
"""Markup by which the DOM and the accessibility tree differ."""
PARTS = 14


async def test_there_are_pairs_enough() -> None:
    assert len(TWINS) == len(twins())
    assert len(TWINS) // 2 >= 60


@pytest.mark.parametrize("name", others_slow(TWINS, QUICK))
async def test_a_page_and_its_twin(browser: Browser, name: str) -> None:
    report = await tried(browser, TWINS[name])
    wrong = [one for one in report.results if one.outcome not in TWINS[name].truth[one.task]]
    assert not wrong, [(one.task, one.outcome, one.note) for one in wrong]


@pytest.mark.slow
async def test_done_and_blocked_are_precise_and_blocked_is_found(browser: Browser) -> None:
    tally = await measured(browser, TWINS.values())
    assert tally.right["done"] >= 0.99 * tally.said["done"], tally.wrong
    assert tally.right["blocked"] >= 0.99 * tally.said["blocked"], tally.wrong
    assert tally.found["blocked"] >= 0.9 * tally.there["blocked"], tally.wrong


async def compared(page: Page, twin: Twin) -> None:
    """Hold the roles and names of the outline of a homepage against those of the tree."""
    settled, plain, tree = await page.look(), await page.look(whole=False), await page.tree()
    truth = named(Outline(tree))
    assert named(settled) == truth, twin.name
    if not any(mark in twin.bodies["/"] for mark in APART):
        assert named(plain) == truth, twin.name


@pytest.mark.parametrize(
    "part", [pytest.param(0), *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, 8))]
)
async def test_outline_and_tree_name_the_same(browser: Browser, part: int) -> None:
    for twin in list(TWINS.values())[part::8]:
        async with hosted(site(twin)) as port, opened(browser, port) as page:
            await compared(page, twin)
