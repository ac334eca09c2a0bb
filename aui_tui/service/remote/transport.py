"""Another's index asked over HTTP: limits, retries of what is safe to ask again, and what an answer means."""

from __future__ import annotations

import asyncio
import math
import random
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
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
TRIES: Final = 3
PAUSE: Final = 0.4
"""Seconds before the second try on average; doubled before the third."""
LONGEST_PAUSE: Final = 10.0
"""A Retry-After above this many seconds is not waited for."""
PASSING: Final = frozenset({502, 503, 504})
"""Statuses that may be gone a moment later."""
LARGEST_ERROR: Final = 64 * 1024
HOPS: Final = 3
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
REASONS: Final = (
    (r"certificate verify failed(?:: ([^(]+))?", "its certificate is not valid"),
    (r"name or service|nodename nor servname|no address associated", "no such host"),
    (r"temporary failure in name", "its name cannot be looked up now"),
    (r"connection attempts failed|connection refused", "the connection is refused"),
    (r"disconnected without|peer closed", "the connection broke off"),
)
"""Words of a failed connection, and what a sentence says of it."""

Sleep = Callable[[float], Awaitable[None]]


class HttpReply(NamedTuple):
    """An answer as received: status, fields with names in lower case, and the body."""

    status: int
    fields: Mapping[str, str]
    body: bytes = b""

    @property
    def is_page(self) -> bool:
        """The body is a web page, whatever its type is called."""
        head = self.body[:200].lstrip().lower()
        return head.startswith((b"<!doctype html", b"<html")) or "text/html" in self.fields.get("content-type", "")


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
    ) -> HttpReply:
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

    async def _tries(self, url: str, fields: Mapping[str, str], largest: int, again: bool) -> HttpReply:
        for number in range(1, TRIES + 1):
            wait = 0.0
            try:
                reply = await self._once(url, fields, largest)
                asked = reply.fields.get("retry-after", "")
                wait = float(asked) if asked.isdecimal() else 0.0
                if reply.status not in PASSING or not again or number == TRIES or wait > LONGEST_PAUSE:
                    return reply
            except (httpx.RequestError, httpx.InvalidURL) as error:
                unsent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
                if number == TRIES or not (again or unsent) or "ssl" in str(error).lower():
                    raise Unavailable(f"{self._label} cannot be reached: {_reason(error)}.") from None
            await self._sleep(max(wait, PAUSE * 2 ** (number - 1) * random.uniform(0.5, 1.5)))  # noqa: S311 - no secret
        raise AssertionError("unreachable")

    async def _once(self, url: str, fields: Mapping[str, str], largest: int) -> HttpReply:
        client = self._open()
        request = client.build_request("GET", url, headers=dict(fields))
        for _ in range(HOPS):
            response = await client.send(request, stream=True)
            try:
                following = response.next_request
                if following is None or not _is_same_site(request.url, following.url):
                    return await self._whole(response, largest if response.status_code == 200 else LARGEST_ERROR)
                request = client.build_request("GET", following.url, headers=dict(fields))
            finally:
                await response.aclose()
        raise Unavailable(f"{self._label} redirects in circles.")

    async def _whole(self, response: httpx.Response, limit: int) -> HttpReply:
        """Return the answer with its body, of an error at most the beginning; a chunk unpacks to 64 MiB at most."""
        fields = {name.lower(): value for name, value in response.headers.items()}
        coding = fields.get("content-encoding", "identity").strip().lower()
        if coding not in ("identity", "gzip"):
            raise Unavailable(f"{self._label} sends an encoding that was not asked for: {clean(coding, 40)}.")
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > limit and response.status_code == 200:
                raise Unavailable(f"{self._label} sends more than {limit >> 20} MiB; larger answers are not read.")
            if len(body) > limit:
                break
        return HttpReply(response.status_code, fields, bytes(body[:limit]))

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
                trust_env=not self._direct,
            )
        return self._client


def _is_same_site(url: httpx.URL, target: httpx.URL) -> bool:
    """Return whether a redirect leads to the same host and port; another is the user's to choose."""
    places = ((url.scheme, url.port), ("https", url.port), ("https", None))
    return target.host == url.host and (target.scheme, target.port) in places and not target.userinfo


