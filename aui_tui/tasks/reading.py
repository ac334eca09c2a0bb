"""The tasks that read and follow links: read the homepage, follow a link, find a contact."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from aui_tui.engine.wording import counted
from aui_tui.records.tasks import ABSENT, BLOCKED, DONE, INCONCLUSIVE
from aui_tui.tasks.outline import ACTIONABLE, Node, Outline
from aui_tui.tasks.page import Closed, Cover, Stuck
from aui_tui.tasks.visit import Visit, without_fragment
from aui_tui.tasks.vocabulary import ABOUT, CONTACT, EMAIL, GENERIC, MAIL, NEVER, PHONE, POSTAL, words
from aui_tui.tasks.words import Ending

ENOUGH: Final = 200
"""Characters of text and names that make a page readable, or LITTLE with a heading and two named links."""
LITTLE: Final = 100
CANDIDATES: Final = 3
CONTACT_PAGES: Final = 3
PAUSE: Final = 0.5
FAKES: Final = 3
"""Elements that react to a click and are no links, from which on the site is said to offer items so."""
LONG_NAME: Final = 150
SHORT: Final = 40
FILE: Final = re.compile(r"\.(?:pdf|zip|jpe?g|png|svg|gif|webp|mp[34]|xml|rss)$", re.IGNORECASE)
_CONTACT_POINT: Final = re.compile(r'"(?:telephone|email)"\s*:\s*"([^"]{5,80})"')


async def read(visit: Visit) -> Ending:
    """Open the homepage, dismiss what covers it, and see whether it can be read."""
    outline = await visit.open(visit.url)
    outline, cover = await visit.clear(outline)
    visit.home, visit.home_ld, visit.reached = outline, await visit.jsonld(), True
    if cover is not None:
        return _covered(cover, outline)
    text, headings = outline.text(), outline.headings()
    links = [node for node in outline.of("link") if node.name]
    if len(text) >= ENOUGH or (len(text) >= LITTLE and headings and len(links) >= 2):
        first = f"the first heading is “{headings[0]}”" if headings else "no heading"
        visit.tape.step("read", note=counted(len(text), "character"), outline=outline)
        return Ending(DONE, "read-done", {"count": f"{len(text):,}", "headings": first}, url=outline.url)
    visit.tape.step("read", note=counted(len(text), "character"), mark="stuck", outline=outline)
    facts = {"count": str(len(text)), "pictures": await pictures(visit)}
    return Ending(BLOCKED, "read-empty", facts, url=outline.url)


def _covered(cover: Cover, outline: Outline) -> Ending:
    dialog = cover.dialog
    facts = {
        "covered": str(cover.covered),
        "total": str(cover.total),
        "what": f"the dialog “{dialog.name}”" if dialog is not None and dialog.name else "what lies over the page",
        "name": cover.tried.name if cover.tried is not None else "",
    }
    reason = "read-covered-still" if cover.tried is not None else "read-covered"
    return Ending(BLOCKED, reason, facts, half=cover.tried is not None, node=cover.tried or dialog, url=outline.url)


async def pictures(visit: Visit) -> str:
    """Return what of the page is drawn without words, as an ending of a sentence; empty when nothing is."""
    found = await visit.page.query("pictures") or {}
    parts = []
    if found.get("pictures"):
        parts.append(f"{counted(found['pictures'], 'picture')} without an alt text")
    if found.get("canvases"):
        parts.append(f"{counted(found['canvases'], 'canvas', 'canvases')} without text")
    return f"; there {'is' if parts[0].startswith('1 ') else 'are'} {' and '.join(parts)}" if parts else ""


def items(visit: Visit, outline: Outline) -> list[Node]:
    """Return the links to items in the main region, best first.

    In a list, article or heading; then names of two words or more; then document order.
    """
    seen = {without_fragment(outline.url)}
    own = words(outline.title)
    found = []
    for order, node in enumerate(outline.main()):
        url = without_fragment(node.url)
        if node.role != "link" or node.framed or not url.startswith("http") or url in seen or not visit.same_site(url):
            continue
        if len(node.name) > LONG_NAME or NEVER.search(node.name) or GENERIC.search(node.name) or FILE.search(url):
            continue
        if not words(node.name) - own:
            continue
        seen.add(url)
        found.append(((not (node.group or "heading" in node.path), len(words(node.name)) < 2, order), node))
    return [node for _, node in sorted(found, key=lambda pair: pair[0])]


async def follow(visit: Visit) -> Ending:
    """Follow a link of the homepage to a page that speaks of what the link names."""
    outline = visit.home
    every = items(visit, outline)
    allowed = [node for node in every if await visit.page.guard.may_open(node.url)]
    if not allowed:
        return await _nothing_to_follow(visit, outline, every)
    failures: list[Ending] = []
    for node in allowed[:CANDIDATES]:
        ending = await _try(visit, node)
        if ending.outcome == DONE:
            return ending
        failures.append(ending)
        await visit.clear(await visit.page.open(visit.url))
    blocked = [ending for ending in failures if ending.outcome == BLOCKED]
    return max(blocked, key=lambda ending: ending.half) if blocked else failures[0]


async def _nothing_to_follow(visit: Visit, outline: Outline, every: list[Node]) -> Ending:
    if every:
        return Ending(BLOCKED, "follow-robots", node=every[0], url=outline.url)
    fakes = await visit.page.query("clickable") or {"count": 0, "example": ""}
    if fakes["count"] >= FAKES:
        visit.tape.step("looked", note="for a link with a name", mark="stuck", outline=outline)
        facts = {"count": str(fakes["count"]), "example": fakes["example"]}
        return Ending(BLOCKED, "follow-clickable", facts, url=outline.url, snippet=fakes["example"])
    external = [node for node in outline.main() if node.role == "link" and node.url.startswith("http") and node.name]
    return Ending(ABSENT, "follow-external" if external else "follow-none", url=outline.url)


async def _try(visit: Visit, node: Node) -> Ending:
    fresh = await visit.again(node)
    if fresh is None:
        return Ending(INCONCLUSIVE, "follow-failed", {"why": f"the link “{node.name}” has gone"})
    visit.tape.step("found", fresh, outline=visit.page.outline)
    covered = await _covers(visit, fresh)
    try:
        landed = None if covered else await visit.page.follow(fresh)
    except Closed:
        return Ending(BLOCKED, "follow-robots", node=node, url=visit.home.url)
    except Stuck as error:
        return Ending(INCONCLUSIVE, "follow-failed", {"why": str(error)})
    if landed is None:
        visit.tape.step("followed", fresh, note="nothing changed", mark="stuck" if covered else "part")
        facts, snippet = {"name": node.name}, await visit.page.snippet(fresh)
        reason = "follow-covered" if covered else "follow-nothing"
        return Ending(BLOCKED, reason, facts, half=not covered, node=node, url=visit.home.url, snippet=snippet)
    page, outline = landed
    status = page.response.status if page.response is not None else 0
    heads = " ".join([*outline.headings()[:3], outline.title])
    shared = (words(node.name) - words(visit.home.title)) & words(heads)
    visit.tape.step("followed", fresh, note=outline.title, mark="done" if shared else "part", outline=outline)
    if shared:
        visit.item, visit.item_name = outline, node.name
        visit.item_ld = str(await page.query("jsonld") or "")
        visit.seen[without_fragment(outline.url)] = outline
        return Ending(DONE, "follow-done", {"name": node.name, "title": outline.title or outline.url}, url=outline.url)
    if status >= 500 or status == 429 or outline.url.startswith("chrome-error:"):
        return Ending(INCONCLUSIVE, "follow-failed", {"why": f"status {status}" if status else "no answer"})
    facts = {"name": node.name, "title": outline.title or outline.url}
    return Ending(BLOCKED, "follow-elsewhere", facts, half=True, node=node, url=visit.home.url)


async def _covers(visit: Visit, node: Node) -> bool:
    """Say whether something lies over ``node``, twice with a pause between."""
    if await visit.page.hit(node) is not False:
        return False
    await asyncio.sleep(PAUSE)
    return await visit.page.hit(node) is False


async def contact(visit: Visit) -> Ending:
    """Find a way to reach the people behind the site, on at most three pages."""
    queue: list[tuple[str, Node | None]] = [(visit.url, None)]
    queue += [(node.url, node) for node in _contact_links(visit, visit.home)]
    reached: Node | None = None
    failure: Ending | None = None
    for url, node in queue[:CONTACT_PAGES]:
        try:
            outline, ld = await _page(visit, url)
        except Closed:
            failure = Ending(BLOCKED, "contact-robots", {"name": node.name if node else "/"}, node=node, url=url)
            continue
        except Stuck as error:
            facts = {"name": node.name if node else "/", "why": str(error)}
            failure = Ending(INCONCLUSIVE, "contact-failed", facts, node=node, url=url)
            continue
        named = node is not None and CONTACT.search(node.name) is not None
        way = _way(outline, ld, by_name=named)
        if way:
            visit.tape.step("found", note=way, outline=outline)
            return Ending(DONE, "contact-done", {"way": way}, url=outline.url)
        visit.tape.step("looked", node, note="for an address, a number or a form", mark="part", outline=outline)
        reached = node if named and reached is None else reached
    if reached is not None:
        await visit.page.open(reached.url)
        facts = {"name": reached.name, "pictures": await pictures(visit)}
        return Ending(BLOCKED, "contact-nothing", facts, half=True, node=reached, url=reached.url)
    return failure or await _no_contact(visit)


async def _no_contact(visit: Visit) -> Ending:
    """Return the ending where no link leads to a contact: a name that only a mouse can press, or none offered."""
    for node in visit.home.nodes:
        said = (node.text or node.name).strip()
        operable = node.role in ACTIONABLE or ACTIONABLE & set(node.path)
        if operable or len(said) > SHORT or not CONTACT.match(said):
            continue
        if await visit.page.query("reacts", said):
            return Ending(BLOCKED, "contact-no-link", {"name": said}, node=node, url=visit.home.url)
    return Ending(ABSENT, "contact-absent", url=visit.home.url)


def _contact_links(visit: Visit, home: Outline) -> list[Node]:
    """Return the links whose names promise a contact, then those about the site; each address once."""
    links = [
        node for node in home.of("link") if node.name and node.url.startswith("http") and visit.same_site(node.url)
    ]
    seen = {without_fragment(home.url)}
    found = []
    for pattern in (CONTACT, ABOUT):
        for node in links:
            url = without_fragment(node.url)
            if pattern.search(node.name) and url not in seen and not NEVER.search(node.name):
                seen.add(url)
                found.append(node)
    return found


async def _page(visit: Visit, url: str) -> tuple[Outline, str]:
    """Return a page without what covers it, and its JSON-LD; the homepage as it was read. Raises Closed, Stuck."""
    if url == visit.url:
        return visit.home, visit.home_ld
    outline, _ = await visit.clear(await visit.open(url))
    return outline, await visit.jsonld()


def _way(outline: Outline, ld: str, *, by_name: bool) -> str:
    """Return a way to get in touch that the page offers, in words; empty when there is none."""
    for kind, found in _ways(outline, ld):
        if found:
            return f"{kind} {found}"
    fields = [node.name for node in outline.of("textbox") if node.name]
    if by_name and len(fields) >= 2 and any(MAIL.search(name) for name in fields):
        return "A form with fields for an address and a message"
    return ""


def _ways(outline: Outline, ld: str) -> Iterator[tuple[str, str]]:
    text = outline.text()
    links = [unquote(node.url) for node in outline.of("link")]
    yield "E-mail address", next((url[7:].partition("?")[0] for url in links if url.startswith("mailto:")), "")
    yield "Telephone number", next((url[4:] for url in links if url.startswith("tel:")), "")
    for kind, pattern in (("E-mail address", EMAIL), ("Telephone number", PHONE), ("Postal address", POSTAL)):
        found = pattern.search(text)
        yield kind, found[0].strip() if found else ""
    declared = _CONTACT_POINT.search(ld)
    yield "Declared as data:", declared[1] if declared else ""
