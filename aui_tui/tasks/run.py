"""One run: the six tasks in order on one site, within their limits, with a transcript."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec.structs import replace

from aui_tui.checks.wording import clause
from aui_tui.errors import InvalidHost
from aui_tui.model.methods import round_half_up
from aui_tui.model.observations import FILE_PATHS, Observations
from aui_tui.model.tasks import (
    ABSENT,
    ALLOWED,
    BLOCKED,
    CLOSED,
    DONE,
    INCONCLUSIVE,
    NEEDS_ACT,
    REFUSED,
    STOPPED,
    UNKNOWN,
    WALLED,
    Rendered,
    TaskEvent,
    TaskProgress,
    TaskReport,
    TaskResult,
)
from aui_tui.model.times import stamp
from aui_tui.model.vocabulary import SERVED
from aui_tui.scan import profiles, robots, walls
from aui_tui.scan.exchanges import redact
from aui_tui.scan.network import Network
from aui_tui.scan.policy import ScanPolicy
from aui_tui.scan.probes import Url, planned, probe
from aui_tui.scan.target import parse
from aui_tui.tasks.browser import Browser
from aui_tui.tasks.contact import contact
from aui_tui.tasks.fence import EVERYBODY, Fence, ResponseCache
from aui_tui.tasks.filling import form, form_on
from aui_tui.tasks.following import follow
from aui_tui.tasks.forms import has_entry
from aui_tui.tasks.offered import offered
from aui_tui.tasks.offers import offer
from aui_tui.tasks.outline import ENTRIES, Node
from aui_tui.tasks.page import ACT, LOCKED, QUIET, Closed, Page, Stuck
from aui_tui.tasks.proxy import Allowance, Usage
from aui_tui.tasks.reading import items, read
from aui_tui.tasks.searching import search, seeks
from aui_tui.tasks.visit import Visit, ended, reasons
from aui_tui.tasks.vocabulary import ADD, CONTACT, PRICE, price_key
from aui_tui.text import clean, joined, path_of, tidy

Doer = Callable[[Visit], Awaitable[TaskResult]]
DOERS: Final[Mapping[str, Doer]] = MappingProxyType(
    {"read": read, "follow": follow, "search": search, "contact": contact, "offer": offer, "form": form}
)
"""What does each task, in the order in which they run on one core: the form comes last, since it is typed into."""
PASSING: Final = frozenset({404, 408, 410, 421, 425, 429})
"""Statuses below 500 of a homepage that refuse nobody: limits, faults and pages that do not exist."""
CORES: Final = os.cpu_count() or 1
LANES: Final = 2
"""Tasks that run side by side; each takes a core while its page is drawn."""
ASIDE: Final = ("search", "form")
"""Tasks that run beside the others, in this order: much of what the form tries, the others have tried then.

