"""Another's index asked over HTTP: limits in size, time and place, and what an answer means."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

import httpx
import msgspec

from aui_tui import __version__
from aui_tui.errors import AuiError, BadValue, InvalidHost, NeverScanned, RateLimited, Unavailable
from aui_tui.model.quota import Quota
from aui_tui.text import clean, is_loopback

UNKNOWN_WAIT: Final = 3600
"""Seconds to wait when a 429 does not say how long: the whole window."""
INDEX, SITE, SCAN = "index", "site", "scan"
LARGEST_ERROR: Final = 64 * 1024
HOPS: Final = 3
"""Redirects that are followed."""
REASONS: Final = (
    (r"certificate verify failed(?:: ([^(]+))?", "its certificate is not valid"),
    (r"name or service|nodename nor servname|no address associated", "no such host"),
    (r"temporary failure in name", "its name cannot be looked up now"),
    (r"connection attempts failed|connection refused", "the connection is refused"),
    (r"disconnected without|peer closed", "the connection broke off"),
)
"""Words of a failed connection, and what a sentence says of it."""


class HttpReply(NamedTuple):
    """An answer as received: status, fields, and the body."""

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

    def __init__(self, base_url: str, label: str) -> None:
        self._base = httpx.URL(base_url)
        self._label = label
        self._client = httpx.AsyncClient(
            headers={
                "User-Agent": f"aui-tui/{__version__}",
                "Accept": "application/json",
                "Accept-Encoding": "gzip",
            },
            timeout=httpx.Timeout(None, connect=5, pool=5),  # ``get`` bounds the whole: a scan is silent for long
            limits=httpx.Limits(max_connections=8),
            trust_env=not is_loopback(self._base.host),
            follow_redirects=True,
            max_redirects=HOPS,
            event_hooks={"request": [self._check_place]},
        )

    async def get(self, url: str, *, seconds: float, largest: int) -> HttpReply:
        """Return the answer to a GET of ``url``, its body decoded and at most ``largest`` bytes long.

        Within ``seconds`` in all. Raises Unavailable with one sentence.
        """
        try:
            async with asyncio.timeout(seconds), self._client.stream("GET", url) as response:
                return await self._whole(response, largest if response.status_code == 200 else LARGEST_ERROR)
        except TimeoutError:
            raise Unavailable(f"{self._label} did not answer within {seconds:.0f} s.") from None
        except httpx.TooManyRedirects:
            raise Unavailable(f"{self._label} redirects in circles.") from None
        except (httpx.RequestError, httpx.InvalidURL) as error:
            raise Unavailable(f"{self._label} cannot be reached: {_reason(error)}.") from None

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _check_place(self, request: httpx.Request) -> None:
        """Raise Unavailable for a redirect to another host or port, which is the user's to choose."""
        base, target = self._base, request.url
        places = ((base.scheme, base.port), ("https", base.port), ("https", None))
        if target.host != base.host or (target.scheme, target.port) not in places:
            place = clean(str(target.copy_with(query=None)), 200)
            raise Unavailable(f"{self._label} has moved to {place}; give that address as the source.")

    async def _whole(self, response: httpx.Response, limit: int) -> HttpReply:
        """Return the answer with its body, of an error at most the beginning; a chunk unpacks to 64 MiB at most."""
        coding = response.headers.get("content-encoding", "identity").strip().lower()
        if coding not in ("identity", "gzip"):
            raise Unavailable(f"{self._label} sends an encoding that was not asked for: {clean(coding, 40)}.")
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > limit and response.status_code == 200:
                raise Unavailable(f"{self._label} sends more than {limit >> 20} MiB; larger answers are not read.")
            if len(body) > limit:
                break
        return HttpReply(response.status_code, response.headers, bytes(body[:limit]))


