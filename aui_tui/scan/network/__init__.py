"""The only part of the engine that opens sockets and speaks HTTP.

A ``Network`` serves one scan. SNI and Host keep the name while the checked address is dialled; nothing is taken from
the environment, neither proxies nor .netrc.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from http import HTTPStatus
from typing import Final

from aui_tui.scan.network.chain import Chains
from aui_tui.scan.network.client import BodyLimiter, HttpClient, ScanClient, Transport, load, ssl_context
from aui_tui.scan.network.replies import BROKEN_OFF, HTTP1_ONLY, HTTP2_ONLY, NO_TLS, NetworkError, Reply
from aui_tui.scan.network.routes import Routes, system_resolver
from aui_tui.scan.network.streams import Stream, save_tls_memory
from aui_tui.scan.policy import ScanPolicy
from aui_tui.scan.target import Origin

__all__ = [
    "BROKEN_OFF",
    "HTTP1_ONLY",
    "HTTP2_ONLY",
    "NO_TLS",
    "BodyLimiter",
    "HttpClient",
    "Network",
    "NetworkError",
    "Reply",
    "Routes",
    "Stream",
    "load",
    "save_tls_memory",
    "ssl_context",
    "system_resolver",
]


_CLOSING_TURNS: Final = 3
"""Turns of the event loop after which an aborted transport has closed its socket, TLS included."""


class Network:
    """One scan's way out: every client shares its look-ups and has sockets of its own.

    An async context manager: at its end no connection and no look-up of the scan is left.
    """

    def __init__(self, access: ScanPolicy) -> None:
        self._access = access
        self._routes = Routes(access)
        self._client = ScanClient()
        self._large_bodies = BodyLimiter()
        self.chains = Chains(access, self._routes, self._download)

    async def __aenter__(self) -> Network:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.chains.close()
        self._routes.close()
        await self._client.aclose()
        for _turn in range(_CLOSING_TURNS):
            await asyncio.sleep(0)

    def client(self, *, http2: bool = True) -> HttpClient:
        """Return a client for one identity, to be used as an async context manager; ``http2``: it offers HTTP/2."""
        transport = Transport(self._access, self._routes, self.chains, http2=http2)
        return HttpClient(self._client, transport, self._large_bodies, self._access.limits.patience)

    async def _download(self, origin: Origin, path: str, most: int) -> bytes:
        body = bytearray()
        async with (
            self.client(http2=False) as client,
            client.get(origin, path, ()) as reply,
            aclosing(reply.chunks) as chunks,
        ):
            async for chunk in chunks:
                body += chunk
                if len(body) > most:
                    raise NetworkError("protocol", f"more than {most} bytes at {origin}")
        return bytes(body) if reply.status == HTTPStatus.OK else b""
