"""A time limit on work that hears neither a signal nor a cancelled task: a thread that waits, and acts when it is late.

One thread watches one piece of work after another. In a run of short ones it wakes once in the time that each may take,
where a timer for each would be a thread for each.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable, Iterator


class Watchdog:
    """Calls ``bite`` when the work under way is late, at most once for each piece. Must be closed."""

    def __init__(self, bite: Callable[[], None]) -> None:
        self._bite = bite
        self._changed = threading.Condition()
        self._due = math.inf
        self._wakes = math.inf
        self._closed = False
        threading.Thread(target=self._watch, name="aui-watchdog", daemon=True).start()

    @contextlib.contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Watch the body of the ``with``: it may take ``seconds``. One at a time."""
        with self._changed:
            self._due = time.monotonic() + seconds
            if self._due < self._wakes:
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._due = math.inf

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def _watch(self) -> None:
        with self._changed:
            while not self._closed:
                left = self._due - time.monotonic()
                if left <= 0:
                    self._due = math.inf
                    self._bite()
                else:
                    self._wakes = self._due
                    self._changed.wait(left if left < math.inf else None)
