"""Telling what became of the rows, in order, on a thread of its own.

Whoever reads our output may pause for as long as they like: results go on being written and leases being renewed.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

from aui_tui.crawl.outcome import Done


class Teller:
    """Calls ``tell`` for each row, on a thread that ends with ``end``. To be made and used on an event loop."""

    def __init__(self, tell: Callable[[Done], None]) -> None:
        self._tell = tell
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[tuple[Sequence[Done], asyncio.Future[None]] | None] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="aui-tell", daemon=True).start()

    def put(self, dones: Sequence[Done]) -> asyncio.Future[None]:
        """Tell ``dones`` after those that were put before; the future ends with it and holds what ``tell`` raised."""
        told: asyncio.Future[None] = self._loop.create_future()
        self._queue.put((dones, told))
        return told

    async def end(self, patience: float) -> None:
        """Wait at most ``patience`` seconds for everything to be told; what is not told then stays untold."""
        last = self.put(())
        self._queue.put(None)
        await asyncio.wait([last], timeout=patience)

    def _work(self) -> None:
        while (item := self._queue.get()) is not None:
            dones, told = item
            error: Exception | None = None
            try:
                for done in dones:
                    self._tell(done)
            except Exception as raised:
                error = raised
            with suppress(RuntimeError):  # the loop has ended: nobody waits any more
                self._loop.call_soon_threadsafe(_resolve, told, error)


def _resolve(told: asyncio.Future[None], error: Exception | None) -> None:
    if told.done():
        return
    if error is None:
        told.set_result(None)
    else:
        told.set_exception(error)
