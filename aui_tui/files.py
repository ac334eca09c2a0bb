"""Files of the user's: read whatever they are called, and written so that they are there whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from aui_tui.errors import BadValue, ConfigError
from aui_tui.process import has_ended
from aui_tui.text import clean

STDIN: Final = "-"
"""Name that stands for standard input."""
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
    errno.EEXIST: "the folder is a file",
    errno.EISDIR: "it is a folder",
    errno.ENAMETOOLONG: "the name is too long",
}


def user_path(name: str) -> Path:
    """Return the path that the user wrote as ``name``. Raises ConfigError where the home of ``~`` is not known."""
    try:
        return Path(name).expanduser()
    except RuntimeError:
        raise ConfigError(f"{clean(name, 200)}: that home folder is not known; write the whole path.") from None


@contextmanager
def reading(name: str) -> Iterator[BinaryIO]:
    """Open the file ``name`` for reading while the block runs. Raises ConfigError.

    STDIN is read past ``sys.stdin``: the program cannot end while a thread reads that.
    """
    piped = name == STDIN
    try:
        file = open(0, "rb", closefd=False) if piped else user_path(name).open("rb")  # noqa: SIM115
    except (OSError, ValueError) as error:
        raise unreadable(name, error) from None
    with file:
        yield file


def unreadable(name: str, error: Exception) -> ConfigError:
    """Return the error that says why the file ``name`` cannot be read."""
    reason = getattr(error, "strerror", None) or str(error)
    return ConfigError(f"Cannot read {clean(name, 200)}: {clean(reason, 200)}.")


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


def check_new(path: Path) -> None:
    """Raise BadValue where a file, a folder or a link is at ``path``."""
    if os.path.lexists(path):
        raise BadValue(f"{clean(path)} is already there; --replace replaces it.")


@contextmanager
def whole(path: Path, *, new: bool = False) -> Iterator[Path]:
    """Yield a name beside ``path``: the file that is written there takes the place of ``path`` when the block ends.

    It keeps the permissions of the old file. Raises ConfigError with one sentence, and BadValue for a file that is not
    ``new`` as it has to be; the old file is then unchanged.
    """
    import glob  # a first frame writes no file

    name = f".{path.name[:MAX_NAME]}"
    for left in path.parent.glob(f"{glob.escape(name)}.*-*.tmp"):  # by a run that was killed
        process = left.name.rpartition("-")[0].rpartition(".")[2]
        if process.isdecimal() and has_ended(int(process)):
            with suppress(OSError):
                left.unlink()
    temporary = path.with_name(f"{name}.{os.getpid()}-{os.urandom(4).hex()}.tmp")
    try:
        yield temporary
        if new:
            check_new(path)
        if path.is_file() and not path.is_symlink():
            temporary.chmod(stat.S_IMODE(path.stat().st_mode))
        temporary.replace(path)
    except OSError as error:
        raise _failed(path, error) from None
    finally:  # ctrl+c too leaves no half file
        with suppress(OSError):
            temporary.unlink()


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
            with path.open("wb") as file:
                return _written(file, chunks)
        target = Path(os.path.realpath(path))
    except OSError as error:
        raise _failed(path, error) from None
    with whole(target) as temporary:
        return _new_file(temporary, chunks)


def create(path: Path, chunks: Iterable[str | bytes], *, force: bool = False, private: bool = False) -> None:
    """Write ``chunks`` to a new file at ``path``, in a folder that is made when missing.

    A file or link that is already there is left alone (BadValue), or replaced with ``force``. ``private``: for the
    owner alone. Raises ConfigError with one sentence when it cannot be written.
    """
    try:
        _check_links(path.parent)
        path.parent.mkdir(mode=0o700 if private else 0o777, parents=True, exist_ok=True)
    except OSError as error:
        raise _failed(path, error) from None
    if not force:
        check_new(path)
    with whole(path, new=not force) as temporary:
        _new_file(temporary, chunks, 0o600 if private else 0o666)


def _new_file(path: Path, chunks: Iterable[str | bytes], mode: int = 0o666) -> int:
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode), "wb") as file:
        size = _written(file, chunks)
        os.fsync(file.fileno())
    return size


def _written(file: BinaryIO, chunks: Iterable[str | bytes]) -> int:
    size = sum(file.write(chunk.encode() if isinstance(chunk, str) else chunk) for chunk in chunks)
    file.flush()
    return size


def _check_links(path: Path, followed: int = 0) -> None:
    """Raise PermissionError where ``path`` leads through what another user has put into a folder for everybody.

    The rule of Linux's protected_symlinks and protected_fifos, whatever the system's settings are.
    """
    path = path.absolute()
    for at in (*reversed(path.parents), path) if sys.platform != "win32" else ():
        if not os.path.lexists(at):
            return
        folder, status = at.parent.stat(), at.lstat()
        shared = folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH
        is_file = stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)
        if shared and not is_file and status.st_uid not in (os.geteuid(), folder.st_uid):
            raise PermissionError(FOREIGN, "another user's link")
        if stat.S_ISLNK(status.st_mode) and followed < MOST_LINKS:
            _check_links(at.parent / at.readlink(), followed + 1)


def _failed(path: Path, error: OSError) -> ConfigError:
    reason = _REASONS.get(error.errno or 0) or (error.strerror or "it cannot be written").lower()
    try:
        note = " The old file is unchanged." if path.is_file() else ""
    except OSError:
        note = ""
    return ConfigError(f"Cannot write {clean(path, 200)}: {clean(reason, 100)}.{note}")
