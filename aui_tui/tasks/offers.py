"""The task "offer": a name and a price as text, and a control with a name that adds or books, found by structure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from aui_tui.model.tasks import BLOCKED, DONE, INCONCLUSIVE, TaskResult
from aui_tui.tasks.cards import CONTROLS, SEVERAL, Card, block_of, nameless_cards, price_in
from aui_tui.tasks.enabling import SET, by_choices, enabled, freed, frees, frees_by_choice, is_choice, press_offline
from aui_tui.tasks.fence import Held, pages_asked
from aui_tui.tasks.offered import Offer, label_of, main_of, name_of, offered, tells
from aui_tui.tasks.outline import DIALOGS, SHORT, Node, Outline
from aui_tui.tasks.page import LOOK, Closed, Stuck
from aui_tui.tasks.pointing import (
    MAX_PRESSES,
    PATIENCE,
    by_control,
    by_mouse_alone,
    by_pointing,
    pointable,
    presses,
    texts_that_say,
    trial_that,
)
from aui_tui.tasks.reading import FILE, drawings, items, nameless_links
from aui_tui.tasks.trials import Trail, Trial
from aui_tui.tasks.visit import Visit, ended
from aui_tui.tasks.vocabulary import (
    ABOUT,
    ASIDE,
    CART,
    CHOSEN_FIRST,
    CONTACT,
    DISMISS,
    OTHER_ICON,
    PRICE,
    SAYS_PRICE,
    SEARCH,
    SELLS,
    SHOP,
    TAKE,
    TAKES,
    UNDOES,
    acts,
    is_tool,
    opens,
    words,
)

PAGES: Final = 4
"""Pages that are opened beside the homepage and the page that was followed."""
FOLDED: Final = 3
"""Pages without an offer in sight on which one is looked for behind controls, and by a mouse."""
UNSURE: Final = "offer-unsure"
"""Reason for a button beside a price whose name this test does not know."""
WAYS: Final = 2
"""Pages that are opened behind what a press or a mouse shows."""
MAX_NAMELESS: Final = 4
"""Controls without a name beside one price that are pressed."""
MAX_CHOSEN: Final = 3
"""What a mouse chooses to see whether a control waits for it."""
_COST: Final = re.compile(r'"(?:price|lowPrice)"\s*:\s*"?(?!0+(?:\.0+)?\b)\d')
_IN_STOCK: Final = re.compile(r"(?:InStock|LimitedAvailability|OnlineOnly|PreOrder)\b")


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
            known = await visit.known(url)
            try:
                outline = known if known is not None and not _is_worth(offered(known)) else await visit.served(url)
            except (Closed, Stuck) as error:
                failure = error if likely else failure
                continue
        candidate = offered(outline)
        # the homepage tells of many things: it decides only where its offer is whole
        part = outline is visit.home and not candidate.is_whole
        ending = await _judge(visit, candidate) if _is_worth(candidate) and not part else None
        if ending is not None and ending.outcome == DONE:
            return ending
        endings += [ending] if ending is not None else []
        if (ending is None or ending.reason == UNSURE) and not visit.act:
            unsaid = await _drawn_beside(visit, outline) if unsaid is None and ending is None else unsaid
            if len(folded) < FOLDED and await _folds(visit, outline):
                folded.append(outline.url)
        if outline is not visit.home:
            queue += [deeper for deeper in _priced(visit, outline)[:1] if deeper not in queue]
            rest += [node.url for node in _ways(items(visit, outline, buying=True)) if node.url not in rest]
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


def _is_worth(offer: Offer) -> bool:
    """Say whether a page holds enough of an offer to judge it."""
    return bool(offer.is_one or offer.price or offer.price_unread or offer.control)


def _walked(visit: Visit) -> bool:
    """Say whether every page of the site was opened that a link leads to; no offer is behind the foot or some names."""
    links = (node for outline in visit.outlines.values() for node in outline.of("link") if visit.same_site(node.url))
    inside = (node for node in links if node.name and "contentinfo" not in node.path and node.url.startswith("http"))
    return all(visit.place(node.url) in visit.outlines or not opens(node.url) for node in _ways(inside))


def _ways(links: Iterable[Node]) -> list[Node]:
    """Return the links that may lead to an offer, by their names and addresses."""
    others = (ABOUT, CART, CONTACT, UNDOES)
    return [node for node in links if not is_tool(node.url) and not any(other.search(node.name) for other in others)]


async def _moves(visit: Visit) -> bool:
    """Say whether something in the main part of the homepage reacts to a mouse and is no control."""
    await visit.shown(visit.url)
    return bool(await visit.page.inspect("moved"))


async def _seen(visit: Visit, fake: Node | None) -> bool:
    """Say whether a person sees on the homepage a control that adds, and a price, that the tree leaves out."""
    if fake is None or fake not in visit.home.dom_only:
        return False
    apart, _ = await visit.page.unheard(await visit.shown(visit.url))
    same = next((node for node in apart.nodes if (node.role, node.name) == (fake.role, fake.name)), None)
    return same is not None and bool(price_in(apart.nodes)) and await visit.page.ask(same, "clipped") is False


async def _deeper(visit: Visit, pages: Sequence[str], *, walked: bool) -> TaskResult | None:
    """Return the ending for what the homepage offers in part, or ``pages`` show once something is pressed.

    None where nothing does. ``walked``: every link was followed. ``pages`` are left where the user asked for one press.
    """
    shown, doubt = offered(visit.home), None
    stuck = shown.fake or shown.unknown or shown.control
    if (shown.price and (stuck or await _moves(visit))) or (shown.price_unread and await _seen(visit, shown.fake)):
        doubt = await _judge(visit, shown)
    if walked and doubt is None:
        doubt = await _by_nameless_link(visit)
    for url in pages if not visit.act else ():
        if doubt is not None and doubt.outcome != INCONCLUSIVE:
            break
        if not visit.spare:
            return ended("unwalked", {"obstacle": "too little of the run was left to press what may show it"})
        places = {visit.place(node.url) for outline in visit.outlines.values() for node in outline.of("link")}
        doubt = await _Folded(visit, url, walked, places | set(visit.outlines)).ending() or doubt
    return doubt


async def _by_nameless_link(visit: Visit) -> TaskResult | None:
    """Return the ending where a link of the homepage without a name leads to an offer; None where none does."""
    links = [link for link in await nameless_links(visit) if visit.same_site(link.url) and opens(link.url)]
    for way, tag in {visit.place(link.url): link.tag for link in links[:WAYS]}.items():
        for behind in await _behind(visit, [way]):
            if behind.is_whole:
                return _by_way(behind, tag, visit.url)
    return None


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

    It says a price or that something is to be had, shown or not, and holds a control that adds or books and does not
    show it, or something that folds, that reacts to a mouse and is no control, that says that it dismisses and is none,
    or that draws a price.
    """
    facts = await visit.facts(outline.url)
    short = (said for node in outline.nodes if len(said := node.name or node.text) <= SHORT)
    # an address may hold the word “shop”
    if not facts.priced and not any(SELLS.search(said) for said in (*facts.hidden, *short) if "://" not in said):
        return False
    home = outline is visit.home
    main = set(outline.nodes if home else outline.main())
    if any(node.role in ("button", "tab", "generic") and node in main for node in presses(outline, SEARCH)):
        return True
    if outline.of(*DIALOGS) or any(node.role in SET or frees_by_choice(node) for node in outline.main()):
        return True
    if any(texts_that_say(outline, *DISMISS)):
        return True
    if any(PRICE.search(node.text or node.name) for node in outline.dom_only):
        return True
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
    facts = {"name": name_of(outline, (), control), "pictures": f"; what is drawn by {drawn} has no text"}
    return await visit.blame("offer-price", control, facts, url=outline.url)


