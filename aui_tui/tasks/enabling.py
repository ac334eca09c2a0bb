"""What enables a control that is disabled: choices made by role and name, or something that only a mouse does.

Where neither does, the control may be closed to everybody, which accuses nobody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from aui_tui.tasks.elements import Control, fill
from aui_tui.tasks.outline import FIELDS, Node, Outline
from aui_tui.tasks.pointing import ALONE, by_pointing
from aui_tui.tasks.visit import Visit
from aui_tui.tasks.vocabulary import CART, CONTACT, DISMISS, GENERIC, MENU, SEARCH, TAKE

CHOICES: Final = frozenset({"radio", "combobox", "listbox"})
"""Roles of what is chosen before something else is enabled."""
PRESSED: Final = frozenset({"button", "gridcell", "option", "menuitemradio", "checkbox", "tab"})
"""Roles of what may be pressed for the same."""
MAX_CHOICES: Final = 12
"""Choices that are made."""
OTHERS: Final = (SEARCH, MENU, CONTACT, GENERIC, CART, *DISMISS)
"""Names of controls that choose nothing and buy nothing."""


async def enabled(
    visit: Visit, nodes: Sequence[Node], is_free: Callable[[Outline], bool]
) -> tuple[Outline | None, str]:
    """Make the first choices among the ``nodes`` of a page, which is open, while nothing can leave, until it is free.

    Returns the page then; or None, with the tag of what a mouse alone points at or presses, where that frees it.
    """
    page = visit.page
    named = [node for node in nodes if node.ref and node.name and not node.disabled]
    pressed = [node for node in named if node.role in PRESSED and is_choice(node)]
    # the first of each row of them, then the others
    firsts = list({(node.depth, node.path): node for node in reversed(pressed)}.values())
    await page.fence.shut()
    groups: set[object] = set()
    for node in [node for node in named if node.role in CHOICES][:MAX_CHOICES]:
        about = await page.ask(node, "control")
        group = (node.path, node.group) if node.role == "radio" else node.ref
        if about and about["visible"] and group not in groups and await fill(page, Control(node, about)):
            groups.add(group)
            visit.step("chose", node)
            outline = await page.look()
            if is_free(outline):
                return outline, ""
    for node in [*firsts, *(node for node in pressed if node not in firsts)][:MAX_CHOICES]:
        if await page.click(node):
            visit.step("chose", node)
            outline = await page.look()
            if is_free(outline):
                return outline, ""
    await asyncio.sleep(ALONE)
    return None, await by_pointing(visit, "disabled", is_free)


def is_choice(node: Node) -> bool:
    """Say whether what an agent can operate may have to be chosen or filled before something else is enabled."""
    is_button = node.role == "button" and not any(other.search(node.name) for other in (*OTHERS, TAKE))
    return not node.disabled and (is_button or node.role in CHOICES | FIELDS | {"option", "menuitemradio"})
