"""Redirects: where one leads, which are not followed, and their cookies (WHATWG URL 4.4; RFC 9110 15.4; threats 5, 16).

As browsers resolve it: backslashes are slashes, any number of slashes begins an authority, dot segments go. Stricter
than they are in what is dialled: user names (also after a backslash, where parsers disagree on the host), control
characters and numbers that stand for addresses are refused.

Some sites redirect a visitor until a cookie sticks (RFC 6265). A jar lives as long as one probe: no cookie reaches
another probe, identity or scan.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple
from urllib.parse import quote, unquote

from aui_tui.engine import target
from aui_tui.engine.policy import ScanPolicy
from aui_tui.engine.target import DEFAULT_PORTS, Origin
from aui_tui.errors import InvalidHost
from aui_tui.text import clean

MAX_LOCATION: Final = 8192
_PATH_SAFE: Final = "/%:@!$&'()*+,;=-._~[]|"
"""Characters of a path that stay as they are (WHATWG URL 1.3, path percent-encode set)."""
_QUERY_SAFE: Final = _PATH_SAFE.replace("'", "") + "?\\^`{}"
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_HOST_ENDS: Final = re.compile(r"[/\\?#@:\[\]%]")
_DOT: Final = re.compile(r"\.|%2e", re.IGNORECASE)


class Url(NamedTuple):
    """An address to fetch: ``path`` with its query, in ASCII, without a fragment."""

    origin: Origin
    path: str

    def __str__(self) -> str:
        return f"{self.origin}{self.path}"


class Unfollowed(Exception):
    """A redirect that cannot or must not be followed: ``kind`` is one word of ``observations.UNFOLLOWED``."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


def follow(base: Url, location: str, access: ScanPolicy) -> Url:
    """Return where ``location``, sent by ``base``, leads. Raises Unfollowed."""
    location = location.strip(" \t")
    if not location:
        raise Unfollowed("redirect-target", "it redirects without saying where to")
    shown = clean(location, 120)
    if len(location) > MAX_LOCATION or _CONTROL.search(location):
        raise Unfollowed("redirect-target", f"it redirects to “{shown}”, which is not a valid address")
    rest = location.partition("#")[0]
    kind = base.origin.scheme
    scheme = _SCHEME.match(rest)
    if scheme is not None:
        if scheme[1].lower() not in DEFAULT_PORTS:
            raise Unfollowed("redirect-scheme", f"it redirects to “{shown}”, whose scheme is neither http nor https")
        kind, rest = scheme[1].lower(), rest[scheme.end() :]
    slashes = len(rest) - len(rest.lstrip("/\\"))
    if slashes < len("//") and (scheme is None or kind == base.origin.scheme):
        return Url(base.origin, _resolve(base.path, rest))
    authority = re.split(r"[/\\?]", rest[slashes:], maxsplit=1)[0]
    try:
        if "@" in re.split(r"[/?]", rest[slashes:], maxsplit=1)[0]:
            raise ValueError(authority)
        origin = target.parse(f"{kind}://{_decoded(authority)}", allow_private=True).origin
    except (InvalidHost, ValueError) as error:
        raise Unfollowed("redirect-target", f"it redirects to “{shown}”, which is not a valid address") from error
    try:
        access.check(origin)
    except InvalidHost as error:
        outside = "redirect-address"
        raise Unfollowed(outside, f"it redirects to “{shown}”, which is not on the public web") from error
    return Url(origin, _resolve("/", rest[slashes + len(authority) :]))


def _decoded(authority: str) -> str:
    """Return ``authority`` with the escapes of its host decoded and an empty port dropped. Raises ValueError."""
    if authority != authority.strip():
        raise ValueError(authority)
    if "%" not in authority:
        return authority.removesuffix(":")
    host, colon, port = authority.partition(":")
    host = unquote(host, errors="strict")
    if _HOST_ENDS.search(host):
        raise ValueError(authority)
    return host + colon + port if port else host


def _resolve(base: str, reference: str) -> str:
    """Return path and query of ``reference`` (no scheme, no authority) beside ``base``, normal and escaped."""
    path, mark, query = reference.partition("?")
    path = path.replace("\\", "/")
    kept, base_mark, base_query = base.partition("?")
    if not path:
        path = kept
        if not mark:
            mark, query = base_mark, base_query
    elif not path.startswith("/"):
        path = kept.rpartition("/")[0] + "/" + path
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


MAX_COOKIES: Final = 50
MAX_COOKIE: Final = 4096
MAX_HEADER: Final = 8192
"""Limits in cookies and bytes (RFC 6265 6.1 asks for at least 50 and 4,096)."""

_PAIR: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+=[\x21-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e ]*")


class _Key(NamedTuple):
    name: str
    domain: str
    path: str


class _Cookie(NamedTuple):
    pair: str
    host_only: bool
    secure: bool


class CookieJar:
    """The cookies of one probe."""

    def __init__(self) -> None:
        self._cookies: dict[_Key, _Cookie] = {}

    def take(self, origin: Origin, path: str, fields: Iterable[tuple[str, str]]) -> None:
        """Keep what the Set-Cookie ``fields`` of an answer from ``origin`` and ``path`` set (RFC 6265 5.3)."""
        for name, value in fields:
            if name == "set-cookie":
                self._set(origin, path, value)

    def header(self, origin: Origin, path: str) -> str:
        """Return the Cookie header for a request, empty when there is none (RFC 6265 5.4)."""
        pairs: list[str] = []
        size = 0
        for key, cookie in self._cookies.items():
            fits = origin.host == key.domain or (not cookie.host_only and origin.host.endswith(f".{key.domain}"))
            below = path.startswith(key.path) and (
                len(path) == len(key.path) or key.path.endswith("/") or path[len(key.path)] in "/?"
            )
            size += len(cookie.pair) + 2
            if fits and below and (origin.scheme == "https" or not cookie.secure) and size <= MAX_HEADER:
                pairs.append(cookie.pair)
        return "; ".join(pairs)

    def _set(self, origin: Origin, path: str, value: str) -> None:
        first, *rest = value.split(";")
        pair = first.strip()
        if len(pair) > MAX_COOKIE or not _PAIR.fullmatch(pair):
            return
        attributes: dict[str, str] = {}
        for part in rest:
            name, _, given = part.partition("=")
            attributes[name.strip().lower()] = given.strip()
        domain = attributes.get("domain", "").lstrip(".").lower()
        if domain and not (origin.host == domain or ("." in domain and origin.host.endswith(f".{domain}"))):
            return
        where = attributes.get("path", "")
        if not where.startswith("/"):
            where = path.partition("?")[0].rpartition("/")[0] or "/"
        key = _Key(pair.partition("=")[0], domain or origin.host, where)
        if re.fullmatch(r"-\d+|0+", attributes.get("max-age", "")):
            self._cookies.pop(key, None)
        elif key in self._cookies or len(self._cookies) < MAX_COOKIES:
            self._cookies[key] = _Cookie(pair, not domain, "secure" in attributes)
