"""One tab: opened, settled, outlined, and operated by role and name. Scripts only ask about a chosen element."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from aui_tui.model.observations import READABLE_ENOUGH
from aui_tui.packaged import read_text
from aui_tui.scan.exchanges import redact
from aui_tui.tasks.fence import PATIENCE, Fence, Held, NetworkPhase, pages_asked
from aui_tui.tasks.outline import ACTIONABLE, FIELDS, Node, Outline, parse
from aui_tui.tasks.tree import CAPTIONED, OWN, Frame, by_tree, closed_roots, letters, read_tree, unlike
from aui_tui.tasks.vocabulary import SEARCH_MARKS
from aui_tui.text import clean

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, ElementHandle, Response
    from playwright.async_api import Frame as PageFrame
    from playwright.async_api import Page as Tab

T = TypeVar("T")
QUIET: Final = 0.5
"""Seconds for which structure and names must stay the same."""
CALM: Final = 0.1
"""The same where the page tells how long it has not changed, and that no timer of its loading is due."""
BARE: Final = 1.5
"""Seconds of such a rest before a page with next to nothing to read is believed."""
LOADING: Final = 5.0
"""Seconds for which the same must hold for a document that still loads."""
THIN: Final = 4.0
"""Seconds before a page with next to nothing to read is believed."""
LONGEST: Final = 2
"""How many times its allowance a page has that did not answer yet, or shows next to nothing and still waits."""
STEP: Final = 0.4
"""Seconds for which a page is left to itself before it is looked at."""
LOOK: Final = 0.12
ACT: Final = 3.0
"""Seconds for one click, key or value."""
SCROLLED: Final = 0.6
"""Seconds in which a page goes on that was scrolled to its end."""
GROWN: Final = 2
"""How many times it is scrolled."""
DRAGGED: Final = 12
"""Places of the mouse while it drags something."""
NOTCHES: Final = 4
NOTCH: Final = 100
"""How many times the wheel is turned over something that listens to it, and the pixels of each turn."""
LEFT: Final = 0.2
"""Seconds for what a page sends when it is closed."""
TRIED: Final = 2.5
"""Seconds in which a press must show that it does something."""
AGAIN: Final = 4
"""How many times the outline and the tree of a page that changes are asked for."""
BY_ITSELF: Final = 3.0
"""Seconds in which a page that was only opened shows what it sends by the clock."""
NO_TREE: Final = "the browser did not give its accessibility tree in time"
LOCKED: Final = "it asks for a password"
MOST: Final = 150
"""Links and controls whose reach is tested."""
FRAMES: Final = 20
"""Frames of a page whose trees are read."""


SCRIPTS: Final = ("questions", "drawings", "fields", "pointing")
"""Packaged files of questions to a page."""
SHARED: Final = {
    "HIT": "hit",
    "REACTS": "reaction",
    "HOVERS": "hovers",
    "OPERATED": "operated",
    "SPOKEN": "spoken",
    "LABELLED": "labelled",
    "TICKS": "ticks",
    "DEEP": "deep",
    "EDITABLES": "editables",
    "BOXED": "boxed",
    "BESIDE": "beside",
    "FOCUS": "focus",
    "SERVES": "serves",
    "HOVERED": "hovered",
    "GLIMPSE": "glimpse",
    "REGION": "region",
    "ROOT": "root",
    "ABOVE": "above",
    "DIGITS": "digits",
    "CURRENCY": "currency",
    "INERT": "inert",
    "LEAD": "lead",
    "PICTURED": "pictured",
}
"""Words that stand for a question in another."""


@cache
def questions() -> Mapping[str, str]:
    """Return the packaged functions that ask a page, by name."""
    functions: dict[str, str] = {}
    for script in SCRIPTS:
        parts = re.split(r"^//: ([\w-]+)[^\n]*\n", read_text(f"tasks/{script}.js"), flags=re.MULTILINE)[1:]
        functions |= dict(zip(parts[::2], parts[1::2], strict=True))
    shared = {word: functions[name].strip() for word, name in SHARED.items()}
    shared["MARKED"] = f"(text => new RegExp({json.dumps(SEARCH_MARKS)}, 'i').test(text))"
    words = re.compile(rf"\b(?:{'|'.join(shared)})\b")

    def whole(text: str) -> str:
        return words.sub(lambda match: shared[match[0]], text)

    return {name: whole(whole(whole(text))) for name, text in functions.items()}


class Stuck(Exception):
    """The page no longer answers, or the browser has gone."""


class Untouched(Exception):
    """An element took no click in time."""


class Closed(Exception):
    """The fence held back a document, so the page does not open; ``why`` as in ``fence.Held``."""

    def __init__(self, held: Held) -> None:
        super().__init__(held.url)
        self.url = held.url
        self.why = held.why


PICTURE: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
"""A PNG picture of one pixel, in base64."""


class Pressed(NamedTuple):
    """What came of a press. ``outline``: the page after it, where it changed. ``held``: what ended in the fence."""

    outline: Outline | None
    held: list[Held]

    @property
    def led(self) -> str:
        """The address of the page that the press asked for; empty when it asked for none."""
        return next(iter(pages_asked(self.held)), "")


class Point(NamedTuple):
    """Where the mouse points at something: the centre of what is in sight of it, in CSS pixels.

    ``is_control``: a control with a name gets a press there. ``drag``: how far it can be dragged to the right and down,
    to the left and up below 0. ``wheels``, ``doubles``, ``touches``: it listens to a wheel, a double press, a finger.
    ``half``: half of its width that is in sight. ``drops``: it listens to what is dropped into it.
    """

    x: float
    y: float
    is_control: bool
    drag: tuple[float, float]
    wheels: bool
    doubles: bool
    touches: bool
    half: float
    drops: bool


class Page:
    """The tab of the run. What was pressed or typed in goes with its tab: the next document has a tab of its own."""

    tab: Tab
    """The tab that is open, once ``leave`` has opened one."""

    def __init__(self, fence: Fence) -> None:
        self.fence = fence
        self._settle = fence.allowance.settle
        self.outline = Outline()
        self.response: Response | None = None
        """The answer to the last document that the tab asked for."""
        self.ready = False
        """The document was complete, and its scripts at rest, when it was last looked at."""
        self._kept = 0
        self._begun = False
        """The document that is open has a body, or can get none."""
        self._glimpse: str | None = None
        """What the page showed when it was last outlined; None where it may have changed meanwhile."""
        self._as_dom = self._as_tree = Outline()
        """Its outline then; that of the tree is empty where it was not asked for."""
        self.rest: float | None = None
        """Seconds for which the page has not changed, below 0 while a timer of its loading is due; None: not known."""
        self._session: tuple[Tab, CDPSession] | None = None
        self.touched = False
        """Something was typed or pressed since the page was opened, dismissals left out."""
        self.intact = False
        """All that was done since was tried while nothing could leave, and left the page as it was."""
        self._apart = False
        """The tree and the DOM of the page told of other things when it had settled: views are those of the tree."""
        self._broken = False
        """The last document did not open: the browser may still be on its way to a page of its own that says so."""

    @property
    def stands(self) -> bool:
        """The page is as it was opened: untouched, or left so by what was tried on it."""
        return not self.touched or self.intact

    @property
    def status(self) -> int:
        """The status of the document that is open; 0 without an answer."""
        return self.response.status if self.response is not None else 0

    async def leave(self, *, fresh: bool = False) -> None:
        """Close the tab with everything that was pressed or typed in it while nothing can leave, and open another.

        Cookies and storage go too with ``fresh``, after a press that nothing was to leave, and where the site tried
        to send something: it may have kept it for later. Raises NoBrowser, Unavailable.
        """
        fence = self.fence
        may_keep = any(held.own and held.why in ("method", "socket") for held in fence.held)
        fresh = fresh or may_keep or fence.phase is NetworkPhase.SHUT
        await fence.shut()
        if fresh:
            context = await fence.fresh()
            tab = next(iter(context.pages), None) or await context.new_page()
        else:
            context = self.tab.context
            await self.close(*context.pages)
            tab, _ = await asyncio.gather(context.new_page(), asyncio.sleep(LEFT))
        fence.reopen()
        self._broken = False
        self.tab = tab

        def answered(response: Response) -> None:
            request = response.request
            own = request.is_navigation_request() and request.frame == tab.main_frame
            if own and response.status // 100 != 3:
                self.response = response

        def began(frame: PageFrame) -> None:
            self._begun = self._begun and frame != tab.main_frame

        tab.on("response", answered)
        tab.on("framenavigated", began)
        self._begun = False

    async def close(self, *tabs: Tab) -> None:
        """Close ``tabs``; one that has gone already, or hangs, is left."""
        for tab in tabs:
            await _answer(tab.close(run_before_unload=False))

    async def _cdp(self) -> CDPSession:
        """Return what speaks the browser's own protocol to the tab that is open."""
        if self._session is None or self._session[0] is not self.tab:
            self._session = self.tab, await self.tab.context.new_cdp_session(self.tab)
        return self._session[1]

    async def locate(self, node: Node) -> ElementHandle:
        """Return the element of ``node``: by the outline, or by the tree where that alone has it.

        Raises Untouched at once for one that has gone, or has no reference: no wait brings it back.
        """
        if not node.ref.startswith(OWN):
            handle = await self.tab.query_selector(f"aria-ref={node.ref}") if node.ref else None
            if handle is None:
                raise Untouched
            return handle
        session = await self._cdp()
        resolved = await session.send("DOM.resolveNode", {"backendNodeId": int(node.ref[len(OWN) :])})
        self._kept += 1  # several are asked for at once
        key = f"chosen-{self._kept}"
        call = {"objectId": resolved["object"]["objectId"], "functionDeclaration": questions()["keep"]}
        await session.send("Runtime.callFunctionOn", {**call, "arguments": [{"value": key}]})
        for frame in self.tab.frames:
            handle = (await frame.evaluate_handle(questions()["kept"], key)).as_element()
            if handle is not None:
                return handle
        raise Untouched

    async def ask(self, node: Node, question: str, *arguments: Any) -> Any:
        """Ask the element of ``node`` one of the ``questions``; None when it has gone."""

        async def asked() -> Any:
            return await (await self.locate(node)).evaluate(questions()[question], *arguments)

        return await self._answer(asked)

    async def query(self, question: str, *arguments: Any) -> Any:
        """Ask the page one of the ``questions``; None when it does not answer."""
        return await self._answer(lambda: self.tab.evaluate(questions()[question], *arguments))

    async def files(self, urls: Sequence[str]) -> dict[str, str]:
        """Return the text of those files at ``urls`` that the page has loaded; nothing is asked for."""
        texts: dict[str, str] = {}
        for url in urls:

            async def loaded(url: str = url) -> tuple[str, bool]:
                session = await self._cdp()
                await session.send("Page.enable")
                frame = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
                answer = await session.send("Page.getResourceContent", {"frameId": frame, "url": url})
                return answer["content"], answer["base64Encoded"]

            content, encoded = await _answer(loaded()) or ("", False)
            texts[url] = base64.b64decode(content).decode("utf-8", "replace") if encoded else content
        return texts

    async def inspect(self, question: str, *arguments: str) -> Any:
        """Ask one of the ``questions`` that sees which elements listen to clicks; None without an answer."""
        values = ", ".join([f"({questions()['listeners']})(getEventListeners)", *map(json.dumps, arguments)])
        call = {"expression": f"({questions()[question]})({values})", "includeCommandLineAPI": True}

        async def asked() -> Any:
            session = await self._cdp()
            if len(self.tab.frames) > 1:
                await self._hear_frames(session)
            answer = await session.send("Runtime.evaluate", {**call, "returnByValue": True})
            return answer["result"].get("value")

        return await self._answer(asked)

    async def _hear_frames(self, session: CDPSession) -> None:
        """Let the page know which elements of its frames listen: the browser tells that in each frame alone."""
        contexts: list[int] = []

        def made(event: dict[str, Any]) -> None:
            context = event["context"]
            if context.get("auxData", {}).get("isDefault"):
                contexts.append(int(context["id"]))

        session.on("Runtime.executionContextCreated", made)
        await session.send("Runtime.enable")
        await session.send("Runtime.disable")
        session.remove_listener("Runtime.executionContextCreated", made)
        call = {"expression": f"({questions()['hear']})(getEventListeners)", "includeCommandLineAPI": True}
        for context in contexts[: FRAMES + 1]:
            with suppress(Exception):  # a frame may go at any time
                await session.send("Runtime.evaluate", {**call, "contextId": context})

    async def _answer(self, asked: Callable[[], Awaitable[Any]]) -> Any:
        """Return what the page answers; None where it does not in time, and at once where it has crashed."""
        return await _answer(asked()) if self.tab not in self.fence.crashed else None

    async def look(self, *, whole: bool = True, at_once: bool = False) -> Outline:
        """Return the outline of the page as it is now, as the tree has it. Raises Stuck when the page does not answer.

        Without ``whole`` as the DOM has it, which takes less time, and ``at_once`` without asking for its rest.
        """
        self._glimpse = None
        wait = min(self._settle, ACT)
        for attempt in range(3):
            try:
                async with asyncio.timeout(wait + 1):
                    if not self._begun:  # Playwright tries again after a second where there is no body yet
                        self._begun = bool(await self.query("begun"))
                    state, shown = await asyncio.gather(
                        self.query("state", at_once), self.tab.aria_snapshot(mode="ai", timeout=1000 * wait)
                    )
            except Exception:  # Playwright has no one error for a page that cannot be outlined
                # a frame that can never load, such as one of file:, holds the whole outline up
                if attempt == 2 or not await self.query("shut-frames", attempt > 0):
                    raise Stuck("it does not answer") from None
                continue
            self.ready = bool(state and state["ready"])
            self.rest = state["rest"] / 1000 if state and state["rest"] is not None else None
            title = str(state["title"]) if state else ""
            self.outline = self._as_dom = parse(*redact((shown, self.tab.url, title), self.fence.secrets))
            self._as_tree = Outline()
            break
        if whole:
            self.outline = await self._as_the_tree_has(self.outline)
        return self.outline

    async def view(self, wait: float = LOOK) -> Outline:
        """Return the outline of the page as the DOM has it, once what an input brings about has come.

        It waits for that as long as the page moves, at most ``wait`` seconds. What shows the same as when it was last
        viewed has the same outline, which is not asked for again: a question costs less. Raises Stuck.
        """
        glimpse = await self.query("after", 1000 * wait)
        if glimpse is None or glimpse != self._glimpse:
            await self.look(whole=False, at_once=True)
            await self._keep(glimpse)
        if self._apart or any(node.role == CAPTIONED and node.name for node in self._as_dom.nodes):
            return await self.again()
        self.outline = self._as_dom
        return self.outline

    async def again(self) -> Outline:
        """Return the outline of the page as it is now, as the tree has it: the one that it had when it showed the same.

        Raises Stuck.
        """
        glimpse = await self.query("glimpse")
        if glimpse is None or glimpse != self._glimpse or not self._as_tree.nodes or self._as_tree.tree_only:
            self._as_tree = await self.look()
            await self._keep(glimpse)
        self.outline = self._as_tree
        return self.outline

    async def _keep(self, glimpse: str | None) -> None:
        """Keep the outline of the page that showed ``glimpse`` before it was outlined, and still does."""
        self._glimpse = glimpse if glimpse is not None and glimpse == await self.query("glimpse") else None

    async def is_as(self, glimpse: str | None, *, back: bool = False) -> bool:
        """Say whether the page shows what it did when it had that ``glimpse``, once the mouse is away from it.

        With ``back`` also where it is scrolled back to its beginning. Without a glimpse nothing is known.
        """
        if back:
            await self.query("back")
        if glimpse is None:
            return False
        if await self.query("glimpse") == glimpse:
            return True
        await _answer(self.tab.mouse.move(0, 0))
        return bool(await self.query("after", 1000 * LOOK) == glimpse)

    async def _as_the_tree_has(self, outline: Outline) -> Outline:
        """Return ``outline`` with what exists, and the names, of the tree. Raises Stuck.

        Where they differ, the page may have changed between the two questions: both are asked again, until it did not.
        """
        for _ in range(AGAIN):
            merged = by_tree(outline, await self.tree())
            if not any(unlike(merged)) and not any(node.text for node in merged.tree_only):
                break
            fresh = await self.look(whole=False)
            if fresh.nodes == outline.nodes:
                break
            outline = fresh
        return merged

    async def tree(self) -> tuple[Node, ...]:
        """Return the nodes of the browser's accessibility tree, those of frames too.

        Raises Stuck when it does not come within the allowance of a page, or the tab has gone: the DOM cannot stand
        for it.
        """
        end = time.monotonic() + self._settle
        while True:
            try:
                async with asyncio.timeout(max(LOOK, end - time.monotonic())):
                    nodes = read_tree(await self._trees())
                break
            except Exception:  # Playwright has no one error for a page that is being left
                if time.monotonic() >= end or self.tab.is_closed() or self.tab in self.fence.crashed or self.fence.gone:
                    raise Stuck(NO_TREE) from None
            await asyncio.sleep(LOOK)
        texts = redact(tuple((node.name, node.text, node.url) for node in nodes), self.fence.secrets)
        return tuple(
            replace(node, name=name, text=text, url=url) for node, (name, text, url) in zip(nodes, texts, strict=True)
        )

    async def _trees(self) -> list[Frame]:
        """Return the tree of the page and of each frame in it that is still there."""
        session = await self._cdp()
        top = (await session.send("Page.getFrameTree"))["frameTree"]
        frames: list[Frame] = [(0, (await session.send("Accessibility.getFullAXTree"))["nodes"])]
        waiting = list(top.get("childFrames", ()))
        while waiting and len(frames) <= FRAMES:
            frame = waiting.pop(0)
            number = {"frameId": frame["frame"]["id"]}
            with suppress(Exception):  # a frame may go at any time
                owner = (await session.send("DOM.getFrameOwner", number))["backendNodeId"]
                frames.append((owner, (await session.send("Accessibility.getFullAXTree", number))["nodes"]))
                waiting += frame.get("childFrames", ())
        return frames

    async def know_closed_roots(self) -> None:
        """Let what is asked of the page look into its closed shadow roots, as the accessibility tree does."""
        session = await self._cdp()
        call = {"functionDeclaration": questions()["know-root"]}

        async def known() -> None:
            whole = await session.send("DOM.getDocument", {"depth": -1, "pierce": True})
            for number in closed_roots(whole["root"]):
                resolved = await session.send("DOM.resolveNode", {"backendNodeId": number})
                await session.send("Runtime.callFunctionOn", {**call, "objectId": resolved["object"]["objectId"]})

        await _answer(known())

    async def settle(self) -> Outline:
        """Wait until the document is complete and at rest: for CALM seconds where it tells, else for QUIET.

        While it loads, LOADING. A page with next to nothing to read is believed only after BARE seconds of rest, or
        THIN, and not while it waits for an answer, up to LONGEST times the allowance. One that keeps changing is taken
        as it is when the allowance ends. Raises Stuck when it cannot be read at all.
        """
        begin = time.monotonic()
        last: Outline | None = None
        since = begin
        while True:
            await self.query("calm", [1000 * CALM, 1000 * STEP])
            outline = await self._glance(last)
            now = time.monotonic()
            if last is None or outline.mark() != last.mark() or outline.url != last.url:
                last, since = outline, now
            thin = len(outline.text()) < READABLE_ENOUGH and not outline.headings()
            comes = thin and (not self.ready or self.waits())
            loaded = self.ready and not self.fence.pending(self.tab)
            rest = self.rest if self.rest is not None and loaded else 0.0
            believed = not thin or (not comes and (rest >= BARE or now - begin >= THIN))
            if believed and (rest >= CALM or now - since >= (QUIET if loaded and rest >= 0 else LOADING)):
                break
            if now - begin >= self._settle * (LONGEST if comes else 1):
                if not outline.nodes:
                    raise Stuck("the page does not answer")
                break
            await asyncio.sleep(LOOK)
        self.outline = outline = await self._as_the_tree_has(outline)
        alone = any(node.text for node in outline.tree_only)
        self._apart = alone or any(unlike(outline))
        jsonld, may_close = await asyncio.gather(self.query("jsonld"), self.query("may-close"))
        if alone or may_close:
            self._apart = True
            await self.know_closed_roots()
        return replace(outline, jsonld=str(jsonld or ""))

    def waits(self) -> bool:
        """Say whether the page still waits for content that it asked for."""
        return self.fence.pending(self.tab, within=LONGEST * self._settle + LOADING, talk=PATIENCE)

    async def _glance(self, last: Outline | None) -> Outline:
        try:
            return await self.look(whole=False)
        except Stuck:
            self.ready = False
            return last or Outline()

    async def open(self, url: str) -> Outline:
        """Go to ``url``, in a tab of its own when something was pressed, and return its settled outline.

        Raises Closed, Stuck.
        """
        if self.fence.phase is not NetworkPhase.READING or self.tab in self.fence.crashed or self._broken:
            await self.leave()
        self.touched = self.intact = self._apart = False
        begun = len(self.fence.held)
        await self.fence.attach(self.tab)
        self.fence.opening = url
        try:
            answer = LONGEST * self._settle
            async with asyncio.timeout(answer + ACT):
                self.response = await self.tab.goto(url, wait_until="commit", timeout=1000 * answer) or self.response
        except Exception as error:  # Playwright has no one error for a page that does not load
            self._broken = True
            self._closed(begun)
            raise Stuck(_reason(error)) from None
        self._closed(begun)
        return await self.settle()

    def _closed(self, begun: int) -> None:
        """Raise Closed when a document was refused since ``begun``."""
        own = [held for held in self.fence.held[begun:] if held.page is self.tab]
        if own:
            self._broken = True
            raise Closed(own[-1])

    async def hit(self, node: Node) -> bool | None:
        """Say whether a click reaches ``node``; None when it is out of sight."""
        reached = await self.ask(node, "hit")
        return reached if isinstance(reached, bool) else None

    async def click(self, node: Node, *, within: float = ACT) -> bool:
        """Scroll there and click. False when it takes no click in time, or something else would get it."""
        await self.touch()
        return await self.takes(node, lambda element: element.click(timeout=1000 * within, no_wait_after=True))

    async def attempt(self) -> None:
        """Let nothing leave from now on: what follows is only tried."""
        self.touched, self.intact = True, False
        await self.fence.shut()
        self.fence.prepare()

    async def touch(self) -> None:
        """Let the fence know that the page is touched."""
        self.touched, self.intact = True, False
        await self.fence.press(workers=bool(self.tab.workers))

    async def type(self, node: Node, text: str, *, keys: bool = False) -> bool:
        """Replace the value of a field: all but the last character at once; with ``keys`` key by key."""
        await self.touch()
        pasted = "" if keys else text[:-1]

        async def typed() -> None:
            await (await self.locate(node)).focus()
            await self.tab.keyboard.press("ControlOrMeta+A")
            if pasted:
                await self.tab.keyboard.insert_text(pasted)
            await self.tab.keyboard.type(text[len(pasted) :])

        return await taken(typed())

    async def write(self, text: str) -> None:
        """Type where the focus is."""
        await self.touch()
        await _answer(self.tab.keyboard.type(text))

    async def focus(self, node: Node) -> bool:
        """Give the focus to ``node``; False where it does not take it."""
        return await self.takes(node, lambda element: element.focus())

    async def shows_on_focus(self, nodes: Sequence[Node]) -> bool:
        """Give the focus to ``nodes`` one after the other; say whether any of them may show something by that."""

        async def focused() -> Any:
            elements = await asyncio.gather(*map(self.locate, nodes), return_exceptions=True)
            found = [element for element in elements if not isinstance(element, BaseException)]
            return await self.tab.evaluate(questions()["focused"], found)

        return await _answer(focused()) is not False

    async def takes(self, node: Node, act: Callable[[Any], Awaitable[object]]) -> bool:
        """Say whether the element of ``node`` takes what ``act`` does to it."""

        async def done() -> None:
            await act(await self.locate(node))

        return await taken(done())

    async def grows(self) -> bool:
        """Say whether the page goes on where it is scrolled to its end, or what the scroll asked the site for was held.

        To scroll is an input: nothing but GET and HEAD leaves from then on.
        """
        await self.touch()
        begun = len(self.fence.held)
        first = height = await self.query("end") or 0.0
        for _ in range(GROWN):
            if height <= 1 or height > first + 0.25:
                break
            await self._at_rest(SCROLLED)
            height = await self.query("end") or 0.0
        return height > first + 0.25 or any(request.own and request.sends for request in self.fence.held[begun:])

    async def _at_rest(self, longest: float) -> None:
        """Wait for what a press or a scroll brings about: until the page tells that nothing is to come, or longest."""
        end = time.monotonic() + longest
        while time.monotonic() < end:
            await asyncio.sleep(LOOK)
            state = await self.query("state")
            rest = state["rest"] if state else None
            if rest is not None and rest >= 1000 * CALM and not self.fence.pending(self.tab):
                break

    async def sends_by_itself(self, url: str) -> bool:
        """Open ``url``, touch nothing, and say whether it sends by itself some of what was held back after a press.

        That is then known as usual. Raises Closed, Stuck.
        """
        fence = self.fence
        unusual = fence.asked - fence.usual
        await self.open(url)
        fence.sent.clear()  # what it sends once, as it loads, a press may ask for too
        for _ in range(round(BY_ITSELF / LOOK)):
            if unusual <= fence.sent:
                break
            await asyncio.sleep(LOOK)
        fence.usual |= unusual & fence.sent
        fence.asked.clear()
        return bool(unusual & fence.sent)

    async def press(self, key: str) -> None:
        """Press a key where the focus is."""
        await self.touch()
        await _answer(self.tab.keyboard.press(key))

    async def drawn(self, clip: Mapping[str, float]) -> bytes | None:
        """Return a part of the window as a PNG image, as a person sees it; None when it cannot be drawn in time.

        ``clip``: ``x``, ``y``, ``width`` and ``height`` in CSS pixels.
        """
        call = {"format": "png", "clip": {**clip, "scale": 1}}

        async def taken() -> bytes:
            return base64.b64decode((await (await self._cdp()).send("Page.captureScreenshot", call))["data"])

        return await _answer(taken())

    async def snippet(self, node: Node) -> str:
        """Return the start tag of ``node`` as HTML, cleaned and cut."""
        return clean(redact(str(await self.ask(node, "snippet") or ""), self.fence.secrets), 240)

    async def tried(self, node: Node, *, shut: bool) -> Pressed:
        """Press ``node``, with ``shut`` while nothing can leave, and see what it does. Raises Untouched, Stuck.

        The tab is of no use afterwards: the next document has a fresh one.
        """
        before = await self.look(whole=False)
        if shut:
            await self.fence.shut()
            self.fence.prepare()
        begun = len(self.fence.held)
        if not await self.click(node):
            raise Untouched
        end = time.monotonic() + TRIED
        changed = None
        while time.monotonic() < end and changed is None and not (shut and self.fence.held[begun:]):
            await asyncio.sleep(LOOK)
            outline = await self._glance(before)
            changed = outline if differs(outline, before) else None
            if self.rest is not None and self.rest >= QUIET and not self.waits():
                break
        held = self.fence.held[begun:]
        if not (shut and any(request.document for request in held)):
            await asyncio.sleep(LOOK)
        if changed is not None and not any(request.document for request in self.fence.held[begun:]):
            changed = await self.settle()
        return Pressed(changed, [request for request in self.fence.held[begun:] if request.sends or request.document])

    async def beside(self, tabs: Collection[Tab]) -> Outline | None:
        """Return what the tab shows that is open beside ``tabs``, and close it; None when there is none."""
        fresh = next((tab for tab in self.tab.context.pages if tab not in tabs), None)
        if fresh is None:
            return None
        await self.fence.attach(fresh)
        own, self.tab = self.tab, fresh
        try:
            await asyncio.sleep(QUIET)  # it must have begun to load
            return await self.settle()
        finally:
            self.tab = own
            await self.close(fresh)

    async def unheard(self, outline: Outline) -> tuple[Outline, str]:
        """Return what a person sees of the page and the accessibility tree leaves out, and what keeps it out."""
        left_out = outline.dom_only[:MOST]
        shared = letters(" ".join(node.text or node.name for node in outline.nodes))
        causes = await asyncio.gather(*(self.ask(node, "unheard") for node in left_out))
        nodes: list[Node] = []
        seen_depth = -1
        for node, cause in zip(left_out, causes, strict=True):
            if cause or (not node.ref and 0 <= seen_depth < node.depth):
                seen_depth = node.depth if cause else seen_depth
                if letters(node.text or node.name) not in shared or node.role in FIELDS:
                    nodes.append(node)
            else:
                seen_depth = -1
        cause = Counter(str(cause) for cause in causes if cause).most_common(1)
        return replace(outline, nodes=tuple(nodes), dom_only=(), jsonld=""), cause[0][0] if cause else ""

    async def point(self, at: int) -> Point | None:
        """Bring what may be pointed at, of that number, into sight; None where it has gone."""
        await self.touch()
        point = await self.query("point", at)
        return Point(*point) if point is not None else None

    async def pointed(self, point: Point, *, press: bool) -> Outline:
        """Move the mouse over what may be pointed at, or press it; return the page then.

        No control with a name is pressed. Where a press shows nothing on what listens to a finger, one taps it.
        """
        if press and point.is_control:
            return await self.view()
        mouse, before, begun = self.tab.mouse, self._glimpse, len(self.fence.held)
        if not press:
            await _answer(mouse.move(point.x, point.y))
            return await self.view()
        if point.touches and before is None:
            before = await self.query("glimpse")
        await _answer(mouse.click(point.x, point.y, click_count=2 if point.doubles else 1))
        shown = await self.view()
        if point.touches and before is not None and self._glimpse == before and len(self.fence.held) == begun:
            await _answer(self._tap(point))
            shown = await self.view()
        return shown

    async def _tap(self, point: Point) -> None:
        session, touch = await self._cdp(), "Input.dispatchTouchEvent"
        await session.send(touch, {"type": "touchStart", "touchPoints": [{"x": point.x, "y": point.y}]})
        await session.send(touch, {"type": "touchEnd", "touchPoints": []})

    async def hovered(self, at: int) -> Outline | None:
        """Move the mouse over what may be pointed at, of that number; return the page then, None where it has gone."""
        point = await self.point(at)
        return await self.pointed(point, press=False) if point is not None else None

    async def clicked(self, at: int) -> Outline | None:
        """Press what may be pointed at, of that number, but no control with a name; as ``hovered``."""
        point = await self.point(at)
        return await self.pointed(point, press=True) if point is not None else None

    async def dragged(self, at: int) -> Outline | None:
        """Drag what may be pointed at, of that number, to where it can go; return the page then.

        That is what takes what is dropped, the next of things alike, or an end of what holds it: the left one for what
        is wider. None where it does not show a hand that grabs, nor listens, or has gone.
        """
        point = await self.point(at)
        if point is None or point.is_control or not any(point.drag):
            return None
        right, down = point.drag
        begin = point.x if down or right > 0 else point.x + min(-right / 2, point.half - 4)
        mouse = self.tab.mouse
        await _answer(mouse.move(begin, point.y))
        await _answer(mouse.down())
        await _answer(mouse.move(begin + right, point.y + down, steps=DRAGGED))
        await _answer(mouse.up())
        return await self.view()

    async def dropped(self, point: Point) -> Outline:
        """Drop a picture from the disk at a point, as from the desktop; return the page then."""
        with NamedTemporaryFile(prefix="picture-", suffix=".png") as file:
            file.write(base64.b64decode(PICTURE))
            file.flush()
            data = {"items": [], "files": [file.name], "dragOperationsMask": 1}
            for kind in ("dragEnter", "dragOver", "drop"):
                event = {"type": kind, "x": point.x, "y": point.y, "data": data}
                await _answer((await self._cdp()).send("Input.dispatchDragEvent", event))
            return await self.view()

    async def wheeled(self, at: int) -> Outline | None:
        """Turn the wheel over what may be pointed at, of that number; return the page then.

        None where it does not listen to a wheel, which then scrolls as keys do, or has gone.
        """
        point = await self.point(at)
        if point is None or not point.wheels:
            return None
        await _answer(self.tab.mouse.move(point.x, point.y))
        for _ in range(NOTCHES):
            await _answer(self.tab.mouse.wheel(0, NOTCH))
        return await self.view()

    async def _hits(self, nodes: Sequence[Node]) -> list[Any]:
        """Return of each of ``nodes`` what ``hit`` says, all asked at once."""

        async def hit() -> Any:
            elements = await asyncio.gather(*map(self.locate, nodes), return_exceptions=True)
            found = [None if isinstance(element, BaseException) else element for element in elements]
            return await self.tab.evaluate(questions()["hits"], found)

        return await _answer(hit()) or await asyncio.gather(*map(self.hit, nodes))

    async def reach(self, outline: Outline) -> tuple[list[Node], list[Node]]:
        """Return the links and controls in sight that get a click at their centre, and those that do not."""
        nodes = [node for node in outline.nodes if node.role in ACTIONABLE and node.ref and not node.framed][:MOST]
        hits = await self._hits(nodes)
        if nodes and not any(isinstance(hit, bool) for hit in hits):  # the page was busy, or drew itself again
            await asyncio.sleep(QUIET)
            hits = await self._hits(nodes)
        pairs = list(zip(nodes, hits, strict=True))
        return [node for node, hit in pairs if hit is True], [node for node, hit in pairs if hit is False]


