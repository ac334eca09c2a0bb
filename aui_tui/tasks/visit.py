"""State that the tasks of one run share: the tab, what was found so far, the transcript, and how a task ends.

An ending is one sentence per reason and what a developer would change; the sentences are data.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType
from typing import Final, NamedTuple
from urllib.parse import unquote, urldefrag, urlsplit

import msgspec

from aui_tui.checks.wording import fill
from aui_tui.model.observations import LIMIT_STATUS
from aui_tui.model.tasks import Step, TaskEvent, TaskResult, TreeDifference
from aui_tui.packaged import read_table
from aui_tui.scan.exchanges import redact
from aui_tui.tasks.covers import Cover
from aui_tui.tasks.fence import NetworkPhase
from aui_tui.tasks.forms import LOOSE, Form, asked_code, forms_of, has_entry
from aui_tui.tasks.outline import DIALOGS, NOTHING, Node, Outline
from aui_tui.tasks.page import Page, Stuck
from aui_tui.tasks.trials import Spot, Trail, Trial
from aui_tui.tasks.vocabulary import EMAIL, MAIL, PHONE, PRICE, PUZZLE, TAKES, acts
from aui_tui.text import clean

DISMISSALS: Final = 2
"""Buttons that are tried against one cover, before Escape."""
GLANCES: Final = 8
"""How often is looked whether what has no button to dismiss it goes by itself."""
GLANCE: Final = 0.25
"""Seconds between two looks."""
MOST_USED: Final = 0.5
MOST_TIME: Final = 0.75
"""Parts of what the run may use, and of the time of the task, after which nothing is tried that may be in vain."""
MAX_SHADOW_CHECKS: Final = 3
"""Texts that are checked for a closed shadow root around them."""
ROUTE: Final = ("/", "!")
"""How the fragment of an address begins that is no place of a page, but a route of its scripts."""
PUZZLE_TEXT_CHARS: Final = 3000
"""Characters at the beginning of a page that are searched for the words of a puzzle."""


class Facts(NamedTuple):
    """What a page holds, with its ``outline``: the names of controls that are ``hidden``, what scripts have
    ``painted``, and the forms, None where nothing takes typing.

    ``moved``: something that is no control reacts to a mouse, in the main part, or anywhere on the homepage.
    ``priced``: it holds a price, shown or not, or may draw or write one. ``unshown``: an address or a number to call
    stands in it, and none is shown. ``left_out``: address and start tag of each link that is seen, says nothing and is
    hidden from the tree, and whether it stands in the main part. ``plain``: it was seen whole, nothing but a field
    takes typing, and no puzzle stands there.
    """

    outline: Outline
    hidden: tuple[str, ...]
    painted: str
    moved: bool
    priced: bool
    forms: list[Form] | None
    unshown: bool
    left_out: list[tuple[str, str, bool]]
    plain: bool


class Choices(NamedTuple):
    """Whether choices by role and name were ``enough`` to enable a field, and what was chosen if that sent nothing."""

    enough: bool
    nodes: list[Node]


@dataclass
class Visit:
    """One run on one site. ``url`` is the homepage as asked, ``home`` its outline once it was read (``reached``).

    ``tell`` gets each step of the transcript. ``outlines``: of the pages that were opened, by address.
    """

    url: str
    page: Page
    tell: Callable[[TaskEvent], None]
    act: bool = False
    task: str = ""
    steps: list[Step] = field(default_factory=list)
    begun: float = 0.0
    home: Outline = field(default_factory=Outline)
    item: Outline | None = None
    """The page that the link of the task ``follow`` led to."""
    anchors: frozenset[str] = frozenset()
    """The places of the homepage that an address with ``#`` can lead to."""
    prominent: frozenset[str] = frozenset()
    """The addresses of links of the homepage that are drawn like buttons."""
    reached: bool = False
    difference: TreeDifference | None = None
    """Where the accessibility tree of the homepage and its DOM differ by more than decoration."""
    veil: str = ""
    """What covers the homepage and was not dismissed."""
    behind: Outline | None = None
    """The homepage without that, where a control without a name takes it away."""
    obstacle: str = ""
    """What kept a page that was opened from being seen whole: what is not found there may be there all the same."""
    outlines: dict[str, Outline] = field(default_factory=dict)
    noted: dict[str, Facts] = field(default_factory=dict)
    """What the pages hold that were opened, by address."""
    led: dict[str, str] = field(default_factory=dict)
    """Where the addresses that were opened led to."""
    trials: dict[str, dict[Spot, Trial]] = field(default_factory=dict)
    """What a mouse brought about on the pages, by address, each as it was opened."""
    trails: dict[str, Trail] = field(default_factory=dict)
    """What the controls of the pages brought about, one after the other, by address."""
    locks: dict[str, asyncio.Lock] = field(default_factory=dict)
    """Held by the task that opens a page, or presses its controls, by address."""
    choices: dict[str, Choices] = field(default_factory=dict)
    """What was chosen by role and name before a search field that takes no typing, by address."""
    cover: Cover | None = None
    """What covers the page that was opened last, and was not dismissed."""

    @property
    def task_ms(self) -> int:
        """Milliseconds since the task began."""
        return round(1000 * (time.monotonic() - self.begun))

    def beside(self, page: Page) -> Visit:
        """Return the run as it is now in another tab, for tasks that run at the same time."""
        return replace(self, page=page, steps=[], task="", outlines=dict(self.outlines))

    def begin(self, task: str) -> None:
        """Begin a task."""
        self.task, self.steps, self.begun = task, [], time.monotonic()
        self.tell(TaskEvent(state="started", task=task))

    def step(
        self, verb: str, node: Node | None = None, *, note: str = "", mark: str = "done", outline: Outline | None = None
    ) -> None:
        """Add a step: what was done to which element, and the outline on which that was decided."""
        element = node or NOTHING
        made = Step(
            verb=verb,
            mark=mark,
            role=element.role,
            name=clean(element.name, 120),
            note=clean(note, 240),
            url=clean(outline.url, 300) if outline is not None else "",
            elapsed_ms=self.task_ms,
            outline=outline.excerpt(node) if outline is not None else (),
        )
        self.steps.append(made)
        self.tell(TaskEvent(state="step", task=self.task, step=made))

    def place(self, url: str) -> str:
        """Return the page that ``url`` led to when it was opened, without a fragment that is an anchor.

        Another fragment stays: it may be the route of a script.
        """
        place = self._whole(url)
        return self.led.get(place, place)

    def _whole(self, url: str) -> str:
        page, fragment = urldefrag(url)
        place = unquote(fragment)
        elsewhere = page != urldefrag(self.home.url or self.url)[0] and not place.startswith(ROUTE)
        return page if elsewhere or place in self.anchors or place.casefold() in ("", "top") else url

    def at_home(self, url: str) -> bool:
        """Say whether ``url`` is the homepage."""
        return self.place(url) == self.place(self.home.url)

    def leads_on(self, url: str) -> bool:
        """Say whether ``url`` leads to another page, and asking for it does nothing."""
        return not self.at_home(url) and not acts(url)

    def same_site(self, url: str) -> bool:
        """Say whether ``url`` lies on the site: the host of the homepage, with or without www."""
        return _host(url) == _host(self.home.url or self.url)

    async def open(self, url: str) -> Outline:
        """Open a page, and note the step. Raises Closed, Stuck."""
        outline = await self.page.open(url)
        self.led[self._whole(url)] = self._whole(outline.url)
        self.step("opened", note=clean(outline.title or url, 120), outline=outline)
        self.outlines[self.place(outline.url)] = outline
        title = clean(outline.title or url, 80)
        if PUZZLE.search(outline.text()[:PUZZLE_TEXT_CHARS]) or asked_code(outline) is not None:
            self.obstacle = f"“{title}” asks for proof of a person first"
        elif await self._has_closed_shadow_root(outline):
            self.obstacle = self.obstacle or f"“{title}” holds parts in a closed shadow root"
        return outline

    def lock(self, url: str) -> asyncio.Lock:
        """Return what a task holds while it opens the page at ``url``, or presses its controls."""
        return self.locks.setdefault(self.place(url), asyncio.Lock())

    async def facts(self, url: str) -> Facts:
        """Return what the page at ``url`` holds; it is opened where that is not known. Raises Closed, Stuck."""
        if self.place(url) not in self.noted:
            await self.note(await self.shown(url))
        return self.noted[self.place(url)]

    async def known(self, url: str) -> Outline | None:
        """Return the page at ``url`` as another task opened it, or opens it now, where its outline is all of interest.

        It counts as opened by this one too.
        """
        if self.place(url) not in self.noted and self.lock(url).locked():
            async with self.lock(url):
                pass
        facts = self.noted.get(self.place(url))
        if facts is None or not facts.plain:
            return None
        self.outlines.setdefault(self.place(url), facts.outline)
        return facts.outline

    async def note(self, outline: Outline) -> None:
        """Keep what a page holds, which is open with nothing over it, so that it need not be opened for that again."""
        page, everywhere = self.page, "home" if self.at_home(outline.url) else ""
        questions = (
            page.inspect("moved", everywhere),
            page.query("hidden-controls"),
            page.query("painted"),
            page.query("priced", [PRICE.pattern, TAKES.pattern]),
            page.query("links-left-out"),
            page.inspect("written", MAIL.pattern),
            page.query("editable", LOOSE),
            page.query("bare-forms"),
        )
        moved, hidden, painted, priced, links, *instead = await asyncio.gather(*questions)
        left_out = [
            (str(url), clean(redact(str(tag), page.fence.secrets), 240), bool(main)) for url, tag, main in links or ()
        ]
        forms = await forms_of(page, outline) if has_entry(outline) else None
        names = tuple(map(str, hidden or ()))
        text, links = outline.text(), outline.of("link")
        told = (
            EMAIL.search(text) or PHONE.search(text) or any(node.url.startswith(("mailto:", "tel:")) for node in links)
        )
        unshown = not told and bool(await page.query("unshown", f"{EMAIL.pattern}|{PHONE.pattern}"))
        plain = not (self.obstacle or self.cover or any(instead))
        facts = Facts(
            outline, names, str(painted or ""), bool(moved), priced is not False, forms, unshown, left_out, plain
        )
        self.noted[self.place(outline.url)] = facts

    async def _has_closed_shadow_root(self, outline: Outline) -> bool:
        """Say whether text of the tree that the DOM lacks is in a closed shadow root, not just newer than the DOM."""
        nodes = [node for node in outline.tree_only if node.text][:MAX_SHADOW_CHECKS]
        return any([await self.page.ask(node, "closed") for node in nodes])

    @property
    def spare(self) -> bool:
        """Whether enough is left of what the run may use, and of the time of the task, for what may be in vain."""
        fence = self.page.fence
        late = self.task_ms > MOST_TIME * 1000 * fence.allowance.task
        return not late and not fence.usage.exhausts(fence.allowance, MOST_USED)

    async def cleared(self, outline: Outline) -> Outline:
        """Dismiss what covers the open page, and note what stays as the obstacle."""
        outline, self.cover = await self.clear(outline)
        if self.cover is not None:
            self.obstacle = f"something covers “{clean(outline.title or outline.url, 80)}”"
        return outline

    async def served(self, url: str) -> Outline:
        """Open a page and dismiss what covers it. Raises Closed; Stuck, also for status 429 and 500 to 599."""
        async with self.lock(url):
            outline = await self.cleared(await self.open(url))
            status = self.page.status
            if status == LIMIT_STATUS or status >= 500:
                self.outlines.pop(self.place(outline.url), None)
                raise Stuck(f"status {status}")
            await self.note(outline)
            return outline

    async def here(self, url: str) -> Outline:
        """Return the page at ``url``: as it stands when it is open and untouched, else opened again.

        Raises Closed, Stuck.
        """
        page = self.page
        if page.touched or page.fence.phase is NetworkPhase.SHUT or self.place(page.tab.url) != self.place(url):
            return (await self.clear(await self.open(url)))[0]
        return await page.again()

    async def shown(self, url: str) -> Outline:
        """Return the page at ``url`` to look at it, or to try something while nothing can leave.

        It is as ``here`` returns it; one that is left as it was by what was tried before will do. Raises Closed, Stuck.
        """
        if self.page.intact and self.place(self.page.tab.url) == self.place(url):
            return await self.page.again()
        return await self.here(url)

    async def clear(self, outline: Outline, over: Node | None = None) -> tuple[Outline, Cover | None]:
        """Dismiss what covers the page, or the element ``over``: by a button with a known name, twice, then by Escape.

        What has no such button may go by itself, as a curtain does. Returns the page, and what still covers it.
        """
        page, touched = self.page, self.page.touched
        tried: list[Node] = []
        waited = escaped = False
        while True:
            if over is None and not tried and not outline.of(*DIALOGS) and await page.query("free"):
                return outline, None
            cover = Cover(outline, *await page.reach(outline), tried)
            choice = cover.dismissal()
            is_free = cover.free if over is None else await page.hit(over) is not False
            # what is inert is there once a notice beside it is dismissed
            if is_free and (over is not None or choice is None or tried or not await page.query("inert")):
                return outline, None
            if choice is not None and len(tried) < DISMISSALS:
                self.step("dismissed", choice, mark="done" if await self.press(choice) else "part", outline=outline)
                tried.append(choice)
            elif cover.covers and not waited:
                for _ in range(GLANCES):
                    if await page.query("free"):
                        break
                    await asyncio.sleep(GLANCE)
                waited = True
            elif cover.covers and not escaped:
                await page.press("Escape")
                self.step("pressed", cover.dialog, note="Escape", outline=outline)
                escaped = True
            else:
                return outline, cover if cover.covers else None
            outline = await page.settle()
            page.touched = touched

    async def press(self, node: Node) -> bool:
        """Click ``node``, else the same element found again, as a script may redraw it; say whether that worked."""
        if await self.page.click(node):
            return True
        fresh = await self.again(node)
        return fresh is not None and await self.page.click(fresh)

    async def blame(
        self, reason: str, node: Node | None, facts: Mapping[str, str] = MappingProxyType({}), *, url: str = ""
    ) -> TaskResult:
        """Return the ending of the task with ``node`` as the element at fault, with its start tag."""
        snippet = await self.page.snippet(node) if node is not None and node.ref else ""
        return ended(reason, facts, node, url, snippet)

    async def kept_out(self, outline: Outline, sought: Callable[[Outline], Node | None]) -> TaskResult | None:
        """Return the ending where what is ``sought`` is seen on the page and left out of the accessibility tree."""
        apart, cause = await self.page.unheard(outline)
        node = sought(apart)
        if node is None:
            return None
        self.step("looked", node, note="which the accessibility tree leaves out", mark="stuck", outline=outline)
        said = clean(node.name or node.text, 80)
        return ended("hidden", {"cause": cause, "said": f" “{said}”" if said else ""}, node=node, url=outline.url)

    async def at_home_again(self, node: Node) -> Node | None:
        """Return ``node`` as it is on the homepage now, opened again where it was left or touched."""
        return _same(await self.here(self.url), node)

    async def again(self, node: Node) -> Node | None:
        """Return ``node`` as it is on the page now: same role, name and address."""
        return _same(await self.page.look(), node)


