"""State shared by the processes of a data folder: the 24 h cache, ten scans an hour for each client, and leases.

A lease lets one scan of a host run at a time (specification 4.3 and 8).
"""

from __future__ import annotations

import math
import os
import platform
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import diskcache
import msgspec
from diskcache.core import MODE_RAW

from aui_tui.errors import RateLimited, RecordError, Unavailable
from aui_tui.index import folder
from aui_tui.index.database import is_damage
from aui_tui.model.card import ReportCard, epoch_ms
from aui_tui.model.codec import decode_card, encode_card
from aui_tui.model.observations import Observations, decode_observations
from aui_tui.model.view import HostReport, Quota
from aui_tui.process import has_ended
from aui_tui.text import clean

BUSY: Final = 0.5
"""Longest wait in seconds for another process's lock."""


SIZE_LIMIT: Final = 512 * 1024 * 1024
"""Bytes above which the oldest entries go."""


class TextDisk(diskcache.Disk):  # type: ignore[misc]  # diskcache has no types
    """Text inside rows alone: diskcache's own unpickles and opens what a planted row names (CVE-2025-69872)."""

    def get(self, key: Any, raw: Any) -> Any:
        """Return the key of a row; empty for one that is not ours."""
        return key if raw else ""

    def fetch(self, mode: Any, filename: Any, value: Any, read: bool) -> Any:
        """Return the value of a row; None for one that is not ours."""
        return value if mode == MODE_RAW and filename is None else None

    def remove(self, file_path: Any) -> None:
        """Leave every file alone."""


class Entries:
    """The values of a cache folder by key, while it is open."""

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def get(self, key: str) -> Any:
        """Return the value under ``key``; None where there is none, or it is no JSON."""
        with suppress(msgspec.DecodeError, RecursionError, TypeError):
            return msgspec.json.decode(self._cache.get(key))
        return None

    def set(self, key: str, value: object, life: float) -> None:
        """Keep ``value`` as JSON for ``life`` seconds."""
        self._cache.set(key, msgspec.json.encode(value).decode(), expire=life)

    def delete(self, key: str) -> None:
        """Remove what is kept under ``key``."""
        self._cache.delete(key)

    def transaction(self) -> AbstractContextManager[None]:
        """Return a transaction over all processes."""
        done: AbstractContextManager[None] = self._cache.transact()
        return done

    def clear(self) -> int:
        """Remove everything; return how many entries there were."""
        return int(self._cache.clear())

    def names(self) -> list[str]:
        """Return the key of every entry."""
        return [str(key) for key in self._cache.iterkeys()]


class CacheFile:
    """The diskcache in ``path``: JSON values by key, to be lost without harm.

    No thread keeps it open between two uses; never to be called on an event loop. ``warnings`` holds
    sentences for the user, such as that a damaged file was set aside.
    """

    def __init__(self, path: Path) -> None:
        self.path = path / "cache.db"
        self.warnings: list[str] = []
        self._guard = threading.Lock()
        self._cache: Any = None

    @contextmanager
    def reading(self) -> Iterator[Entries]:
        """Give the entries. Raises Unavailable when the file is locked for BUSY seconds or cannot be created.

        One that turns out to be damaged is set aside; the next use starts afresh.
        """
        try:
            with closing(self._opened()) as cache:
                yield Entries(cache)
        except (sqlite3.Error, diskcache.Timeout, OSError) as error:
            self._cache = None
            if is_damage(error):
                self._set_aside()
            reason = clean(getattr(error, "strerror", "") or str(error), 120) or "database is locked"
            raise Unavailable(
                f"The folder {clean(self.path.parent.name)} in the data folder cannot be used now: {reason}."
            ) from None

    @contextmanager
    def writing(self) -> Iterator[Entries]:
        """Give the entries inside one transaction over all processes. Raises as ``reading``."""
        with self.reading() as entries, entries.transaction():
            yield entries

    def _opened(self) -> Any:
        with self._guard:
            if self._cache is None or not self.path.exists():
                self.path.parent.mkdir(mode=folder.MODE, parents=True, exist_ok=True)
                with closing(sqlite3.connect(self.path, timeout=BUSY, isolation_level=None)) as db:
                    self.path.chmod(0o600)
                    db.execute("BEGIN IMMEDIATE")  # of a locked file diskcache would wait a minute
                try:
                    self._cache = self._made()
                except (TypeError, ValueError, AttributeError):  # a setting in the file that diskcache does not know
                    self._set_aside()
                    self._cache = self._made()
        return self._cache

    def _made(self) -> Any:
        return diskcache.Cache(
            str(self.path.parent),
            timeout=BUSY,
            disk=TextDisk,
            disk_min_file_size=SIZE_LIMIT,
            size_limit=SIZE_LIMIT,
            cull_limit=10,
            eviction_policy="least-recently-stored",
            sqlite_journal_mode="delete",
            sqlite_synchronous=0,  # a file that power cuts may damage needs no waiting for the disk
        )

    def _set_aside(self) -> None:
        self._cache = None
        aside = folder.set_aside(self.path)
        name = clean(self.path.parent.name)
        self.warnings.append(f"The cache {name} was damaged; it was set aside as {clean(aside.name)}.")


LIFE: Final = 24 * 3600.0
"""Seconds for which a scan is answered from the cache."""
UNREACHABLE_LIFE: Final = 300.0
"""The same for an unreachable host."""
FUTURE: Final = 300.0
"""An entry whose time lies further in the future, in seconds, is refused (a clock set back)."""


def life_of(card: ReportCard) -> float:
    """Return the seconds for which the scan behind ``card`` is an answer."""
    return UNREACHABLE_LIFE if card.unreachable else LIFE


