"""Where a list comes from: a file, standard input or the starter list, read on a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from aui_tui.crawl.listing import BadRow, Row
from aui_tui.errors import ConfigError
from aui_tui.text import clean

CHUNK: Final = 1 << 16
GROUP: Final = 64
"""Rows handed over at a time, at most."""
WAITING: Final = 4
"""Groups that wait to be taken, at most."""

Rows = Iterable[Row | BadRow]
Pause = Callable[[], None]
"""To be called before each wait for more of a list."""


def chunks(path: str, pause: Pause = lambda: None) -> Iterator[bytes]:
    """Yield the bytes of the file ``path``, of standard input for ``-``. Raises ConfigError."""
    try:
        with open(0 if path == "-" else path, "rb", buffering=0, closefd=path != "-") as file:
            while data := file.read(CHUNK):
                yield data
                pause()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"Cannot read {clean(path, 200)}: {reason}.") from None


def count_lines(path: str) -> int | None:
    """Return the lines of a regular file, None where they can be read but once."""
    if path == "-" or not Path(path).is_file():
        return None
    total, last = 0, b"\n"
    for data in chunks(path):
        total += data.count(b"\n")
        last = data[-1:]
    return total + (last != b"\n")


async def groups(rows_with: Callable[[Pause], Rows]) -> AsyncIterator[list[Row | BadRow]]:
    """Yield rows in groups as they come, read on a thread of its own, which stops while nobody takes them."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[list[Row | BadRow] | Exception | None] = asyncio.Queue()
    places = threading.Semaphore(WAITING)
    group: list[Row | BadRow] = []

    def hand(item: list[Row | BadRow] | Exception | None) -> None:
        with suppress(RuntimeError):  # the loop has ended: nobody takes any more
            loop.call_soon_threadsafe(queue.put_nowait, item)

    def flush() -> None:
        nonlocal group
        if group:
            places.acquire()
            hand(group)
            group = []

    def work() -> None:
        end: Exception | None = None
        try:
            for row in rows_with(flush):
                group.append(row)
                if len(group) >= GROUP:
                    flush()
        except Exception as error:
            end = error
        flush()
        hand(end)

    threading.Thread(target=work, name="aui-list", daemon=True).start()
    while True:
        item = await queue.get()
        if item is None:
            return
        if isinstance(item, Exception):
            raise item
        places.release()
        yield item
