"""Asking another's index over HTTP, and what its answer means.

Time limits, size limits, and retries of what is safe to ask again; errors of any shape become one clear sentence,
header fields become figures.
"""

from __future__ import annotations

import asyncio
import math
import random
import re
import zlib
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import httpx
import msgspec

from aui_tui import __version__
from aui_tui.errors import AuiError, BadValue, InvalidHost, NeverScanned, RateLimited, Unavailable
from aui_tui.model.view import Quota
from aui_tui.text import clean

UNKNOWN_WAIT: Final = 3600
"""Seconds to wait when a 429 does not say how long: the whole window (specification 8)."""
INDEX, SITE, SCAN = "index", "site", "scan"
_ITEM: Final = re.compile(r'^\s*"?[^";]*"?\s*;(.*)$')


class Reply(NamedTuple):
    """An answer as received: status, fields with names in lower case, and the body."""

    status: int
    fields: Mapping[str, str]
    body: bytes = b""

    @property
    def is_page(self) -> bool:
        """The body is a web page, whatever its type is called."""
        head = self.body[:200].lstrip().lower()
        return head.startswith((b"<!doctype html", b"<html")) or "text/html" in self.fields.get("content-type", "")


def complaint(reply: Reply, operation: str, label: str, asked: str, now: float) -> AuiError:
    """Return the error that ``reply`` means.

    ``operation``: INDEX, SITE or SCAN. ``label``: name of the source. ``asked``: the host or URL that was asked for.
    """
    words = _words(reply)
    status = reply.status
    if status == 429:
        return _limited(reply, words, label, now)
    if status == 400 and words.allowed:
        return BadValue(words.detail or f"{label} refuses a value.", allowed=words.allowed)
    if status == 400 and operation == SCAN:
        return InvalidHost(words.detail or f"{label} calls {clean(asked, 80)!r} an invalid host.")
    if status == 404 and operation == SITE:
        return NeverScanned(asked)
    if status == 404:
        return Unavailable(f"{label} publishes no index: there is nothing at /api/{_PATHS[operation]} (404).")
    if 300 <= status <= 399:
        target = clean(reply.fields.get("location", ""), 200)
        return Unavailable(
            f"{label} has moved" + (f" to {target}; give that address as the source." if target else ".")
        )
    said = f": {words.detail}" if words.detail else "."
    return Unavailable(f"{label} {_trouble(status)} ({status}){said}")


def _trouble(status: int) -> str:
    if status in (401, 403, 407):
        return "refuses access"
    return "cannot answer now" if 500 <= status <= 599 else "answers with an unexpected status"


_PATHS: Final = {INDEX: "index.json", SITE: "site/", SCAN: "scan"}


class _Words(NamedTuple):
    detail: str
    allowed: tuple[str, ...]
    members: Mapping[str, Any]


def _words(reply: Reply) -> _Words:
    """Read problem details, ``{"error": ...}`` of any common shape, or plain text; a web page says nothing."""
    try:
        raw = msgspec.json.decode(reply.body)
    except (ValueError, RecursionError):
        if reply.is_page or not reply.fields.get("content-type", "text/plain").startswith("text/plain"):
            return _Words("", (), {})
        return _Words(_sentence(reply.body[:2000].decode("utf-8", "replace")), (), {})
    if isinstance(raw, str):
        return _Words(_sentence(raw), (), {})
    if not isinstance(raw, dict):
        return _Words("", (), {})
    error = raw.get("error")
    nested = error if isinstance(error, dict) else {}
    candidates = (raw.get("detail"), raw.get("message"), error, nested.get("message"), raw.get("title"))
    detail = next((text for text in candidates if isinstance(text, str) and text.strip()), "")
    allowed = raw.get("allowed")
    words = tuple(clean(str(word), 60) for word in allowed[:50]) if isinstance(allowed, list) else ()
    return _Words(_sentence(detail), words, raw)


def _sentence(text: str) -> str:
    line = clean(" ".join(text.split()), 300)
    return line if not line or line[-1] in ".!?…" else line + "."


def _limited(reply: Reply, words: _Words, label: str, now: float) -> RateLimited:
    wait = _wait(reply, words.members, now)
    after = f"The next one is free in {spoken(wait)}." if wait is not None else "It does not say when to try again."
    detail = words.detail or f"{label} takes no more scans from here for now."
    seconds = UNKNOWN_WAIT if wait is None else wait
    has_time = re.search(r"\d+ ?(s|sec|seconds|min|minutes|h|hours)\b", detail) is not None
    return RateLimited(detail if has_time else f"{detail} {after}", retry_after=seconds, reset_at=now + seconds)


