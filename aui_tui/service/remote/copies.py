"""Answers kept on disk, to be asked about again or shown offline: plain files of JSON, nothing that runs."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from aui_tui.records.decoding import from_json

MAX_FILES: Final = 500
MAX_BYTES: Final = 256 * 1024 * 1024
"""Bytes of all copies together; the oldest go first."""
SUFFIX: Final = ".copy"
PART: Final = ".part"
ABANDONED: Final = 3600
"""Age in seconds of a half-written file that nobody will finish."""
_HEAD: Final = 16 * 1024


class Head(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The first line of a file: what the copy is of, its validators, and the length of the body in bytes."""

    url: str
    etag: str = ""
    modified: str = ""
    size: int = 0


class Copy(msgspec.Struct, frozen=True):
    """One kept answer; ``at`` is when it was last known to be current, in epoch seconds."""

    head: Head
    body: bytes
    at: float


class Copies:
    """Copies by address in ``folder``; None keeps nothing. A copy that cannot be read or written is simply absent."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def get(self, url: str) -> Copy | None:
        """Return the copy of ``url``; None when there is none that is whole."""
        if self._folder is None:
            return None
        try:
            descriptor = os.open(self._path(self._folder, url), os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
            with open(descriptor, "rb") as file:  # noqa: PTH123
                head = from_json(file.readline(_HEAD), Head)
                body = file.read(MAX_BYTES + 1)
                at = os.fstat(file.fileno()).st_mtime
        except (OSError, ValueError):
            return None
        whole = head.url == url and len(body) == head.size
        return Copy(head, body, at) if whole else None

    def put(self, url: str, body: bytes, *, etag: str, modified: str, at: float) -> None:
        """Keep ``body`` as the copy of ``url``, current at ``at``."""
        if self._folder is None or len(body) > MAX_BYTES:
            return
        head = Head(url=url, etag=etag[:500], modified=modified[:100], size=len(body))
        with contextlib.suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=self._folder, suffix=PART)
            try:
                with open(descriptor, "wb") as file:  # noqa: PTH123
                    file.write(msgspec.json.encode(head) + b"\n")
                    file.write(body)
                os.utime(name, (at, at))
                Path(name).replace(self._path(self._folder, url))
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
            self._prune(self._folder)

    def confirm(self, url: str, at: float) -> None:
        """Note that the copy of ``url`` was still current at ``at``."""
        if self._folder is not None:
            with contextlib.suppress(OSError):
                os.utime(self._path(self._folder, url), (at, at))

    def _path(self, folder: Path, url: str) -> Path:
        return folder / (hashlib.sha256(url.encode()).hexdigest()[:40] + SUFFIX)

    def _prune(self, folder: Path) -> None:
        files = sorted(_sizes(folder), reverse=True)
        held = 0
        for number, (_, size, path) in enumerate(files, 1):
            held += size
            if number > 1 and (number > MAX_FILES or held > MAX_BYTES):
                path.unlink(missing_ok=True)
        for path in folder.glob("*" + PART):
            if path.stat().st_mtime < time.time() - ABANDONED:
                path.unlink(missing_ok=True)


def _sizes(folder: Path) -> Iterator[tuple[float, int, Path]]:
    for path in folder.glob("*" + SUFFIX):
        with contextlib.suppress(OSError):
            found = path.stat()
            yield found.st_mtime, found.st_size, path
