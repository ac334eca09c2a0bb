"""A copy of the index while it is in use."""

from __future__ import annotations

import contextlib
import secrets
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Final

from aui_tui.errors import ConfigError, Unavailable
from aui_tui.store.reports import Reports
from aui_tui.text import clean

PAGES: Final = 2048
"""Pages copied in one step; between steps the index may be written to."""

Told = Callable[[int, int], None]
"""Hears how much is done, of how much."""


def backup(reports: Reports, target: Path, *, overwrite: bool = False, told: Told | None = None) -> int:
    """Copy the whole index to the file ``target`` and return its size in bytes.

    ``target`` appears when it is complete: an interrupted copy leaves nothing behind. Raises ConfigError when it exists
    and ``overwrite`` is not given, or cannot be written; Unavailable when the index cannot be read.
    """
    shown = clean(str(target), 200)
    if target.exists() and not overwrite:
        raise ConfigError(f"{shown} exists already; choose another name or overwrite it.")
    if target.is_dir() or (target.exists() and target.samefile(reports.path)):
        raise ConfigError(f"{shown} cannot be the backup of this index.")
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        _copy(reports, partial, told)
        partial.replace(target)
        return target.stat().st_size
    except OSError as error:
        raise ConfigError(f"{shown} cannot be written: {clean(error.strerror or str(error), 120)}.") from None
    finally:
        for suffix in ("", "-journal", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                Path(f"{partial}{suffix}").unlink()


def _copy(reports: Reports, partial: Path, told: Told | None) -> None:
    def step(status: int, remaining: int, total: int) -> None:
        if told is not None:
            told(total - remaining, total)

    source = reports.database.reader()
    partial.touch(mode=0o600, exist_ok=False)
    copy = sqlite3.connect(partial)
    try:
        source.backup(copy, pages=PAGES, progress=step, sleep=0.01)
        copy.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error as error:
        raise Unavailable(f"The index could not be copied: {clean(str(error), 120)}.") from None
    finally:
        copy.close()
