"""One scan per host at a time over all processes that share the folder."""

from __future__ import annotations

import os
import platform
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from aui_tui.errors import Unavailable
from aui_tui.store.disk import DiskCache, RefusedRow

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
