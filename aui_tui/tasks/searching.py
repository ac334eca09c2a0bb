"""The task "search": results for a word of the site that a nonsense word does not give."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

from aui_tui.model.tasks import TaskResult
from aui_tui.tasks.enabling import choices_that, choose, enabled, frees
from aui_tui.tasks.fields import (
    behind,
    disabled_button,
    disabled_field,
    field_of,
    fields_of,
    hidden_field,
    likely_field,
    opener,
    search_field,
)
from aui_tui.tasks.outline import ENTRIES, NOTHING, Node, Outline
from aui_tui.tasks.page import Closed, Page, Stuck
from aui_tui.tasks.pointing import (
    MAX_PRESSES,
    SENT,
    by_control,
    by_mouse_alone,
    by_pointing,
    lack,
    pointable,
    presses,
)
from aui_tui.tasks.reading import items, pictures
from aui_tui.tasks.results import Hit, SearchResult, appeared, given_by_the_word, results
from aui_tui.tasks.sending import by_name, effect, pointing
from aui_tui.tasks.trials import Spot
from aui_tui.tasks.visit import Choices, Visit, ended
from aui_tui.tasks.vocabulary import MAIL, SAYS_SEARCH, SEARCH, words
from aui_tui.text import count

NONSENSE: Final = "qzxvkj"
QUERIES: Final = 2
MAX_SENDERS: Final = 3
"""What is pressed beside keys on the screen to send what they wrote."""
MAX_FIELDS: Final = 2
"""Fields without a name that are typed into."""
MAX_ICONS: Final = 2
"""Icons beside such a field that are pressed to send what was typed."""
MAX_RESULTS: Final = 4
"""What may be a result for a mouse alone and is pressed."""
TYPED: Final = 0.9
"""Seconds in which a script may begin to search for what was typed."""
STARTED: Final = 0.3
"""The same where the page tells that no timer is due."""
AWAITED: Final = 4.0
"""Seconds for the answers that a script asked for while typing."""
LOOK: Final = 0.15
BEGUN: Final = 0.05
NOT_AGAIN: Final = "its search took one word and not another"
_FIELD: Final = re.compile(r"<(?:input|textarea)\b|<[^>]*\brole=")
_WORD: Final = re.compile(r"[^\W\d_]{4,}")
_TEMPLATE: Final = re.compile(r'"target"\s*:\s*(?:\{[^{}]*"urlTemplate"\s*:\s*)?("[^"]*\{search_term_string\}[^"]*")')
_TERM: Final = re.compile(r"\{search_?[tT]erms?(?:_string)?\??\}")
_OPTIONAL: Final = re.compile(r"\{[\w:]{1,40}\?\}")
"""Parameters of OpenSearch 1.1 that may be left out."""


def queries(visit: Visit) -> list[tuple[str, bool]]:
    """Return words to search for, best first, each with whether it stands in the name of an item."""
    home = visit.home
    around = [node.name for node in home.nodes if {"navigation", "banner"} & set(node.path) and node.role == "link"]
    title, menu = words(home.title), words(" ".join(around))
    offered = items(visit, home)[:8]
    named = [node.name for node in offered or items(visit, home, main=False)[:8]]
    names = named if offered else [*named, *home.headings()]
    prose = " ".join(node.text for node in home.main() if node.text)[:600]
    source: dict[str, int] = {}
    """The name in which a word stands first; the prose comes last."""
    for place, text in enumerate((*names, prose)):
        for word in _WORD.findall(text):
            if words(word) and not words(word) & title:
                source.setdefault(word, place)

    def rank(word: str) -> tuple[bool, bool, bool, int]:
        # a word of the menu, or of every row, stands on every page, so it tells less than others
        common = len(names) > QUERIES and all(word in name for name in names)
        return source[word] == len(names), common, bool(offered and words(word) & menu), -min(len(word), 8)

    ordered = sorted(source, key=rank)
    best: dict[int, str] = {}
    for word in ordered:
        # one of each name; where the page lists no items, one of its menu and one of what it says
        best.setdefault(source[word] if offered else source[word] >= len(named), word)
    # words of several names: where one name is not searched for, its other words are not either
    chosen = list(dict.fromkeys((*best.values(), *ordered)))[:QUERIES]
    return [(word, bool(offered) and source[word] < len(names)) for word in chosen]


async def search(visit: Visit) -> TaskResult:
    """Search for a word of the site, then for nonsense: results count when nonsense does not give them."""
    asked_for = queries(visit)
    if not asked_for:
        return await _without_word(visit)
    tries: list[SearchResult] = []
    control: SearchResult | TaskResult | None = None
    for query, _ in asked_for:
        attempt = await _ask(visit, query)
        if isinstance(attempt, TaskResult):
            if tries:
                raise Stuck(NOT_AGAIN)
            return attempt
        tries.append(attempt)
        if attempt.why and attempt.likely:
            break
        if attempt.why:
            return await visit.blame(f"search-{attempt.why}", attempt.box)
        if attempt.hits or _jumped(visit, attempt):
            control = control or await _control(visit, attempt)
            if isinstance(control, TaskResult):
                raise Stuck(NOT_AGAIN)
            ending = _controlled(visit, attempt, control)
            if ending is not None:
                return ending
    if tries[-1].likely:
        return await _not_typed(visit, tries[-1].query)
    return await _failed(visit, tries, named=any(in_name for _, in_name in asked_for))


async def seeks(visit: Visit, outline: Outline) -> bool:
    """Say whether a page, which is open, has something to search with: a field, or what may open one."""
    _, box, nameless = await search_field(visit, outline, opens=False)
    return box is not None or nameless is not None or opener(outline) is not None


async def _control(visit: Visit, attempt: SearchResult) -> SearchResult | TaskResult:
    """Ask for a nonsense word: by the address of the results, where a form put the word there, else by typing."""
    page, url = visit.page, attempt.outline.url
    parts, response = urlsplit(url), visit.page.response
    document = response is not None and response.url == url and visit.same_site(url)
    if visit.act or not document or attempt.form.get("method") != "get" or parts.query.count(quote(attempt.query)) != 1:
        return await _ask(visit, NONSENSE)
    named = parts._replace(query=parts.query.replace(quote(attempt.query), NONSENSE)).geturl()
    try:
        outline = await page.open(named)
    except (Closed, Stuck):
        return await _ask(visit, NONSENSE)
    visit.step("opened", note=f"the same address for “{NONSENSE}”", outline=outline)
    return replace(attempt, query=NONSENSE, outline=outline, hits=results(outline, NONSENSE, attempt.before))


async def _without_word(visit: Visit) -> TaskResult:
    """Return the ending where the page holds no word to search for: there may be no field for one either."""
    _, box, nameless = await search_field(visit, await visit.here(visit.url))
    if nameless is not None:
        return await visit.blame("search-unnamed", nameless)
    return ended("search-no-query") if box is not None else await _no_field(visit, NONSENSE)


def _controlled(visit: Visit, attempt: SearchResult, control: SearchResult) -> TaskResult | None:
    """Return the ending of a search beside the ``control`` for a nonsense word; None when that gives the same."""
    fresh = given_by_the_word(attempt, control, NONSENSE)
    visit.step("compared", note=f"{len(fresh)} of {len(attempt.hits)} not given by a nonsense word")
    if fresh:
        facts = {"results": count(len(fresh), "result"), "query": attempt.query}
        return ended("search-done", facts, url=attempt.outline.url)
    if _jumped(visit, attempt) and control.outline.url != attempt.outline.url:
        facts = {"query": attempt.query, "title": attempt.outline.title}
        return ended("search-jump", facts, url=attempt.outline.url)
    return None


def _jumped(visit: Visit, attempt: SearchResult) -> bool:
    """Say whether a search led straight to a page of that name."""
    outline = attempt.outline
    title_words = words(" ".join([*outline.headings()[:1], outline.title])) - words(visit.home.title)
    elsewhere = outline.url != visit.home.url and not urlsplit(outline.url).query
    return elsewhere and bool(words(attempt.query) & title_words)


async def _ask(visit: Visit, query: str) -> SearchResult | TaskResult:
    """Type a query; if results do not appear by themselves, send it. Return the ending where nothing can be typed."""
    attempt = await _typed(visit, query)
    if isinstance(attempt, TaskResult):
        return attempt
    page, fence = visit.page, visit.page.fence
    if attempt.box.role == "searchbox" or "search" in attempt.box.path:
        fence.query = query
    failures, held = fence.failures, len(fence.held)
    if not await _while_typing(visit, attempt):
        action = str(attempt.form.get("action") or "")
        if attempt.form.get("method") == "post" and not visit.act:
            attempt.why = "post"
        elif action.startswith("http") and not visit.same_site(action):
            attempt.why = "elsewhere"
        else:
            with fence.act() if visit.act else nullcontext():
                await _send(visit, attempt)
    attempt.failed = fence.failures > failures or page.waits()
    attempt.held = any(request.own and request.sends for request in fence.held[held:])
    return attempt


async def _not_typed(visit: Visit, query: str) -> TaskResult:
    """Return the ending of a page whose only form that might search does not."""
    ending = await _typed(visit, query, likely=False)
    if not isinstance(ending, TaskResult):
        raise Stuck(NOT_AGAIN)
    return ending


async def _typed(visit: Visit, query: str, *, likely: bool = True) -> SearchResult | TaskResult:
    """Open the homepage, find the search field and type into it; return the ending where that cannot be.

    Where no field is named for searching a ``likely`` one will do.
    """
    page, fence = visit.page, visit.page.fence
    before = await visit.shown(visit.url)
    if page.touched and await seeks(visit, before):
        before = await visit.here(visit.url)
    begun = len(fence.held)
    before, box, nameless = await search_field(visit, before)
    if nameless is not None:
        visit.step("found", nameless, note="a field without a name", mark="stuck", outline=before)
        return await visit.blame("search-unnamed", nameless)
    if box is None and page.stands:
        before, box = await _by_choice(visit, before)
    likely = likely and box is None and page.stands
    if likely:
        box = await likely_field(visit, before)
    if box is None:
        by_form = await hidden_field(visit, before)

        def sought(seen: Outline) -> Node | None:
            return field_of(seen) or (by_form if by_form in seen.nodes else None if page.stands else _entry(seen))

        apart = await visit.kept_out(before, sought)
        if apart is not None:
            return apart
        # what would have opened the search may need what was held back
        if any(request.own and request.sends for request in fence.held[begun:]):
            return ended("search-held", {"queries": "a word"})
        typed = await _typed_by_mouse(visit, query) if not page.stands else None
        return typed or await _by_address(visit, query)
    form = await page.ask(box, "control") or {}
    if form.get("readonly"):
        before, box = await behind(visit, before, box)
        form = await page.ask(box, "control") or {}
    visit.step("found", box, outline=before)
    if form.get("readonly") and await _by_buttons(visit, before, box, query):
        return SearchResult(query, box, form, before, before)
    if not await page.type(box, query):
        box = await visit.again(box) or box  # a script may have drawn it anew
        if not await page.type(box, query):
            return await (_not_typed(visit, query) if likely else visit.blame("search-type", box))
    visit.step("typed", box, note=f"“{query}”")
    return SearchResult(query, box, form, before, before, likely=likely)


async def _by_choice(visit: Visit, before: Outline) -> tuple[Outline, Node | None]:
    """Make the choices that open the search field of the homepage, where there is one; return the page and the field.

    They are found while nothing can leave, and made again, the last first, where they asked for nothing.
    """
    page, place = visit.page, visit.place(visit.url)
    field = await disabled_field(visit, before)
    if field is None:
        return before, None
    is_free = frees(before, field)
    if place not in visit.choices:
        begun = len(page.fence.held)
        shown, chosen = await choices_that(visit, _near(before), is_free)
        visit.choices[place] = Choices(shown is not None, chosen if len(page.fence.held) == begun else [])
    made = visit.choices[place]
    outline = await visit.here(visit.url)
    for choice in (*made.nodes[-1:], *made.nodes) if made.enough else ():
        node = next((one for one in outline.nodes if (one.role, one.name) == (choice.role, choice.name)), None)
        if node is not None and await choose(page, node):
            outline = await page.settle()
        if is_free(outline):
            return outline, (await search_field(visit, outline, opens=False))[1]
    return outline, None


def _near(outline: Outline) -> list[Node]:
    """Return the nodes of a page, those of its search first."""
    return sorted(outline.nodes, key=lambda node: "search" not in node.path)


async def _by_buttons(visit: Visit, outline: Outline, box: Node, query: str) -> bool:
    """Type a word by pressing buttons named by its letters, as of a keyboard on the screen; say whether that worked."""
    keys = {node.name.casefold(): node for node in outline.of("button", "gridcell", "option") if not node.disabled}
    letters = [keys.get(letter) for letter in query.casefold()]
    for letter in letters:
        if None in letters or letter is None or not await visit.page.click(letter):
            return False
    visit.step("pressed", letters[0], note=f"and so on, for “{query}”")
    return await visit.page.focus(box)


async def _while_typing(visit: Visit, attempt: SearchResult) -> bool:
    """Wait for results that appear by themselves; say whether any did."""
    page, begin = visit.page, time.monotonic()
    while True:
        await asyncio.sleep(LOOK)
        outline = await page.look(whole=False)
        hits = _leading(outline, attempt)
        if hits:
            outline = await page.look()
            hits = _leading(outline, attempt)
        if hits:
            attempt.outline, attempt.hits = outline, hits
            visit.step("saw", note=f"{count(len(hits), 'result')} while typing", outline=outline)
            return True
        waited = time.monotonic() - begin
        begun = waited >= TYPED or (waited >= STARTED and page.rest is not None and page.rest >= 0)
        if waited >= AWAITED or (begun and not page.fence.pending(page.tab)):
            return False


def _leading(outline: Outline, attempt: SearchResult) -> set[Hit]:
    """Return the results that lead to a page."""
    return {hit for hit in results(outline, attempt.query, attempt.before) if hit[1].startswith("http")}


async def _send(visit: Visit, attempt: SearchResult) -> None:
    """Press Enter, then a button that searches if nothing came of it."""
    page, fence, box = visit.page, visit.page.fence, attempt.box
    begun, tabs = len(fence.held), set(page.tab.context.pages)

    async def see(node: Node | None, note: str = "") -> None:
        await _asked(page)
        outline = await page.settle()
        outline = await page.beside(tabs) or outline
        attempt.outline, attempt.hits = outline, results(outline, attempt.query, attempt.before)
        visit.step("pressed", node, note=note, mark="done" if attempt.moved else "part", outline=outline)

    await page.press("Enter")
    await see(box, "Enter")
    if not attempt.moved:
        go = next((node for node in attempt.outline.of("button") if _searches(node) and not node.disabled), None)
        if go is not None and await page.hit(go) is not False and await page.click(go):
            await see(go)
    documents = (held for held in fence.held[begun:] if held.document)
    stopped = [held.why for held in documents if held.page is page.tab or attempt.query in held.url]
    if attempt.hits:
        visit.step("saw", note=count(len(attempt.hits), "result"), outline=attempt.outline)
    elif stopped:
        attempt.why = {"robots": "robots", "method": "post"}.get(stopped[0], "elsewhere")


async def _asked(page: Page) -> None:
    """Wait until what was sent asks for something, or does not."""
    for _ in range(round(SENT / BEGUN)):
        if page.fence.pending(page.tab):
            break
        await asyncio.sleep(BEGUN)


def _searches(node: Node) -> bool:
    return SEARCH.search(node.name) is not None or (node.name.casefold() in ("go", "ok") and "search" in node.path)


async def _failed(visit: Visit, tries: list[SearchResult], *, named: bool) -> TaskResult:
    """Return the ending where no query brought a result: blocked where it is seen why, else inconclusive."""
    last = tries[-1]
    facts = {"query": last.query, "queries": " or ".join(f"“{attempt.query}”" for attempt in tries)}
    reason, looked_for = "search-nothing", ""
    if any(attempt.held for attempt in tries):
        reason = "search-held"
    elif any(attempt.failed for attempt in tries):
        reason = "search-waiting"
    elif (button := disabled_button(last.outline)) is not None and not last.reacted:
        if await _typed_again(visit, last.query):
            return await _closed(visit, await visit.page.look(), button)
    elif last.form.get("readonly") and (tag := await _into_read_only(visit, tries)):
        reason, looked_for = "search-keys", "keys that are buttons"
        facts["example"] = tag
    elif shown := await (_unlinked if last.reacted else _drawn_anew)(visit, last, named=named):
        reason, looked_for = "search-no-results", "results with a role"
        facts["shown"] = shown
    elif tag := await _led_by_mouse(visit, [attempt.query for attempt in tries if attempt.reacted]):
        reason, looked_for = "search-no-results", "results with a role"
        facts["shown"] = f"; {tag} takes the mouse and {lack(tag)}"
    elif not any(attempt.moved for attempt in tries) and (tag := await _by_mouse(visit, last.query)):
        reason, looked_for = "search-mouse", "a button by name"
        facts["example"] = tag
    if not looked_for:
        return ended(reason, facts, node=last.box, url=last.outline.url)
    visit.step("looked", note=f"for {looked_for}", mark="stuck", outline=last.outline)
    return await visit.blame(reason, last.box, facts, url=last.outline.url)


async def _closed(visit: Visit, outline: Outline, node: Node) -> TaskResult:
    """Return the ending of a search whose field or button, ``node``, is disabled on the page that is open.

    Blocked where only a mouse enables it, else a doubt: it may be closed to everybody.
    """

    made = visit.choices.get(visit.place(visit.url)) if node.role != "button" else None
    if made is not None and made.enough:
        return ended("search-closed", node=node, url=outline.url)
    _, tag = await enabled(visit, _near(outline) if made is None else [], frees(outline, node))
    return ended("search-disabled" if tag else "search-closed", node=node, url=outline.url, snippet=tag)


async def _by_mouse(visit: Visit, query: str) -> str:
    """Return the start tag of what a mouse alone sends the search with, beside the field or among its suggestions.

    What listens to a finger alone is named untried. Empty where Enter or a control with a name does something too.
    """
    page, fence = visit.page, visit.page.fence
    if not await _typed_again(visit, query) or await effect(page, lambda: page.press("Enter")):
        return ""
    if not await _typed_again(visit, query):
        return ""
    before = await page.look(whole=False)
    for at, tag in enumerate(await _senders(visit, query)):
        begun = len(fence.held)
        if await page.clicked(at) is None:
            continue
        await asyncio.sleep(SENT)
        shown = await page.look(whole=False)
        sender = next(filter(_searches, shown.of("button")), None)
        if query in tag and sender is not None and len(fence.held) == begun and await page.click(sender):
            await asyncio.sleep(SENT)  # the entry had to be picked before
        asked = [held.url for held in fence.held[begun:] if held.own and (held.document or held.sends)]
        led = {url for url in asked if quote(query) in url or (query in tag and not visit.at_home(url))}
        done = led | {name for name, _ in results(await page.look(whole=False), query, before)}
        if done:
            visit.step("pressed", note=tag, mark="stuck", outline=page.outline)
            return tag if await _typed_again(visit, query) and not await by_name(page, done, query) else ""
    return str(await page.inspect("touched") or "")


async def _into_read_only(visit: Visit, tries: Sequence[SearchResult]) -> str:
    """Return the start tag of the first key that a mouse presses to type into a field that takes no typing."""
    for attempt in tries:
        _, box, _ = await search_field(visit, await visit.here(visit.url))
        await visit.page.attempt()
        if box is not None and await visit.page.click(box):  # it may show the keys
            await asyncio.sleep(STARTED)
        key = await _by_keys(visit, attempt.query)
        if key:
            return key
    return ""


async def _by_keys(visit: Visit, query: str) -> str:
    """Search a page, which is open, by a mouse that presses keys which are no buttons; return the tag of the first."""
    page, fence = visit.page, visit.page.fence
    keys = await pointable(page, "key", query.casefold())
    if not keys:
        return ""
    await page.attempt()
    begun, before = len(fence.held), await page.look(whole=False)

    def written(outline: Outline) -> int:
        return sum((node.text or node.name).casefold() == query.casefold() for node in outline.nodes)

    def found(outline: Outline) -> bool:
        asked = any(quote(query.casefold()) in held.url.casefold() for held in fence.held[begun:])
        return asked or bool(results(outline, query, before))

    for at in range(len(query)):
        await page.clicked(at)
    shown = await page.look(whole=False)
    if written(shown) <= written(before):
        return ""
    go = next((node for node in shown.of("button") if _searches(node) and not node.disabled), None)
    if not found(shown) and go is not None and await page.click(go):
        shown = await page.view(SENT)
    for at in range(len(query), len(query) + MAX_SENDERS + 1):
        if found(shown):
            visit.step("typed", note=keys[0].tag, mark="stuck", outline=shown)
            return keys[0].tag
        shown = await page.clicked(at) or shown
    return ""


async def _senders(visit: Visit, query: str) -> list[str]:
    """Return start tags and texts of what may send what was typed and is no control: suggestions first."""
    return list(map(str, await visit.page.inspect("typed", query) or ()))[:MAX_PRESSES]


async def _typed_again(visit: Visit, query: str) -> bool:
    """Open the homepage, type, wait for what that brings, and let nothing leave then; say whether that worked."""
    page = visit.page
    _, box, _ = await search_field(visit, await visit.here(visit.url))
    if box is None or not await page.type(box, query):
        return False
    await asyncio.sleep(TYPED)
    await page.fence.shut()
    return True


async def _unlinked(visit: Visit, last: SearchResult, *, named: bool) -> str:
    """Return what shows the results to eyes alone: a drawing, or text that the accessibility tree leaves out.

    ``named``: the word stands in the name of an item, so that a drawing may be that.
    """
    drawn = await pictures(visit) if named else ""
    if drawn:
        return drawn
    query = last.query.casefold()
    left_out, had_left_out = ({n.text or n.name for n in page.dom_only} for page in (last.outline, last.before))
    is_apart = any(query in text.casefold() for text in left_out - had_left_out)
    return ", for what appears is left out of the accessibility tree" if is_apart else ""


async def _drawn_anew(visit: Visit, last: SearchResult, *, named: bool) -> str:
    """Return what of the page is drawn without words once something is typed, and was not before; empty without it.

    ``named``: as in ``_unlinked``. What a script writes on a canvas counts where it holds what was typed.
    """
    page, query = visit.page, last.query.casefold()
    drawn, written = await pictures(visit) if named else "", str(await page.query("painted") or "")
    is_written = query in written.casefold()
    if not (drawn or is_written):
        return ""
    await visit.shown(visit.url)
    had, had_written = await pictures(visit), str(await page.query("painted") or "")
    if not await _typed_again(visit, last.query):
        return ""
    if is_written and query not in had_written.casefold():
        await visit.shown(visit.url)
        echoes = await _typed_again(visit, NONSENSE) and NONSENSE in str(await page.query("painted") or "").casefold()
        return "" if echoes else "; a canvas draws what is found"
    return drawn if drawn != had else ""


async def _led_by_mouse(visit: Visit, queries: Sequence[str]) -> str:
    """Return start tag and text of a result of one of the ``queries`` that only a mouse opens; empty without one.

    It came for the word and not for nonsense, no link with a name did, and it leads on, or shows more of the word, once
    a mouse is on it or presses it, which nothing does by itself, nor a control with a name.
    """
    control = await _ask(visit, NONSENSE) if queries else None
    noise = (
        [spot.tag.casefold().replace(NONSENSE, "") for spot in await _came_up(visit.page, NONSENSE)] if queries else []
    )
    for query in queries:
        attempt = await _ask(visit, query)
        if isinstance(control, SearchResult) and isinstance(attempt, SearchResult):
            tag = await _result_by_mouse(visit, attempt, control, noise)
            if tag:
                return tag
    return ""


async def _result_by_mouse(visit: Visit, attempt: SearchResult, control: SearchResult, noise: Sequence[str]) -> str:
    """Return what ``_led_by_mouse`` does, for the query of an ``attempt`` whose results are open.

    ``noise``: the tags of what a query for nonsense, the ``control``, brings.
    """
    page, query = visit.page, attempt.query
    if attempt.outline.url != page.tab.url:
        return ""
    if set(appeared(attempt.outline, attempt.before)) - set(appeared(control.outline, control.before)):
        return ""
    spots = await _came_up(page, query, *noise)
    await page.attempt()
    for at, spot in enumerate(spots[:MAX_RESULTS]):
        before, begun = await page.look(whole=False), len(page.fence.held)
        done = await effect(page, pointing(page, at))
        says = query.casefold() in spot.tag.casefold()
        asked = {held.url for held in page.fence.held[begun:] if held.own and (says or held.document)}
        led = {url for url in asked & done if visit.leads_on(url) and quote(query) not in urlsplit(url).query}
        told = [name for name, url in appeared(page.outline, before) if visit.same_site(url) and visit.leads_on(url)]
        said = [name.casefold() for name in (query, *told)]
        done = led | {
            one for one in done if not one.startswith("http") and any(name in one.casefold() for name in said)
        }
        if not done:
            continue
        visit.step("pressed", note=spot.tag, mark="stuck", outline=attempt.outline)
        if led == done and not says and not await _mentions(visit, led, query):
            return ""
        await _ask(visit, query)
        is_there = spot.tag in (one.tag for one in await _came_up(page, query, *noise))
        await page.attempt()
        return spot.tag if is_there and not await by_name(page, done, query) else ""
    return ""


async def _mentions(visit: Visit, urls: set[str], query: str) -> bool:
    """Say whether one of the pages holds a word in its address, or in its text when it is opened."""
    if any(quote(query).casefold() in url.casefold() for url in urls):
        return True
    try:
        return query.casefold() in (await visit.open(min(urls))).text().casefold()
    except (Closed, Stuck):
        return False


async def _came_up(page: Page, query: str, *noise: str) -> list[Spot]:
    """Return what may be a result for a mouse, but what nonsense brings too."""
    return await pointable(page, "result", json.dumps([query.casefold(), *noise]))


async def _by_address(visit: Visit, query: str) -> TaskResult:
    """Search without a field: by the address of a SearchAction or an OpenSearch description."""
    match = _TEMPLATE.search(visit.home.jsonld)
    template = str(json.loads(match[1])) if match is not None else str(await visit.page.query("opensearch") or "")
    named = _TERM.sub(quote(query), template)
    if named == template:
        return await _no_field(visit, query)
    url = urljoin(visit.home.url, _OPTIONAL.sub("", named))
    if not visit.same_site(url):
        return ended("search-elsewhere")
    objection = await visit.page.fence.objection(url)
    if objection:
        return ended("search-robots" if objection == "robots" else "read-unknown")
    outline = await visit.open(url)
    hits = results(outline, query, visit.home)
    if hits:
        return ended("search-address", {"results": count(len(hits), "result"), "query": query}, url=url)
    return ended("search-nothing", {"queries": f"“{query}”"}, url=url)


async def _no_field(visit: Visit, query: str) -> TaskResult:
    """Return the ending where no field, button or address for searching is named.

    What a mouse alone opens accuses nobody where a control with a name that is unknown here opens a field too.
    """
    before = await visit.shown(visit.url)  # what seemed to open the search may have led elsewhere
    had = [node.name for node in fields_of(before)]  # none of them searches
    hidden = await visit.page.inspect("hidden-search")

    def shows(shown: Outline) -> bool:
        return any(node.name not in had for node in fields_of(shown)) or (
            bool(hidden) and _entry(shown) is not None and _entry(before) is None
        )

    ending = await _by_eye(visit, shows, str(hidden["opener"]) if hidden else "", query)
    if ending is None and not hidden:
        return ended("search-absent")
    if await by_control(visit, visit.url, shows) is not None:
        return ended("search-hidden")
    # a field that nothing shows is none, where everything that may show it was tried
    return ending or ended("search-hidden" if len(presses(before)) > MAX_PRESSES else "search-absent")


async def _by_eye(visit: Visit, shows: Callable[[Outline], bool], opener: str, query: str) -> TaskResult | None:
    """Return the ending where a person sees a search that an agent by role and name does not find; None without one."""
    for question, reason in (("search-fake", "search-no-role"), ("search-opener", "search-no-name")):
        snippet = str(await visit.page.inspect(question) or "")
        if snippet:
            visit.step("looked", note="for a search field", mark="stuck", outline=visit.home)
            return ended(reason, snippet=snippet)
    text = await by_mouse_alone(visit, visit.home, SEARCH)
    if text is not None:
        return ended("search-no-button", {"name": (text.text or text.name).strip()}, node=text)
    shown = await visit.shown(visit.url)
    disabled = await disabled_field(visit, shown)
    if disabled is not None:
        return await _closed(visit, await visit.here(visit.url), disabled)
    key = await _by_keys(visit, query)
    if key:
        return ended("search-keys", {"example": key}, snippet=key)
    await visit.shown(visit.url)
    pointed = opener or await by_pointing(visit, "field", shows, SAYS_SEARCH)
    if pointed:
        return ended("search-no-name", snippet=pointed)
    await visit.shown(visit.url)
    return await _typed_by_mouse(visit, query)


def _entry(outline: Outline) -> Node | None:
    return next((node for node in outline.of(*ENTRIES)), None)


async def _typed_by_mouse(visit: Visit, query: str) -> TaskResult | None:
    """Press what has no name on a page, which is open, type and send ``query``; return the ending where that searches.

    What the press alone shows, such as a link to a heading, is no result. A canvas is pressed in several places.
    """
    page, fence = visit.page, visit.page.fence
    if not visit.spare:
        return None
    entries = await pointable(page, "entry", MAIL.pattern) if page.stands else []
    for entry in entries[:MAX_FIELDS]:
        sender = await _sender(visit, entry, query)
        if sender is None or not await _searches_in(visit, entry, query, sender):
            continue
        if not await _sent_by_name(visit, entry, query):
            visit.step("typed", note=entry.tag, mark="stuck", outline=page.outline)
            is_field = _FIELD.match(entry.tag) is not None
            return ended("search-unnamed" if is_field else "search-by-mouse", snippet=entry.tag)
    if entries:
        await visit.shown(visit.url)
    spots = await pointable(page, "field", SAYS_SEARCH)
    glimpse = await page.query("glimpse") if page.stands else None
    await page.attempt()
    first, is_known = await page.view(0), False
    for at, spot in enumerate(spots):
        begun, point = len(fence.held), await page.point(at)
        if point is None:
            continue
        places = await page.query("places", [at, SAYS_SEARCH]) or ()
        painted = str(await page.query("painted") or "") if places else ""
        for place in [point._replace(x=x, y=y, is_control=False) for x, y in places] or [point]:
            pressed = await page.pointed(place, press=True)
            if await page.query("writes") or await page.inspect("keyed") is False:
                continue
            # what neither reacts nor changes gets the keys that the whole page gets: once is enough
            is_idle = not spot.live and pressed == first and not spot.tag.startswith("<canvas")
            if is_idle and is_known:
                continue
            is_known = is_known or is_idle
            await page.write(query)
            await page.press("Enter")
            shown = await page.view(SENT)
            asked = [held for held in fence.held[begun:] if quote(query) in held.url]
            if asked or results(shown, query, pressed):
                visit.step("typed", note=spot.tag, mark="stuck", outline=page.outline)
                # a canvas may ask for a page that holds what was typed, and be a game that keeps a name
                pages = [held.url for held in asked if held.own and held.document] if places else []
                is_search = await _answers(visit, pages[0], query) if pages else not asked or not places
                if is_search or (not pages and re.search(SAYS_SEARCH, painted, re.IGNORECASE)):
                    return ended("search-by-mouse", snippet=spot.tag)
                return None
    page.intact = await page.is_as(glimpse, back=True)
    return None


async def _answers(visit: Visit, url: str, query: str) -> bool:
    """Say whether the page at an address that holds a word gives results that it does not for nonsense."""
    tries = []
    for word in (query, NONSENSE):
        try:
            outline = await visit.open(url.replace(quote(query), NONSENSE) if word is NONSENSE else url)
        except (Closed, Stuck):
            return False
        tries.append(SearchResult(word, NOTHING, {}, outline, visit.home, results(outline, word, visit.home)))
    return bool(given_by_the_word(tries[0], tries[1], NONSENSE))


async def _sender(visit: Visit, entry: Spot, query: str) -> int | None:
    """Type into a field without a name while nothing can leave; return what searches for that: None where nothing does.

    It is numbered: 0 for Enter, or for typing alone, then the icons beside the field.
    """
    page = visit.page
    before, begun = await visit.shown(visit.url), len(page.fence.held)
    await page.attempt()
    if not await _written(page, entry, query):
        return None
    for sender in range(1 + MAX_ICONS):
        if not await _sent(page, query, sender):
            return None
        if _came(page, await page.view(SENT), query, before, begun):
            return sender
    return None


def _came(page: Page, shown: Outline, query: str, before: Outline, begun: int) -> bool:
    """Say whether a word was asked for since so many requests were held, or gives results on the page."""
    asked = any(held.own and quote(query) in held.url for held in page.fence.held[begun:])
    return asked or bool(results(shown, query, before))


async def _searches_in(visit: Visit, entry: Spot, query: str, sender: int) -> bool:
    """Say whether a word typed into a field without a name, and sent so, gives results that nonsense does not."""
    tries = []
    for word in (query, NONSENSE):
        before = await visit.here(visit.url)
        if not await _written(visit.page, entry, word) or not await _sent(visit.page, word, sender):
            return False
        await _asked(visit.page)
        outline = await visit.page.settle()
        tries.append(SearchResult(word, NOTHING, {}, outline, before, results(outline, word, before)))
    return bool(given_by_the_word(tries[0], tries[1], NONSENSE))


async def _sent_by_name(visit: Visit, entry: Spot, query: str) -> bool:
    """Say whether a control with a name sends what is typed into a field without one."""
    page, before = visit.page, await visit.here(visit.url)
    begun = len(page.fence.held)
    await page.attempt()
    if not await _written(page, entry, query):
        return True
    if _came(page, await page.view(SENT), query, before, begun):
        return False  # typing does
    for node in presses(await page.look())[:MAX_PRESSES]:
        begun = len(page.fence.held)
        if await page.click(node) and _came(page, await page.view(SENT), query, before, begun):
            return True
    return False


async def _written(page: Page, entry: Spot, query: str) -> bool:
    """Press a field without a name on a page, which is open, and type into it; say whether it was found again."""
    paths = [spot.path for spot in await pointable(page, "entry", MAIL.pattern)]
    if entry.path not in paths or await page.clicked(paths.index(entry.path)) is None or await page.query("writes"):
        return False
    await page.write(query)
    return True


async def _sent(page: Page, query: str, sender: int) -> bool:
    """Press Enter, or the icon of that number beside the field that has the focus; say whether there is one."""
    if not sender:
        await page.press("Enter")
        return True
    tags = map(str, await page.inspect("typed", query) or ())
    icons = [at for at, tag in enumerate(tags) if query.casefold() not in tag.casefold()]
    return len(icons) >= sender and await page.clicked(icons[sender - 1]) is not None
