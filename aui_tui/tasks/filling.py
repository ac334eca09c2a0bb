"""The task "form": every visible control of the largest form takes a suitable value by role and keeps it.

Nothing is sent: from the first input until the page is gone the browser is offline.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple

from aui_tui.tasks.contact import contact_links
from aui_tui.tasks.outline import ENTRIES, FIELDS, Node, Outline
from aui_tui.tasks.page import ACT, Closed, Page, Stuck, taken
from aui_tui.tasks.visit import Ending, Visit
from aui_tui.tasks.vocabulary import ADD, MAIL, NEXT, SEARCH, TRAP, words
from aui_tui.text import count

LOOSE: Final = 2
"""Text fields outside every form that make one together."""
KEPT: Final = 0.15
"""Seconds after which a value must still be there."""
PAGES: Final = 4
CONTACTS: Final = 2
MOST: Final = 40
"""Controls of one form that are tried."""


PICKED: Final = frozenset({"option", "gridcell", "button", "menuitem"})
"""Roles of what a calendar or list offers."""
FIXED: Final = {
    "time": "12:30",
    "month": "2030-01",
    "week": "2030-W03",
    "datetime-local": "2030-01-15T12:30",
    "color": "#336699",
}
"""Values of native controls that are set, not typed."""
TYPED: Final = {"email": "ada@example.com", "tel": "+44 20 7946 0000", "url": "https://example.com/"}


class Control(NamedTuple):
    """A control of a form and what its element says of itself."""

    node: Node
    about: dict[str, Any]


class Form(NamedTuple):
    """A form: its page, its number among the page's forms, and its visible controls."""

    url: str
    key: int
    controls: list[Control]


async def form(visit: Visit) -> Ending:
    """Find the largest form on the pages seen, else on the pages about contact, and fill it."""
    entries = [url for url, outline in visit.seen.items() if _has_entry(outline)]
    await visit.page.leave(fresh=True)
    best = await _largest(visit, entries[:PAGES])
    if best is None:
        unseen = [node.url for node in contact_links(visit, visit.home) if visit.place(node.url) not in visit.seen]
        try:
            entries = [url for url in unseen[:CONTACTS] if _has_entry(await visit.served(url))]
        except Closed:
            entries = []
        best = await _largest(visit, entries)
    if best is None:
        return Ending("form-absent", url=visit.home.url)
    outline = await visit.here(best.url)
    again = next((one for one in await _forms(visit.page, outline) if one.key == best.key), best)
    return await _judge(visit, outline, again)


async def _largest(visit: Visit, urls: Sequence[str]) -> Form | None:
    """Return the form with the most controls on the pages at ``urls``."""
    best: Form | None = None
    for url in urls:
        try:
            outline = await visit.here(url)
        except (Closed, Stuck):
            continue
        for found in await _forms(visit.page, outline):
            if best is None or len(found.controls) > len(best.controls):
                best = found
    return best


def _has_entry(outline: Outline) -> bool:
    """Say whether a page has a field to type in that is not a search field."""
    return any(
        node.role in ENTRIES and node.role != "searchbox" and "search" not in node.path for node in outline.nodes
    )


async def _judge(visit: Visit, outline: Outline, found: Form) -> Ending:
    total = len(found.controls)
    visit.tape.step("found", note=f"a form with {count(total, 'control')}", outline=outline)
    unnamed = [control.node for control in found.controls if not control.node.name]
    if unnamed:
        snippet = await visit.page.snippet(unnamed[0])
        facts = {"count": str(len(unnamed)), "total": str(total), "snippet": snippet}
        visit.tape.step("looked", unnamed[0], note="a control without a name", mark="stuck", outline=outline)
        reason = "form-unnamed" if len(unnamed) < total else "form-nameless"
        return Ending(reason, facts, node=unnamed[0], url=found.url, snippet=snippet)
    whole = found.key >= 0 and not found.controls[0].node.framed
    custom = str(await visit.page.inspect("custom", str(found.key)) or "") if whole else ""
    written = visit.page.fence.writes
    async with _shut(visit):
        ending = await _fill_all(visit, found)
    if ending is None and custom:
        facts = {"snippet": custom}
        return Ending("form-custom", facts, url=found.url, snippet=custom)
    left = visit.page.fence.writes - written
    facts = {"count": count(total, "control"), "sent": f"{count(left, 'request')} sent" if left else "nothing sent"}
    if any(NEXT.search(control.about["buttons"]) for control in found.controls):
        facts["sent"] += "; the form has more steps, and only the first was tried"
    return ending or Ending("form-done", facts, url=found.url)


