"""The 24 h scan cache (specification 4.3), and small values on disk that are read with nothing trusted.

A cache file is opened late, never waits long and may be damaged. diskcache's own ``Disk`` and ``JSONDisk`` unpickle or
open whatever a row names (CVE-2025-69872). Here a row that is not inline JSON text is refused on the way in, on the way
out and at removal: nothing is unpickled, no file is opened, written or removed.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import diskcache
import msgspec
from diskcache.core import MODE_RAW, UNKNOWN

from aui_tui.errors import RecordError, Unavailable
from aui_tui.records.card import ReportCard
from aui_tui.records.codec import decode_card, encode_card
from aui_tui.records.observations import Observations
from aui_tui.records.times import epoch_ms
from aui_tui.store import folder
from aui_tui.store.blobs import decode_observations
from aui_tui.store.database import is_damage
from aui_tui.text import clean

MAX_KEY: Final = 600
"""Longest key in characters."""


class RefusedRow(Exception):
    """A row of the cache file is not inline JSON text under a text key."""


class SafeDisk(diskcache.Disk):  # type: ignore[misc]
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

    def open(self) -> diskcache.Cache:
        """Return the open cache. Raises Unavailable when it is locked or cannot be created."""
        with self._guard:
            if self._cache is None:
                self._cache = self._open()
            return self._cache

    def reopen(self, error: Exception) -> None:
        """Set the file aside after ``error`` when that says that it is damaged; the next use starts afresh."""
        if is_damage(error):
            self.close()
            with self._guard:
                self._set_aside()

    def change(self, work: Callable[[diskcache.Cache], T]) -> T:
        """Return ``work(cache)`` done inside one transaction over all processes, in up to TRIES attempts.

        Where that has failed a moment ago one attempt is made. Raises Unavailable when the file stays locked, is full
        or cannot be created.
        """
        recent = time.monotonic() - self._failed < RETRY_PAUSE
        for _ in range(1 if recent else TRIES):
            try:
                cache = self.open()
                with cache.transact():
                    done = work(cache)
            except Unavailable:
                continue
            except FAULTS as error:
                self.reopen(error)
            else:
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
        except sqlite3.OperationalError as error:
            raise Unavailable(f"{clean(self.path.name)} cannot be used now: {clean(str(error), 120)}.") from None
        except OSError as error:
            raise Unavailable(f"{clean(self.path.name)} cannot be used: {clean(str(error.strerror), 120)}.") from None
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


LIFE: Final = 24 * 3600.0
"""Seconds for which a scan is answered from the cache."""
UNREACHABLE_LIFE: Final = 300.0
"""The same for an unreachable host."""
FUTURE: Final = 300.0
"""An entry whose time lies further in the future, in seconds, is refused (a clock set back)."""


class Cached(NamedTuple):
    """A scan in the cache and its age in seconds."""

    card: ReportCard
    observations: Observations
    age: float


class ScanCache:
    """Recent scans by key (canonical host, scheme and port as given). Disposable: a fault is a miss."""

    def __init__(self, disk: DiskCache, *, clock: Callable[[], float] = time.time) -> None:
        self._disk = disk
        self._clock = clock

    def get(self, key: str, host: str) -> Cached | None:
        """Return the scan under ``key`` when it is fresh, whole and of ``host``; else None."""
        try:
            entry = self._disk.open().get("scan:" + key)
        except (RefusedRow, Unavailable):
            return None
        except FAULTS as error:
            self._disk.reopen(error)
            return None
        return self._read(entry, host) if isinstance(entry, dict) else None

    def put(self, key: str, card: ReportCard, observations: Observations) -> None:
        """Keep a scan. Raises diskcache.Timeout, sqlite3.Error or OSError when the file is locked or full."""
        entry = {
            "card": encode_card(card).decode(),
            "observations": msgspec.json.encode(observations).decode(),
        }
        life = UNREACHABLE_LIFE if card.unreachable else LIFE
        try:
            self._disk.open().set("scan:" + key, entry, expire=life, retry=False)
        except FAULTS as error:
            self._disk.reopen(error)
            raise

    def drop_many(self, keys: Sequence[str]) -> None:
        """Remove the scans under ``keys``; a fault of the file leaves them."""
        try:
            cache = self._disk.open()
            if not len(cache):
                return
            with cache.transact():
                for key in keys:
                    cache.delete("scan:" + key)
        except (*FAULTS, RefusedRow, Unavailable):
            return

    def clear(self) -> int:
        """Remove every scan and return how many there were; no stored card is lost. Raises Unavailable."""
        return int(self._ask(lambda cache: cache.clear(retry=False)))

    def __len__(self) -> int:
        return int(self._ask(len))

    def _ask(self, work: Callable[[Any], Any]) -> Any:
        try:
            return work(self._disk.open())
        except FAULTS as error:
            self._disk.reopen(error)
            reason = clean(str(error), 120) or "it is locked"
            raise Unavailable(f"The scan cache cannot be used now: {reason}.") from None

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
