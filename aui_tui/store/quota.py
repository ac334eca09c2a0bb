"""At most ten scans in any rolling hour per client, over all processes that share the folder (specification 8)."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from aui_tui.errors import RateLimited, Unavailable
from aui_tui.records.view import Quota
from aui_tui.store.disk import FAULTS, DiskCache, RefusedRow

LIMIT: Final = 10
WINDOW: Final = 3600.0
"""Seconds of the rolling window."""
CLIENTS: Final = 10_000
"""Clients that are remembered for the time of a locked file."""


class QuotaStore:
    """Counts the scans of a client in ``disk``. Never to be called on an event loop.

    A scan counts for WINDOW seconds; a time that lies in the future (a clock set back) is taken for now and written
    back so. While the file cannot be used, the scans of this process are counted in memory.
    """

    def __init__(self, disk: DiskCache, *, limit: int = LIMIT, clock: Callable[[], float] = time.time) -> None:
        self._disk = disk
        self._limit = limit
        self._clock = clock
        self._known: dict[str, list[float]] = {}
        """The times of each client that the file had when it was last read."""
        self._unsaved: dict[str, list[float]] = {}
        """The times that are in no file yet."""
        self._guard = threading.Lock()

    def spend(self, client: str) -> bool:
        """Count one scan of ``client``. Raises RateLimited when none is left.

        Returns False when the file could not be used and the scan counts in this process alone.
        """
        return self._change(client, self._spent)

    def refund(self, client: str) -> bool:
        """Give back the newest scan of ``client``. Returns as :meth:`spend`."""
        return self._change(client, lambda times, now: times[:-1])

    def left(self, client: str) -> Quota:
        """Return what is left for ``client``, spending nothing."""
        now = self._clock()
        kept = self._known.get(client, [])
        with suppress(*FAULTS, Unavailable, RefusedRow):
            kept = self._disk.open().get(_key(client), default=[])
        times = _valid(kept, self._unsaved.get(client, []), now)
        return Quota(
            left=max(self._limit - len(times), 0),
            limit=self._limit,
            next_slot=times[0] + WINDOW if times else 0.0,
        )

    def _spent(self, times: list[float], now: float) -> list[float]:
        if len(times) >= self._limit:
            raise limited(self._limit, times[-self._limit] + WINDOW, now)
        return [*times, now]

    def _change(self, client: str, change: Callable[[list[float], float], list[float]]) -> bool:
        with self._guard:
            try:
                refused = self._disk.change(lambda cache: self._write(cache, client, change))
            except Unavailable:
                now = self._clock()
                known = _valid(self._known.get(client, []), [], now)
                times = change(_valid(known, self._unsaved.get(client, []), now), now)
                self._remember(client, known, times[len(known) :])
                return False
        if refused is not None:
            raise refused
        return True

    def _write(
        self, cache: Any, client: str, change: Callable[[list[float], float], list[float]]
    ) -> RateLimited | None:
        """Change the row of ``client``; a refusal is returned, so that the times it was judged by are written."""
        try:
            kept = cache.get(_key(client), default=[])
        except RefusedRow:
            kept = self._known.get(client, [])
        now = self._clock()
        times, refused = _valid(kept, self._unsaved.get(client, []), now), None
        try:
            times = change(times, now)
        except RateLimited as error:
            refused = error
        cache.set(_key(client), times, expire=2 * WINDOW)
        self._remember(client, times, [])
        return refused

    def _remember(self, client: str, known: list[float], unsaved: list[float]) -> None:
        for memory, times in ((self._known, known), (self._unsaved, unsaved)):
            if len(memory) >= CLIENTS:
                memory.clear()
            memory[client] = times


def _key(client: str) -> str:
    return "quota:" + client


def _valid(kept: Any, unsaved: list[float], now: float) -> list[float]:
    """Return the times still in the window, oldest first, none in the future."""
    found = [*kept, *unsaved] if isinstance(kept, list) else unsaved
    times = [min(float(t), now) for t in found if isinstance(t, int | float) and math.isfinite(t)]
    return sorted(t for t in times if now - t < WINDOW)


def limited(limit: int, reset_at: float, now: float) -> RateLimited:
    """Return the error that says when the next scan is free."""
    wait = max(1, math.ceil(reset_at - now))
    minutes = f"{wait // 60} min {wait % 60} s" if wait >= 60 else f"{wait} s"
    return RateLimited(
        f"The limit of {limit} scans an hour is used up; the next one is free in {minutes}.",
        retry_after=wait,
        reset_at=reset_at,
    )
