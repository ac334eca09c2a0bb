"""Shops with planted answers, and a broken twin for every reason: what the tasks say is what is there."""

from __future__ import annotations

import pytest

from aui_tui.model.tasks import TASKS, pillar_points, runs_of
from aui_tui.tasks.browser import Browser
from tests.tasks.running import Ran, others_slow, run_on
from tests.tasks.shop import FAULTS, TRAITS

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(300)]

HEALTHY = dict.fromkeys((task.key for task in TASKS), "done")
LOST = dict.fromkeys((task.key for task in TASKS if task.key != "read"), "inconclusive")

TWINS: dict[str, dict[str, str]] = {
    "challenge": {"read": "blocked", **LOST},
    "refused": {"read": "blocked", **LOST},
    "robots-all": {"read": "blocked", **LOST},
    "cover": {"read": "blocked", **LOST},
    "cover-still": {"read": "blocked/half", **LOST},
    "clickable": {"follow": "blocked", "search": "inconclusive", "offer": "inconclusive"},
    "covered-link": {"follow": "blocked"},
    "dead-link": {"follow": "blocked/half"},
    "elsewhere": {"follow": "blocked/half", "offer": "inconclusive"},
    "external": {"follow": "absent", "search": "inconclusive", "offer": "absent"},
    "robots-items": {"follow": "blocked", "offer": "blocked"},
    "search-unnamed": {"search": "blocked"},
    "search-fake": {"search": "blocked"},
    "search-mouse": {"search": "blocked/half"},
    "search-drawn": {"search": "blocked/half"},
    "search-post": {"search": "needs --act"},
    "search-robots": {"search": "blocked/half"},
    "no-search": {"search": "absent"},
    "contact-picture": {"contact": "blocked/half", "form": "absent"},
    "contact-dead": {"contact": "blocked", "form": "absent"},
    "contact-robots": {"contact": "blocked", "form": "absent"},
    "no-contact": {"contact": "absent", "form": "absent"},
    "form-unnamed": {"form": "blocked/half"},
    "form-custom": {"form": "blocked/half"},
    "form-lost": {"form": "blocked/half"},
    "form-readonly": {"form": "blocked/half"},
    "no-form": {"form": "absent"},
    "price-picture": {"offer": "blocked/half"},
    "add-dead": {"offer": "blocked"},
    "add-disabled": {"offer": "inconclusive"},
    "no-heading": {"offer": "blocked/half"},
    "no-offer": {"offer": "absent"},
}
"""Which tasks each fault changes, and how; every other task is done."""
EMPTY = ("canvas", "pictures")
QUICK = ("search-unnamed", "dead-link", "add-dead")
"""The others are slow together."""


def check_the_log(ran: Ran) -> None:
    """Nothing but searching and reading was done, whatever the shop is like."""
    log = ran.shop.log
    assert not [asked.target for asked in log if asked.method != "GET" and asked.path != "/spy"]
    assert not [asked.target for asked in log if asked.path.startswith("/private/")]
    closed = {"robots-items": "/items/", "search-robots": "/search", "contact-robots": "/contact", "robots-all": "/"}
    for fault, path in closed.items():
        if fault in ran.shop.faults:
            assert not [asked.target for asked in log if asked.path.startswith(path) and asked.path != "/robots.txt"]
    typed = ("ada", "lovelace", "example.com", "7946")
    assert not [
        asked for asked in log if any(word in (asked.target + asked.body.decode()).casefold() for word in typed)
    ]


def check_the_words(ran: Ran) -> None:
    """Every blocked task says in a sentence what happened and what to change."""
    for result in ran.run.report.results:
        assert result.note.endswith(".")
        assert "<<" not in result.note + result.change
        assert bool(result.change) == (result.outcome == "blocked"), result
        assert result.outcome != "blocked" or result.url


async def check(browser: Browser, faults: tuple[str, ...], expected: dict[str, str]) -> Ran:
    ran = await run_on(browser, *faults)
    assert ran.outcomes == HEALTHY | expected, [(r.task, r.note) for r in ran.run.report.results]
    check_the_log(ran)
    check_the_words(ran)
    return ran


async def test_every_fault_has_a_twin() -> None:
    assert {*TWINS, *EMPTY} == set(FAULTS)


async def test_a_healthy_shop_gets_all_points(browser: Browser) -> None:
    ran = await check(browser, ("rich-form", "spying", "consent"), {})
    assert pillar_points(runs_of(ran.run.report), 50) == (50, 50)
    report = ran.run.report
    assert (report.door, report.status, report.robots, report.stopped) == ("allowed", 200, "partial", False)
    assert ran.result("form").note == "17 controls named and filled, nothing sent."
    endings = [event.task for event in ran.events if event.state == "ended" and event.task != "search"]
    assert endings == [*(task.key for task in TASKS if task.key not in ("form", "search")), "form"]
    assert [result.task for result in report.results].index("search") == 2
    assert all(step.outline for step in ran.result("follow").steps)


@pytest.mark.parametrize("fault", others_slow(TWINS, QUICK))
async def test_a_broken_twin_is_found_out(browser: Browser, fault: str) -> None:
    await check(browser, (fault,), TWINS[fault])


@pytest.mark.slow
@pytest.mark.parametrize("trait", [trait for trait in TRAITS if trait not in ("rich-form", "spying", "consent")])
async def test_other_ways_to_be_healthy_are_healthy(browser: Browser, trait: str) -> None:
    await check(browser, (trait,), {})


@pytest.mark.slow
@pytest.mark.parametrize("fault", EMPTY)
async def test_a_drawn_page_cannot_be_read(browser: Browser, fault: str) -> None:
    ran = await run_on(browser, fault)
    assert ran.outcomes["read"] == "blocked"
    assert set(ran.outcomes.values()) <= {"blocked", "absent", "inconclusive"}
    assert pillar_points(runs_of(ran.run.report), 50) is None
    check_the_words(ran)


async def test_acting_puts_the_product_into_the_cart_once(browser: Browser) -> None:
    ran = await run_on(browser, act=True)
    assert ran.outcomes == HEALTHY
    assert ran.shop.cart == ["pier-lantern"]
    assert [asked.target for asked in ran.shop.log if asked.method == "POST"] == ["/cart"]
    assert ran.result("offer").reason == "offer-acted"
    assert ran.run.report.acted


def _told(ran: Ran) -> list[object]:
    """Everything that a run says, without its times."""
    return [
        (
            *(result.task, result.outcome, result.half, result.reason, result.note, result.change),
            *(result.url, result.role, result.name, result.snippet),
            [(step.verb, step.mark, step.role, step.name, step.note, step.url, step.outline) for step in result.steps],
        )
        for result in ran.run.report.results
    ]


async def test_two_runs_on_the_same_site_tell_the_same(browser: Browser) -> None:
    faults = ("scripted", "search-mouse", "contact-picture", "add-disabled")
    first, second = await run_on(browser, *faults), await run_on(browser, *faults)
    assert _told(first) == _told(second)
    assert first.run.rendered == second.run.rendered