@dataclass(slots=True)
class _Folded:
    """A page that shows no offer before something is pressed.

    ``had``: the places of the pages that were opened, and that links lead to. Where all of those were ``walked``, the
    ways to other pages that come up are too: those of a mouse alone are no way.
    """

    visit: Visit
    url: str
    walked: bool
    had: set[str]

    async def ending(self) -> TaskResult | None:
        """Return the ending where the page shows an offer once something is pressed; None where it does not.

        What an agent can do comes before what takes a mouse; a doubt is told where neither decides.
        """
        doubt: TaskResult | None = None
        ways = (
            self._closing,
            self._pressing,
            self._choosing,
            self._leading,
            self._freeing,
            self._in_part,
            self._painted,
        )
        for way in (*ways, self._pointing):
            ending = await way()
            if ending is not None and ending.outcome != INCONCLUSIVE:
                return ending
            doubt = ending or doubt
        return doubt

    def _shows(self, shown: Outline) -> bool:
        offer = offered(shown, opened=True)
        return bool(offer.name and offer.price and offer.control)

    def _fresh(self, held: Iterable[Held], shown: Iterable[Outline]) -> list[str]:
        """Return the addresses that were not to be had before."""
        visit = self.visit
        ways = [
            *pages_asked(held),
            *(node.url for outline in shown for node in items(visit, outline, main=False, buying=True)),
        ]
        fresh = [way for way in ways if visit.place(way) not in self.had and opens(way) and visit.same_site(way)]
        return list(dict.fromkeys(fresh)) if self.walked else []

    @property
    def _trail(self) -> Trail:
        return self.visit.trails.get(self.visit.place(self.url), Trail([], []))

    async def _closing(self) -> TaskResult | None:
        """Press a text that says that it dismisses what lies over the page, and is no control."""
        closer = await by_mouse_alone(self.visit, await self.visit.shown(self.url), *DISMISS)
        if closer is None:
            return None
        behind = offered((await press_offline(self.visit, closer))[1])
        return _by_way(behind, f"“{label_of(closer)}”", self.url) if behind.is_whole else None

    async def _pressing(self) -> TaskResult | None:
        opened = await by_control(self.visit, self.url, self._shows)
        if opened is None:
            return None
        before = self.visit.outlines.get(self.visit.place(self.url), self.visit.home)
        had = {(node.role, node.name) for node in before.nodes}

        def taking(shown: Outline) -> Node | None:
            """Return the first control that adds or books, of what came up."""
            fresh = (node for node in shown.of(*CONTROLS) if (node.role, node.name) not in had)
            return next((node for node in fresh if TAKE.search(node.name)), None)

        behind = _behind_opener(*opened)
        hidden = await self.visit.kept_out(behind.outline, taking) if not behind.is_whole else None
        return hidden or await _judge(self.visit, behind)

    async def _choosing(self) -> TaskResult | None:
        visit, outline = self.visit, await self.visit.shown(self.url)
        if not any(node.role in SET | {"textbox"} for node in outline.main()):
            return None
        chosen = await by_choices(visit, (await visit.here(self.url)).main(), self._shows)
        return await _judge(visit, offered(chosen, opened=True)) if chosen is not None else None

    async def _leading(self) -> TaskResult | None:
        """Open the pages that the controls lead to."""
        ways = self._fresh(self._trail.held, self._trail.shown + self._trail.searching)
        for behind in await _behind(self.visit, ways):
            ending = await _judge(self.visit, behind)
            if ending is not None and ending.outcome == DONE:
                return ending
        self.had |= {self.visit.place(way) for way in ways}
        return None

    async def _freeing(self) -> TaskResult | None:
        """Press a button that is disabled until something is chosen."""
        found = await freed(self.visit, self.url)
        pages = (found.chosen, found.page) if found is not None else ()
        behind = next((offer for offer in (offered(page, opened=True) for page in pages) if offer.is_whole), None)
        if found is None or behind is None:
            return None
        if not found.tag:
            return await _judge(self.visit, behind)
        facts = {"name": behind.name, "control": found.button.name, "role": found.button.role, "example": found.tag}
        return await self.visit.blame("offer-choose-mouse", found.button, facts, url=self.url)

    async def _in_part(self) -> TaskResult | None:
        """Judge what a control shows that has a price, and no control to add that an agent has."""
        before = await self.visit.shown(self.url)
        text, dialogs = before.text(), len(before.of(*DIALOGS))

        def shows_price(shown: Outline) -> bool:
            offer = offered(shown, opened=True)
            return bool(offer.name and offer.price and (offer.price not in text or len(shown.of(*DIALOGS)) > dialogs))

        opened = await by_control(self.visit, self.url, shows_price)
        return await _judge(self.visit, _behind_opener(*opened)) if opened is not None else None

    async def _painted(self) -> TaskResult | None:
        painted = self._trail.painted or (await self.visit.facts(self.url)).painted
        price = PRICE.search(painted)
        if price is None or not TAKES.search(painted):
            return None
        name = name_of(await self.visit.shown(self.url), (), None)
        facts = {"name": name, "price": price[0], "example": "; a canvas draws it, without a text"}
        return ended("offer-control", facts, url=self.url)

    async def _pointing(self) -> TaskResult | None:
        """Point a mouse at what is no control, where all controls were pressed."""
        visit, url = self.visit, self.url
        if len(presses(await visit.shown(url))) > MAX_PRESSES:
            return None  # a control that was not pressed may show it
        for kind in ("offer", "row", "way") if self.walked else ("offer",):
            await visit.shown(url)
            trial = await trial_that(visit, kind, self._brings)
            if trial is None:
                continue
            here = offered(await visit.page.view(0), opened=True)
            fresh = self._fresh(trial.held, trial.shown)
            for behind in [here] if here.is_whole else await _behind(visit, fresh):
                if behind.is_whole:
                    return _by_way(behind, trial.tag, url)
        return None

    def _brings(self, trial: Trial) -> bool:
        return trial.shows(self._shows) or bool(self._fresh(trial.held, trial.shown))


