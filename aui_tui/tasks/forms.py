"""The forms of a page, and what in it takes typed text: found by the accessibility tree, asked of the page."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any, Final, NamedTuple

from aui_tui.tasks.elements import DATED, Control
from aui_tui.tasks.outline import AROUND, ENTRIES, FIELDS, Node, Outline
from aui_tui.tasks.page import Page
from aui_tui.tasks.vocabulary import BOOK, BUY, MAIL, PROOF, SEARCH, TRAP

LOOSE: Final = 2
"""Text fields outside every form that make one together."""
LISTS: Final = 2
"""Lists, sliders or rows of radio buttons that make a form without anything to type in; one alone picks a language."""
WRITTEN: Final = frozenset({"text", "search", "email", "tel", "url", "number", "textarea"})
"""Types of fields of text."""
NEAR: Final = 8
"""Elements before a field that may say what it is for."""
MOST: Final = 40
"""Controls of one form that are tried."""


class Form(NamedTuple):
    """A form: its page, its number among the page's forms, and its visible controls."""

    url: str
    key: int
    controls: list[Control]

    @property
    def is_newsletter(self) -> bool:
        """It asks for an e-mail address alone, as at the foot of every page: the site may have another form."""
        entries = [control for control in self.controls if control.node.role in ENTRIES]
        mail = (one for one in entries if one.about["type"] == "email" or MAIL.search(one.node.name))
        return len(entries) == 1 and next(mail, None) is not None

    @property
    def takes_typing(self) -> bool:
        """Something in it takes typing."""
        return any(map(_takes_typing, self.controls))

    @property
    def has_steps(self) -> bool:
        """It holds fields of text that are not shown, as those of its next step are."""
        texts = sum(control.about["type"] in WRITTEN for control in self.controls)
        return bool(self.controls[0].about["entries"] > texts)


def has_entry(outline: Outline) -> bool:
    """Say whether a page has a field to type in that is not a search field, or several sliders or radio buttons."""
    return bool(entries(outline)) or len(outline.of("slider", "radio")) >= LISTS


def entries(outline: Outline) -> Counter[tuple[str, str]]:
    """Return how often each role and name of a field to type in stands on a page, those of search fields left out."""
    return Counter((node.role, node.name) for node in outline.nodes if is_entry(node))


def is_entry(node: Node) -> bool:
    """Say whether something takes typing and is no search field."""
    is_search = node.role == "searchbox" or "search" in node.path or SEARCH.search(node.name)
    return node.role in ENTRIES and not is_search


def asked_code(outline: Outline) -> Node | None:
    """Return the only field of a page outside its foot, where what stands right before it asks for proof of a person.

    Nobody asks for letters of a picture there but of who wants what comes then.
    """
    fields = [at for at, node in enumerate(outline.nodes) if is_entry(node) and "contentinfo" not in node.path]
    if len(fields) != 1 or MAIL.search(outline.nodes[fields[0]].name):
        return None
    said = " ".join(node.text or node.name for node in outline.nodes[max(0, fields[0] - NEAR) : fields[0] + 1])
    return outline.nodes[fields[0]] if PROOF.search(said) else None


def size(form: Form) -> tuple[bool, bool, int]:
    """Return by what the largest form is found: that of a newsletter is smaller than any other, then one of lists."""
    return not form.is_newsletter, form.takes_typing, len(form.controls)


