"""The parts of a page that hold one thing with its price, and the controls in them. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from aui_tui.tasks.outline import Node
from aui_tui.tasks.vocabulary import PRICE, acts, unrolled, words

NEAR: Final = 4
"""Elements before and after a control in which a price belongs to it where no block holds both."""
SMALL: Final = 600
"""Characters of a block that holds one offer: beyond it a price and a control have nothing to do with each other."""
NAMED: Final = frozenset({"heading", "button", "link", "cell", "img"})
"""Roles whose name a reader gets as text; that of a picture is its alternative text."""
CONTROLS: Final = frozenset({"button", "link"})
SEVERAL: Final = 2
"""Cards that are alike, from which on a control without a name is the same on each."""


class Card(NamedTuple):
    """A part of a page that holds a price and ``controls`` without a name.

    ``alike``: how many cards of the page hold the same roles in the same order. ``is_named``: it says what it is about.
    """

    controls: tuple[Node, ...]
    alike: int
    is_named: bool


def nameless_cards(main: Sequence[Node]) -> list[Card]:
    """Return the cards of the main part of a page that hold controls without a name, in document order."""
    blocks = dict.fromkeys(tuple(block_of(main, at)) for at, node in enumerate(main) if _is_nameless(node))
    shapes = Counter(tuple(node.role for node in block) for block in blocks)
    return [
        Card(tuple(filter(_is_nameless, block)), shapes[tuple(node.role for node in block)], _is_named(block))
        for block in blocks
        if block
    ]


def _is_nameless(node: Node) -> bool:
    """Say whether a control without a name may take what stands beside it: a link to a page shows it alone."""
    takes = node.role == "button" or (node.role == "link" and acts(node.url))
    return takes and not node.name and bool(node.ref) and not node.disabled


def _is_named(block: Sequence[Node]) -> bool:
    """Say whether a card says what it is about: by a heading, a link or a text that is no price."""
    return any(words(node.name if node.role in ("heading", "link") else PRICE.sub("", node.text)) for node in block)


def text_of(nodes: Sequence[Node]) -> str:
    texts = (node.text or (node.name if node.role in NAMED else "") for node in nodes)
    return unrolled(" ".join(" ".join(texts).split()))


def block_of(main: Sequence[Node], at: int) -> Sequence[Node]:
    """Return the smallest part of the page that holds the control at ``at`` and a price; empty beyond SMALL."""
    begin, depth = at, main[at].depth
    while True:
        begin = next((place for place in range(begin - 1, -1, -1) if main[place].depth < depth), -1)
        depth = main[begin].depth if begin >= 0 else -1
        end = next((place for place in range(at + 1, len(main)) if main[place].depth <= depth), len(main))
        block = main[max(begin, 0) : end]
        text = text_of(block)
        if PRICE.search(text) and len(text) <= SMALL:
            return block
        if begin < 0 or len(text) > SMALL:
            near = main[max(0, at - NEAR) : at + NEAR]
            price = PRICE.search(text_of(near)) if begin < 0 and len(text_of(near)) <= SMALL else None
            return near if price and price[0] in text_of(main) else ()  # the cut may go through a column of digits


def price_in(nodes: Sequence[Node]) -> str:
    match = PRICE.search(text_of(nodes))
    return match[0] if match else ""
