"""One control of a form: given a suitable value by role and type, and seen whether it keeps it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple

from aui_tui.tasks.outline import Node
from aui_tui.tasks.page import ACT, Page
from aui_tui.tasks.vocabulary import MAIL, words

SETTLE_SECONDS: Final = 0.15
"""Seconds that scripts have to change a value back after it was entered."""
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
DATED: Final = frozenset({*FIXED, "date"}) - {"color"}
"""Types of fields for a date or a time."""
_DAY: Final = re.compile(r"\D{0,12}\d{1,2}\b.{0,30}")
TYPED: Final = {"email": "ada@example.com", "tel": "+44 20 7946 0000", "url": "https://example.com/"}


class Control(NamedTuple):
    """A control of a form and what its element says of itself."""

    node: Node
    about: dict[str, Any]

    @property
    def chosen(self) -> bool:
        """It takes a choice, not a text."""
        return self.about["tag"] == "SELECT" or self.node.role in TICKED


async def fill(page: Page, control: Control) -> bool | None:
    """Give one control a suitable value by role and type, and see whether it is kept; None where that is a doubt."""
    node, about = control
    try:
        async with asyncio.timeout(4 * ACT):
            if node.role in TICKED:
                return await _tick(page, node)
            if about["tag"] == "SELECT":
                return await _select(page, node)
            if about["type"] == "file":
                upload = {"name": "note.txt", "mimeType": "text/plain", "buffer": b"Ada Lovelace"}
                is_kept = await page.takes(node, lambda element: element.set_input_files(upload, timeout=1000 * ACT))
                return is_kept and bool(await _answer_after_settling(page, node))
            if about["readonly"]:
                return await _pick(page, node)
            if node.role in ("slider", "listbox") and about["tag"] != "INPUT":
                return await _by_keys(page, node, "ArrowRight", "ArrowDown", "Enter")
            if about["type"] in FIXED or about["type"] in ("date", "range"):
                value = _fixed(about)
                return await _set(page, node, lambda element: element.fill(value, timeout=1000 * ACT), value)
            return await _type(page, node, about)
    except TimeoutError:
        return False


async def _answer_after_settling(page: Page, node: Node, question: str = "value") -> Any:
    """Return the value of a control SETTLE_SECONDS after it was operated, or the answer to another ``question``."""
    await asyncio.sleep(SETTLE_SECONDS)
    return await page.ask(node, question)


async def _tick(page: Page, node: Node) -> bool:
    """Tick a control; a box that was on is left on, since other fields may be open because of it."""
    was = await page.ask(node, "checked")
    now = await _pressed(page, node, was)
    if node.role == "radio":
        return bool(now)
    if was and now is False:
        await _pressed(page, node, now)
    return now is not None and now != was


async def _pressed(page: Page, node: Node, was: bool | None) -> bool | None:
    """Press a control that was on or not, by mouse or else by key; return whether it is on then."""
    await page.click(node)
    now = await _answer_after_settling(page, node, "checked")
    if now == was and not (node.role == "radio" and was):
        if not await page.focus(node):
            return was
        await page.press("Space")
        now = await _answer_after_settling(page, node, "checked")
    return bool(now) if now is not None else None


async def _select(page: Page, node: Node) -> bool:
    """Choose the first option with a value that is not chosen yet."""
    choice = await page.ask(node, "option")
    if not choice:
        return choice is not None and bool(await page.ask(node, "value"))
    return await _set(page, node, lambda element: element.select_option(choice[0], timeout=1000 * ACT), choice[0])


async def _set(page: Page, node: Node, act: Callable[[Any], Awaitable[object]], value: str) -> bool:
    """Say whether ``act`` gives a control ``value``, and it is kept."""
    return await page.takes(node, act) and bool(await _answer_after_settling(page, node) == value)


async def _by_keys(page: Page, node: Node, *keys: str) -> bool:
    """Press keys in a control until its value or what it has chosen changes."""
    was = [await page.ask(node, "value"), await page.ask(node, "chosen")]
    if await page.focus(node):
        for key in keys:
            await page.press(key)
            if [await _answer_after_settling(page, node), await _answer_after_settling(page, node, "chosen")] != was:
                return True
    return False


async def _pick(page: Page, node: Node) -> bool | None:
    """Open what a read-only field opens, such as a calendar, and choose an entry of it, by a press or by keys.

    None where something opened and no entry was taken: the entries may be of a kind unknown here.
    """
    before = {entry.ref for entry in (await page.look()).nodes}
    if not await page.click(node):
        return False
    await asyncio.sleep(4 * SETTLE_SECONDS)
    fresh = [
        entry for entry in (await page.look()).nodes if entry.ref and entry.ref not in before and not entry.disabled
    ]
    if not fresh:  # Enter in a field that opened nothing would send the form
        return False
    named = [entry for entry in fresh if (entry.role in PICKED or entry.pointer) and (entry.name or entry.text)]
    days = [entry for entry in named if _DAY.fullmatch(entry.name or entry.text)]
    for choice in (days or named)[:1]:
        await page.click(choice)
        if await _answer_after_settling(page, node):
            return True
    return await _by_keys(page, node, "ArrowDown", "ArrowRight", "Enter") or None


async def _type(page: Page, node: Node, about: dict[str, Any]) -> bool:
    """Type suitable texts until one is kept, or an entry of the list that a combobox shows is."""
    was = await page.ask(node, "value") or ""
    first = _text_for(node, about)
    for text, keys in dict.fromkeys(((first, False), (first, True), ("12345678", True), ("20300115", True))):
        if not await page.type(node, text, keys=keys):
            return False
        await page.press("Tab")
        value = str(await _answer_after_settling(page, node) or "")
        if value.strip() and (value != was or value == text):  # a mask may have written it in its own way
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
    value = str(await _answer_after_settling(page, node) or "")
    return bool(words(value) & words(choice.name)) or (bool(value) and value in choice.name)


async def _first_option(page: Page) -> Node | None:
    await asyncio.sleep(2 * SETTLE_SECONDS)
    return next(
        (option for option in (await page.look()).of("option") if option.ref and option.name and not option.disabled),
        None,
    )
