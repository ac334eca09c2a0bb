"""What enables a control that is disabled: choices made by role and name, or something that only a mouse does.

Where neither does, the control may be closed to everybody, which accuses nobody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from aui_tui.tasks.elements import FIXED, Control, fill
from aui_tui.tasks.outline import Node, Outline
from aui_tui.tasks.page import Page
from aui_tui.tasks.pointing import ALONE, by_pointing, by_two_presses
from aui_tui.tasks.visit import Visit
from aui_tui.tasks.vocabulary import OTHERS, TAKE

SET: Final = frozenset({"radio", "combobox", "listbox", "slider", "spinbutton"})
"""Roles of what is set or chosen before something else is enabled; so is a field for a date or a time."""
PRESSED: Final = frozenset({"button", "gridcell", "option", "menuitemradio", "checkbox", "tab"})
"""Roles of what may be pressed for the same."""
MAX_CHOICES: Final = 20
"""Choices that are made."""
DATED: Final = frozenset({*FIXED, "date"}) - {"color"}
"""Types of fields for a date or a time."""


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


async def by_choices(visit: Visit, nodes: Sequence[Node], shows: Callable[[Outline], bool]) -> Outline | None:
    """Make the first choices among the ``nodes`` of a page, which is open, while nothing can leave, until it ``shows``.

    Returns the page then.
    """
    page = visit.page
    await page.fence.shut()
    known: set[tuple[object, ...]] = set()
    groups: set[object] = set()
    waiting = _choices(nodes, known)
    for _ in range(MAX_CHOICES):
        if not waiting:
            break
        node = waiting.pop(0)
        if not await (page.click(node) if node.role in PRESSED else _is_set(page, node, groups)):
            continue
        visit.step("chose", node)
        outline = await page.look()
        if shows(outline):
            return outline
        # what came up, as the days of a calendar, before the rest
        waiting = _choices(outline.nodes, known) + waiting
    return None


def _choices(nodes: Sequence[Node], known: set[tuple[object, ...]]) -> list[Node]:
    """Return what may be chosen: what is set, the first of each row of what is pressed, the rest.

    What is ``known`` is left out; all that has a name is known then.
    """
    named = [node for node in nodes if node.ref and node.name and (node.role, node.name, node.path) not in known]
    known |= {(node.role, node.name, node.path) for node in named}
    open_ones = [node for node in named if is_choice(node)]
    pressed = [node for node in open_ones if node.role in PRESSED]
    firsts = list({(node.depth, node.path): node for node in reversed(pressed)}.values())
    others = [node for node in pressed if node not in firsts]
    return [*(node for node in open_ones if node.role not in PRESSED), *firsts, *others]


async def _is_set(page: Page, node: Node, groups: set[object]) -> bool:
    """Set a control, one of each of the ``groups`` of radio buttons; say whether it took that. No text is typed."""
    about = await page.ask(node, "control")
    group = (node.path, node.group) if node.role == "radio" else node.ref
    fits = about and about["visible"] and group not in groups and (node.role in SET or about["type"] in DATED)
    if not fits or not await fill(page, Control(node, about)):
        return False
    groups.add(group)
    return True


def is_choice(node: Node) -> bool:
    """Say whether what an agent can operate may have to be chosen or filled before something else is enabled."""
    if node.role == "button":
        return not node.disabled and not any(other.search(node.name) for other in (*OTHERS, TAKE))
    return not node.disabled and node.role in SET | PRESSED | {"textbox"}
