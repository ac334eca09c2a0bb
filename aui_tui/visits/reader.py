"""Bytes of access logs: files, patterns and standard input, compressed or not, in blocks that end at a line's end."""

from __future__ import annotations

import bz2
import glob
import lzma
import math
import os
import select
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol

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


class Stream(Protocol):
    """What a log is read from."""

    def read(self, size: int, /) -> bytes:
        """Return at most ``size`` bytes, none at the end."""

    def close(self) -> None:
        """Give back the file."""


class Decompressor(Protocol):
    """The interface that ``bz2``, ``lzma`` and ``zstd`` share."""

    @property
    def eof(self) -> bool:
        """The end of a packed stream was reached."""

    @property
    def needs_input(self) -> bool:
        """Nothing more comes out before more goes in."""

    @property
    def unused_data(self) -> bytes:
        """What stands behind the end of the stream."""

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        """Return at most ``max_length`` bytes."""


class _Gzip:
    """``zlib`` with the interface of the others."""

    def __init__(self) -> None:
        self._raw = zlib.decompressobj(31)

    @property
    def eof(self) -> bool:
        return self._raw.eof

    @property
    def needs_input(self) -> bool:
        return not self._raw.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._raw.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        return self._raw.decompress(self._raw.unconsumed_tail + data, max_length)


def _zstd() -> Decompressor:
    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: WINDOW.bit_length() - 1})


PACKED: Final[Mapping[bytes, Callable[[], Decompressor]]] = {
    b"\x1f\x8b": _Gzip,
    b"\x28\xb5\x2f\xfd": _zstd,
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ\0": lambda: lzma.LZMADecompressor(memlimit=2 * WINDOW),
}
"""What unpacks data, by the bytes with which it begins; none takes much more memory than WINDOW."""


class Unpacked:
    """The unpacked content of ``raw``, any number of packed streams one after the other.

    An end that is cut off or damaged, or that needs too much memory, is noted; what came before it counts.
    """

    def __init__(self, make: Callable[[], Decompressor], raw: BinaryIO) -> None:
        self._make, self._raw = make, raw
        self._unpacker = make()
        self.cut_off = False

    def read(self, size: int, /) -> bytes:
        """Return at most ``size`` bytes, none at the end."""
        while not self.cut_off:
            try:
                data = self._raw.read(BLOCK) if self._unpacker.needs_input and not self._unpacker.eof else b""
                if self._unpacker.eof:
                    data = (self._unpacker.unused_data or self._raw.read(BLOCK)).lstrip(b"\0")
                    if not data:
                        return b""
                    self._unpacker = self._make()
                elif not data and self._unpacker.needs_input:
                    raise EOFError
                out = self._unpacker.decompress(data, size)
            except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error, zstd.ZstdError):
                self.cut_off = True
                break
            if out:
                return out
        return b""

    def close(self) -> None:
        """Close the file beneath."""
        self._raw.close()


def open_log(name: str) -> Stream:
    """Open a file, or ``-`` for standard input, unpacked by its first bytes whatever its name says.

    Raises ConfigError with one sentence when it cannot be opened.
    """
    raw: Any = _open(name)
    if name != STDIN and not os.fstat(raw.fileno()).st_size:  # files of /proc have no size, and may never end
        raw.close()
        return BytesIO()
    magic = raw.peek(6)[:6] if hasattr(raw, "peek") else b""
    for begin, unpack in PACKED.items():
        if magic.startswith(begin):
            return Unpacked(unpack, raw)
    plain: Stream = raw
    return plain


def _open(name: str) -> Any:
    if name == STDIN:
        if sys.stdin is None:
            raise ConfigError("Standard input is closed.")
        return sys.stdin.buffer
    try:
        return Path(name).open("rb")
    except OSError as error:
        raise ConfigError(f"Cannot read {clean(name, 200)}: {error.strerror or error}.") from None


def is_plain(name: str) -> bool:
    """Say whether ``name`` is an ordinary file that is not compressed, so that it can be read in parts."""
    if name == STDIN or not Path(name).is_file():
        return False
    with Path(name).open("rb") as file:
        magic = file.read(6)
    return not magic.startswith(tuple(PACKED))


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


def blocks(stream: Stream, owned: int | None = None) -> Iterator[bytes]:
    """Yield blocks of whole lines, without what may stand BEFORE them; the last line gets its line feed if it has none.

    ``owned``: stop after the line that covers that many bytes. Of a line over LINE_LIMIT only the beginning is given.
    """
    left: float = math.inf if owned is None else owned
    tail, skipping, begun = b"", False, False
    while block := stream.read(BLOCK):
        if not begun:
            left -= len(block)
            block = block.lstrip(BEFORE)
            left += len(block)
            begun = bool(block)
        if skipping:
            end = block.find(b"\n") + 1
            left -= end or len(block)
            if not end:
                continue
            skipping, block = False, block[end:]
            if left <= 0:
                return
        block = tail + block
        if len(block) >= left:
            yield from _last(stream, block, int(left))
            return
        end = block.rfind(b"\n") + 1
        if not end and len(block) > LINE_LIMIT:
            yield block[:SHORTENED] + b"\n"
            skipping, tail = True, b""
            left -= len(block)
            continue
        tail = block[end:]
        left -= end
        if end:
            yield block[:end]
    if tail:
        yield tail + b"\n"


