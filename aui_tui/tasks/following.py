"""The task "follow": a link of the homepage leads to a page that speaks of what the link names."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final
from urllib.parse import unquote, urldefrag, urlsplit

from aui_tui.model.observations import GONE, READABLE_ENOUGH
from aui_tui.model.tasks import BLOCKED, DONE, TaskResult
from aui_tui.tasks.outline import ACTIONABLE, DIALOGS, FIELDS, Node, Outline
from aui_tui.tasks.page import Closed, Pressed, Stuck, Untouched
from aui_tui.tasks.pointing import by_control, by_pointing, pointable, trial_that
from aui_tui.tasks.reading import NamelessLink, items, nameless_links, names_an_item
from aui_tui.tasks.trials import Trial
from aui_tui.tasks.visit import Visit, ended
from aui_tui.tasks.vocabulary import DISMISS, INVITE, MISSING, TAKES, opens, words
from aui_tui.text import clean

CANDIDATES: Final = 3
PAUSE: Final = 0.5
FAKES: Final = 3
"""Elements that react to a click and are not links, from which on the site is said to offer items so."""
MAX_POINTER_CHECKS: Final = 20
"""Texts of a closed shadow root that are checked for the pointer of a link."""
Way = Callable[[Visit, Node], Awaitable[TaskResult]]
FAULTY: Final = 400
"""The first status of a page that did not come as it was asked for."""
STEM: Final = 4
"""Letters of a word that stand for it with another ending."""


async def follow(visit: Visit) -> TaskResult:
    """Follow a link of the homepage to a page that speaks of what the link names."""
    every = items(visit, visit.home)
    objections = [await visit.page.fence.objection(node.url) for node in every]
    allowed = [node for node, objection in zip(every, objections, strict=True) if not objection]
    if allowed:
        return _best(await _named(visit, allowed))
    if every:
        reason = "read-unknown" if "unknown" in objections else "follow-robots"
        return ended(reason, node=every[0])
    bare = _without_address(visit)
    endings = await _in_turn(visit, bare)
    if endings and (endings[-1].outcome == DONE or not all(ending.reason == "follow-unsure" for ending in endings)):
        return _best(endings)
    menu = [node for node in items(visit, visit.home, main=False) if {"main", "navigation"} <= set(node.path)]
    inside = await _in_turn(visit, menu)
    if inside and inside[-1].outcome == DONE:
        return inside[-1]
    ending = await _nothing_to_follow(visit)
    # what reacts may be moved, chosen or bought; without a link in its main part a page leads further from its head
    idle = ending.reason == "follow-clickable" and await _row_that_leads(visit) is None
    around = await _around(visit) if idle or ending.reason in ("follow-none", "follow-hover") else []
    if around and around[-1].outcome == DONE:
        return around[-1]
    unfolded = await _in_turn(visit, await _unfolded(visit), _straight)
    if unfolded and unfolded[-1].outcome == DONE:
        return unfolded[-1]
    if around or unfolded or not (idle or ending.reason == "follow-none"):
        return ending
    seen = await _for_eyes(visit) if not idle else None
    foot = await _in_turn(visit, items(visit, visit.home, foot=True)) if seen is None else []
    return foot[-1] if foot and foot[-1].outcome == DONE else seen or ending


async def _named(visit: Visit, nodes: list[Node]) -> list[TaskResult]:
    """Follow links to items; return how each ended.

    What a link says that asks a person to act is seldom the title of the page behind it: others come first, those of
    the head too where such links alone stand in the main part.
    """
    nodes = sorted(nodes, key=_asks)
    endings = await _in_turn(visit, nodes)
    if all(map(_asks, nodes[:CANDIDATES])) and all(ending.reason == "follow-unsure" for ending in endings):
        places = {visit.place(node.url) for node in nodes}
        others = (node for node in items(visit, visit.home, main=False) if visit.place(node.url) not in places)
        endings += await _in_turn(visit, [node for node in others if not _asks(node)])
    return endings


def _asks(node: Node) -> bool:
    """Say whether a link asks a person to act, as “Rent now” or “Join us”."""
    return TAKES.match(node.name) is not None or INVITE.match(node.name) is not None


async def _around(visit: Visit) -> list[TaskResult]:
    """Follow the links outside the main part, those without an address last; return how each ended."""
    endings = await _in_turn(visit, items(visit, visit.home, main=False))
    if endings and endings[-1].outcome == DONE:
        return endings
    return endings + await _in_turn(visit, _without_address(visit, main=False))


async def _unfolded(visit: Visit) -> list[Node]:
    """Return the links to items that a control of the homepage shows, those of the main region before the others."""
    had = {node.url for node in items(visit, await visit.shown(visit.url), main=False)}

    def fresh(shown: Outline) -> list[Node]:
        return items(visit, shown) or [node for node in items(visit, shown, main=False) if node.url not in had]

    opened = await by_control(visit, visit.url, lambda shown: bool(fresh(shown)))
    return fresh(opened[1]) if opened is not None else []


async def _for_eyes(visit: Visit) -> TaskResult | None:
    """Return the ending of a homepage without a link that has a name, where an eye or a mouse finds a way on."""
    outline = await visit.shown(visit.url)
    if visit.difference is not None:
        hidden = await visit.kept_out(outline, lambda apart: next(iter(items(visit, apart, main=False)), None))
        if hidden is not None:
            return hidden
    nameless = await _without_name(visit)
    if len(nameless) >= FAKES or await _leads_without_name(visit, nameless):
        return _unnamed(visit, outline, nameless)
    outline = await visit.shown(visit.url)
    had = {node.url for node in items(visit, outline, main=False)}
    ways = [spot.tag for spot in await pointable(visit.page, "way", "(?!)")]
    pointed = await by_pointing(
        visit, "way", lambda shown: any(node.url not in had for node in items(visit, shown, main=False))
    )
    if not pointed and ways:
        await visit.shown(visit.url)
        leading = await trial_that(visit, "way", lambda trial: trial.asks(visit.leads_on), alone=False)
        pointed = leading.tag if leading is not None else ""
    if pointed:
        return ended("follow-pointing", {"example": pointed}, url=outline.url, snippet=pointed)
    # of what is drawn only the middle was pressed
    tags = (*(link.tag for link in nameless), *(tag for tag in ways if tag.startswith(("<canvas", "<svg"))))
    example = next(iter(tags), "")
    return ended("follow-drawn", {"example": example}, url=outline.url, snippet=example) if example else None


async def _without_name(visit: Visit, *, main: bool = False) -> list[NamelessLink]:
    """Return the links without a name to other pages of the site: of the ``main`` part, or of all but the foot."""
    every = [link for link in await nameless_links(visit, main=main) if not link.in_foot]
    return [link for link in every if visit.same_site(link.url) and _address(visit, link.url)]


def _unnamed(visit: Visit, outline: Outline, links: Sequence[NamelessLink]) -> TaskResult:
    """Return the ending of a homepage on which ``links`` without a name are seen."""
    visit.step("looked", note="for a link with a name", mark="stuck", outline=outline)
    facts = {"count": str(len(links)), "example": links[0].tag}
    return ended("follow-unnamed", facts, url=outline.url, snippet=links[0].tag)


async def _leads_without_name(visit: Visit, links: Sequence[NamelessLink]) -> bool:
    """Say whether one of ``links`` opens a page of the site that speaks of what the homepage says."""
    own = words(visit.home.title)
    for url in [link.url for link in links if opens(link.url)][:CANDIDATES]:
        with suppress(Closed, Stuck):
            outline = await visit.served(url)
            if visit.page.status < FAULTY and _alike(words(_heads(outline)) - own, words(visit.home.text()) - own):
                return True
    return False


async def _straight(visit: Visit, node: Node) -> TaskResult:
    """Go to the address of a link. Raises Closed, Stuck."""
    return await _gone_to(visit, node, node.url, Pressed(None, []))


def _best(endings: list[TaskResult]) -> TaskResult:
    """Return the ending of several links: one that may work is a doubt about all of them."""
    order = (
        lambda result: result.outcome == DONE,
        lambda result: result.outcome != BLOCKED,
        lambda result: result.half,
        lambda _: True,
    )
    return next(ending for condition in order for ending in endings if condition(ending))


async def _in_turn(visit: Visit, nodes: list[Node], way: Way | None = None) -> list[TaskResult]:
    """Follow links, in one ``way`` or by pressing them, until one opens what it names; return how each ended."""
    endings: list[TaskResult] = []
    for node in nodes[:CANDIDATES]:
        reason, why = "follow-failed", f"the link “{node.name}” leads to an address that is not opened here"
        try:
            endings.append(await (way or _try)(visit, node))
        except Closed as error:
            reason = f"follow-{error.why}" if error.why in ("robots", "acts") else reason
            endings.append(ended(reason, {"why": why}, node=node))
        except Stuck as error:
            endings.append(ended(reason, {"why": str(error)}, node=node))
        if endings[-1].outcome == DONE:
            break
    return endings


def _without_address(visit: Visit, *, main: bool = True) -> list[Node]:
    """Return links without an address of their own (``#``, ``javascript:``), which only a script can follow.

    Those of the main region; without ``main`` those of all but the foot of the page. One to a mail program or a
    telephone leads to no page, and is none of them.
    """
    own = words(visit.home.title)
    links = (
        node
        for node in (visit.home.main() if main else visit.home.nodes)
        if node.role == "link"
        and not node.framed
        and "contentinfo" not in node.path
        and urlsplit(node.url).scheme in ("", "http", "https", "javascript")
    )
    bare = (node for node in links if not _address(visit, node.url) and names_an_item(node, own))
    return [node for node in bare if unquote(urldefrag(node.url)[1]) not in visit.anchors - {""}]


def _address(visit: Visit, url: str) -> str:
    """Return the address that a link leads to; empty where only a script can follow it."""
    return url if url.startswith("http") and not visit.at_home(url) else ""


async def _nothing_to_follow(visit: Visit) -> TaskResult:
    outline = await visit.shown(visit.url)
    acting = items(visit, outline, acting=True)
    if acting:
        return ended("follow-acts", node=acting[0], url=outline.url)
    unnamed = await _without_name(visit, main=True)
    if len(unnamed) >= FAKES:
        return _unnamed(visit, outline, unnamed)
    clickable = await visit.page.inspect("clickable") or {"count": 0, "example": ""}
    if clickable["count"] >= FAKES or clickable.get("drawn"):
        visit.step("looked", note="for a link with a name", mark="stuck", outline=outline)
        facts = {"count": str(clickable["count"]), "example": clickable["example"]}
        return ended("follow-clickable", facts, url=outline.url, snippet=clickable["example"])
    apart = [node for node in outline.tree_only if node.text and not ACTIONABLE & set(node.path)]
    hands = [node for node in apart[:MAX_POINTER_CHECKS] if await visit.page.ask(node, "hand")]
    if len(hands) >= FAKES:
        facts = {"count": str(len(hands)), "example": f"“{clean(hands[0].text, 40)}”"}
        return ended("follow-clickable", facts, url=outline.url)
    row = await _row_that_leads(visit)
    if row is not None:
        return ended("follow-pointing", {"example": row.tag}, url=outline.url, snippet=row.tag)
    chosen = await _list_by_mouse(visit)
    if chosen:
        return ended("follow-pointing", {"example": chosen}, url=outline.url, snippet=chosen)
    outline = await visit.shown(visit.url)
    hovered = await visit.page.query("hover-links") or ()
    if hovered:
        facts = {"count": str(len(hovered)), "example": clean(hovered[0], 60)}
        return ended("follow-hover", facts, url=outline.url)
    named = [node for node in outline.main() if node.role == "link" and node.url.startswith("http") and node.name]
    if any(not visit.same_site(node.url) for node in named):
        return ended("follow-external", url=outline.url)
    return ended("follow-generic" if named else "follow-none", url=outline.url)


async def _row_that_leads(visit: Visit) -> Trial | None:
    """Return what brought another page when a row of a list or a card of the homepage was pressed, no control."""
    await visit.shown(visit.url)
    first = visit.home.headings()[:1]

    def leads(trial: Trial) -> bool:
        elsewhere = (not visit.at_home(shown.url) or shown.headings()[:1] != first for shown in trial.shown)
        return any(elsewhere) or trial.asks(visit.leads_on)

    return await trial_that(visit, "row", leads, alone=False)


async def _list_by_mouse(visit: Visit) -> str:
    """Return what opens a list for a mouse, where an entry of it, which is no control, asks for another page."""
    outline = await visit.shown(visit.url)
    had = {node.text or node.name for node in outline.nodes}  # another document has other references

    def entries(shown: Outline) -> list[Node]:
        fresh = (node for node in shown.nodes if node.ref and (node.text or node.name) not in had | {""})
        return [node for node in fresh if not ACTIONABLE & {node.role, *node.path} and not node.framed]

    other = {visit.place(node.url) for node in items(visit, outline, main=False)}

    def leads(shown: Outline) -> bool:
        return not other and bool(items(visit, shown, main=False))

    pointed = await by_pointing(visit, "list", lambda shown: len(entries(shown)) > 1 or leads(shown))
    if not pointed or leads(await visit.page.look(whole=False)):
        return pointed
    try:
        pressed = await visit.page.tried(entries(await visit.page.look(whole=False))[0], shut=True)
    except (Untouched, IndexError):
        return ""
    return pointed if pressed.led and not visit.at_home(pressed.led) and visit.same_site(pressed.led) else ""


async def _try(visit: Visit, node: Node) -> TaskResult:
    """Follow one link: press it while nothing can leave, see where it leads, and go there.

    Raises Closed, Stuck.
    """
    fresh = await _uncovered(visit, node)
    if isinstance(fresh, TaskResult):
        return fresh
    try:
        pressed = await visit.page.tried(fresh, shut=not visit.act)
    except Untouched:
        if await _covers(visit, fresh) or await _moves(visit, fresh):
            return await _covered_link(visit, fresh)
        # an area of a picture has no box of its own
        if _address(visit, node.url) and await visit.page.hit(fresh) is None:
            return await _straight(visit, node)
        return ended("follow-failed", {"why": f"the link “{node.name}” took no click in time"})
    if pressed.led and visit.at_home(pressed.led):
        return ended("follow-failed", {"why": "the page loaded itself again"}, node=node)
    address = pressed.led or _address(visit, node.url)
    if pressed.outline is None and not pressed.held:
        return await _dead(visit, fresh)
    inside: TaskResult | None = None
    if pressed.outline is not None and not pressed.held:
        inside = await _landed(visit, node, pressed.outline)
        if inside.outcome == DONE or not address:
            return inside
    if not address:
        return ended("shut", node=node)
    ending = await _gone_to(visit, node, address, pressed)
    return inside if inside is not None and inside.outcome != BLOCKED and ending.outcome == BLOCKED else ending


async def _uncovered(visit: Visit, node: Node) -> Node | TaskResult:
    """Return ``node`` as it is on the homepage now, with nothing over it, or the ending where that cannot be."""
    fresh = await visit.at_home_again(node)
    if fresh is None:
        return ended("follow-failed", {"why": f"the link “{node.name}” has gone"})
    visit.step("found", fresh, outline=visit.page.outline)
    if await _covers(visit, fresh):
        await visit.clear(visit.page.outline, over=fresh)
        fresh = await visit.again(node) or fresh
        if await _covers(visit, fresh):
            return await _covered_link(visit, fresh)
    return fresh


async def _dead(visit: Visit, node: Node) -> TaskResult:
    """Return the ending for a link that does nothing when it is pressed."""
    visit.step("followed", node, note="nothing changed", mark="part")
    if visit.page.waits():
        return ended("follow-failed", {"why": "an answer did not come"}, node=node)
    return await visit.blame("follow-nothing", node)


async def _gone_to(visit: Visit, node: Node, address: str, pressed: Pressed) -> TaskResult:
    """Go to the address of a link; press it where a script leads elsewhere. Raises Closed, Stuck."""
    if not visit.same_site(address) or not opens(address):
        reason = "follow-failed" if opens(address) else "follow-acts"
        facts = {"why": f"the link “{node.name}” leads to another site"}
        return ended(reason, facts, node=node)
    outline = await visit.cleared(await visit.page.open(address))
    ending = await _landed(visit, node, outline, went=True)
    routed = pressed.held and not pressed.led and node.url
    if ending.outcome == DONE or ending.reason == "follow-failed" or not routed:
        return ending
    fresh = await _uncovered(visit, node)
    if isinstance(fresh, TaskResult):
        return ending
    try:
        second = await visit.page.tried(fresh, shut=False)
    except Untouched:
        return ending
    return await _landed(visit, node, second.outline) if second.outline is not None else ending


async def _covered_link(visit: Visit, node: Node) -> TaskResult:
    """Return the ending for a link that takes no click: a doubt where a button of a name unknown here may free it."""
    buttons = await visit.page.ask(node, "over") or ()
    unknown = any(not any(pattern.search(name) for pattern in DISMISS) for name in buttons)
    if unknown:
        return ended("follow-veiled", node=node)
    visit.step("followed", node, note="something else would get the click", mark="stuck")
    return await visit.blame("follow-covered", node)


async def _landed(visit: Visit, node: Node, outline: Outline, *, went: bool = False) -> TaskResult:
    """Judge the page that the link ``node`` led to. ``went``: by its address, a document of its own."""
    status = visit.page.status
    home = visit.home
    stayed = visit.at_home(outline.url)
    back = _heads(outline) == _heads(home)
    # on the homepage itself, which names the item too, only what is new there counts
    text = " ".join(_fresh(outline, home)) if stayed or back else _heads(outline)
    promised = words(node.name) - words(home.title)
    shared = _alike(promised, words(text))
    if not shared and not stayed and not back and 0 < status < FAULTY:
        shared = _alike(promised, words(unquote(urlsplit(outline.url).path))) and _is_another(outline, home)
    visit.step("followed", node, note=outline.title, mark="done" if shared else "part", outline=outline)
    facts = {"name": node.name, "title": outline.title or outline.url, "status": str(status)}
    if shared:
        visit.item = outline
        visit.outlines[visit.place(outline.url)] = outline
        if went:
            await visit.note(outline)
        return ended("follow-done", facts, url=outline.url)
    if status in GONE:
        return ended("missing", facts, node=node)
    if status >= FAULTY or outline.url.startswith("chrome-error:"):
        return ended("follow-failed", {"why": f"status {status}" if status >= FAULTY else "no answer"})
    if _brings_nothing(outline, home) and (went or not stayed):
        return ended("follow-elsewhere", facts, node=node)
    return ended("follow-unsure", facts, node=node)


def _heads(outline: Outline) -> str:
    """Return what a page says it is about: its first headings and its title."""
    return " ".join([*outline.headings()[:3], outline.title])


def _is_another(outline: Outline, home: Outline) -> bool:
    """Say whether the main part of a page is wholly another one to read, which asks for nothing and is not missing."""
    main = outline.main()
    had = {node.text or node.name for node in home.nodes}
    fresh = sum(len(node.text) for node in main if node.text not in had)
    asks = any(node.role in FIELDS for node in main)
    return fresh >= READABLE_ENOUGH and not asks and not MISSING.search(_heads(outline))


def _brings_nothing(outline: Outline, home: Outline) -> bool:
    """Say whether the main part of a page holds nothing that the homepage does not."""
    texts, had = ({node.text or node.name for node in page.main()} - {""} for page in (outline, home))
    return texts <= had


def _fresh(outline: Outline, before: Outline) -> list[str]:
    """Return the headings and dialogs of a page that it did not have before."""
    named = [node.name for node in outline.of("heading", *DIALOGS) if node.name]
    had = [node.name for node in before.of("heading", *DIALOGS)]
    return list((Counter(named) - Counter(had)).elements())


def _alike(promised: set[str], words_there: set[str]) -> bool:
    """Say whether two sets share a word, or one begins with a word of the other, as “lantern” and “lanterns”."""
    pairs = ((left, right) for left in promised for right in words_there)
    return any(
        left == right or (min(len(left), len(right)) >= STEM and (left.startswith(right) or right.startswith(left)))
        for left, right in pairs
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
