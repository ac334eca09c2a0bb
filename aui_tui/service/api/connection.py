"""One HTTP connection with the time limits that uvicorn leaves open, and the head of an answer sent with its body."""

from __future__ import annotations

import asyncio
from collections import Counter
from ipaddress import ip_address
from typing import Any, ClassVar, Final

import msgspec
from uvicorn.protocols.http.h11_impl import H11Protocol

from aui_tui.service.api.config import HEAD_SECONDS, MAX_CONNECTIONS, MAX_PER_PEER, STALL_SECONDS, Network
from aui_tui.service.api.requests import identify

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


BAD_REQUEST: Final = msgspec.json.encode(
    {"type": "about:blank", "title": "Bad Request", "status": 400, "detail": "This is not a valid HTTP request."}
)


class Connection(H11Protocol):
    """Closes a peer that is slow to send a request head or to take an answer, or that opens too many connections.

    The class attributes hold for a whole process: limits, ``trusted`` (networks of the operator's proxies, set when
    the application is built), and the connections that are open, in all and by peer.
    """

    head_seconds: ClassVar[float] = HEAD_SECONDS
    stall_seconds: ClassVar[float] = STALL_SECONDS
    most: ClassVar[int] = MAX_CONNECTIONS
    per_peer: ClassVar[int] = MAX_PER_PEER
    trusted: ClassVar[tuple[Network, ...]] = ()
    waiting: ClassVar[dict[Connection, None]] = {}
    """Connections that wait for a request or for the rest of its head, the longest waiting first."""
    open_now: ClassVar[int] = 0
    open_by_peer: ClassVar[Counter[str]] = Counter()

    _head_timer: asyncio.TimerHandle | None = None
    _stall_timer: asyncio.TimerHandle | None = None
    _peer = ""

    @classmethod
    def crowded(cls) -> bool:
        """Return whether more connections are open than the process serves."""
        return cls.open_now > cls.most

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the peer's connections, and start the clock for the first request head."""
        super().connection_made(Joined(transport))
        Connection.open_now += 1
        address = self.client[0] if self.client else ""
        if address and not self._is_proxy(address):
            self._peer = identify(address, (), ())
            self.open_by_peer[self._peer] += 1
            if self.open_by_peer[self._peer] > self.per_peer:
                self.transport.abort()
                return
        if Connection.open_now > self.most:
            self._make_room()
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        Connection.open_now -= 1
        self.waiting.pop(self, None)
        for timer in (self._head_timer, self._stall_timer):
            if timer is not None:
                timer.cancel()
        self._head_timer = self._stall_timer = None
        if self._peer:
            self.open_by_peer[self._peer] -= 1
            if self.open_by_peer[self._peer] <= 0:
                del self.open_by_peer[self._peer]
            self._peer = ""
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes of a request; the clock for its head runs until the head is whole."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._head_is_here()
        elif self._head_timer is None:
            self._await_head()

    def on_response_complete(self) -> None:
        """Close a peer that leaves the end of the answer lying."""
        super().on_response_complete()
        if self.cycle is None or self.cycle.response_complete:
            self.waiting[self] = None
        if self.transport.get_write_buffer_size() and self._stall_timer is None:
            self._stall_timer = self.loop.call_later(self.stall_seconds, self._cut_if_stalled)

    def pause_writing(self) -> None:
        """Start the clock for a peer that does not take the answer."""
        super().pause_writing()
        if self._stall_timer is None:
            self._stall_timer = self.loop.call_later(self.stall_seconds, self._cut_if_stalled)

    def resume_writing(self) -> None:
        """Stop that clock."""
        super().resume_writing()
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are not an HTTP request with problem details, and close."""
        head = (
            "HTTP/1.1 400 Bad Request\r\nContent-Type: application/problem+json\r\n"
            f"Content-Length: {len(BAD_REQUEST)}\r\nConnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + BAD_REQUEST)
        self.transport.close()

    def _is_proxy(self, address: str) -> bool:
        try:
            peer = ip_address(address.partition("%")[0])
        except ValueError:
            return False
        return any(peer in network for network in self.trusted)

    @classmethod
    def _make_room(cls) -> None:
        """Close the connection that has waited for a request for the longest time, of the peer that holds the most."""
        if cls.waiting:
            idle = max(cls.waiting, key=lambda one: cls.open_by_peer[one._peer])
            cls.waiting.pop(idle)
            idle.transport.abort()

    def _await_head(self) -> None:
        self._head_is_here()
        self.waiting[self] = None
        self._head_timer = self.loop.call_later(self.head_seconds, self._cut)

    def _head_is_here(self) -> None:
        self.waiting.pop(self, None)
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _cut(self) -> None:
        self.transport.abort()

    def _cut_if_stalled(self) -> None:
        self._stall_timer = None
        if self.transport.get_write_buffer_size():
            self.transport.abort()
