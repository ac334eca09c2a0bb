"""Who a probe says it is: header tables in which browser and agents differ in identity alone.

The order of the fields, Accept, Accept-Encoding, Accept-Language and the fetch metadata are the same for every
homepage probe; only User-Agent and the client hints that belong to it (W3C UA Client Hints) change. If anything else
differed, an unequal answer would prove nothing about the agent's name.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from aui_tui.engine.decode import ACCEPT_ENCODING
from aui_tui.records.registry import Registry

IDENTITY_FIELDS: Final = frozenset({"user-agent", "sec-ch-ua", "sec-ch-ua-mobile", "sec-ch-ua-platform"})
"""Lower-case names of the fields in which homepage probes may differ."""

_PLATFORMS: Final = (("Android", "Android"), ("Windows", "Windows"), ("Macintosh", "macOS"), ("Linux", "Linux"))
_CHROME: Final = re.compile(r"\bChrome/(\d+)")

Fields = tuple[tuple[str, str], ...]


def user_agent(name: str, registry: Registry) -> str:
    """Return the User-Agent of the probe ``name``: the agent's own for an agent slot, else the browser's."""
    return next((agent.user_agent for agent in registry.live if agent.key == name), registry.browser_user_agent)


@cache
def page_fields(agent: str) -> Fields:
    """Return the fields of a homepage request by User-Agent ``agent``, in sending order, without Host."""
    return (
        *_hints(agent),
        ("Upgrade-Insecure-Requests", "1"),
        ("User-Agent", agent),
        ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"),
        ("Sec-Fetch-Site", "none"),
        ("Sec-Fetch-Mode", "navigate"),
        ("Sec-Fetch-User", "?1"),
        ("Sec-Fetch-Dest", "document"),
        ("Accept-Encoding", ACCEPT_ENCODING),
        ("Accept-Language", "en-US,en;q=0.9"),
    )


@cache
def file_fields(agent: str) -> Fields:
    """Return the fields of a request for a file such as robots.txt, in sending order, without Host."""
    return (
        *_hints(agent),
        ("User-Agent", agent),
        ("Accept", "*/*"),
        ("Sec-Fetch-Site", "same-origin"),
        ("Sec-Fetch-Mode", "cors"),
        ("Sec-Fetch-Dest", "empty"),
        ("Accept-Encoding", ACCEPT_ENCODING),
        ("Accept-Language", "en-US,en;q=0.9"),
    )


def _hints(agent: str) -> Fields:
    found = _CHROME.search(agent)
    if found is None:
        return ()
    major = found[1]
    platform = next((label for word, label in _PLATFORMS if word in agent), "Unknown")
    return (
        ("sec-ch-ua", f'"Chromium";v="{major}", "Google Chrome";v="{major}", "Not.A/Brand";v="99"'),
        ("sec-ch-ua-mobile", "?1" if "Mobile" in agent else "?0"),
        ("sec-ch-ua-platform", f'"{platform}"'),
    )
