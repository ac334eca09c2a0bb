"""The data folder: where things lie in it, its permissions, and what happens to a damaged database."""

from __future__ import annotations

import errno
import os
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from aui_tui.errors import ConfigError
from aui_tui.text import clean

MODE: Final = 0o700
UNWRITABLE: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
INDEX: Final = "index.db"
SIDE_FILES: Final = ("", "-wal", "-shm", "-journal")


def prepare(folder: Path) -> Path:
    """Create ``folder`` for its owner alone (mode 0700) and return its absolute path.

    A folder of ours that others may read is narrowed. One that others may write to is shared: it keeps its mode, and
    what we put into it is ours alone. One that holds an index and cannot be written to, such as another user's, is
    there to be read. Raises ConfigError with one sentence when it cannot be used.
    """
    shown = clean(folder, 300)
    try:
        folder = folder.expanduser().absolute()
        folder.mkdir(mode=MODE, parents=True, exist_ok=True)
        _narrow(folder)
        probe = folder / f".write-test-{os.urandom(6).hex()}"
        os.close(os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        probe.unlink()
    except (OSError, RuntimeError, ValueError) as error:
        if isinstance(error, OSError) and error.errno in UNWRITABLE and can_read(folder / INDEX):
            return folder
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        what = f"The data folder {shown} cannot be used: {clean(reason, 120)}"
        raise ConfigError(f"{what}; name another one by --data-dir DIR or AUI_TUI_HOME.") from None
    return folder


def can_read(file: Path) -> bool:
    """Say whether ``file`` is there and can be read."""
    try:
        with file.open("rb"):
            return True
    except OSError:
        return False


def _narrow(folder: Path) -> None:
    """See to it that others cannot read what lies in ``folder``."""
    status = folder.stat()
    owner = getattr(os, "geteuid", lambda: status.st_uid)()
    if stat.S_IMODE(status.st_mode) & (stat.S_IWGRP | stat.S_IWOTH | stat.S_ISVTX):
        parts = places(folder)
        for part in (parts.cache, parts.pictures, parts.pages):
            part.mkdir(mode=MODE, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(parts.index, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    elif status.st_uid == owner and stat.S_IMODE(status.st_mode) & 0o077:
        folder.chmod(MODE)


def set_aside(path: Path) -> Path:
    """Rename the database at ``path`` and its side files with a time stamp; return the new path of the database.

    ``index.db`` becomes ``index.damaged-20260725T101500Z.db``. Raises OSError when renaming fails.
    """
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(time.time()))
    target = path.with_name(f"{path.stem}.damaged-{moment}{path.suffix}")
    while target.exists():
        target = path.with_name(f"{path.stem}.damaged-{moment}-{os.urandom(2).hex()}{path.suffix}")
    for suffix in SIDE_FILES:
        side = Path(f"{path}{suffix}")
        if side.exists():
            side.replace(f"{target}{suffix}")
    return target


def damaged(folder: Path) -> tuple[Path, ...]:
    """Return the databases that were set aside in ``folder``, oldest first."""
    return tuple(sorted(folder.glob("*.damaged-*.db")))


class Places(msgspec.Struct, frozen=True):
    """The parts of a data folder.

    ``index``: report cards and history, durable. ``cache``: who was scanned in the last 24 h, the scans
    of the last hour, who scans what now; may be lost. ``pictures``: of the last run of the tasks.
    ``ranges``: addresses that vendors publish. ``reports``: opened in a
    browser. ``pages``: as the last scan got them, for readers. ``dashboard``: the list as it was left.
    """

    data: Path
    index: Path
    cache: Path
    pictures: Path
    ranges: Path
    reports: Path
    pages: Path
    dashboard: Path


def places(folder: Path) -> Places:
    """Return the parts of the data folder ``folder``."""
    names = (INDEX, "cache", "pictures", "ranges", "reports", "pages", "dashboard.json")
    return Places(folder, *(folder / name for name in names))
