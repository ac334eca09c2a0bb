"""Targets of a scan, from what a user typed or a redirect says, and the table of public IP addresses. No I/O.

The table of addresses is our own, because ``ipaddress.is_global`` differs between Python releases and knows nothing of
most embedded IPv4 forms. Sources: IANA IPv4 and IPv6 Special-Purpose Address Registries, IANA IPv6 Global Unicast
Address Assignments, RFC 6890.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final, NamedTuple
from urllib.parse import quote

import idna

from aui_tui.errors import InvalidHost, PrivateHost
from aui_tui.text import JOINERS, clean, without_log_in

DEFAULT_PORTS: Final = {"https": 443, "http": 80}
WEB_PORTS: Final = frozenset(DEFAULT_PORTS.values())
MAX_HOST: Final = 253
"""Longest host name in characters (RFC 1035 2.3.4, without the root)."""
MAX_INPUT: Final = 2048

SPECIAL_NAMES: Final = (
    "localhost",
    "localdomain",
    "local",
    "internal",
    "onion",
    "alt",
    "test",
    "invalid",
    "example",
    "arpa",
)
"""Last labels that never lead to the public web (RFC 6761, 6762, 7686, 9476, ICANN on .internal)."""

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):(.*)", re.DOTALL)
_NUMBER: Final = re.compile(r"[0-9]+|0[xX][0-9A-Fa-f]*")
_DECIMAL_PARTS: Final = re.compile(r"(?:0|[1-9][0-9]{0,2})(?:\.(?:0|[1-9][0-9]{0,2})){3}")
_LABEL: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_LOWER_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
"""A label below the registered domain, where the DNS has names with underscores (``my_shop.example.com``)."""
_REGISTERED: Final = 2
"""Last labels that are taken for the registered domain; below a special-use name nothing is registered."""
_INVISIBLE: Final = frozenset(("Cc", "Cf", "Cs", "Co"))
_PATH_SAFE: Final = "/%:@!$&'()*+,;=-._~[]|"
"""Characters of a path that stay as they are (WHATWG URL 1.3, path percent-encode set)."""
_QUERY_SAFE: Final = _PATH_SAFE.replace("'", "") + "?\\^`{}"
_DOT: Final = re.compile(r"\.|%2e", re.IGNORECASE)


class Origin(NamedTuple):
    """Scheme, host (A-label or address literal without brackets) and port of one server (RFC 6454)."""

    scheme: str
    host: str
    port: int

    @property
    def authority(self) -> str:
        """Host and, where it is not the scheme's default, port, as in a Host header (RFC 9110 7.2)."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}"


