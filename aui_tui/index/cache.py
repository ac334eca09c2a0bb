"""What scans share between processes of a data folder: the 24 h cache, ten scans an hour for each client, and leases.

A lease lets one scan of a host run at a time (specification 4.3 and 8). A file is opened at its first use, never waits
long and may be damaged. diskcache's own ``Disk`` and ``JSONDisk`` unpickle or open whatever a row names
(CVE-2025-69872). Here a row that is not inline JSON text is refused on the way in, on the way out and at removal:
nothing is unpickled, no file is opened, written or removed.
"""

from __future__ import annotations

import json
import math
import os
import platform
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import diskcache
import msgspec
from diskcache.core import MODE_RAW, UNKNOWN

from aui_tui.errors import RateLimited, RecordError, Unavailable
from aui_tui.index import folder
from aui_tui.index.database import is_damage
from aui_tui.model.card import ReportCard, epoch_ms
from aui_tui.model.codec import decode_card, encode_card
from aui_tui.model.observations import Observations, decode_observations
from aui_tui.model.view import Quota
from aui_tui.text import clean

MAX_KEY: Final = 600
"""Longest key in characters."""


class RefusedRow(Exception):
    """A row of the cache file is not inline JSON text under a text key."""


class SafeDisk(diskcache.Disk):  # type: ignore[misc]  # diskcache has no types
    """Keys are text, values are JSON text inside the row."""

    def hash(self, key: Any) -> int:
        """Return diskcache's hash of a text key."""
        return int(super().hash(_key(key)))

    def put(self, key: Any) -> tuple[str, bool]:
        """Return ``key`` and the flag for a raw key. Raises RefusedRow for anything but text."""
        return _key(key), True

    def get(self, key: Any, raw: Any) -> str:
        """Return the key of a row. Raises RefusedRow for a pickled or non-text key."""
        if not raw:
            raise RefusedRow("the key is not raw text")
        return _key(key)

    def store(self, value: Any, read: bool, key: Any = UNKNOWN) -> tuple[int, int, None, str]:
        """Return size, mode, no file name and the JSON text of ``value``. Raises RefusedRow for a stream."""
        if read:
            raise RefusedRow("streams are not stored")
        return 0, MODE_RAW, None, json.dumps(value, allow_nan=False, separators=(",", ":"))

    def fetch(self, mode: Any, filename: Any, value: Any, read: bool) -> Any:
        """Return the value of a row. Raises RefusedRow for a row that is not inline JSON text."""
        if mode != MODE_RAW or filename is not None or read or not isinstance(value, str):
            raise RefusedRow("the value is not inline text")
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            raise RefusedRow("the value is not JSON") from None

    def filename(self, key: Any = UNKNOWN, value: Any = UNKNOWN) -> tuple[str, str]:
        """Raise RefusedRow: no value lies in a file of its own."""
        raise RefusedRow("values in files are not stored")

    def remove(self, file_path: Any) -> None:
        """Leave every file alone: a file name in a row is not ours."""


def _key(key: Any) -> str:
    if not isinstance(key, str) or len(key) > MAX_KEY:
        raise RefusedRow("the key is not short text")
    return key


BUSY: Final = 0.25
"""Longest wait in seconds for another process's lock."""
TRIES: Final = 8
RETRY_PAUSE: Final = 5.0
"""Seconds after a failure for which a file is tried once only."""
SIZE_LIMIT: Final = 512 * 1024 * 1024

FAULTS: Final = (diskcache.Timeout, sqlite3.Error, OSError)
"""What a full, locked or damaged file raises."""

T = TypeVar("T")


