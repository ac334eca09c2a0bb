"""Who is asking: the address that a client's scans are counted under."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from functools import lru_cache

from aui_tui.service.api.config import Network

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def identify(peer: str, forwarded: Iterable[str], trusted: Sequence[Network]) -> str:
    """Return the id of the client behind ``peer``: its IPv4 address, or its IPv6 network by /64.

    ``forwarded`` are the values of X-Forwarded-For in order. They count only when the peer is a trusted proxy; then
    the right-most hop that is not itself trusted is the client. A hop that is not an address ends the walk.
    """
    address = _address(peer)
    if address is None:
        return "local"
    if trusted and _inside(address, trusted):
        hops = [hop.strip() for value in forwarded for hop in value.split(",")]
        for hop in reversed(hops):
            found = _address(_without_port(hop))
            if found is None:
                break
            address = found
            if not _inside(found, trusted):
                break
    return _name(address)


@lru_cache(maxsize=4096)
def _address(text: str) -> Address | None:
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def _without_port(hop: str) -> str:
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    return hop.partition(":")[0] if hop.count(":") == 1 else hop


def _inside(address: Address, networks: Sequence[Network]) -> bool:
    return any(address in network for network in networks)


@lru_cache(maxsize=4096)
def _name(address: Address) -> str:
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)