def _reason(error: Exception) -> str:
    if isinstance(error, httpx.TimeoutException):
        return "it takes too long to answer"
    if isinstance(error, httpx.DecodingError):
        return "its answer is not valid gzip"
    text = clean(error, 160).rstrip(".")
    for pattern, words in REASONS:
        match = re.search(pattern, text, re.IGNORECASE)
        if match:
            return f"{words} ({match[1].strip()})" if match.groups() and match[1] else words
    return text or "the connection broke off"


def complaint(reply: HttpReply, operation: str, label: str, requested: str) -> AuiError:
    """Return the error that ``reply`` means.

    ``operation``: INDEX, SITE or SCAN. ``label``: name of the source. ``requested``: the host or URL.
    """
    members = _members(reply)
    detail, status = _detail(members), reply.status
    if status == 429:
        return _limited(reply, operation, detail, label)
    if status == 400 and isinstance(members.get("allowed"), list):
        words = tuple(clean(str(word), 60) for word in members["allowed"][:50])
        return BadValue(detail or f"{label} refuses a value.", allowed=words)
    if status == 400 and operation == SCAN:
        return InvalidHost(detail or f"{label} calls {clean(requested, 80)!r} an invalid host.")
    if status == 404 and operation == SITE:
        return NeverScanned(requested)
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
    """Return the members of problem details (RFC 9457); empty for any other body."""
    with suppress(ValueError, RecursionError):
        raw = msgspec.json.decode(reply.body)
        return raw if isinstance(raw, dict) else {}
    return {}


def _detail(members: Mapping[str, Any]) -> str:
    """Return what an error says, as one sentence; empty when it says nothing."""
    values = (members.get(name) for name in ("detail", "error", "message", "title"))
    detail = next((text for text in values if isinstance(text, str) and text.strip()), "")
    line = clean(" ".join(detail.split()), 300)
    return line if not line or line[-1] in ".!?…" else line + "."


def _limited(reply: HttpReply, operation: str, detail: str, label: str) -> RateLimited:
    wait = _wait(reply)
    after = "It does not say when to try again." if wait is None else f"The next one is free in {-(-wait // 60)} min."
    seconds = UNKNOWN_WAIT if wait is None else wait
    what = "scans" if operation == SCAN else "requests"
    text = detail or f"{label} takes no more {what} from here for now. {after}"
    return RateLimited(text, retry_after=seconds, reset_at=time.time() + seconds)


def _wait(reply: HttpReply) -> int | None:
    """Return the seconds until the next try as Retry-After gives them."""
    field = reply.fields.get("retry-after", "").strip()
    return max(1, int(field)) if re.fullmatch("[0-9]{1,8}", field) else None


def quota_of(reply: HttpReply) -> Quota | None:
    """Return the scans left as RateLimit and RateLimit-Policy give them; None when they do not."""
    left = _parameter(reply.fields.get("ratelimit", ""), "r")
    if left is None:
        return None
    limit = _parameter(reply.fields.get("ratelimit-policy", ""), "q")
    seconds = _parameter(reply.fields.get("ratelimit", ""), "t")
    return Quota(
        left=left,
        limit=limit if limit is not None else max(left, 10),
        next_slot=time.time() + seconds if seconds else 0.0,
    )


def _parameter(field: str, name: str) -> int | None:
    """Return a number among the parameters of the first item of a structured field (RFC 9651)."""
    match = re.search(rf";\s*{name}=(\d{{1,9}})\s*(?:;|$)", field.partition(",")[0], re.ASCII)
    return int(match[1]) if match else None


def source_of(reply: HttpReply, age: float) -> str:
    """Return where a card comes from: Cache-Status (RFC 9211) says so, else its age does."""
    status = reply.fields.get("cache-status", "").lower()
    if status:
        parts = [part.strip() for part in status.rpartition(",")[2].split(";")]
        return "cache" if "hit" in parts else "shared" if "collapsed" in parts else "scan"
    return "cache" if age > 120 else "scan"
