"""A transport that sends the head of an answer together with its body."""

from __future__ import annotations

import asyncio
from typing import Any, Final

FULL: Final = 64 * 1024
"""Bytes from which on nothing more is waited for."""


class Joined(asyncio.Transport):
    """Passes on what is written in one turn of the event loop as one write: one packet and one system call.

    The HTTP server writes head and body one after the other.
    """

    def __init__(self, inner: asyncio.Transport) -> None:
        super().__init__()
        self._inner = inner
        self._loop = asyncio.get_running_loop()
        self._held: list[bytes] = []
        self._size = 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Take ``data``; it goes out in this turn of the loop."""
        if not self._held:
            self._loop.call_soon(self._send)
        self._held.append(bytes(data))
        self._size += len(data)
        if self._size >= FULL:
            self._send()

    def _send(self) -> None:
        if self._held:
            data = b"".join(self._held) if len(self._held) > 1 else self._held[0]
            self._held.clear()
            self._size = 0
            self._inner.write(data)

    def close(self) -> None:
        """Send what is held, then close."""
        self._send()
        self._inner.close()

    def abort(self) -> None:
        """Close at once; what is held is lost."""
        self._held.clear()
        self._size = 0
        self._inner.abort()

    def get_write_buffer_size(self) -> int:
        """Return the bytes that have not left yet."""
        return self._inner.get_write_buffer_size() + self._size

    def is_closing(self) -> bool:
        """Return whether the transport is closing or closed."""
        return self._inner.is_closing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Return what is known of the connection."""
        return self._inner.get_extra_info(name, default)

    def pause_reading(self) -> None:
        """Stop reading."""
        self._inner.pause_reading()

    def resume_reading(self) -> None:
        """Go on reading."""
        self._inner.resume_reading()
