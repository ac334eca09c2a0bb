"""Work on threads that the end of the program does not wait for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


def abandonable(work: Callable[[], T]) -> asyncio.Future[T]:
    """Return what ``work`` returns, or raises: a pipe may stay silent for ever, and nobody waits for its thread."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[T] = loop.create_future()

    def tell(settle: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop has ended: nobody waits any more
            loop.call_soon_threadsafe(lambda: None if ended.done() else settle())

    def run() -> None:
        try:
            result = work()
        except BaseException as error:  # handed on: whoever waits raises it
            failure = error
            tell(lambda: ended.set_exception(failure))
        else:
            tell(lambda: ended.set_result(result))

    threading.Thread(target=run, name="aui-abandonable", daemon=True).start()
    return ended
