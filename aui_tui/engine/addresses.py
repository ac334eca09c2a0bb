"""Which IP addresses belong to the public Internet.

An own table, because ``ipaddress.is_global`` differs between Python releases and knows nothing of most embedded
IPv4 forms. Sources: IANA IPv4 and IPv6 Special-Purpose Address Registries, IANA IPv6 Global Unicast Address
Assignments, RFC 6890. Standard library only, no I/O.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import AddressValueError, IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final

_CLOSED_V4: Final = (
    "0.0.0.0/8",  # this network, RFC 791
    "10.0.0.0/8",  # private use, RFC 1918
    "100.64.0.0/10",  # shared address space, RFC 6598
    "127.0.0.0/8",  # loopback, RFC 1122
    "169.254.0.0/16",  # link local, RFC 3927
    "172.16.0.0/12",  # private use, RFC 1918
    "192.0.0.0/24",  # IETF protocol assignments, RFC 6890
    "192.0.2.0/24",  # TEST-NET-1, RFC 5737
    "192.88.99.0/24",  # deprecated 6to4 relay anycast, RFC 7526
    "192.168.0.0/16",  # private use, RFC 1918
    "198.18.0.0/15",  # benchmarking, RFC 2544
    "198.51.100.0/24",  # TEST-NET-2, RFC 5737
    "203.0.113.0/24",  # TEST-NET-3, RFC 5737
    "224.0.0.0/4",  # multicast, RFC 5771
    "240.0.0.0/4",  # reserved and limited broadcast, RFC 1112, RFC 919
)
_GLOBAL_UNICAST_V6: Final = "2000::/3"  # RFC 4291; everything outside is special or unassigned
_CLOSED_V6: Final = (
    "2001::/23",  # IETF protocol assignments: Teredo, benchmarking, ORCHID, RFC 2928
    "2001:db8::/32",  # documentation, RFC 3849
    "3fff::/20",  # documentation, RFC 9637
)
_EMBEDDED_V4: Final = (
    ("::/96", 0),  # IPv4-compatible, RFC 4291 2.5.5.1
    ("::ffff:0:0/96", 0),  # IPv4-mapped, RFC 4291 2.5.5.2
    ("::ffff:0:0:0/96", 0),  # IPv4-translated, RFC 2765
    ("64:ff9b::/96", 0),  # NAT64 well-known prefix, RFC 6052
    ("2002::/16", 80),  # 6to4, RFC 3056
)


def _ranges(networks: Sequence[IPv4Network] | Sequence[IPv6Network]) -> tuple[tuple[int, int], ...]:
    return tuple((int(network.network_address), int(network.broadcast_address)) for network in networks)


_V4: Final = _ranges([IPv4Network(text) for text in _CLOSED_V4])
_V6: Final = _ranges([IPv6Network(text) for text in _CLOSED_V6])
_V6_OPEN: Final = _ranges([IPv6Network(_GLOBAL_UNICAST_V6)])
_V6_EMBEDDED: Final = tuple((*_ranges([IPv6Network(text)])[0], shift) for text, shift in _EMBEDDED_V4)


def parse(address: str) -> IPv4Address | IPv6Address | None:
    """Return the address written as four decimal parts or in RFC 4291 form, or None; a zone index is refused."""
    try:
        return IPv4Address(address)
    except AddressValueError:
        pass
    try:
        return None if "%" in address else IPv6Address(address)
    except AddressValueError:
        return None


def is_public(address: str) -> bool:
    """Return whether a public client may dial ``address``: globally reachable unicast, nothing else.

    An IPv6 address that embeds an IPv4 address is judged by the embedded one. Other text than an address is not public.
    """
    found = parse(address)
    if found is None:
        return False
    number = int(found)
    if isinstance(found, IPv4Address):
        return _public_v4(number)
    for low, high, shift in _V6_EMBEDDED:
        if low <= number <= high:
            return _public_v4((number >> shift) & 0xFFFF_FFFF)
    return _within(number, _V6_OPEN) and not _within(number, _V6)


def _public_v4(number: int) -> bool:
    return not _within(number, _V4)


def _within(number: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(low <= number <= high for low, high in ranges)
