"""The only part of the engine that opens sockets and speaks HTTP.

A ``Network`` serves one scan. SNI and Host keep the name while the checked address is dialled; nothing is taken from
the environment, neither proxies nor .netrc.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

from aui_tui.scan.network.client import Client, load, ssl_context
from aui_tui.scan.network.fast import ClientBatch, OriginClient, PyreqwestTransport, installed
from aui_tui.scan.network.routes import Routes, settle, system_resolver
from aui_tui.scan.network.streams import NetworkError, Reply, Stream, save_tls_memory
from aui_tui.scan.policy import ScanPolicy
from aui_tui.scan.target import Origin, is_public

__all__ = [
    "Client",
    "Network",
    "NetworkError",
    "PyreqwestTransport",
    "Reply",
    "Routes",
    "Stream",
    "installed",
    "is_public",
    "load",
    "save_tls_memory",
    "settle",
    "ssl_context",
    "system_resolver",
]


_CLOSING_TURNS: Final = 3
"""Turns of the event loop after which an aborted transport has closed its socket, TLS included."""


class Network:
    """One scan's way out: every client shares its look-ups and has sockets of its own.

    An async context manager: at its end no connection and no look-up of the scan is left.
    ``fast``: the extra ``fast``, shared with other scans.
    """

    def __init__(self, access: ScanPolicy, fast: PyreqwestTransport | None = None) -> None:
        self._access = access
        self._routes = Routes(access)
        self._fast = fast
        self._batch: ClientBatch | None = None
        self._origin_clients: list[OriginClient] = []

    async def __aenter__(self) -> Network:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._fast is not None and self._batch is not None:
            self._fast.leave(self._batch)
        self._routes.close()
        for _turn in range(_CLOSING_TURNS):
            await asyncio.sleep(0)

    def client(self, *, http2: bool = True) -> Client:
        """Return a client for one identity, to be used as an async context manager; ``http2``: it offers HTTP/2."""
        origin_client = next((client for client in self._origin_clients if client.http2 == http2), None)
        if origin_client is not None:
            self._origin_clients.remove(origin_client)
        return Client(self._access, self._routes, origin_client, http2=http2)

    async def prepare(self, origin: Origin) -> None:
        """Let the first clients ask ``origin`` by way of ``fast``; without one there is nothing to do."""
        if self._fast is None or not self._fast.serves(origin.host):
            return
        with suppress(NetworkError):  # the first request reports it
            addresses, port = await self._routes.resolve(origin.host, origin.port)
            self._batch = await self._fast.join(origin.host, addresses[0], port)
            self._origin_clients = self._batch.origin_clients(origin)