def _wait(reply: Reply, members: Mapping[str, Any], now: float) -> int | None:
    """Return the seconds until the next try: Retry-After, else ``retry_after``, else RateLimit's ``t``."""
    field = reply.fields.get("retry-after", "").strip()
    if field.isdecimal() and len(field) < 9:
        return max(1, int(field))
    if field:
        moment = http_time(field)
        if moment is not None:
            return max(1, math.ceil(moment - now))
    value = members.get("retry_after")
    if isinstance(value, int | float) and 0 <= value < 10**8:
        return max(1, math.ceil(value))
    seconds = _parameter(reply.fields.get("ratelimit", ""), "t")
    return max(1, seconds) if seconds is not None else None


def spoken(seconds: float) -> str:
    """Return a span of time in words, such as ``12 min`` or ``3 h``."""
    for unit, word in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * unit:
            return f"{round(seconds / unit)} {word}"
    return f"{round(seconds)} s"


def http_time(text: str) -> float | None:
    """Return an HTTP-date as epoch seconds; None when it is none."""
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def quota_of(reply: Reply, now: float) -> Quota | None:
    """Return the scans left as RateLimit and RateLimit-Policy give them; None when they do not."""
    left = _parameter(reply.fields.get("ratelimit", ""), "r")
    if left is None:
        return None
    limit = _parameter(reply.fields.get("ratelimit-policy", ""), "q")
    seconds = _parameter(reply.fields.get("ratelimit", ""), "t")
    return Quota(
        left=left, limit=limit if limit is not None else max(left, 10), next_slot=now + seconds if seconds else 0.0
    )


def _parameter(field: str, name: str) -> int | None:
    found = _ITEM.match(field.partition(",")[0])
    for part in (found[1] if found else "").split(";"):
        key, _, value = part.partition("=")
        if key.strip() == name and value.strip().isdecimal() and len(value.strip()) < 10:
            return int(value.strip())
    return None


def source_of(reply: Reply, age: float) -> str:
    """Return where a card comes from: Cache-Status (RFC 9211) says so, else its age does."""
    status = reply.fields.get("cache-status", "").lower()
    if status:
        parts = [part.strip() for part in status.rpartition(",")[2].split(";")]
        if "hit" in parts:
            return "cache"
        return "shared" if "collapsed" in parts else "scan"
    return "cache" if age > 120 else "scan"


def clock_of(reply: Reply, now: float) -> float:
    """Return the time by the source's clock, ours when it does not say."""
    moment = http_time(reply.fields.get("date", ""))
    return now if moment is None else moment


TRIES: Final = 3
PAUSE: Final = 0.4
"""Seconds before the second try on average; doubled before the third."""
LONGEST_PAUSE: Final = 10.0
"""A Retry-After above this many seconds is not waited for."""
PASSING: Final = frozenset({502, 503, 504})
"""Statuses that may be gone a moment later."""
STEP: Final = 1024 * 1024
"""Bytes decoded at a time."""
LARGEST_ERROR: Final = 64 * 1024
HOPS: Final = 3
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})

Sleep = Callable[[float], Awaitable[None]]


