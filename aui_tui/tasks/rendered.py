"""Rendered against sent: which of the homepage's text, headings and prices only scripts bring.

Both sides are read in the browser by the same walk: the page as it is, and the HTML as sent, parsed without running
anything.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from aui_tui.records.methods import round_half_up
from aui_tui.records.tasks import Rendered
from aui_tui.tasks.page import Page
from aui_tui.tasks.vocabulary import PRICE, price_key
from aui_tui.text import clean

EXCERPT: Final = 2000
LONGEST: Final = 400_000
NAMED: Final = 100
"""Headings and prices that are kept."""


async def compare(page: Page) -> Rendered | None:
    """Return what scripts add to the page that is open; None when that cannot be known."""
    try:
        raw = await page.response.text() if page.response is not None else None
    except Exception:  # the browser keeps no body of a page that was left
        return None
    found = await page.query("readings", raw) if raw is not None else None
    return weigh(found["live"], found["sent"]) if found else None


def weigh(live: dict[str, Any], sent: dict[str, Any]) -> Rendered:
    """Return the comparison of two readings: ``text`` and ``headings`` of either side."""
    shown, had = " ".join(live["text"].split()), " ".join(sent["text"].split())
    missing = Counter(shown.casefold().split()) - Counter(had.casefold().split())
    lacking = sum(len(word) * count for word, count in missing.items())
    total = sum(len(word) for word in shown.split())
    known = price_key(had)
    heads = dict.fromkeys(clean(" ".join(head.split()), 200) for head in live["headings"])
    flat = had.casefold()
    prices = dict.fromkeys(clean(found[0].strip(), 40) for found in PRICE.finditer(shown))
    return Rendered(
        readable=len(shown),
        sent=len(had),
        share=round_half_up(100 * lacking, total) if total else 0,
        headings=tuple(head for head in heads if head and head.casefold() not in flat)[:NAMED],
        prices=tuple(price for price in prices if price_key(price) not in known)[:NAMED],
        text=clean(shown, EXCERPT),
    )
