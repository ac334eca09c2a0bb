"""A value store for diskcache that can hold inline JSON text and nothing else.

diskcache's own ``Disk`` and ``JSONDisk`` unpickle or open whatever a row names (CVE-2025-69872). Here a row that is
not inline JSON text is refused on the way in, on the way out and at removal: nothing is unpickled, no file is
opened, written or removed.
"""

from __future__ import annotations

import json
from typing import Any, Final

import diskcache
from diskcache.core import MODE_RAW, UNKNOWN

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
