"""Readers in front of the HTTP parsers: heads of HTTP/1 and frames of HTTP/2, tidied, counted and bounded. Pure.

Parsers of HTTP spend tens of microseconds on the smallest thing, so a count of bytes is not enough: a peer that sends
empty frames, interim responses or chunks of one byte would keep this process busy for as long as it likes. So what
arrives is counted first, and handed on in portions between which others get their turn.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

import h2.exceptions

from aui_tui.scan.network.replies import Flooded

MAX_INTERIM: Final = 20
"""Interim responses (RFC 9110 15.2) before one final one."""
MAX_FRAME_BYTES: Final = 1 << 14
"""Payload bytes of an HTTP/2 frame (RFC 9113 4.2, the value that a client starts with and we never raise)."""
FREE_PIECES: Final = 500
"""Frames or chunks of any size that are accepted: more than an honest answer needs."""
MIN_PIECE_BYTES: Final = 64
"""Bytes of content that frames or chunks beyond FREE_PIECES must carry on average."""
FRAMES_PER_TURN: Final = 32
"""HTTP/2 frames that are parsed before others get their turn."""
HEAVY_HEAD_BYTES: Final = 1 << 14
"""Bytes of a head that takes long to parse: only one such head is parsed in a turn of the event loop."""

_MAX_HEAD: Final = 1 << 17
"""Bytes of a head after which the parser has refused it (h11 does at 100 KiB)."""
_HEAD_END: Final = re.compile(rb"\n\r?\n")
_INTERIM: Final = re.compile(rb"\s*HTTP/\d\.\d 1\d\d\b")


_LINE_END: Final = re.compile(rb"\r?\n")
_NAME: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_STATUS_LINE: Final = re.compile(rb"HTTP/\d\.\d \d{3}")
_UNPRINTABLE: Final = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")
MAX_JUNK_BYTES: Final = 4
"""Octets before a status line that a browser passes over."""


def tidy_head(head: bytes) -> bytes:
    """Return the ``head`` of an HTTP/1 answer, its blank line included, without what browsers drop.

    These are lines that are no field (a warning printed before the page), blanks around names, control characters, a
    Transfer-Encoding other than chunked, a Content-Length that is no number, and blank lines before the status line.
    """
    lines = _LINE_END.split(head)[:-2]
    fields: list[bytes] = []
    chunked = any(line.lower().startswith(b"transfer-encoding") and b"chunked" in line.lower() for line in lines)
    for line in lines[1:]:
        if line[:1] in (b" ", b"\t") and fields:
            fields[-1] += b" " + _UNPRINTABLE.sub(b"", line).strip()
            continue
        name, colon, value = line.partition(b":")
        name, value = name.strip(), _UNPRINTABLE.sub(b"", value).strip()
        folded = name.lower()
        sizes = {size.strip() for size in value.split(b",")} if folded == b"content-length" else set()
        odd = sizes and (chunked or len(sizes) > 1 or not next(iter(sizes)).isdigit())
        if colon and _NAME.fullmatch(name) and not odd and folded != b"transfer-encoding":
            fields.append(name + b": " + value)
    fields += [b"Transfer-Encoding: chunked"] if chunked else []
    return b"\r\n".join((lines[0], *fields, b"", b""))


class HeadReader:
    """Holds the head of each HTTP/1 answer back until it is whole, and passes it on as :func:`tidy_head` leaves it.

    ``heavy``: the head that was passed on last takes long to parse.
    """

    def __init__(self) -> None:
        self.heavy = False
        self._held = bytearray()
        self._in_head = False
        self._interim = 0

    def expect_head(self) -> None:
        """Expect the head of an answer."""
        self._in_head = True
        self._interim = 0

    def take(self, data: bytes) -> bytes:
        """Return what may be parsed after ``data``: nothing while a head is not whole. Empty ``data``: the end.

        Raises Flooded after more than MAX_INTERIM interim responses.
        """
        self.heavy = False
        if not self._in_head:
            return data
        start = max(0, len(self._held) - 3)
        self._held += data
        out = b""
        while self._in_head:
            junk = len(self._held) - len(self._held.lstrip(b"\r\n"))
            if 0 < junk <= MAX_JUNK_BYTES:
                del self._held[:junk]
                start = 0
            end = _HEAD_END.search(self._held, start)
            complete = end is not None and _STATUS_LINE.match(self._held)
            if data and end is None and len(self._held) <= _MAX_HEAD:
                return out
            self.heavy |= len(self._held) > HEAVY_HEAD_BYTES if end is None else end.end() > HEAVY_HEAD_BYTES
            self._in_head = bool(complete and _INTERIM.match(self._held) and not self._held.startswith(b"HTTP/1.1 101"))
            self._interim += self._in_head
            if self._interim > MAX_INTERIM:
                raise Flooded(f"more than {MAX_INTERIM} interim responses and no answer")
            if end is not None and complete:
                out += tidy_head(bytes(self._held[: end.end()]))
                del self._held[: end.end()]
            start = 0
        out += bytes(self._held)
        self._held.clear()
        return out


_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_FRAME_HEAD: Final = 9
_DATA, _HEADERS, _RST, _GOAWAY = 0, 1, 3, 7
NOT_COVERED: Final = 0xF0
"""The error code of streams that a GOAWAY does not cover, one that RFC 9113 7 does not assign."""


class FrameReader:
    """Reads the frames of one HTTP/2 connection (RFC 9113 4.1) before a parser does.

    It refuses a frame that is too long by its header, and frames without content when there are too many. After an
    orderly GOAWAY it lets the streams finish that the GOAWAY covers, and resets the others, so that their requests are
    sent again: httpcore ends all streams at a GOAWAY; servers send one after their last request of a connection (nginx
    ``keepalive_requests``) or before they are replaced (RFC 9113 6.8).
    """

    def __init__(self) -> None:
        self.last: int | None = None
        """The last stream that the server answers, once it has said so."""
        self._in, self._out = bytearray(), bytearray()
        self._left = 0
        self._asked: list[int] = []
        self._frames = self._content = 0
        self._heads: Counter[bytes] = Counter()
        self._refused: Flooded | None = None

    @property
    def waiting(self) -> bool:
        """Something has come that was not returned."""
        return bool(self._in)

    def sent(self, data: bytes) -> None:
        """Note the streams that are opened by what is sent."""
        self._out += data.removeprefix(_PREFACE)
        while len(self._out) >= _FRAME_HEAD:
            size = _FRAME_HEAD + int.from_bytes(self._out[:3], "big")
            if len(self._out) < size:
                return
            if self._out[3] == _HEADERS:
                self._asked.append(int.from_bytes(self._out[5:9], "big"))
            del self._out[:size]

    def received(self, data: bytes) -> None:
        """Take what has come."""
        self._in += data

    def next(self) -> bytes:
        """Return at most FRAMES_PER_TURN frames of what has come; a frame's header and a GOAWAY when they are whole.

        Raises Flooded, after the frames before the flood have been returned; ProtocolError of h2 where HTTP/1.1 comes:
        some servers agree on ``h2`` in the handshake and speak HTTP/1.1 all the same.
        """
        out = bytearray()
        fresh = 0
        while self._in and self._refused is None:
            if not self._left:
                if len(self._in) < _FRAME_HEAD or fresh == FRAMES_PER_TURN:
                    break
                if self._frames == 0 and self._in.startswith(b"HTTP/1."):
                    raise h2.exceptions.ProtocolError("the server answers in HTTP/1.1")
                size, kind = int.from_bytes(self._in[:3], "big"), self._in[3]
                if kind == _GOAWAY and 8 <= size <= MAX_FRAME_BYTES:
                    if len(self._in) < _FRAME_HEAD + size:
                        break
                    if not any(self._in[_FRAME_HEAD + 4 : _FRAME_HEAD + 8]):
                        self.last = int.from_bytes(self._in[_FRAME_HEAD : _FRAME_HEAD + 4], "big") & 0x7FFFFFFF
                        del self._in[: _FRAME_HEAD + size]
                        continue
                reason = self._flood_reason(size, kind, bytes(self._in[5:_FRAME_HEAD]))
                if reason:
                    self._refused = Flooded(reason)
                    break
                self._left = _FRAME_HEAD + size
                fresh += 1
            piece = self._in[: self._left]
            out += piece
            self._left -= len(piece)
            del self._in[: len(piece)]
        if self._refused is not None and not out:
            raise self._refused
        return bytes(out) + self._resets()

    def _resets(self) -> bytes:
        """Return a RST_STREAM for each stream that the GOAWAY does not cover, as if the server had reset it."""
        if self.last is None:
            return b""
        lost = [stream for stream in self._asked if stream > self.last]
        self._asked.clear()
        head = b"\x00\x00\x04" + bytes((_RST, 0))
        return b"".join(head + stream.to_bytes(4, "big") + NOT_COVERED.to_bytes(4, "big") for stream in lost)

    def _flood_reason(self, size: int, kind: int, stream: bytes) -> str:
        """Count a frame; return why it is refused, empty when it is not."""
        self._frames += 1
        self._content += size if kind == _DATA else 0
        self._heads[stream] += kind == _HEADERS
        if size > MAX_FRAME_BYTES:
            return f"an HTTP/2 frame of {size:,} bytes, where {MAX_FRAME_BYTES:,} are allowed"
        if self._heads[stream] > MAX_INTERIM + 2:  # the answer, and its trailer section
            return f"more than {MAX_INTERIM} interim responses and no answer"
        empty = self._frames > FREE_PIECES + self._content // MIN_PIECE_BYTES
        return "HTTP/2 frames without content and without end" if empty else ""