def _last(stream: Stream, block: bytes, owned: int) -> Iterator[bytes]:
    """Yield ``block`` up to the end of the line that covers its byte ``owned``."""
    while (end := block.find(b"\n", max(owned - 1, 0))) < 0:
        more = stream.read(BLOCK)
        if not more:
            break
        block += more
        if len(block) > owned + LINE_LIMIT:
            start = block.rfind(b"\n", 0, owned) + 1
            block = block[: start + SHORTENED]
            break
    if end >= 0:
        yield block[: end + 1]
    elif block:
        yield block + b"\n"


Places = dict[tuple[int, int], int]
"""How far files were read, by device and inode."""


class Tail:
    """A growing file: whole lines as they are written, through rotation (a new file) and truncation.

    ``places`` is shared by the tails of a run: a file that rotation gives another of their names goes on where it was.
    A packed file does not grow: it is read once.
    """

    def __init__(self, name: str, places: Places) -> None:
        self._name, self._places = name, places
        self._once = None if name != STDIN and is_plain(name) else _Once(name)
        self._files = [] if self._once else [_Growing(name, places)]

    @property
    def ended(self) -> bool:
        """Nothing more will come: standard input or a packed file is at its end; a growing file never is."""
        return self._once is not None and self._once.ended

    def read(self) -> bytes:
        """Return the whole lines written since, at most BLOCK bytes or so; none when there is nothing new."""
        if self._once is not None:
            return self._once.read()
        for file in self._files:
            if data := file.read():
                return data
        if self._is_replaced():
            with suppress(ConfigError):
                self._files.append(_Growing(self._name, self._places))
                self._files[-2].seen = time.monotonic()
                return self._files[-1].read()
        return self._last_lines()

    def close(self) -> None:
        """Close the files."""
        if self._once is not None:
            self._once.close()
        for file in self._files:
            file.close()

    def _last_lines(self) -> bytes:
        """Close a file that was rotated away some time ago, and return its last line if that has no line feed."""
        if len(self._files) < 2 or time.monotonic() - self._files[0].seen < GRACE:
            return b""
        file = self._files.pop(0)
        file.close()
        return file.rest + b"\n" if file.rest else b""

    def _is_replaced(self) -> bool:
        new = identity(self._name)
        return new != self._name and new != self._files[-1].identity


class _Growing:
    """One open file that grows. ``rest``: the beginning of a line.

    ``seen``: when its last bytes came, or when it was found to be rotated away.
    """

    def __init__(self, name: str, places: Places) -> None:
        self._file, self._places = _open(name), places
        status = os.fstat(self._file.fileno())
        self.identity = status.st_dev, status.st_ino
        self.rest, self.seen = b"", time.monotonic()

    def read(self) -> bytes:
        """Return the whole lines written since."""
        at = self._places.get(self.identity, 0)
        if os.fstat(self._file.fileno()).st_size < at:
            at, self.rest = 0, b""
        self._file.seek(at)
        data: bytes = self._file.read(BLOCK)
        if data:
            self.seen = time.monotonic()
        self._places[self.identity] = at + len(data)
        block = self.rest + data if self.rest else data.lstrip(BEFORE)
        end = block.rfind(b"\n") + 1
        self.rest = block[end:][-LINE_LIMIT:]
        return block[:end]

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class _Once:
    """Standard input as it comes, or a packed file as a whole."""

    def __init__(self, name: str) -> None:
        self.ended = False
        self._rest = b""
        self._input: int = _open(name).fileno() if name == STDIN else -1
        self._stream = _open(name) if name == STDIN else open_log(name)
        self._blocks = blocks(self._stream)

    def read(self) -> bytes:
        """Return the whole lines that came since."""
        if self._input < 0:
            block = next(self._blocks, b"")
            self.ended = not block
            return block
        if self.ended or not select.select([self._input], [], [], 0)[0]:
            return b""
        data = os.read(self._input, BLOCK)
        self.ended = not data
        block = self._rest + data + (b"\n" if self.ended and self._rest else b"")
        end = block.rfind(b"\n") + 1
        self._rest = block[end:][-LINE_LIMIT:]
        return block[:end]

    def close(self) -> None:
        """Close a file; standard input stays open."""
        if self._input < 0:
            self._stream.close()