@asynccontextmanager
async def _shut(visit: Visit) -> AsyncIterator[None]:
    """Let nothing leave the browser, from now until the page with what was typed is gone, with all that it kept."""
    await visit.page.fence.shut()
    try:
        yield
        if visit.snap is not None:
            await visit.snap()
    finally:
        await visit.page.leave(fresh=True)
        visit.tape.step("left", note="the form, without sending it")


async def _forms(page: Page, outline: Outline) -> list[Form]:
    """Return the forms other than search, log-in, language picker and cart, with their visible controls.

    Fields outside every form are one form when at least two of them take text.
    """
    groups: dict[tuple[str, int], list[Control]] = {}
    fields = [node for node in outline.nodes if node.role in FIELDS | {"slider"} and node.ref and not node.disabled]
    abouts = await asyncio.gather(*(page.ask(node, "control") for node in fields))
    for node, about in zip(fields, abouts, strict=True):
        if about and about["visible"] and not TRAP.search(node.name):
            groups.setdefault((node.ref.rpartition("e")[0], about["key"]), []).append(Control(node, about))
    return [Form(outline.url, key, controls) for (_, key), controls in groups.items() if _counts(controls, key)]


def _counts(controls: list[Control], key: int) -> bool:
    abouts = [control.about for control in controls]
    if any(about["password"] or about["search"] or ADD.search(about["buttons"]) for about in abouts):
        return False
    nodes = [control.node for control in controls]
    entries = [one for one in controls if one.node.role in ENTRIES and one.about["tag"] != "SELECT"]
    if key >= 0 and len(controls) == 1 and entries and _like_a_search(entries[0].about):
        return False
    if any(node.role == "searchbox" or "search" in node.path or SEARCH.search(node.name) for node in nodes):
        return False
    if key < 0:
        return sum(node.role == "textbox" for node in nodes) >= LOOSE
    return bool(entries)


def _like_a_search(about: dict[str, Any]) -> bool:
    """Say whether the one field of a form is the field of a search, in whatever script it is named."""
    return about["method"] == "get" and about["tag"] == "INPUT" and about["type"] in ("text", "search")


async def _fill_all(visit: Visit, found: Form) -> Ending | None:
    """Fill the controls in order; return the ending at the first that does not take its value."""
    for control in found.controls[:MOST]:
        node = control.node
        sent = visit.page.fence.withheld - bool(visit.page.fence.sockets)
        # a busy machine may be late with what was typed: no control is blamed for one try
        kept = await _fill(visit.page, node, control.about)
        if kept is False:
            kept = await _fill(visit.page, node, control.about)
        verb = "chose" if control.about["tag"] == "SELECT" or node.role in ("checkbox", "radio", "switch") else "filled"
        visit.tape.step(verb, node, mark="done" if kept else "stuck")
        if kept:
            continue
        snippet = await visit.page.snippet(node)
        facts = {"role": node.role, "name": node.name}
        if visit.page.fence.withheld > sent:
            return Ending("form-network", facts, node=node, url=found.url, snippet=snippet)
        now = await visit.page.ask(node, "control")
        if now is None:
            raise Stuck("a control of the form does not answer")
        if kept is None or (not control.about["readonly"] and (control.about["checked"] or now["checked"])):
            return Ending("form-unsure", facts, node=node, url=found.url, snippet=snippet)
        reason = "form-readonly" if control.about["readonly"] else "form-lost"
        return Ending(reason, facts, node=node, url=found.url, snippet=snippet)
    return None


async def _fill(page: Page, node: Node, about: dict[str, Any]) -> bool | None:
    """Give one control a suitable value by role and type, and see whether it is kept; None where that is a doubt."""
    try:
        async with asyncio.timeout(4 * ACT):
            if node.role in ("checkbox", "radio", "switch"):
                return await _tick(page, node)
            if about["tag"] == "SELECT":
                return await _select(page, node)
            if about["readonly"]:
                return await _pick(page, node)
            if node.role in ("slider", "listbox") and about["tag"] != "INPUT":
                return await _by_keys(page, node)
            if about["type"] in FIXED or about["type"] in ("date", "range"):
                return await _set(page, node, about)
            return await _type(page, node, about)
    except TimeoutError:
        return False


async def _tick(page: Page, node: Node) -> bool:
    was = await page.ask(node, "checked")
    await page.click(node)
    await asyncio.sleep(KEPT)
    now = await page.ask(node, "checked")
    if now == was and not (node.role == "radio" and was):
        if not await taken(page.locate(node).focus(timeout=1000 * ACT)):
            return False
        await page.press("Space")
        await asyncio.sleep(KEPT)
        now = await page.ask(node, "checked")
    return bool(now) if node.role == "radio" else now is not None and now != was


