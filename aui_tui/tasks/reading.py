"""The task "read", and what the other tasks ask of a page that was read: its pictures and its items."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from aui_tui.model.observations import READABLE_ENOUGH
from aui_tui.model.tasks import TaskResult, TreeDifference
from aui_tui.tasks.covers import Cover
from aui_tui.tasks.outline import ENTRIES, SHORT, Node, Outline
from aui_tui.tasks.page import MOST, Stuck, Untouched
from aui_tui.tasks.pointing import by_mouse_alone
from aui_tui.tasks.tree import COMPARED, unlike
from aui_tui.tasks.visit import Visit, ended
from aui_tui.tasks.vocabulary import CLOSE, COMMITS, GENERIC, NEVER, REJECT, UNDOES, opens, words
from aui_tui.text import clean, count, joined

LITTLE: Final = 100
"""Characters of text and names from which a page with a heading and two named links is readable; with one such link it
is where nothing on it is drawn without words."""
SOME: Final = 3
"""Elements that agents of one kind alone see, from which on it is told; fewer where that is half of a page."""
NAMES: Final = 5
"""Of their names."""
NAMELESS: Final = 3
"""Controls without a name that are pressed to see whether they close what lies over the page."""
LONG_NAME: Final = 150
FILE: Final = re.compile(r"\.(?:pdf|zip|jpe?g|png|svg|gif|webp|mp[34]|xml|rss|json|csv|txt)(?:[?#]|$)", re.IGNORECASE)
"""The end of the address of what is no page for people."""


class NamelessLink(NamedTuple):
    """Where a link without a name leads, its start tag, and whether it stands in the foot of the page."""

    url: str
    tag: str
    in_foot: bool = False


async def read(visit: Visit) -> TaskResult:
    """Open the homepage, dismiss what covers it, and see whether it can be read."""
    outline = await visit.open(visit.url)
    outline, cover = await visit.clear(outline)
    visit.home, visit.reached = outline, True
    visit.anchors = frozenset(map(str, await visit.page.query("anchors") or ()))
    visit.prominent = frozenset(visit.place(str(url)) for url in await visit.page.query("prominent") or ())
    if cover is not None:
        ending = await covered(visit, cover, outline)
        visit.veil = _over(cover)
        return ending
    await visit.note(outline)
    visit.difference = await _difference(visit, outline)
    text, headings = outline.text(), outline.headings()
    links = [node for node in outline.of("link") if node.name]
    drawn = await pictures(visit) if len(text) < READABLE_ENOUGH else ""
    if len(text) < LITTLE and not drawn and all(visit.at_home(node.url) for node in links):
        drawn = await _painted(visit)
    short = headings and links and (not drawn or (len(text) >= LITTLE and len(links) >= 2))
    short = short or (not drawn and _is_form(outline))
    if len(text) >= READABLE_ENOUGH or short:
        first = f"the first heading is “{headings[0]}”" if headings else "no heading"
        visit.step("read", note=count(len(text), "character"), outline=outline)
        return ended("read-done", {"count": f"{len(text):,}", "headings": first}, url=outline.url)
    visit.step("read", note=count(len(text), "character"), mark="stuck", outline=outline)
    waiting = visit.page.fence.failures or visit.page.waits() or not visit.page.ready
    facts = {"count": str(len(text)), "pictures": drawn}
    if visit.difference is not None and visit.difference.dom_only:
        left_out = {"hidden": str(visit.difference.dom_only), "total": str(visit.difference.total)}
        return ended("read-hidden", {**facts, "cause": visit.difference.cause, **left_out}, url=outline.url)
    return ended("read-waiting" if waiting else "read-empty", facts, url=outline.url)


async def _painted(visit: Visit) -> str:
    """Return what reacts to a click and says nothing, as an ending of a sentence; empty without it."""
    clickable = await visit.page.inspect("clickable") or {"count": 0}
    silent = clickable["count"] and clickable["example"].endswith(">")
    return f"; {clickable['example']} reacts to a click and has no text" if silent else ""


def _is_form(outline: Outline) -> bool:
    """Say whether a page is one of fields and a button that all have names, such as a log-in page."""
    fields, buttons = outline.of(*ENTRIES), [node for node in outline.of("button") if node.name]
    return bool(fields and buttons) and all(node.name for node in fields)


async def _difference(visit: Visit, outline: Outline) -> TreeDifference | None:
    """Return where tree and DOM differ by more than decoration: what a person sees and agents of a kind do not."""
    missing, added = unlike(outline)
    compared = missing[:MOST]
    causes = await asyncio.gather(*(visit.page.ask(node, "unheard") for node in compared))
    unheard = {node: str(cause) for node, cause in zip(compared, causes, strict=True) if cause}
    total = sum(node.role in COMPARED for node in outline.nodes) + len(unheard)
    if max(len(unheard), len(added)) < min(SOME, max(1, total // 2)):
        return None
    cause = Counter(unheard.values()).most_common(1)[0][0] if unheard else "a closed shadow root"
    names = tuple(node.name for node in (*unheard, *added) if node.name)[:NAMES]
    return TreeDifference(total=total, dom_only=len(unheard), tree_only=len(added), cause=cause, names=names)


async def covered(visit: Visit, cover: Cover, outline: Outline) -> TaskResult:
    """Return the ending of a covered page: blocked where every button was tried and nothing it asked for was kept.

    Blocked too where a mouse alone or a control without a name closes it, and every other button commits to something.
    """
    dialog, tried, fence = cover.dialog, cover.tried[-1] if cover.tried else None, visit.page.fence
    facts = {
        "covered": str(cover.total - len(cover.reached)),
        "total": str(cover.total),
        "what": _over(cover),
        "name": tried.name if tried is not None else "",
        "buttons": joined([f"“{name}”" for name in cover.buttons], 3),
    }
    closer = await _closer(visit, outline) if all(COMMITS.search(name) for name in cover.buttons) else ""
    nameless = await _by_nameless(visit, cover) if not closer and all(map(COMMITS.search, cover.buttons)) else ""
    if nameless:
        reason, facts["example"] = "read-covered-nameless", nameless
    elif cover.buttons and closer:
        reason, facts["example"] = "read-covered-mouse", closer
    elif cover.buttons:
        reason = "read-covered-unknown"
    elif tried is None:
        reason = "read-covered"
    else:
        reason = "read-covered-held" if fence.held or fence.failures else "read-covered-still"
    return ended(reason, facts, node=dialog if cover.buttons else tried or dialog, url=outline.url)


def _over(cover: Cover) -> str:
    dialog = cover.dialog
    return f"the dialog “{dialog.name}”" if dialog is not None and dialog.name else "what lies over the page"


async def _closer(visit: Visit, outline: Outline) -> str:
    """Return what closes the thing over the page for a mouse alone: its text or its start tag; empty without one."""
    node = await by_mouse_alone(visit, outline, REJECT, CLOSE, press=False)
    return f"“{node.text or node.name}”" if node is not None else str(await visit.page.inspect("closer") or "")


async def _by_nameless(visit: Visit, cover: Cover) -> str:
    """Press the controls without a name over the page, while nothing can leave, and keep what is free then.

    Returns the start tag of the one that closes what lies there; empty without one.
    """
    page = visit.page
    for node in cover.nameless[:NAMELESS]:
        snippet = await page.snippet(node)
        try:
            await page.tried(node, shut=True)
        except (Untouched, Stuck):
            continue
        outline = await page.settle()
        if Cover(outline, *await page.reach(outline), ()).free:
            visit.step("pressed", node, note="which has no name and closes it", outline=outline)
            visit.behind = outline
            return snippet
    return ""


async def pictures(visit: Visit) -> str:
    """Return what of the page is drawn without words, as an ending of a sentence; empty when nothing is."""
    counts = await visit.page.query("pictures") or {}
    parts = []
    if counts.get("pictures"):
        parts.append(f"{count(counts['pictures'], 'picture')} without an alt text")
    if counts.get("canvases"):
        parts.append(f"{count(counts['canvases'], 'canvas', 'canvases')} without text")
    return f"; there {'is' if parts[0].startswith('1 ') else 'are'} {' and '.join(parts)}" if parts else ""


async def drawings(visit: Visit, about: str, *prices: re.Pattern[str], alone: bool = False) -> str:
    """Return what of the page is for eyes alone, where it should say something; as ``pictures`` does.

    A short text of the main region that matches one of ``prices`` (see ``unsaid``), and what is drawn in the shape of
    one: by markup, a file or words beside it that match ``about``, or as the end of a sentence; with ``alone`` one such
    drawing anywhere.
    """
    for text in await unsaid(visit, main=True) if prices else ():
        if len(text) <= SHORT and any(pattern.search(text) for pattern in prices):
            return f"; “{clean(text, 60)}” is left out of the accessibility tree"
    return str(await visit.page.query("drawn", [about, alone]) or "")


async def unsaid(visit: Visit, about: Sequence[str] = (), *, main: bool = False) -> list[str]:
    """Return what the open page says to eyes alone: texts of style sheets, and of SVG pictures.

    ``about``: as in ``lettering``; ``main``: of pictures only those of the main region.
    """
    page = visit.page
    files = await page.files(list(map(str, await page.query("picture-files") or ())))
    return list(map(str, await page.query("unsaid", [list(about) or None, files, main]) or ()))


def items(
    visit: Visit,
    outline: Outline,
    *,
    main: bool = True,
    foot: bool = False,
    acting: bool = False,
    buying: bool = False,
) -> list[Node]:
    """Return the links to items in the main region, in all but the ``foot`` of the page, or in that, best first.

    In a list, article or heading; then names of two words or more; then document order. Links in frames count where
    the page has no other. ``acting``: those whose address acts instead of those that can be followed; ``buying``: those
    whose names take an offer too.
    """
    places = {visit.place(outline.url)}
    own = words(outline.title)
    links: list[tuple[tuple[bool, bool, int], Node]] = []
    around = [node for node in outline.nodes if ("contentinfo" in node.path) == foot]
    nodes = outline.main() if main and not foot else around
    nodes = [node for node in nodes if "columnheader" not in node.path]
    for order, node in enumerate(sorted(nodes, key=lambda node: node.framed)):
        url = visit.place(node.url)
        if node.framed and links and not links[0][1].framed:
            break
        if node.role != "link" or not url.startswith("http") or opens(url) == acting or url in places:
            continue
        if not visit.same_site(url) or FILE.search(url) or not names_an_item(node, own, UNDOES if buying else NEVER):
            continue
        places.add(url)
        links.append(((not (node.group or "heading" in node.path), len(words(node.name)) < 2, order), node))
    return [node for _, node in sorted(links, key=lambda pair: pair[0])]


async def nameless_links(visit: Visit, *, main: bool = False) -> list[NamelessLink]:
    """Return the links of the homepage that a person sees and that have no name, nor does a link to the same.

    Those that are hidden from the tree come last; ``main``: those of the main part. Raises Closed, Stuck.
    """
    left_out = (await visit.facts(visit.url)).left_out
    apart = [NamelessLink(url, tag) for url, tag, is_inside in left_out if is_inside or not main]
    if not _nameless(visit, visit.home, main=main):  # then the page need not be open
        return apart
    page, links = visit.page, _nameless(visit, await visit.shown(visit.url), main=main)
    seen = await asyncio.gather(*(page.ask(node, "unheard") for node in links))
    links = [node for node, is_seen in zip(links, seen, strict=True) if is_seen]
    tags = await asyncio.gather(*map(page.snippet, links))
    found = zip(links, tags, strict=True)
    return [*(NamelessLink(node.url, tag, "contentinfo" in node.path) for node, tag in found), *apart]


def _nameless(visit: Visit, outline: Outline, *, main: bool) -> list[Node]:
    named = {visit.place(node.url) for node in outline.of("link") if node.name}
    links = [node for node in (outline.main() if main else outline.nodes) if node.role == "link" and node.ref]
    return [node for node in links if not node.name and visit.place(node.url) not in named]


def names_an_item(node: Node, own: set[str], but: re.Pattern[str] = NEVER) -> bool:
    """Say whether a link has a name of its own, beside the words of the title (``own``), and none that ``but`` has."""
    name = node.name
    if len(name) > LONG_NAME or but.search(name) or GENERIC.search(name):
        return False
    return not words(name) <= own
