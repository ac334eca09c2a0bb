"""The tasks that read and follow links: read the homepage, follow a link, find a contact."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from aui_tui.checks.wording import joined
from aui_tui.model.tasks import ABSENT, BLOCKED, DONE, INCONCLUSIVE
from aui_tui.tasks.outline import ACTIONABLE, DIALOGS, Node, Outline
from aui_tui.tasks.page import Closed, Cover, Page, Stuck, Untouched
from aui_tui.tasks.visit import Ending, Visit, without_fragment
from aui_tui.tasks.vocabulary import ABOUT, CONTACT, DISMISS, EMAIL, GENERIC, MAIL, MENU, NEVER, PHONE, POSTAL, words
from aui_tui.text import clean, count

ENOUGH: Final = 200
"""Characters of text and names that make a page readable, or LITTLE with a heading and two named links."""
LITTLE: Final = 100
CANDIDATES: Final = 3
CONTACT_PAGES: Final = 3
PAUSE: Final = 0.5
FAKES: Final = 3
"""Elements that react to a click and are not links, from which on the site is said to offer items so."""
GONE: Final = frozenset({404, 410})
"""Statuses of a page that does not exist."""
STEM: Final = 4
"""Letters of a word that stand for it with another ending."""
LONG_NAME: Final = 150
SHORT: Final = 40
FILE: Final = re.compile(r"\.(?:pdf|zip|jpe?g|png|svg|gif|webp|mp[34]|xml|rss)$", re.IGNORECASE)
_CHAT: Final = re.compile(r"https?://(?:wa\.me/|api\.whatsapp\.com/send/?\?phone=)(\+?\d{7,15})")
_CONTACT_POINT: Final = re.compile(r'"(?:telephone|email)"\s*:\s*"([^"]{5,80})"')


async def read(visit: Visit) -> Ending:
    """Open the homepage, dismiss what covers it, and see whether it can be read."""
    outline = await visit.open(visit.url)
    outline, cover = await visit.clear(outline)
    visit.home, visit.home_ld, visit.reached = outline, await visit.jsonld(), True
    if cover is not None:
        return _covered(visit, cover, outline)
    text, headings = outline.text(), outline.headings()
    links = [node for node in outline.of("link") if node.name]
    if len(text) >= ENOUGH or (len(text) >= LITTLE and headings and len(links) >= 2):
        first = f"the first heading is “{headings[0]}”" if headings else "no heading"
        visit.tape.step("read", note=count(len(text), "character"), outline=outline)
        return Ending(DONE, "read-done", {"count": f"{len(text):,}", "headings": first}, url=outline.url)
    visit.tape.step("read", note=count(len(text), "character"), mark="stuck", outline=outline)
    facts = {"count": str(len(text)), "pictures": await pictures(visit)}
    if visit.page.guard.failures or visit.page.waits() or not visit.page.ready:
        return Ending(INCONCLUSIVE, "read-waiting", facts, url=outline.url)
    return Ending(BLOCKED, "read-empty", facts, url=outline.url)


def _covered(visit: Visit, cover: Cover, outline: Outline) -> Ending:
    dialog = cover.dialog
    facts = {
        "covered": str(cover.covered),
        "total": str(cover.total),
        "what": f"the dialog “{dialog.name}”" if dialog is not None and dialog.name else "what lies over the page",
        "name": cover.tried.name if cover.tried is not None else "",
        "buttons": joined([f"“{name}”" for name in cover.buttons], 3),
    }
    if cover.tried is None and cover.buttons:
        visit.veiled = True
        return Ending(INCONCLUSIVE, "read-covered-unknown", facts, node=dialog, url=outline.url)
    reason = "read-covered-still" if cover.tried is not None else "read-covered"
    return Ending(BLOCKED, reason, facts, half=cover.tried is not None, node=cover.tried or dialog, url=outline.url)


async def pictures(visit: Visit) -> str:
    """Return what of the page is drawn without words, as an ending of a sentence; empty when nothing is."""
    found = await visit.page.query("pictures") or {}
    parts = []
    if found.get("pictures"):
        parts.append(f"{count(found['pictures'], 'picture')} without an alt text")
    if found.get("canvases"):
        parts.append(f"{count(found['canvases'], 'canvas', 'canvases')} without text")
    return f"; there {'is' if parts[0].startswith('1 ') else 'are'} {' and '.join(parts)}" if parts else ""


def items(visit: Visit, outline: Outline) -> list[Node]:
    """Return the links to items in the main region, best first.

    In a list, article or heading; then names of two words or more; then document order. Links in frames count where
    the page has no other.
    """
    return _items(visit, outline, framed=False) or _items(visit, outline, framed=True)


def _items(visit: Visit, outline: Outline, *, framed: bool) -> list[Node]:
    seen = {without_fragment(outline.url)}
    own = words(outline.title)
    found = []
    for order, node in enumerate(outline.main()):
        url = without_fragment(node.url)
        if node.role != "link" or node.framed != framed or not url.startswith("http"):
            continue
        if url in seen or not visit.same_site(url):
            continue
        if FILE.search(url) or not _names_an_item(node, own):
            continue
        seen.add(url)
        found.append(((not (node.group or "heading" in node.path), len(words(node.name)) < 2, order), node))
    return [node for _, node in sorted(found, key=lambda pair: pair[0])]


def _names_an_item(node: Node, own: set[str]) -> bool:
    """Say whether a link has a name of its own, beside the words of the title (``own``)."""
    name = node.name
    if len(name) > LONG_NAME or NEVER.search(name) or GENERIC.search(name):
        return False
    return not words(name) <= own


async def follow(visit: Visit) -> Ending:
    """Follow a link of the homepage to a page that speaks of what the link names."""
    outline = visit.home
    every = items(visit, outline)
    objections = [await visit.page.guard.objection(node.url) for node in every]
    allowed = [node for node, objection in zip(every, objections, strict=True) if not objection]
    if not allowed:
        return await _nothing_to_follow(visit, outline, every, known="unknown" not in objections)
    endings = await _pressed_in_turn(visit, allowed)
    if endings[-1].outcome == DONE:
        return endings[-1]
    # one link that may work is a doubt about all of them
    unsure = next((ending for ending in endings if ending.outcome == INCONCLUSIVE), None)
    return unsure or max(endings, key=lambda ending: ending.half)


async def _pressed_in_turn(visit: Visit, nodes: list[Node]) -> list[Ending]:
    """Press links, each on the homepage, until one opens what it names; return how each ended."""
    endings: list[Ending] = []
    for node in nodes[:CANDIDATES]:
        endings.append(await _try(visit, node))
        if endings[-1].outcome == DONE:
            break
        await visit.clear(await visit.page.open(visit.url))
    return endings


async def _nothing_to_follow(visit: Visit, outline: Outline, every: list[Node], *, known: bool) -> Ending:
    if every and not known:
        return Ending(INCONCLUSIVE, "read-unknown", node=every[0], url=outline.url)
    if every:
        return Ending(BLOCKED, "follow-robots", node=every[0], url=outline.url)
    scripted = await _scripted(visit, outline)
    if scripted is not None:
        return scripted
    for reason, asked in (
        ("follow-unnamed", await visit.page.query("nameless-links")),
        ("follow-clickable", await visit.page.inspect("clickable")),
    ):
        found = asked or {"count": 0, "example": ""}
        if found["count"] >= FAKES:
            visit.tape.step("looked", note="for a link with a name", mark="stuck", outline=outline)
            facts = {"count": str(found["count"]), "example": found["example"]}
            return Ending(BLOCKED, reason, facts, url=outline.url, snippet=found["example"])
    named = [node for node in outline.main() if node.role == "link" and node.url.startswith("http") and node.name]
    if any(not visit.same_site(node.url) for node in named):
        return Ending(ABSENT, "follow-external", url=outline.url)
    return Ending(ABSENT, "follow-generic" if named else "follow-none", url=outline.url)


async def _scripted(visit: Visit, outline: Outline) -> Ending | None:
    """Press links without an address of their own (``#``, ``javascript:``), which only a script can follow.

    None where there are none, or where pressing one does something else than opening a page.
    """
    here = without_fragment(outline.url)
    own = words(outline.title)
    bare = [
        node
        for node in outline.main()
        if node.role == "link"
        and not node.framed
        and (not node.url or node.url == here or node.url.startswith("javascript:"))
        and _names_an_item(node, own)
    ]
    endings = await _pressed_in_turn(visit, bare)
    if endings and endings[-1].outcome == DONE:
        return endings[-1]
    return endings[0] if endings and all(ending.reason == "follow-nothing" for ending in endings) else None


async def _try(visit: Visit, node: Node) -> Ending:
    """Press one link, and judge what it opens."""
    fresh = await visit.again(node)
    if fresh is None:
        return Ending(INCONCLUSIVE, "follow-failed", {"why": f"the link “{node.name}” has gone"})
    visit.tape.step("found", fresh, outline=visit.page.outline)
    if await _covers(visit, fresh):
        await visit.clear(visit.page.outline, over=fresh)
        fresh = await visit.again(node) or fresh
        if await _covers(visit, fresh):
            return await _covered_link(visit, fresh)
    failures, asked = visit.page.guard.failures, len(visit.page.asked)
    try:
        landed = await visit.page.follow(fresh)
    except (Closed, Untouched, Stuck) as error:
        return await _not_followed(visit, node, fresh, error)
    if landed is not None:
        return await _landed(visit, node, *landed)
    loaded = visit.page.asked[asked:]
    if node.url and without_fragment(node.url) in map(without_fragment, loaded):  # a redirect led back
        return await _landed(visit, node, visit.page, visit.page.outline)
    visit.tape.step("followed", fresh, note="nothing changed", mark="part")
    if loaded or visit.page.guard.failures > failures or visit.page.waits():
        why = "the page loaded itself again" if loaded else "an answer did not come"
        return Ending(INCONCLUSIVE, "follow-failed", {"why": why}, node=node)
    facts, snippet = {"name": node.name}, await visit.page.snippet(fresh)
    return Ending(BLOCKED, "follow-nothing", facts, half=True, node=node, url=visit.home.url, snippet=snippet)


async def _not_followed(visit: Visit, node: Node, fresh: Node, error: Exception) -> Ending:
    """Return the ending for a link, now ``fresh``, that could not be pressed or whose page was not opened."""
    match error:
        case Closed(why="robots"):
            return Ending(BLOCKED, "follow-robots", node=node, url=visit.home.url)
        case Closed():
            why = f"the link “{node.name}” leads to an address that is not opened here"
            return Ending(INCONCLUSIVE, "follow-failed", {"why": why}, node=node, url=visit.home.url)
        case Untouched():
            if await _covers(visit, fresh) or await _moves(visit, fresh):
                return await _covered_link(visit, fresh)
            return Ending(INCONCLUSIVE, "follow-failed", {"why": f"the link “{node.name}” took no click in time"})
    return Ending(INCONCLUSIVE, "follow-failed", {"why": str(error)})


async def _covered_link(visit: Visit, node: Node) -> Ending:
    """Return the ending for a link that takes no click: a doubt where a button of a name unknown here may free it."""
    buttons = await visit.page.ask(node, "over") or ()
    if visit.veiled or any(not any(known.search(name) for known in DISMISS) for name in buttons):
        return Ending(INCONCLUSIVE, "follow-veiled", {"name": node.name}, node=node, url=visit.home.url)
    visit.tape.step("followed", node, note="something else would get the click", mark="stuck")
    snippet = await visit.page.snippet(node)
    return Ending(BLOCKED, "follow-covered", {"name": node.name}, node=node, url=visit.home.url, snippet=snippet)


async def _landed(visit: Visit, node: Node, page: Page, outline: Outline) -> Ending:
    """Judge the page that the link ``node`` led to."""
    status = page.response.status if page.response is not None else 0
    home = visit.home
    stayed = without_fragment(outline.url) == without_fragment(home.url)
    back = _heads(outline) == _heads(home)
    # on the homepage itself, which names the item too, only what is new there counts
    said = " ".join(_fresh(outline, home)) if stayed or back else _heads(outline)
    shared = _alike(words(node.name) - words(home.title), words(said))
    visit.tape.step("followed", node, note=outline.title, mark="done" if shared else "part", outline=outline)
    facts = {"name": node.name, "title": outline.title or outline.url, "status": str(status)}
    if shared:
        visit.item = outline
        visit.item_ld = str(await page.query("jsonld") or "")
        visit.seen[without_fragment(outline.url)] = outline
        return Ending(DONE, "follow-done", facts, url=outline.url)
    if status in GONE:
        return Ending(BLOCKED, "follow-missing", facts, half=True, node=node, url=visit.home.url)
    if status >= 400 or outline.url.startswith("chrome-error:"):
        return Ending(INCONCLUSIVE, "follow-failed", {"why": f"status {status}" if status >= 400 else "no answer"})
    if back or (not stayed and words(_heads(outline)) <= words(_heads(home))):
        return Ending(BLOCKED, "follow-elsewhere", facts, half=True, node=node, url=visit.home.url)
    return Ending(INCONCLUSIVE, "follow-unsure", facts, node=node, url=visit.home.url)


def _heads(outline: Outline) -> str:
    """Return what a page says it is about: its first headings and its title."""
    return " ".join([*outline.headings()[:3], outline.title])


def _fresh(outline: Outline, before: Outline) -> list[str]:
    """Return the headings and dialogs of a page that it did not have before."""
    named = [node.name for node in outline.of("heading", *DIALOGS) if node.name]
    had = [node.name for node in before.of("heading", *DIALOGS)]
    return list((Counter(named) - Counter(had)).elements())


def _alike(promised: set[str], said: set[str]) -> bool:
    """Say whether two sets share a word, or one begins with a word of the other, as “lantern” and “lanterns”."""
    pairs = ((one, other) for one in promised for other in said)
    return any(
        one == other or (min(len(one), len(other)) >= STEM and (one.startswith(other) or other.startswith(one)))
        for one, other in pairs
    )


async def _covers(visit: Visit, node: Node) -> bool:
    """Say whether something lies over ``node``, twice with a pause between."""
    if await visit.page.hit(node) is not False:
        return False
    await asyncio.sleep(PAUSE)
    return await visit.page.hit(node) is False


async def _moves(visit: Visit, node: Node) -> bool:
    """Say whether ``node`` does not stay in place."""
    first = await visit.page.ask(node, "place")
    await asyncio.sleep(PAUSE)
    second = await visit.page.ask(node, "place")
    return first is not None and second is not None and first != second


async def contact(visit: Visit) -> Ending:
    """Find a way to reach the people behind the site, on at most three pages."""
    links = contact_links(visit, visit.home)
    if not any(CONTACT.search(node.name) for node in links):
        links = await _in_menu(visit) or links
    queue: list[tuple[str, Node | None]] = [(visit.url, None), *((node.url, node) for node in links)]
    reached: Node | None = None
    failure: Ending | None = None
    for url, node in queue[:CONTACT_PAGES]:
        try:
            outline, ld = await _page(visit, url)
        except (Closed, Stuck) as error:
            failure = _unopened(error, url, node)
            continue
        named = node is not None and CONTACT.search(node.name) is not None
        way = _way(outline, ld, by_name=named)
        if way:
            visit.tape.step("found", note=way, outline=outline)
            return Ending(DONE, "contact-done", {"way": way}, url=outline.url)
        visit.tape.step("looked", node, note="for an address, a number or a form", mark="part", outline=outline)
        reached = node if named and reached is None else reached
    if reached is not None:
        return await _nothing_there(visit, reached)
    return failure or await _pressed(visit) or await _no_contact(visit)


def _unopened(error: Closed | Stuck, url: str, node: Node | None) -> Ending:
    """Return the ending for a page about contact that could not be opened; ``node``: the link to it."""
    name = node.name if node is not None else "/"
    if isinstance(error, Stuck):
        return Ending(INCONCLUSIVE, "contact-failed", {"name": name, "why": str(error)}, node=node, url=url)
    facts = {"name": name, "why": "it is not opened here"}
    if error.why == "robots":
        return Ending(BLOCKED, "contact-robots", facts, node=node, url=url)
    return Ending(INCONCLUSIVE, "contact-failed", facts, node=node, url=url)


async def _nothing_there(visit: Visit, reached: Node) -> Ending:
    """Return the ending where the page behind a contact link shows no contact: blocked where it is drawn."""
    await visit.page.open(reached.url)
    status = visit.page.response.status if visit.page.response is not None else 0
    if status in GONE:
        facts = {"name": reached.name, "status": str(status)}
        return Ending(BLOCKED, "contact-missing", facts, half=True, node=reached, url=visit.home.url)
    drawn = await pictures(visit)
    facts = {"name": reached.name, "pictures": drawn}
    if drawn:
        return Ending(BLOCKED, "contact-nothing", facts, half=True, node=reached, url=reached.url)
    return Ending(INCONCLUSIVE, "contact-unsure", facts, node=reached, url=reached.url)


async def _pressed(visit: Visit) -> Ending | None:
    """Press the button about contact, or the link without an address of its own; None where there is none."""
    named = (node for node in visit.home.of("button", "link") if CONTACT.search(node.name) and not node.disabled)
    here = without_fragment(visit.home.url)
    node = next((one for one in named if without_fragment(one.url) == here or not one.url.startswith("http")), None)
    if node is None or NEVER.search(node.name):
        return None
    await visit.here(visit.url)
    fresh = await visit.again(node)
    if fresh is None or not await visit.page.click(fresh):
        return None
    outline = await visit.page.settle()
    visit.tape.step("pressed", fresh, outline=outline)
    way = _way(outline, await visit.jsonld(), by_name=True)
    if way:
        return Ending(DONE, "contact-done", {"way": way}, url=outline.url)
    return Ending(INCONCLUSIVE, "contact-unsure", {"name": node.name}, node=node, url=outline.url)


async def _in_menu(visit: Visit) -> list[Node]:
    """Open the site's menu, where a button does, and return the links about contact in it."""
    button = next((one for one in visit.home.of("button") if MENU.search(one.name) and not one.disabled), None)
    if button is None:
        return []
    await visit.here(visit.url)
    fresh = await visit.again(button)
    if fresh is None or not await visit.page.click(fresh):
        return []
    outline = await visit.page.settle()
    visit.tape.step("pressed", fresh, note="to open the menu", outline=outline)
    return contact_links(visit, outline)


async def _no_contact(visit: Visit) -> Ending:
    """Return the ending where no link leads to a contact: a name that only a mouse can press, a hidden link, none."""
    await visit.here(visit.url)
    for node in visit.home.nodes:
        said = (node.text or node.name).strip()
        operable = node.role in ACTIONABLE or ACTIONABLE & set(node.path)
        if operable or len(said) > SHORT or not CONTACT.match(said):
            continue
        if await visit.page.inspect("reacts", said):
            return Ending(BLOCKED, "contact-no-link", {"name": said}, node=node, url=visit.home.url)
    hidden = (name for name in await visit.page.query("hidden-links") or () if CONTACT.search(name))
    name = next(hidden, "")
    if name:
        return Ending(INCONCLUSIVE, "contact-hidden", {"name": clean(name, SHORT)}, url=visit.home.url)
    return Ending(ABSENT, "contact-absent", url=visit.home.url)


def contact_links(visit: Visit, home: Outline) -> list[Node]:
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
    return await visit.served(url), await visit.jsonld()


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
    yield "Telephone number", next((found[1] for url in links if (found := _CHAT.match(url))), "")
    for kind, pattern in (("E-mail address", EMAIL), ("Telephone number", PHONE), ("Postal address", POSTAL)):
        found = pattern.search(text)
        yield kind, found[0].strip() if found else ""
    declared = _CONTACT_POINT.search(ld)
    yield "Declared as data:", declared[1] if declared else ""
