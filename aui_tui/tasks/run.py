"""One run: the six tasks in order on one site, within their limits, with a transcript."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from msgspec.structs import replace

from aui_tui.errors import InvalidHost
from aui_tui.model.methods import round_half_up
from aui_tui.model.observations import SERVED, Observations
from aui_tui.model.tasks import (
    ABSENT,
    ALLOWED,
    BLOCKED,
    CLOSED,
    DONE,
    INCONCLUSIVE,
    NEEDS_ACT,
    REFUSED,
    UNKNOWN,
    WALLED,
    Rendered,
    TaskEvent,
    TaskProgress,
    TaskReport,
    TaskResult,
)
from aui_tui.scan import probes, robots, walls
from aui_tui.scan.exchanges import redact
from aui_tui.scan.network import Network, Routes
from aui_tui.scan.policy import ScanPolicy
from aui_tui.scan.probes import Plan, Url, probe
from aui_tui.scan.target import DEFAULT_PORTS, Origin, parse
from aui_tui.tasks.browser import Browser
from aui_tui.tasks.contact import contact
from aui_tui.tasks.fence import EVERYBODY, Fence
from aui_tui.tasks.filling import form
from aui_tui.tasks.following import follow
from aui_tui.tasks.offers import offer
from aui_tui.tasks.page import ACT, LOCKED, QUIET, Closed, Page, Stuck
from aui_tui.tasks.proxy import Allowance
from aui_tui.tasks.reading import read
from aui_tui.tasks.searching import search
from aui_tui.tasks.visit import Ending, Tape, Visit, reasons
from aui_tui.tasks.vocabulary import PRICE, price_key
from aui_tui.text import clean

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext


DOERS: Final[Mapping[str, Callable[[Visit], Awaitable[Ending]]]] = MappingProxyType(
    {"read": read, "follow": follow, "search": search, "contact": contact, "offer": offer, "form": form}
)
"""What does each task, in the order in which they run: the form comes last, since something is typed into it."""
PASSING: Final = frozenset({404, 408, 410, 421, 425, 429})
"""Statuses below 500 of a homepage that refuse nobody: limits, faults and pages that do not exist."""
ALIVE: Final = 3
"""Questions that a page may leave unanswered before it counts as gone."""
PASSWORD: Final = 401


def _in_order(tasks: Sequence[str]) -> list[str]:
    return sorted(tasks, key=list(DOERS).index)


@dataclass
class TaskRunning:
    """What a run has brought so far; it is whole even when the run is cancelled.

    ``pictures`` are PNG images by task, made where they were asked for.
    """

    report: TaskReport
    rendered: Rendered | None = None
    pictures: dict[str, bytes] = field(default_factory=dict)


async def run_tasks(
    seen: Observations,
    browser: Browser,
    *,
    access: ScanPolicy,
    act: bool = False,
    pictures: bool = False,
    allowance: Allowance | None = None,
    tell: TaskProgress | None = None,
    keep: Callable[[TaskRunning], None] | None = None,
    tasks: Sequence[str] = tuple(DOERS),
) -> TaskRunning:
    """Run the tasks on the site that ``seen`` is of, and return what they brought.

    ``act`` presses "add to cart" once. ``tasks``: those to run, "read" first. ``tell`` gets each step; ``keep``
    the same object that is returned before the first task, so that a caller who cancels has what had ended. Raises
    NoBrowser, Unavailable. Cancelling closes everything but the browser.
    """
    run = _Run(seen, browser, access, act, pictures, allowance or Allowance(), tell)
    if keep is not None:
        keep(run.state)
    await run.go(tasks)
    return run.state


@dataclass
class _Run:
    seen: Observations
    browser: Browser
    access: ScanPolicy
    act: bool
    pictures: bool
    allowance: Allowance
    tell: TaskProgress | None
    context: BrowserContext | None = None
    crashed: bool = False
    lost: Ending | None = None
    """Why the homepage was not reached, where it is the run's own reason."""

    def __post_init__(self) -> None:
        self.secrets = self.access.secrets
        self.site = parse(self.seen.origin, allow_private=True).origin
        self.routes = Routes(self.access)
        self.fence = Fence(self._robots, self.seen.origin, self.access, self.routes, self.allowance)
        self.proxy = self.fence.proxy
        tell, usage = self.tell, lambda: (self.fence.requests, self.proxy.bytes)
        self.tape = Tape(lambda event: tell(redact(event, self.secrets)) if tell else None, usage)
        stamp = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self.state = TaskRunning(TaskReport(ran_at=stamp, origin=self.seen.origin, acted=self.act, stopped=True))

    def _note(self, **changes: object) -> None:
        """Change the report that a caller holds."""
        report = replace(
            self.state.report,
            elapsed_ms=self.tape.elapsed_ms,
            requests=self.fence.requests,
            bytes=self.proxy.bytes,
            writes=self.fence.writes,
            withheld=self.fence.withheld,
            **changes,
        )
        self.state.report = redact(report, self.secrets)

    async def go(self, tasks: Sequence[str]) -> None:
        """Start what is needed, run the tasks, and close everything but the browser."""
        await self.proxy.start()
        try:
            context = await self._renewed()
            self._note(browser=self.browser.name)
            self.tape.report(TaskEvent(state="browser", note=self.browser.name))
            with suppress(TimeoutError):
                async with asyncio.timeout(self.allowance.host + 4 * ACT):
                    await self._drive(context, tasks)
            self._rest(tasks, "timeout")
            self._note(stopped=False)
        except asyncio.CancelledError:
            self._rest(tasks, "stopped")
            raise
        finally:
            if self.context is not None:
                await self.fence.shut()
                await self.browser.close(self.context)
            await self.proxy.stop()
            self.routes.close()

    def _rest(self, tasks: Sequence[str], reason: str) -> None:
        """End what did not: never started is inconclusive."""
        had = {result.task for result in self.state.report.results}
        for task in _in_order(tasks):
            if task not in had:
                self.tape.begin(task)
                self._end(task, Ending(reason, {"seconds": f"{self.allowance.host:.0f}"}))

    async def _renewed(self) -> BrowserContext:
        """Close the context that is open, if one is, and return a fresh one behind the fence."""
        old, self.context = self.context, None
        if old is not None:
            await self.browser.close(old)
        context = await self.browser.context(self.proxy.port, insecure=self.fence.dialler.checks_certificates)
        self.context = context
        await self.fence.watch(context)
        context.on("page", lambda tab: tab.on("crash", lambda _: setattr(self, "_crashed", True)))
        return context

    async def _drive(self, context: BrowserContext, tasks: Sequence[str]) -> None:
        page = Page(await context.new_page(), self.fence, self.allowance, self._renewed)
        visit = Visit(f"{self.seen.origin}/", page, self.tape, self.act)
        if self.pictures:
            visit.snap = partial(self._picture, visit)
        end = time.monotonic() + self.allowance.host
        for task in _in_order(tasks):
            self.tape.begin(task)
            ending = await self._one(task, visit, end)
            if task == "read":
                ending = await self._received(visit, ending)
            if task == "read" and ending.outcome == INCONCLUSIVE:
                self.lost = ending
            self._end(task, ending)
            if visit.snap is not None:
                await visit.snap()
            await self._close_others(visit)

    async def _one(self, task: str, visit: Visit, end: float) -> Ending:
        """Run one task within its limits; what it cannot decide is inconclusive, and never started is not absent."""
        if task != "read" and not visit.reached:
            return self.lost or Ending("no-home")
        left = min(self.allowance.task, end - time.monotonic())
        if left <= 0 or self._spent():
            return self._failed(task, TimeoutError(), 0)
        try:
            async with asyncio.timeout(max(left, 0.01)):
                ending = await DOERS[task](visit)
        except Exception as error:  # whatever a page brings the browser to raise proves nothing
            return self._failed(task, error, max(left, 0))
        if ending.outcome in (BLOCKED, ABSENT) and visit.reached and not await self._alive(visit.page):
            return self._failed(task, Stuck("it stopped answering"), left)
        return ending

    def _spent(self) -> bool:
        """Say whether the run has lost its means: requests, bytes, or the browser."""
        browser = self.context.browser if self.context is not None else None
        self.crashed |= browser is not None and not browser.is_connected()
        return self.fence.exhausted or self.crashed

    async def _alive(self, page: Page) -> bool:
        """Say whether the run still has its means: a site is not blamed for a page that has gone."""
        for _ in range(ALIVE):
            if self._spent():
                return False
            if await page.query("state") is not None:
                return True
            await asyncio.sleep(QUIET)  # a page that is being left answers nothing for a moment
        return False

    def _failed(self, task: str, error: Exception, left: float) -> Ending:
        """Return the ending for an error. Only robots.txt is the site's own word; all else is a doubt."""
        why, url = str(error) if isinstance(error, Stuck) else "the browser reported an error", ""
        self._spent()
        match error:
            case _ if self.fence.exhausted:
                reason = "limit"
            case _ if self.crashed:
                reason = "crash"
            case TimeoutError():
                reason = "timeout"
            case Closed():
                url = error.url
                reason = {"robots": f"{task}-robots", "unknown": "read-unknown"}.get(error.why, "closed")
            case Stuck() if task == "read" and why == LOCKED:
                reason = "read-password"
            case Stuck():
                reason = f"{task}-failed" if f"{task}-failed" in reasons() else "stuck"
            case _:
                reason = "stuck"
        allowed = self.allowance
        facts = {"requests": str(allowed.requests), "megabytes": str(allowed.bytes // 1_000_000)}
        facts |= {"seconds": f"{left:.0f}", "why": why, "status": str(PASSWORD)}
        return Ending(reason, facts, url=url)

    def _end(self, task: str, ending: Ending) -> None:
        node = ending.node
        result = TaskResult(
            task=task,
            outcome=INCONCLUSIVE if self.act and ending.outcome == NEEDS_ACT else ending.outcome,
            note=ending.note,
            half=ending.half and ending.outcome == BLOCKED,
            reason=ending.reason,
            change=ending.change,
            url=clean(ending.url, 300),
            role=node.role if node is not None else "",
            name=clean(node.name, 120) if node is not None else "",
            snippet=ending.snippet,
            steps=tuple(self.tape.steps),
            elapsed_ms=self.tape.task_ms,
        )
        self._note(results=(*self.state.report.results, result))
        self.tape.report(TaskEvent(state="ended", task=task, result=self.state.report.results[-1]))

    async def _received(self, visit: Visit, ending: Ending) -> Ending:
        """Judge how the browser was received, and compare what it rendered with what was sent."""
        door, status = await self._door(visit, ending)
        home = urlsplit(visit.home.url or self.seen.origin)
        found = await self.fence.robots(f"{home.scheme}://{home.netloc}")
        rules = "unknown" if found is None else found.explain(EVERYBODY).effective
        self._note(door=door, status=status, robots=rules)
        if door in (WALLED, REFUSED) or status >= 400:
            visit.reached = False
            return self._turned_away(door, status, ending.url)
        if door == ALLOWED:
            rendered = await compare(visit.page)
            self.state.rendered = redact(rendered, self.secrets) if rendered is not None else None
        return ending

    def _turned_away(self, door: str, status: int, url: str) -> Ending:
        """Return the ending of a homepage that was not served: blocked only where the plain browser was served."""
        facts = {"status": str(status)}
        if door == WALLED:
            return Ending("read-challenge", facts, url=url)
        if status == PASSWORD:
            return Ending("read-password", facts, url=url)
        if door != REFUSED:
            return Ending("read-status", facts, url=url)
        if not self.seen.exchanges or self.seen.browser.outcome == SERVED:
            return Ending("read-refused", facts, url=url)
        return Ending("read-refused-all", facts)

    async def _door(self, visit: Visit, ending: Ending) -> tuple[str, int]:
        """Return how the homepage received the browser, and with which status."""
        response = visit.page.response
        if ending.reason == "read-robots":
            return CLOSED, 0
        if response is None or not visit.reached:
            return UNKNOWN, 0
        body = b""
        with suppress(Exception):  # the browser keeps no body of a page that was left
            body = (await response.body())[: 1 << 20]
        status = response.status
        if ending.outcome != DONE and walls.challenged(status, await response.all_headers(), body):
            return WALLED, status
        if status >= 400:
            return (UNKNOWN if status >= 500 or status in PASSING else REFUSED), status
        return ALLOWED, status

    async def _picture(self, visit: Visit) -> None:
        """Keep a picture of the page for the task that is under way, the first one that shows a page."""
        tab, task = visit.page.tab, self.tape.task
        if task in self.state.pictures or tab.url == "about:blank":
            return
        with suppress(Exception):  # a page that cannot be drawn in time has no picture
            async with asyncio.timeout(ACT):
                self.state.pictures[task] = await tab.screenshot(timeout=1000 * ACT, animations="disabled")

    async def _close_others(self, visit: Visit) -> None:
        for tab in list(visit.page.tab.context.pages):
            if tab is not visit.page.tab:
                with suppress(Exception):  # it has gone already, or hangs
                    await asyncio.wait_for(tab.close(), ACT)

    async def _robots(self, origin: str) -> robots.Robots | None:
        """Return robots.txt of ``origin``: without rules when there is none, None when it could not be read."""
        try:
            target = parse(origin, allow_private=True)
            self.access.check(target.origin)
        except InvalidHost:
            return None
        fields = probes.profile("robots").fields
        own = Origin(target.origin.scheme, target.host, target.port or DEFAULT_PORTS[target.origin.scheme])
        plan = Plan(
            "robots", Url(own, "/robots.txt"), fields, self.access.limits.robots, whole_lines=True, site=self.site
        )
        async with Network(self.access) as network, network.client() as client:
            answer = await probe(client, plan, self.access, limit=self.access.limits.probe)
        if answer.status == 0 or answer.error or answer.status >= 500:
            return None
        page = answer.body.lstrip()[:1] == b"<"
        return robots.parse(answer.body if 200 <= answer.status <= 299 and not page else b"")


EXCERPT: Final = 2000
NAMED: Final = 100
"""Headings and prices that are kept."""


async def compare(page: Page) -> Rendered | None:
    """Return what scripts add to the page that is open; None when that cannot be known."""
    try:
        raw = await page.response.text() if page.response is not None else None
    except Exception:  # the browser keeps no body of a page that was left
        return None
    found = await page.query("readings", raw) if raw is not None else None
    return weigh(found["live"], found["sent"]) if found else None


def weigh(live: dict[str, Any], sent: dict[str, Any]) -> Rendered:
    """Return the comparison of two readings: ``text`` and ``headings`` of either side."""
    shown, had = " ".join(live["text"].split()), " ".join(sent["text"].split())
    missing = Counter(shown.casefold().split()) - Counter(had.casefold().split())
    lacking = sum(len(word) * count for word, count in missing.items())
    total = sum(len(word) for word in shown.split())
    known = price_key(had)
    heads = dict.fromkeys(clean(" ".join(head.split()), 200) for head in live["headings"])
    flat = had.casefold()
    prices = dict.fromkeys(clean(found[0].strip(), 40) for found in PRICE.finditer(shown))
    return Rendered(
        readable=len(shown),
        sent=len(had),
        share=round_half_up(100 * lacking, total) if total else 0,
        headings=tuple(head for head in heads if head and head.casefold() not in flat)[:NAMED],
        prices=tuple(price for price in prices if price_key(price) not in known)[:NAMED],
        text=clean(shown, EXCERPT),
    )
