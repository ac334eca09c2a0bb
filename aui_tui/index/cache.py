"""What the processes of a data folder share: who was scanned in the last 24 h, scans of the last hour, and leases.

All are entries of one diskcache, to be lost without harm: what was seen lies in the index.
"""

from __future__ import annotations

import math
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import diskcache
import msgspec
from diskcache.core import MODE_RAW

from aui_tui.errors import RateLimited, Unavailable
from aui_tui.index import folder
from aui_tui.index.database import is_damage
from aui_tui.model.card import ReportCard
from aui_tui.model.quota import Quota
from aui_tui.text import clean

BUSY: Final = 0.5
"""Longest wait in seconds for another process's lock."""
SIZE_LIMIT: Final = 64 * 1024 * 1024
"""Bytes above which the oldest entries go: some 300,000 of them."""


class JsonDisk(diskcache.Disk):  # type: ignore[misc]  # diskcache has no types
    """JSON inside rows alone: diskcache's own unpickles and opens what a planted row names (CVE-2025-69872)."""

    def store(self, value: Any, read: bool, key: Any = None) -> tuple[int, int, None, str]:
        """Return the columns of a row for ``value``."""
        return 0, MODE_RAW, None, msgspec.json.encode(value).decode()

    def fetch(self, mode: Any, filename: Any, value: Any, read: bool) -> Any:
        """Return the value of a row; None for one that is not ours."""
        if mode == MODE_RAW and filename is None:
            with suppress(msgspec.DecodeError, RecursionError, TypeError):
                return msgspec.json.decode(value)
        return None

    def get(self, key: Any, raw: Any) -> Any:
        """Return the key of a row; empty for one that is not ours."""
        return key if raw else ""

    def remove(self, file_path: Any) -> None:
        """Leave every file alone."""


class SharedCache:
    """The diskcache in ``path``. Never to be used on an event loop.

    ``warnings`` holds sentences for the user, such as that a damaged file was set aside.
    """

    def __init__(self, path: Path) -> None:
        self.path = path / "cache.db"
        self.warnings: list[str] = []
        self._guard = threading.Lock()
        self._cache: Any = None

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """Give the ``diskcache.Cache``, its file closed afterwards.

        Raises Unavailable when the file is locked for BUSY seconds, or cannot be created. One that turns out to be
        damaged is set aside; the next use starts afresh.
        """
        try:
            with closing(self._made()) as cache:
                yield cache
        except (sqlite3.Error, diskcache.Timeout, OSError) as error:
            self._cache = None
            if is_damage(error):
                self._set_aside()
            reason = clean(getattr(error, "strerror", "") or str(error), 120) or "database is locked"
            raise Unavailable(
                f"The folder {clean(self.path.parent.name)} in the data folder cannot be used now: {reason}."
            ) from None

    def _made(self) -> Any:
        with self._guard:
            if self._cache is None or not self.path.exists():
                self.path.parent.mkdir(mode=folder.MODE, parents=True, exist_ok=True)
                with closing(sqlite3.connect(self.path, timeout=BUSY, isolation_level=None)) as db:
                    self.path.chmod(0o600)
                    db.execute("BEGIN IMMEDIATE")  # of a locked file diskcache would wait a minute
                try:
                    self._cache = self._new()
                except (TypeError, ValueError, AttributeError):  # a setting in the file that diskcache does not know
                    self._set_aside()
                    self._cache = self._new()
        return self._cache

    def _new(self) -> Any:
        return diskcache.Cache(
            str(self.path.parent),
            timeout=BUSY,
            disk=JsonDisk,
            size_limit=SIZE_LIMIT,
            cull_limit=10,
            tag_index=True,
            eviction_policy="least-recently-stored",
            sqlite_journal_mode="delete",
            sqlite_synchronous=0,  # a file that power cuts may damage needs no waiting for the disk
        )

    def _set_aside(self) -> None:
        aside = folder.set_aside(self.path)
        name = clean(self.path.parent.name)
        self.warnings.append(f"The {name} was damaged; it was set aside as {clean(aside.name)}.")


