"""When to scan again: on a key, on an interval, or when files under a folder have changed. No scanning here."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from aui_tui.errors import BadValue, ConfigError
from aui_tui.text import clean

SKIPPED: Final = frozenset({"node_modules", "__pycache__", "venv"})
"""Folders that are never looked into, besides hidden ones."""
MAX_FILES: Final = 50_000
HOUR: Final = 3600
UNITS: Final = {"": 1, "s": 1, "m": 60, "h": HOUR}
SETTLE: Final = 0.5
"""Seconds without a further change after which files count as written."""

Snapshot = dict[str, tuple[int, int]]
"""Time of change in nanoseconds and size in bytes per file, by its path under the folder."""


def interval(text: str, limit: int = 0) -> float:
    """Return the seconds that ``90s``, ``6m`` or ``2h`` mean; a bare number is seconds.

    ``limit`` is the number of scans an hour that the source allows, 0 when it sets none.
    Raises BadValue when ``text`` is not such a time, or shorter than the limit allows.
    """
    found = re.fullmatch(r"\s*(\d{1,6})\s*([smh]?)\s*", text, re.ASCII | re.IGNORECASE)
    if found is None or not int(found[1]):
        raise BadValue(f"An interval is a number with s, m or h, such as 6m, not {clean(text, 40)!r}.")
    seconds = int(found[1]) * UNITS[found[2].lower()]
    if limit and seconds * limit < HOUR:
        least = -(-HOUR // limit)
        raise BadValue(f"At most {limit} scans an hour are allowed, so the shortest interval is {words(least)}.")
    return float(seconds)


def words(seconds: float) -> str:
    """Return a duration such as ``90s``, ``6m`` or ``2h``."""
    whole = round(seconds)
    for unit in ("h", "m"):
        if whole % UNITS[unit] == 0 and whole:
            return f"{whole // UNITS[unit]}{unit}"
    return f"{whole}s"


def snapshot(folder: Path) -> Snapshot:
    """Return what lies under ``folder``, or that one file; links are not followed.

    Raises ConfigError when it is not there or holds more than MAX_FILES files.
    """
    if folder.is_file():
        return dict(_entry(folder.parent, folder))
    if not folder.is_dir():
        raise ConfigError(f"There is no folder or file {clean(str(folder), 200)} to watch.")
    found: Snapshot = {}
    for path in _files(folder):
        found.update(_entry(folder, path))
        if len(found) > MAX_FILES:
            raise ConfigError(f"{clean(str(folder), 200)} holds more than {MAX_FILES} files; watch a smaller folder.")
    return found


def _files(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in SKIPPED and not name.startswith("."))
        yield from (Path(root, name) for name in sorted(names) if not name.startswith("."))


def _entry(folder: Path, path: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the path's line of a snapshot; none when it has gone meanwhile."""
    try:
        seen = path.lstat()
    except OSError:
        return
    yield path.relative_to(folder).as_posix(), (seen.st_mtime_ns, seen.st_size)


def changed(before: Snapshot, after: Snapshot) -> list[str]:
    """Return the paths that were added, removed or written between two snapshots, in order."""
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))


def describe(paths: list[str]) -> str:
    """Return changed paths in a few words, such as ``robots.txt and 2 more files``."""
    first, rest = clean(paths[0], 60), len(paths) - 1
    return f"{first} and {rest} more file{'s' if rest > 1 else ''}" if rest else first


@dataclass(slots=True)
class Trigger:
    """Decides when a scan is due. Times are seconds of a clock that never goes back.

    ``every``: seconds between scans, 0 for no interval. Tell it of each scan by :meth:`started`.
    """

    every: float = 0.0
    settle: float = SETTLE
    _due: float = field(default=float("inf"), init=False)
    _seen: Snapshot | None = field(default=None, init=False)
    _latest: Snapshot | None = field(default=None, init=False)
    _moved: float = field(default=0.0, init=False)

    def started(self, now: float, seen: Snapshot | None = None) -> None:
        """Note that a scan starts at ``now`` of files as ``seen``: what changes from here on is new."""
        self._due = now + self.every if self.every else float("inf")
        self._seen = self._latest = seen

    def ask(self, now: float, seen: Snapshot | None = None, *, key: bool = False) -> str:
        """Return why a scan is due at ``now``, in a few words; empty when none is.

        A change of files counts once they have kept still for ``settle`` seconds.
        """
        if key:
            return "asked for"
        if seen is not None:
            if self._latest is None:
                self._seen = seen
            if seen != self._latest:
                self._latest, self._moved = seen, now
            paths = changed(self._seen or {}, seen)
            if paths and now - self._moved >= self.settle:
                return describe(paths) + " changed"
        return f"every {words(self.every)}" if now >= self._due else ""

    def left(self, now: float) -> float:
        """Return the seconds until the interval is over, infinity without one."""
        return max(self._due - now, 0.0)
