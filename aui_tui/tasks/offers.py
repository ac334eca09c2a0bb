"""The task "offer": a name and a price as text, and a control with a name that adds or books."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NamedTuple

from aui_tui.tasks.outline import Node, Outline
from aui_tui.tasks.page import Closed, Stuck
from aui_tui.tasks.reading import items, pictures
from aui_tui.tasks.visit import Ending, Visit
from aui_tui.tasks.vocabulary import ADD, CART, PRICE, SOLD_OUT, words

PAGES: Final = 3
PRICED: Final = 2
"""Links with a price in their list item that are tried beside the page that was followed."""
NAMED: Final = frozenset({"heading", "button", "link", "cell", "img"})
"""Roles whose name a reader gets as text; that of a picture is its alternative text."""
_PRODUCT: Final = re.compile(
    r'"@type"\s*:\s*(?:\[[^\]]*)?"(?:Product|Offer|AggregateOffer|ProductGroup|Event|Hotel|HotelRoom)"'
)


_COST: Final = re.compile(r'"(?:price|lowPrice)"\s*:\s*"?(?!0+(?:\.0+)?\b)\d')
_GONE: Final = re.compile(r"(?:OutOfStock|SoldOut|Discontinued)\b")


@dataclass(frozen=True, slots=True)
class Offer:
    """What a page offers: the name of the product, its price as text, and the control that adds it."""

    outline: Outline
    declared: bool
    name: str
    price: str
    control: Node | None
    costs: bool = False
    """Its data name a price above zero."""
    choices: bool = False
    """Something can be chosen on the page, or it says that nothing is left."""

    @property
    def is_one(self) -> bool:
        """The page is about an offer: it declares one, or shows a price beside a control to add or book."""
        return self.declared or bool(self.price and self.control)


async def offer(visit: Visit) -> Ending:
    """Look for an offer on the page that was followed, then behind links that stand beside a price."""
    queue: list[str] = [visit.item.url] if visit.item is not None else []
    queue += [url for url in _priced(visit, visit.home)[:PRICED] if url not in queue]
    failure: Closed | Stuck | None = None
    tried = 0
    while queue and tried < PAGES:
        url = queue.pop(0)
        tried += 1
        try:
            outline, ld = await _page(visit, url)
        except (Closed, Stuck) as error:
            failure = error
            continue
        found = _offer(outline, ld)
        ending = await _judge(visit, found) if found.is_one else None
        if ending is not None:
            return ending
        queue += [deeper for deeper in _priced(visit, outline)[:1] if deeper not in queue]
    if failure is not None:
        raise failure
    return Ending("offer-absent", url=visit.home.url)


def _priced(visit: Visit, outline: Outline) -> list[str]:
    """Return the addresses of the items of a page whose list item shows a price."""
    return [node.url for node in items(visit, outline) if node.group and PRICE.search(outline.text(node.group))]


async def _page(visit: Visit, url: str) -> tuple[Outline, str]:
    """Return a page and its JSON-LD; the one that was followed as it was then. Raises Closed, Stuck."""
    if visit.item is not None and url == visit.item.url and not visit.act:
        return visit.item, visit.item_ld
    return await visit.served(url), await visit.jsonld()


def _offer(outline: Outline, ld: str) -> Offer:
    main = outline.main()
    text = " ".join(node.text or (node.name if node.role in NAMED else "") for node in main)
    price = PRICE.search(" ".join(text.split()))
    heads = [node.name for node in main if node.role == "heading" and node.name] or outline.headings()
    choices = any(node.role in ("combobox", "radio", "listbox") for node in main) or SOLD_OUT.search(text) is not None
    return Offer(
        outline,
        _PRODUCT.search(ld) is not None,
        heads[0] if heads else "",
        price[0] if price else "",
        _control(main),
        costs=_COST.search(ld) is not None,
        choices=choices or _GONE.search(ld) is not None,
    )


def _control(main: Sequence[Node]) -> Node | None:
    """Return the control that adds or books, one that can be pressed before the others."""
    controls = [node for node in main if node.role in ("button", "link") and ADD.search(node.name)]
    return next((node for node in controls if not node.disabled), next(iter(controls), None))


async def _judge(visit: Visit, found: Offer) -> Ending | None:
    """Return the ending for the offer of a page; None when the page sells nothing after all."""
    outline, control = found.outline, found.control
    facts = {"name": found.name or outline.title, "price": found.price, "control": "", "role": "", "pictures": ""}
    facts["example"] = ""
    if control is not None:
        facts |= {"control": control.name, "role": control.role}
    if found.name and found.price and control is not None and not control.disabled:
        return await _complete(visit, found, control, facts)
    if visit.page.tab.url != outline.url:
        await visit.here(outline.url)
    lack = await _lack(visit, found)
    if lack is None:
        return None
    node = lack.node
    visit.tape.step("looked", node, note="for name, price and a control to add", mark="stuck", outline=outline)
    node = await visit.again(node) or node if node is not None else None
    snippet = await visit.page.snippet(node) if node is not None and node.ref else ""
    return Ending(lack.reason, {**facts, **lack.facts}, node=node, url=outline.url, snippet=snippet)


class Lack(NamedTuple):
    """What keeps an agent from an offer: the reason and its facts, and the element at fault."""

    reason: str
    node: Node | None
    facts: Mapping[str, str] = MappingProxyType({})


async def _lack(visit: Visit, found: Offer) -> Lack | None:
    """Return what is missing first of name, price and control; None when the page sells nothing after all."""
    if not found.name:
        return Lack("offer-name", None)
    if not found.price:
        drawn = await pictures(visit)
        if not drawn and not found.costs and found.control is None:
            return None
        reason = "offer-price" if drawn or found.costs else "offer-no-price"
        return Lack(reason, found.control, facts={"pictures": drawn})
    if found.control is None:
        return _no_control(found.outline)
    return Lack("offer-choose" if found.choices else "offer-disabled", found.control)


def _no_control(outline: Outline) -> Lack:
    """Return what is missing where no control adds: one that is drawn without a role is named."""
    fake = next((n for n in outline.nodes if n.pointer and n.role == "generic" and ADD.search(n.text or n.name)), None)
    if fake is None:
        return Lack("offer-unsure", None)
    return Lack("offer-control", fake, facts={"example": f"; “{fake.text or fake.name}” has no role"})


async def _complete(visit: Visit, found: Offer, control: Node, facts: dict[str, str]) -> Ending:
    """Return the ending for a name and a price in text with a control that can be pressed."""
    visit.tape.step("found", control, note=f"beside {found.price}", outline=found.outline)
    if visit.snap is not None and visit.page.tab.url != found.outline.url:
        await visit.page.open(found.outline.url)
    if visit.act:
        return await _act(visit, found, control, facts)
    return Ending("offer-done", facts, node=control, url=found.outline.url)


async def _act(visit: Visit, found: Offer, control: Node, facts: dict[str, str]) -> Ending:
    """Press the control once, and see whether a cart shows the product."""
    page = visit.page
    with page.fence.act():
        pressed = await page.click(control)
        outline = await page.settle()
    visit.tape.step(
        "pressed", control, note="once, as --act asks", mark="done" if pressed else "stuck", outline=outline
    )
    wanted = words(found.name)
    if pressed and _in_cart(outline, wanted, found.outline):
        return Ending("offer-acted", facts, node=control, url=outline.url)
    cart = next((node for node in outline.of("link") if CART.search(node.name) and visit.same_site(node.url)), None)
    if cart is not None:
        outline = await visit.open(cart.url)
        text = words(" ".join(node.text or node.name for node in outline.main()))
        if wanted and wanted <= text:
            return Ending("offer-acted", facts, node=control, url=outline.url)
    return Ending("offer-not-in-cart", facts, node=control, url=outline.url)


def _in_cart(outline: Outline, wanted: set[str], before: Outline) -> bool:
    """Say whether the page that pressing led to is a cart that names the product."""
    if outline.url == before.url:
        return False
    cart = CART.search(" ".join([*outline.headings()[:2], outline.title])) is not None
    text = words(" ".join(node.text or node.name for node in outline.main()))
    return cart and bool(wanted) and wanted <= text