class DiskCache:
    """The diskcache at ``path`` with inline JSON values only. Thread-safe; never to be called on an event loop.

    ``evict`` lets diskcache drop the oldest entries beyond SIZE_LIMIT.
    """

    def __init__(self, path: Path, *, evict: bool, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self.warnings: list[str] = []
        self._evict = evict
        self._clock = clock
        self._guard = threading.Lock()
        self._cache: diskcache.Cache | None = None
        self._failed = -RETRY_PAUSE

    def ask(self, work: Callable[[diskcache.Cache], T]) -> T:
        """Return ``work(cache)``. Raises Unavailable when the file is locked, full or cannot be created.

        One that turns out to be damaged is set aside; the next use starts afresh.
        """
        try:
            with self._guard:
                cache = self._cache = self._open() if self._cache is None else self._cache  # an empty one is false
            return work(cache)
        except FAULTS as error:
            if is_damage(error):
                self.close()
                with self._guard:
                    self._set_aside()
            reason = clean(getattr(error, "strerror", "") or str(error), 120) or "it is locked"
            raise Unavailable(f"The folder {clean(self.path.name)} cannot be used now: {reason}.") from None

    def change(self, work: Callable[[diskcache.Cache], T]) -> T:
        """Return ``work(cache)`` done inside one transaction over all processes, in up to TRIES attempts.

        Where that has failed a moment ago one attempt is made. Raises Unavailable when the file stays locked, is full
        or cannot be created.
        """

        def transaction(cache: diskcache.Cache) -> T:
            with cache.transact():
                return work(cache)

        recent = time.monotonic() - self._failed < RETRY_PAUSE
        for _ in range(1 if recent else TRIES):
            with suppress(Unavailable):
                done = self.ask(transaction)
                self._failed = -RETRY_PAUSE
                return done
        self._failed = time.monotonic()
        raise Unavailable(
            f"The folder {clean(self.path.name)} in the data folder cannot be written: locked, or the disk is full."
        )

    def leave(self) -> None:
        """Close the calling thread's connection; a thread that has used the file and ends should do so."""
        cache = self._cache
        if cache is not None:
            cache.close()

    def close(self) -> None:
        """Close the file as far as the calling thread has opened it."""
        with self._guard:
            cache, self._cache = self._cache, None
        if cache is not None:
            cache.close()

    def _open(self) -> diskcache.Cache:
        try:
            self.path.mkdir(mode=folder.MODE, parents=True, exist_ok=True)
            self._test()
            return self._make()
        except sqlite3.OperationalError:
            raise
        except (sqlite3.DatabaseError, TypeError, ValueError, AttributeError):
            self._set_aside()
            return self._make()

    def _make(self) -> diskcache.Cache:
        cache = diskcache.Cache(
            str(self.path),
            timeout=BUSY,
            disk=SafeDisk,
            size_limit=SIZE_LIMIT,
            eviction_policy="least-recently-stored" if self._evict else "none",
            cull_limit=10,
            statistics=0,
            tag_index=0,
        )
        (self.path / "cache.db").chmod(0o600)
        return cache

    def _test(self) -> None:
        """Raise OperationalError when another process holds the file, where diskcache itself would wait a minute.

        Settings that lie in the file are dropped: diskcache would obey them.
        """
        file = self.path / "cache.db"
        if not file.exists():
            return
        db = sqlite3.connect(file, timeout=BUSY, isolation_level=None)
        try:
            db.execute("BEGIN IMMEDIATE")
            if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'Settings'").fetchone():
                db.execute("DELETE FROM Settings WHERE key NOT IN ('count', 'size', 'hits', 'misses')")
            db.execute("COMMIT")
        finally:
            db.close()

    def _set_aside(self) -> None:
        file = self.path / "cache.db"
        if file.exists():
            aside = folder.set_aside(file, clock=self._clock)
            self.warnings.append(
                f"The cache {clean(self.path.name)} was damaged; it was set aside as {clean(aside.name)}."
            )


def row(cache: diskcache.Cache, key: str) -> Any:
    """Return the value under ``key``; None where there is none, or none that we wrote."""
    try:
        return cache.get(key)
    except RefusedRow:
        return None


LIFE: Final = 24 * 3600.0
"""Seconds for which a scan is answered from the cache."""
UNREACHABLE_LIFE: Final = 300.0
"""The same for an unreachable host."""
FUTURE: Final = 300.0
"""An entry whose time lies further in the future, in seconds, is refused (a clock set back)."""


SCAN: Final = "scan:"
"""What the keys of scans begin with."""


class Cached(NamedTuple):
    """A scan in the cache and its age in seconds."""

    card: ReportCard
    observations: Observations
    age: float


class ScanCache:
    """Recent scans by key: scheme as given, site, and a mark after # where something was relaxed.

    Disposable: a fault is a miss.
    """

    def __init__(self, disk: DiskCache, *, clock: Callable[[], float] = time.time) -> None:
        self._disk = disk
        self._clock = clock

    def get(self, key: str, host: str) -> Cached | None:
        """Return the scan under ``key`` when it is fresh, whole and of ``host``; else None."""
        entry = None
        with suppress(Unavailable):
            entry = self._disk.ask(lambda cache: row(cache, SCAN + key))
        return self._read(entry, host) if isinstance(entry, dict) else None

    def put(self, key: str, card: ReportCard, observations: Observations) -> None:
        """Keep a scan. Raises Unavailable when the file is locked or full."""
        entry = {
            "card": encode_card(card, own=True).decode(),
            "observations": msgspec.json.encode(observations).decode(),
        }
        life = UNREACHABLE_LIFE if card.unreachable else LIFE
        self._disk.ask(lambda cache: cache.set(SCAN + key, entry, expire=life, retry=False))

    def drop(self, sites: Collection[str]) -> None:
        """Remove the scans of ``sites``, however they were reached; all scans where a row is not ours.

        A fault of the file leaves them.
        """

        def drop(cache: diskcache.Cache) -> None:
            try:
                found = [key for key in cache.iterkeys() if _site(key) in sites]
            except RefusedRow:
                cache.clear(retry=False)
                return
            if found:
                with cache.transact():
                    for key in found:
                        cache.delete(key)

        with suppress(Unavailable):
            self._disk.ask(drop)

    def clear(self) -> int:
        """Remove every scan and return how many there were; no stored card is lost. Raises Unavailable."""
        return int(self._disk.ask(lambda cache: cache.clear(retry=False)))

    def __len__(self) -> int:
        return int(self._disk.ask(len))

    def _read(self, entry: dict[str, Any], host: str) -> Cached | None:
        try:
            card = decode_card(str(entry.get("card")).encode())
            seen = decode_observations(str(entry.get("observations")).encode())
        except (RecordError, UnicodeError):
            return None
        age = self._clock() - epoch_ms(card.scanned_at) / 1000
        life = UNREACHABLE_LIFE if card.unreachable else LIFE
        if seen.host != host or not -FUTURE <= age < life:
            return None
        return Cached(card, seen, max(age, 0.0))


def _site(key: str) -> str:
    return key.removeprefix(SCAN).partition("#")[0].rpartition("://")[2]


LEASE_LIFE: Final = 45.0
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
                    cache.set(lease.key, self._row(lease, now), expire=LEASE_LIFE)
                taken.append(lease if free else None)
            return taken

        return self._disk.change(work)

    def renew(self, leases: Sequence[Lease]) -> None:
        """Let ``leases`` run for LEASE_LIFE seconds from now; one that somebody else has taken stays theirs."""
        self._rewrite(leases, lambda cache, lease, now: cache.set(lease.key, self._row(lease, now), expire=LEASE_LIFE))

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
        return {"owner": lease.owner, "end": now + LEASE_LIFE, "place": self._place, "pid": os.getpid()}

    def _end(self, cache: Any, lease: Lease, now: float) -> float:
        """Return when the lease that somebody else holds on the same key ends, 0 when nobody does."""
        found = row(cache, lease.key)
        if not isinstance(found, dict) or found.get("owner") == lease.owner:
            return 0.0
        if found.get("place") == self._place and _has_ended(found.get("pid")):
            return 0.0
        end = found.get("end")
        return float(end) if isinstance(end, int | float) and end <= now + LEASE_LIFE else 0.0


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

    def __init__(self, disk: DiskCache, *, clock: Callable[[], float] = time.time) -> None:
        self._disk = disk
        self._clock = clock
        self._unsaved: dict[str, list[float]] = {}
        """By client the times that are in no file yet."""
        self._guard = threading.Lock()

    def spend(self, client: str) -> bool:
        """Count one scan of ``client``. Raises RateLimited when none is left.

        Returns False when the file could not be used and the scan counts in this process alone.
        """
        done = self._change(client, lambda times, now: [*times, now] if len(times) < LIMIT else times)
        if len(done.after) == len(done.before):
            raise limited(done.after[-LIMIT] + WINDOW, done.now)
        return done.saved

    def refund(self, client: str) -> bool:
        """Give back the newest scan of ``client``. Returns as :meth:`spend`."""
        return self._change(client, lambda times, now: times[:-1]).saved

    def left(self, client: str) -> Quota:
        """Return what is left for ``client``, spending nothing."""
        kept = None
        with suppress(Unavailable):
            kept = self._disk.ask(lambda cache: row(cache, _client_key(client)))
        times = _valid(kept, self._unsaved.get(client, []), self._clock())
        return Quota(left=max(LIMIT - len(times), 0), limit=LIMIT, next_slot=times[0] + WINDOW if times else 0.0)

    def _change(self, client: str, change: Callable[[list[float], float], list[float]]) -> Spending:
        """Change the times of ``client`` in the file, or in memory while it cannot be used."""
        with self._guard:
            unsaved = self._unsaved.get(client, [])

            def work(cache: diskcache.Cache) -> Spending:
                now = self._clock()
                before = _valid(row(cache, _client_key(client)), unsaved, now)
                after = change(before, now)
                cache.set(_client_key(client), after, expire=2 * WINDOW)
                return Spending(before, after, now, saved=True)

            try:
                done = self._disk.change(work)
                self._unsaved.pop(client, None)
            except Unavailable:
                now = self._clock()
                before = _valid([], unsaved, now)
                done = Spending(before, change(before, now), now, saved=False)
                if len(self._unsaved) >= CLIENTS:
                    self._unsaved.clear()
                self._unsaved[client] = done.after
            return done


class Spending(NamedTuple):
    """The times of a client before and after a change at ``now``; ``saved``: they are in the file."""

    before: list[float]
    after: list[float]
    now: float
    saved: bool


def _client_key(client: str) -> str:
    return "quota:" + client


def _valid(kept: Any, unsaved: list[float], now: float) -> list[float]:
    """Return the times still in the window, oldest first, none in the future."""
    found = [*kept, *unsaved] if isinstance(kept, list) else unsaved
    times = [min(float(t), now) for t in found if isinstance(t, int | float) and math.isfinite(t)]
    return sorted(t for t in times if now - t < WINDOW)


def limited(reset_at: float, now: float) -> RateLimited:
    """Return the error that says when the next scan is free."""
    wait = max(1, math.ceil(reset_at - now))
    minutes = f"{wait // 60} min {wait % 60} s" if wait >= 60 else f"{wait} s"
    return RateLimited(
        f"The limit of {LIMIT} scans an hour is used up; the next one is free in {minutes}.",
        retry_after=wait,
        reset_at=reset_at,
    )
