"""The closed word lists of the records, in the order of their schemas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from types import MappingProxyType
from typing import Annotated, Final

from msgspec import Meta

from aui_tui.errors import BadValue
from aui_tui.text import clean

Count = Annotated[int, Meta(ge=0, le=2**53 - 1)]
"""A count; the largest is the largest integer that every JSON reader keeps exact (RFC 8259 section 6)."""
UNCATEGORIZED: Final = "Uncategorized"
CATEGORIES: Final = (
    "Travel",
    "Social & media",
    "Grocery & food",
    "Retail",
    "Tickets",
    "Real estate",
    "Tech",
    "Developer",
    UNCATEGORIZED,
)
STANCES: Final = ("Open", "Selective", "Walled")
INCONCLUSIVE, CHALLENGED, REFUSED, SERVED = "inconclusive", "challenged", "refused", "served"
"""Outcomes of one homepage probe."""
VERDICTS: Final = ("untested", "allowed", "allowed-robots", "blocked", "disallowed", "walled", "partial")
FATES: Final = MappingProxyType(
    {
        "refused": "r",
        "challenged": "c",
        "told no": "t",
        "unclear": "u",
        "part": "p",
        "in": "i",
        "not asked": "n",
    }
)
"""The words that people read for what an assistant gets, worst first, and the letter that the index keeps of each."""
CRAWLER_POLICIES: Final = ("unlisted", "blocked", "partial", "allowed")
ROBOTS_READ: Final = "*=read"
"""In the index among the policies of crawlers: robots.txt was read to its end, so what it does not name is known."""
POLICY_RANK: Final = MappingProxyType({"allowed": 2, "unlisted": 2, "partial": 1, "blocked": 0})
STANCE_RANK: Final = MappingProxyType({"Open": 2, "Selective": 1, "Walled": 0})
SEVERITIES: Final = ("critical", "warn", "good")
"""Evidence kinds in the order in which a card lists them."""
FIXES: Final = ("wba", "front-door", "llms", "jsonld", "landmarks", "ssr", "signal", "robots")
"""The keys of the checks, each also that of its fix."""
GRADES: Final = ("A", "B", "C", "D", "F")
NO_GRADE: Final = "–"
"""The letter of a card of which less than half could be measured; records for others hold that of its score."""
EDGES: Final = frozenset({
    "cloudflare", "akamai", "fastly", "cloudfront", "google", "azure", "imperva", "sucuri", "bunny", "netlify",
    "vercel", "github-pages", "fly", "heroku", "railway", "render", "aws-elb", "shopify", "wix", "squarespace",
    "wpengine", "kinsta", "pantheon", "acquia", "datadome", "ddos-guard", "amazon", "aliyun", "aws-waf", "f5",
    "gcore", "kasada", "perimeterx", "radware", "reblaze", "stackpath", "tencent",
})  # fmt: skip
"""Names of CDNs, platforms and firewalls, which answer before a site's own server does."""
UNITS: Final = MappingProxyType({"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800})
"""Seconds of each unit of time, as people write and read it: ``7d``."""
AGENTS_TOTAL: Final = 19
CRAWLERS_TOTAL: Final = 15
LIVE_TOTAL: Final = 4
SURFACES_TOTAL: Final = 8


def one_of(words: Iterable[str], optional: str = "") -> Meta:
    """Return what makes a text one of ``words``, for a record that is read; with a ``?`` it may be empty too."""
    return Meta(pattern=f"^({'|'.join(words)}){optional}$")


def has_edge(names: str) -> bool:
    """Return whether ``names``, those of a card's ``edge`` or of a wall, have one of EDGES among them."""
    return not EDGES.isdisjoint(names.casefold().split())


def choose(what: str, value: str, allowed: Sequence[str]) -> str:
    """Return the member of ``allowed`` that equals ``value``, case ignored.

    Raises BadValue with a sentence that names ``what`` and the allowed values.
    """
    folded = value.strip().casefold()
    if not folded:
        raise BadValue(f"The {what} is empty; allowed are: {', '.join(allowed)}.", allowed=allowed)
    for word in allowed:
        if word.casefold() == folded:
            return word
    meant = nearest(folded, allowed, cutoff=0.7)
    listed = f"{meant} Allowed" if meant else "allowed"
    raise BadValue(f"Unknown {what} {clean(value, 60)!r}; {listed} are: {', '.join(allowed)}.", allowed=allowed)


def nearest(word: str, allowed: Iterable[str], *, cutoff: float = 0.6, mark: str = "") -> str:
    """Return ``did you mean X?`` for what resembles ``word`` most among ``allowed``, case ignored; empty for nothing.

    ``mark`` follows the name, such as the colon of a term.
    """
    names = {name.casefold(): name for name in allowed}
    matches = get_close_matches(word.casefold(), names, n=1, cutoff=cutoff)
    return f"did you mean {names[matches[0]]}{mark}?" if matches else ""
