"""Single flight: callers who ask for the same thing at the same time share one piece of work."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Generic, TypeVar

from aui_tui.records.progress import ProbeEvent, Progress

T = TypeVar("T")


class _Flight(Generic[T]):
    def __init__(self) -> None:
        self.task: asyncio.Task[T] | None = None
        self.waiting = 0
        self.listeners: list[Progress] = []
        self.events: list[ProbeEvent] = []

    def tell(self, event: ProbeEvent) -> None:
        self.events.append(event)
        for listener in list(self.listeners):
            listener(event)


class Flights(Generic[T]):
    """Work in flight by key, on one event loop."""

    def __init__(self) -> None:
        self._flights: dict[str, _Flight[T]] = {}

    async def run(
        self, key: str, work: Callable[[Progress], Awaitable[T]], progress: Progress | None = None
    ) -> tuple[T, bool]:
        """Return the result of ``work`` and whether another caller had begun it.

        A caller who joins gets the events sent before. Cancelling a caller cancels the work when nobody else waits.
        """
        flight = self._flights.get(key)
        joined = flight is not None
        if flight is None:
            flight = self._flights[key] = _Flight()
            flight.task = asyncio.ensure_future(self._work(key, flight, work))
        if progress is not None:
            for event in flight.events:
                progress(event)
            flight.listeners.append(progress)
        flight.waiting += 1
        task = flight.task
        assert task is not None
        try:
            return await asyncio.shield(task), joined
        finally:
            flight.waiting -= 1
            if progress is not None:
                flight.listeners.remove(progress)
            if flight.waiting == 0 and not task.done():
                if self._flights.get(key) is flight:
                    del self._flights[key]
                task.cancel()
                with suppress(asyncio.CancelledError, Exception):
                    await task

    async def aclose(self) -> None:
        """Cancel whatever is in flight."""
        tasks = [flight.task for flight in self._flights.values() if flight.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _work(self, key: str, flight: _Flight[T], work: Callable[[Progress], Awaitable[T]]) -> T:
        try:
            return await work(flight.tell)
        finally:
            if self._flights.get(key) is flight:
                del self._flights[key]