def _reason(error: Exception) -> str:
    if isinstance(error, httpx.TimeoutException):
        return "it takes too long to answer"
    if isinstance(error, httpx.DecodingError):
        return "its answer is not valid gzip"
    text = clean(str(error), 160).rstrip(".")
    for pattern, words in REASONS:
        found = re.search(pattern, text, re.IGNORECASE)
        if found:
            return f"{words} ({found[1].strip()})" if found.groups() and found[1] else words
    return text or "the connection broke off"


def complaint(reply: HttpReply, operation: str, label: str, asked: str, now: float) -> AuiError:
    """Return the error that ``reply`` means.

    ``operation``: INDEX, SITE or SCAN. ``label``: name of the source. ``asked``: the host or URL that was asked for.
    """
    members = _members(reply)
    detail, status = _detail(members), reply.status
    if status == 429:
        return _limited(reply, detail, label, now)
    if status == 400 and isinstance(members.get("allowed"), list):
        words = tuple(clean(str(word), 60) for word in members["allowed"][:50])
        return BadValue(detail or f"{label} refuses a value.", allowed=words)
    if status == 400 and operation == SCAN:
        return InvalidHost(detail or f"{label} calls {clean(asked, 80)!r} an invalid host.")
    if status == 404 and operation == SITE:
        return NeverScanned(asked)
    if status == 404:
        path = "index.json" if operation == INDEX else "scan"
        return Unavailable(f"{label} publishes no index: there is nothing at /api/{path} (404).")
    if 300 <= status <= 399:
        target = clean(reply.fields.get("location", ""), 200)
        return Unavailable(f"{label} has moved{f' to {target}; give that address as the source' if target else ''}.")
    trouble = "answers with an unexpected status"
    if status in (401, 403, 407):
        trouble = "refuses access"
    elif 500 <= status <= 599:
        trouble = "cannot answer now"
    return Unavailable(f"{label} {trouble} ({status}){f': {detail}' if detail else '.'}")


def _members(reply: HttpReply) -> dict[str, Any]:
    """Return the members of problem details; what is something else has none."""
    with suppress(ValueError, RecursionError):
        raw = msgspec.json.decode(reply.body)
        return raw if isinstance(raw, dict) else {}
    return {}


def _detail(members: Mapping[str, Any]) -> str:
    """Return what an error says, as one sentence; empty when it says nothing."""
    said = (members.get(name) for name in ("detail", "error", "message", "title"))
    detail = next((text for text in said if isinstance(text, str) and text.strip()), "")
    line = clean(" ".join(detail.split()), 300)
    return line if not line or line[-1] in ".!?…" else line + "."


def _limited(reply: HttpReply, detail: str, label: str, now: float) -> RateLimited:
    wait = _wait(reply, now)
    after = "It does not say when to try again." if wait is None else f"The next one is free in {spoken(wait)}."
    seconds = UNKNOWN_WAIT if wait is None else wait
    text = detail or f"{label} takes no more scans from here for now. {after}"
    return RateLimited(text, retry_after=seconds, reset_at=now + seconds)


def _wait(reply: HttpReply, now: float) -> int | None:
    """Return the seconds until the next try: Retry-After, a number or a date, else RateLimit's ``t``."""
    field = reply.fields.get("retry-after", "").strip()
    if field.isdecimal() and len(field) < 9:
        return max(1, int(field))
    with suppress(ValueError, OverflowError):
        moment = parsedate_to_datetime(field)
        return max(1, math.ceil((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now))
    return _parameter(reply.fields.get("ratelimit", ""), "t")


def spoken(seconds: float) -> str:
    """Return a span of time in words, such as ``12 min`` or ``3 h``."""
    for unit, word in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * unit:
            return f"{round(seconds / unit)} {word}"
    return f"{round(seconds)} s"


def quota_of(reply: HttpReply, now: float) -> Quota | None:
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
    """Return a number among the parameters of the first item of a structured field (RFC 9651)."""
    found = re.search(rf";\s*{name}=(\d{{1,9}})\s*(?:;|$)", field.partition(",")[0], re.ASCII)
    return int(found[1]) if found else None


def source_of(reply: HttpReply, age: float) -> str:
    """Return where a card comes from: Cache-Status (RFC 9211) says so, else its age does."""
    status = reply.fields.get("cache-status", "").lower()
    if status:
        parts = [part.strip() for part in status.rpartition(",")[2].split(";")]
        return "cache" if "hit" in parts else "shared" if "collapsed" in parts else "scan"
    return "cache" if age > 120 else "scan"
