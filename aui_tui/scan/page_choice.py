"""Which other pages of a site stand for it: some of each section, the largest sections first. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice, zip_longest
from typing import Final
from urllib.parse import urljoin, urlsplit

from aui_tui.model.labels import part_of_site
from aui_tui.scan import markup
from aui_tui.scan.target import Origin
from aui_tui.text import path_of

MOST: Final = 30
"""Pages that a scan chooses at most."""
SITEMAP: Final = "/sitemap.xml"
SITEMAPS: Final = 3
"""Sitemaps that are read, parts of an index among them."""
_LOCATIONS: Final = 50_000
"""Addresses in one sitemap (sitemaps.org)."""
_LOCATION: Final = re.compile(rb"<loc>\s*+(?:<!\[CDATA\[)?([^<>\s\]]{1,2000})")
_SITEMAP_LINE: Final = re.compile(rb"^[ \t]*sitemap[ \t]*:[ \t]*(\S{1,2000})", re.IGNORECASE | re.MULTILINE)
_FILE: Final = re.compile(r"\.(?!html?$|php$|aspx?$)[a-z0-9]{1,5}$", re.IGNORECASE)
"""The end of a path that is no page: a picture, a style sheet, a document."""


def sitemaps(robots: bytes, origin: Origin) -> list[str]:
    """Return the paths of the sitemaps that a robots.txt names on this site, else the usual one."""
    named = (match[1].decode("utf-8", "replace") for match in _SITEMAP_LINE.finditer(robots))
    return list(dict.fromkeys(filter(None, (_path(address, origin) for address in named)))) or [SITEMAP]


def locations(sitemap: bytes, origin: Origin) -> tuple[list[str], bool]:
    """Return the paths on this site that a sitemap lists, and whether it is an index of sitemaps."""
    addresses = (match[1].decode("utf-8", "replace") for match in islice(_LOCATION.finditer(sitemap), _LOCATIONS))
    paths = [path for address in addresses if (path := _path(markup.unescape(address), origin))]
    return paths, b"<sitemapindex" in sitemap[:4096]


def links(page: bytes, origin: Origin) -> Iterator[str]:
    """Yield the paths on this site to which a page links."""
    for name, closing, start, end, _ in markup.tags(page, markup.TAG_BUDGET):
        if name == b"a" and not closing:
            address = markup.attributes(page[start + 2 : end].removesuffix(b">")).get(b"href", b"")
            if path := _path(markup.unescape(address.decode("utf-8", "replace").strip()), origin):
                yield path


def choose(paths: Iterable[str], number: int) -> tuple[str, ...]:
    """Return at most ``number`` of ``paths``: one of each section, the largest first, then a second one, and so on."""
    parts: dict[str, list[str]] = {}
    for path in dict.fromkeys(paths):
        if path.partition("?")[0] not in ("", "/") and not _FILE.search(path.partition("?")[0]):
            parts.setdefault(part_of_site(path), []).append(path)
    ordered = sorted(parts.values(), key=len, reverse=True)
    return tuple(filter(None, chain.from_iterable(zip_longest(*ordered))))[:number]


def _path(address: str, origin: Origin) -> str:
    """Return the path and query of an address on this site; empty for another site's, or none."""
    try:
        parts = urlsplit(urljoin(f"{origin}/", address))
        same = parts.scheme in ("http", "https") and (parts.hostname or "").removeprefix("www.") == (
            origin.host.removeprefix("www.")
        )
    except ValueError:
        return ""
    path = path_of(parts)
    return path if same and path.isascii() and path.isprintable() and " " not in path else ""
