"""Answers of the HTTP API: records under the service's own address; validators, conditions, compression (RFC 9110)."""

from __future__ import annotations

import asyncio
import hashlib
import zlib
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Mapping
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from functools import lru_cache
from typing import Any, Final
from urllib.parse import quote

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from aui_tui.records import codec
from aui_tui.records.card import ReportCard, SiteSummary
from aui_tui.records.view import IndexView, Window

REVALIDATE: Final = "no-cache"
"""Cache-Control of what changes with the next scan: keep it, but ask before using it."""
GZIP_LEVEL: Final = 5
WORTH_PACKING: Final = 600
"""Bytes below which compression gains nothing."""
WORTH_A_THREAD: Final = 64 * 1024


class Representation:
    """Bytes of one answer with their validators; the compressed form is made once, when first asked for.

    ``etag`` is weak: the plain and the compressed form share it. ``modified`` is a UTC time or None.
    """

    __slots__ = ("_packed", "body", "etag", "media_type", "modified")

    def __init__(self, body: bytes, media_type: str, *, etag: str = "", modified: datetime | None = None) -> None:
        self.body = body
        self.media_type = media_type
        self.etag = etag or tag(body)
        self.modified = modified
        self._packed: bytes | None = None

    async def packed(self) -> bytes:
        """Return the gzip form."""
        if self._packed is None:
            if len(self.body) > WORTH_A_THREAD:
                self._packed = await asyncio.to_thread(pack, self.body)
            else:
                self._packed = pack(self.body)
        return self._packed

    @property
    def size(self) -> int:
        """Bytes held."""
        return len(self.body) + len(self._packed or b"")


class Shelf:
    """The representations made last, at most ``limit`` bytes of them (compressed forms not counted)."""

    def __init__(self, limit: int = 32 * 1024 * 1024, largest: int = 8 * 1024 * 1024) -> None:
        self.largest = largest
        self._limit = limit
        self._held = 0
        self._kept: OrderedDict[tuple[str, ...], tuple[str, Representation]] = OrderedDict()

    def get(self, key: tuple[str, ...], stamp: str) -> Representation | None:
        """Return what was put under ``key`` while the index had this ``stamp``."""
        found = self._kept.get(key)
        if found is None or not stamp or found[0] != stamp:
            return None
        self._kept.move_to_end(key)
        return found[1]

    def put(self, key: tuple[str, ...], stamp: str, made: Representation) -> None:
        """Keep ``made``, unless it is too large or the index has no stamp."""
        if not stamp or len(made.body) > self.largest:
            return
        before = self._kept.pop(key, None)
        self._held += len(made.body) - (len(before[1].body) if before else 0)
        self._kept[key] = (stamp, made)
        while self._held > self._limit:
            _, (_, dropped) = self._kept.popitem(last=False)
            self._held -= len(dropped.body)


def tag(*parts: bytes | str) -> str:
    """Return a weak entity tag made of ``parts``."""
    digest = hashlib.blake2b(digest_size=12)
    for part in parts:
        digest.update(part if isinstance(part, bytes) else part.encode())
        digest.update(b"\0")
    return f'W/"{digest.hexdigest()}"'


def pack(body: bytes) -> bytes:
    """Return ``body`` in gzip form."""
    packer = packer_object()
    return packer.compress(body) + packer.flush()


def packer_object() -> zlib._Compress:
    """Return a compressor that writes the gzip format."""
    return zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, 31)


def wants_gzip(request: Request) -> bool:
    """Say whether the client accepts gzip (RFC 9110 section 12.5.3)."""
    accepted = request.headers.get("accept-encoding", "")
    if not accepted:
        return False
    star = False
    for item in accepted.lower().split(","):
        coding, _, parameter = item.partition(";")
        name, _, value = parameter.partition("=")
        refused = name.strip() == "q" and value.strip() in ("0", "0.0", "0.00", "0.000")
        if coding.strip() in ("gzip", "x-gzip"):
            return not refused
        if coding.strip() == "*":
            star = not refused
    return star


@lru_cache(maxsize=4096)
def http_date(instant: datetime) -> str:
    """Return an HTTP-date (RFC 9110 section 5.6.7)."""
    return format_datetime(instant.astimezone(UTC), usegmt=True)


def unchanged(request: Request, etag: str, modified: datetime | None) -> bool:
    """Say whether the client's copy is current: If-None-Match decides, If-Modified-Since only without it."""
    known = request.headers.getlist("if-none-match")
    if known:
        return bool(etag) and _listed(etag, known)
    since = request.headers.get("if-modified-since")
    if since is None or modified is None:
        return False
    try:
        limit = parsedate_to_datetime(since)
    except ValueError:
        return False
    if limit.tzinfo is None:
        limit = limit.replace(tzinfo=UTC)
    return modified.replace(microsecond=0) <= limit


def _listed(etag: str, values: Iterable[str]) -> bool:
    wanted = etag.removeprefix("W/")
    tags = [item.strip().removeprefix("W/") for value in values for item in value.split(",")]
    return wanted in tags or "*" in tags


def validators(etag: str, modified: datetime | None, cache: str = REVALIDATE) -> dict[str, str]:
    """Return the header fields that let a client keep its copy and ask about it."""
    fields = {"Cache-Control": cache, "Vary": "Accept-Encoding"}
    if etag:
        fields["ETag"] = etag
    if modified is not None:
        fields["Last-Modified"] = http_date(modified)
    return fields


def not_modified(etag: str, modified: datetime | None, cache: str = REVALIDATE) -> Response:
    """Return a 304 with the fields that RFC 9110 section 15.4.5 asks for."""
    return Response(status_code=304, headers=validators(etag, modified, cache))


async def answer(
    request: Request,
    made: Representation,
    *,
    cache: str = REVALIDATE,
    headers: Mapping[str, str] | None = None,
    status: int = 200,
) -> Response:
    """Return ``made`` as the answer to ``request``: 304 when its copy is current, gzip when it takes that."""
    if status == 200 and unchanged(request, made.etag, made.modified):
        return not_modified(made.etag, made.modified, cache)
    fields = validators(made.etag if status == 200 else "", made.modified if status == 200 else None, cache)
    if headers:
        fields.update(headers)
    body = made.body
    if len(body) >= WORTH_PACKING and wants_gzip(request):
        body = await made.packed()
        fields["Content-Encoding"] = "gzip"
    return Response(body, status_code=status, media_type=made.media_type, headers=fields)


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


def badge_url(base_url: str, host: str) -> str:
    """Return the address of the badge of ``host``."""
    return f"{base_url}/badge/{quote(host, safe='.:-')}.svg"


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