def _behind_opener(opener: Node, shown: Outline) -> Offer:
    """Return what a page offers that ``opener`` has shown."""
    return replace(offered(shown, opened=True), opener=opener)


def _by_way(offer: Offer, pointed: str, url: str) -> TaskResult:
    """Return the ending for an offer that shows up where a mouse alone points at something."""
    return ended("offer-way", {"name": offer.name, "price": offer.price, "example": pointed}, url=url)


async def _behind(visit: Visit, ways: Iterable[str]) -> list[Offer]:
    """Return what the first pages offer that ``ways`` lead to; one that does not open is left out."""
    found: list[Offer] = []
    for way in list(ways)[:WAYS]:
        with suppress(Closed, Stuck):
            found.append(offered(await visit.served(way)))
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

    nodes = _ways(items(visit, visit.home, main=False, buying=True))
    order = {node: at for at, node in enumerate(visit.home.nodes)}
    return [node.url for _, node in sorted(((order[node], node) for node in nodes), key=rank)]


def _priced(visit: Visit, outline: Outline) -> list[str]:
    """Return the addresses of the items of a page beside which a price stands; without one, those of a shop."""
    every, main = [node for node in items(visit, outline, buying=True) if not CART.search(node.name)], outline.main()
    urls = {node.url for node in every}

    def beside_a_price(node: Node) -> bool:
        if PRICE.search(node.name) or (node.group and PRICE.search(outline.text(node.group))):
            return True
        block = block_of(main, main.index(node)) if node in main else ()  # a card tells of one item
        return bool(block) and {link.url for link in block if link.url in urls} == {node.url}

    priced = [node.url for node in every if beside_a_price(node)]
    shop = every if SHOP.search(outline.title) else []
    return priced or [node.url for node in shop if node.group] or [node.url for node in shop]


