"""What another's answer means: errors of any shape become one clear sentence, header fields become figures."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import IO, Any, Final, NamedTuple

import msgspec

from aui_tui.errors import AuiError, BadValue, InvalidHost, NeverScanned, RateLimited, Unavailable
from aui_tui.records.view import Quota
from aui_tui.text import clean

UNKNOWN_WAIT: Final = 3600
"""Seconds to wait when a 429 does not say how long: the whole window (specification 8)."""
INDEX, SITE, SCAN = "index", "site", "scan"
_ITEM: Final = re.compile(r'^\s*"?[^";]*"?\s*;(.*)$')


class Reply(NamedTuple):
    """An answer as received: status, fields with names in lower case, and the body.

    ``file`` holds the body of a long answer, of which ``body`` is the beginning.
    """

    status: int
    fields: Mapping[str, str]
    body: bytes = b""
    file: IO[bytes] | None = None

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
    said = f": {words.detail}" if words.detail else ""
    status = reply.status
    if status == 429:
        return _limited(reply, words, label, now)
    if status == 404 and operation == SITE:
        return NeverScanned(asked)
    if status == 400 and words.allowed:
        return BadValue(words.detail or f"{label} refuses a value.", allowed=words.allowed)
    if status == 400 and operation == SCAN:
        return InvalidHost(words.detail or f"{label} calls {clean(asked, 80)!r} an invalid host.")
    if status == 404:
        return Unavailable(f"{label} publishes no index: there is nothing at /api/{_PATHS[operation]} (404).")
    if status in (401, 403, 407):
        return Unavailable(f"{label} refuses access ({status}){said or '.'}")
    if 300 <= status <= 399:
        target = clean(reply.fields.get("location", ""), 200)
        return Unavailable(
            f"{label} has moved" + (f" to {target}; give that address as the source." if target else ".")
        )
    if 500 <= status <= 599:
        return Unavailable(f"{label} cannot answer now ({status}){said or '.'}")
    return Unavailable(f"{label} answers with an unexpected status ({status}){said or '.'}")


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
    after = f"The next one is free in {spoken(wait)}." if wait is not None else "It does not say when to come back."
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
    for size, word in ((86400 * 2, "days"), (3600 * 2, "h"), (120, "min")):
        if seconds >= size:
            unit = {"days": 86400, "h": 3600, "min": 60}[word]
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
    """Return the scans left as RateLimit and RateLimit-Policy tell them; None when they do not."""
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
    """Return the time by the source's clock, ours when it does not tell."""
    moment = http_time(reply.fields.get("date", ""))
    if moment is None:
        return now
    return moment
