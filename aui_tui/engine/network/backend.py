"""The seam to httpcore: one identity's sockets, opened along the scan's routes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import httpcore

from aui_tui.engine.network.failures import ConnectFailed, NetworkError
from aui_tui.engine.network.routes import Routes
from aui_tui.engine.network.streams import Stream


class Backend(httpcore.AsyncNetworkBackend):
    """Opens connections for one client and can drop them all."""

    def __init__(self, routes: Routes) -> None:
        self._routes = routes
        self._opened: list[Stream] = []

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Return a connection to a checked address of ``host`` (httpcore's interface). Raises ConnectFailed."""
        try:
            stream = await self._routes.connect(host, port)
        except NetworkError as error:
            raise ConnectFailed(error) from error
        self._opened.append(stream)
        return stream

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None
    ) -> httpcore.AsyncNetworkStream:
        """Refuse: a scan has no use for local sockets."""
        raise ConnectFailed(NetworkError("address", "local sockets are never dialled"))

    async def sleep(self, seconds: float) -> None:
        """Sleep (httpcore's interface)."""
        await asyncio.sleep(seconds)

    def abort(self, protocol: str = "") -> None:
        """Drop every connection, or those that negotiated ``protocol`` (ALPN) alone."""
        for stream in self._opened:
            if not protocol or stream.protocol == protocol:
                stream.abort()
