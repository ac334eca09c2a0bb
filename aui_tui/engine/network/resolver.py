"""Name look-ups that cannot hold up one another: ``getaddrinfo`` in two tiers of own threads.

``getaddrinfo`` has no time limit and cannot be cancelled. Every look-up starts in the quick tier; one that takes
longer than ``patience`` moves, with its thread, into the slow tier and frees its place, so that names with dead
servers never queue in front of others. Threads are daemons: none keeps the process from ending.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final
from weakref import WeakKeyDictionary

QUICK: Final = 64
SLOW: Final = 256
SLOW_AFTER: Final = 1.0
"""Seconds after which a look-up counts as slow."""

Lookup = Callable[[str], Sequence[str]]


def system_lookup(host: str) -> tuple[str, ...]:
    """Return the addresses of ``host`` in the system's order (RFC 6724), each once. Raises OSError; may block."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


class TieredResolver:
    """Look-ups for one event loop; at most ``quick`` fresh and ``slow`` overdue ones run at a time."""

    def __init__(
        self, lookup: Lookup = system_lookup, *, quick: int = QUICK, slow: int = SLOW, patience: float = SLOW_AFTER
    ) -> None:
        self._lookup = lookup
        self._patience = patience
        self._places = asyncio.Semaphore(quick)
        self._slow_places = slow

    async def __call__(self, host: str) -> Sequence[str]:
        """Return the addresses of ``host``. Raises OSError (``socket.gaierror`` when there is no such name)."""
        await self._places.acquire()
        return await asyncio.shield(self._start(host))

    def _start(self, host: str) -> asyncio.Future[Sequence[str]]:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Sequence[str]] = loop.create_future()
        slow = False

        def overdue() -> None:
            nonlocal slow
            if self._slow_places > 0 and not answer.done():
                slow = True
                self._slow_places -= 1
                self._places.release()

        def ended(future: asyncio.Future[Sequence[str]]) -> None:
            timer.cancel()
            if slow:
                self._slow_places += 1
            else:
                self._places.release()
            if not future.cancelled():
                future.exception()

        def settle(result: Sequence[str], error: OSError | None) -> None:
            if answer.done():
                return
            if error is None:
                answer.set_result(result)
            else:
                answer.set_exception(error)

        def work() -> None:
            result: Sequence[str] = ()
            error: OSError | None = None
            try:
                result = self._lookup(host)
            except OSError as caught:
                error = caught
            except UnicodeError as caught:
                error = OSError(str(caught))
            with suppress(RuntimeError):  # the loop has ended: nobody waits any more
                loop.call_soon_threadsafe(settle, result, error)

        timer = loop.call_later(self._patience, overdue)
        answer.add_done_callback(ended)
        threading.Thread(target=work, name="aui-lookup", daemon=True).start()
        return answer


_resolvers: WeakKeyDictionary[asyncio.AbstractEventLoop, TieredResolver] = WeakKeyDictionary()


def system_resolver() -> TieredResolver:
    """Return the running event loop's resolver, shared by all its scans."""
    loop = asyncio.get_running_loop()
    found = _resolvers.get(loop)
    if found is None:
        found = _resolvers[loop] = TieredResolver()
    return found