async def forms_of(page: Page, outline: Outline) -> list[Form]:
    """Return the forms other than search, log-in, language picker and cart, with their visible controls.

    Fields outside every form are one form when at least two of them take text. A code to get to a form is none.
    """
    groups: dict[tuple[str, int], list[Control]] = {}
    fields = [node for node in outline.nodes if node.role in FIELDS | {"slider"} and node.ref and not node.disabled]
    buttons = [node for node in outline.of("button") if node.ref and not node.disabled]
    if await page.query("takes-file") is False:  # one that does not tell may be in a frame, or in a closed shadow root
        buttons = [node for node in buttons if node.framed or node in outline.tree_only]
    fields += buttons[:MOST]
    abouts = await asyncio.gather(*(page.ask(node, "control") for node in fields))
    for node, answer in zip(fields, abouts, strict=True):
        about = answer or await page.ask(node, "control")  # a busy machine may be late
        if node.role == "button" and (about or {}).get("type") != "file":
            continue
        shows_text = about and about["readonly"] and about["tag"] == "TEXTAREA"  # as the source of a page does
        if about and about["visible"] and not shows_text and not TRAP.search(node.name):
            groups.setdefault((node.ref.rpartition("e")[0], about["key"]), []).append(Control(node, about))
    code = asked_code(outline)
    groups = {place: controls for place, controls in groups.items() if [one.node for one in controls] != [code]}
    return [Form(outline.url, key, controls) for (_, key), controls in groups.items() if _counts(controls, key)]


def _counts(controls: list[Control], key: int) -> bool:
    abouts = [control.about for control in controls]
    if any(about["password"] or about["search"] for about in abouts):
        return False
    nodes = [control.node for control in controls]
    written = sum(node.role == "textbox" for node in nodes)
    # what is booked may be chosen first, and the fields of a next step not be shown yet
    chosen = max(_choices(controls), abouts[0]["entries"] - written)
    if any(only_takes(about["buttons"], written, chosen) for about in abouts):
        return False
    entries = [control for control in controls if _takes_typing(control)]
    if key >= 0 and len(controls) == 1 and entries and _like_a_search(abouts[0]):
        return False
    if key >= 0 and abouts[0]["declared"] and abouts[0]["method"] == "get" and not any(map(_asks_who, abouts)):
        return False  # a form that says that it sends by GET asks for something, such as rows of a table
    if any(node.role == "searchbox" or "search" in node.path or SEARCH.search(node.name) for node in nodes):
        return False
    if key < 0:
        return written >= LOOSE
    return bool(entries) or _chooses(controls)


def only_takes(buttons: str, written: int, chosen: int) -> bool:
    """Say whether a form with such ``buttons`` does nothing but take what it stands beside: no form for this test.

    What orders or books asks for a name and an address as well, so ``written`` are at least two texts; what books may
    ask for nothing but choices, of which two or more are ``chosen``. A cart asks for a number and a kind.
    """
    if written >= LOOSE:
        return False
    return BUY.search(buttons) is not None or (chosen < LISTS and BOOK.search(buttons) is not None)


def _choices(controls: list[Control]) -> int:
    """Return how much is chosen in a form: its lists, those of numbers left out; a day or an hour counts as two."""
    lists = sum(one.node.role in ("combobox", "listbox") and not one.about["numbers"] for one in controls)
    return lists + sum(LISTS for one in controls if one.about["type"] in DATED)


def _takes_typing(control: Control) -> bool:
    return control.node.role in ENTRIES and control.about["tag"] != "SELECT"


def _chooses(controls: list[Control]) -> bool:
    """Say whether a form without anything to type in has lists, sliders or rows of radio buttons with names.

    It sends by POST what is chosen. In the head or foot of a page it picks a language and a currency.
    """
    choices = [one for one in controls if one.about["tag"] == "SELECT" or one.node.role in ("slider", "radio")]
    sends = all(
        one.about["sends"] and one.about["method"] == "post" and not SEARCH.search(one.about["buttons"])
        for one in choices
    )
    inside = [one for one in choices if not AROUND & set(one.node.path)]
    rows = {one.about["group"] or one.node.name for one in inside}
    return sends and all(one.node.name for one in inside) and len(rows) >= LISTS


def _asks_who(about: dict[str, Any]) -> bool:
    """Say whether a control asks who writes, or what: for an address, a number or a longer text."""
    return about["type"] in ("email", "tel") or about["tag"] == "TEXTAREA"


def _like_a_search(about: dict[str, Any]) -> bool:
    """Say whether the one field of a form is the field of a search, in whatever script it is named."""
    return about["method"] in ("", "get") and about["tag"] == "INPUT" and about["type"] in ("text", "search")
