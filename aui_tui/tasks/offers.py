"""The task "offer": a name and a price as text, and a control with a name that adds or books, found by structure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlsplit

from aui_tui.model.tasks import BLOCKED, DONE, INCONCLUSIVE, TaskResult
from aui_tui.tasks.cards import CONTROLS, SEVERAL, block_of, nameless_cards, price_in, text_of
from aui_tui.tasks.enabling import OTHERS, SET, by_choices, enabled
from aui_tui.tasks.fence import Held
from aui_tui.tasks.outline import ACTIONABLE, DIALOGS, Node, Outline
from aui_tui.tasks.page import Closed, Stuck, Untouched
from aui_tui.tasks.pointing import (
    MAX_PRESSES,
    SHORT,
    by_control,
    by_mouse_alone,
    by_pointing,
    presses,
    texts_that_say,
    trial_that,
)
from aui_tui.tasks.reading import FILE, drawings, items
from aui_tui.tasks.trials import Trail, Trial
from aui_tui.tasks.visit import Visit, ended
from aui_tui.tasks.vocabulary import (
    ABOUT,
    ASIDE,
    CART,
    CONTACT,
    DISMISS,
    KEPT,
    NEVER,
    OTHER_ICON,
    PRICE,
    PUZZLE,
    SAYS_PRICE,
    SEARCH,
    SHOP,
    TAKE,
    TAKE_LAST,
    TAKEN,
    TAKES,
    UNREAD_PRICE,
    acts,
    gets,
    opens,
    words,
)

PAGES: Final = 4
"""Pages that are opened beside the homepage and the page that was followed."""
FOLDED: Final = 3
"""Pages without an offer in sight on which one is looked for behind controls, and by a mouse."""
LINE: Final = 120
"""Characters of a text in which a price is no prose."""
UNSURE: Final = "offer-unsure"
"""Reason for a button beside a price whose name this test does not know."""
WAYS: Final = 2
"""Pages that are opened behind what a press or a mouse shows."""
CART_TEXT: Final = 12
"""Characters after the word for a cart that may say what is in it; twice as many before it."""
MAX_LABEL_WORDS: Final = 4
"""Words of what a control says where adding or booking does not come first."""
ABOVE: Final = DIALOGS | {"navigation", "banner", "search"}
"""Regions that hold no control of the offer that the page is about."""
_PRODUCT: Final = re.compile(
    r'"@type"\s*:\s*(?:\[[^\]]*)?"(?:Product|Offer|AggregateOffer|ProductGroup|Event|Hotel|HotelRoom)"'
)
_COST: Final = re.compile(r'"(?:price|lowPrice)"\s*:\s*"?(?!0+(?:\.0+)?\b)\d')
_IN_STOCK: Final = re.compile(r"(?:InStock|LimitedAvailability|OnlineOnly|PreOrder)\b")
_PHRASE: Final = re.compile(r"[:.;!?|]")


@dataclass(frozen=True, slots=True)
class Offer:
    """What a page offers: the name of the product, its price as text, and the control that adds it.

    ``control`` stands in one block with the price, or is a button of a page whose data declare a product. ``unknown``:
    a button beside the price whose name this test does not know.
    """

    outline: Outline
    declared: bool
    name: str
    price: str
    control: Node | None
    unknown: Node | None
    fake: Node | None = None
    """What says that it adds or books and is no control, or is one that the accessibility tree leaves out."""
    price_unread: str = ""
    """Where the text has no price: why the one that a person sees is not in it."""

    @property
    def is_whole(self) -> bool:
        """It has a name and a price as text, and a control that can be pressed."""
        return bool(self.name and self.price and self.control is not None and not self.control.disabled)

    @property
    def is_one(self) -> bool:
        """The page is about an offer: it declares one, or shows a price beside a control."""
        sold = self.control is not None and CART.search(self.control.name) is not None
        return self.declared or sold or bool(self.price and (self.control or self.unknown or self.fake))


async def offer(visit: Visit) -> TaskResult:
    """Look for an offer on the page that was followed and on the homepage, then behind prices and links to a shop.

    One that is whole decides. Else a doubt is told before what is missing. Raises Closed, Stuck.
    """
    queue, rest = list(_ahead(visit)), _further(visit)
    endings: list[TaskResult] = []
    failure: Closed | Stuck | None = None
    unsaid: TaskResult | None = None
    opened, folded = 0, list[str]()
    outlines = [outline for outline in (visit.item, visit.home) if outline is not None]
    begun = [visit.place(outline.url) for outline in outlines]
    while outlines or ((queue or (rest and visit.spare)) and opened < PAGES):
        if outlines:
            outline = outlines.pop(0)
        else:
            likely = bool(queue)
            url = (queue or rest).pop(0)
            if visit.place(url) in begun:
                continue
            begun.append(visit.place(url))
            opened += 1
            try:
                outline = await visit.served(url)
            except (Closed, Stuck) as error:
                failure = error if likely else failure
                continue
        candidate = _offer(outline)
        # the homepage tells of many things: it decides only where its offer is whole
        part = outline is visit.home and not candidate.is_whole
        worth = candidate.is_one or candidate.price or candidate.price_unread or candidate.control
        ending = await _judge(visit, candidate) if worth and not part else None
        if ending is not None and ending.outcome == DONE:
            return ending
        endings += [ending] if ending is not None else []
        if (ending is None or ending.reason == UNSURE) and not visit.act:
            unsaid = await _drawn_beside(visit, outline) if unsaid is None and ending is None else unsaid
            if len(folded) < FOLDED and await _folds(visit, outline):
                folded.append(outline.url)
        if outline is not visit.home:
            queue += [deeper for deeper in _priced(visit, outline)[:1] if deeper not in queue]
            rest += [node.url for node in _ways(items(visit, outline)) if node.url not in rest]
    if all(ending.reason == UNSURE for ending in endings) and unsaid is None:
        deeper = await _deeper(visit, folded, walked=not queue and not rest and _walked(visit))
        if deeper is not None and deeper.outcome != INCONCLUSIVE:
            return deeper
        endings += [deeper] if deeper is not None else []
    if not endings and unsaid is not None:
        return unsaid
    if endings:
        return next((ending for ending in endings if ending.outcome != BLOCKED), endings[0])
    return _none(visit, failure)


def _walked(visit: Visit) -> bool:
    """Say whether every page of the site was opened that a link leads to; no offer is behind the foot or some names."""
    links = (node for outline in visit.outlines.values() for node in outline.of("link") if visit.same_site(node.url))
    inside = (node for node in links if node.name and "contentinfo" not in node.path and node.url.startswith("http"))
    return all(visit.place(node.url) in visit.outlines or not opens(node.url) for node in _ways(inside))


def _ways(links: Iterable[Node]) -> list[Node]:
    """Return the links that may lead to an offer, by their names."""
    return [node for node in links if not any(other.search(node.name) for other in (ABOUT, CART, CONTACT, NEVER))]


async def _moves(visit: Visit) -> bool:
    """Say whether something in the main part of the homepage reacts to a mouse and is no control."""
    await visit.shown(visit.url)
    return bool(await visit.page.inspect("moved"))


async def _deeper(visit: Visit, pages: Sequence[str], *, walked: bool) -> TaskResult | None:
    """Return the ending for what the homepage offers in part, or ``pages`` show once something is pressed.

    None where nothing does. ``walked``: every link was followed. ``pages`` are left where the user asked for one press.
    """
    shown, doubt = _offer(visit.home), None
    stuck = shown.fake or shown.unknown or shown.control
    if shown.price and (stuck or await _moves(visit)):
        doubt = await _judge(visit, shown)
    for url in pages if not visit.act else ():
        if doubt is not None and doubt.outcome != INCONCLUSIVE:
            break
        if not visit.spare:
            return ended("unwalked", {"obstacle": "too little of the run was left to press what may show it"})
        doubt = await _unfolded(visit, url, walked=walked) or doubt
    return doubt


def _none(visit: Visit, failure: Closed | Stuck | None) -> TaskResult:
    """Return the ending where no page that was opened has an offer. ``failure``: why a likely page did not open.

    What is closed accuses where the homepage shows prices. Raises Closed, Stuck.
    """
    if isinstance(failure, Closed) and not PRICE.search(visit.home.text()):
        return ended("unwalked", {"obstacle": "a page where an offer may be is not opened here"})
    if failure is not None:
        raise failure
    return ended("offer-absent")


async def _folds(visit: Visit, outline: Outline) -> bool:
    """Say whether a page may hold an offer, or a way to one, without showing it.

    It holds a control that adds or books and does not show it, or something that folds, that reacts to a mouse and is
    no control, that says that it dismisses and is none, or that draws a price.
    """
    home = outline is visit.home
    main = set(outline.nodes if home else outline.main())
    if any(node.role in ("button", "tab", "generic") and node in main for node in presses(outline, SEARCH)):
        return True
    if outline.of(*DIALOGS) or any(node.role in SET for node in outline.main()):
        return True
    if any(texts_that_say(outline, *DISMISS)):
        return True
    if any(PRICE.search(node.text or node.name) for node in outline.dom_only):
        return True
    facts = await visit.facts(outline.url)
    shut = any(TAKES.search(name) for name in facts.hidden) or PRICE.search(facts.painted)
    return bool(shut) or facts.moved


async def _drawn_beside(visit: Visit, outline: Outline) -> TaskResult | None:
    """Return the ending for a page that sells several things whose prices are drawn; None for another."""
    control = next((node for node in outline.main() if node.role in CONTROLS and TAKES.search(node.name)), None)
    if control is None or price_in(outline.main()):
        return None
    await visit.shown(outline.url)
    drawn = await visit.page.query("drawn-beside", [TAKES.pattern, PRICE.pattern])
    if not drawn:
        return None
    visit.step("looked", control, note="for a price beside it", mark="stuck", outline=outline)
    facts = {"name": _name(outline, (), control), "pictures": f"; what is drawn by {drawn} has no text"}
    return await visit.blame("offer-price", control, facts, url=outline.url)


async def _unfolded(visit: Visit, url: str, *, walked: bool) -> TaskResult | None:
    """Return the ending where a page shows an offer once something is pressed; None where it does not.

    Where all links were ``walked``, the ways to other pages that come up are too: those of a mouse alone are no way.
    """
    had = {
        *visit.outlines,
        *(visit.place(node.url) for outline in visit.outlines.values() for node in outline.of("link")),
    }

    def shows(shown: Outline) -> bool:
        offer = _offer(shown, opened=True)
        return bool(offer.name and offer.price and offer.control)

    def led(held: Iterable[Held], shown: Iterable[Outline]) -> list[str]:
        asked = [one.url for one in held if one.document and one.own and one.method == "GET"]
        ways = [*asked, *(node.url for outline in shown for node in items(visit, outline, main=False))]
        fresh = [way for way in ways if visit.place(way) not in had and opens(way) and visit.same_site(way)]
        return list(dict.fromkeys(fresh)) if walked else []

    outline = await visit.shown(url)
    closer = await by_mouse_alone(visit, outline, *DISMISS)
    if closer is not None:
        behind = _offer((await _pressed(visit, closer))[1])
        if behind.is_whole:
            return _by_way(behind, f"“{_label(closer)}”", url)
    opened = await by_control(visit, url, shows)
    if opened is not None:
        return await _judge(visit, _offer(opened[1], opened=True))
    trail = visit.trails.get(visit.place(url), Trail([], []))
    painted = trail.painted or (await visit.facts(url)).painted
    unfolded = led(trail.held, trail.shown + trail.searching)
    fields = [node for node in outline.main() if node.role in SET | {"textbox"}]
    chosen = await by_choices(visit, (await visit.here(url)).main(), shows) if fields else None
    if chosen is not None:
        return await _judge(visit, _offer(chosen, opened=True))
    for behind in await _behind(visit, unfolded):
        ending = await _judge(visit, behind)
        if ending is not None and ending.outcome == DONE:
            return ending
    had |= {visit.place(way) for way in unfolded}
    price = PRICE.search(painted)
    if price and TAKES.search(painted):
        facts = {"name": _name(outline, (), None), "price": price[0], "example": "; a canvas draws it, without a text"}
        return ended("offer-control", facts, url=url)
    if len(presses(outline)) > MAX_PRESSES:
        return None  # a control that was not pressed may show it
    for kind in ("offer", "row", "way") if walked else ("offer",):
        await visit.shown(url)
        trial = await trial_that(visit, kind, lambda trial: trial.shows(shows) or bool(led(trial.held, trial.shown)))
        if trial is None:
            continue
        here = _offer(await visit.page.look(whole=False), opened=True)
        for behind in [here] if here.is_whole else await _behind(visit, led(trial.held, trial.shown)):
            if behind.is_whole:
                return _by_way(behind, trial.tag, url)
    return None


def _by_way(offer: Offer, pointed: str, url: str) -> TaskResult:
    """Return the ending for an offer that shows up where a mouse alone points at something."""
    return ended("offer-way", {"name": offer.name, "price": offer.price, "example": pointed}, url=url)


async def _behind(visit: Visit, ways: Iterable[str]) -> list[Offer]:
    """Return what the first pages offer that ``ways`` lead to; one that does not open is left out."""
    found: list[Offer] = []
    for way in list(ways)[:WAYS]:
        with suppress(Closed, Stuck):
            found.append(_offer(await visit.served(way)))
    return found


def _ahead(visit: Visit) -> Iterator[str]:
    """Yield the addresses where offers may be, once each: items with a price, then links to a shop."""
    places = {visit.place(visit.home.url)} | ({visit.place(visit.item.url)} if visit.item is not None else set())
    links = (node for node in visit.home.of("link") if SHOP.search(node.name) and visit.same_site(node.url))
    for url in (*_priced(visit, visit.home)[:2], *(node.url for node in links)):
        place = visit.place(url)
        if place not in places and place.startswith("http") and opens(place) and not FILE.search(place):
            places.add(place)
            yield url


def _further(visit: Visit) -> list[str]:
    """Return the addresses of other pages of the homepage where an offer may be, the likeliest first.

    What says that it is taken there, or is drawn like a button; then the menu from its end, and the rest.
    """

    def rank(place: tuple[int, Node]) -> tuple[int, int]:
        at, node = place
        heads = bool({"navigation", "banner"} & set(node.path))
        # one of a list that was followed stands for the others
        signs = TAKES.search(node.name), visit.place(node.url) in visit.prominent, heads, not node.group
        first = next((number for number, sign in enumerate(signs) if sign), len(signs))
        return first, -at if heads else at

    nodes = _ways(items(visit, visit.home, main=False))
    order = {node: at for at, node in enumerate(visit.home.nodes)}
    return [node.url for _, node in sorted(((order[node], node) for node in nodes), key=rank)]


def _priced(visit: Visit, outline: Outline) -> list[str]:
    """Return the addresses of the items of a page beside which a price stands; without one, those of a shop."""
    every, main = [node for node in items(visit, outline) if not CART.search(node.name)], outline.main()
    urls = {node.url for node in every}

    def beside_a_price(node: Node) -> bool:
        if PRICE.search(node.name) or (node.group and PRICE.search(outline.text(node.group))):
            return True
        block = block_of(main, main.index(node)) if node in main else ()  # a card tells of one item
        return bool(block) and {link.url for link in block if link.url in urls} == {node.url}

    priced = [node.url for node in every if beside_a_price(node)]
    shop = every if SHOP.search(outline.title) else []
    return priced or [node.url for node in shop if node.group] or [node.url for node in shop]


def _offer(outline: Outline, *, opened: bool = False) -> Offer:
    """Return what a page offers; once something was ``opened``, in a dialog too."""
    main = outline.main()
    inside = [node for node in outline.nodes if opened and DIALOGS & set(node.path)]
    main = inside if _paired(inside)[1] is not None else main
    declared = _PRODUCT.search(outline.jsonld) is not None
    block, control, unknown = _paired(main)
    control = control or _adding(main, "button", *(("link",) if declared else ()))
    if control is None:
        bar, control = _in_bar(outline, main, declared=declared)
        block = block or bar
    fake = _fake(outline, main, declared=declared) if control is None else None
    beside = _beside(outline, main)
    if fake in beside and not PRICE.search(text_of(main)):
        block = block or block_of(beside, beside.index(fake))
    text = text_of(block) if PRICE.search(text_of(block)) else text_of(main)
    price = None if UNREAD_PRICE.search(text) else PRICE.search(text)  # the other may be that of the shipping
    name = _name(outline, () if declared else block, control)
    unread = "" if price else _unread(outline, main)
    return Offer(outline, declared, name, price[0] if price else "", control, unknown, fake, unread)


def _in_bar(outline: Outline, main: Sequence[Node], *, declared: bool) -> tuple[Sequence[Node], Node | None]:
    """Return the control to add that stands beside the main region, as in a bar at the foot of the window.

    It must belong to what the page is about: by the price beside it, its name, or the data of the page.
    """
    beside = _beside(outline, main)
    bar, control, _ = _paired(beside)
    if control is not None and control.role == "button":
        return bar, control
    adding = [node for node in beside if node.role == "button" and TAKE.match(node.name)]
    own = (node for node in adding if declared or CART.search(node.name))
    return (), next(own, None) if len(adding) == 1 else None


def _beside(outline: Outline, main: Sequence[Node]) -> list[Node]:
    """Return the nodes outside the main region, those of head, menu, search and dialogs left out."""
    inside = set(main)
    return [node for node in outline.nodes if node not in inside and not ABOVE & set(node.path)]


def _unread(outline: Outline, main: Sequence[Node]) -> str:
    """Return why a price that a person sees is not in the text, as a part of a sentence; empty where none is seen."""
    apart = PRICE.search(" ".join(node.text or node.name for node in outline.dom_only))
    if apart:
        return f"; “{apart[0]}” is left out of the accessibility tree"
    return (
        "; its digits are no text, for a font or a style sheet alone makes them"
        if UNREAD_PRICE.search(text_of(main))
        else ""
    )


def _fake(outline: Outline, main: Sequence[Node], *, declared: bool) -> Node | None:
    """Return what says that it adds or books, and is no link or button of the accessibility tree."""
    hidden = [node for node in outline.dom_only if node.role in CONTROLS and TAKE.search(node.name)]
    said = _plain_labels(main)
    first = [node for node, label in said if TAKE.match(label) or TAKE_LAST.search(label)]
    cart = [node for node, label in said if TAKE.search(label) and CART.search(label)]
    several = [(node, label) for node, label in said if " " in label or len(words(label)) > 1]  # one may be a heading
    near = [node for node, label in several if gets(label, "") and block_of(main, main.index(node))]
    later = [node for node, label in said if declared and len(label.split()) <= MAX_LABEL_WORDS and TAKE.search(label)]
    labels = _plain_labels(_beside(outline, main))
    beside = [node for node, label in labels if TAKE.search(label) and (declared or CART.search(label))]
    return next(iter([*hidden, *first, *cart, *near, *later, *beside]), None)


def _plain_labels(nodes: Sequence[Node]) -> list[tuple[Node, str]]:
    """Return the short texts that are no control and stand in none, each as a label."""
    plain = (node for node in nodes if not (ACTIONABLE | {"heading"}) & {node.role, *node.path})
    return [(node, _label(node)) for node in plain if len(node.text or node.name) <= SHORT]


def _label(node: Node) -> str:
    """Return what a node says without the price that stands before or after it in one text."""
    return PRICE.sub("", node.text or node.name).strip()


def _adding(nodes: Sequence[Node], *roles: str) -> Node | None:
    """Return the control that adds or books, one that can be pressed before the others."""
    controls = [node for node in nodes if node.role in roles and TAKE.search(node.name)]
    return next((node for node in controls if not node.disabled), next(iter(controls), None))


def _paired(main: Sequence[Node]) -> tuple[Sequence[Node], Node | None, Node | None]:
    """Return the first block with a price and a control to add, else with a price and an unknown button; and which."""
    unknown: tuple[Sequence[Node], Node | None, Node | None] = ((), None, None)
    names = Counter(node.name for node in main if node.role == "button")
    for at, node in enumerate(main) if PRICE.search(text_of(main)) else ():
        says = TAKE.search(node.name) is not None
        # a name with the word for a cart that each card has leads to none
        others = (*(other for other in OTHERS if other is not CART or names[node.name] < SEVERAL), OTHER_ICON)
        is_unknown = node.role == "button" and not node.disabled and not any(o.search(node.name) for o in others)
        may = node.role in CONTROLS and (says or gets(node.name, node.name)) and "heading" not in node.path
        block = block_of(main, at) if may or (is_unknown and not unknown[0]) else ()
        if block and may and (says or (gets(node.name, _about(main, block, node)) and _prices(block))):
            return block, node, None
        if block and is_unknown and not unknown[0]:
            unknown = block, None, node
    return unknown


def _about(main: Sequence[Node], block: Sequence[Node], control: Node) -> str:
    """Return what a block with a price is about: its headings and first text, else the headings of the page."""
    heads = [node.name for node in block if node.role == "heading"]
    heads = heads or [node.name for node in main if node.role == "heading"]
    return " ".join([*heads, *[node.text for node in block if node is not control and node.text][:1]])


def _prices(block: Sequence[Node]) -> bool:
    """Say whether the price of a block stands in a line of its own, not in prose."""
    lengths = [len(text) for text in (text_of([node]) for node in block) if PRICE.search(text)]
    return not lengths or min(lengths) <= LINE


def _name(outline: Outline, block: Sequence[Node], control: Node | None) -> str:
    """Return what is offered: the heading or link of the block, else the heading of the page."""
    for role in ("heading", "link"):
        name = next((node.name for node in block if node.role == role and node.name and node is not control), "")
        if name:
            return name
    heads = [node.name for node in outline.main() if node.role == "heading" and node.name] or outline.headings()
    return heads[0] if heads else ""


async def _judge(visit: Visit, offer: Offer) -> TaskResult | None:
    """Return the ending for the offer of a page; None when the page sells nothing after all."""
    outline, control = offer.outline, offer.control
    chosen_by = ""
    if control is not None and control.disabled and offer.name and not visit.act:
        offer, chosen_by = await _chosen(visit, offer, control)
        control = offer.control
    if control is not None and offer.name and not offer.price and not offer.price_unread and not visit.act:
        shown = await by_control(visit, outline.url, _shows_price, TAKE)
        offer = replace(offer, price=price_in(shown[1].main())) if shown is not None else offer
    if control is None and offer.unknown is not None and offer.unknown.name and offer.price and not visit.act:
        offer = await _by_press(visit, offer, offer.unknown)
        control = offer.control
    facts = {"name": offer.name or outline.title, "price": offer.price, "control": "", "role": "", "pictures": ""}
    facts["example"] = ""
    if control is not None:
        facts |= {"control": control.name, "role": control.role}
    if offer.is_whole and control is not None:
        return await _complete(visit, offer, control, facts)
    if control is not None and chosen_by:
        return await visit.blame("offer-choose-mouse", control, {**facts, "example": chosen_by}, url=outline.url)
    await visit.shown(outline.url)
    reason, node, further = await _lack(visit, offer)
    if not reason:
        return None
    visit.step("looked", node, note="for name, price and a control to add", mark="stuck", outline=outline)
    node = await visit.again(node) or node if node is not None else None
    return await visit.blame(reason, node, {**facts, **further}, url=outline.url)


async def _lack(visit: Visit, offer: Offer) -> tuple[str, Node | None, dict[str, str]]:
    """Return the reason why an agent cannot take the offer, the element at fault and facts; no reason: none is made.

    A price alone, as in an article, is no offer. A control that is drawn without a role is named.
    """
    outline, control = offer.outline, offer.control
    if not offer.name:
        return "offer-name", None, {}
    if offer.price_unread and (control is not None or offer.declared or offer.unknown is not None):
        return "offer-price", control, {"pictures": offer.price_unread}
    if offer.price_unread and offer.fake is not None and offer.fake in outline.dom_only:
        reason, node, further = await _no_control(visit, offer)
        return reason, node, {"price": "a price that the tree lacks", **further}
    if not offer.price:
        drawn = await drawings(visit, SAYS_PRICE, PRICE, alone=True) if offer.is_one and control is not None else ""
        if drawn or _COST.search(outline.jsonld):
            return "offer-price", control, {"pictures": drawn}
        pointed = await by_pointing(visit, "text", _shows_price, SAYS_PRICE) if control is not None else ""
        if pointed:
            return "offer-price-pointing", control, {"example": pointed}
        if control is not None and control.disabled:
            return "offer-choose", control, {}
        return "offer-no-price" if control is not None and offer.declared else "", control, {}
    return ("offer-choose", control, {}) if control is not None else await _no_control(visit, offer)


async def _no_control(visit: Visit, offer: Offer) -> tuple[str, Node | None, dict[str, str]]:
    """Return the reason why nothing on a page takes an offer that has a name and a price, as ``_lack`` does."""
    outline = offer.outline
    fake = offer.fake
    if fake is not None:
        text = _label(fake)
        if fake in outline.dom_only:
            return "offer-control", None, {"example": f"; “{text}” is left out of the accessibility tree"}
        reacts = fake.pointer or fake in outline.tree_only or await visit.page.inspect("reacts", text)
        if reacts or await by_mouse_alone(visit, outline, re.compile(re.escape(text))) is not None:
            return "offer-control", fake, {"example": f"; “{text}” has no role"}
        await visit.shown(outline.url)
        # what lies around it may listen for it
        if await trial_that(visit, "said", _reacts, re.escape(text)) is not None:
            return "offer-control", fake, {"example": f"; “{text}” has no role"}
        await visit.shown(outline.url)
    doubtful = offer.unknown is not None and bool(offer.unknown.name)
    nameless = await _adding_without_name(visit, offer) if not doubtful else None
    if nameless is not None:
        return "offer-control", nameless, {"example": f"; {await visit.page.snippet(nameless)} has no name"}
    pressed = await _by_mouse(visit, outline) if offer.unknown is None else ""
    if pressed:
        return "offer-control", None, {"example": f"; {pressed} adds it and has no role"}
    asks = [PUZZLE.pattern, TAKE.pattern]
    puzzle = str(await visit.page.query("puzzle", asks) or "") if offer.unknown is None else ""
    if puzzle:
        return "offer-control", None, {"example": f"; a puzzle that no control solves hides it: {puzzle}"}
    if offer.unknown is None and _IN_STOCK.search(outline.jsonld):
        clickable = await visit.page.inspect("clickable") or {"count": 0}
        if clickable["count"]:
            return "offer-control", None, {"example": f"; {clickable['example']} reacts to a click and has no role"}
    return "offer-unsure" if offer.declared or offer.unknown else "", offer.unknown, {}


async def _adding_without_name(visit: Visit, offer: Offer) -> Node | None:
    """Return the control without a name that adds, beside a price of the open page.

    Its markup or address says so, or several parts of the page hold the same and it says nothing else, or the page
    tells it when that is pressed.
    """
    for card in nameless_cards((await visit.shown(offer.outline.url)).main()):
        marks = str(await visit.page.ask(card.control, "marks") or "")
        takes = CART.search(marks) or TAKE.search(marks) or acts(card.control.url)
        fits = takes or (card.alike >= SEVERAL and not OTHER_ICON.search(marks))
        if fits and await visit.page.ask(card.control, "unheard"):  # a person sees it
            return card.control
    nameless = offer.unknown if offer.unknown is not None and not offer.unknown.name else None
    taken = nameless is not None and (await _taken_by(visit, offer.outline.url, nameless))[0]
    await visit.shown(offer.outline.url)
    return nameless if taken else None


async def _by_press(visit: Visit, offer: Offer, button: Node) -> Offer:
    """Press a ``button`` of an unknown name beside a price; return the offer with the control that takes it then.

    That is the button where the page tells that something was taken, else one that comes up.
    """
    taken, shown = await _taken_by(visit, offer.outline.url, button)
    opened = replace(offer, control=button) if taken else _offer(shown)
    return opened if opened.is_whole else offer


async def _taken_by(visit: Visit, url: str, node: Node) -> tuple[bool, Outline]:
    """Press a control while nothing can leave; return whether that takes something, and the page then."""
    before = await visit.shown(url)
    held, shown = await _pressed(visit, await visit.again(node) or node)
    return _tells(before, shown, held), shown


async def _pressed(visit: Visit, node: Node) -> tuple[Sequence[Held], Outline]:
    """Press an element of the open page while nothing can leave; return what it asked for, and the page then."""
    try:
        pressed = await visit.page.tried(node, shut=True)
    except Untouched:
        return (), await visit.page.look()
    return pressed.held, pressed.outline or await visit.page.look()


def _tells(before: Outline, shown: Outline, held: Sequence[Held], *, by_name: bool = False) -> bool:
    """Say whether a page tells that something was taken, or asks its site to take it.

    ``by_name``: what it tells must name a heading of the page, a cart, or a place that is kept.
    """
    paths = [(one, urlsplit(one.url).path) for one in held if one.own and (one.sends or one.document)]
    orders = (acts(one.url) or CART.search(path) or (one.document and one.method != "GET") for one, path in paths)
    asks = any(orders) and not any(OTHER_ICON.search(path) for _, path in paths)
    had, carts = {node.text for node in before.nodes}, _carts(before)
    counts = any(map(str.isdigit, "".join(said for said in _carts(shown) if said not in carts)))
    fresh = [node.text for node in shown.nodes if node.text not in had and len(node.text) <= LINE]
    own = words(" ".join(before.headings()))
    fresh = [text for text in fresh if not by_name or words(text) & own or CART.search(text) or KEPT.search(text)]
    return asks or counts or any(TAKEN.search(text) and not ASIDE.search(text) for text in fresh)


async def _by_mouse(visit: Visit, outline: Outline) -> str:
    """Return the tag of what is no control and stands beside a price, where a mouse on it takes what is offered."""
    before = await visit.shown(outline.url)
    for kind in ("priced", "offer"):
        trial = await trial_that(visit, kind, lambda trial: _takes(before, trial), PRICE.pattern)
        await visit.shown(outline.url)
        if trial is not None:
            return trial.tag
    return ""


def _reacts(trial: Trial) -> bool:
    """Say whether what is no control, nor the label of one, did something."""
    return not trial.tag.startswith("<label") and bool(trial.shown or trial.held)


def _takes(before: Outline, trial: Trial) -> bool:
    """Say whether a page tells that what a mouse did took something, by its name."""
    asked = _tells(before, before, trial.held, by_name=True)
    return asked or any(_tells(before, shown, (), by_name=True) for shown in trial.shown)


def _carts(outline: Outline) -> list[str]:
    """Return what a page says after each word for a cart; before it where no number follows."""
    text = outline.text()
    said: list[str] = []
    for match in CART.finditer(text):
        after, before = text[match.end() :][:CART_TEXT], text[: match.start()][-2 * CART_TEXT :]
        numbered = any(map(str.isdigit, after))
        said.append(match[0] + after if numbered else _PHRASE.split(before)[-1] + match[0] + after)
    return said


def _shows_price(shown: Outline) -> bool:
    return bool(price_in(shown.main()))


async def _chosen(visit: Visit, offer: Offer, control: Node) -> tuple[Offer, str]:
    """Return the offer as it is once the first choices of the page are made, while nothing can leave.

    With the tag of what a mouse alone must choose, where only that enables the ``control``.
    """

    def is_free(shown: Outline) -> bool:
        return any((node.role, node.name, node.disabled) == (control.role, control.name, False) for node in shown.nodes)

    outline = await visit.here(offer.outline.url)
    shown, tag = await enabled(visit, outline.main(), is_free)
    if shown is None:
        return offer, tag
    return replace(offer, control=replace(control, disabled=False), price=offer.price or price_in(shown.main())), tag


async def _complete(visit: Visit, offer: Offer, control: Node, facts: dict[str, str]) -> TaskResult:
    """Return the ending for a name and a price in text with a control that can be pressed."""
    visit.step("found", control, note=f"beside {offer.price}", outline=offer.outline)
    if visit.act:
        await visit.served(offer.outline.url)
        return await _act(visit, offer, await visit.again(control) or control, facts)
    return ended("offer-done", facts, node=control, url=offer.outline.url)


async def _act(visit: Visit, offer: Offer, control: Node, facts: dict[str, str]) -> TaskResult:
    """Press the control once, and see whether a cart shows the product: where that leads, or behind a link to it."""
    page = visit.page
    with page.fence.act():
        pressed = await page.click(control)
        outline = await page.settle()
    visit.step("pressed", control, note="once, as the user asks", mark="done" if pressed else "stuck", outline=outline)
    heads = " ".join([*outline.headings()[:2], outline.title])
    shown = pressed and outline.url != offer.outline.url and CART.search(heads) and _names(outline, offer.name)
    cart = next((node for node in outline.of("link") if CART.search(node.name) and visit.same_site(node.url)), None)
    if not shown and cart is not None:
        outline = await visit.open(cart.url)
        shown = _names(outline, offer.name)
    return ended("offer-acted" if shown else "offer-not-in-cart", facts, node=control, url=outline.url)


def _names(outline: Outline, name: str) -> bool:
    """Say whether a page names the product ``name``."""
    words_of_name = words(name)
    return bool(words_of_name) and words_of_name <= words(" ".join(node.text or node.name for node in outline.main()))
