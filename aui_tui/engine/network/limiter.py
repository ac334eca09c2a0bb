"""Places for the requests of one identity: in a crawl they share one connection while it serves them in time."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress


class RequestLimiter:
    """One request at a time over HTTP/1.1, all at once after :meth:`widen` (HTTP/2) or with no ``patience``.

    A site that answers sees one connection for a page and its files, and not a burst that its limits may punish; one
    that holds a request back delays the others by ``patience`` seconds at most.
    """

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._free = 1
        self._wide = patience <= 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def place(self) -> AsyncIterator[float]:
        """Hold a place while a request is under way, and yield the seconds waited for it; first come, first served."""
        began = time.monotonic()
        if self._free:
            self._free -= 1
        elif not self._wide:
            await self._wait()
        try:
            yield time.monotonic() - began
        finally:
            self._give()

    def widen(self) -> None:
        """Let everybody through: the connection carries many requests at once."""
        self._wide = True
        while self._waiting:
            self._waiting.popleft().set_result(None)

    async def _wait(self) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await asyncio.wait([turn], timeout=self._patience)
        except asyncio.CancelledError:
            if turn.done():
                self._give()
            raise
        finally:
            with suppress(ValueError):
                self._waiting.remove(turn)

    def _give(self) -> None:
        if self._waiting:
            self._waiting.popleft().set_result(None)
        else:
            self._free += 1
