"""Whose page made a browser ask: Fetch Metadata, Origin and Referer."""

from __future__ import annotations

from typing import Final

from starlette.datastructures import Headers
from starlette.requests import Request

from aui_tui.service.api.config import ApiConfig, origin_of

OWN: Final = frozenset({"same-origin", "none"})
"""Values of Sec-Fetch-Site that mean our own page, or the user's address bar."""


def is_cross_site(request: Request, config: ApiConfig) -> bool:
    """Return whether another site's page may have caused the request.

    The first field that is there decides: Sec-Fetch-Site, Origin, Referer (no page can set them). Over plain HTTP a
    browser may send none of them; then every page could have asked. Origins in ``config.allow_origin`` count as ours.
    """
    headers = request.headers
    site = headers.get("sec-fetch-site", "").strip().lower()
    asking = headers.get("origin", "").strip().lower() or _referring(headers)
    if asking in config.allow_origin:
        return False
    if site:
        return site not in OWN
    if asking:
        return asking not in (config.origin, _asked_origin(headers, asking.partition(":")[0]))
    return _is_browser(headers) and not _is_secure(headers, config)


def _referring(headers: Headers) -> str:
    """Return the origin of Referer, empty without the field."""
    referer = headers.get("referer", "").strip()
    return (origin_of(referer) or "null") if referer else ""


def _asked_origin(headers: Headers, scheme: str) -> str:
    """Return the origin that was asked, taken to be reached by ``scheme``; empty when Host names none."""
    return origin_of(f"{scheme}://{headers.get('host', '')}") or ""


def _is_browser(headers: Headers) -> bool:
    """Return whether a browser asks. Agents that fetch for a user call themselves "compatible"; no page can do that."""
    agent = headers.get("user-agent", "").lower()
    return agent.startswith("mozilla/") and "compatible;" not in agent


def _is_secure(headers: Headers, config: ApiConfig) -> bool:
    """Return whether the service was asked over HTTPS, where every browser sends Sec-Fetch-Site."""
    forwarded = headers.get("x-forwarded-proto", "https").strip().lower()
    return (
        config.origin.startswith("https:") and forwarded == "https" and _asked_origin(headers, "https") == config.origin
    )