def _same(outline: Outline, node: Node) -> Node | None:
    identity = (node.role, node.name, node.url)
    return next(
        (candidate for candidate in outline.nodes if (candidate.role, candidate.name, candidate.url) == identity), None
    )


def _host(url: str) -> tuple[str, int | None]:
    try:
        parts = urlsplit(url)
        return (parts.hostname or "").removeprefix("www."), parts.port
    except ValueError:
        return "", None


MAX_SENTENCE_CHARS = 400
"""Characters of a sentence at most."""


class Reason(msgspec.Struct, frozen=True):
    """One reason: the outcome, whether a blocked task earns half, what happened, and what to change.

    ``idle``: what was found did nothing when it was operated, which may be so for everybody. ``note`` and ``change``
    are sentences; only a blocked task has something to change.
    """

    outcome: str
    note: str
    change: str = ""
    half: bool = False
    idle: bool = False


@cache
def reasons() -> Mapping[str, Reason]:
    """Return the packaged sentences by reason."""
    return read_table("tasks/reasons.toml", dict[str, Reason])


def ended(
    reason: str,
    facts: Mapping[str, str] = MappingProxyType({}),
    node: Node | None = None,
    url: str = "",
    snippet: str = "",
) -> TaskResult:
    """Return how a task ended: the ``reason`` with its facts, and the element at fault; the table says what follows.

    ``url`` is the page, the homepage when empty; ``snippet`` the element's start tag. Name and role of the element and
    its start tag are facts of every ending.
    """
    entry, element = reasons()[reason], node or NOTHING
    about = {"name": element.name, "role": element.role} if node is not None else {}
    values = {name: clean(value, 120) for name, value in {"snippet": snippet, **about, **facts}.items()}

    def sentence(template: str) -> str:
        text = fill(template, values)
        return clean(text, MAX_SENTENCE_CHARS).rstrip(".") + "." if text else ""

    return TaskResult(
        task="",
        outcome=entry.outcome,
        note=sentence(entry.note),
        half=entry.half,
        reason=reason,
        change=sentence(entry.change),
        url=clean(url, 300),
        role=element.role,
        name=clean(element.name, 120),
        snippet=snippet,
    )
