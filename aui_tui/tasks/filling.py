"""The task "form": every visible control of the largest form takes a suitable value by role and keeps it.

Nothing is sent: from the first input on the browser is offline, until the run closes it with all that the page kept.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Sequence
from contextlib import suppress
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


TICKED: Final = frozenset({"checkbox", "radio", "switch"})
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
_DAY: Final = re.compile(r"\D{0,12}\d{1,2}\b.{0,30}")
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
    entries = [url for url, outline in visit.seen.items() if _has_entry(outline)][:PAGES]
    await visit.page.leave(fresh=True)
    best = await _largest(visit, entries)
    if best is None:
        unseen = [node.url for node in contact_links(visit, visit.home) if visit.place(node.url) not in visit.seen]
        with suppress(Closed):
            best = await _largest(visit, [url for url in unseen[:CONTACTS] if _has_entry(await visit.served(url))])
    if best is None and entries and not any(_has_entry(visit.seen[url]) for url in entries if url in visit.seen):
        return Ending("failed", {"why": "the fields of its form did not come again"}, url=visit.home.url)
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
    visit.step("found", note=f"a form with {count(total, 'control')}", outline=outline)
    unnamed = [control.node for control in found.controls if not control.node.name]
    if unnamed:
        snippet = await visit.page.snippet(unnamed[0])
        facts = {"count": str(len(unnamed)), "total": str(total)}
        visit.step("looked", unnamed[0], note="a control without a name", mark="stuck", outline=outline)
        reason = "form-unnamed" if len(unnamed) < total else "form-nameless"
        return Ending(reason, facts, node=unnamed[0], url=found.url, snippet=snippet)
    whole = found.key >= 0 and not found.controls[0].node.framed
    custom = str(await visit.page.inspect("custom", str(found.key)) or "") if whole else ""
    written = visit.page.fence.writes
    await visit.page.fence.shut()
    ending = await _fill_all(visit, found)
    visit.step("left", note="the form, without sending it")
    if ending is None and custom:
        return Ending("form-custom", url=found.url, snippet=custom)
    left = visit.page.fence.writes - written
    facts = {"count": count(total, "control"), "sent": f"{count(left, 'request')} sent" if left else "nothing sent"}
    if any(NEXT.search(control.about["buttons"]) for control in found.controls):
        facts["sent"] += "; the form has more steps, and only the first was tried"
    return ending or Ending("form-done", facts, url=found.url)


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
    if key >= 0 and (abouts[0]["method"] == "get" or (len(controls) == 1 and entries and _like_a_search(abouts[0]))):
        return False  # a form that says that it sends by GET asks for something, such as rows of a table
    if any(node.role == "searchbox" or "search" in node.path or SEARCH.search(node.name) for node in nodes):
        return False
    if key < 0:
        return sum(node.role == "textbox" for node in nodes) >= LOOSE
    return bool(entries)


def _like_a_search(about: dict[str, Any]) -> bool:
    """Say whether the one field of a form is the field of a search, in whatever script it is named."""
    return about["method"] in ("", "get") and about["tag"] == "INPUT" and about["type"] in ("text", "search")


async def _fill_all(visit: Visit, found: Form) -> Ending | None:
    """Fill the controls in order; return the ending at the first that does not take its value."""
    for control in found.controls[:MOST]:
        node = control.node
        sent = visit.page.fence.withheld - bool(visit.page.fence.sockets)
        # a busy machine may be late with what was typed: no control is blamed for one try
        kept = await _fill(visit.page, node, control.about)
        if kept is False:
            kept = await _fill(visit.page, node, control.about)
        verb = "chose" if control.about["tag"] == "SELECT" or node.role in TICKED else "filled"
        visit.step(verb, node, mark="done" if kept else "stuck")
        if kept:
            continue
        snippet = await visit.page.snippet(node)
        if visit.page.fence.withheld > sent:
            return Ending("form-network", node=node, url=found.url, snippet=snippet)
        now = await visit.page.ask(node, "control")
        if now is None:
            raise Stuck("a control of the form does not answer")
        if kept is None or (not control.about["readonly"] and (control.about["checked"] or now["checked"])):
            return Ending("form-unsure", node=node, url=found.url, snippet=snippet)
        reason = "form-readonly" if control.about["readonly"] else "form-lost"
        return Ending(reason, node=node, url=found.url, snippet=snippet)
    return None


async def _fill(page: Page, node: Node, about: dict[str, Any]) -> bool | None:
    """Give one control a suitable value by role and type, and see whether it is kept; None where that is a doubt."""
    try:
        async with asyncio.timeout(4 * ACT):
            if node.role in TICKED:
                return await _tick(page, node)
            if about["tag"] == "SELECT":
                return await _select(page, node)
            if about["readonly"]:
                return await _pick(page, node)
            if node.role in ("slider", "listbox") and about["tag"] != "INPUT":
                return await _by_keys(page, node, "ArrowRight", "ArrowDown", "Enter")
            if about["type"] in FIXED or about["type"] in ("date", "range"):
                value = _fixed(about)
                return await _set(page, node, page.locate(node).fill(value, timeout=1000 * ACT), value)
            return await _type(page, node, about)
    except TimeoutError:
        return False


async def _kept(page: Page, node: Node, question: str = "value") -> Any:
    """Return what a control holds a moment after it was operated: its value, or what answers another question."""
    await asyncio.sleep(KEPT)
    return await page.ask(node, question)


async def _tick(page: Page, node: Node) -> bool:
    was = await page.ask(node, "checked")
    await page.click(node)
    now = await _kept(page, node, "checked")
    if now == was and not (node.role == "radio" and was):
        if not await page.focus(node):
            return False
        await page.press("Space")
        now = await _kept(page, node, "checked")
    return bool(now) if node.role == "radio" else now is not None and now != was


async def _select(page: Page, node: Node) -> bool:
    """Choose the first option with a value that is not chosen yet."""
    choice = await page.ask(node, "option")
    if not choice:
        return choice is not None and bool(await page.ask(node, "value"))
    return await _set(page, node, page.locate(node).select_option(choice[0], timeout=1000 * ACT), choice[0])


async def _set(page: Page, node: Node, work: Awaitable[object], value: str) -> bool:
    """Say whether ``work`` gives a control ``value``, and it is kept."""
    return await taken(work) and bool(await _kept(page, node) == value)


async def _by_keys(page: Page, node: Node, *keys: str) -> bool:
    """Press keys in a control until its value or what it has chosen changes."""
    was = [await page.ask(node, "value"), await page.ask(node, "chosen")]
    if await page.focus(node):
        for key in keys:
            await page.press(key)
            if [await _kept(page, node), await _kept(page, node, "chosen")] != was:
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
    if not fresh:  # Enter in a field that opened nothing would send the form
        return False
    named = [one for one in fresh if (one.role in PICKED or one.pointer) and (one.name or one.text)]
    days = [one for one in named if _DAY.fullmatch(one.name or one.text)]
    for choice in (days or named)[:1]:
        await page.click(choice)
        if await _kept(page, node):
            return True
    return await _by_keys(page, node, "ArrowDown", "ArrowRight", "Enter") or None


async def _type(page: Page, node: Node, about: dict[str, Any]) -> bool:
    """Type suitable texts until one is kept, or an entry of the list that a combobox shows is."""
    was = await page.ask(node, "value") or ""
    for text in dict.fromkeys((_text_for(node, about), "12345678", "20300115")):
        if not await page.type(node, text):
            return False
        await page.press("Tab")
        kept = str(await _kept(page, node) or "")
        if kept.strip() and (kept != was or kept == text):  # a mask may have written it in its own way
            return True
        if node.role == "combobox" and await page.type(node, text) and await _option(page, node):
            return True
    return False


def _fixed(about: dict[str, Any]) -> str:
    """Return a value for a native date, time, colour or range."""
    if about["type"] == "date":
        return about["min"] or about["max"] or "2030-01-15"
    return FIXED.get(about["type"]) or about["max"] or "50"


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
    choice = await _first_option(page)
    if choice is None and await page.click(node):
        choice = await _first_option(page)
    if choice is None or not await page.click(choice):
        return False
    kept = str(await _kept(page, node) or "")
    return bool(words(kept) & words(choice.name)) or (bool(kept) and kept in choice.name)


async def _first_option(page: Page) -> Node | None:
    await asyncio.sleep(2 * KEPT)
    return next((one for one in (await page.look()).of("option") if one.ref and one.name and not one.disabled), None)