Where the homepage has nothing to search with, the form comes first.
"""
ALIVE: Final = 3
"""Questions that a page may leave unanswered before it counts as gone."""
PASSWORD: Final = 401
BY_TREE: Final = "For agents that read the accessibility tree: "
NO_WORD: Final = "search-no-query"
"""Reason of a search that had no word to ask for."""
WALK: Final[Mapping[str, Sequence[str]]] = MappingProxyType({"read": (DONE,), "follow": (DONE, ABSENT)})
"""What must have worked for the other tasks to tell what is not there, with the outcomes by which it did."""
OPENED: Final = 4
"""Pages that a sentence names before it counts the rest."""
SOUGHT: Final[Mapping[str, Callable[[Node], bool]]] = MappingProxyType(
    {
        "read": lambda node: bool(node.text or node.name),
        "follow": lambda node: node.role == "link",
        "search": lambda node: node.role == "searchbox" or "search" in node.path,
        "contact": lambda node: node.role == "link" and CONTACT.search(node.name) is not None,
        "offer": lambda node: node.role in ("button", "link") and ADD.search(node.name) is not None,
        "form": lambda node: node.role in ENTRIES and node.role != "searchbox" and "search" not in node.path,
    }
)
"""What each task looks for, where it is kept out of the accessibility tree."""


@dataclass
class TaskRunning:
    """What a run has brought so far; ``pictures`` are PNG images by task."""

    report: TaskReport
    rendered: Rendered | None = None
    pictures: dict[str, bytes] = field(default_factory=dict)


class TasksStopped(asyncio.CancelledError):
    """A run was cancelled. ``ran``: what it had brought."""

    def __init__(self, ran: TaskRunning) -> None:
        super().__init__()
        self.ran = ran


async def run_tasks(
    observations: Observations,
    browser: Browser,
    *,
    access: ScanPolicy,
    act: bool = False,
    allowance: Allowance | None = None,
    tell: TaskProgress | None = None,
    tasks: Sequence[str] = tuple(DOERS),
    start: str = "/",
) -> TaskRunning:
    """Run the tasks on the site that ``observations`` is of, and return what they brought.

    ``start``: the path of the page that they begin on; it stands for the homepage. ``act`` presses "add to cart" once.
    ``tasks``: those to run, "read" first. ``tell`` gets each step. Raises NoBrowser, Unavailable. Cancelling closes
    everything but the browser, and raises TasksStopped with what had ended.
    """
    run = _Run(observations, browser, access, allowance or Allowance(), act=act, live=tell, start=start)
    try:
        await run.go(sorted(tasks, key=list(DOERS).index))
    except asyncio.CancelledError:
        raise TasksStopped(run.state) from None
    return run.state


class _Run:
    """A run under way: ``state`` is what it has brought."""

    def __init__(
        self,
        observations: Observations,
        browser: Browser,
        access: ScanPolicy,
        allowance: Allowance,
        *,
        act: bool,
        live: TaskProgress | None,
        start: str,
    ) -> None:
        self.observations, self.browser, self.allowance, self.live = observations, browser, allowance, live
        self.access, self.secrets, self.usage, self.cache = access, access.secrets, Usage(), ResponseCache()
        self.rules: dict[str, asyncio.Future[robots.Robots | None]] = {}
        self.begun = time.monotonic()
        self.fences: list[Fence] = []
        self.followed = asyncio.Event()
        self.walked = asyncio.Event()
        """The tasks that run beside those ASIDE have ended."""
        self.drawn: dict[str, bytes] = {}
        """Pictures of pages that nothing was typed or pressed in, by address."""
        self.visit = Visit(f"{observations.origin}{start}", self._page(), self._tell, act)
        self.state = TaskRunning(
            TaskReport(ran_at=stamp(time.time()), origin=observations.origin, acted=act, stopped=True)
        )
        self.lost = ended("no-home")
        """Why the homepage was not reached, or not whole."""

    def _page(self) -> Page:
        """Return a tab behind a fence of its own; what it uses counts with the others."""
        origin, shared = self.observations.origin, (self.allowance, self.usage, self.cache)
        fence = Fence(self.browser, self._robots, origin, self.access, *shared)
        self.fences.append(fence)
        return Page(fence)

    async def _robots(self, origin: str) -> robots.Robots | None:
        """Return robots.txt of ``origin``, read once."""
        if origin not in self.rules:
            self.rules[origin] = asyncio.ensure_future(_rules(self.access, self.observations.origin, origin))
        return await asyncio.shield(self.rules[origin])

    def _usage(self) -> dict[str, int]:
        elapsed = round(1000 * (time.monotonic() - self.begun))
        return {"elapsed_ms": elapsed, "requests": self.usage.requests, "bytes": self.usage.bytes}

    def _tell(self, event: TaskEvent) -> None:
        if self.live is not None:
            self.live(redact(replace(event, **self._usage()), self.secrets))

    def _note(self, **changes: object) -> None:
        """Change the report that a caller holds."""
        counts = {
            name: sum(getattr(fence, name) for fence in self.fences) for name in ("writes", "withheld", "loading")
        }
        self.state.report = redact(replace(self.state.report, **self._usage(), **counts, **changes), self.secrets)

    async def go(self, tasks: Sequence[str]) -> None:
        """Run the tasks, and close everything but the browser."""
        try:
            await self.visit.page.leave(fresh=True)
            self._note(browser=self.browser.name)
            self._tell(TaskEvent(state="browser", note=self.browser.name))
            end = time.monotonic() + self.allowance.host
            with suppress(TimeoutError):
                async with asyncio.timeout(self.allowance.host + 4 * ACT):
                    await self._in_lanes(tasks, end)
            self._rest(tasks, "timeout")
            self._note(stopped=False)
        except asyncio.CancelledError:
            self._rest(tasks, STOPPED)
            raise
        finally:
            await asyncio.gather(*(fence.close() for fence in self.fences))

    async def _in_lanes(self, tasks: Sequence[str], end: float) -> None:
        """Run the tasks: those ASIDE, which begin with the homepage alone, beside the others where a core is left.

        A form that was not found is looked for on the pages of the others as well.
        """
        visit, rest = self.visit, [task for task in tasks if task != "read"]
        beside = None if visit.act or CORES < LANES or len(rest) < LANES else self._page()
        if beside is not None:
            beside.fence.prepare()
        await self._lane(visit, [task for task in tasks if task == "read"], end)
        if "follow" not in rest:
            self.followed.set()
        # without anything to type in or to press, a search has little to do
        seeking = visit.reached and "search" in rest and await seeks(visit, visit.home)
        aside = [task for task in (ASIDE if seeking else ASIDE[::-1]) if task in rest]
        others = [task for task in rest if task not in aside]
        if beside is None or not visit.reached or visit.veil or not (aside and others):
            await self._lane(visit, rest, end)
            return
        begun = visit.beside(visit.page)
        left = set(others)

        async def walk(visit: Visit) -> None:
            while others and (self.followed.is_set() or visit is self.visit):
                task = others.pop(0)
                await self._lane(visit, [task], end)
                left.remove(task)
            for place, seen in visit.outlines.items():
                self.visit.outlines.setdefault(place, seen)
            if not left:
                self.walked.set()

        async def first() -> None:
            await walk(visit)
            await second(visit.page)

        async def second(page: Page) -> None:
            while aside:
                task, own = aside.pop(0), begun.beside(page)  # each begins with the same, whichever page is free first
                await self._opened(page)
                ending = await self._begin(own, task, end)
                if task == "form" and ending.outcome == ABSENT:
                    paused = time.monotonic()
                    await asyncio.gather(second(page), self.walked.wait())
                    own.begun += time.monotonic() - paused
                    ending = await self._among_others(own, ending, end)
                await self._finish(own, ending)
            await walk(self.visit.beside(page))

        lanes = first(), second(beside)
        running = [asyncio.ensure_future(lane) for lane in lanes]
        try:
            await asyncio.gather(*running)
        finally:
            for lane_task in running:
                lane_task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _lane(self, visit: Visit, tasks: Sequence[str], end: float) -> None:
        for task in tasks:
            await self._opened(visit.page)
            await self._finish(visit, await self._begin(visit, task, end))

    async def _opened(self, page: Page) -> None:
        if page.fence.context is None:
            await page.leave(fresh=True)

    async def _among_others(self, visit: Visit, ending: TaskResult, end: float) -> TaskResult:
        """Return how the form ends on the pages that the other tasks have opened; else ``ending``."""
        fresh = {place: seen for place, seen in self.visit.outlines.items() if place not in visit.outlines}
        visit.outlines.update(fresh)
        places = [place for place, seen in fresh.items() if has_entry(seen)]
        late = await self._tried(visit, "form", end, partial(form_on, places=places)) if places else ending
        if late.outcome == ABSENT:
            return ending
        await self._picture(visit, late.url)
        return late

    def _rest(self, tasks: Sequence[str], reason: str) -> None:
        """End what did not: never started is inconclusive."""
        had = {result.task for result in self.state.report.results}
        for task in tasks:
            if task not in had:
                self.visit.begin(task)
                self._end(self.visit, ended(reason, {"seconds": f"{self.allowance.host:.0f}"}))

    async def _begin(self, visit: Visit, task: str, end: float) -> TaskResult:
        """Run one task, and return how it ends as far as its own tab tells."""
        visit.begin(task)
        ending = await self._tried(visit, task, end, DOERS[task])
        if task == "read":
            ending = await self._received(ending)
            self._note(tree=visit.difference)
            if ending.outcome == INCONCLUSIVE:
                self.lost = ending
        await self._picture(visit, ending.url)
        return ending

    async def _finish(self, visit: Visit, ending: TaskResult) -> None:
        """Keep how the task that is under way ended, and close what it opened."""
        self._end(visit, ending)
        if visit.task == "follow":
            self.followed.set()
        page = visit.page
        await page.close(*(tab for tab in page.tab.context.pages if tab is not page.tab))

    async def _tried(self, visit: Visit, task: str, end: float, do: Doer) -> TaskResult:
        """Run one task within its limits; what it cannot decide is inconclusive, and never started is not absent."""
        fence, crashes = visit.page.fence, len(visit.page.fence.crashed)
        if task != "read" and not visit.reached:
            return self.lost
        if visit.veil:
            reason = "veiled-nameless" if _lies_behind(visit, task) else "veiled"
            return ended(reason, {"what": visit.veil[:1].upper() + visit.veil[1:]})
        left = min(self.allowance.task, end - time.monotonic())
        if left <= 0 or fence.exhausted or fence.gone:
            return self._failed(fence, task, TimeoutError(), 0, crashes)
        try:
            async with asyncio.timeout(left):
                fence.asked.clear()
                ending = await do(visit)
                # a page that sends by the clock sends after a press too: what it sends anyway, no press asked for
                if ending.outcome == NEEDS_ACT and await visit.page.sends_by_itself(ending.url or visit.url):
                    visit.step("compared", note="the page sends the same while nothing is pressed")
                    ending = await do(visit)
                ending = ending if ending.url else replace(ending, url=clean(visit.home.url, 300))
        except Exception as error:  # whatever a page brings the browser to raise proves nothing
            return self._failed(fence, task, error, left, crashes)
        ending = await self._walked(visit, task, ending)
        if ending.outcome not in (BLOCKED, ABSENT) or not visit.reached:
            return ending
        if self.lost.reason == "read-waiting":
            return self.lost  # what was not there may have been on its way
        if await _alive(visit.page, crashes):
            return ending
        return self._failed(fence, task, Stuck("it stopped answering"), left, crashes)

    async def _walked(self, visit: Visit, task: str, ending: TaskResult) -> TaskResult:
        """Return ``ending``; not offered is said where reading and following worked on every page that was opened.

        What did nothing accuses nobody where the links did nothing either: the whole site may be at fault.
        """
        if ending.outcome == BLOCKED and reasons()[ending.reason].idle:
            idle = [earlier for earlier in await self._unwalked(task) if reasons()[earlier.reason].idle]
            return ended("everywhere", {"obstacle": _said(idle[0])}, url=ending.url) if idle else ending
        if ending.outcome != ABSENT and ending.reason != NO_WORD:
            return ending
        # one link that is left out may be the anchor of a heading, or the picture of an item
        if visit.home.dom_only and (task not in ("follow", "offer") or visit.difference is not None):
            home = await visit.shown(visit.url)
            hidden = await visit.kept_out(home, lambda apart: next(filter(SOUGHT[task], apart.nodes), None))
            if hidden is not None:
                return hidden
        if ending.outcome != ABSENT:
            return ending
        obstacle = next(map(_said, await self._unwalked(task)), visit.obstacle)
        return ended("unwalked", {"obstacle": obstacle}, url=ending.url) if obstacle else ending

    async def _unwalked(self, task: str) -> list[TaskResult]:
        """Return how reading and following ended where they came before ``task`` and did not work."""
        if task not in WALK:
            await self.followed.wait()
        before = [result for result in self.state.report.results if result.task in WALK]
        return [result for result in before if result.outcome not in WALK[result.task]]

    def _failed(self, fence: Fence, task: str, error: Exception, left: float, crashes: int) -> TaskResult:
        """Return the ending for an error. Only robots.txt is the site's own word; all else is a doubt.

        ``crashes``: those before the task.
        """
        why, url = str(error) if isinstance(error, Stuck) else "the browser reported an error", ""
        match error:
            case _ if fence.exhausted:
                reason = "limit"
            case _ if fence.gone or len(fence.crashed) > crashes:
                reason = "crash"
            case TimeoutError():
                reason = "timeout"
            case Closed():
                url = error.url
                closed = f"{task}-robots" if f"{task}-robots" in reasons() else "robots"
                reason = {"robots": closed, "unknown": "read-unknown"}.get(error.why, "closed")
            case Stuck() if task == "read" and why == LOCKED:
                reason = "read-password"
            case _:
                reason = "failed"
        allowed = self.allowance
        facts = {"requests": str(allowed.requests), "megabytes": str(allowed.bytes // 1_000_000)}
        facts |= {"seconds": f"{left:.0f}", "why": why, "status": str(PASSWORD)}
        return ended(reason, facts, url=url)

    def _end(self, visit: Visit, ending: TaskResult) -> None:
        outcome = INCONCLUSIVE if visit.act and ending.outcome == NEEDS_ACT else ending.outcome
        steps, elapsed = tuple(visit.steps), visit.task_ms
        note = ending.note
        if outcome == ABSENT:
            opened = dict.fromkeys(path_of(urlsplit(url)) for url in visit.outlines)
            note = f"{note.rstrip('.')}; opened: {joined(list(opened), OPENED)}."
        if visit.difference is not None and outcome in (DONE, BLOCKED):
            note = BY_TREE + note
        result = replace(ending, task=visit.task, outcome=outcome, note=note, steps=steps, elapsed_ms=elapsed)
        order = list(DOERS).index
        results = sorted((*self.state.report.results, result), key=lambda task_result: order(task_result.task))
        self._note(results=tuple(results))
        self._tell(TaskEvent(state="ended", task=visit.task, result=result))

    async def _received(self, ending: TaskResult) -> TaskResult:
        """Judge how the browser was received, and compare what it rendered with what was sent."""
        visit = self.visit
        door, status = await self._door(ending)
        home = urlsplit(visit.home.url or self.observations.origin)
        robots_txt = await self._robots(f"{home.scheme}://{home.netloc}")
        rules = "unknown" if robots_txt is None else robots_txt.explain(EVERYBODY).effective
        self._note(door=door, status=status, robots=rules)
        if door in (WALLED, REFUSED) or status >= 400:
            visit.reached = False
            return ended(self._turned_away(door, status), {"status": str(status)}, url=ending.url)
        if door == ALLOWED:
            rendered = await compare(visit.page)
            self.state.rendered = redact(rendered, self.secrets)
        return ending

    def _turned_away(self, door: str, status: int) -> str:
        """Return why a homepage was not served: blocked only where the plain browser was served."""
        if door == WALLED:
            return "read-challenge"
        if status == PASSWORD:
            return "read-password"
        if door != REFUSED:
            return "read-status"
        served = not self.observations.exchanges or self.observations.browser.outcome == SERVED
        return "read-refused" if served else "read-refused-all"

    async def _door(self, ending: TaskResult) -> tuple[str, int]:
        """Return how the homepage received the browser, and with which status."""
        response = self.visit.page.response
        if ending.reason == "read-robots":
            return CLOSED, 0
        if response is None or not self.visit.reached:
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

    async def _picture(self, visit: Visit, url: str) -> None:
        """Keep a picture for the task that is under way: of the page at ``url``, else of the one that is open.

        A page that nothing was typed or pressed in is drawn once.
        """
        page, tab, task = visit.page, visit.page.tab, visit.task
        untouched = page.stands
        if url in self.drawn and (untouched or tab.url != url):
            self.state.pictures[task] = self.drawn[url]
        elif tab.url != "about:blank":
            with suppress(Exception):  # a page that cannot be drawn in time has no picture
                async with asyncio.timeout(ACT):
                    picture = await tab.screenshot(timeout=1000 * ACT, animations="disabled")
                self.state.pictures[task] = picture
                if untouched:
                    self.drawn[tab.url] = picture


def _lies_behind(visit: Visit, task: str) -> bool:
    """Say whether what a task looks for is seen on the homepage once a control without a name has freed it."""
    behind = visit.behind
    if behind is None or task not in ("follow", "offer"):
        return False
    return bool(items(visit, behind)) if task == "follow" else offered(behind).is_whole


def _said(result: TaskResult) -> str:
    """Return what a result says, as a part of a sentence."""
    return clause(result.note.removeprefix(BY_TREE))


async def _alive(page: Page, crashes: int) -> bool:
    """Say whether the run still has its means: a site is not blamed for a page that has gone.

    ``crashes``: those before the task; a page that the task has opened again since looks sound.
    """
    for _ in range(ALIVE):
        if page.fence.exhausted or page.fence.gone or len(page.fence.crashed) > crashes:
            return False
        if await page.query("state") is not None:
            return True
        await asyncio.sleep(QUIET)  # a page that is being left answers nothing for a moment
    return False


async def _rules(access: ScanPolicy, site: str, origin: str) -> robots.Robots | None:
    """Return robots.txt of ``origin``: without rules when there is none, None when it could not be read."""
    try:
        target = parse(origin, allow_private=True)
        access.check(target.origin)
    except InvalidHost:
        return None
    fields, own = profiles.profile("robots").fields, parse(site, allow_private=True).origin
    plan = planned("robots", Url(target.origin, FILE_PATHS["robots"]), fields, access.limits, own)
    async with Network(access) as network, network.client() as client:
        answer = await probe(client, plan, access)
    kind, rules = robots.answered(answer.body, 0 if answer.error else answer.status, answer.content_type)
    return None if kind == "unknown" else rules


EXCERPT: Final = 2000
NAMED: Final = 100
"""Headings and prices that are kept."""


async def compare(page: Page) -> Rendered | None:
    """Return what scripts add to the page that is open; None when that cannot be known."""
    try:
        raw = await page.response.text() if page.response is not None else None
    except Exception:  # the browser keeps no body of a page that was left
        return None
    readings = await page.query("readings", raw) if raw is not None else None
    if not readings:
        return None
    tools = await page.query("tools")
    names = tuple(clean(name, 80) for name in tools) if isinstance(tools, list) else None
    return replace(weigh(readings["live"], readings["sent"]), tools=names)


def weigh(live: dict[str, Any], sent: dict[str, Any]) -> Rendered:
    """Return the comparison of two readings: ``text`` and ``headings`` of either side."""
    shown, had = " ".join(live["text"].split()), " ".join(sent["text"].split())
    missing = Counter(shown.casefold().split()) - Counter(had.casefold().split())
    lacking = sum(len(word) * count for word, count in missing.items())
    total = sum(len(word) for word in shown.split())
    sent_prices = price_key(had)
    heads = dict.fromkeys(tidy(head, 200) for head in live["headings"])
    flat = had.casefold()
    prices = dict.fromkeys(clean(match[0].strip(), 40) for match in PRICE.finditer(shown))
    return Rendered(
        readable=len(shown),
        sent=len(had),
        share=round_half_up(100 * lacking, total) if total else 0,
        headings=tuple(head for head in heads if head and head.casefold() not in flat)[:NAMED],
        prices=tuple(price for price in prices if price_key(price) not in sent_prices)[:NAMED],
        text=clean(shown, EXCERPT),
    )
