"""Whose page made a browser ask: Fetch Metadata and Origin."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.requests import Request

FOREIGN = frozenset({"cross-site", "same-site"})
"""Values of Sec-Fetch-Site that mean another origin's page."""


def foreign(request: Request, allowed: Collection[str] = ()) -> bool:
    """Say whether a page of another origin made the browser ask; origins in ``allowed`` count as ours.

    A client that is no browser sends neither field and is never foreign.
    """
    origin = request.headers.get("origin", "").lower()
    if origin and origin in allowed:
        return False
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site.lower() in FOREIGN
    return bool(origin) and urlsplit(origin).netloc != request.headers.get("host", "").lower()