async def _judge(visit: Visit, offer: Offer) -> TaskResult | None:
    """Return the ending for the offer of a page; None when the page sells nothing after all."""
    outline, control = offer.outline, offer.control
    chosen_by = ""
    if control is not None and control.disabled and offer.name and not visit.act:
        offer, chosen_by = await _chosen(visit, offer, control)
        control = offer.control
    unpriced = not offer.price and not offer.price_unread and offer.opener is None
    if control is not None and offer.name and unpriced and not visit.act:
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
    await _at(visit, offer)
    reason, node, further = await _lack(visit, offer)
    if not reason:
        return None
    visit.step("looked", node, note="for name, price and a control to add", mark="stuck", outline=outline)
    node = await visit.again(node) or node if node is not None and node.name else node
    return await visit.blame(reason, node, {**facts, **further}, url=outline.url)


async def _lack(visit: Visit, offer: Offer) -> tuple[str, Node | None, dict[str, str]]:
    """Return the reason why an agent cannot take the offer, the element at fault and facts; no reason: none is made.

    A price alone, as in an article, is no offer. A control that is drawn without a role is named.
    """
    outline, control = offer.outline, offer.control
    if not offer.name:
        return "offer-name" if offer.price and control is not None else "", None, {}
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
            return await _closed(visit, offer, control), control, {}
        return "offer-no-price" if control is not None and offer.declared else "", control, {}
    if control is not None:
        return await _closed(visit, offer, control), control, {}
    return await _no_control(visit, offer)


async def _closed(visit: Visit, offer: Offer, control: Node) -> str:
    """Return the reason for a disabled ``control``: ARIA alone may call it so, and a mouse takes the offer with it."""
    page, before = visit.page, await _at(visit, offer)
    node = await visit.again(control) or control
    await page.attempt()
    begun = len(page.fence.held)
    if not await page.takes(
        node, lambda element: element.click(force=True, timeout=1000 * PATIENCE, no_wait_after=True)
    ):
        return "offer-choose"
    taken = tells(before, await page.view(LOOK), page.fence.held[begun:])
    return "offer-disabled" if taken else "offer-choose"


