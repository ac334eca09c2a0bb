"""The task "search": results for a word of the site that a nonsense word does not give."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote, urljoin, urlsplit

from aui_tui.engine.wording import counted
from aui_tui.records.tasks import ABSENT, BLOCKED, DONE, INCONCLUSIVE
from aui_tui.tasks.outline import ENTRIES, Node, Outline
from aui_tui.tasks.reading import items
from aui_tui.tasks.visit import Visit
from aui_tui.tasks.vocabulary import SEARCH, words
from aui_tui.tasks.words import Ending

NONSENSE: Final = "qzxvkj"
QUERIES: Final = 2
TYPED: Final = 6
"""Looks at the page while results may appear by themselves, each after LOOK seconds."""
LOOK: Final = 0.25
SENT: Final = 0.3
_WORD: Final = re.compile(r"[^\W\d_]{4,}")
_TEMPLATE: Final = re.compile(r'"target"\s*:\s*(?:\{[^{}]*"urlTemplate"\s*:\s*)?("[^"]*\{search_term_string\}[^"]*")')

HITS: Final = frozenset({"link", "option", "treeitem"})
"""Roles of what a search gives."""

Found = set[tuple[str, str]]


@dataclass
class Asked:
    """How asking the site for a word ended: ``how`` is ``ok`` or a reason; the page then and before, the
    results."""

    how: str
    outline: Outline
    before: Outline = field(default_factory=Outline)
    found: Found = field(default_factory=set)
    box: Node | None = None
    changed: bool = False


def queries(visit: Visit) -> list[tuple[str, bool]]:
    """Return words to search for, best first, each with whether it stands in the name of an item."""
    home = visit.home
    around = [node.name for node in home.nodes if {"navigation", "banner"} & set(node.path) and node.role == "link"]
    own = words(home.title) | words(" ".join(around))
    offered = items(visit, home)[:8]
    named = " ".join(node.name for node in offered) or " ".join(home.headings())
    prose = " ".join(node.text for node in home.main() if node.text)[:600]
    links = _WORD.findall(named)
    plain = [*links, *_WORD.findall(prose)]
    fresh = dict.fromkeys(word for word in plain if words(word) and not words(word) & own)
    ordered = sorted(fresh, key=lambda word: (plain.index(word) >= len(links), -min(len(word), 8)))
    return [(word, bool(offered) and plain.index(word) < len(links)) for word in ordered[:QUERIES]]


def field_of(outline: Outline) -> Node | None:
    """Return the search field: by role, else by its name, else a named field in a search landmark."""
    fields = [node for node in outline.nodes if node.role in ENTRIES and node.ref and not node.framed]
    fields = [node for node in fields if not node.disabled and node.name]
    by_role = (node for node in fields if node.role == "searchbox")
    by_name = (node for node in fields if SEARCH.search(node.name))
    by_place = (node for node in fields if "search" in node.path)
    return next(by_role, None) or next(by_name, None) or next(by_place, None)


def appeared(outline: Outline, before: Outline) -> Counter[tuple[str, str]]:
    """Return the links and options that came with a search, by name and address, with how often.

    On another page those are all but the ones around its content; on the same page those that are more than before.
    """
    moved = outline.url != before.url
    around = {"navigation", "banner", "contentinfo"} if moved else set()
    hits = [n for n in outline.nodes if n.role in HITS and n.name and not around & set(n.path)]
    found = Counter((node.name, node.url) for node in hits)
    return found if moved else found - Counter((n.name, n.url) for n in before.nodes if n.role in HITS)


def results(outline: Outline, query: str, before: Outline) -> Found:
    """Return what came with a search and mentions ``query`` by name, address or list item."""
    fresh = appeared(outline, before)
    hay = query.casefold()
    found = set()
    for node in outline.nodes:
        said = (node.name, node.url, outline.text(node.group) if node.group else "")
        if fresh[node.name, node.url] and node.role in HITS and any(hay in text.casefold() for text in said):
            found.add((node.name, node.url))
    return found


def _alike(found: Found, query: str) -> Found:
    """Return ``found`` with the word that was asked for taken out, so that pages for two words can be compared."""
    hay = query.casefold()
    return {(name.casefold().replace(hay, ""), url.casefold().replace(hay, "")) for name, url in found}


async def search(visit: Visit) -> Ending:
    """Search for a word of the site, then for nonsense: results count when nonsense does not give them."""
    asked_for = queries(visit)
    if not asked_for:
        return Ending(INCONCLUSIVE, "search-no-query", url=visit.home.url)
    last: Asked | None = None
    named = False
    for query, in_name in asked_for:
        asked = await _ask(visit, query)
        if asked.how == "none":
            return await _by_address(visit, query)
        if asked.how != "ok":
            return await _refused(visit, asked)
        last, named = asked, named or in_name
        if asked.found or _jumped(asked.outline, query, visit):
            ending = await _controlled(visit, query, asked)
            if ending is not None:
                return ending
    assert last is not None
    return await _failed(visit, last, [query for query, _ in asked_for], named=named)


async def _controlled(visit: Visit, query: str, asked: Asked) -> Ending | None:
    """Return the ending after the nonsense word was asked for too; None when it gives the same."""
    control = await _ask(visit, NONSENSE)
    noise = set(appeared(control.outline, control.before))
    also = _alike(noise, NONSENSE)
    fresh = {one for one in asked.found - noise if not _alike({one}, query) & also}
    visit.tape.step("compared", note=f"{len(fresh)} of {len(asked.found)} not given by a nonsense word")
    if fresh:
        facts = {"results": counted(len(fresh), "result"), "query": query}
        return Ending(DONE, "search-done", facts, url=asked.outline.url)
    if _jumped(asked.outline, query, visit) and control.outline.url != asked.outline.url:
        return Ending(DONE, "search-jump", {"query": query, "title": asked.outline.title}, url=asked.outline.url)
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
    box = field_of(before)
    if box is None:
        before, box = await _opened(visit, before)
    if box is None:
        unnamed = [node for node in before.nodes if node.role in ENTRIES and not node.name]
        nameless = any(node.role == "searchbox" or "search" in node.path for node in unnamed)
        return Asked("unnamed" if nameless else "none", before)
    about = await page.ask(box, "search-form") or {}
    if about.get("method") not in ("", None, "get"):
        return Asked("post", before, box=box)
    action = about.get("action")
    if action and not await page.guard.may_open(f"{action}?q={quote(query)}"):
        return Asked("robots", before, box=box)
    visit.tape.step("found", box, outline=before)
    if not await page.type(box, query):
        return Asked("type", before, box=box)
    visit.tape.step("typed", box, note=f"“{query}”")
    return await _sent(visit, query, before, box)


async def _opened(visit: Visit, before: Outline) -> tuple[Outline, Node | None]:
    """Press what opens the search, where there is such a button or link, and look for the field again."""
    ways = (node for node in before.of("button", "link") if SEARCH.search(node.name) and not node.disabled)
    opener = next((node for node in ways if node.role == "button" or not urlsplit(node.url).query), None)
    if opener is None or (opener.role == "link" and not await visit.page.guard.may_open(opener.url)):
        return before, None
    await visit.page.click(opener)
    outline = await visit.page.settle()
    visit.tape.step("pressed", opener, note="to open the search", outline=outline)
    return outline, field_of(outline)


async def _sent(visit: Visit, query: str, before: Outline, box: Node) -> Asked:
    page = visit.page
    for _ in range(TYPED):
        await asyncio.sleep(LOOK)
        outline = await page.look()
        found = {one for one in results(outline, query, before) if one[1].startswith("http")}
        if found:
            visit.tape.step("saw", note=f"{counted(len(found), 'result')} while typing", outline=outline)
            return Asked("ok", outline, before, found, box, changed=True)
    await page.press("Enter")
    await asyncio.sleep(SENT)
    outline = await page.settle()
    found = results(outline, query, before)
    changed = outline.url != before.url or bool(found)
    visit.tape.step("pressed", box, note="Enter", mark="done" if changed else "part", outline=outline)
    if not changed:
        go = next((node for node in outline.of("button") if _searches(node) and not node.disabled), None)
        if go is not None and await page.click(go):
            await asyncio.sleep(SENT)
            outline = await page.settle()
            found = results(outline, query, before)
            changed = outline.url != before.url or bool(found)
            visit.tape.step("pressed", go, mark="done" if changed else "part", outline=outline)
    if found:
        visit.tape.step("saw", note=counted(len(found), "result"), outline=outline)
    return Asked("ok", outline, before, found, box, changed=changed)


def _searches(node: Node) -> bool:
    return SEARCH.search(node.name) is not None or (node.name.casefold() in ("go", "ok") and "search" in node.path)


async def _refused(visit: Visit, asked: Asked) -> Ending:
    """Return the ending where the field could not be used."""
    node = asked.box
    if asked.how == "unnamed":
        fields = [one for one in asked.outline.nodes if one.role in ENTRIES and not one.name]
        node = next((one for one in fields if one.role == "searchbox" or "search" in one.path), None)
        visit.tape.step("found", node, note="a field without a name", mark="stuck", outline=asked.outline)
    snippet = await visit.page.snippet(node) if node is not None else ""
    outcome = INCONCLUSIVE if asked.how == "post" else BLOCKED
    facts = {"name": node.name if node is not None else ""}
    half = asked.how == "robots"
    return Ending(outcome, f"search-{asked.how}", facts, half=half, node=node, url=asked.outline.url, snippet=snippet)


async def _failed(visit: Visit, last: Asked, asked_for: list[str], *, named: bool) -> Ending:
    stops = [stop for stop in visit.page.guard.stops if stop.method != "GET"]
    query = " or ".join(f"“{word}”" for word in asked_for)
    if stops:
        return Ending(INCONCLUSIVE, "search-post", node=last.box, url=last.outline.url)
    if not named:
        return Ending(INCONCLUSIVE, "search-unsure", {"query": query}, node=last.box, url=last.outline.url)
    snippet = await visit.page.snippet(last.box) if last.box is not None else ""
    facts = {"query": asked_for[0]}
    if not last.changed:
        pointer = next((n for n in last.outline.nodes if n.pointer and n.role in ("generic", "img") and n.text), None)
        facts |= {
            "example": f": “{pointer.text}” has no role" if pointer is not None else "",
            "control": f"“{pointer.text}”" if pointer is not None else "the control beside the field",
        }
        visit.tape.step("looked", note="for a button by name", mark="stuck", outline=last.outline)
    reason = "search-no-results" if last.changed else "search-mouse"
    return Ending(BLOCKED, reason, facts, half=True, node=last.box, url=last.outline.url, snippet=snippet)


async def _by_address(visit: Visit, query: str) -> Ending:
    """Search without a field: by the address of a SearchAction or an OpenSearch description."""
    found = _TEMPLATE.search(await visit.jsonld())
    if found is None:
        fake = str(await visit.page.query("search-fake") or "")
        if fake:
            visit.tape.step("looked", note="for a search field", mark="stuck", outline=visit.home)
            return Ending(BLOCKED, "search-no-role", {"snippet": fake}, url=visit.home.url, snippet=fake)
        return Ending(ABSENT, "search-absent", url=visit.home.url)
    template: Any = json.loads(found[1])
    url = urljoin(visit.home.url, str(template).replace("{search_term_string}", quote(query)))
    if not visit.same_site(url):
        return Ending(ABSENT, "search-absent", url=visit.home.url)
    if not await visit.page.guard.may_open(url):
        return Ending(BLOCKED, "search-robots", url=visit.home.url)
    outline = await visit.open(url)
    hits = results(outline, query, visit.home)
    if hits:
        return Ending(DONE, "search-address", {"results": counted(len(hits), "result"), "query": query}, url=url)
    return Ending(BLOCKED, "search-no-results", {"query": query}, half=True, url=url)
