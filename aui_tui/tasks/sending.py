"""What sends a form: a control with a role, the key Enter, or something that only a mouse can press.

All of it is tried while nothing can leave.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Final
from urllib.parse import quote

from aui_tui.tasks.elements import TYPED
from aui_tui.tasks.outline import ACTIONABLE, AROUND, FIELDS, Node, Outline
from aui_tui.tasks.page import Page
from aui_tui.tasks.pointing import ALONE, MAX_PRESSES, presses
from aui_tui.tasks.visit import Visit
from aui_tui.tasks.vocabulary import MAIL

SENDERS: Final = ACTIONABLE - FIELDS
"""Roles of what may send a form."""
REACTION: Final = 0.5
"""Seconds in which something that was pressed must show that it does something."""
MOST: Final = 6
"""Elements that are pressed to see whether they send a form."""

Press = Callable[[], Awaitable[object]]


async def effect(page: Page, press: Press) -> set[str]:
    """Return what comes of a press: the addresses of the site that it asks for, held back, and the texts that appear.

    The texts of a page that changes by itself tell nothing.
    """
    before = await _texts(page)
    await asyncio.sleep(ALONE)
    still = await _texts(page)
    begun = len(page.fence.held)
    await press()
    await asyncio.sleep(REACTION)
    asked = {held.url for held in page.fence.held[begun:] if held.own and (held.document or held.sends)}
    return asked | (await _texts(page) - still if still == before else set())


async def _texts(page: Page) -> set[str]:
    """Return the address and the texts of a page; what it says again is numbered."""
    outline = await page.look(whole=False)
    counts = Counter(node.text or node.name for node in outline.nodes)
    again = (f"{text} ({number})" for text, most in counts.items() if text for number in range(2, most + 1))
    return {outline.url, *counts, *again}


async def sent_by_mouse(visit: Visit, outline: Outline, key: int, fields: Sequence[Node]) -> tuple[str, str]:
    """Return the reason why a form, which is filled, cannot be sent, and the start tag of what looks like its button.

    ``key``: its number among the forms of the page, -1 for fields outside every form; ``fields``: those that take text.
    ``form-send`` where a mouse alone sends it, ``form-unsent`` where that is a doubt, else empty.
    """
    page = visit.page
    if not fields or any(node.framed for node in fields):
        return "", ""
    senders = [node for node in outline.tree_only if node.role in SENDERS and node.name]
    if any([(await page.ask(node, "control") or {}).get("key") == key for node in senders]):
        return "", ""
    tags = list(map(str, await page.inspect("senders", str(key)) or ()))[:MOST]
    # HTML, implicit submission: Enter sends a form with one field of text, and those with a button
    if not tags or not await page.focus(fields[-1]) or await effect(page, lambda: page.press("Enter")):
        return "", ""
    # what any press brings about, as where presses are counted, sends nothing
    usual = await effect(page, lambda: page.click(fields[-1]))
    for at, tag in enumerate(tags):
        done = await effect(page, pointing(page, at)) - usual
        if done:
            visit.step("pressed", note=tag, mark="stuck")
            # after a step another button of the page does nothing new, though it may lead there too
            stays = not done.isdisjoint(await _texts(page))
            around = AROUND - {"dialog", "alertdialog"}
            beside = any(node.role == "button" and not around & set(node.path) for node in presses(outline))
            return ("form-unsent" if (stays and beside) or await by_name(page, done) else "form-send"), tag
    return "form-unsent", tags[0]


def pointing(page: Page, at: int) -> Press:
    """Return a press of the mouse on what may be pointed at, of that number."""
    return lambda: page.clicked(at)


async def by_name(page: Page, done: Collection[str], word: str = "") -> bool:
    """Say whether a control of the page that has a name does any of what was ``done``, or asks for a ``word``.

    Where that stays on the page, anything else that such a control does may be the same. Those that are named by the
    word are pressed first, then those of the main region.
    """
    outline = await page.look()
    main = outline.main()
    ways = sorted(presses(outline), key=lambda node: (word.casefold() not in node.name.casefold(), node not in main))
    stays = await _texts(page)
    is_here = not stays.isdisjoint(done)
    for node in ways[:MAX_PRESSES]:
        begun = len(page.fence.held)
        if not await page.click(node):
            continue
        await asyncio.sleep(REACTION)
        asked = {held.url for held in page.fence.held[begun:]}
        fresh = asked | (await _texts(page) - stays)
        if (fresh if is_here else fresh & set(done)) or (word and any(quote(word) in url for url in asked)):
            return True
    return False


async def written_by_mouse(visit: Visit, outline: Outline) -> str:
    """Return the start tag of an element of a page, which is open, that is written in and sent by mouse alone.

    It stands outside every form and has no role, what stands around it asks for an e-mail address, it keeps what is
    typed, and what stands behind it is a button or reacts to a press. Empty without one.
    """
    page = visit.page
    tags = list(map(str, await page.inspect("written", MAIL.pattern) or ()))[:MOST]
    if not tags:
        return ""
    await page.fence.shut()
    if await page.clicked(0) is None:
        return ""
    await page.write(TYPED["email"])
    if not await page.query("keeps", TYPED["email"]):
        return ""
    for at in range(1, len(tags)):
        if tags[at].startswith("<button") or await effect(page, pointing(page, at)):
            visit.step("typed", note=tags[0], mark="stuck", outline=outline)
            return tags[0]
    return ""