async def _no_control(visit: Visit, offer: Offer) -> tuple[str, Node | None, dict[str, str]]:
    """Return the reason why nothing on a page takes an offer that has a name and a price, as ``_lack`` does."""
    outline = offer.outline
    fake = offer.fake
    if fake is not None:
        text = label_of(fake)
        if fake in outline.dom_only:
            return "offer-control", None, {"example": f"; “{text}” is left out of the accessibility tree"}
        if await visit.page.inspect("heard", text):  # a hand that the mouse shows is no answer yet
            reacts = fake.pointer or fake in outline.tree_only or await visit.page.inspect("reacts", text)
            if reacts or await by_mouse_alone(visit, outline, re.compile(re.escape(text))) is not None:
                return "offer-control", fake, {"example": f"; “{text}” has no role"}
            await _at(visit, offer)
        # what lies around it may listen for it
        if await trial_that(visit, "said", _reacts, re.escape(text)) is not None:
            return "offer-control", fake, {"example": f"; “{text}” has no role"}
        await _at(visit, offer)
    doubtful = offer.unknown is not None and bool(offer.unknown.name)
    nameless = await _adding_without_name(visit, offer) if not doubtful else None
    if nameless is not None:
        return "offer-control", nameless, {"example": f"; {await visit.page.snippet(nameless)} has no name"}
    pressed = await _by_mouse(visit, offer) if offer.unknown is None else ""
    if pressed:
        return "offer-control", None, {"example": f"; {pressed} adds it and has no role"}
    if offer.unknown is None and _IN_STOCK.search(outline.jsonld):
        clickable = await visit.page.inspect("clickable") or {"count": 0}
        if clickable["count"]:
            return "offer-control", None, {"example": f"; {clickable['example']} reacts to a click and has no role"}
    return "offer-unsure" if offer.declared or offer.unknown else "", offer.unknown, {}


async def _adding_without_name(visit: Visit, offer: Offer) -> Node | None:
    """Return the control without a name that adds, beside a price of the open page.

    Its markup or address says so, or several parts of the page hold it alone and it says nothing else, or the page
    tells it when those of the first such part are pressed.
    """
    before = await _at(visit, offer)
    cards = _nameless_cards(before, offer)
    said = [[str(await visit.page.ask(control, "marks") or "") for control in card.controls] for card in cards]
    for marked in filter(None, map(_marked, cards, said)):
        if await visit.page.ask(marked, "unheard"):  # a person sees it
            return marked
    first = said[0] if cards and offer.unknown is not None else []
    for number in [number for number, marks in enumerate(first) if not UNDOES.search(marks)][:MAX_NAMELESS]:
        controls = [control for card in _nameless_cards(before, offer)[:1] for control in card.controls]
        if number >= len(controls):
            break
        taken, _ = await _taken_by(visit, before, controls[number])
        before = await _at(visit, offer)
        if taken:
            return controls[number]
    return None


def _marked(card: Card, said: Sequence[str]) -> Node | None:
    """Return the control of a card that takes what it is about, by ``said``, what the markup of each says.

    Its markup or address says so, and that of no other; or it is alone, as on each card of the page, and does not deny
    it.
    """
    marks = list(zip(card.controls, said, strict=True))
    takes = [control for control, text in marks if CART.search(text) or TAKE.search(text) or acts(control.url)]
    denies = {control for control, text in marks if OTHER_ICON.search(text)}
    if len(marks) > 1:
        takes = [control for control in takes if control not in denies]
    elif card.alike >= SEVERAL and not denies:
        takes = list(card.controls)
    undoes = any(UNDOES.search(text) for control, text in marks if control in takes)
    return takes[0] if len(takes) == 1 and card.is_named and not undoes else None


def _nameless_cards(outline: Outline, offer: Offer) -> list[Card]:
    return nameless_cards(main_of(outline, opened=offer.opener is not None))


async def _by_press(visit: Visit, offer: Offer, button: Node) -> Offer:
    """Press a ``button`` of an unknown name beside a price; return the offer with the control that takes it then.

    That is the button where the page tells that something was taken, else one that comes up.
    """
    before = await _at(visit, offer)
    taken, shown = await _taken_by(visit, before, await visit.again(button) or button)
    opened = replace(offer, control=button) if taken else offered(shown)
    return opened if opened.is_whole else offer


