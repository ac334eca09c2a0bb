"""Facts of a request: its parameters, whose page caused it, and which client it counts for.

Known parameters are checked, unknown ones are ignored. A client's scans are counted under its address. Whose page asked
follows from Fetch Metadata, Origin and Referer.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import parse_qsl

from starlette.datastructures import Headers
from starlette.requests import Request

from aui_tui.addresses import address_of
from aui_tui.errors import BadValue
from aui_tui.text import clean
from aui_tui.web import ApiConfig, Network, origin_of


class Parameters:
    """The parameters of one query string. Raises BadValue when it has over 100 of them."""

    def __init__(self, query: bytes) -> None:
        try:
            self._pairs = parse_qsl(query.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=100)
        except ValueError:
            raise BadValue("The address has more than 100 parameters.") from None

    def one(self, name: str) -> str | None:
        """Return the value of ``name``, None when absent. Raises BadValue when it is given twice."""
        values = [value for key, value in self._pairs if key == name]
        if len(values) > 1:
            raise BadValue(f"The parameter {name} is given {len(values)} times; once is allowed.")
        return values[0] if values else None

    def needed(self, name: str, example: str) -> str:
        """Return the value of ``name``. Raises BadValue when it is missing."""
        value = self.one(name)
        if value is None:
            raise BadValue(f"The parameter {name} is missing, for example {name}={example}.")
        return value

    def word(self, name: str) -> str:
        """Return the value of a filter, empty when absent. Raises BadValue when it is given but empty."""
        value = self.one(name)
        if value is not None and not value.strip():
            raise BadValue(f"The parameter {name} is empty; leave it out for no filter.")
        return value or ""

    def flag(self, name: str) -> bool:
        """Return a boolean, False when absent. Raises BadValue when it is neither true nor false."""
        value = self.one(name)
        if value is None or value.lower() in ("false", "0"):
            return False
        if value.lower() in ("true", "1"):
            return True
        raise BadValue(
            f"The parameter {name} must be true or false, not {clean(value, 40)!r}.", allowed=("true", "false")
        )

    def number(self, name: str, largest: int) -> int:
        """Return a whole number, 0 when absent. Raises BadValue for anything else, or one above ``largest``."""
        value = self.one(name)
        if value is None:
            return 0
        if not (value.isascii() and value.isdecimal() and len(value) < 12 and int(value) <= largest):
            raise BadValue(f"The parameter {name} must be a whole number up to {largest}, not {clean(value, 40)!r}.")
        return int(value)


OWN: Final = frozenset({"same-origin", "none"})
"""Values of Sec-Fetch-Site that mean our own page, or the user's address bar."""


def is_cross_site(request: Request, config: ApiConfig) -> bool:
    """Return whether another site's page may have caused the request.

    The first field that is there decides: Sec-Fetch-Site, Origin, Referer (no page can set them). A browser that sends
    none of them, as over plain HTTP, may show any page. Origins in ``config.allow_origin`` count as ours.
    """
    headers = request.headers
    site = headers.get("sec-fetch-site", "").strip().lower()
    asking = headers.get("origin", "").strip().lower() or _referring(headers)
    if asking in config.allow_origin:
        return False
    if site:
        return site not in OWN
    if asking:
        return asking not in (config.origin, _asked_origin(headers, asking.partition(":")[0]))
    return _is_browser(headers)


def _referring(headers: Headers) -> str:
    """Return the origin of Referer, empty without the field."""
    referer = headers.get("referer", "").strip()
    return (origin_of(referer) or "null") if referer else ""


def _asked_origin(headers: Headers, scheme: str) -> str:
    """Return the origin that was asked, taken to be reached by ``scheme``; empty when Host names none."""
    return origin_of(f"{scheme}://{headers.get('host', '')}") or ""


def _is_browser(headers: Headers) -> bool:
    """Return whether a browser asks. Agents that fetch for a user call themselves "compatible"; no page can do that."""
    agent = headers.get("user-agent", "").lower()
    return agent.startswith("mozilla/") and "compatible;" not in agent


def identify(peer: str, forwarded: Iterable[str], trusted: Sequence[Network]) -> str:
    """Return the id of the client behind ``peer``: its IPv4 address, or its IPv6 network by /64.

    ``forwarded`` are the values of X-Forwarded-For in order. They count only when the peer is a trusted proxy; then
    the right-most hop that is not itself trusted is the client. A hop that is not an address ends the walk.
    """
    address = address_of(peer)
    if address is None:
        return "local"
    hops = [hop.strip() for value in forwarded for hop in value.split(",")]
    while hops and any(address in network for network in trusted):
        forwarded_for = address_of(hops.pop())
        if forwarded_for is None:
            break
        address = forwarded_for
    return str(address if address.version == 4 else ipaddress.ip_network((address, 64), strict=False))
