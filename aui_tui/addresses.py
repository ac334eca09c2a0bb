"""Network addresses as proxies and logs write them. Standard library only."""

from __future__ import annotations

import ipaddress
import socket
from contextlib import suppress
from functools import lru_cache

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@lru_cache(maxsize=1 << 14)
def address_of(text: str) -> Address | None:
    """Return the address in ``text``, without zone and port, an IPv4-mapped one as IPv4; None for anything else."""
    with suppress(OSError, ValueError):
        return ipaddress.IPv4Address(socket.inet_pton(socket.AF_INET, text))  # by far the quickest
    for candidate in (text.strip(), _without_port(text.strip())):
        with suppress(ValueError):
            address = ipaddress.ip_address(candidate.partition("%")[0])
            return getattr(address, "ipv4_mapped", None) or address
    return None


def _without_port(text: str) -> str:
    """Return an address without its port: ``192.0.2.1:80``, ``[2001:db8::1]:80`` or ``2001:db8::1:80`` (AWS)."""
    if text.startswith("["):
        return text[1:].partition("]")[0]
    head, colon, _ = text.rpartition(":")
    return head if colon and (head.count(":") != 0 or head.count(".") == 3) else text