async def _taken_by(visit: Visit, before: Outline, node: Node) -> tuple[bool, Outline]:
    """Press a control of the open page while nothing can leave; return whether that takes something, and the page."""
    held, shown = await press_offline(visit, node)
    return tells(before, shown, held), shown


async def _at(visit: Visit, offer: Offer, *, untouched: bool = False) -> Outline:
    """Return the page as it was when the ``offer`` was found on it, what shows it pressed while nothing can leave."""
    outline = await (visit.here if untouched else visit.shown)(offer.outline.url)
    if offer.opener is None:
        return outline
    return (await press_offline(visit, await visit.again(offer.opener) or offer.opener))[1]


async def _by_mouse(visit: Visit, offer: Offer) -> str:
    """Return the tag of what is no control and stands beside a price, where a mouse on it takes what is offered."""
    before = await _at(visit, offer)
    for kind in ("priced", "offer"):
        trial = await trial_that(visit, kind, lambda trial: _takes(before, trial), PRICE.pattern)
        await _at(visit, offer)
        if trial is not None:
            return trial.tag
    return ""


def _reacts(trial: Trial) -> bool:
    """Say whether what is no control did something: what the page shows before has no tag."""
    return bool(trial.tag and (trial.shown or trial.held))


def _takes(before: Outline, trial: Trial) -> bool:
    """Say whether a page tells that what a mouse did took something, by its name, or by the count where it was put."""
    counted = trial.filled and not OTHER_ICON.search(trial.filled) and not ASIDE.search(trial.filled)
    asked = tells(before, before, trial.held, by_name=True)
    return bool(counted) or asked or any(tells(before, shown, (), by_name=True) for shown in trial.shown)


def _shows_price(shown: Outline) -> bool:
    return bool(price_in(shown.main()))


async def _chosen(visit: Visit, offer: Offer, control: Node) -> tuple[Offer, str]:
    """Return the offer as it is once the first choices of the page are made, while nothing can leave.

    With the tag of what a mouse alone must choose, where only that enables the ``control``.
    """

    outline = await _at(visit, offer, untouched=True)
    shown, tag = await enabled(visit, main_of(outline, opened=offer.opener is not None), frees(outline, control))
    if shown is None:
        return offer, tag
    return replace(offer, control=replace(control, disabled=False), price=offer.price or price_in(shown.main())), tag


async def _complete(visit: Visit, offer: Offer, control: Node, facts: dict[str, str]) -> TaskResult:
    """Return the ending for a name and a price in text with a control that can be pressed."""
    visit.step("found", control, note=f"beside {offer.price}", outline=offer.outline)
    if visit.act:
        await visit.served(offer.outline.url)
        return await _act(visit, offer, await visit.again(control) or control, facts)
    chosen_by = await _chosen_first(visit, offer, control)
    if chosen_by:
        return await visit.blame("offer-choose-mouse", control, {**facts, "example": chosen_by}, url=offer.outline.url)
    return ended("offer-done", facts, node=control, url=offer.outline.url)


async def _chosen_first(visit: Visit, offer: Offer, control: Node) -> str:
    """Return the tag of what a mouse alone chooses, where ``control`` takes nothing without that and asks for it.

    Empty where it takes the offer, or asks for nothing, or the page has choices with names.
    """
    page, url = visit.page, offer.outline.url
    main = main_of(offer.outline, opened=offer.opener is not None)
    if any(map(is_choice, main)) or not (await visit.facts(url)).moved:
        return ""
    for at in range(MAX_CHOSEN + 1):
        before = await _at(visit, offer)
        spots = await pointable(page, "disabled", "(?!)") if at else []
        if at > len(spots):
            break
        await page.attempt()
        if at:
            await page.clicked(at - 1)
        held, shown = await press_offline(visit, await visit.again(control) or control)
        is_taken = tells(before, shown, held)
        if is_taken or (not at and not _asks_choice(before, shown)):
            return spots[at - 1].tag if at else ""
    return ""


def _asks_choice(before: Outline, shown: Outline) -> bool:
    """Say whether a page asks for a choice that it did not ask for ``before``."""
    had = {node.text or node.name for node in before.nodes}
    fresh = (text for node in shown.nodes if (text := node.text or node.name) not in had)
    return any(CHOSEN_FIRST.search(text) for text in fresh)


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