async def _answer(work: Awaitable[T]) -> T | None:
    """Return what ``work`` brings in time; None when the element or page has gone."""
    try:
        async with asyncio.timeout(ACT):
            return await work
    except Exception:  # Playwright has no one error for it
        return None


async def taken(work: Awaitable[object]) -> bool:
    """Say whether an element took what ``work`` does to it: not where it is hidden, covered or gone, or hangs."""
    try:
        async with asyncio.timeout(2 * ACT):
            await work
    except Exception:  # Playwright has no one error for these
        return False
    return True


def differs(outline: Outline, before: Outline) -> bool:
    """Say whether a page has another address or other contents than before."""
    return outline.url.rstrip("#") != before.url.rstrip("#") or outline.mark() != before.mark()


FAULTS: Final = {
    "ERR_NAME_NOT_RESOLVED": "the name has no address",
    "ERR_CONNECTION_REFUSED": "the connection was refused",
    "ERR_TUNNEL_CONNECTION_FAILED": "no connection, or one to an address that is not opened here",
    "ERR_EMPTY_RESPONSE": "the server sent nothing",
    "ERR_INVALID_AUTH_CREDENTIALS": LOCKED,
    "ERR_TOO_MANY_REDIRECTS": "it redirects in a circle",
    "ERR_CERT": "its certificate is not trusted",
    "Timeout": "no answer in time",
    "Download": "it is a download",
}
"""What Chromium and Playwright call the common reasons why a page does not open."""


def _reason(error: Exception) -> str:
    """Return why a page could not be opened."""
    return next((words for sign, words in FAULTS.items() if sign in str(error)), "no answer")