async def _select(page: Page, node: Node) -> bool:
    """Choose the first option with a value that is not chosen yet."""
    choice = await page.ask(node, "option")
    if choice is None:
        return False
    if not choice:
        return bool(await page.ask(node, "value"))
    if not await taken(page.locate(node).select_option(choice[0], timeout=1000 * ACT)):
        return False
    await asyncio.sleep(KEPT)
    return bool(await page.ask(node, "value") == choice[0])


async def _set(page: Page, node: Node, about: dict[str, Any]) -> bool:
    """Set a native date, time, colour or range."""
    kind = about["type"]
    value = FIXED.get(kind) or (
        about["min"] or about["max"] or "2030-01-15" if kind == "date" else about["max"] or "50"
    )
    if not await taken(page.locate(node).fill(value, timeout=1000 * ACT)):
        return False
    await asyncio.sleep(KEPT)
    return bool(await page.ask(node, "value") == value)


async def _by_keys(page: Page, node: Node) -> bool:
    """Move a slider or a list box of the page's own by its keys."""
    was = await page.ask(node, "value")
    marked = await page.ask(node, "chosen")
    if not await taken(page.locate(node).focus(timeout=1000 * ACT)):
        return False
    for key in ("ArrowRight", "ArrowDown", "Enter"):
        await page.press(key)
        await asyncio.sleep(KEPT)
        if await page.ask(node, "value") != was or await page.ask(node, "chosen") != marked:
            return True
    return False


async def _pick(page: Page, node: Node) -> bool | None:
    """Open what a read-only field opens, such as a calendar, and choose an entry of it, by a press or by keys.

    None where something opened and no entry was taken: the entries may be of a kind unknown here.
    """
    before = {one.ref for one in (await page.look()).nodes}
    if not await page.click(node):
        return False
    await asyncio.sleep(4 * KEPT)
    fresh = [one for one in (await page.look()).nodes if one.ref and one.ref not in before and not one.disabled]
    named = [one for one in fresh if one.role in PICKED or one.pointer]
    days = [one for one in named if re.fullmatch(r"\D{0,12}\d{1,2}\b.{0,30}", one.name or one.text)]
    for choice in (days or [one for one in named if one.name or one.text])[:1]:
        await page.click(choice)
        await asyncio.sleep(KEPT)
        if await page.ask(node, "value"):
            return True
    # Enter in a field that opened nothing would send the form
    if fresh and await taken(page.locate(node).focus(timeout=1000 * ACT)):
        for key in ("ArrowDown", "ArrowRight", "Enter"):
            await page.press(key)
            await asyncio.sleep(KEPT)
            if await page.ask(node, "value"):
                return True
    return None if fresh else False


async def _type(page: Page, node: Node, about: dict[str, Any]) -> bool:
    value = _text_for(node, about)
    was = str(await page.ask(node, "value") or "")
    for text in dict.fromkeys((value, "12345678", "20300115")):
        if not await page.type(node, text):
            return False
        kept = await _left_with(page, node)
        if kept.strip() and (kept != was or kept == text):  # a mask may have written it in its own way
            return True
        if node.role == "combobox" and await page.type(node, text) and await _option(page, node):
            return True
    return False


async def _left_with(page: Page, node: Node) -> str:
    """Return what a field holds a moment after the focus has left it."""
    await page.press("Tab")
    await asyncio.sleep(KEPT)
    return str(await page.ask(node, "value") or "")


def _text_for(node: Node, about: dict[str, Any]) -> str:
    """Return a suitable text for a field, by its type and name."""
    if about["type"] in TYPED:
        text = TYPED[about["type"]]
    elif about["type"] == "number" or node.role == "spinbutton":
        text = about["min"] or "1"
    else:
        text = TYPED["email"] if MAIL.search(node.name) else "Ada Lovelace"
    return text[: about["maxlength"]] if about["maxlength"] > 0 else text


async def _option(page: Page, node: Node) -> bool:
    """Choose the first entry of the list that a combobox shows."""
    await page.press("ArrowDown")
    await asyncio.sleep(2 * KEPT)
    options = _options(await page.look())
    if not options and await page.click(node):
        await asyncio.sleep(2 * KEPT)
        options = _options(await page.look())
    if not options or not await page.click(options[0]):
        return False
    await asyncio.sleep(KEPT)
    kept = str(await page.ask(node, "value") or "")
    return bool(words(kept) & words(options[0].name)) or (bool(kept) and kept in options[0].name)


def _options(outline: Outline) -> list[Node]:
    return [one for one in outline.of("option") if one.ref and one.name and not one.disabled]
