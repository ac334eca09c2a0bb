"""Records as the service publishes them: their ``url`` under the service's own address, lists in slices."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final
from urllib.parse import quote

import msgspec

from aui_tui.records import codec
from aui_tui.records.card import ReportCard, SiteSummary
from aui_tui.records.view import IndexView, Window
from aui_tui.service.api.answers import packer_object

SLICE: Final = 250
"""Rows read and encoded at once on the event loop."""
LONG_SLICE: Final = 2000
"""Rows read and encoded at once on a thread, for a list longer than this."""


def site_url(base_url: str, host: str) -> str:
    """Return the address of the page of ``host`` (specification 2.1)."""
    return f"{base_url}/site/{quote(host, safe='.:-')}"


def data_url(base_url: str, host: str) -> str:
    """Return the address of the report card of ``host`` as JSON (specification 4.2)."""
    return f"{base_url}/api/site/{quote(host, safe='.:-')}.json"


def tasks_url(base_url: str, host: str) -> str:
    """Return the address of the transcript of a host's tasks."""
    return f"{base_url}/api/tasks/{quote(host, safe='.:-')}.json"


def visits_url(base_url: str, host: str) -> str:
    """Return the address of what the access logs of ``host`` say, as JSON."""
    return f"{base_url}/api/visits/{quote(host, safe='.:-')}.json"


def card_bytes(card: ReportCard, base_url: str) -> bytes:
    """Return ``card`` as JSON with the service's ``url``."""
    return codec.encode_card(msgspec.structs.replace(card, url=site_url(base_url, card.host)))


def summary_members(summary: SiteSummary, base_url: str) -> dict[str, Any]:
    """Return an index row as JSON members with the service's ``url``."""
    members: dict[str, Any] = msgspec.to_builtins(summary)
    return members | {"url": site_url(base_url, summary.host)}


def size(view: IndexView) -> int:
    """Return the number of rows of both lists."""
    return len(view.ranked) + len(view.unreachable)


async def index_chunks(view: IndexView, base_url: str) -> AsyncIterator[bytes]:
    """Yield the Index (specification 4.1) as JSON in pieces."""
    yield b'{"scanned_at":' + msgspec.json.encode(view.scanned_at)
    for name, window in ((b"ranked", view.ranked), (b"unreachable", view.unreachable)):
        yield b',"' + name + b'":['
        between = b""
        async for part in _parts(window, base_url):
            yield between + part
            between = b","
        yield b"]"
    yield b"}"


async def _parts(window: Window, base_url: str) -> AsyncIterator[bytes]:
    """Yield the rows of ``window`` slice by slice, letting other requests run in between."""
    length = len(window)
    size = LONG_SLICE if length > LONG_SLICE else SLICE
    for start in range(0, length, size):
        span = slice(start, start + size)
        if size == LONG_SLICE:
            part = await asyncio.to_thread(_rows_json, window, span, base_url)
        else:
            part = _rows_json(window, span, base_url)
            await asyncio.sleep(0)
        if part:
            yield part


def _rows_json(window: Window, span: slice, base_url: str) -> bytes:
    summaries = [row.summary for row in window[span]]
    published = [msgspec.structs.replace(summary, url=site_url(base_url, summary.host)) for summary in summaries]
    return msgspec.json.encode(published)[1:-1]


async def joined(chunks: AsyncIterator[bytes]) -> bytes:
    """Return all of ``chunks``."""
    return b"".join([chunk async for chunk in chunks])


async def packed(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield ``chunks`` in gzip form."""
    packer = packer_object()
    async for chunk in chunks:
        ready = packer.compress(chunk)
        if ready:
            yield ready
    yield packer.flush()
