"""Where a redirect leads, and which ones are not followed (RFC 9110 10.2.2 and 15.4; threats 5, 16). Pure."""

from __future__ import annotations

import re
from typing import Final, NamedTuple
from urllib.parse import quote, urljoin

from aui_tui.engine import target
from aui_tui.engine.access import Access
from aui_tui.engine.target import DEFAULT_PORTS, Origin
from aui_tui.errors import InvalidHost
from aui_tui.text import clean

MAX_LOCATION: Final = 8192
_SAFE: Final = "/%:@!$&'()*+,;=-._~?[]|^`{}\"<>"
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f\\]")


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


def follow(base: Url, location: str, access: Access) -> Url:
    """Return where ``location``, sent by ``base``, leads. Raises Unfollowed."""
    location = location.strip(" \t")
    if not location:
        raise Unfollowed("redirect-target", "it redirects without saying where to")
    shown = clean(location, 120)
    if len(location) > MAX_LOCATION or _CONTROL.search(location):
        raise Unfollowed("redirect-target", f"it redirects to “{shown}”, which is no valid address")
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.\-]*):", location)
    if scheme is not None and scheme[1].lower() not in DEFAULT_PORTS:
        raise Unfollowed("redirect-scheme", f"it redirects to “{shown}”, whose scheme is neither http nor https")
    if scheme is not None and not re.match(r"//[^/?#]", location[scheme.end() :]):
        raise Unfollowed("redirect-target", f"it redirects to “{shown}”, which is no valid address")
    try:
        joined = urljoin(str(base), location)
        kind, _, rest = joined.partition("://")
        authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
        found = target.parse(f"{kind}://{authority}", allow_private=True)
    except (InvalidHost, ValueError) as error:
        raise Unfollowed("redirect-target", f"it redirects to “{shown}”, which is no valid address") from error
    origin = found.origin
    try:
        access.check(origin)
    except InvalidHost as error:
        outside = "redirect-address"
        raise Unfollowed(outside, f"it redirects to “{shown}”, which is not on the public web") from error
    path = quote(rest[len(authority) :].partition("#")[0], safe=_SAFE)
    return Url(origin, path if path.startswith("/") else f"/{path}")
