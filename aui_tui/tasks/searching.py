"""The task "search": results for a word of the site that a nonsense word does not give."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote, urljoin, urlsplit

from aui_tui.tasks.outline import ACTIONABLE, ENTRIES, Node, Outline
from aui_tui.tasks.reading import items, pictures
from aui_tui.tasks.visit import Ending, Visit
from aui_tui.tasks.vocabulary import SEARCH, acts, words
from aui_tui.text import clean, count

NONSENSE: Final = "qzxvkj"
QUERIES: Final = 2
FIELDS: Final = 6
"""Fields whose form is looked at, and texts that are asked whether they react to a click."""
TYPED: Final = 0.9
"""Seconds in which a script may begin to search for what was typed."""
AWAITED: Final = 4.0
"""Seconds for the answers that a script asked for while typing."""
LOOK: Final = 0.15
SENT: Final = 0.3
_WORD: Final = re.compile(r"[^\W\d_]{4,}")
_TEMPLATE: Final = re.compile(r'"target"\s*:\s*(?:\{[^{}]*"urlTemplate"\s*:\s*)?("[^"]*\{search_term_string\}[^"]*")')

_TERM: Final = re.compile(r"\{search_?[tT]erms?(?:_string)?\??\}")
_OPTIONAL: Final = re.compile(r"\{[\w:]{1,40}\?\}")
"""Parameters of OpenSearch 1.1 that may be left out."""

HITS: Final = frozenset({"link", "option", "treeitem"})
"""Roles of what a search gives."""

Found = set[tuple[str, str]]


@dataclass
class Asked:
    """How asking the site for a word ended: ``how`` is ``ok`` or a reason.

    ``outline`` is the page then, ``before`` the page before, ``found`` the results, ``box`` the field. ``gone``: links
    and options that went away, as where a list is filtered. ``moved``: another page, or results. ``reacted``: anything
    on the page changed. ``failed``: an answer that the page asked for did not come. ``held``: it
    asked to send something, which was held back.
    """

    how: str
    outline: Outline
    before: Outline = field(default_factory=Outline)
    found: Found = field(default_factory=set)
    box: Node | None = None
    gone: int = 0
    moved: bool = False
    reacted: bool = False
    failed: bool = False
    held: bool = False


def queries(visit: Visit) -> list[tuple[str, bool]]:
    """Return words to search for, best first, each with whether it stands in the name of an item."""
    home = visit.home
    around = [node.name for node in home.nodes if {"navigation", "banner"} & set(node.path) and node.role == "link"]
    title, menu = words(home.title), words(" ".join(around))
    offered = items(visit, home)[:8]
    named = " ".join(node.name for node in offered) or " ".join(home.headings())
    prose = " ".join(node.text for node in home.main() if node.text)[:600]
    links = _WORD.findall(named)
    plain = [*links, *_WORD.findall(prose)]
    fresh = dict.fromkeys(word for word in plain if words(word) and not words(word) & title)
    # a word of the menu stands on every page, so it tells less than others; words of the prose come last

    def rank(word: str) -> tuple[bool, bool, int]:
        return plain.index(word) >= len(links), bool(words(word) & menu), -min(len(word), 8)

    ordered = sorted(fresh, key=rank)
    return [(word, bool(offered) and plain.index(word) < len(links)) for word in ordered[:QUERIES]]


def field_of(outline: Outline) -> Node | None:
    """Return the search field: by role, else by its name, else a named field in a search landmark.

    One in a frame counts where the page has no other.
    """
    every = sorted((node for node in outline.nodes if _takes_text(node)), key=lambda node: node.framed)
    fields = [node for node in every if node.name]
    by_role = [node for node in fields if node.role == "searchbox"]
    # a button that says so names a search field that has none
    if any(SEARCH.search(node.name) for node in outline.of("button")):
        by_role += [node for node in every if node.role == "searchbox" and not node.name]
    by_name = [node for node in fields if SEARCH.search(node.name)]
    by_place = [node for node in fields if "search" in node.path]
    return next(iter([*by_role, *by_name, *by_place]), None)


def _takes_text(node: Node) -> bool:
    return node.role in ENTRIES and bool(node.ref) and not node.disabled


async def _by_form(visit: Visit, outline: Outline, *, named: bool) -> Node | None:
    """Return a field of text that is the only one of a form with a button that searches, or marked as one in HTML."""
    for node in [node for node in outline.nodes if _takes_text(node) and bool(node.name) is named][:FIELDS]:
        about = await visit.page.ask(node, "search-form") or {}
        searches = about.get("marked") or any(SEARCH.search(name) for name in about.get("buttons", ()))
        if searches and about["entries"] == 1:
            return node
    return None


def appeared(outline: Outline, before: Outline) -> Counter[tuple[str, str]]:
    """Return the links and options that came with a search, by name and address, with how often.

    On another page those of its main region; on the same page those that are more than before.
    """
    moved = outline.url != before.url
    hits = [n for n in (outline.main() if moved else outline.nodes) if n.role in HITS and n.name]
    found = Counter((node.name, node.url) for node in hits)
    return found if moved else found - Counter((n.name, n.url) for n in before.nodes if n.role in HITS)


def results(outline: Outline, query: str, before: Outline) -> Found:
    """Return what came with a search and mentions ``query`` by name, address or list item.

    Where nothing came but links or options went away, those that stayed and mention it: a list was filtered.
    """
    fresh = appeared(outline, before)
    if not fresh and outline.url == before.url and vanished(outline, before):
        fresh = Counter((node.name, node.url) for node in outline.main() if node.role in HITS)
    hay = query.casefold()
    found = set()
    for node in outline.nodes:
        said = (node.name, node.url, outline.text(node.group) if node.group else "")
        if fresh[node.name, node.url] and node.role in HITS and any(hay in text.casefold() for text in said):
            found.add((node.name, node.url))
    return found


def vanished(outline: Outline, before: Outline) -> int:
    """Return how many links and options of the page before are there no more."""
    had, has = (Counter((n.name, n.url) for n in one.nodes if n.role in HITS) for one in (before, outline))
    return (had - has).total() if outline.url == before.url else 0


def _alike(found: Found, query: str) -> Found:
    """Return ``found`` with the word that was asked for taken out, so that pages for two words can be compared."""
    hay = query.casefold()
    return {(name.casefold().replace(hay, ""), url.casefold().replace(hay, "")) for name, url in found}


async def search(visit: Visit) -> Ending:
    """Search for a word of the site, then for nonsense: results count when nonsense does not give them."""
    asked_for = queries(visit)
    if not asked_for:
        return Ending("search-no-query", url=visit.home.url)
    last: Asked | None = None
    control: Asked | None = None
    named = failed = held = False
    for query, in_name in asked_for:
        asked = await _ask(visit, query)
        if asked.how == "none":
            return await _by_address(visit, query)
        if asked.how != "ok":
            return await _refused(visit, asked)
        last, named = asked, named or in_name
        failed, held = failed or asked.failed, held or asked.held
        if asked.found or _jumped(asked.outline, query, visit):
            control = control or await _ask(visit, NONSENSE)
            ending = await _controlled(visit, query, asked, control)
            if ending is not None:
                return ending
    assert last is not None
    last.failed, last.held = failed, held
    return await _failed(visit, last, [query for query, _ in asked_for], named=named)


async def _controlled(visit: Visit, query: str, asked: Asked, control: Asked) -> Ending | None:
    """Return the ending of a search beside the ``control`` for a nonsense word; None when that gives the same."""
    noise = set(appeared(control.outline, control.before))
    if asked.gone:
        noise |= {(node.name, node.url) for node in control.outline.main() if node.role in HITS}
    also = _alike(noise, NONSENSE)
    fresh = {one for one in asked.found - noise if not _alike({one}, query) & also}
    visit.tape.step("compared", note=f"{len(fresh)} of {len(asked.found)} not given by a nonsense word")
    if fresh:
        facts = {"results": count(len(fresh), "result"), "query": query}
        return Ending("search-done", facts, url=asked.outline.url)
    if _jumped(asked.outline, query, visit) and control.outline.url != asked.outline.url:
        return Ending("search-jump", {"query": query, "title": asked.outline.title}, url=asked.outline.url)
    return None


def _jumped(outline: Outline, query: str, visit: Visit) -> bool:
    """Say whether a search led straight to a page of that name."""
    told = words(" ".join([*outline.headings()[:1], outline.title])) - words(visit.home.title)
    path = urlsplit(outline.url)
    return outline.url != visit.home.url and not path.query and bool(words(query) & told)


async def _ask(visit: Visit, query: str) -> Asked:
    """Type a query; if results do not appear by themselves, send it."""
    page = visit.page
    before, _ = await visit.clear(await page.open(visit.url))
    begun = len(page.fence.held)
    before, box, nameless = await _found(visit, before)
    if box is None:
        # what would have opened the search may need what was held back
        kept = any(one.own for one in page.fence.held[begun:])
        return Asked("unnamed" if nameless else "held" if kept else "none", before, box=nameless)
    about = await page.ask(box, "search-form") or {}
    if about.get("readonly"):
        before, box = await _behind(visit, before, box)
        about = await page.ask(box, "search-form") or {}
    visit.tape.step("found", box, outline=before)
    if not await page.type(box, query) and not await page.type(box, query):
        return Asked("type", before, box=box)
    visit.tape.step("typed", box, note=f"“{query}”")
    if box.role == "searchbox" or "search" in box.path:
        page.fence.query = query
    failures, held = page.fence.failures, len(page.fence.held)
    asked = await _while_typing(visit, query, before, box)
    if asked is None and (why := _kept_back(visit, about)) and not (why == "post" and visit.act):
        return Asked(why, page.outline, before, box=box)
    if asked is None:
        with page.fence.act() if visit.act else nullcontext():
            asked = await _sent(visit, query, before, box)
    asked.failed = page.fence.failures > failures or page.waits()
    asked.held = any(one.own for one in page.fence.held[held:])
    return asked


async def _found(visit: Visit, before: Outline) -> tuple[Outline, Node | None, Node | None]:
    """Return the page with its search field, opened where it must be, and without one a field that has no name."""
    box = field_of(before) or await _by_form(visit, before, named=True)
    nameless = await _nameless(visit, before) if box is None else None
    if box is None and nameless is None:
        before, box = await _opened(visit, before)
        nameless = await _nameless(visit, before) if box is None else None
    return before, box, nameless


def _kept_back(visit: Visit, form: Mapping[str, Any]) -> str:
    """Say why a query is not sent, else nothing: the form changes data, or leads to another site."""
    away = str(form.get("action") or "")
    if form.get("method") == "post":
        return "post"
    return "elsewhere" if away.startswith("http") and not visit.same_site(away) else ""


async def _nameless(visit: Visit, outline: Outline) -> Node | None:
    """Return a search field without a name: by role, landmark or form, or any field that “Search” leads to."""
    fields = [node for node in outline.nodes if node.role in ENTRIES and not node.name]
    moved = visit.place(outline.url) != visit.place(visit.home.url)
    found = next((node for node in fields if moved or node.role == "searchbox" or "search" in node.path), None)
    return found or await _by_form(visit, outline, named=False)


async def _opened(visit: Visit, before: Outline) -> tuple[Outline, Node | None]:
    """Press what opens the search, where there is such a button or link, and look for the field again."""
    ways = (node for node in before.of("button", "link") if SEARCH.search(node.name) and not node.disabled)
    opener = next((node for node in ways if node.role == "button" or not urlsplit(node.url).query), None)
    if opener is None:
        return before, None
    if opener.role == "link" and opener.url.startswith("http") and opener.url != before.url:
        if acts(opener.url) or not visit.same_site(opener.url) or not await visit.page.fence.may_open(opener.url):
            return before, None
        outline = await visit.served(opener.url)
        return outline, field_of(outline) or next((n for n in outline.main() if _takes_text(n) and n.name), None)
    await visit.page.click(opener)
    outline = await visit.page.settle()
    visit.tape.step("pressed", opener, note="to open the search", outline=outline)
    return outline, field_of(outline) or _brought(outline, before)


async def _behind(visit: Visit, before: Outline, box: Node) -> tuple[Outline, Node]:
    """Press a read-only field, and return the field that this opens; the same one when it opens none."""
    await visit.page.click(box)
    outline = await visit.page.settle()
    visit.tape.step("pressed", box, note="to open the search", outline=outline)
    return outline, _brought(outline, before) or box


def _brought(outline: Outline, before: Outline) -> Node | None:
    """Return a named field that was not there before."""
    had = {node.ref for node in before.nodes}
    return next((node for node in outline.nodes if _takes_text(node) and node.name and node.ref not in had), None)


async def _while_typing(visit: Visit, query: str, before: Outline, box: Node) -> Asked | None:
    """Wait for results that appear by themselves; None when none do."""
    page = visit.page
    begin = time.monotonic()
    while True:
        await asyncio.sleep(LOOK)
        outline = await page.look()
        found = {one for one in results(outline, query, before) if one[1].startswith("http")}
        if found:
            visit.tape.step("saw", note=f"{count(len(found), 'result')} while typing", outline=outline)
            return Asked("ok", outline, before, found, box, vanished(outline, before), moved=True, reacted=True)
        waited = time.monotonic() - begin
        if waited >= AWAITED or (waited >= TYPED and not page.fence.pending(page.tab)):
            return None


async def _sent(visit: Visit, query: str, before: Outline, box: Node) -> Asked:
    """Press Enter, then a button that searches if nothing came of it."""
    page, begun = visit.page, len(visit.page.fence.stops)
    tabs = set(page.tab.context.pages)

    async def seen(node: Node, note: str = "") -> Asked:
        await asyncio.sleep(SENT)
        outline = await page.settle()
        other = await page.beside(tabs)
        if other is not None:
            outline = await other.settle()
            await other.tab.close()
        found = results(outline, query, before)
        moved = outline.url != before.url or bool(found)
        reacted = moved or outline.mark() != before.mark() or outline.text() != before.text()
        visit.tape.step("pressed", node, note=note, mark="done" if moved else "part", outline=outline)
        return Asked("ok", outline, before, found, box, vanished(outline, before), moved, reacted)

    await page.press("Enter")
    asked = await seen(box, "Enter")
    if not asked.moved:
        go = next((node for node in asked.outline.of("button") if _searches(node) and not node.disabled), None)
        if go is not None and await page.click(go):
            asked = await seen(go)
    stopped = next((stop.why for stop in page.fence.stops[begun:] if stop.page is page.tab or query in stop.url), "")
    if stopped and not asked.found:
        asked.how = {"robots": "robots", "method": "post"}.get(stopped, "elsewhere")
    if asked.found:
        visit.tape.step("saw", note=count(len(asked.found), "result"), outline=asked.outline)
    return asked


def _searches(node: Node) -> bool:
    return SEARCH.search(node.name) is not None or (node.name.casefold() in ("go", "ok") and "search" in node.path)


async def _refused(visit: Visit, asked: Asked) -> Ending:
    """Return the ending where the field could not be used."""
    node = asked.box
    if asked.how == "unnamed":
        visit.tape.step("found", node, note="a field without a name", mark="stuck", outline=asked.outline)
    snippet = await visit.page.snippet(node) if node is not None else ""
    facts = {"name": node.name if node is not None else "", "queries": "a word"}
    return Ending(f"search-{asked.how}", facts, node=node, url=visit.home.url, snippet=snippet)


async def _failed(visit: Visit, last: Asked, asked_for: list[str], *, named: bool) -> Ending:
    """Return the ending where no query brought a result: blocked where it is seen why, else inconclusive."""
    query = " or ".join(f"“{word}”" for word in asked_for)
    facts = {"query": asked_for[0], "queries": query}

    def unsure(reason: str) -> Ending:
        return Ending(reason, facts, node=last.box, url=last.outline.url)

    if last.held:
        return unsure("search-held")
    if last.failed:
        return unsure("search-waiting")
    if not named:
        return unsure("search-unsure")
    snippet = await visit.page.snippet(last.box) if last.box is not None else ""
    if not last.reacted:
        pointer = next((n for n in last.outline.nodes if n.pointer and n.role in ("generic", "img") and n.text), None)
        facts |= {
            "example": f": “{pointer.text}” has no role" if pointer is not None else "",
            "control": f"“{pointer.text}”" if pointer is not None else "the control beside the field",
        }
        visit.tape.step("looked", note="for a button by name", mark="stuck", outline=last.outline)
        return Ending("search-mouse", facts, node=last.box, url=last.outline.url, snippet=snippet)
    shown = await _unlinked(visit, last, asked_for[-1])
    if not shown:
        return unsure("search-nothing")
    visit.tape.step("looked", note="for results with a role", mark="stuck", outline=last.outline)
    facts |= {"shown": shown, "query": asked_for[-1]}
    return Ending("search-no-results", facts, node=last.box, url=last.outline.url, snippet=snippet)


async def _unlinked(visit: Visit, last: Asked, query: str) -> str:
    """Return what shows the results without links: a drawing, or text that only a mouse can press."""
    drawn = await pictures(visit)
    if drawn:
        return drawn
    had = {(node.role, node.text or node.name) for node in last.before.nodes}
    plain = (node for node in last.outline.nodes if not ACTIONABLE & {node.role, *node.path})
    said = ((node.text or node.name, node.pointer) for node in plain if (node.role, node.text or node.name) not in had)
    fresh = {text: pointer for text, pointer in said if query.casefold() in text.casefold()}
    for text, pointer in list(fresh.items())[:FIELDS]:
        if pointer or await visit.page.inspect("reacts", text):
            return f"; “{clean(text, 60)}” takes a click but is not a link"
    return ""


async def _by_address(visit: Visit, query: str) -> Ending:
    """Search without a field: by the address of a SearchAction or an OpenSearch description."""
    found = _TEMPLATE.search(await visit.jsonld())
    template = str(json.loads(found[1])) if found is not None else str(await visit.page.query("opensearch") or "")
    named = _TERM.sub(quote(query), template)
    if named == template:
        return await _no_field(visit)
    url = urljoin(visit.home.url, _OPTIONAL.sub("", named))
    if not visit.same_site(url):
        return Ending("search-elsewhere", url=visit.home.url)
    objection = await visit.page.fence.objection(url)
    if objection:
        return Ending("search-robots" if objection == "robots" else "read-unknown", url=visit.home.url)
    outline = await visit.open(url)
    hits = results(outline, query, visit.home)
    if hits:
        return Ending("search-address", {"results": count(len(hits), "result"), "query": query}, url=url)
    return Ending("search-nothing", {"queries": f"“{query}”"}, url=url)


async def _no_field(visit: Visit) -> Ending:
    """Return the ending where no field, button or address for searching is named."""
    for question, reason in (("search-fake", "search-no-role"), ("search-opener", "search-no-name")):
        snippet = str(await visit.page.query(question) or "")
        if snippet:
            visit.tape.step("looked", note="for a search field", mark="stuck", outline=visit.home)
            return Ending(reason, {"snippet": snippet}, url=visit.home.url, snippet=snippet)
    return Ending("search-absent", url=visit.home.url)
