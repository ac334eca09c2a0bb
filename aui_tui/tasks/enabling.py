"""What enables a control that is disabled: choices made by role and name, or something that only a mouse does.

Where neither does, the control may be closed to everybody, which accuses nobody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from aui_tui.tasks.elements import DATED, Control, fill
from aui_tui.tasks.fence import Held
from aui_tui.tasks.outline import Node, Outline
from aui_tui.tasks.page import Page, Untouched
from aui_tui.tasks.pointing import ALONE, by_pointing, by_two_presses
from aui_tui.tasks.visit import Visit
from aui_tui.tasks.vocabulary import GENERIC, OTHERS, TAKE, UNDOES

SET: Final = frozenset({"radio", "combobox", "listbox", "slider", "spinbutton"})
"""Roles of what is set or chosen before something else is enabled; so is a field for a date or a time."""
PRESSED: Final = frozenset({"button", "gridcell", "option", "menuitemradio", "checkbox", "switch", "tab"})
"""Roles of what may be pressed for the same."""
MAX_CHOICES: Final = 20
"""Choices that are made."""


async def enabled(
    visit: Visit, nodes: Sequence[Node], is_free: Callable[[Outline], bool]
) -> tuple[Outline | None, str]:
    """Return the page, which is open, once ``by_choices`` frees it.

    Or None, with the tag of what a mouse alone points at or presses, where that does.
    """
    shown = await by_choices(visit, nodes, is_free)
    if shown is not None:
        return shown, ""
    await asyncio.sleep(ALONE)
    return None, await by_pointing(visit, "disabled", is_free) or await by_two_presses(visit, "disabled", is_free)


class Freed(NamedTuple):
    """A ``button`` that was disabled, the page once something is ``chosen`` that frees it, and once it is pressed.

    ``tag``: of what a mouse alone chose; empty where an agent can.
    """

    button: Node
    tag: str
    chosen: Outline
    page: Outline


async def freed(visit: Visit, url: str) -> Freed | None:
    """Make the choices of the page at ``url`` that free a button of it, and press that while nothing can leave.

    None where no button is freed. Raises Closed, Stuck.
    """
    if not any(map(frees_by_choice, (await visit.facts(url)).outline.main())):  # then the page need not be open
        return None
    before = await visit.here(url)
    button = next(filter(frees_by_choice, before.main()), None)
    if button is None:
        return None
    shown, tag = await enabled(visit, before.main(), frees(before, button))
    if shown is None and not tag:
        return None
    freed_page = await visit.page.look()
    fresh = _freed_in(freed_page, before, button) or button
    return Freed(button, tag, freed_page, (await press_offline(visit, fresh))[1])


async def press_offline(visit: Visit, node: Node) -> tuple[Sequence[Held], Outline]:
    """Press an element of the open page while nothing can leave; return what it asked for, and the page then."""
    try:
        pressed = await visit.page.tried(node, shut=True)
    except Untouched:
        return (), await visit.page.look()
    return pressed.held, pressed.outline or await visit.page.look()


def frees_by_choice(node: Node) -> bool:
    """Say whether a control is a disabled button that a choice may free."""
    others = {*OTHERS, UNDOES} - {GENERIC}  # “Next” has such a name
    is_closed = node.role == "button" and node.disabled and bool(node.ref and node.name)
    return is_closed and not any(other.search(node.name) for other in others)


def frees(before: Outline, control: Node) -> Callable[[Outline], bool]:
    """Return whether a page, which was as ``before``, has its ``control`` no longer disabled, whatever it says then."""
    return lambda shown: _freed_in(shown, before, control) is not None


def _freed_in(shown: Outline, before: Outline, control: Node) -> Node | None:
    """Return the ``control`` of the page ``before`` where it is no longer disabled on the page ``shown``.

    It may have another name then, as “Choose a size” becomes “Add to cart”: it is told by its place among its like.
    """
    had, after = (list(outline.of(control.role)) for outline in (before, shown))
    free = [node for node in after if node.name == control.name and not node.disabled]
    if len(after) != len(had):
        return free[0] if len(free) > sum(node.name == control.name and not node.disabled for node in had) else None
    at = next((at for at, node in enumerate(had) if _alike(node, control)), None)
    others = {node.name for node in had} - {control.name}
    return after[at] if at is not None and not after[at].disabled and after[at].name not in others else None


def _alike(node: Node, other: Node) -> bool:
    return (node.name, node.disabled) == (other.name, other.disabled)


async def by_choices(visit: Visit, nodes: Sequence[Node], shows: Callable[[Outline], bool]) -> Outline | None:
    """Return the page once ``choices_that`` make it show something."""
    return (await choices_that(visit, nodes, shows))[0]


async def choices_that(
    visit: Visit, nodes: Sequence[Node], shows: Callable[[Outline], bool]
) -> tuple[Outline | None, list[Node]]:
    """Make the first choices among the ``nodes`` of a page, which is open, while nothing can leave, until it ``shows``.

    A button that changed the page is pressed again where that is not enough. Returns the page then, and the choices.
    """
    page = visit.page
    await page.fence.shut()
    known: set[tuple[object, ...]] = set()
    pressed: list[Node] = []
    again: list[Node] = []
    waiting, glimpse = _choices(nodes, known), await page.query("glimpse")
    for _ in range(MAX_CHOICES):
        if not waiting:
            waiting, again = again, []
        if not waiting:
            break
        node = waiting.pop(0)
        if not await choose(page, node):
            continue
        pressed.append(node)
        visit.step("chose", node)
        outline = await page.look()
        if shows(outline):
            return outline, pressed
        before, glimpse = glimpse, await page.query("glimpse")
        if node.role == "button" and (glimpse is None or glimpse != before):
            again.append(node)
        # what came up, as the days of a calendar, before the rest
        waiting = _choices(outline.nodes, known) + waiting
    return None, pressed


async def choose(page: Page, node: Node) -> bool:
    """Press or set what is chosen; say whether it took that."""
    return await (page.click(node) if node.role in PRESSED else _is_set(page, node))


def _choices(nodes: Sequence[Node], known: set[tuple[object, ...]]) -> list[Node]:
    """Return what may be chosen: what is set, the first of each row of what is pressed, the rest.

    Of radio buttons beside each other the first is set, the others come last. What is ``known`` is left out; all that
    has a name is known then.
    """
    named = [node for node in nodes if node.ref and node.name and (node.role, node.name, node.path) not in known]
    known |= {(node.role, node.name, node.path) for node in named}
    open_ones = [node for node in named if is_choice(node)]
    in_rows = [node for node in open_ones if node.role in PRESSED | {"radio"}]
    firsts = list({_row(node): node for node in reversed(in_rows)}.values())[::-1]
    radios = [node for node in firsts if node.role == "radio"]
    pressed = [node for node in firsts if node.role != "radio"]
    others = [node for node in in_rows if node not in firsts]
    return [*(node for node in open_ones if node not in in_rows or node in radios), *pressed, *others]


def _row(node: Node) -> tuple[object, ...]:
    """Return what those share of which one is chosen: radio buttons the group, what is pressed the place in a row."""
    return (node.path, node.group) if node.role == "radio" else (node.depth, node.path, node.role in PRESSED)


async def _is_set(page: Page, node: Node) -> bool:
    """Set a control; say whether it took that. No text is typed."""
    about = await page.ask(node, "control")
    await page.touch()
    fits = about and about["visible"] and (node.role in SET or about["type"] in DATED)
    return bool(fits) and await fill(page, Control(node, about)) is True


def is_choice(node: Node) -> bool:
    """Say whether what an agent can operate may have to be chosen or filled before something else is enabled."""
    if node.role == "button":
        return not node.disabled and not any(other.search(node.name) for other in (*OTHERS, TAKE))
    return not node.disabled and node.role in SET | PRESSED | {"textbox"}
