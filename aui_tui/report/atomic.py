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
FOREIGN: Final = -1
"""Stands for an error number: another user's link or pipe in a folder that everybody writes to."""
MOST_LINKS: Final = 40
_REASONS: Final = {
    FOREIGN: "it leads through a link or a pipe that another user has put into a folder for everybody",
    errno.ENOSPC: "the disk is full",
    errno.EFBIG: "the file would be larger than allowed",
    errno.ENOENT: "the folder does not exist",
    errno.ENOTDIR: "the folder is a file",
    errno.EISDIR: "it is a folder",
    errno.ENAMETOOLONG: "the name is too long",
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


def replace(path: Path, chunks: Iterable[str | bytes]) -> int:
    """Write ``chunks`` to ``path`` in one step and return the number of bytes.

    A regular file is replaced when all is on the disk; it keeps its permissions, and a link stays a link. A device or
    a pipe is written to. In a folder that everybody writes to, such as /tmp, another user's link or pipe is refused.
    Raises ConfigError with one sentence; the old file is then unchanged.
    """
    try:
        _check_links(path)
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a directory")
        if path.exists() and not path.is_file():
            return _write(os.open(path, os.O_WRONLY), chunks)
        return _swap(Path(os.path.realpath(path)), chunks)
    except OSError as error:
        raise _failed(path, error) from None


def create(folder: Path, name: str, chunks: Iterable[str | bytes], *, force: bool = False) -> Path:
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
        if not force and os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, "is there")
        _swap(path, chunks, new=not force)
    except FileExistsError:
        raise BadValue(f"{clean(str(path))} is already there; --replace replaces it.") from None
    except OSError as error:
        raise _failed(path, error) from None
    return path


def _check_links(path: Path, followed: int = 0) -> None:
    """Raise PermissionError where ``path`` leads through what another user has put into a folder for everybody.

    The rule of Linux's protected_symlinks and protected_fifos, whatever the system's settings are.
    """
    path = path.absolute()
    for at in (*reversed(path.parents), path) if sys.platform != "win32" else ():
        if not os.path.lexists(at):
            return
        folder, found = at.parent.stat(), at.lstat()
        shared = folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH
        is_file = stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode)
        if shared and not is_file and found.st_uid not in (os.geteuid(), folder.st_uid):
            raise PermissionError(FOREIGN, "another user's link")
        if stat.S_ISLNK(found.st_mode) and followed < MOST_LINKS:
            _check_links(at.parent / at.readlink(), followed + 1)


def _swap(target: Path, chunks: Iterable[str | bytes], *, new: bool = False) -> int:
    """Write a temporary file beside ``target`` and give it that name; raises FileExistsError where it has to be new."""
    _remove_leftovers(target)
    temporary = target.with_name(f".{target.name[:MAX_NAME]}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        size = _write(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), chunks)
        if new:
            _give_name(temporary, target)
        else:
            if target.is_file() and not target.is_symlink():
                temporary.chmod(stat.S_IMODE(target.stat().st_mode))
            temporary.replace(target)
    finally:  # ctrl+c too leaves no half file
        with contextlib.suppress(OSError):
            temporary.unlink()
    with contextlib.suppress(OSError):  # makes the name durable; not every system lets a folder be opened
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    return size


def _give_name(temporary: Path, target: Path) -> None:
    """Give a file a name that is free. Raises FileExistsError where another took it meanwhile."""
    try:
        target.hardlink_to(temporary)
    except OSError:  # the name is taken, or the file system has no hard links
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, "is there") from None
        temporary.replace(target)


def _remove_leftovers(target: Path) -> None:
    """Remove what killed runs have left beside ``target``: temporary files whose process has ended."""
    pattern = f".{glob.escape(target.name[:MAX_NAME])}.*-{'[0-9a-f]' * 8}.tmp"
    for path in target.parent.glob(pattern) if sys.platform != "win32" else ():
        process = path.name.rpartition("-")[0].rpartition(".")[2]
        with contextlib.suppress(OSError):
            try:
                os.kill(int(process) if process.isdecimal() else os.getpid(), 0)
            except ProcessLookupError:
                path.unlink()


def _write(descriptor: int, chunks: Iterable[str | bytes]) -> int:
    """Write to ``descriptor``, flush to the disk and close it; return the number of bytes."""
    size = 0
    with open(descriptor, "wb") as file:
        for chunk in chunks:
            size += file.write(chunk.encode() if isinstance(chunk, str) else chunk)
        file.flush()
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            os.fsync(file.fileno())
    return size


def _failed(path: Path, error: OSError) -> ConfigError:
    reason = _REASONS.get(error.errno or 0) or (error.strerror or "it cannot be written").lower()
    try:
        kept = " The old file is unchanged." if path.is_file() else ""
    except OSError:
        kept = ""
    return ConfigError(f"Cannot write {clean(str(path), 200)}: {clean(reason, 100)}.{kept}")
