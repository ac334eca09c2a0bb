"""HTTP messages of the API: what a request says, and how records are answered (RFC 9110).

Known query parameters of the three endpoints (specification 4) are checked, unknown ones are ignored; the interface
description says so at each parameter's operation. A client's scans are counted under its address. Whose page asked
follows from Fetch Metadata, Origin and Referer. Records stand under the service's own address, with validators,
conditions and compression.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import ipaddress
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import parse_qsl, quote
from weakref import WeakValueDictionary

import msgspec
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from aui_tui.errors import AuiError, BadValue
from aui_tui.model import codec
from aui_tui.model.card import ReportCard, SiteSummary
from aui_tui.model.view import IndexView, Window
from aui_tui.text import clean
from aui_tui.web import ApiConfig, Network, origin_of


class Parameters:
    """The parameters of one query string. Raises BadValue when it has over 100 of them."""

    def __init__(self, query: bytes) -> None:
        try:
            self._pairs = parse_qsl(query.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=100)
        except ValueError:
            raise BadValue("The address has more than 100 parameters.") from None

    def one(self, name: str) -> str | None:
        """Return the value of ``name``, None when absent. Raises BadValue when it is given twice."""
        values = [value for key, value in self._pairs if key == name]
        if len(values) > 1:
            raise BadValue(f"The parameter {name} is given {len(values)} times; once is allowed.")
        return values[0] if values else None

    def needed(self, name: str, example: str) -> str:
        """Return the value of ``name``. Raises BadValue when it is missing."""
        value = self.one(name)
        if value is None:
            raise BadValue(f"The parameter {name} is missing, for example {name}={example}.")
        return value

    def word(self, name: str) -> str:
        """Return the value of a filter, empty when absent. Raises BadValue when it is given but empty."""
        value = self.one(name)
        if value is not None and not value.strip():
            raise BadValue(f"The parameter {name} is empty; leave it out for no filter.")
        return value or ""

    def flag(self, name: str) -> bool:
        """Return a boolean, False when absent. Raises BadValue when it is neither true nor false."""
        value = self.one(name)
        if value is None or value.lower() in ("false", "0"):
            return False
        if value.lower() in ("true", "1"):
            return True
        raise BadValue(
            f"The parameter {name} must be true or false, not {clean(value, 40)!r}.", allowed=("true", "false")
        )

    def number(self, name: str, largest: int) -> int:
        """Return a whole number, 0 when absent. Raises BadValue for anything else, or one above ``largest``."""
        value = self.one(name)
        if value is None:
            return 0
        if not (value.isascii() and value.isdecimal() and len(value) < 12 and int(value) <= largest):
            raise BadValue(f"The parameter {name} must be a whole number up to {largest}, not {clean(value, 40)!r}.")
        return int(value)


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


Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def identify(peer: str, forwarded: Iterable[str], trusted: Sequence[Network]) -> str:
    """Return the id of the client behind ``peer``: its IPv4 address, or its IPv6 network by /64.

    ``forwarded`` are the values of X-Forwarded-For in order. They count only when the peer is a trusted proxy; then
    the right-most hop that is not itself trusted is the client. A hop that is not an address ends the walk.
    """
    address = _address(peer)
    if address is None:
        return "local"
    hops = [hop.strip() for value in forwarded for hop in value.split(",")]
    while hops and any(address in network for network in trusted):
        found = _address(_without_port(hops.pop()))
        if found is None:
            break
        address = found
    return str(address if address.version == 4 else ipaddress.ip_network((address, 64), strict=False))


def is_inside(peer: str, networks: Sequence[Network]) -> bool:
    """Return whether ``peer`` is an address in one of ``networks``."""
    address = _address(peer)
    return address is not None and any(address in network for network in networks)


@lru_cache(maxsize=4096)
def _address(text: str) -> Address | None:
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _without_port(hop: str) -> str:
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    return hop.partition(":")[0] if hop.count(":") == 1 else hop


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
        status: int = 200,
        fields: Mapping[str, str] = NOTHING,
    ) -> None:
        self.body = body
        self._status = status
        self._etag = tag(body) if status == 200 else ""
        self._modified = modified if status == 200 else None
        self._unchanged = pairs(validators(self._etag, self._modified, cache))
        self._head = [*self._unchanged, (b"content-type", media_type.encode()), *pairs(fields)]
        self._packed: bytes | None = None

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send, *, fields: Mapping[str, str] = NOTHING
    ) -> None:
        """Answer one request, with ``fields`` of this answer alone."""
        asked = dict(scope["headers"])
        status, body, head = self._status, self.body, self._head
        if status == 200 and is_current(asked, self._etag, self._modified):
            status, body, head = 304, b"", self._unchanged
        else:
            if len(body) >= WORTH_PACKING and accepts_gzip(asked.get(b"accept-encoding", b"")):
                body = await self._pack()
                head = [*head, (b"content-encoding", b"gzip")]
            head = [*head, (b"content-length", b"%d" % len(body)), *pairs(fields)]
        await send({"type": "http.response.start", "status": status, "headers": head})
        for end in range(PIECE, len(body) + PIECE + (not body), PIECE):
            piece = body[end - PIECE : end]
            await send({"type": "http.response.body", "body": piece, "more_body": end < len(body)})

    async def _pack(self) -> bytes:
        if self._packed is None:
            self._packed = await asyncio.to_thread(gzip.compress, self.body, GZIP_LEVEL, mtime=0)
        return self._packed


def pairs(fields: Mapping[str, str]) -> list[Pair]:
    """Return header fields as ASGI has them."""
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in fields.items()]


SHELF: Final = 96 * 1024 * 1024
"""Bytes of the answers that are kept (compressed forms not counted); an index of 100,000 hosts has 53 MB."""
LARGEST_KEPT: Final = 64 * 1024 * 1024
TARGETS: Final = 1000
"""Request targets whose answers are found without looking at what they mean."""
Key = tuple[str, ...]


class Shelf:
    """The representations made last, at most SHELF bytes of them, each for one state of the index.

    An ASGI layer too: a request whose target was answered from here before needs nothing of ``app``.
    """

    def __init__(self, app: ASGIApp, stamp: Callable[[], Awaitable[str]]) -> None:
        self.app = app
        self._stamp = stamp
        self._held = 0
        self._kept: OrderedDict[Key, tuple[str, Representation]] = OrderedDict()
        self._keys: OrderedDict[bytes, Key] = OrderedDict()
        self._making: WeakValueDictionary[Key, asyncio.Lock] = WeakValueDictionary()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        answer = self.app
        if scope["type"] == "http" and scope["method"] in ("GET", "HEAD"):
            key = self._keys.get(target_of(scope))
            if key is not None:
                with suppress(AuiError):  # the application meets and explains it
                    answer = self._get(key, await self._stamp()) or answer
        await answer(scope, receive, send)

    async def kept(self, scope: Scope, key: Key, make: Callable[[str], Awaitable[ASGIApp]]) -> ASGIApp:
        """Return the answer to ``scope``, for all requests with this ``key`` made once for each state of the index.

        ``make`` gets the stamp of that state. What is no Representation, or is too large, is not kept.
        """
        stamp = await self._stamp()
        found: ASGIApp | None = self._get(key, stamp)
        if found is None:
            async with self._making.setdefault(key, asyncio.Lock()):
                found = self._get(key, stamp)
                if found is None:
                    found = await make(stamp)
                    if isinstance(found, Representation):
                        self._put(key, stamp, found)
        if key in self._kept:
            self._keys[target_of(scope)] = key
            if len(self._keys) > TARGETS:
                self._keys.popitem(last=False)
        return found

    def _get(self, key: Key, stamp: str) -> Representation | None:
        found = self._kept.get(key)
        if found is None or not stamp or found[0] != stamp:
            return None
        self._kept.move_to_end(key)
        return found[1]

    def _put(self, key: Key, stamp: str, made: Representation) -> None:
        if not stamp or len(made.body) > LARGEST_KEPT:
            return
        before = self._kept.pop(key, None)
        self._held += len(made.body) - (len(before[1].body) if before else 0)
        self._kept[key] = (stamp, made)
        while self._held > SHELF:
            _, (_, dropped) = self._kept.popitem(last=False)
            self._held -= len(dropped.body)


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


def is_current(asked: Mapping[bytes, bytes], etag: str, modified: datetime | None) -> bool:
    """Say whether the client's copy is current: If-None-Match decides, If-Modified-Since only without it."""
    known = asked.get(b"if-none-match")
    if known is not None:
        tags = [item.strip().removeprefix("W/") for item in known.decode("latin-1").split(",")]
        return bool(etag) and ("*" in tags or etag.removeprefix("W/") in tags)
    since = asked.get(b"if-modified-since")
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


SLICE: Final = 1000
"""Rows read and encoded at once, on a thread."""


def site_url(base_url: str, host: str) -> str:
    """Return the address of the page of ``host`` (specification 2.1)."""
    return f"{base_url}/site/{quote(host, safe='.:-')}"


def record_url(base_url: str, kind: str, host: str) -> str:
    """Return the address of a record of ``host``: ``kind`` is site (its card, specification 4.2), tasks or visits."""
    return f"{base_url}/api/{kind}/{quote(host, safe='.:-')}.json"


def badge_url(base_url: str, host: str) -> str:
    """Return the address of the badge of ``host``."""
    return f"{base_url}/badge/{quote(host, safe='.:-')}.svg"


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
