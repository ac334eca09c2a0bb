"""Answers with validators, conditions and compression (RFC 9110), kept for each state of the index."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Final
from weakref import WeakValueDictionary

from starlette.types import ASGIApp, Receive, Scope, Send

from aui_tui.errors import AuiError
from aui_tui.web import REQUEST_SECONDS

REVALIDATE: Final = "no-cache"
"""Cache-Control of what changes with the next scan: keep it, but ask before using it."""
GZIP_LEVEL: Final = 5
WORTH_PACKING: Final = 600
"""Bytes below which compression gains nothing."""
PIECE: Final = 1 << 20
"""Bytes that are handed to a connection at a time: what it does not take yet waits in one place, not once for each."""
NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
Pair = tuple[bytes, bytes]


class Representation:
    """One answer as an ASGI application: 304 when the client's copy is current, gzip when it takes that.

    The entity tag is weak: the plain and the compressed form, made once when first asked for, share it. ``modified`` is
    a UTC time or None; ``cache`` the Cache-Control; ``fields`` are further header fields.
    """

    def __init__(
        self,
        body: bytes,
        media_type: str,
        *,
        modified: datetime | None = None,
        cache: str = REVALIDATE,
        fields: Mapping[str, str] = NOTHING,
    ) -> None:
        self.body = body
        self._etag = tag(body)
        self._modified = modified
        self._unchanged = pairs(validators(self._etag, self._modified, cache))
        self._head = [*self._unchanged, (b"content-type", media_type.encode()), *pairs(fields)]
        self._packed: bytes | None = None

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send, *, fields: Mapping[str, str] = NOTHING
    ) -> None:
        """Answer one request, with ``fields`` of this answer alone."""
        request_fields = dict(scope["headers"])
        status, body, head = 200, self.body, self._head
        if is_current(request_fields, self._etag, self._modified):
            status, body, head = 304, b"", self._unchanged
        else:
            if len(body) >= WORTH_PACKING and accepts_gzip(request_fields.get(b"accept-encoding", b"")):
                body = await self._pack()
                head = [*head, (b"content-encoding", b"gzip")]
            head = [*head, (b"content-length", b"%d" % len(body)), *pairs(fields)]
        await send({"type": "http.response.start", "status": status, "headers": head})
        for end in range(PIECE, len(body) + PIECE + (not body), PIECE):
            piece = body[end - PIECE : end]
            await send({"type": "http.response.body", "body": piece, "more_body": end < len(body)})

    @property
    def size(self) -> int:
        """Bytes that it takes, about."""
        return OVERHEAD + len(self.body) + len(self._packed or b"")

    async def _pack(self) -> bytes:
        if self._packed is None:
            self._packed = await asyncio.to_thread(gzip.compress, self.body, GZIP_LEVEL, mtime=0)
        return self._packed


def pairs(fields: Mapping[str, str]) -> list[Pair]:
    """Return header fields as ASGI has them."""
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in fields.items()]


CAPACITY: Final = 96 * 1024 * 1024
"""Bytes of the answers that are kept, with their compressed forms; an index of 100,000 hosts has 53 MB."""
ENTRIES: Final = 2000
"""Answers that are kept."""
OVERHEAD: Final = 4096
"""Bytes that an answer takes besides its body."""
LARGEST_KEPT: Final = 64 * 1024 * 1024
TARGETS: Final = 1000
"""Request targets whose answers are found without looking at what they mean."""
Key = tuple[str, ...]


class ResponseCache:
    """The representations made last, at most CAPACITY bytes and ENTRIES of them, each for one state of the index.

    An ASGI layer too: a request whose target was answered from here before needs nothing of ``app``, which has
    REQUEST_SECONDS for its answer and ends in TimeoutError.
    """

    def __init__(self, app: ASGIApp, stamp: Callable[[], Awaitable[str]]) -> None:
        self.app = app
        self._stamp = stamp
        self._entries: OrderedDict[Key, tuple[str, Representation]] = OrderedDict()
        self._keys: OrderedDict[bytes, Key] = OrderedDict()
        self._making: WeakValueDictionary[Key, asyncio.Lock] = WeakValueDictionary()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        key = self._keys.get(target_of(scope)) if scope["method"] in ("GET", "HEAD") else None
        answer = None
        if key is not None:
            with suppress(AuiError):  # the application meets and explains it
                answer = self._get(key, await self._stamp())
        if answer is not None:
            await answer(scope, receive, send)
        else:
            async with asyncio.timeout(REQUEST_SECONDS):
                await self.app(scope, receive, send)

    async def kept(self, scope: Scope, key: Key, make: Callable[[str], Awaitable[ASGIApp]]) -> ASGIApp:
        """Return the answer to ``scope``, for all requests with this ``key`` made once for each state of the index.

        ``make`` gets the stamp of that state. What is no Representation, or is too large, is not kept.
        """
        stamp = await self._stamp()
        answer: ASGIApp | None = self._get(key, stamp)
        if answer is None:
            async with self._making.setdefault(key, asyncio.Lock()):
                answer = self._get(key, stamp)
                if answer is None:
                    answer = await make(stamp)
                    if isinstance(answer, Representation):
                        self._put(key, stamp, answer)
        if key in self._entries:
            self._keys[target_of(scope)] = key
            if len(self._keys) > TARGETS:
                self._keys.popitem(last=False)
        return answer

    def _get(self, key: Key, stamp: str) -> Representation | None:
        entry = self._entries.get(key)
        if entry is None or not stamp or entry[0] != stamp:
            return None
        self._entries.move_to_end(key)
        return entry[1]

    def _put(self, key: Key, stamp: str, made: Representation) -> None:
        if not stamp or len(made.body) > LARGEST_KEPT:
            return
        self._entries[key] = (stamp, made)
        self._entries.move_to_end(key)
        while len(self._entries) > ENTRIES or sum(answer.size for _, answer in self._entries.values()) > CAPACITY:
            self._entries.popitem(last=False)


def target_of(scope: Scope) -> bytes:
    """Return the request target: path and query."""
    path: bytes = scope.get("raw_path") or scope["path"].encode()
    query: bytes = scope["query_string"]
    return path + b"?" + query if query else path


def tag(*parts: bytes | str) -> str:
    """Return a weak entity tag made of ``parts``."""
    digest = hashlib.blake2b(digest_size=12)
    for part in parts:
        digest.update(part if isinstance(part, bytes) else part.encode())
        digest.update(b"\0")
    return f'W/"{digest.hexdigest()}"'


@lru_cache(maxsize=256)
def accepts_gzip(field: bytes) -> bool:
    """Say whether the client that sends this Accept-Encoding takes gzip (RFC 9110 section 12.5.3)."""
    weights = {}
    for item in field.decode("latin-1").lower().split(","):
        coding, _, parameter = item.partition(";")
        name, _, weight = parameter.partition("=")
        weights[coding.strip()] = name.strip() != "q" or bool(weight.strip(" 0."))
    return weights.get("gzip", weights.get("x-gzip", weights.get("*", False)))


def is_current(fields: Mapping[bytes, bytes], etag: str, modified: datetime | None) -> bool:
    """Say whether the client's copy is current: If-None-Match decides, If-Modified-Since only without it."""
    if_none_match = fields.get(b"if-none-match")
    if if_none_match is not None:
        tags = [item.strip().removeprefix("W/") for item in if_none_match.decode("latin-1").split(",")]
        return bool(etag) and ("*" in tags or etag.removeprefix("W/") in tags)
    since = fields.get(b"if-modified-since")
    if since is None or modified is None:
        return False
    try:
        limit = parsedate_to_datetime(since.decode("latin-1"))
    except (ValueError, OverflowError):
        return False
    return modified.replace(microsecond=0) <= (limit if limit.tzinfo else limit.replace(tzinfo=UTC))


def validators(etag: str, modified: datetime | None, cache: str = REVALIDATE) -> dict[str, str]:
    """Return the header fields that let a client keep its copy and ask about it."""
    fields = {"Cache-Control": cache, "Vary": "Accept-Encoding"}
    if etag:
        fields["ETag"] = etag
    if modified is not None:
        fields["Last-Modified"] = format_datetime(modified.astimezone(UTC), usegmt=True)
    return fields
