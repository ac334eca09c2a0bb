"""Clients by the names in User-Agents, and the networks that requests come from."""

from __future__ import annotations

import ipaddress
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sized
from functools import cache, lru_cache
from typing import Any, Final, TypeVar

from aui_tui.addresses import Address, address_of
from aui_tui.model.registry import Client, registry
from aui_tui.packaged import read_table

K = TypeVar("K", bound=Sized)
V = TypeVar("V")
TABLE_LIMIT: Final = 1 << 16
"""Answers that are remembered; above it the memory is emptied."""
LONGEST_KEPT: Final = 1024
"""Bytes of a User-Agent above which it is not remembered."""

_WORDS: Final = bytes(c if chr(c) in "abcdefghijklmnopqrstuvwxyz_-" else 32 for c in bytes(range(256)).lower())
_CASING: Final = re.compile(r" \((?:lower|title) case\)$")


@cache
def table() -> Mapping[str, Any]:
    """Return the packaged ``clients.toml``."""
    return read_table("visits/clients.toml", dict[str, Any])


@cache
def clients() -> Mapping[str, Client]:
    """Return every client by its token in lower case, in the order of the registry; aliases lead to the same one."""
    by_name: dict[str, Client] = {}
    for client in registry().clients:
        for name in (client.token, *client.aliases):
            by_name.setdefault(name.lower(), client)
    return by_name


def label_of(client: Client) -> str:
    """Return the label of a client, which is the same for both casings of its name."""
    return _CASING.sub("", client.label)


def range_lists() -> Mapping[str, tuple[Client, ...]]:
    """Return the clients by the address of the list that verifies them."""
    users: dict[str, tuple[Client, ...]] = {}
    for client in dict.fromkeys(clients().values()):
        if client.ip_ranges and not client.is_silent:
            users[client.ip_ranges] = (*users.get(client.ip_ranges, ()), client)
    return users


class Answers(dict[K, V]):
    """What ``ask`` says, asked once per key; emptied when full, and long keys are not remembered."""

    def __init__(self, ask: Callable[[K], V]) -> None:
        super().__init__()
        self._ask = ask

    def __missing__(self, key: K) -> V:
        answer = self._ask(key)
        if len(key) <= LONGEST_KEPT:
            if len(self) >= TABLE_LIMIT:
                self.clear()
            self[key] = answer
        return answer


class Names:
    """Finds clients in User-Agents.

    A token is whole when no letter, ``_`` or ``-`` touches it; the first one in the text counts.
    """

    def __init__(self) -> None:
        self._by_name = {name.encode(): client for name, client in clients().items()}
        self._strict = frozenset(word.encode() for word in table()["strict"])
        self._clients = Answers(self._find)

    def client(self, agent: bytes) -> Client | None:
        """Return the client that a User-Agent (as sent, without the escapes of a log) names; None for others."""
        return self._clients[agent]

    def _find(self, agent: bytes) -> Client | None:
        for word in agent.translate(_WORDS).split():
            client = self._by_name.get(word)
            if client is not None and (word not in self._strict or _stands_alone(word, agent.lower())):
                return client
        return None


def _stands_alone(word: bytes, agent: bytes) -> bool:
    """Say whether ``word`` is followed by a version, or is a whole part of a comment (RFC 9110 10.1.5)."""
    if re.search(rb"(?<![a-z_-])" + re.escape(word) + rb"/", agent):
        return True
    comments = re.findall(rb"\(([^()]*)\)", agent)
    return any(part.strip() == word for comment in comments for part in comment.split(b";"))


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
    """A set of networks: one bisection tells whether an address lies in it."""

    def __init__(self, prefixes: Iterable[str]) -> None:
        every = [ipaddress.ip_network(text.strip(), strict=False) for text in prefixes]
        v4 = ipaddress.collapse_addresses(net for net in every if isinstance(net, ipaddress.IPv4Network))
        v6 = ipaddress.collapse_addresses(net for net in every if isinstance(net, ipaddress.IPv6Network))
        self._spans = {4: [(int(net[0]), int(net[-1])) for net in v4], 6: [(int(net[0]), int(net[-1])) for net in v6]}

    def holds(self, address: Address) -> bool:
        """Say whether ``address`` lies in one of the networks."""
        spans, number = self._spans[address.version], int(address)
        at = bisect_right(spans, (number, math.inf)) - 1
        return at >= 0 and number <= spans[at][1]


_IPV4: Final = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?!\d|\.\d)")
_IPV6: Final = re.compile(r"(?<![\w:])(?=[0-9A-Fa-f]*:[0-9A-Fa-f]*:)[0-9A-Fa-f:]{2,39}(?![\w:])")


def without_addresses(text: str, mark: str) -> str:
    """Return ``text`` with each IP address in it, wherever it stands, replaced by ``mark``."""
    if text.count(".") > 2:
        text = _IPV4.sub(mark, text)
    if text.count(":") > 1:
        text = _IPV6.sub(lambda match: match[0] if address_of(match[0]) is None else mark, text)
    return text


@cache
def _known_networks() -> tuple[tuple[str, Ranges], ...]:
    prefixes_of = {"private": PRIVATE} | table()["cdn"]
    return tuple((name, Ranges(prefixes)) for name, prefixes in prefixes_of.items())


@lru_cache(maxsize=1 << 14)
def place(text: str) -> str:
    """Return what kind of address a peer has: ``private``, ``masked``, the name of a CDN, or empty for the Internet.

    ``masked``: what is not an address, or one whose last part is zero, as loggers write it to protect their visitors.
    """
    address = address_of(text)
    if address is None:
        return "masked"
    for name, ranges in _known_networks():
        if ranges.holds(address):
            return name
    packed = address.packed
    masked = packed[-1] == 0 if address.version == 4 else not any(packed[-8:])
    return "masked" if masked else ""
