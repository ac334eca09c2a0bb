"""Bytes of access logs: files, patterns and standard input, compressed or not, in blocks that end at a line's end."""

from __future__ import annotations

import bz2
import glob
import gzip
import lzma
import os
import select
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, Final

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

from aui_tui.errors import BadValue, ConfigError
from aui_tui.text import clean

BLOCK: Final = 1 << 18
LINE_LIMIT: Final = 1 << 20
"""Bytes of a line above which only its beginning is looked at."""
SHORTENED: Final = 1 << 10
WINDOW: Final = 32 << 20
"""Bytes of memory that packed data may ask for."""
STDIN: Final = "-"
BEFORE: Final = b"\xef\xbb\xbf\0"
"""Bytes that may stand before the first line: a byte order mark, and the zeros of a file that was truncated while its
writer kept its place in it."""
GRACE: Final = 10.0
"""Seconds after its last line during which a file that was rotated away is read on: servers reopen their logs late."""


def _open_zstd(raw: Any) -> Any:
    return zstd.open(raw, options={zstd.DecompressionParameter.window_log_max: WINDOW.bit_length() - 1})


def _open_xz(raw: Any) -> Any:
    lzma.LZMADecompressor(memlimit=2 * WINDOW).decompress(raw.peek(BLOCK), 1)
    return lzma.open(raw)


PACKED: Final[Mapping[bytes, Callable[[Any], Any]]] = {
    b"\x1f\x8b": gzip.open,
    b"\x28\xb5\x2f\xfd": _open_zstd,
    b"BZh": bz2.open,
    b"\xfd7zXZ\0": _open_xz,
}
"""What unpacks a file, by the bytes with which it begins; none takes much more memory than WINDOW."""


class Log:
    """An open log: a file, or ``-`` for standard input, unpacked by its first bytes whatever its name says.

    ``cut_off``: the end of its packed data is missing or damaged, or it needs too much memory; what came before counts.
    Raises ConfigError with one sentence when it cannot be opened.
    """

    def __init__(self, name: str) -> None:
        self.raw = raw = _open(name)
        self.cut_off = False
        self.packed = False
        self._file: Any = raw
        if name != STDIN and not os.fstat(raw.fileno()).st_size:  # files of /proc have no size, and may never end
            self._file = BytesIO()
            return
        magic = raw.peek(6)[:6] if hasattr(raw, "peek") else b""
        unpack = next((unpack for begin, unpack in PACKED.items() if magic.startswith(begin)), None)
        if unpack is not None:
            self.packed = True
            self._file = self._sound(lambda: unpack(raw)) or BytesIO()

    def _sound(self, step: Callable[[], Any]) -> Any:
        """Return what ``step`` brings; None where the packed data cannot be read on."""
        try:
            return step()
        except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error, zstd.ZstdError):
            if not self.packed:
                raise
            self.cut_off = True
        return None

    def read(self) -> bytes:
        """Return about BLOCK bytes, none at the end."""
        take = self._file.read1 if self.packed else self._file.read
        return self._sound(lambda: take(BLOCK)) or b""

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if self.raw is not getattr(sys.stdin, "buffer", None):
            self.raw.close()


def _open(name: str) -> Any:
    if name == STDIN:
        if sys.stdin is None:
            raise ConfigError("Standard input is closed.")
        return sys.stdin.buffer
    try:
        return Path(name).open("rb")
    except OSError as error:
        raise ConfigError(f"Cannot read {clean(name, 200)}: {error.strerror or error}.") from None


def files_of(logs: Sequence[str]) -> list[str]:
    """Return the files that ``logs`` name, patterns such as ``access.log*`` resolved, each once, links followed.

    Raises BadValue when one names none, ConfigError when one cannot be read.
    """
    found: list[str] = []
    for log in logs:
        if not log.strip() or "\0" in log:
            raise BadValue("A log must be the name of a file, a pattern such as access.log*, or - for standard input.")
        is_file = log == STDIN or Path(log).exists()
        matches = [log] if is_file else sorted(glob.glob(log, recursive=True))  # noqa: PTH207 - absolute patterns
        if not matches:
            raise ConfigError(f"There is no file {clean(log, 200)}.")
        for match in matches:
            if Path(match).is_dir():
                raise ConfigError(
                    f"{clean(match, 200)} is a folder: name its files, such as {clean(match, 200)}/*.log."
                )
            if match != STDIN and not Path(match).is_file():
                raise ConfigError(f"{clean(match, 200)} is not a file: send what it gives to aui-tui visits -.")
        found += matches
    each: dict[tuple[int, int] | str, str] = {}
    for name in found:
        each.setdefault(identity(name), name)
    return list(each.values())


def identity(name: str) -> tuple[int, int] | str:
    """Return what two names of one file have in common; the name itself for standard input and what is not there."""
    try:
        status = Path(name).stat()
    except OSError:
        return name
    return (status.st_dev, status.st_ino) if name != STDIN and status.st_ino else name


class Lines:
    """Cuts bytes into blocks of whole lines, without what may stand BEFORE the first line.

    Of a line over LINE_LIMIT only the beginning is given.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._begun = self._skipping = False

    def feed(self, data: bytes) -> bytes:
        """Return the whole lines that ``data`` completes."""
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

    def last(self) -> bytes:
        """Return the last line, with a line feed, where it has none."""
        rest, self._rest = self._rest, b""
        return rest + b"\n" if rest else b""


def blocks(log: Log) -> Iterator[bytes]:
    """Yield the blocks of whole lines of ``log``; the last line gets its line feed if it has none."""
    lines = Lines()
    while data := log.read():
        if block := lines.feed(data):
            yield block
    if block := lines.last():
        yield block


class Tail:
    """A log that is followed: whole lines as they are written. A packed file does not grow: it is read once."""

    def __init__(self, name: str) -> None:
        self._log = Log(name)
        self._input = name == STDIN
        self._lines, self._at = Lines(), 0
        self._left: float | None = None
        self.ended = False
        """Nothing more will come: standard input or a packed file is at its end; a growing file never is."""

    def read(self) -> bytes:
        """Return the whole lines written since, at most BLOCK bytes or so; none when there is nothing new."""
        while not self.ended:
            data = self._more()
            if data is None:
                return b""
            self._at += len(data)
            self._left = None
            self.ended = not data
            if block := self._lines.feed(data) if data else self._lines.last():
                return block
        return b""

    def _more(self) -> bytes | None:
        """Return new bytes, none at the end, and None where there are none yet."""
        raw = self._log.raw
        if self._input:
            return os.read(raw.fileno(), BLOCK) if select.select([raw], [], [], 0)[0] else None
        if self._log.packed:
            return self._log.read()
        if os.fstat(raw.fileno()).st_size < self._at:  # truncated
            self._at, self._lines = 0, Lines()
        raw.seek(self._at)
        return raw.read(BLOCK) or None

    def left(self) -> bool:
        """Note that no name leads to the file any more; say whether GRACE has passed since, or since its last line."""
        self._left = time.monotonic() if self._left is None else self._left
        return time.monotonic() - self._left >= GRACE

    def last(self) -> bytes:
        """Close the file, and return its last line where that has no line feed."""
        self._log.close()
        return self._lines.last()
