"""Lists of hosts: lines or CSV of host, name, category, from a file, standard input or the starter list.

They are read row by row on a thread of their own; what cannot be read is named by its line.
"""

from __future__ import annotations

import asyncio
import csv
import io
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Final, NamedTuple

from aui_tui.errors import AuiError, BadValue, ConfigError, PrivateHost
from aui_tui.files import STDIN, reading
from aui_tui.model.starter import starter
from aui_tui.model.vocabulary import CATEGORIES, choose
from aui_tui.scan.target import Target
from aui_tui.text import clean, without_log_in
from aui_tui.threads import abandonable

MAX_LINE: Final = 8192
"""Bytes of the longest line that is read."""
MAX_LIST: Final = 512 * 1024 * 1024
"""Bytes of the longest list that is read: some 25 million hosts."""
MAX_NAME: Final = 200
HOST_COLUMNS: Final = ("host", "hostname", "domain", "site", "url", "website")
"""Words in the first row that make it a header; the columns may then stand in any order."""
_SHOWN: Final = 60
BAD_AT_FIRST: Final = 20
"""Rows before any host of which none can be read, after which a file is no list of hosts."""


class ListedHost(NamedTuple):
    """A host to scan: ``line`` in the list, ``url`` as given, ``site`` under which its card is kept.

    ``unknown``: a category that there is none of.
    """

    line: int
    url: str
    site: str
    name: str = ""
    category: str = ""
    unknown: str = ""


class BadRow(NamedTuple):
    """A row that is skipped: ``text`` is the beginning of what it says, ``reason`` one sentence.

    ``is_host``: it names a host, which is not scanned all the same.
    """

    line: int
    text: str
    reason: str
    is_host: bool = False


class _Columns(NamedTuple):
    host: int = 0
    name: int = 1
    category: int = 2


def starter_rows() -> Iterator[ListedHost | BadRow]:
    """Yield the packaged starter list."""
    for line, (host, labels) in enumerate(starter().items(), 1):
        yield ListedHost(line, host, host, labels.name, labels.category)


def read(file: IO[bytes], target: Callable[[str], Target]) -> Iterator[ListedHost | BadRow]:
    """Yield the rows of the list in ``file``; ``target`` reads a host and raises InvalidHost.

    Blank lines, lines that begin with ``#`` and a byte-order mark are passed over. A first row that names its columns
    is a header. A leading column of numbers (a rank) is passed over too. Raises ConfigError for an endless list, and
    for a file that is none.
    """
    bad: list[BadRow] = []
    found = False
    for row in _rows(file, target):
        found = found or isinstance(row, ListedHost) or row.is_host
        if found:
            yield from bad
            bad.clear()
            yield row
        elif isinstance(row, BadRow):
            bad.append(row)
            if len(bad) == BAD_AT_FIRST:
                break
    if not found and (len(bad) == BAD_AT_FIRST or any(row.reason in (NO_TEXT, BINARY) for row in bad[:1])):
        raise ConfigError(f"This is no list of hosts; line {bad[0].line}: {bad[0].reason} {ALLOWED}")
    yield from bad


NO_TEXT, BINARY = "The line is not UTF-8 text.", "The line has control characters: it is binary."
ALLOWED: Final = "A list has lines, or CSV of host, name, category."


def _rows(file: IO[bytes], target: Callable[[str], Target]) -> Iterator[ListedHost | BadRow]:
    columns = _Columns()
    line_of: dict[str, int] = {}
    first = True
    for number, line in enumerate(lines(file), 1):
        if line is None:
            yield BadRow(number, "", f"The line is longer than {MAX_LINE:,} bytes.")
            continue
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if any("\udc80" <= letter <= "\udcff" for letter in text):
            yield BadRow(number, _shown(text), NO_TEXT)
            continue
        if "\0" in text:
            yield BadRow(number, _shown(text), BINARY)
            continue
        try:
            cells = [cell.strip() for cell in next(csv.reader([text], strict=True))]
        except (csv.Error, StopIteration):
            yield BadRow(number, _shown(text), "The line is not CSV: a quotation mark is left open or misplaced.")
            continue
        header = _header(cells) if first else None
        first = False
        if header is not None:
            columns = header
            continue
        row = _row(number, text, cells, columns, target)
        if isinstance(row, ListedHost):
            earlier = line_of.setdefault(row.site, number)
            if earlier != number:
                row = BadRow(number, _shown(row.site), f"The same host as in line {earlier}.", is_host=True)
        yield row


