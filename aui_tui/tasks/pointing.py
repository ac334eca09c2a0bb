"""What only a mouse can do: press a text that is no control, or point at what then shows something else.

It is tried while nothing can leave, and only where an agent that goes by role and name found nothing.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from typing import Final
from urllib.parse import urldefrag

from aui_tui.tasks.outline import ACTIONABLE, TEXT, Node, Outline
from aui_tui.tasks.page import LOOK, Page, Stuck, Untouched
from aui_tui.tasks.visit import Visit
from aui_tui.tasks.vocabulary import NEVER, acts

SHORT: Final = 40
"""Characters of a text that may name a control."""
MAX_LATER_WORDS: Final = 3
"""Words of such a text where what it is about does not come first."""
MAX_PRESSES: Final = 10
"""Controls that are pressed to see what they show."""
MAX_OPENERS: Final = 4
"""What is pressed by a mouse to see what comes up, and what of that is."""
MAX_FOCUSED: Final = 20
"""Controls that are focused to see it."""
ALONE: Final = 0.7
"""Seconds in which a page that changes by itself shows that it does."""


_CONTROL: Final = re.compile(r"<(?:a\b[^>]*\bhref|button|input|select|textarea|[^>]*\brole=\"?(?:button|link)\b)")


def lack(tag: str) -> str:
    """Return what an element lacks that a mouse alone is pointed at, by its start ``tag``: the name or the role."""
    return "has no name" if _CONTROL.match(tag) else "is not a control"


async def by_mouse_alone(visit: Visit, outline: Outline, *patterns: re.Pattern[str], press: bool = True) -> Node | None:
    """Return the short text of a page, which is open, that says one of ``patterns``, takes a click and is no control.

    It listens, shows a hand, or with ``press`` changes the page when it is pressed: the first such text is tried.
    """
    texts = list(_texts(outline, *patterns))
    for node in texts:
        if await visit.page.inspect("reacts", (node.text or node.name).strip()):
            return node
    pressable = (node for node in texts if node.ref and (node.role != TEXT or node in outline.tree_only))
    tried = next(pressable, None) if press else None
    return tried if tried is not None and await does_something(visit, tried) else None


def _texts(outline: Outline, *patterns: re.Pattern[str]) -> Iterator[Node]:
    for pattern in patterns:
        for node in outline.nodes:
            said = (node.text or node.name).strip()
            if node.role in ACTIONABLE or ACTIONABLE & set(node.path) or not said or len(said) > SHORT:
                continue
            if pattern.match(said) or (len(said.split()) <= MAX_LATER_WORDS and pattern.search(said)):
                yield node


async def does_something(visit: Visit, node: Node) -> bool:
    """Press what is no control, and say whether the page changes, which it does not by itself."""
    page = visit.page
    if await page.ask(node, "operable") is not False:
        return False
    before = await page.look(whole=False)
    await asyncio.sleep(ALONE)
    if _says(await page.look(whole=False)) != _says(before):
        return False
    try:
        pressed = await page.tried(node, shut=True)
    except (Untouched, Stuck):
        return False
    visit.step("pressed", node, note="which is no control", outline=page.outline)
    return pressed.outline is not None or bool(pressed.held) or _says(page.outline) != _says(before)


def _says(outline: Outline) -> tuple[object, ...]:
    return outline.url, outline.mark(), outline.text()


async def by_pointing(
    visit: Visit, kind: str, shows: Callable[[Outline], bool], about: str = "(?!)", *, leads: bool = False
) -> str:
    """Point at what is no control with a name, then press it, until the page ``shows`` what was hidden.

    Returns its tag and text; empty where nothing of the page does. ``kind``: of what is hidden, as in ``pointing.js``;
    ``about``: a pattern of what it may say. ``leads``: a press that asks for another page will do. On a page that was
    not touched it must do so once more, alone, and not before. Nothing is tried where the run has little left.
    """
    if not visit.spare:
        return ""
    page = visit.page
    untouched, url = not page.touched, page.tab.url
    tags = await pointable(page, kind, about)
    if not tags or shows(await page.look(whole=False)):
        return ""
    await page.fence.shut()
    for at, tag in enumerate(tags):
        outline = await _shown_by(visit, at, shows, leads=leads)
        if outline is None:
            continue
        if untouched and not leads:
            await visit.here(url)
            again = await pointable(page, kind, about)
            if tag not in again or not await _does_it_alone(visit, again.index(tag), shows):
                return ""
            outline = page.outline
        visit.step("pointed", note=tag, outline=outline)
        return tag
    return ""


async def by_two_presses(visit: Visit, kind: str, shows: Callable[[Outline], bool]) -> str:
    """Press what is no control with a name, then what comes up, as the entries of a list, until the page ``shows``.

    Returns the tags of both; as ``by_pointing`` does.
    """
    page, url = visit.page, visit.page.tab.url
    if not visit.spare or shows(await visit.here(url)):
        return ""
    begun = await pointable(page, kind, "(?!)")
    await page.fence.shut()
    for opener in begun[:MAX_OPENERS]:
        tags = await pointable(page, kind, "(?!)")
        if opener not in tags or await page.pointed(tags.index(opener), press=True) is None:
            continue
        tags = await pointable(page, kind, "(?!)")
        for at, entry in [(at, tag) for at, tag in enumerate(tags) if tag not in begun][:MAX_OPENERS]:
            outline = await page.pointed(at, press=True)
            if outline is not None and shows(outline):
                visit.step("pointed", note=f"{opener} {entry}", outline=outline)
                return f"{opener}, then {entry}"
    return ""


async def pointable(page: Page, kind: str, about: str) -> list[str]:
    """Return tags and texts of what a mouse may be pointed at, best first; ``Page.pointed`` takes their numbers."""
    return list(map(str, await page.inspect("pointable", kind, about) or ()))


async def _shown_by(visit: Visit, at: int, shows: Callable[[Outline], bool], *, leads: bool = False) -> Outline | None:
    """Point at one of what may be pointed at, then press it; return the page where it ``shows`` then."""
    page, begun = visit.page, len(visit.page.fence.held)
    for press in (False, True):
        outline = await page.pointed(at, press=press)
        if outline is None:
            return None
        led = (held.url for held in page.fence.held[begun:] if held.document and held.own)
        if shows(outline) or (leads and press and any(not visit.at_home(url) and not acts(url) for url in led)):
            return outline
    for move in (page.dragged, page.wheeled):
        outline = await move(at)
        if outline is not None and shows(outline):
            return outline
    return None


async def _does_it_alone(visit: Visit, at: int, shows: Callable[[Outline], bool]) -> bool:
    """Say whether the page ``shows`` something for that one alone: not by itself, nor as it is scrolled to."""
    page = visit.page
    await page.fence.shut()
    await page.query("point", at)
    await asyncio.sleep(ALONE)
    return not shows(await page.look(whole=False)) and await _shown_by(visit, at, shows) is not None


def presses(outline: Outline, but: re.Pattern[str] = NEVER) -> list[Node]:
    """Return the controls of a page that may show something on it; ``but``: names of controls that are not meant."""
    named = [node for node in outline.pressable() if node.name and node.ref and not node.disabled]
    here = urldefrag(outline.url)[0]
    staying = [node for node in named if node.role != "link" or urldefrag(node.url)[0] in (here, "", "javascript:")]
    return [node for node in staying if not NEVER.search(node.name) and not but.search(node.name)]


async def by_control(
    visit: Visit, outline: Outline, shows: Callable[[Outline], bool], but: re.Pattern[str] = NEVER
) -> tuple[Node, Outline] | None:
    """Press the controls of a page, which is open, while nothing can leave, until it ``shows`` what was hidden.

    Returns the control and the page then, what the tree leaves out too. ``but``: names of controls that are not meant.
    Nothing is tried where the run has little left.
    """
    if not visit.spare:
        return None
    page = visit.page
    named = [node for node in outline.pressable() if node.name and node.ref and not node.disabled]
    await page.fence.shut()
    # the focus alone may show it
    tries = [
        *((page.focus, node) for node in named[:MAX_FOCUSED]),
        *((page.click, node) for node in presses(outline, but)[:MAX_PRESSES]),
    ]
    seen = await page.query("glimpse")
    for act, node in tries:
        if not await act(node):
            continue
        if act == page.click:
            await asyncio.sleep(LOOK)
        before, seen = seen, await page.query("glimpse")
        if seen is not None and seen == before and not outline.tree_only:
            continue  # a question costs less than an outline
        if not shows(await page.look(whole=False)):
            continue
        shown = await page.settle()
        visit.step("pressed", node, outline=shown)
        return node, shown
    return None
