"""Limits on scans over all processes that share the folder: ten in any rolling hour per client, one per host at a time.

Specification 8.
"""

from __future__ import annotations

import math
import os
import platform
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from aui_tui.errors import RateLimited, Unavailable
from aui_tui.records.view import Quota
from aui_tui.store.cache import FAULTS, DiskCache, RefusedRow

LIFE: Final = 45.0
"""Seconds after which the lease of a process that died is free; longer than the longest scan."""


class Lease(NamedTuple):
    """A lease that was taken: whose it is and what of."""

    key: str
    owner: str


class Leases:
    """Leases by key. A lease is a row with its owner and an end; a row that cannot be read counts as free.

    The lease of a process that has ended on this machine is free at once, whatever its end.
    """

    def __init__(self, disk: DiskCache, *, clock: Callable[[], float] = time.time) -> None:
        self._disk = disk
        self._clock = clock
        self._place = _place()

    def take(self, key: str) -> Lease | None:
        """Return a lease of ``key``; None while somebody else holds it.

        While the file cannot be used everything counts as free: one scan is better than none.
        """
        try:
            return self.take_many([key])[0]
        except Unavailable:
            return _lease(key)

    def take_many(self, keys: Sequence[str]) -> list[Lease | None]:
        """Return per key a lease, or None while somebody else holds it; in one transaction.

        Raises Unavailable when the file stays locked, is full or cannot be created.
        """
        leases = [_lease(key) for key in keys]

        def work(cache: Any) -> list[Lease | None]:
            now = self._clock()
            taken: list[Lease | None] = []
            for lease in leases:
                free = self._end(cache, lease, now) <= now
                if free:
                    cache.set(lease.key, self._row(lease, now), expire=LIFE)
                taken.append(lease if free else None)
            return taken

        return self._disk.change(work)

    def renew(self, leases: Sequence[Lease]) -> None:
        """Let ``leases`` run for LIFE seconds from now; one that somebody else has taken stays theirs."""
        self._rewrite(leases, lambda cache, lease, now: cache.set(lease.key, self._row(lease, now), expire=LIFE))

    def release(self, lease: Lease) -> None:
        """Give ``lease`` back; one that ran out and was taken by somebody else stays theirs."""
        self.release_many([lease])

    def release_many(self, leases: Sequence[Lease]) -> None:
        """Give ``leases`` back in one transaction; one that somebody else has taken stays theirs."""
        self._rewrite(leases, lambda cache, lease, now: cache.delete(lease.key))

    def _rewrite(self, leases: Sequence[Lease], change: Callable[[Any, Lease, float], object]) -> None:
        def work(cache: Any) -> None:
            now = self._clock()
            for lease in leases:
                if self._end(cache, lease, now) <= now:
                    change(cache, lease, now)

        with suppress(Unavailable):
            self._disk.change(work)

    def _row(self, lease: Lease, now: float) -> dict[str, Any]:
        return {"owner": lease.owner, "end": now + LIFE, "place": self._place, "pid": os.getpid()}

    def _end(self, cache: Any, lease: Lease, now: float) -> float:
        """Return when the lease that somebody else holds on the same key ends, 0 when nobody does."""
        try:
            row = cache.get(lease.key)
        except RefusedRow:
            return 0.0
        if not isinstance(row, dict) or row.get("owner") == lease.owner:
            return 0.0
        if row.get("place") == self._place and _has_ended(row.get("pid")):
            return 0.0
        end = row.get("end")
        return float(end) if isinstance(end, int | float) and end <= now + LIFE else 0.0


def _lease(key: str) -> Lease:
    return Lease("lease:" + key, secrets.token_hex(8))


def _place() -> str:
    """Return a word for the space in which process ids are unique: machine and, on Linux, pid namespace."""
    try:
        return f"{platform.node()} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return platform.node()


def _has_ended(pid: object) -> bool:
    """Say whether no process ``pid`` runs; False where that cannot be asked."""
    if not isinstance(pid, int) or pid <= 0 or os.name != "posix":
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:
        return False
    return False


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
