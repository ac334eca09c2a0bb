"""Cookies within one chain of redirects (RFC 6265): sites that bounce a visitor until a cookie sticks.

A jar lives as long as one probe. No cookie reaches another probe, identity or scan.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from aui_tui.engine.target import Origin

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
