"""What only a mouse can do: press a text that is no control, or point at what then shows something else.

It is tried while nothing can leave, and only where an agent that goes by role and name found nothing.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from typing import Final

from aui_tui.tasks.outline import ACTIONABLE, TEXT, Node, Outline
from aui_tui.tasks.page import Stuck, Untouched
from aui_tui.tasks.visit import Visit

SHORT: Final = 40
"""Characters of a text that may name a control."""
MAX_LATER_WORDS: Final = 3
"""Words of such a text where what it is about does not come first."""
ALONE: Final = 0.7
"""Seconds in which a page that changes by itself shows that it does."""


async def by_mouse_alone(visit: Visit, outline: Outline, *patterns: re.Pattern[str], press: bool = True) -> Node | None:
    """Return the short text of a page, which is open, that says one of ``patterns``, takes a click and is no control.

    It listens, shows a hand, or with ``press`` changes the page when it is pressed: the first such text is tried.
    """
    texts = list(_texts(outline, *patterns))
    for node in texts:
        if await visit.page.inspect("reacts", (node.text or node.name).strip()):
            return node
    tried = next((node for node in texts if node.ref and node.role != TEXT), None) if press else None
    return tried if tried is not None and await _does_something(visit, tried) else None


def _texts(outline: Outline, *patterns: re.Pattern[str]) -> Iterator[Node]:
    for pattern in patterns:
        for node in outline.nodes:
            said = (node.text or node.name).strip()
            if node.role in ACTIONABLE or ACTIONABLE & set(node.path) or not said or len(said) > SHORT:
                continue
            if pattern.match(said) or (len(said.split()) <= MAX_LATER_WORDS and pattern.search(said)):
                yield node


async def _does_something(visit: Visit, node: Node) -> bool:
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
    return pressed.outline is not None or bool(pressed.led) or _says(page.outline) != _says(before)


def _says(outline: Outline) -> tuple[object, ...]:
    return outline.url, outline.mark(), outline.text()


async def by_pointing(visit: Visit, kind: str, shows: Callable[[Outline], bool], *, leads: bool = False) -> str:
    """Point at what is no control, then press it, until the page ``shows`` what was hidden; return its tag and text.

    ``kind``: of what is hidden, as in ``questions.js``. ``leads``: a press that asks for another page will do. Empty
    where nothing of the page does.
    """
    page = visit.page
    tags = list(map(str, await page.inspect("pointable", kind) or ()))
    if not tags or shows(await page.look(whole=False)):
        return ""
    await page.fence.shut()
    begun = len(page.fence.held)
    for at, tag in enumerate(tags):
        for press in (False, True):
            outline = await page.pointed(at, press=press)
            if outline is None:
                break
            led = leads and press and any(held.document for held in page.fence.held[begun:])
            if led or shows(outline):
                visit.step("pointed", note=tag, outline=outline)
                return tag
    return ""
