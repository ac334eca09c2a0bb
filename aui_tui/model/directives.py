"""What a page says to indexes and agents of its own use: meta elements and X-Robots-Tag fields. Pure; never scored.

Sources: Google's robots meta tag specifications; ``noai`` and ``noimageai`` by DeviantArt, which others took over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from aui_tui.model.registry import registry

WITHHOLDING: Final = ("noindex", "nosnippet", "noarchive", "none", "noai", "noimageai", "max-snippet:0")
"""Directives that keep a page out of an index, out of answers or from models."""
MOST: Final = 8
"""Directives that are kept of one page."""
_NAMED: Final = re.compile(r"\s*([a-z][\w-]{0,40})\s*:\s*(?!\d|large\b|standard\b|-1)(.*)", re.IGNORECASE | re.DOTALL)
"""A directive for one client: ``otherbot: noindex``."""


def withheld(content: str) -> str:
    """Return those words of a list of directives that withhold the page, joined by commas; empty for none."""
    words = content[:1000].lower().replace(" ", "").split(",")
    return ", ".join(dict.fromkeys(word for word in words if word in WITHHOLDING))


def of_meta(name: str, content: str) -> str:
    """Return what a meta element withholds from indexes or agents; nothing of one that speaks to no client."""
    directives = withheld(content)
    tokens = (entry.token.lower() for entry in (*registry().agents, *registry().crawlers)) if directives else ()
    return directives if "bot" in name.lower() or name.lower() in tokens else ""


def of_field(value: str) -> Iterator[tuple[str, str]]:
    """Yield whom an X-Robots-Tag field speaks to (empty: everybody) and what it withholds.

    A name holds for the directives after it, up to the next name.
    """
    name = ""
    words_of: dict[str, list[str]] = {}
    for part in value[:2000].split(","):
        named = _NAMED.fullmatch(part)
        if named is not None and named[1].lower() not in ("max-snippet", "unavailable_after"):
            name, part = named[1], named[2]
        words_of.setdefault(name, []).append(part)
    for client, words in words_of.items():
        directives = withheld(",".join(words))
        if directives:
            yield client, directives
