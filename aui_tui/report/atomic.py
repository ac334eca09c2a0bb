"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import secrets
import stat
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from aui_tui.errors import BadValue, ConfigError
from aui_tui.text import clean

MAX_NAME: Final = 80
"""Characters of its name that a temporary file keeps."""

_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
FOREIGN: Final = -1
"""Stands for an error number: another user's link or pipe in a folder that everybody writes to."""
MOST_LINKS: Final = 40
_REASONS: Final = {
    FOREIGN: "it leads through a link or a pipe that another user has put into a folder for everybody",
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file would be larger than allowed",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EROFS: "the file system is read-only",
    errno.ENOENT: "the folder does not exist",
    errno.ENOTDIR: "the folder is a file",
    errno.EISDIR: "it is a folder",
    errno.ENAMETOOLONG: "the name is too long",
    errno.EIO: "the disk reports an error",
}


def check_place(path: Path) -> None:
    """Raise ConfigError where a file cannot be at ``path``: its folder is missing, or it is a folder itself."""
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a directory")
        if not path.parent.is_dir():
            path.parent.stat()
            raise NotADirectoryError(errno.ENOTDIR, "is not a directory")
    except OSError as error:
        raise _failed(path, error) from None


def replace(path: Path, chunks: Iterable[str]) -> int:
    """Write ``chunks`` to ``path`` in one step and return the number of bytes.

    A regular file is replaced when all is on the disk; it keeps its permissions, and a link stays a link. A device or
    a pipe is written to. In a folder that everybody writes to, such as /tmp, another user's link or pipe is refused.
    Raises ConfigError with one sentence; the old file is then unchanged.
    """
    try:
        _check_links(path)
        target = Path(os.path.realpath(path))
        if path.exists() and not path.is_file() and not path.is_dir():
            return _write(os.open(path, os.O_WRONLY), chunks)
        mode = stat.S_IMODE(target.stat().st_mode) if target.is_file() else None
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a directory")
        return _swap(target, chunks, mode)
    except OSError as error:
        raise _failed(path, error) from None


def create(folder: Path, name: str, chunks: Iterable[str], *, force: bool = False) -> Path:
    """Write ``chunks`` to a new file called ``name`` in ``folder``, made when missing, and return its path.

    A file or link that is already there is left alone (BadValue), or replaced with ``force``. ``name`` is one that
    we made. Raises ConfigError with one sentence when it cannot be written.
    """
    if name != Path(name).name or name in ("", ".", ".."):
        raise ValueError(f"not a file name: {name!r}")
    path = folder / name
    try:
        _check_links(folder)
        folder.mkdir(parents=True, exist_ok=True)
        _swap(path, chunks, None, new=not force)
    except FileExistsError:
        raise BadValue(f"{clean(str(path))} is already there; --replace replaces it.") from None
    except OSError as error:
        raise _failed(path, error) from None
    return path


def _check_links(path: Path) -> None:
    """Raise PermissionError where ``path`` leads through what another user has put into a folder for everybody.

    The rule of Linux's protected_symlinks and protected_fifos, whatever the system's settings are.
    """
    if sys.platform == "win32":
        return
    at, parts, followed = Path(path.absolute().anchor), list(path.absolute().parts[1:]), 0
    while parts and os.path.lexists(at / parts[0]):
        folder, at = at.stat(), at / parts.pop(0)
        found = at.lstat()
        shared = folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH
        is_file = stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode)
        if shared and not is_file and found.st_uid not in (os.geteuid(), folder.st_uid):
            raise PermissionError(FOREIGN, "another user's link")
        if stat.S_ISLNK(found.st_mode):
            followed += 1
            if followed > MOST_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            parts = [part for part in Path(at.readlink()).parts if part != os.sep] + parts
            at = Path(at.anchor) if at.readlink().is_absolute() else at.parent


def _swap(target: Path, chunks: Iterable[str], mode: int | None, *, new: bool = False) -> int:
    """Write a temporary file beside ``target`` and give it that name; raises FileExistsError where it has to be new."""
    if new and os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, "is there")
    _remove_leftovers(target)
    temporary, descriptor = _temporary(target)
    try:
        size = _write(descriptor, chunks)
        if mode is not None:
            temporary.chmod(mode)
        if new:
            _give_name(temporary, target)
        else:
            temporary.replace(target)
    except BaseException:  # ctrl+c too leaves no half file
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(target.parent)
    return size


def _temporary(target: Path) -> tuple[Path, int]:
    """Return a new file beside ``target``, locked for as long as its descriptor is open."""
    while True:
        path = target.with_name(f".{target.name[:MAX_NAME]}.{secrets.token_hex(4)}.tmp")
        descriptor = os.open(path, _NEW, 0o666)
        if _lock(descriptor) and os.fstat(descriptor).st_nlink:
            return path, descriptor
        os.close(descriptor)  # another run took it for a leftover before it was locked


def _remove_leftovers(target: Path) -> None:
    """Remove what killed runs have left beside ``target``: temporary files that no process holds."""
    if sys.platform == "win32":
        return
    for path in target.parent.glob(f".{glob.escape(target.name[:MAX_NAME])}.{'[0-9a-f]' * 8}.tmp"):
        with contextlib.suppress(OSError):
            descriptor = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                if _lock(descriptor):
                    path.unlink()
            finally:
                os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Return whether the open file is locked for us now; where files cannot be locked, it counts as ours."""
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _give_name(temporary: Path, target: Path) -> None:
    """Give a file a name that is free. Raises FileExistsError where another took it meanwhile."""
    try:
        target.hardlink_to(temporary)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, "is there") from None
        temporary.replace(target)
    else:
        temporary.unlink()


def _write(descriptor: int, chunks: Iterable[str]) -> int:
    """Write to ``descriptor``, flush to the disk and close it; return the number of bytes."""
    size = 0
    with open(descriptor, "wb") as file:
        for chunk in chunks:
            size += file.write(chunk.encode())
        file.flush()
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            os.fsync(file.fileno())
    return size


def _sync_folder(folder: Path) -> None:
    """Make a rename durable; not every system lets a folder be opened."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _failed(path: Path, error: OSError) -> ConfigError:
    reason = _REASONS.get(error.errno or 0) or (error.strerror or "it cannot be written").lower()
    try:
        kept = " The old file is unchanged." if path.is_file() else ""
    except OSError:
        kept = ""
    return ConfigError(f"Cannot write {clean(str(path), 200)}: {clean(reason, 100)}.{kept}")