LIFE: Final = 24 * 3600.0
"""Seconds for which a scan is an answer."""
UNREACHABLE_LIFE: Final = 300.0
"""The same for an unreachable host."""


def life_of(card: ReportCard) -> float:
    """Return the seconds for which the scan behind ``card`` is an answer."""
    return UNREACHABLE_LIFE if card.unreachable else LIFE


class RecentScans:
    """By the key of a scan (``ScanPolicy.key``) the time of the last one, for as long as that is an answer.

    The scan itself is kept in the index. A fault of the file is a miss.
    """

    def __init__(self, file: SharedCache) -> None:
        self._file = file

    def get(self, key: str) -> str:
        """Return ``scanned_at`` of the scan under ``key``, empty without one."""
        with suppress(Unavailable), self._file.opened() as cache:
            at = cache.get(_SCAN + key)
            return at if isinstance(at, str) else ""
        return ""

    def put(self, key: str, card: ReportCard) -> None:
        """Note the scan behind ``card``. Raises Unavailable when the file is locked or full."""
        with self._file.opened() as cache:
            cache.set(_SCAN + key, card.scanned_at, expire=life_of(card), tag=key.partition("#")[0])

    def drop(self, sites: Iterable[str]) -> None:
        """Forget the scans of ``sites``, however they were reached. A fault of the file leaves them."""
        with suppress(Unavailable), self._file.opened() as cache, cache.transact():
            for site in sites:
                cache.evict(site)

    def clear(self) -> int:
        """Forget every scan and return how many there were; no stored card is lost. Raises Unavailable."""
        with self._file.opened() as cache, cache.transact():
            return sum(cache.delete(key) for key in [*_scans(cache)])

    def __len__(self) -> int:
        with self._file.opened() as cache:
            return sum(1 for _ in _scans(cache))


_SCAN: Final = "scan:"


def _scans(cache: Any) -> Iterator[str]:
    return (key for key in cache.iterkeys() if isinstance(key, str) and key.startswith(_SCAN))


LEASE_LIFE: Final = 45.0
"""Seconds after which the lease of a process that died is free; longer than the longest scan."""


class Lease(NamedTuple):
    """A lease that was taken: whose it is and what of."""

    key: str
    owner: str


class Leases:
    """Leases by key, so that one scan of a host runs at a time. One that cannot be read counts as free."""

    def __init__(self, file: SharedCache) -> None:
        self._file = file

    def take(self, key: str) -> Lease | None:
        """Return a lease of ``key``; None while somebody else holds it.

        While the file cannot be used everything counts as free: one scan is better than none.
        """
        try:
            return self.take_many([key])[0]
        except Unavailable:
            return _lease(key)

    def take_many(self, keys: Sequence[str]) -> list[Lease | None]:
        """Return per key a lease, or None while somebody else holds it; in one transaction. Raises Unavailable."""
        leases = [*map(_lease, keys)]
        with self._file.opened() as cache, cache.transact():
            return [lease if _taken(cache, lease) else None for lease in leases]

    def renew(self, leases: Sequence[Lease]) -> None:
        """Let ``leases`` run for LEASE_LIFE seconds from now; one that somebody else has taken stays theirs."""
        with suppress(Unavailable), self._file.opened() as cache, cache.transact():
            for lease in leases:
                _taken(cache, lease)

    def release(self, leases: Sequence[Lease]) -> None:
        """Give ``leases`` back in one transaction; one that somebody else has taken stays theirs."""
        with suppress(Unavailable), self._file.opened() as cache, cache.transact():
            for lease in leases:
                if _taken(cache, lease):
                    cache.delete(lease.key)


