"""Client addresses: which one of a line is the client's, and whether its vendor publishes it."""

from __future__ import annotations

import html
import ipaddress
import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Any, Final

import msgspec

from aui_tui.errors import BadValue, RecordError
from aui_tui.text import clean
from aui_tui.visits.clients import table
from aui_tui.visits.lines import without_port

SHORTEST: Final = {4: 8, 6: 19}
"""Prefix lengths below which a published range would cover a large part of the Internet: such a list is refused."""
MOST_PREFIXES: Final = 200_000
PRIVATE: Final = (
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "100.64.0.0/10",
    "::1/128",
    "fc00::/7",
    "fe80::/10",
)
"""Networks from which no client of the Internet comes (RFC 1918, 4193, 6598, loopback, link local)."""


class Ranges:
    """A set of networks as sorted, merged spans: one bisection tells whether an address lies in it."""

    def __init__(self, prefixes: Iterable[str]) -> None:
        spans: dict[int, list[tuple[int, int]]] = {4: [], 6: []}
        for text in prefixes:
            net = ipaddress.ip_network(text.strip(), strict=False)
            spans[net.version].append((int(net.network_address), int(net.broadcast_address)))
        self._tables = {version: _merged(sorted(found)) for version, found in spans.items()}

    def holds(self, address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
        """Say whether ``address`` lies in one of the networks."""
        firsts, lasts = self._tables[address.version]
        at = bisect_right(firsts, int(address)) - 1
        return at >= 0 and int(address) <= lasts[at]


def _merged(spans: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    firsts: list[int] = []
    lasts: list[int] = []
    for first, last in spans:
        if lasts and first <= lasts[-1] + 1:
            lasts[-1] = max(lasts[-1], last)
        else:
            firsts.append(first)
            lasts.append(last)
    return firsts, lasts


@lru_cache(maxsize=1 << 14)
def parse(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return the address in ``text``, without zone and port, an IPv4-mapped one as IPv4; None for anything else."""
    for candidate in (text, without_port(text)):
        try:
            found = ipaddress.ip_address(candidate.strip().partition("%")[0])
        except ValueError:
            continue
        mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
        return mapped or found
    return None


@cache
def _private() -> Ranges:
    return Ranges(PRIVATE)


@cache
def _cdns() -> tuple[tuple[str, Ranges], ...]:
    return tuple((name, Ranges(prefixes)) for name, prefixes in table()["cdn"].items())


@lru_cache(maxsize=1 << 14)
def place(text: str) -> str:
    """Return what kind of address a peer has: ``private``, ``masked``, the name of a CDN, or empty for the Internet.

    ``masked``: what is not an address, or one whose last part is zero, as loggers write it to protect their visitors.
    """
    address = parse(text)
    if address is None:
        return "masked"
    if _private().holds(address):
        return "private"
    for name, ranges in _cdns():
        if ranges.holds(address):
            return name
    packed = address.packed
    masked = packed[-1] == 0 if address.version == 4 else not any(packed[-8:])
    return "masked" if masked else ""


class Proxies:
    """Which proxies stand before the server that wrote the log.

    ``trusted``: their networks; the client is then the rightmost address of X-Forwarded-For outside them, as everything
    left of it can be forged. ``count``: instead, how many proxies added an entry each. Neither: the peer is the client.
    Raises BadValue for what is not a network.
    """

    def __init__(self, trusted: Iterable[str] = (), count: int = 0) -> None:
        self.count = count
        self._trusted: Ranges | None = None
        networks = list(trusted)
        for text in networks:
            try:
                ipaddress.ip_network(text.strip(), strict=False)
            except ValueError:
                raise BadValue(
                    f"--trusted-proxy takes a network such as 10.0.0.0/8, not {clean(text, 60)!r}."
                ) from None
        if networks:
            self._trusted = Ranges(networks)

    def __bool__(self) -> bool:
        return bool(self.count or self._trusted)

    def client(self, peer: str, forwarded: str) -> str:
        """Return the client's address; empty where the log does not tell it."""
        if self.count:
            entries = [entry.strip() for entry in forwarded.split(",")] if forwarded else []
            return entries[-self.count] if len(entries) >= self.count else ""
        if self._trusted is None:
            return peer
        address = parse(peer)
        if address is None or not self._trusted.holds(address):
            return peer
        entry = ""
        for entry in reversed([part.strip() for part in forwarded.split(",")]):
            found = parse(entry)
            if found is None:
                return ""
            if not self._trusted.holds(found):
                return entry
        return entry


def published(data: bytes) -> list[str]:
    """Return the prefixes of a vendor's list: JSON of any shape that holds networks, or a page with such JSON in it.

    Raises RecordError with one sentence when there are none, or when one covers a large part of the Internet.
    """
    document = _document(data)
    prefixes = list(dict.fromkeys(_networks(document)))
    if not prefixes:
        raise RecordError("it holds no address ranges")
    if len(prefixes) > MOST_PREFIXES:
        raise RecordError(f"it holds more than {MOST_PREFIXES:,} ranges")
    for text in prefixes:
        net = ipaddress.ip_network(text, strict=False)
        if net.prefixlen < SHORTEST[net.version]:
            raise RecordError(f"its range {text} covers a large part of the Internet")
    return prefixes


def _document(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except (ValueError, RecursionError):
        pass
    text = html.unescape(data.decode("utf-8", "replace"))
    at = text.find('"prefixes"')
    for _ in range(20):
        at = text.rfind("{", 0, at) if at > 0 else -1
        if at < 0:
            break
        try:
            return json.JSONDecoder().raw_decode(text, at)[0]
        except (ValueError, RecursionError):
            continue
    raise RecordError("it is not JSON, nor a page with JSON in it")


def _networks(document: Any) -> Iterator[str]:
    """Yield every address or network in a JSON document, whatever the keys (``ipv4Prefix``, ``ipv6Prefix``, others)."""
    todo = [document]
    while todo:
        part = todo.pop()
        if isinstance(part, dict):
            todo += list(part.values())[::-1]
        elif isinstance(part, list):
            todo += part[::-1]
        elif isinstance(part, str) and len(part) < 60 and ("." in part or ":" in part):
            try:
                yield str(ipaddress.ip_network(part.strip(), strict=False))
            except ValueError:
                continue