@dataclass(frozen=True, slots=True)
class Target:
    """One site to scan, as it was asked for: parsed once, where the text comes in.

    ``scheme``: ``https``, ``http``, or None when none was given (https first, then http). ``host``: A-label in lower
    case, or an address. ``port``: as given, None for the scheme's default. ``input_host``: host and port as typed,
    cleaned. ``path``: path and query of the page that was named, ``/`` for the homepage.
    """

    host: str
    input_host: str
    scheme: str | None = None
    port: int | None = None
    path: str = "/"

    @property
    def origins(self) -> tuple[Origin, ...]:
        """The servers to ask, the preferred one first; the second only where nothing listens for the first."""
        schemes = (self.scheme,) if self.scheme else ("https", "http")
        return tuple(Origin(scheme, self.host, self.port or DEFAULT_PORTS[scheme]) for scheme in schemes)

    @property
    def origin(self) -> Origin:
        """The preferred server."""
        return self.origins[0]

    @property
    def site(self) -> str:
        """The name under which the card is kept and listed: host, and the port where it is not the web's."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"


def parse(url: str, *, allow_private: bool = False) -> Target:
    """Return the site that ``url`` names: a host, ``host:port`` or an http or https URL, which may name a page.

    ``allow_private`` is the local user's switch: private addresses, special-use and single-label names and any port.
    Raises InvalidHost with one sentence. Sources: RFC 3986, UTS 46, RFC 6761, WHATWG URL (ends-in-a-number check).
    """
    text = url.strip(" \t\r\n")
    shown = clean(without_log_in(text), 80)
    if not text:
        raise InvalidHost("No host was given; write a host name such as example.com.")
    if len(text) > MAX_INPUT:
        raise InvalidHost(f"The address is {len(text)} characters long; a host name has at most {MAX_HOST}.")
    _check_characters(text, shown)
    scheme, rest = _split_scheme(text, shown)
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    if "@" in authority:
        raise InvalidHost(f"“{shown}” contains a user name; give the host alone.")
    name, port = _split_port(authority, shown)
    host = _address(name, shown) if name.startswith("[") else _host(name, shown)
    if scheme is None and port in WEB_PORTS:
        scheme = "https" if port == DEFAULT_PORTS["https"] else "http"
    if scheme is not None and port == DEFAULT_PORTS[scheme]:
        port = None
    if not allow_private:
        _check_public(host, port, shown)
    page = rest[len(authority) :].partition("#")[0]
    return Target(host, clean(authority, MAX_HOST + 6), scheme, port, resolve("/", page))


def site_of(text: str) -> str:
    """Return the name under which the card of the host or address ``text`` is kept. Raises InvalidHost."""
    return parse(text, allow_private=True).site


def resolve(base: str, reference: str) -> str:
    """Return path and query of ``reference`` (no scheme, no authority) beside ``base``, normal and escaped."""
    path, mark, query = reference.partition("?")
    path = path.replace("\\", "/")
    base_path, base_mark, base_query = base.partition("?")
    if not path:
        path = base_path
        if not mark:
            mark, query = base_mark, base_query
    elif not path.startswith("/"):
        path = base_path.rpartition("/")[0] + "/" + path
    return quote(_without_dots(path), safe=_PATH_SAFE) + mark + quote(query, safe=_QUERY_SAFE)


def _without_dots(path: str) -> str:
    """Return an absolute ``path`` without dot segments, also those written ``%2e`` (WHATWG URL 4.4, path state)."""
    segments: list[str] = []
    *inner, last = path[1:].split("/")
    for segment in inner:
        dots = _DOT.sub(".", segment)
        if dots == "..":
            del segments[-1:]
        elif dots != ".":
            segments.append(segment)
    dots = _DOT.sub(".", last)
    if dots == "..":
        del segments[-1:]
    segments.append("" if dots in (".", "..") else last)
    return "/" + "/".join(segments)


def _check_characters(text: str, shown: str) -> None:
    for char in text:
        if char == "\\":
            raise InvalidHost(f"“{shown}” contains a backslash; give a host name such as example.com.")
        category = unicodedata.category(char)
        if category[0] == "Z":
            raise InvalidHost(f"“{shown}” contains a space; give one host name such as example.com.")
        if category in _INVISIBLE and char not in JOINERS:
            raise InvalidHost(f"“{shown}” contains a control or invisible character; give a plain host name.")


def _split_scheme(text: str, shown: str) -> tuple[str | None, str]:
    match = _SCHEME.fullmatch(text)
    if match is None:
        return None, text
    scheme, rest = match[1].lower(), match[2]
    if rest.startswith("//"):
        if scheme not in DEFAULT_PORTS:
            raise InvalidHost(f"“{shown}” uses the scheme {clean(scheme, 20)}; only http and https are scanned.")
        return scheme, rest[2:]
    if scheme in DEFAULT_PORTS:
        raise InvalidHost(f"“{shown}” is not a complete address; write {scheme}:// and a host name.")
    if "." not in scheme and not re.match(r"[0-9]+(?:[/?#]|$)", rest):
        raise InvalidHost(f"“{shown}” uses the scheme {clean(scheme, 20)}; only http and https are scanned.")
    return None, text


def _split_port(authority: str, shown: str) -> tuple[str, int | None]:
    if authority.startswith("["):
        name, bracket, after = authority.partition("]")
        name += bracket
        if not bracket or (after and not after.startswith(":")):
            raise InvalidHost(f"“{shown}” contains a broken IPv6 address; write it as [2001:db8::1].")
        digits = after[1:] if after else None
    else:
        name, colon, after = authority.partition(":")
        digits = after if colon else None
    if digits is None:
        return name, None
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 5 and 1 <= int(digits) <= 65535):
        raise InvalidHost(f"“{shown}” has a bad port; a port is a number from 1 to 65535.")
    return name, int(digits)


def _address(name: str, shown: str) -> str:
    address = parse_address(name[1:-1])
    if not isinstance(address, IPv6Address):
        raise InvalidHost(f"“{shown}” contains a broken IPv6 address; write it as [2001:db8::1].")
    return address.compressed


def _host(name: str, shown: str) -> str:
    if name in ("", "."):
        raise InvalidHost(f"“{shown}” has no host; write a host name such as example.com.")
    if len(name) > MAX_HOST + 1:
        raise InvalidHost(f"The host name is {len(name)} characters long; at most {MAX_HOST} are allowed.")
    labels = _ascii_form(name, shown).removesuffix(".").split(".")
    host = ".".join(labels)
    registered = 1 if labels[-1] in SPECIAL_NAMES else _REGISTERED if len(labels) > 1 else 0
    upper = len(labels) - registered
    if len(host) > MAX_HOST or not all(
        (_LOWER_LABEL if place < upper else _LABEL).fullmatch(label) for place, label in enumerate(labels)
    ):
        raise InvalidHost(
            f"“{shown}” is not a host name; each part has 1 to 63 letters, digits or inner hyphens, separated by dots."
        )
    if _NUMBER.fullmatch(labels[-1]):
        if not (name.isascii() and _DECIMAL_PARTS.fullmatch(host) and parse_address(host)):
            raise InvalidHost(f"“{shown}” is a number; an IPv4 address has four decimal parts such as 192.0.2.1.")
        return str(IPv4Address(host))
    return host


def _ascii_form(name: str, shown: str) -> str:
    """Return ``name`` in lower case with A-labels (UTS 46 ToASCII: nontransitional, CheckBidi, CheckJoiners)."""
    lowered = name.lower()
    if lowered.isascii() and "xn--" not in lowered:
        return lowered
    try:
        labels = [_u_label(label) for label in idna.uts46_remap(name, std3_rules=False).split(".")]
        bidi = any(unicodedata.bidirectional(char) in ("R", "AL", "AN") for label in labels for char in label)
        for label in labels:
            if label and bidi:
                idna.check_bidi(label, check_ltr=True)
        return ".".join(label if label.isascii() else f"xn--{label.encode('punycode').decode()}" for label in labels)
    except (ValueError, IndexError, OverflowError) as error:
        raise InvalidHost(f"“{shown}” is not a valid internationalised host name (UTS 46).") from error


def _u_label(label: str) -> str:
    """Return the Unicode form of a mapped label. Raises ValueError (also as UnicodeError) for one that is not valid."""
    if label.startswith("xn--"):
        coded, label = label, label[4:].encode("ascii").decode("punycode")
        if label.isascii() or idna.uts46_remap(label, std3_rules=False) != label:
            raise ValueError(coded)
        if label.encode("punycode") != coded[4:].encode("ascii"):
            raise ValueError(coded)
    if not label.isascii():
        idna.check_initial_combiner(label)
        for place, char in enumerate(label):
            if char in JOINERS and not idna.valid_contextj(label, place):
                raise ValueError(label)
    return label


def _check_public(host: str, port: int | None, shown: str) -> None:
    if parse_address(host) is not None:
        if not is_public(host):
            raise PrivateHost(f"“{shown}” is an address outside the public Internet.")
    elif "." not in host:
        raise PrivateHost(f"“{shown}” is a single name without a dot; a public host looks like example.com.")
    elif host.rpartition(".")[2] in SPECIAL_NAMES:
        raise PrivateHost(f"“{shown}” is a special-use name (.{host.rpartition('.')[2]}) outside the public web.")
    if port is not None and port not in WEB_PORTS:
        raise PrivateHost(f"“{shown}” asks for port {port}; only 80 and 443 are scanned.")


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


_V4: Final = tuple(map(IPv4Network, _CLOSED_V4))
_V6: Final = tuple(map(IPv6Network, _CLOSED_V6))
_V6_OPEN: Final = IPv6Network(_GLOBAL_UNICAST_V6)
_V6_EMBEDDED: Final = tuple((IPv6Network(text), shift) for text, shift in _EMBEDDED_V4)


@lru_cache(maxsize=1024)  # asked for each connection, and a name costs two exceptions
def parse_address(address: str) -> IPv4Address | IPv6Address | None:
    """Return the address written as four decimal parts or in RFC 4291 form, or None; a zone index is refused."""
    try:
        return IPv4Address(address)
    except AddressValueError:
        pass
    try:
        return None if "%" in address else IPv6Address(address)
    except AddressValueError:
        return None


@lru_cache(maxsize=1024)  # asked for each address and connection of a scan
def is_public(address: str) -> bool:
    """Return whether a public client may dial ``address``: globally reachable unicast, nothing else.

    An IPv6 address that embeds an IPv4 address is judged by the embedded one. Other text than an address is not public.
    """
    parsed = parse_address(address)
    if isinstance(parsed, IPv6Address):
        shift = next((shift for network, shift in _V6_EMBEDDED if parsed in network), None)
        if shift is None:
            return parsed in _V6_OPEN and not any(parsed in network for network in _V6)
        parsed = IPv4Address((int(parsed) >> shift) & 0xFFFF_FFFF)
    return parsed is not None and not any(parsed in network for network in _V4)


def same_site(first: Origin, last: Origin) -> bool:
    """Say whether ``last`` is ``first`` or the same site with another scheme or ``www.``."""
    return first.host.removeprefix("www.") == last.host.removeprefix("www.")
