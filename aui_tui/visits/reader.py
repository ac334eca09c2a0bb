"""Access logs as blocks of whole lines: files, patterns and standard input, compressed or not, growing or at rest."""

from __future__ import annotations

import bz2
import glob
import gzip
import lzma
import os
import select
import stat
import sys
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, Final

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

from aui_tui.errors import BadValue, ConfigError
from aui_tui.files import STDIN, unreadable
from aui_tui.text import clean

BLOCK: Final = 1 << 18
LINE_LIMIT: Final = 1 << 20
"""Bytes of a line above which only its beginning is looked at."""
SHORTENED: Final = 1 << 10
WINDOW: Final = 32 << 20
"""Bytes of memory that packed data may ask for."""
BEFORE: Final = b"\xef\xbb\xbf\0"
"""Bytes that may stand before the first line: a byte order mark, and the zeros of a file that was truncated while its
writer kept its place in it."""
GRACE: Final = 10.0
"""Seconds after its last line during which a file that was rotated away is read on: servers reopen their logs late."""


def _open_zstd(raw: Any) -> Any:
    return zstd.open(raw, options={zstd.DecompressionParameter.window_log_max: WINDOW.bit_length() - 1})


class _Xz:
    """An xz file, each stream of which gets 2 * WINDOW bytes of memory; the library's own has no limit."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw
        self._stream = lzma.LZMADecompressor(memlimit=2 * WINDOW)

    def read1(self, size: int) -> bytes:
        """Return at most ``size`` bytes, none at the end. Raises EOFError, LZMAError."""
        while True:
            packed = b""
            if self._stream.eof:
                packed = self._stream.unused_data.lstrip(b"\0")
                while not packed:
                    block = self._raw.read1(BLOCK)
                    if not block:
                        return b""
                    packed = block.lstrip(b"\0")
                self._stream = lzma.LZMADecompressor(memlimit=2 * WINDOW)
            elif self._stream.needs_input:
                packed = self._raw.read1(BLOCK)
                if not packed:
                    raise EOFError
            if data := self._stream.decompress(packed, size):
                return data


PACKED: Final[Mapping[bytes, Callable[[Any], Any]]] = {
    b"\x1f\x8b": gzip.open,
    b"\x28\xb5\x2f\xfd": _open_zstd,
    b"BZh": bz2.open,
    b"\xfd7zXZ\0": _Xz,
}
"""What unpacks a file, by the bytes with which it begins; none takes much more memory than WINDOW."""


class Log:
    """An open log: a file, or ``-`` for standard input, unpacked by its first bytes whatever its name says.

    ``growing``: what is written later is read too; standard input is not waited for. A packed file does not grow.
    Raises ConfigError with one sentence when it cannot be opened.
    """

    def __init__(self, name: str, *, growing: bool = False) -> None:
        self._raw = raw = _open(name)
        self._growing = growing
        self._input = name == STDIN
        self._file: Any = raw
        self._packed = False
        self._at = 0
        self._rest = b""
        self._begun = self._skipping = False
        self._left: float | None = None
        self.cut_off = False
        """The end of its packed data is missing or damaged, or needs too much memory; what came before counts."""
        self.ended = False
        """Nothing more will come: standard input or a packed file is at its end; a growing file never is."""
        if not self._input and not os.fstat(raw.fileno()).st_size and not growing:
            self._file = BytesIO()  # files of /proc have no size, and may never end
            return
        magic = raw.peek(6)[:6] if hasattr(raw, "peek") else b""
        unpack = next((unpack for begin, unpack in PACKED.items() if magic.startswith(begin)), None)
        if unpack is not None:
            self._packed = True
            self._file = self._sound(lambda: unpack(raw)) or BytesIO()

    def _sound(self, step: Callable[[], Any]) -> Any:
        """Return what ``step`` brings; None where the packed data cannot be read on."""
        try:
            return step()
        except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error, zstd.ZstdError):
            self.cut_off = True
            return None

    def read(self) -> bytes:
        """Return whole lines, about BLOCK bytes of them; none at the end, and where there is nothing new yet.

        Of a line over LINE_LIMIT only the beginning is given; the last line gets its line feed if it has none.
        """
        while not self.ended:
            data = self._more()
            if data is None:
                return b""
            self._left = None
            self.ended = not data
            if block := self._lines(data) if data else self._last():
                return block
        return b""

    def _more(self) -> bytes | None:
        """Return new bytes, none at the end, and None where there are none yet."""
        raw = self._raw
        if self._packed:
            return self._sound(lambda: self._file.read1(BLOCK)) or b""
        if not self._growing:
            data: bytes = self._file.read(BLOCK)
            return data
        if self._input and not self._at:
            return bytes(raw.read1(BLOCK))  # what was looked at already
        if self._input:
            return os.read(raw.fileno(), BLOCK) if select.select([raw], [], [], 0)[0] else None
        if os.fstat(raw.fileno()).st_size < self._at:  # truncated
            self._at, self._rest, self._begun, self._skipping = 0, b"", False, False
        raw.seek(self._at)
        return raw.read(BLOCK) or None

    def _lines(self, data: bytes) -> bytes:
        """Return the whole lines that ``data`` completes, without what may stand BEFORE the first one."""
        self._at += len(data)
        if not self._begun:
            data = data.lstrip(BEFORE)
            self._begun = bool(data)
        if self._skipping:
            end = data.find(b"\n")
            self._skipping = end < 0
            data = b"" if self._skipping else data[end:]
        block = self._rest + data
        end = block.rfind(b"\n") + 1
        self._rest = block[end:]
        if len(self._rest) > LINE_LIMIT:
            self._rest, self._skipping = self._rest[:SHORTENED], True
        return block[:end]

    def _last(self) -> bytes:
        rest, self._rest = self._rest, b""
        return rest + b"\n" if rest else b""

    def left(self) -> bool:
        """Note that no name leads to the file any more; say whether GRACE has passed since, or since its last line."""
        self._left = time.monotonic() if self._left is None else self._left
        return time.monotonic() - self._left >= GRACE

    def close(self) -> bytes:
        """Close the file, standard input left out, and return a last line that has no line feed."""
        if self._raw is not getattr(sys.stdin, "buffer", None):
            self._raw.close()
        return self._last()


def _open(name: str) -> Any:
    if name == STDIN:
        if sys.stdin is None:
            raise ConfigError("Standard input is closed.")
        return sys.stdin.buffer
    try:
        return Path(name).open("rb")
    except OSError as error:
        raise unreadable(name, error) from None


def files_of(logs: Sequence[str]) -> list[str]:
    """Return the files that ``logs`` name, patterns such as ``access.log*`` resolved, each once, links followed.

    Raises BadValue when one names none, ConfigError when one cannot be read.
    """
    files: list[str] = []
    for log in logs:
        if not log.strip() or "\0" in log:
            raise BadValue("A log must be the name of a file, a pattern such as access.log*, or - for standard input.")
        is_name = log == STDIN or not glob.has_magic(log) or Path(log).exists()
        matches = [log] if is_name else sorted(glob.glob(log, recursive=True))  # noqa: PTH207 - absolute patterns
        if not matches:
            raise ConfigError(f"No file matches {clean(log, 200)}.")
        for match in matches:
            if Path(match).is_dir():
                raise ConfigError(
                    f"{clean(match, 200)} is a folder: name its files, such as {clean(match, 200)}/*.log."
                )
            if match != STDIN and not _is_file(match):
                raise ConfigError(f"{clean(match, 200)} is not a file: send what it gives to aui-tui visits -.")
        files += matches
    each: dict[tuple[int, int] | str, str] = {}
    for name in files:
        each.setdefault(identity(name), name)
    return list(each.values())


def _is_file(name: str) -> bool:
    try:
        return stat.S_ISREG(Path(name).stat().st_mode)
    except OSError as error:
        raise unreadable(name, error) from None


def identity(name: str) -> tuple[int, int] | str:
    """Return device and inode of a file; the name itself for standard input and a missing file."""
    try:
        status = Path(name).stat()
    except OSError:
        return name
    return (status.st_dev, status.st_ino) if name != STDIN and status.st_ino else name
