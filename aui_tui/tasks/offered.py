"""What a page offers: a name and a price as text, and a control that adds or books, found by structure. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from aui_tui.tasks.cards import CONTROLS, NEAR, SEVERAL, block_of, price_in, text_of
from aui_tui.tasks.fence import Held
from aui_tui.tasks.outline import ACTIONABLE, DIALOGS, SHORT, Node, Outline
from aui_tui.tasks.vocabulary import (
    ASIDE,
    CART,
    HOLDS,
    KEPT,
    OTHER_ICON,
    OTHERS,
    OWN,
    PRICE,
    TAKE,
    TAKE_LAST,
    TAKEN,
    UNREAD_PRICE,
    acts,
    gets,
    words,
)

LINE: Final = 120
"""Characters of a text in which a price is no prose."""
CART_TEXT: Final = 12
"""Characters after the word for a cart that may say what is in it; twice as many before it."""
THING: Final = 4
"""Letters from which on a text of a page may name a thing."""
MAX_LABEL_WORDS: Final = 4
"""Words of what a control says where adding or booking does not come first."""
ABOVE: Final = DIALOGS | {"navigation", "banner", "search"}
"""Regions that hold no control of the offer that the page is about."""
_PRODUCT: Final = re.compile(
    r'"@type"\s*:\s*(?:\[[^\]]*)?"(?:Product|Offer|AggregateOffer|ProductGroup|Event|Hotel|HotelRoom)"'
)
_AROUND: Final = " ,.:;–—-"
"""What may stand between the name of a thing and its price."""
_NUMBER: Final = re.compile(r"\d+")
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
    opener: Node | None = None
    """The control that was pressed to show it."""

    @property
    def is_whole(self) -> bool:
        """It has a name and a price as text, and a control that can be pressed."""
        return bool(self.name and self.price and self.control is not None and not self.control.disabled)

    @property
    def is_one(self) -> bool:
        """The page is about an offer: it declares one, or shows a price beside a control."""
        sold = self.control is not None and CART.search(self.control.name) is not None
        return self.declared or sold or bool(self.price and (self.control or self.unknown or self.fake))


def offered(outline: Outline, *, opened: bool = False) -> Offer:
    """Return what a page offers; once something was ``opened``, in a dialog too."""
    main = main_of(outline, opened=opened)
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
    name = name_of(outline, () if declared else block, control)
    unread = "" if price else _unread(outline, main)
    return Offer(outline, declared, name, price[0] if price else "", control, unknown, fake, unread)


def main_of(outline: Outline, *, opened: bool) -> list[Node]:
    """Return the part of a page that may hold its offer; once something was ``opened``, also what lies beside it."""
    main = outline.main()
    if not opened:
        return main
    inside = [node for node in outline.nodes if DIALOGS & set(node.path)]
    sold = _paired(main)[1] is not None
    if _paired(inside)[1] is not None or (not sold and price_in(inside)):
        return inside
    beside = _beside(outline, main)  # what came up may be no dialog
    return beside if not sold and _paired(beside)[1] is not None else main


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
    return [(node, label_of(node)) for node in plain if len(node.text or node.name) <= SHORT]


def label_of(node: Node) -> str:
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


def name_of(outline: Outline, block: Sequence[Node], control: Node | None) -> str:
    """Return what is offered: the heading or link of the block, else the heading of the page."""
    for role in ("heading", "link"):
        name = next((node.name for node in block if node.role == role and node.name and node is not control), "")
        if name:
            return name
    heads = [node.name for node in outline.main() if node.role == "heading" and node.name] or outline.headings()
    return heads[0] if heads else ""


def tells(before: Outline, shown: Outline, held: Sequence[Held], *, by_name: bool = False) -> bool:
    """Say whether a page tells that something was taken, or asks its site to take it.

    ``by_name``: what it tells must name a heading of the page, a cart, or a place that is kept.
    """
    paths = [(one, urlsplit(one.url).path) for one in held if one.own and (one.sends or one.document)]
    orders = (acts(one.url) or CART.search(path) or (one.document and one.method != "GET") for one, path in paths)
    asks = any(orders) and not any(OTHER_ICON.search(path) for _, path in paths)
    had, counted = {node.text for node in before.nodes}, set(map(_digits, _carts(before)))
    counts = bool(set(map(_digits, _carts(shown))) - counted - {""})
    fresh = [node.text for node in shown.nodes if node.text not in had and len(node.text) <= LINE]
    own = words(" ".join(before.headings()))
    things = _things(before)
    if any(_holds(text, things) for text in fresh):
        return True
    had_kept, kept = _kept(before, things), _kept(shown, things)
    # a cart that comes up with what it holds may have held that before
    if _is_filled(before, shown, things) or any(kept[name] - had_kept[name] for name in kept.keys() & had_kept.keys()):
        return True
    fresh = [text for text in fresh if not by_name or words(text) & own or CART.search(text) or KEPT.search(text)]
    return asks or counts or any(TAKEN.search(text) and not ASIDE.search(text) for text in fresh)


def _digits(text: str) -> str:
    return " ".join(_NUMBER.findall(text))


def _things(outline: Outline) -> set[str]:
    """Return what may name a thing to take, in small letters: headings, and short texts with a price or before one."""
    priced = [at for at, node in enumerate(outline.nodes) if PRICE.search(node.text)]
    near = [node for at in priced for node in outline.nodes[max(0, at - NEAR) : at + 1]]
    # the price may stand in one text with the name, before other words
    texts = {said.strip(_AROUND) for node in near for said in (label_of(node), PRICE.split(node.text)[0])}
    return {name.casefold() for name in texts | set(outline.headings()) if THING <= len(name) <= SHORT}


def _kept(outline: Outline, things: Set[str]) -> dict[str, Counter[str]]:
    """Return which of the ``things``, in small letters, stand in each place for what is taken, and how often.

    That is below a heading with a word for a cart, or one that calls it the reader's own, or right after such a word.
    """
    found: dict[str, Counter[str]] = {}
    heading = label = ""
    for node in outline.nodes:
        said = node.text.strip()
        if node.role == "heading":
            own = CART.search(node.name) or (OWN.search(node.name) and not _is_aside(node.name))
            heading = _NUMBER.sub("", node.name) if own else ""
        for place in {heading, label} - {""}:
            found.setdefault(place, Counter()).update(things & _names(label_of(node)))
        if said:
            head, _, tail = said.partition(":") if not CART.fullmatch(said) else (said, "", "")
            head = _NUMBER.sub("", head) if CART.search(head) else ""
            label = head if not tail else ""
            if head:
                found.setdefault(head, Counter()).update(things & _names(tail))
    return found


def _is_filled(before: Outline, shown: Outline, things: Set[str]) -> bool:
    """Say whether a list of a page that was empty holds one of the ``things``, which are not kept aside by that."""
    had, has = _entries(before), _entries(shown)
    pairs = zip(had, has, strict=True) if len(had) == len(has) else ()
    return any(
        not was and not aside and any(things & _names(label_of(node)) for node in now)
        for (_, was), (aside, now) in pairs
    )


def _entries(outline: Outline) -> list[tuple[bool, Sequence[Node]]]:
    """Return of each list whether what is said before it speaks of what is kept aside, and what it holds."""
    nodes = outline.nodes
    found: list[tuple[bool, Sequence[Node]]] = []
    for at, node in enumerate(nodes):
        if node.role == "list":
            end = next((place for place in range(at + 1, len(nodes)) if nodes[place].depth <= node.depth), len(nodes))
            lead = " ".join(one.text or one.name for one in nodes[max(0, at - NEAR) : at])
            found.append((_is_aside(f"{node.name} {lead}"), nodes[at + 1 : end]))
    return found


def _is_aside(text: str) -> bool:
    return ASIDE.search(text) is not None or OTHER_ICON.search(text) is not None


def _names(text: str) -> set[str]:
    """Return what a text may name, in small letters, with a number before it and without it."""
    said = text.strip(_AROUND).casefold()
    return {said, _NUMBER.sub("", said, count=1).lstrip(_AROUND + "x×")} if said[:1].isdigit() else {said}


def _holds(text: str, things: Iterable[str]) -> bool:
    """Say whether a text tells that one of the ``things``, in small letters, is among those that are taken."""
    match = HOLDS.search(text)
    said = text[match.end() :].casefold() if match else ""
    return any(thing in said for thing in things if said)


def _carts(outline: Outline) -> list[str]:
    """Return what a page says after each word for a cart; before it where no number follows."""
    text = outline.text()
    said: list[str] = []
    for match in CART.finditer(text):
        after, before = text[match.end() :][:CART_TEXT], text[max(0, match.start() - LINE) : match.start()]
        before = PRICE.sub("", before)[-2 * CART_TEXT :]  # that of the thing beside “Add to cart”
        numbered = any(map(str.isdigit, after))
        said.append(match[0] + after if numbered else _PHRASE.split(before)[-1] + match[0] + after)
    return said
