"""The task "form": every visible control of the largest form takes a suitable value by role and keeps it.

Nothing is sent: the context is one that nothing was pressed in, and from the first input on the browser is offline,
until the run closes it with all that the page kept.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from aui_tui.model.tasks import BLOCKED, DONE, TaskResult
from aui_tui.tasks.contact import contact_links
from aui_tui.tasks.elements import TICKED, Control, fill
from aui_tui.tasks.enabling import SET, by_choices, choose, enabled, freed
from aui_tui.tasks.forms import (
    LISTS,
    LOOSE,
    MOST,
    Form,
    asked_code,
    entries,
    forms_of,
    has_entry,
    is_entry,
    only_takes,
    size,
)
from aui_tui.tasks.outline import DIALOGS, ENTRIES, SHORT, Node, Outline
from aui_tui.tasks.page import LOOK, Closed, Page, Stuck
from aui_tui.tasks.pointing import ALONE, MAX_PRESSES, by_control, by_pointing, by_two_presses, pointable, presses
from aui_tui.tasks.reading import FILE, covered
from aui_tui.tasks.sending import REACTION, sent_by_mouse, written_by_mouse
from aui_tui.tasks.visit import Visit, ended
from aui_tui.tasks.vocabulary import INVITE, NEVER, NEXT, PUZZLE, SEARCH, is_tool, opens
from aui_tui.text import count

if TYPE_CHECKING:
    from playwright.async_api import FileChooser

PAGES: Final = 4
CONTACTS: Final = 2
INVITING: Final = 4
DEEPER: Final = 2
"""Pages that are opened where none that was seen has a form: about contact, behind the likeliest links of the homepage,
and behind links that invite on the pages that were opened."""
MARKS: Final = "marks"
"""Asks for marks beside controls among what may be chosen in a form."""
LATE: Final = 8.0
"""Seconds for the fields of a form that was there before."""
MENU: Final = 4
"""Place of links of a menu among what may lead to a form: its last ones come first."""


class _State(NamedTuple):
    """What a form holds: all of it, its marks too, what its controls hold that are ``shown``, and those ``hidden``."""

    whole: str
    shown: str
    hidden: str

    @property
    def held(self) -> str:
        return self.shown + self.hidden


async def form(visit: Visit) -> TaskResult:
    """Find the largest form on the pages seen, else one behind links that may lead to one, and fill it.

    Raises Closed, Stuck.
    """
    seen = [url for url, outline in visit.outlines.items() if has_entry(outline)][:PAGES]
    search = _Search(visit)
    best = await search.largest(seen)
    if best is None or best.is_newsletter or not best.takes_typing:
        best = (
            await search.behind(contact_links(visit, visit.home), CONTACTS)
            or await search.behind(_likely(visit, visit.home), INVITING)
            or await search.behind(_deeper(visit), DEEPER)
            or best
        )
    if best is None or best.is_newsletter:
        ending = search.ending
        if ending is None and best is None:
            ending = await search.on_request(visit.url)
        elif ending is None:
            ending = await _not_fields(visit, await visit.shown(visit.url))
        if ending is None and search.invited:
            ending = await search.on_request(search.invited)
        if ending is not None and (best is None or ending.outcome in (BLOCKED, DONE)):
            return ending
    if best is None:
        if search.failure is not None:
            raise search.failure
        closed = next((outline for outline in visit.outlines.values() if len(_disabled(outline)) >= LOOSE), None)
        if closed is None:
            return ended("form-absent")
        await search.freshen()
        return await _closed(visit, await visit.here(closed.url))
    await search.freshen()
    return await _filled(visit, best)


async def form_on(visit: Visit, places: Sequence[str]) -> TaskResult:
    """Fill the largest form of pages that were opened, and have a field to type in. Raises Closed, Stuck."""
    search = _Search(visit)
    best = await search.largest(places[:PAGES])
    await search.freshen()
    return await _filled(visit, best) if best is not None else ended("form-absent")


async def _filled(visit: Visit, best: Form) -> TaskResult:
    """Open the page of a form once more, and fill it. Raises Closed, Stuck."""
    outline = await _drawn(visit, best.url)
    fresh = next((candidate for candidate in await forms_of(visit.page, outline) if candidate.key == best.key), best)
    if not has_entry(outline):
        return ended("failed", {"why": "the fields of its form did not come again"})
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
    named = [node for node in leading if node.name and len(node.name) <= SHORT and not is_tool(node.url)]
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
        fence = visit.page.fence
        self._pressed = fence.context if fence.pressed else None

    async def freshen(self) -> bool:
        """Leave the context that something was pressed in before; say whether it was that one."""
        is_pressed = self._pressed is not None and self.visit.page.fence.context is self._pressed
        if is_pressed:
            await self.visit.page.leave(fresh=True)
        return is_pressed

    async def largest(self, urls: Sequence[str]) -> Form | None:
        """Return the largest form of the pages at ``urls``, which had a field to type in when they were opened."""
        visit = self.visit
        found: list[Form] = []
        for url in urls:
            forms = visit.noted[url].forms if url in visit.noted else None
            if forms is None:
                await self.freshen()
                with suppress(Closed, Stuck):
                    forms = await forms_of(visit.page, await _drawn(visit, url))
            found += forms or ()
        return max(found, key=size, default=None)

    async def behind(self, links: Sequence[Node], most: int) -> Form | None:
        """Open up to ``most`` pages behind ``links`` that were not seen, until one has a form; return it."""
        visit = self.visit
        for node in [node for node in links if visit.place(node.url) not in visit.outlines][:most]:
            known = await visit.known(node.url)
            if known is not None and not has_entry(known):
                self._invites(node, known)
                continue
            await self.freshen()
            try:
                outline = await visit.served(node.url)
            except Closed:
                continue
            except Stuck as error:
                self.failure = error
                continue
            form = await self.largest([visit.place(node.url)]) if has_entry(outline) else None
            if form is not None and not form.is_newsletter:
                return form
            await self._missing(node, outline)
        return None

    async def on_request(self, url: str) -> TaskResult | None:
        """Return the ending where a page shows a form once something is pressed or pointed at; None: it does not."""
        visit = self.visit
        before = await visit.shown(url)
        ending = await _not_fields(visit, before)
        if ending is not None:
            return ending
        before = await visit.shown(url)  # what was typed there goes
        had = entries(before)

        def shows(shown: Outline) -> bool:
            return bool(entries(shown) - had)

        # what is pointed at leaves most pages as they are, which presses of controls do not: they come last
        pointed = await by_pointing(visit, "field", shows)
        found = await forms_of(visit.page, await visit.page.look(whole=False)) if pointed else []
        opened = await by_control(visit, url, shows, SEARCH)
        if opened is not None and await self.freshen():
            opened = await by_control(visit, url, shows, SEARCH)
        behind = await freed(visit, url) if opened is None and not pointed else None
        outline = opened[1] if opened is not None else behind.page if behind is not None else None
        if behind is not None and behind.tag and shows(behind.page):
            return ended("form-pointing", url=url, snippet=behind.tag)
        if outline is None and visit.spare and any(map(_is_choice, before.main())):
            choices = list(filter(_is_choice, (await visit.shown(url)).main()))
            outline = await by_choices(visit, choices, shows)
            pointed = pointed or await self._without_name(url, shows) if outline is None else ""
            found = found or await forms_of(visit.page, await visit.page.look(whole=False)) if pointed else []
        if outline is None and not pointed and await visit.page.query("unshown-fields"):
            await visit.shown(url)
            pointed = await by_two_presses(visit, "field", shows)
            found = await forms_of(visit.page, await visit.page.look(whole=False)) if pointed else []
        if outline is not None and (opened is not None or shows(outline)):
            forms = await forms_of(visit.page, outline)
            if forms:
                return await _judge(visit, outline, max(forms, key=size))
            if asked_code(outline) is not None:
                return ended("unwalked", {"obstacle": "what opens asks for proof of a person first"}, url=url)
            if _disabled(outline):
                return await _closed(visit, outline)
            return await visit.kept_out(outline, lambda apart: next(filter(is_entry, apart.nodes), None))
        if found:
            return ended("form-pointing", url=url, snippet=pointed)
        trail = visit.trails.get(visit.place(url))
        asks = trail is not None and any(PUZZLE.search(shown.text()) for shown in trail.shown)
        return ended("unwalked", {"obstacle": "what opens asks for proof of a person first"}, url=url) if asks else None

    async def _without_name(self, url: str, shows: Callable[[Outline], bool]) -> str:
        """Return the start tag of a choice without a name that makes the page at ``url`` show fields; empty without."""
        nameless = [node for node in (await self.visit.shown(url)).main() if _is_choice(node) and not node.name]
        await self.visit.page.fence.shut()
        for node in nameless[:MAX_PRESSES]:
            tag = await self.visit.page.snippet(node)
            if await choose(self.visit.page, node) and shows(await self.visit.page.look()):
                self.visit.step("chose", node, mark="stuck")
                return tag
        return ""

    async def _missing(self, node: Node, outline: Outline) -> None:
        """Note what a page, which is open, has in the place of a form."""
        visit = self.visit
        if self.ending is None and visit.cover is not None and any(map(is_entry, outline.dom_only)):
            self.ending = await covered(visit, visit.cover, outline)
        self.ending = self.ending or await _not_fields(visit, outline)
        self._invites(node, outline)

    def _invites(self, node: Node, outline: Outline) -> None:
        """Note the first page without a field whose link, ``node``, invites."""
        fields = (one for one in outline.entries() if is_entry(one) and "contentinfo" not in one.path)
        if not self.invited and _invites(node) and next(fields, None) is None:
            self.invited = node.url


def _is_choice(node: Node) -> bool:
    """Say whether a control is chosen or set, which may bring fields."""
    return node.role in SET | TICKED and bool(node.ref) and not node.disabled


async def _not_fields(visit: Visit, outline: Outline) -> TaskResult | None:
    """Return the ending where a page, which is open, has elements that take typing and are no fields."""
    tag = str(await visit.page.query("editable", LOOSE) or "")
    if tag:
        return ended("form-editable", url=outline.url, snippet=tag)
    written = await written_by_mouse(visit, outline)
    if written:
        return ended("form-editable", url=outline.url, snippet=written)
    chosen = await _in_boxes(visit, outline)
    return ended("form-boxes", url=outline.url, snippet=chosen) if chosen else None


async def _drawn(visit: Visit, url: str) -> Outline:
    """Open a page that had a field, and wait for one: a busy machine may draw it late. Raises Closed, Stuck."""
    outline, begin = await visit.here(url), time.monotonic()
    while not has_entry(outline) and time.monotonic() - begin < LATE and not visit.page.fence.exhausted:
        await asyncio.sleep(LOOK)
        outline = await visit.page.look()
    visit.outlines[visit.place(url)] = outline
    return outline


async def _by_mouse(visit: Visit, form: Form) -> str:
    """Press what stands in a form like things to choose from; return the start tag of one that the form reacts to.

    What a control with a name holds then as well is no lack, and what asks for a file is none where one takes a file.
    """
    page = visit.page
    takes_file = any(control.about["type"] == "file" for control in form.controls)
    asked: list[FileChooser] = []

    def asks(chooser: FileChooser) -> None:
        asked.append(chooser)

    page.tab.on("filechooser", asks)
    async for tag, before, after in _presses_in(page, str(form.key)):
        if after.whole != before.whole and after.shown == before.shown:
            return tag
        if asked and not takes_file:
            return tag
    return ""


async def _presses_in(page: Page, key: str, marks: str = "") -> AsyncIterator[tuple[str, _State, _State]]:
    """Press what stands in the form of that number like things to choose from, and drag what a press leaves as it is.

    Yields each start tag with the form before and after. ``marks``: press marks beside controls too.
    """
    for at, tag in enumerate(map(str, await page.inspect("choices", key, marks) or ())):
        before = await _state(page, key)
        await page.hovered(at)
        if await _state(page, key) != before:  # it may follow the mouse, or change by itself
            continue
        await page.clicked(at)
        if await _state(page, key) == before:
            await page.dragged(at)
        after = await _state(page, key)
        if before is not None and after is not None:
            yield tag, before, after


async def _state(page: Page, key: str) -> _State | None:
    """Return what the form of that number holds now; None where it has gone."""
    state = await page.query("form-state", key)
    return _State(*map(str, state)) if state else None


async def _in_boxes(visit: Visit, outline: Outline) -> str:
    """Return the start tag of what a mouse chooses in a form of a page, which is open, that shows nothing to fill.

    What is hidden there takes other values by other presses, none by a press elsewhere or by itself, and none by a
    control with a name. Empty without one.
    """
    page = visit.page
    elsewhere = next((node for node in outline.of("heading") if node.ref), None)
    if elsewhere is None or not visit.spare:
        return ""
    for key, buttons in await page.query("bare-forms") or ():
        if only_takes(buttons, 0, LISTS) or SEARCH.search(buttons):
            continue
        await page.fence.shut()
        first = await _state(page, key)
        if first is None or not await page.click(elsewhere):
            continue
        last = await _state(page, key)
        tag = await _filled_by_mouse(page, key) if last is not None and last.hidden == first.hidden else ""
        if tag and not await _filled_by_name(page, key):
            visit.step("pressed", note=tag, mark="stuck", outline=outline)
            return tag
    return ""


async def _filled_by_mouse(page: Page, key: str) -> str:
    """Return the start tag of what fills the inputs of a form where it is pressed, or what that brings up is.

    Presses that all fill them alike choose nothing.
    """
    held: set[str] = set()
    await pointable(page, "mark", "(?!)")  # what comes up is told from what is there now
    async for tag, before, after in _presses_in(page, key, MARKS):
        last: _State | None = after
        held.add(after.held)
        entries = await pointable(page, "fresh", "(?!)") if after.held == before.held else []
        if entries:  # the first may say what to choose
            await page.clicked(len(entries) - 1)
            last = await _state(page, key)
            held |= {last.held} if last is not None else set()
        if len(held) > 1:
            await asyncio.sleep(2 * ALONE)
            return tag if last is not None and await _state(page, key) == last else ""
        await pointable(page, "mark", "(?!)")
        await page.inspect("choices", key, MARKS)
    return ""


async def _filled_by_name(page: Page, key: str) -> bool:
    """Say whether a control with a name outside a form fills its hidden inputs."""
    for node in presses(await page.look())[:MAX_PRESSES]:
        before = await _state(page, key)
        if str((await page.ask(node, "control") or {}).get("key")) == key or not await page.click(node):
            continue
        await asyncio.sleep(REACTION)
        after = await _state(page, key)
        if before is None or after is None or after.hidden != before.hidden:
            return True
    return False


def _disabled(outline: Outline) -> list[Node]:
    """Return the fields of a page that take no text, where no other does."""
    fields = [node for node in outline.entries() if "search" not in node.path]
    return fields if all(node.disabled and node.role != "searchbox" for node in fields) else []


async def _closed(visit: Visit, outline: Outline) -> TaskResult:
    """Return the ending of an open page whose fields are disabled: of its form, where a choice by name enables it.

    Blocked where only a mouse does, else a doubt: it may be closed to everybody.
    """

    def is_free(shown: Outline) -> bool:
        return any(is_entry(node) and not node.disabled for node in shown.entries())

    inside = [node for node in outline.nodes if DIALOGS & set(node.path)] or outline.main()
    shown, tag = await enabled(visit, inside, is_free)
    forms = await forms_of(visit.page, shown) if shown is not None else []
    if shown is not None and forms:
        return await _judge(visit, shown, max(forms, key=size))
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
    ending, filled = await _fill_all(visit, form)
    if ending is None and not custom and form.has_steps:  # a press may lead to the next one
        ending = await _unsent(visit, outline, form, filled)
    if ending is None and in_form and not custom:
        custom = await _by_mouse(visit, form)
    if ending is None and not custom and not form.has_steps:
        ending = await _unsent(visit, outline, form, filled)
    visit.step("left", note="the form, without sending it")
    if ending is None and custom:
        return ended("form-custom", url=form.url, snippet=custom)
    left = visit.page.fence.writes - written
    facts = {
        "count": count(len(filled), "control"),
        "sent": f"{count(left, 'request')} sent" if left else "nothing sent",
    }
    if any(NEXT.search(control.about["buttons"]) for control in form.controls):
        facts["sent"] += "; the form has more steps, and only the first was tried"
    return ending or ended("form-done", facts, url=form.url)


async def _unsent(visit: Visit, outline: Outline, form: Form, filled: Sequence[Control]) -> TaskResult | None:
    """Return the ending where a form, which is filled, cannot be sent, nor its next step be reached."""
    nodes = [control.node for control in filled if control.node.role in ENTRIES]
    reason, tag = await sent_by_mouse(visit, outline, form.key, nodes)
    return ended(reason, url=form.url, snippet=tag) if reason else None


async def _fill_all(visit: Visit, form: Form) -> tuple[TaskResult | None, list[Control]]:
    """Fill the controls in order; return the ending at the first that does not take its value, and those that did.

    What a choice closes is not asked for: it is left out. What it draws anew is asked for as it stands then.
    """
    filled: list[Control] = []
    tried: set[tuple[str, str]] = set()
    waiting = form.controls[:MOST]
    while waiting:
        if filled and await visit.page.ask(waiting[0].node, "control") is None:
            waiting = (await _drawn_anew(visit, form, tried))[: MOST - len(tried)]
            if not waiting:
                raise Stuck("a control of the form does not answer")
        control = waiting.pop(0)
        node = control.node
        tried.add((node.role, node.name))
        begun = len(visit.page.fence.held)
        if await _is_closed(visit, control, filled):
            visit.step("looked", node, note="which a choice of the form closes")
            continue
        # a busy machine may be late with what was typed: no control is blamed for one try
        is_kept = await fill(visit.page, control)
        if is_kept is False:
            is_kept = await fill(visit.page, control)
        verb = "chose" if control.chosen else "filled"
        visit.step(verb, node, mark="done" if is_kept else "stuck")
        if not is_kept:
            return await _not_kept(visit, form, control, begun, is_unsure=is_kept is None), filled
        filled.append(control)
    return None, filled


async def _drawn_anew(visit: Visit, form: Form, tried: Collection[tuple[str, str]]) -> list[Control]:
    """Return the controls of a form as it stands now, but for those whose role and name were ``tried``."""
    forms = await forms_of(visit.page, await visit.page.look())
    controls = next((one.controls for one in forms if one.key == form.key), [])
    return [control for control in controls if (control.node.role, control.node.name) not in tried]


async def _is_closed(visit: Visit, control: Control, filled: Sequence[Control]) -> bool:
    """Say whether a choice among those that were ``filled`` closes a control.

    The last box is pressed again, which may open it.
    """
    chosen = [one for one in filled if one.chosen]
    if not chosen or _is_open(await visit.page.ask(control.node, "control")):
        return False
    last = chosen[-1].node
    opens = last.role in TICKED and last.role != "radio" and await visit.page.click(last)
    return not opens or not _is_open(await visit.page.ask(control.node, "control"))


def _is_open(about: dict[str, Any] | None) -> bool:
    """Say whether a control, by what it says of itself, can be filled; one that does not answer is tried."""
    return about is None or (about["visible"] and not about["disabled"])


async def _not_kept(visit: Visit, form: Form, control: Control, begun: int, *, is_unsure: bool) -> TaskResult:
    """Return the ending at a control that did not take its value. ``begun``: how much was held before it was tried."""
    node, fence = control.node, visit.page.fence
    # a key may have sent the form, which brings no choices
    if fence.sockets or any(one.sends and not one.document for one in fence.held[begun:]):
        return await visit.blame("form-network", node, url=form.url)
    now = await visit.page.ask(node, "control")
    if now is None:
        raise Stuck("a control of the form does not answer")
    if is_unsure or (not control.about["readonly"] and (control.about["checked"] or now["checked"])):
        return await visit.blame("form-unsure", node, url=form.url)
    if not control.about["readonly"]:
        return await visit.blame("form-lost", node, url=form.url)
    key = str(form.key)
    closed = form.key >= 0 and await visit.page.inspect("unwritable", key) is True
    closed = closed and not await _filled_by_mouse(visit.page, key)
    return await visit.blame("form-unwritable" if closed else "form-readonly", node, url=form.url)
