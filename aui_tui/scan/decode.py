"""Content codings with a limit on what comes out (RFC 9110 8.4)."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, Protocol

import brotli

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MAX_CODINGS: Final = 2
_STEP: Final = 1 << 16
MAX_MEMBERS: Final = 1000
"""Members of one gzip body that are read: a megabyte in blocks of a kilobyte. Empty ones would cost time alone."""
_MAGIC_BYTES: Final = 2
_ZSTD_OPTIONS: Final[dict[int, int]] = {zstd.DecompressionParameter.window_log_max: 23}
"""A window of at most 8 MiB, as a client of HTTP takes it (RFC 9659 3)."""


_BROKEN: Final = "the body is not compressed as its Content-Encoding says"


class DecodeError(ValueError):
    """The bytes are not of the coding that the header names."""


class Decoder(Protocol):
    """One coding: feeds give at most about ``room`` bytes each and keep the rest for the next call."""

    def feed(self, data: bytes, room: int) -> bytes:
        """Return decoded bytes; call again with no data while the result is not empty. Raises DecodeError."""
        ...

    @property
    def whole(self) -> bool:
        """Whether what was fed so far ends where the coding may end."""
        ...


class _Zlib:
    """gzip of any number of members (RFC 1952 2.2), and deflate with or without its zlib wrapper."""

    def __init__(self, *, deflate: bool) -> None:
        self._deflate = deflate
        self._inner: zlib._Decompress | None = None
        self._rest = b""
        self._members = 0

    def feed(self, data: bytes, room: int) -> bytes:
        data = self._rest + data
        self._rest = b""
        while data and self._members <= MAX_MEMBERS:
            if self._inner is None:
                if len(data) < _MAGIC_BYTES:
                    self._rest = data
                    break
                window = self._window(data)
                if window is None:
                    break
                self._inner = zlib.decompressobj(window)
            try:
                out = self._inner.decompress(data, room)
            except zlib.error as error:
                raise DecodeError(_BROKEN) from error
            if self._inner.eof:
                data, self._inner = self._inner.unused_data, None
                self._members += 1
            else:
                data = self._inner.unconsumed_tail
            if out:
                self._rest = data
                return out
        return b""

    @property
    def whole(self) -> bool:
        return self._inner is None and not self._rest and self._members <= MAX_MEMBERS

    def _window(self, data: bytes) -> int | None:
        """Return zlib's window bits for what begins with ``data``; None for bytes after the last member."""
        if data.startswith(b"\x1f\x8b"):
            return zlib.MAX_WBITS | 16
        if self._members:
            return None
        if self._deflate:
            wrapped = data[0] & 0x0F == zlib.DEFLATED and int.from_bytes(data[:2], "big") % 31 == 0
            return zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS
        raise DecodeError(_BROKEN)


class _Brotli:
    def __init__(self) -> None:
        self._inner = brotli.Decompressor()
        self._rest = b""
        self._fresh = True

    def feed(self, data: bytes, room: int) -> bytes:
        self._rest += data
        self._fresh = self._fresh and not data
        try:
            while not self._inner.is_finished():
                taken = b""
                if self._inner.can_accept_more_data():
                    taken, self._rest = self._rest, b""
                    if not taken:
                        break
                out = bytes(self._inner.process(taken, output_buffer_limit=room))
                if out or not taken:
                    return out
        except brotli.error as error:
            raise DecodeError(_BROKEN) from error
        return b""

    @property
    def whole(self) -> bool:
        return self._inner.is_finished() or self._fresh


class _Zstd:
    """Zstandard of any number of frames (RFC 8878 3)."""

    def __init__(self) -> None:
        self._inner = zstd.ZstdDecompressor(options=_ZSTD_OPTIONS)
        self._fresh = True

    def feed(self, data: bytes, room: int) -> bytes:
        self._fresh = self._fresh and not data
        try:
            while True:
                if self._inner.eof:
                    data = self._inner.unused_data + data
                    if not data:
                        return b""
                    self._inner = zstd.ZstdDecompressor(options=_ZSTD_OPTIONS)
                if not data and self._inner.needs_input:
                    return b""
                out = self._inner.decompress(data, room)
                data = b""
                if out:
                    return out
        except zstd.ZstdError as error:
            raise DecodeError(_BROKEN) from error

    @property
    def whole(self) -> bool:
        return self._fresh or (self._inner.eof and not self._inner.unused_data)


_CODINGS: Final[Mapping[str, Callable[[], Decoder]]] = {
    "gzip": partial(_Zlib, deflate=False),
    "x-gzip": partial(_Zlib, deflate=False),
    "deflate": partial(_Zlib, deflate=True),
    "br": _Brotli,
    "zstd": _Zstd,
}


def decoders(content_encoding: str) -> list[Decoder] | None:
    """Return the decoders that undo ``content_encoding``, the last coding first; None when too deep.

    An identity needs no decoder. Where a coding is unknown nothing is decoded, as in browsers.
    """
    names = [name for name in (part.strip().lower() for part in content_encoding.split(",")) if name]
    if len(names) > MAX_CODINGS:
        return None
    if not _CODINGS.keys() >= set(names) - {"identity"}:
        return []
    return [_CODINGS[name]() for name in reversed(names) if name != "identity"]


def decode(chain: Sequence[Decoder], data: bytes, room: int) -> bytes:
    """Return what ``data`` decodes to, at most ``room`` bytes; the rest is lost once the room is used up.

    Raises DecodeError.
    """
    if not chain:
        return data[: max(room, 0)]
    first, *others = chain
    parts: list[bytes] = []
    left = room
    while left > 0:
        step = first.feed(data, min(_STEP, left) if not others else _STEP)
        data = b""
        if not step:
            break
        parts.append(decode(others, step, left))
        left -= len(parts[-1])
    return b"".join(parts)[:room]