def _taken(cache: Any, lease: Lease) -> bool:
    """Take or extend ``lease`` unless somebody else holds it; a clock set back never makes it longer."""
    held, now = cache.get(lease.key), time.time()
    match held:
        case [owner, float() | int() as end] if owner != lease.owner and now < end <= now + LEASE_LIFE:
            return False
    cache.set(lease.key, [lease.owner, now + LEASE_LIFE], expire=LEASE_LIFE)
    return True


def _lease(key: str) -> Lease:
    return Lease("lease:" + key, secrets.token_hex(8))


LIMIT: Final = 10
WINDOW: Final = 3600.0
"""Seconds of the rolling window."""
TRIES: Final = 6
"""How often a scan is counted in a file that is locked: a count that is given up may be one scan too many."""
UNSAVED: Final = 10_000
"""Clients whose scans are counted in memory; then whoever has not scanned for the longest time is forgotten."""


class QuotaStore:
    """Counts the scans of a client in ``file``. Never to be called on an event loop.

    A scan counts for WINDOW seconds; a time that lies in the future (a clock set back) is taken for now and written
    back so. While the file cannot be used, the scans of this process are counted in memory.
    """

    def __init__(self, file: SharedCache) -> None:
        self._file = file
        self._unsaved: dict[str, list[float]] = {}
        """By client the times that are in no file yet."""
        self._guard = threading.Lock()

    def spend(self, client: str) -> bool:
        """Count one scan of ``client``. Raises RateLimited when none is left.

        Returns False when the file could not be used and the scan counts in this process alone.
        """
        now = time.time()
        before, saved = self._change(client, lambda times: [*times, now] if len(times) < LIMIT else times)
        if len(before) >= LIMIT:
            raise limited(before[-LIMIT] + WINDOW, now)
        return saved

    def refund(self, client: str) -> bool:
        """Give back the newest scan of ``client``. Returns as :meth:`spend`."""
        return self._change(client, lambda times: times[:-1])[1]

    def left(self, client: str) -> Quota:
        """Return what is left for ``client``, spending nothing."""
        saved = None
        with suppress(Unavailable), self._file.opened() as cache:
            saved = cache.get(_quota(client))
        times = self._times(client, saved)
        return Quota(left=max(LIMIT - len(times), 0), limit=LIMIT, next_slot=times[0] + WINDOW if times else 0.0)

    def _change(self, client: str, change: Callable[[list[float]], list[float]]) -> tuple[list[float], bool]:
        """Change the times of ``client`` in the file, or in memory while it cannot be used.

        Returns what they were, and whether the file could be used.
        """
        with self._guard:
            for _ in range(TRIES):
                with suppress(Unavailable), self._file.opened() as cache, cache.transact():
                    before = self._times(client, cache.get(_quota(client)))
                    cache.set(_quota(client), change(before), expire=WINDOW)
                    self._unsaved.pop(client, None)
                    return before, True
            before = self._times(client, None)
            self._unsaved.pop(client, None)
            self._unsaved[client] = change(before)
            if len(self._unsaved) > UNSAVED:
                del self._unsaved[next(iter(self._unsaved))]
            return before, False

    def _times(self, client: str, saved: Any) -> list[float]:
        """Return the times still in the window, in the file and in memory, oldest first, none in the future."""
        now = time.time()
        spent = [*(saved if isinstance(saved, list) else ()), *self._unsaved.get(client, ())]
        times = [min(float(t), now) for t in spent if isinstance(t, int | float)]
        return sorted(t for t in times if now - t < WINDOW)


def _quota(client: str) -> str:
    return "quota:" + client


def limited(reset_at: float, now: float) -> RateLimited:
    """Return the error that says when the next scan is free."""
    wait = max(1, math.ceil(reset_at - now))
    minutes = f"{wait // 60} min {wait % 60} s" if wait >= 60 else f"{wait} s"
    return RateLimited(
        f"The limit of {LIMIT} scans an hour is used up; the next one is free in {minutes}.",
        retry_after=wait,
        reset_at=reset_at,
    )