class ScanCache:
    """Recent scans by key: scheme as given, site, and a mark after # where something was relaxed.

    Disposable: a fault is a miss.
    """

    def __init__(self, file: CacheFile) -> None:
        self._file = file

    def get(self, key: str, host: str) -> HostReport | None:
        """Return the scan under ``key`` when it is fresh, whole and of ``host``; else None."""
        try:
            with self._file.reading() as entries:
                entry = entries.get(key)
            card = decode_card(entry["card"].encode())
            seen = decode_observations(entry["observations"].encode())
        except (Unavailable, RecordError, TypeError, LookupError, AttributeError):
            return None
        age = time.time() - epoch_ms(card.scanned_at) / 1000
        if seen.host != host or not -FUTURE <= age < life_of(card):
            return None
        return HostReport(card=card, observations=seen, source="cache", age=max(age, 0.0))

    def put(self, key: str, card: ReportCard, observations: Observations) -> None:
        """Keep a scan. Raises Unavailable when the file is locked or full."""
        entry = {
            "card": encode_card(card, own=True).decode(),
            "observations": msgspec.json.encode(observations).decode(),
        }
        with self._file.writing() as entries:
            entries.set(key, entry, life_of(card))

    def drop(self, sites: Collection[str]) -> None:
        """Remove the scans of ``sites``, however they were reached. A fault of the file leaves them."""
        with suppress(Unavailable), self._file.writing() as entries:
            for key in entries.names():
                if _site(key) in sites:
                    entries.delete(key)

    def clear(self) -> int:
        """Remove every scan and return how many there were; no stored card is lost. Raises Unavailable."""
        with self._file.writing() as entries:
            return entries.clear()

    def __len__(self) -> int:
        with self._file.reading() as entries:
            return len(entries.names())


def _site(key: str) -> str:
    return key.partition("#")[0].rpartition("://")[2]


LEASE_LIFE: Final = 45.0
"""Seconds after which the lease of a process that died is free; longer than the longest scan."""


class Lease(NamedTuple):
    """A lease that was taken: whose it is and what of."""

    key: str
    owner: str


class Leases:
    """Leases by key. A lease is an entry with its owner and an end; one that cannot be read counts as free.

    The lease of a process that has ended on this machine is free at once, whatever its end.
    """

    def __init__(self, file: CacheFile) -> None:
        self._file = file
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
        """Return per key a lease, or None while somebody else holds it; in one transaction. Raises Unavailable."""
        taken = []
        with self._file.writing() as entries:
            for lease in map(_lease, keys):
                free = self._is_free(entries, lease)
                if free:
                    self._keep(entries, lease)
                taken.append(lease if free else None)
        return taken

    def renew(self, leases: Sequence[Lease]) -> None:
        """Let ``leases`` run for LEASE_LIFE seconds from now; one that somebody else has taken stays theirs."""
        with suppress(Unavailable), self._file.writing() as entries:
            for lease in leases:
                if self._is_free(entries, lease):
                    self._keep(entries, lease)

    def release(self, leases: Sequence[Lease]) -> None:
        """Give ``leases`` back in one transaction; one that somebody else has taken stays theirs."""
        with suppress(Unavailable), self._file.writing() as entries:
            for lease in leases:
                if self._is_free(entries, lease):
                    entries.delete(lease.key)

    def _keep(self, entries: Entries, lease: Lease) -> None:
        end = time.time() + LEASE_LIFE
        row = {"owner": lease.owner, "end": end, "place": self._place, "pid": os.getpid()}
        entries.set(lease.key, row, LEASE_LIFE)

    def _is_free(self, entries: Entries, lease: Lease) -> bool:
        """Say whether nobody else holds a lease on the same key."""
        found = entries.get(lease.key)
        if not isinstance(found, dict) or found.get("owner") == lease.owner:
            return True
        if found.get("place") == self._place and has_ended(found.get("pid")):
            return True
        end, now = found.get("end"), time.time()
        return not (isinstance(end, int | float) and now < end <= now + LEASE_LIFE)


def _lease(key: str) -> Lease:
    return Lease("lease:" + key, secrets.token_hex(8))


def _place() -> str:
    """Return a word for the space in which process ids are unique: machine and, on Linux, pid namespace."""
    try:
        return f"{platform.node()} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return platform.node()


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

    def __init__(self, file: CacheFile) -> None:
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
        kept = None
        with suppress(Unavailable), self._file.reading() as entries:
            kept = entries.get(_client_key(client))
        times = self._times(client, kept)
        return Quota(left=max(LIMIT - len(times), 0), limit=LIMIT, next_slot=times[0] + WINDOW if times else 0.0)

    def _change(self, client: str, change: Callable[[list[float]], list[float]]) -> tuple[list[float], bool]:
        """Change the times of ``client`` in the file, or in memory while it cannot be used.

        Returns what they were, and whether the file could be used.
        """
        with self._guard:
            for _ in range(TRIES):
                with suppress(Unavailable), self._file.writing() as entries:
                    before = self._times(client, entries.get(_client_key(client)))
                    entries.set(_client_key(client), change(before), WINDOW)
                    self._unsaved.pop(client, None)
                    return before, True
            before = self._times(client, None)
            self._unsaved.pop(client, None)
            self._unsaved[client] = change(before)
            if len(self._unsaved) > UNSAVED:
                del self._unsaved[next(iter(self._unsaved))]
            return before, False

    def _times(self, client: str, kept: Any) -> list[float]:
        """Return the times still in the window, in the file and in memory, oldest first, none in the future."""
        now = time.time()
        found = [*(kept if isinstance(kept, list) else ()), *self._unsaved.get(client, ())]
        times = [min(float(t), now) for t in found if isinstance(t, int | float)]
        return sorted(t for t in times if now - t < WINDOW)


def _client_key(client: str) -> str:
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
