"""Records as they are published: under the service's own addresses, the index in pieces."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final
from urllib.parse import quote

import msgspec

from aui_tui.model import codec
from aui_tui.model.card import ReportCard, SiteSummary, site_url
from aui_tui.model.view import IndexView, Window

SLICE: Final = 1000
"""Rows read and encoded at once, on a thread."""


def record_url(base_url: str, kind: str, host: str) -> str:
    """Return the address of a record of ``host``: ``kind`` is site (its card, specification 4.2), tasks or visits."""
    return f"{base_url}/api/{kind}/{quote(host, safe=':')}.json"


def badge_url(base_url: str, host: str) -> str:
    """Return the address of the badge of ``host``."""
    return f"{base_url}/badge/{quote(host, safe=':')}.svg"


def card_bytes(card: ReportCard, base_url: str) -> bytes:
    """Return ``card`` as JSON with the service's ``url``."""
    return codec.encode_card(msgspec.structs.replace(card, url=site_url(base_url, card.host)))


def summary_members(summary: SiteSummary, base_url: str) -> dict[str, Any]:
    """Return an index row as JSON members with the service's ``url``."""
    members: dict[str, Any] = msgspec.to_builtins(codec.keyed(summary, "names"))
    return members | {"url": site_url(base_url, summary.host)}


async def index_chunks(view: IndexView, base_url: str, offset: int = 0, limit: int = 0) -> AsyncIterator[bytes]:
    """Yield the Index (specification 4.1) as JSON in pieces; ``limit`` rows of each list from ``offset`` on, 0: all."""
    yield b'{"scanned_at":' + msgspec.json.encode(view.scanned_at)
    for name, window in ((b"ranked", view.ranked), (b"unreachable", view.unreachable)):
        yield b',"' + name + b'":['
        end = min(len(window), offset + limit) if limit else len(window)
        for start in range(offset, end, SLICE):
            span = slice(start, min(start + SLICE, end))
            yield (b"," if start > offset else b"") + await asyncio.to_thread(_rows_json, window, span, base_url)
        yield b"]"
    yield b"}"


def _rows_json(window: Window, span: slice, base_url: str) -> bytes:
    summaries = [row.summary for row in window[span]]
    published = [msgspec.structs.replace(summary, url=site_url(base_url, summary.host)) for summary in summaries]
    return msgspec.json.encode(published)[1:-1]
