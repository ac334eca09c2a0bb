"""The 24 h scan cache (specification 4.3)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from aui_tui.errors import RecordError, Unavailable
from aui_tui.records.card import ReportCard
from aui_tui.records.codec import decode_card, encode_card
from aui_tui.records.observations import Observations
from aui_tui.records.times import epoch_ms
from aui_tui.store.blobs import decode_observations
from aui_tui.store.disk import FAULTS, DiskCache, RefusedRow
from aui_tui.text import clean

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
