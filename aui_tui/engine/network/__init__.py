"""The only part of the engine that opens sockets and speaks HTTP.

A ``Network`` serves one scan. SNI and Host keep the name while the checked address is dialled; nothing is taken from
the environment, neither proxies nor .netrc.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Final

from aui_tui.engine.access import Access
from aui_tui.engine.addresses import is_public
from aui_tui.engine.network.client import Client, Field, Reply
from aui_tui.engine.network.failures import NetworkError
from aui_tui.engine.network.routes import Routes

__all__ = ["Client", "Field", "Network", "NetworkError", "Reply", "is_public"]


_FAREWELL_TURNS: Final = 3
"""Turns of the event loop after which an aborted transport has closed its socket, TLS included."""


class Network:
    """One scan's way out: every client shares its look-ups and has sockets of its own.

    An async context manager: at its end no connection and no look-up of the scan is left.
    """

    def __init__(self, access: Access) -> None:
        self._access = access
        self._routes = Routes(access)

    async def __aenter__(self) -> Network:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._routes.close()
        for _ in range(_FAREWELL_TURNS):
            await asyncio.sleep(0)

    def client(self) -> Client:
        """Return a client for one identity, to be used as an async context manager."""
        return Client(self._access, self._routes)
