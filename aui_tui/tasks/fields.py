"""The search field of a page: found by role, name or form, or opened by what is named for it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final
from urllib.parse import urlsplit

from aui_tui.tasks.outline import ENTRIES, SHORT, Node, Outline
from aui_tui.tasks.visit import Visit
from aui_tui.tasks.vocabulary import MAIL, SEARCH, SEEK, acts

CAPTIONS: Final = frozenset({"text", "generic", "paragraph", "strong"})
"""Roles of a text that a person takes for the label of the field behind it."""
MOST: Final = 6
"""Fields whose form is looked at."""


async def search_field(visit: Visit, page: Outline, *, opens: bool = True) -> tuple[Outline, Node | None, Node | None]:
    """Return the page with its search field, opened where it must be, and without one a field that has no name.

    Without ``opens`` nothing is pressed.
    """
    named = (node for node in page.entries() if _takes_text(node) and node.name)
    box = await _field(visit, page) or await _by_form(visit, named)
    if box is not None and not box.name and SEEK.match(str(await visit.page.ask(box, "caption") or "")):
        return page, None, box  # a name was meant for it, and does not reach it
    nameless = await _nameless(visit, page) if box is None else None
    if box is None and nameless is None and opens:
        page, box = await _opened(visit, page)
        nameless = await _nameless(visit, page) if box is None else None
    return page, box, nameless


async def _field(visit: Visit, outline: Outline) -> Node | None:
    """Return the search field of a page, which is open.

    One for an e-mail address, as of a newsletter, is none unless its name begins with a word for searching.
    """
    for node in fields_of(outline)[:MOST]:
        if node.role == "searchbox" or SEARCH.match(node.name) or not await _asks_mail(visit, node):
            return node
    return None


async def _asks_mail(visit: Visit, node: Node) -> bool:
    return (await visit.page.ask(node, "control") or {}).get("type") == "email"


def field_of(outline: Outline) -> Node | None:
    """Return what is likeliest to be the search field of a page, which need not be open."""
    return next(iter(fields_of(outline)), None)


def fields_of(outline: Outline) -> list[Node]:
    """Return what may be the search field: by role, then by its name, then a named field in a search landmark.

    One in a frame counts where the page has no other.
    """
    every = sorted(filter(_takes_text, outline.entries()), key=lambda node: node.framed)
    fields = [node for node in every if node.name]
    by_role = [node for node in fields if node.role == "searchbox"]
    # a button that says so names a search field that has none
    if any(SEARCH.search(node.name) for node in outline.of("button")):
        by_role += [node for node in every if node.role == "searchbox" and not node.name]
    by_name = [node for node in fields if SEEK.search(node.name)]
    by_place = [node for node in fields if "search" in node.path]
    return [*by_role, *by_name, *by_place]


async def disabled_field(visit: Visit, outline: Outline) -> Node | None:
    """Return the search field of a page, which is open, that takes no text."""
    fields = [node for node in outline.entries() if node.disabled]
    ours = (node for node in fields if node.role == "searchbox" or "search" in node.path or SEEK.search(node.name))
    return next(ours, None) or await _by_form(visit, (node for node in fields if node.ref))


async def hidden_field(visit: Visit, outline: Outline) -> Node | None:
    """Return the search field of a page, which is open, that the tree leaves out: by its form, as it has no name."""
    return await _by_form(visit, filter(_takes_text, outline.dom_only))


async def likely_field(visit: Visit, outline: Outline) -> Node | None:
    """Return the one field of text of a page if its form sends that alone, by GET, to another address.

    It may be the field of a search, in whatever language it is named.
    """
    fields = [node for node in outline.entries() if _takes_text(node) and node.name and not MAIL.search(node.name)]
    if len(fields) != 1 or fields[0].role != "textbox":
        return None
    about = await visit.page.ask(fields[0], "control") or {"action": ""}
    action = str(about["action"])
    sends = about.get("method") == "get" and about["entries"] == 1 and not about["readonly"]
    leads = visit.same_site(action) and visit.leads_on(action)
    return fields[0] if sends and leads and not await visit.page.fence.objection(action) else None


def disabled_button(outline: Outline) -> Node | None:
    """Return the button of the search that takes no press; none where another one does."""
    ours = [node for node in outline.of("button") if "search" in node.path or SEARCH.search(node.name)]
    return next(iter(ours), None) if all(node.disabled for node in ours) else None


def _takes_text(node: Node) -> bool:
    return node.role in ENTRIES and bool(node.ref) and not node.disabled


async def _by_form(visit: Visit, fields: Iterable[Node]) -> Node | None:
    """Return which of the ``fields`` is the only one of a form with a button that searches, or marked so in HTML.

    A placeholder may say so too.
    """
    for node in islice(fields, MOST):
        about = await visit.page.ask(node, "control") or {}
        searches = about.get("marked") or any(map(SEARCH.search, about.get("buttons", "").split(" | ")))
        searches = searches or SEEK.match(about.get("hint", ""))
        if searches and about["type"] != "email" and (about["entries"] == 1 or about["key"] < 0):
            return node
    return None


async def _nameless(visit: Visit, outline: Outline) -> Node | None:
    """Return a search field without a name: by role, landmark or form, or any field that “Search” leads to."""
    fields = [node for node in outline.entries() if not node.name]
    moved = visit.place(outline.url) != visit.place(visit.home.url)
    field = next((node for node in fields if moved or node.role == "searchbox" or "search" in node.path), None)
    field = field or next((node for node in fields if SEEK.match(_caption(outline, node))), None)
    if field is not None and field.role != "searchbox" and await _asks_mail(visit, field):
        return None
    return field or await _by_form(visit, filter(_takes_text, fields))


def _caption(page: Outline, field: Node) -> str:
    """Return the short text that stands right before a field, which does not belong to it."""
    before = page.nodes[: page.nodes.index(field)]
    node = next((node for node in reversed(before) if node.role != "generic" or node.text), None)
    return node.text if node is not None and node.role in CAPTIONS and len(node.text) <= SHORT else ""


def opener(page: Outline) -> Node | None:
    """Return the button or link that opens the search."""
    pressable = [*page.pressable(), *page.of("checkbox", "switch")]
    ways = (node for node in pressable if SEARCH.search(node.name) and not node.disabled)
    return next((node for node in ways if node.role != "link" or not urlsplit(node.url).query), None)


async def _opened(visit: Visit, before: Outline) -> tuple[Outline, Node | None]:
    """Press what opens the search, where there is such a button or link, and look for the field again."""
    way = opener(before)
    if way is None:
        return before, None
    if way.role == "link" and way.url.startswith("http") and way.url != before.url:
        if acts(way.url) or not visit.same_site(way.url) or await visit.page.fence.objection(way.url):
            return before, None
        outline = await visit.served(way.url)
        field = await _field(visit, outline)
        return outline, field or next((n for n in outline.main() if _takes_text(n) and n.name), None)
    # a box that is clipped takes keys alone
    if not await visit.press(way) and await visit.page.focus(way):
        await visit.page.press("Space")
    outline = await visit.page.settle()
    visit.step("pressed", way, note="to open the search", outline=outline)
    return outline, await _field(visit, outline) or _brought(outline, before)


async def behind(visit: Visit, before: Outline, box: Node) -> tuple[Outline, Node]:
    """Press a read-only field, and return the field that this opens; the same one when it opens none."""
    await visit.press(box)
    outline = await visit.page.settle()
    visit.step("pressed", box, note="to open the search", outline=outline)
    return outline, _brought(outline, before) or box


def _brought(outline: Outline, before: Outline) -> Node | None:
    """Return a named field that was not there before."""
    had = {node.ref for node in before.nodes}
    return next((node for node in outline.nodes if _takes_text(node) and node.name and node.ref not in had), None)
