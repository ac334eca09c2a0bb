"""What a peer may send over one connection, counted before a parser sees it, and how long one may parse at a time.

Parsers of HTTP spend tens of microseconds on the smallest thing, so bytes alone are no measure: a peer that sends
empty frames, interim responses or chunks of one byte would keep this process busy for as long as it likes.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final, Protocol
from weakref import WeakSet

import httpcore

from aui_tui.engine.network.failures import NetworkError

MAX_INTERIM: Final = 20
"""Interim responses (RFC 9110 15.2) before one final one."""
MAX_FRAME: Final = 1 << 14
"""Payload bytes of an HTTP/2 frame (RFC 9113 4.2, the value that a client starts with and we never raise)."""
FREE_PIECES: Final = 500
"""Frames or chunks that cost nothing: more than an honest answer needs."""
PIECE: Final = 64
"""Bytes of content that a further frame or chunk must carry on average."""
AT_ONCE: Final = 32
"""HTTP/2 frames that are parsed before others get their turn."""
TURN: Final = 0.002
"""Seconds for which the chunks of one body may be parsed before others get their turn."""

HEAVY: Final = 1 << 14
"""Bytes of a head that takes long to parse; of such heads one is parsed in a turn of the event loop."""

_MAX_HEAD: Final = 1 << 17
"""Bytes of a head after which the parser has refused it (h11 does at 100 KiB)."""
_HEAD_END: Final = re.compile(rb"\n\r?\n")
_INTERIM: Final = re.compile(rb"\s*HTTP/\d\.\d 1\d\d\b")
_FRAME_HEAD: Final = 9
_DATA, _HEADERS = 0, 1


class Flooded(httpcore.RemoteProtocolError):
    """The peer sends more small things than an answer needs; the text is what it sends."""


class WireLimits(Protocol):
    """The count of one connection. ``heavy``: what was taken last takes long to parse."""

    heavy: bool

    def asked(self) -> None:
        """Take note that something was sent."""
        ...

    def take(self, data: bytes) -> int:
        """Return how many bytes of ``data`` may be parsed before others get their turn. Raises Flooded."""
        ...


class Http1Limits:
    """Counts the interim responses before each final one."""

    def __init__(self) -> None:
        self.heavy = False
        self._in_head = False
        self._head = bytearray()
        self._interim = 0

    def asked(self) -> None:
        """Expect the head of an answer."""
        self._in_head = True
        self._head.clear()
        self._interim = 0

    def take(self, data: bytes) -> int:
        """Return the length of ``data``. Raises Flooded at one interim response too many."""
        self.heavy = False
        if self._in_head:
            self._scan(data)
        return len(data)

    def _scan(self, data: bytes) -> None:
        start = max(0, len(self._head) - 2)
        self._head += data
        while (end := _HEAD_END.search(self._head, start)) is not None and _INTERIM.match(self._head):
            self._interim += 1
            if self._interim > MAX_INTERIM:
                raise Flooded(f"more than {MAX_INTERIM} interim responses and no answer")
            del self._head[: end.end()]
            start = 0
        if end is not None or len(self._head) > _MAX_HEAD:
            self.heavy = len(self._head) > HEAVY
            self._in_head = False
            self._head.clear()


class Http2Limits:
    """Reads frame headers (RFC 9113 4.1): refuses a long frame by its header, and frames without content by number."""

    def __init__(self) -> None:
        self.heavy = False
        self._head = b""
        self._left = 0
        self._frames = 0
        self._content = 0
        self._heads: Counter[bytes] = Counter()
        self._refused: Flooded | None = None

    def asked(self) -> None:
        """Nothing: what is sent may be an acknowledgement as well."""

    def take(self, data: bytes) -> int:
        """Return the bytes of the next AT_ONCE frames in ``data``. Raises Flooded once those before have been taken."""
        if self._refused is not None:
            raise self._refused
        place = fresh = 0
        while place < len(data) and fresh < AT_ONCE:
            if not self._left:
                missing = _FRAME_HEAD - len(self._head)
                self._head += data[place : place + missing]
                if len(self._head) < _FRAME_HEAD:
                    return len(data)
                head, self._head = self._head, b""
                try:
                    self._count(head)
                except Flooded as error:
                    if not place:
                        raise
                    self._refused = error
                    break
                place += missing
                fresh += 1
            step = min(self._left, len(data) - place)
            place += step
            self._left -= step
        return place

    def _count(self, head: bytes) -> None:
        self._left = int.from_bytes(head[:3], "big")
        if self._left > MAX_FRAME:
            raise Flooded(f"an HTTP/2 frame of {self._left:,} bytes, where {MAX_FRAME:,} are allowed")
        kind = head[3]
        self._frames += 1
        if kind == _DATA:
            self._content += self._left
        elif kind == _HEADERS:
            stream = head[5:]
            self._heads[stream] += 1
            if self._heads[stream] > MAX_INTERIM + 2:  # the answer, and its trailer section
                raise Flooded(f"more than {MAX_INTERIM} interim responses and no answer")
        if self._frames > FREE_PIECES + self._content // PIECE:
            raise Flooded("HTTP/2 frames without content and without end")


_taken: WeakSet[asyncio.AbstractEventLoop] = WeakSet()
"""Event loops whose present turn belongs to somebody."""


async def own_turn() -> None:
    """Return in a turn of the event loop that nobody else has got from here."""
    loop = asyncio.get_running_loop()
    while loop in _taken:  # noqa: ASYNC110 (who waits must not be woken together)
        await asyncio.sleep(0)
    _taken.add(loop)
    loop.call_soon(_taken.discard, loop)


async def paced(chunks: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """Yield ``chunks``, giving others their turn after TURN seconds. Raises NetworkError when they are too tiny."""
    count = content = 0
    due = time.perf_counter() + TURN
    async with aclosing(chunks):
        async for chunk in chunks:
            count += 1
            content += len(chunk)
            if count > FREE_PIECES + content // PIECE:
                raise NetworkError("protocol", "the body comes in pieces of a few bytes and without end", flooded=True)
            if time.perf_counter() > due:
                await asyncio.sleep(0)
                due = time.perf_counter() + TURN
            yield chunk
