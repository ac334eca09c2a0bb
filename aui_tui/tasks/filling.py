"""The task "form": every visible control of the largest form takes a suitable value by role and keeps it.

Nothing is sent: the context is one that nothing was pressed in, and from the first input on the browser is offline,
until the run closes it with all that the page kept.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from aui_tui.model.tasks import BLOCKED, DONE, TaskResult
from aui_tui.tasks.contact import contact_links
from aui_tui.tasks.elements import Control, fill
from aui_tui.tasks.enabling import enabled
from aui_tui.tasks.outline import ENTRIES, FIELDS, Node, Outline
from aui_tui.tasks.page import LOOK, Closed, Page, Stuck
from aui_tui.tasks.pointing import SHORT, by_control, by_pointing
from aui_tui.tasks.reading import FILE, covered
from aui_tui.tasks.sending import sent_by_mouse, written_by_mouse
from aui_tui.tasks.visit import Visit, ended
from aui_tui.tasks.vocabulary import ADD, INVITE, MAIL, NEVER, NEXT, PUZZLE, SEARCH, TRAP, opens
from aui_tui.text import count

if TYPE_CHECKING:
    from playwright.async_api import FileChooser

LOOSE: Final = 2
"""Text fields outside every form that make one together."""
PAGES: Final = 4
CONTACTS: Final = 2
INVITING: Final = 4
DEEPER: Final = 2
"""Pages that are opened where none that was seen has a form: about contact, behind the likeliest links of the homepage,
and behind links that invite on the pages that were opened."""
LATE: Final = 8.0
"""Seconds for the fields of a form that was there before."""
MENU: Final = 4
"""Place of links of a menu among what may lead to a form: its last ones come first."""
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


async def form(visit: Visit) -> TaskResult:
    """Find the largest form on the pages seen, else one behind links that may lead to one, and fill it.

    Raises Closed, Stuck.
    """
    entries = [url for url, outline in visit.outlines.items() if _has_entry(outline)][:PAGES]
    if visit.page.fence.pressed:
        await visit.page.leave(fresh=True)
    best = await _largest(visit, entries)
    search = _Search(visit)
    if best is None or best.is_newsletter:
        best = (
            await search.behind(contact_links(visit, visit.home), CONTACTS)
            or await search.behind(_likely(visit, visit.home), INVITING)
            or await search.behind(_deeper(visit), DEEPER)
            or best
        )
    if (
        best is None
        and entries
        and not any(_has_entry(visit.outlines[url]) for url in entries if url in visit.outlines)
    ):
        return ended("failed", {"why": "the fields of its form did not come again"})
    if best is None or best.is_newsletter:
        ending = search.ending or (await _on_request(visit, visit.url) if best is None else None)
        if ending is None and search.invited:
            ending = await _on_request(visit, search.invited)
        if ending is not None and (best is None or ending.outcome in (BLOCKED, DONE)):
            return ending
    if best is None:
        if search.failure is not None:
            raise search.failure
        closed = next((outline for outline in visit.outlines.values() if len(_disabled(outline)) >= LOOSE), None)
        return await _closed(visit, closed) if closed is not None else ended("form-absent")
    if visit.page.outline.url == best.url and not visit.page.touched:
        return await _judge(visit, visit.page.outline, best)
    outline = await visit.here(best.url)
    fresh = next((candidate for candidate in await _forms(visit.page, outline) if candidate.key == best.key), best)
    return await _judge(visit, outline, fresh)


def _likely(visit: Visit, outline: Outline) -> list[Node]:
    """Return the links of a page that may lead to a form, the likeliest first, each address once.

    What name or address asks a person to fill in, what stands in head and main alike, what is drawn like a button, then
    the menu from its end, and the rest. A page to register on is only opened: what its name says is done by what is
    sent from there.
    """
    leading = [
        node
        for node in outline.of("link")
        if visit.same_site(node.url) and not visit.at_home(node.url) and opens(node.url) and not FILE.search(node.url)
    ]
    named = [node for node in leading if node.name and len(node.name) <= SHORT]
    allowed = [node for node in named if not NEVER.search(INVITE.sub("", node.name))]
    main = {visit.place(node.url) for node in outline.main()}

    def rank(place: tuple[int, Node]) -> tuple[int, int]:
        at, node = place
        heads = bool({"navigation", "banner"} & set(node.path))
        signs = (
            INVITE.match(node.name),
            _invites(node),
            heads and visit.place(node.url) in main,
            visit.place(node.url) in visit.prominent,
            heads,
            not node.group,
        )
        first = next((number for number, sign in enumerate(signs) if sign), len(signs))
        return first, -at if first == MENU else at

    by_place: dict[str, Node] = {}
    for _, node in sorted(enumerate(allowed), key=rank):
        by_place.setdefault(visit.place(node.url), node)
    return list(by_place.values())


def _invites(node: Node) -> bool:
    """Say whether name or address of a link ask a person to fill something in."""
    address = re.sub(r"[\W_]+", " ", unquote(urlsplit(node.url).path)).strip()
    return INVITE.search(node.name) is not None or INVITE.search(address) is not None


def _deeper(visit: Visit) -> list[Node]:
    """Return the links that invite on the pages that were opened, and that the homepage has not."""
    at_home = {visit.place(node.url) for node in visit.home.of("link")}
    every = [node for outline in list(visit.outlines.values()) for node in _likely(visit, outline) if _invites(node)]
    return [node for node in every if visit.place(node.url) not in at_home]


class _Search:
    """A search for a form, other than that of a newsletter, behind links.

    ``ending``: what stands in the place of one on a page that was opened.

    ``invited``: the first page without a field whose link invites. ``failure``: why a page did not open.
    """

    def __init__(self, visit: Visit) -> None:
        self.visit = visit
        self.ending: TaskResult | None = None
        self.invited = ""
        self.failure: Stuck | None = None

    async def behind(self, links: Sequence[Node], most: int) -> Form | None:
        """Open up to ``most`` pages behind ``links`` that were not seen, until one has a form; return it."""
        visit = self.visit
        for node in [node for node in links if visit.place(node.url) not in visit.outlines][:most]:
            try:
                outline = await visit.served(node.url)
            except Closed:
                continue
            except Stuck as error:
                self.failure = error
                continue
            form = await _largest(visit, [node.url]) if _has_entry(outline) else None
            if form is not None and not form.is_newsletter:
                return form
            await self._missing(node, outline)
        return None

    async def _missing(self, node: Node, outline: Outline) -> None:
        """Note what a page, which is open, has in the place of a form."""
        visit = self.visit
        if self.ending is None and visit.cover is not None and any(map(_is_entry, outline.dom_only)):
            self.ending = await covered(visit, visit.cover, outline)
        self.ending = self.ending or await _not_fields(visit, outline)
        fields = (one for one in outline.nodes if _is_entry(one) and "contentinfo" not in one.path)
        if not self.invited and _invites(node) and next(fields, None) is None:
            self.invited = node.url


async def _not_fields(visit: Visit, outline: Outline) -> TaskResult | None:
    """Return the ending where a page, which is open, has elements that take typing and are no fields, or a puzzle."""
    for reason, question, argument in (
        ("form-editable", "editable", LOOSE),
        ("form-puzzle", "puzzle", [PUZZLE.pattern, ""]),
    ):
        tag = str(await visit.page.query(question, argument) or "")
        if tag:
            return ended(reason, url=outline.url, snippet=tag)
    written = await written_by_mouse(visit, outline)
    return ended("form-editable", url=outline.url, snippet=written) if written else None


async def _on_request(visit: Visit, url: str) -> TaskResult | None:
    """Return the ending where a page shows a form once something is pressed or pointed at; None: it does not."""
    before = await visit.here(url)
    ending = await _not_fields(visit, before)
    if ending is not None:
        return ending
    before = await visit.here(url)  # what was typed there goes
    had = _entries(before)

    def shows(shown: Outline) -> bool:
        return bool(_entries(shown) - had)

    opened = await by_control(visit, before, shows, SEARCH)
    if opened is not None:
        outline = opened[1]
        forms = await _forms(visit.page, outline)
        if forms:
            return await _judge(visit, outline, max(forms, key=_size))
        return await visit.kept_out(outline, lambda apart: next(filter(_is_entry, apart.nodes), None))
    await visit.here(url)
    pointed = await by_pointing(visit, "field", shows)
    shown = await _forms(visit.page, await visit.page.look(whole=False)) if pointed else []
    return ended("form-pointing", url=url, snippet=pointed) if shown else None


async def _largest(visit: Visit, urls: Sequence[str]) -> Form | None:
    """Return the largest form of the pages at ``urls``, which had a field to type in."""
    found: list[Form] = []
    for url in urls:
        try:
            outline = await _drawn(visit, url)
        except (Closed, Stuck):
            continue
        found += await _forms(visit.page, outline)
    return max(found, key=_size, default=None)


def _size(form: Form) -> tuple[bool, int]:
    """Return by what the largest form is found: that of a newsletter is smaller than any other."""
    return not form.is_newsletter, len(form.controls)


async def _drawn(visit: Visit, url: str) -> Outline:
    """Open a page that had a field, and wait for one: a busy machine may draw it late. Raises Closed, Stuck."""
    outline, begin = await visit.here(url), time.monotonic()
    while not _has_entry(outline) and time.monotonic() - begin < LATE:
        await asyncio.sleep(LOOK)
        outline = await visit.page.look()
    visit.outlines[visit.place(url)] = outline
    return outline


def _has_entry(outline: Outline) -> bool:
    """Say whether a page has a field to type in that is not a search field."""
    return bool(_entries(outline))


def _entries(outline: Outline) -> Counter[tuple[str, str]]:
    """Return how often each role and name of a field to type in stands on a page, those of search fields left out."""
    return Counter((node.role, node.name) for node in outline.nodes if _is_entry(node))


def _is_entry(node: Node) -> bool:
    is_search = node.role == "searchbox" or "search" in node.path or SEARCH.search(node.name)
    return node.role in ENTRIES and not is_search


async def _by_mouse(visit: Visit, form: Form) -> str:
    """Press what stands in a form like things to choose from; return the start tag of one that the form reacts to.

    What a control with a name holds then as well is no lack, and what asks for a file is none where one takes a file.
    """
    page, key = visit.page, str(form.key)
    takes_file = any(control.about["type"] == "file" for control in form.controls)
    asked: list[FileChooser] = []

    def asks(chooser: FileChooser) -> None:
        asked.append(chooser)

    page.tab.on("filechooser", asks)
    for at, tag in enumerate(map(str, await page.inspect("choices", key) or ())):
        before = await page.query("form-state", key)
        await page.pointed(at, press=False)
        if await page.query("form-state", key) != before:  # it may follow the mouse, or change by itself
            continue
        await page.pointed(at, press=True)
        after = await page.query("form-state", key)
        if before and after and after[0] != before[0] and after[1] == before[1]:
            return tag
        if asked and not takes_file:
            return tag
    return ""


def _disabled(outline: Outline) -> list[Node]:
    """Return the fields of a page that take no text, where no other does."""
    fields = [node for node in outline.nodes if node.role in ENTRIES and "search" not in node.path]
    return fields if all(node.disabled and node.role != "searchbox" for node in fields) else []


async def _closed(visit: Visit, outline: Outline) -> TaskResult:
    """Return the ending of a page whose fields are disabled: of its form, where a choice by role and name enables it.

    Blocked where only a mouse does, else a doubt: it may be closed to everybody.
    """

    def is_free(shown: Outline) -> bool:
        return any(_is_entry(node) and not node.disabled for node in shown.nodes)

    before = await visit.here(outline.url)
    shown, tag = await enabled(visit, before.main(), is_free)
    forms = await _forms(visit.page, shown) if shown is not None else []
    if shown is not None and forms:
        return await _judge(visit, shown, max(forms, key=_size))
    field = next(iter(_disabled(outline)))
    return ended("form-disabled" if tag else "form-closed", node=field, url=outline.url, snippet=tag)


async def _judge(visit: Visit, outline: Outline, form: Form) -> TaskResult:
    total = len(form.controls)
    visit.step("found", note=f"a form with {count(total, 'control')}", outline=outline)
    unnamed = [control.node for control in form.controls if not control.node.name]
    if unnamed:
        facts = {"count": str(len(unnamed)), "total": str(total)}
        visit.step("looked", unnamed[0], note="a control without a name", mark="stuck", outline=outline)
        reason = "form-unnamed" if len(unnamed) < total else "form-nameless"
        return await visit.blame(reason, unnamed[0], facts, url=form.url)
    in_form = form.key >= 0 and form.controls[0].about["reached"]
    custom = str(await visit.page.inspect("custom", str(form.key)) or "") if in_form else ""
    written = visit.page.fence.writes
    await visit.page.fence.shut()
    ending = await _fill_all(visit, form)
    if ending is None and in_form and not custom:
        custom = await _by_mouse(visit, form)
    if ending is None and not custom:
        nodes = [control.node for control in form.controls if control.node.role in ENTRIES]
        reason, tag = await sent_by_mouse(visit, outline, form.key, nodes)
        ending = ended(reason, url=form.url, snippet=tag) if reason else None
    visit.step("left", note="the form, without sending it")
    if ending is None and custom:
        return ended("form-custom", url=form.url, snippet=custom)
    left = visit.page.fence.writes - written
    facts = {"count": count(total, "control"), "sent": f"{count(left, 'request')} sent" if left else "nothing sent"}
    if any(NEXT.search(control.about["buttons"]) for control in form.controls):
        facts["sent"] += "; the form has more steps, and only the first was tried"
    return ending or ended("form-done", facts, url=form.url)


async def _forms(page: Page, outline: Outline) -> list[Form]:
    """Return the forms other than search, log-in, language picker and cart, with their visible controls.

    Fields outside every form are one form when at least two of them take text.
    """
    groups: dict[tuple[str, int], list[Control]] = {}
    fields = [node for node in outline.nodes if node.role in FIELDS | {"slider"} and node.ref and not node.disabled]
    fields += [node for node in outline.of("button") if node.ref and not node.disabled][:MOST]  # one may take a file
    abouts = await asyncio.gather(*(page.ask(node, "control") for node in fields))
    for node, answer in zip(fields, abouts, strict=True):
        about = answer or await page.ask(node, "control")  # a busy machine may be late
        if node.role == "button" and (about or {}).get("type") != "file":
            continue
        if about and about["visible"] and not TRAP.search(node.name):
            groups.setdefault((node.ref.rpartition("e")[0], about["key"]), []).append(Control(node, about))
    return [Form(outline.url, key, controls) for (_, key), controls in groups.items() if _counts(controls, key)]


def _counts(controls: list[Control], key: int) -> bool:
    abouts = [control.about for control in controls]
    if any(about["password"] or about["search"] for about in abouts):
        return False
    nodes = [control.node for control in controls]
    # what orders or books asks for a name and an address as well; a cart asks for a number and a kind
    if any(ADD.search(about["buttons"]) for about in abouts) and sum(node.role == "textbox" for node in nodes) < LOOSE:
        return False
    entries = [entry for entry in controls if entry.node.role in ENTRIES and entry.about["tag"] != "SELECT"]
    if key >= 0 and len(controls) == 1 and entries and _like_a_search(abouts[0]):
        return False
    if key >= 0 and abouts[0]["method"] == "get" and not any(map(_asks_who, abouts)):
        return False  # a form that says that it sends by GET asks for something, such as rows of a table
    if any(node.role == "searchbox" or "search" in node.path or SEARCH.search(node.name) for node in nodes):
        return False
    if key < 0:
        return sum(node.role == "textbox" for node in nodes) >= LOOSE
    return bool(entries)


def _asks_who(about: dict[str, Any]) -> bool:
    """Say whether a control asks who writes, or what: for an address, a number or a longer text."""
    return about["type"] in ("email", "tel") or about["tag"] == "TEXTAREA"


def _like_a_search(about: dict[str, Any]) -> bool:
    """Say whether the one field of a form is the field of a search, in whatever script it is named."""
    return about["method"] in ("", "get") and about["tag"] == "INPUT" and about["type"] in ("text", "search")


async def _fill_all(visit: Visit, form: Form) -> TaskResult | None:
    """Fill the controls in order; return the ending at the first that does not take its value."""
    fence = visit.page.fence
    for control in form.controls[:MOST]:
        node = control.node
        begun = len(fence.held)
        # a busy machine may be late with what was typed: no control is blamed for one try
        is_kept = await fill(visit.page, control)
        if is_kept is False:
            is_kept = await fill(visit.page, control)
        verb = "chose" if control.chosen else "filled"
        visit.step(verb, node, mark="done" if is_kept else "stuck")
        if is_kept:
            continue
        # a key may have sent the form, which brings no choices
        if fence.sockets or any(one.sends and not one.document for one in fence.held[begun:]):
            return await visit.blame("form-network", node, url=form.url)
        now = await visit.page.ask(node, "control")
        if now is None:
            raise Stuck("a control of the form does not answer")
        if is_kept is None or (not control.about["readonly"] and (control.about["checked"] or now["checked"])):
            return await visit.blame("form-unsure", node, url=form.url)
        if not control.about["readonly"]:
            return await visit.blame("form-lost", node, url=form.url)
        closed = form.key >= 0 and await visit.page.inspect("unwritable", str(form.key)) is True
        return await visit.blame("form-unwritable" if closed else "form-readonly", node, url=form.url)
    return None