def lines(file: IO[bytes]) -> Iterator[str | None]:
    """Yield the lines of ``file`` without line breaks, as they come; None for one that is too long.

    Bytes that are not UTF-8 become lone surrogates. Raises ConfigError past MAX_LIST.
    """
    pieces = _pieces(io.TextIOWrapper(file, "utf-8-sig", "surrogateescape"))
    for line in pieces:
        complete = line.endswith("\n") or len(line) <= MAX_LINE
        while not line.endswith("\n") and (rest := next(pieces, "")):
            line = rest
        yield line.removesuffix("\n") if complete else None


def _pieces(text: io.TextIOWrapper) -> Iterator[str]:
    """Yield the lines of ``text``, those that are too long in pieces."""
    size = 0
    while piece := text.readline(MAX_LINE + 1):
        size += len(piece)
        if size > MAX_LIST:
            raise ConfigError(f"The list of hosts is larger than {MAX_LIST >> 20} MiB; split it.")
        yield piece


def _header(cells: list[str]) -> _Columns | None:
    words = [cell.casefold() for cell in cells]
    host = next((words.index(word) for word in HOST_COLUMNS if word in words), None)
    if host is None:
        return None
    name, category = (words.index(word) if word in words else len(words) for word in ("name", "category"))
    return _Columns(host, name, category)


def _row(
    number: int, text: str, cells: list[str], columns: _Columns, target: Callable[[str], Target]
) -> ListedHost | BadRow:
    if columns == _Columns():
        if len(cells) > 1 and cells[0].isdecimal():
            cells = cells[1:]
        if len(cells) > len(columns):
            return BadRow(number, _shown(text), f"The row has {len(cells)} columns; allowed are host, name, category.")
    cells = cells + [""] * (1 + max(columns) - len(cells))
    try:
        category = _category(cells[columns.category])
        url = cells[columns.host]
        site = target(url).site
    except AuiError as error:
        return BadRow(number, _shown(text), str(error), is_host=isinstance(error, PrivateHost))
    unknown = clean(cells[columns.category], MAX_NAME) if cells[columns.category] and not category else ""
    return ListedHost(number, url, site, clean(cells[columns.name], MAX_NAME), category, unknown)


def _category(word: str) -> str:
    """Return the category that a row names, empty for none and for one that is not known."""
    try:
        return choose("category", word, CATEGORIES) if word else ""
    except BadValue:
        return ""


def _shown(text: str) -> str:
    return clean(without_log_in(text), _SHOWN)


CHUNK: Final = 1 << 16
GROUP: Final = 64
"""Rows handed over at a time, at most."""
WAITING: Final = 256
"""Rows that wait to be taken, at most."""


def read_file(path: str, target: Callable[[str], Target]) -> Iterator[ListedHost | BadRow]:
    """Yield the rows of the list in the file ``path``, of standard input for ``-``. Raises ConfigError."""
    with reading(path) as file:
        yield from read(file, target)


def count_lines(path: str) -> int | None:
    """Return the lines of a regular file, None where they can be read but once or are too many. Raises ConfigError."""
    if path == STDIN or not Path(path).is_file() or Path(path).stat().st_size > MAX_LIST:
        return None
    last = b"\n"
    total = 0
    with reading(path) as file:
        while data := file.read(CHUNK):
            total += data.count(b"\n")
            last = data[-1:]
    return total + (last != b"\n")


async def groups(rows: Iterable[ListedHost | BadRow]) -> AsyncIterator[list[ListedHost | BadRow]]:
    """Yield rows in groups as they come, read on a thread of its own, which stops while nobody takes them."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[ListedHost | BadRow | None] = asyncio.Queue()
    places = threading.Semaphore(WAITING)

    def work() -> None:
        try:
            for row in rows:
                places.acquire()
                loop.call_soon_threadsafe(queue.put_nowait, row)
        finally:
            loop.call_soon_threadsafe(queue.put_nowait, None)

    reading = abandonable(work)
    ended = False
    while not ended:
        taken = [await queue.get()]
        while len(taken) < GROUP and not queue.empty():
            taken.append(queue.get_nowait())
        group = [row for row in taken if row is not None]
        ended = len(group) < len(taken)
        for _ in group:
            places.release()
        if group:
            yield group
    await reading