class Transport:
    """GET requests to the source at ``base_url``, called ``label`` in sentences."""

    def __init__(self, base_url: str, label: str, *, sleep: Sleep = asyncio.sleep) -> None:
        self._label = label
        self._sleep = sleep
        self._client: httpx.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._direct = (urlsplit(base_url).hostname or "") in LOOPBACK

    async def get(
        self, url: str, *, fields: Mapping[str, str], seconds: float, largest: int, again: bool = True
    ) -> Reply:
        """Return the answer to a GET of ``url``, its body decoded and at most ``largest`` bytes long.

        Within ``seconds`` in all. With ``again`` a failure that may pass is tried up to TRIES times; without it only
        one that came before the request could be sent. Raises Unavailable with one sentence.
        """
        try:
            async with asyncio.timeout(seconds):
                return await self._tries(url, fields, largest, again)
        except TimeoutError:
            raise Unavailable(f"{self._label} did not answer within {seconds:.0f} s.") from None

    async def aclose(self) -> None:
        """Close the connections; on another event loop than theirs, which has ended, they are only forgotten."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.aclose()

    async def _tries(self, url: str, fields: Mapping[str, str], largest: int, again: bool) -> Reply:
        for number in range(1, TRIES + 1):
            try:
                reply = await self._once(url, fields, largest)
                if reply.status not in PASSING or not again or number == TRIES:
                    return reply
                wait = _asked_pause(reply)
                if wait is None:
                    return reply
            except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
                if number == TRIES or _final(error):
                    raise self._sentence(error) from None
                wait = 0.0
            except (httpx.TransportError, httpx.InvalidURL, zlib.error) as error:
                if number == TRIES or not again or isinstance(error, httpx.UnsupportedProtocol | httpx.InvalidURL):
                    raise self._sentence(error) from None
                wait = 0.0
            await self._sleep(max(wait, PAUSE * 2 ** (number - 1) * random.uniform(0.5, 1.5)))  # noqa: S311 - no secret
        raise AssertionError("unreachable")

    async def _once(self, url: str, fields: Mapping[str, str], largest: int) -> Reply:
        for _ in range(HOPS):
            request = self._open().build_request("GET", url, headers=dict(fields))
            response = await self._open().send(request, stream=True)
            try:
                if response.is_redirect:
                    target = _followed(httpx.URL(url), response)
                    if target is not None:
                        url = str(target)
                        continue
                found = {name.lower(): value for name, value in response.headers.items()}
                limit = largest if response.status_code == 200 else LARGEST_ERROR
                return await self._whole(Reply(response.status_code, found), response, limit)
            finally:
                await response.aclose()
        raise Unavailable(f"{self._label} redirects in circles.")

    async def _whole(self, reply: Reply, response: httpx.Response, limit: int) -> Reply:
        """Return ``reply`` with the body of ``response``, decoded here: httpx decodes before it can be counted."""
        packed = response.headers.get("content-encoding", "").strip().lower() in ("gzip", "x-gzip")
        unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32) if packed else None
        body = bytearray()
        async for chunk in response.aiter_raw():
            while chunk and len(body) <= limit:
                body += unpacker.decompress(chunk, STEP) if unpacker else chunk
                chunk = unpacker.unconsumed_tail if unpacker else b""
                await asyncio.sleep(0)
            if len(body) > limit and reply.status == 200:
                raise Unavailable(f"{self._label} sends more than {limit >> 20} MiB; larger answers are not read.")
            if len(body) > limit:
                break
        return reply._replace(body=bytes(body[:limit]))

    def _open(self) -> httpx.AsyncClient:
        if self._client is None or self._loop is not asyncio.get_running_loop():
            self._loop = asyncio.get_running_loop()
            self._client = httpx.AsyncClient(
                headers={
                    "User-Agent": f"aui-tui/{__version__}",
                    "Accept": "application/json",
                    "Accept-Encoding": "gzip",
                },
                timeout=httpx.Timeout(None, connect=5, pool=5),  # ``get`` bounds the whole: a scan is silent for long
                limits=httpx.Limits(max_connections=8),
                follow_redirects=False,
                trust_env=not self._direct,
            )
        return self._client

    def _sentence(self, error: Exception) -> Unavailable:
        return Unavailable(f"{self._label} cannot be reached: {_reason(error)}.")


def _followed(url: httpx.URL, response: httpx.Response) -> httpx.URL | None:
    """Return where a redirect leads when that is the same host and port; another is the user's to choose."""
    location = response.headers.get("location")
    if not location:
        return None
    try:
        target = url.join(location)
    except httpx.InvalidURL:
        return None
    safe = target.scheme == url.scheme or target.scheme == "https"
    same = target.host == url.host and _port(target) in (_port(url), _port(url.copy_with(scheme=target.scheme)))
    return target if safe and same and not target.userinfo else None


def _port(url: httpx.URL) -> int:
    return url.port or (443 if url.scheme == "https" else 80)


def _asked_pause(reply: Reply) -> float | None:
    """Return the seconds that a passing failure asks for; None when that is too long to wait."""
    field = reply.fields.get("retry-after", "0").strip()
    seconds = float(field) if field.isdecimal() else 0.0
    return seconds if seconds <= LONGEST_PAUSE else None


def _final(error: Exception) -> bool:
    text = str(error).lower()
    return "certificate" in text or "ssl" in text


def _reason(error: Exception) -> str:
    if isinstance(error, httpx.TimeoutException):
        return "it takes too long to answer"
    if isinstance(error, zlib.error):
        return "its answer is not valid gzip"
    text = clean(str(error), 160).rstrip(".")
    known = (
        ("certificate verify failed", "its certificate is not valid" + _detail(text)),
        ("name or service not known", "no such host"),
        ("nodename nor servname", "no such host"),
        ("no address associated", "no such host"),
        ("temporary failure in name", "its name cannot be looked up now"),
        ("all connection attempts failed", "the connection is refused"),
        ("connection refused", "the connection is refused"),
        ("disconnected without", "the connection broke off"),
        ("peer closed connection", "the connection broke off"),
    )
    lowered = text.lower()
    for part, words in known:
        if part in lowered:
            return words
    return text or "the connection broke off"


def _detail(text: str) -> str:
    found = text.partition("certificate verify failed: ")[2].partition(" (_ssl")[0]
    return f" ({found})" if found else ""
