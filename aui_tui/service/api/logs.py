"""What the server tells its operator: lines on standard error, those of the access log written several at a time."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from functools import lru_cache
from typing import Any, Final

from aui_tui.text import clean

ACCESS: Final = "aui_tui.access"
"""Name of the logger of requests."""
DELAY: Final = 0.1
"""Seconds that a line of the access log may wait for others."""
MOST: Final = 256
"""Lines that may wait."""

LOGGING: Final[dict[str, Any]] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": f"{__name__}.LineFormatter"}},
    "handlers": {"stderr": {"class": f"{__name__}.Gathered", "formatter": "line", "stream": "ext://sys.stderr"}},
    "loggers": {
        "aui_tui": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
        "uvicorn": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
    },
}
"""Everything on standard error, a line each."""


class LineFormatter(logging.Formatter):
    """One clean line for each event; an exception is named, its stack left out."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of ``record``: its time in UTC, its logger, and what happened."""
        said, error = record.getMessage(), record.exc_info[1] if record.exc_info else None
        if error is not None:
            said = f"{said.strip()}: {type(error).__name__}: {error}"
        return clean(f"{_second(int(record.created))}.{int(record.msecs):03d}Z {record.name} {said}", 2000)


@lru_cache(maxsize=2)
def _second(epoch: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(epoch))


class Gathered(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes a line at once with those that wait; a line of the access log waits DELAY seconds for others.

    Writing each by itself costs a third of the time of a short answer.
    """

    def __init__(self, stream: Any = None) -> None:
        super().__init__(stream)
        self._lines: list[str] = []
        self._due = 0.0

    def emit(self, record: logging.LogRecord) -> None:
        """Take the line of ``record``."""
        try:
            self._lines.append(self.format(record) + self.terminator)
        except Exception:
            self.handleError(record)
            return
        if record.name != ACCESS or not self._may_wait():
            self.flush()

    def _may_wait(self) -> bool:
        """Return whether a flush is on its way, having asked for one for the first line."""
        now = time.monotonic()
        if len(self._lines) > 1:
            return len(self._lines) < MOST and now < self._due
        try:
            asyncio.get_running_loop().call_later(DELAY, self.flush)
        except RuntimeError:
            return False
        self._due = now + 2 * DELAY
        return True

    def flush(self) -> None:
        """Write what waits; a reader that is gone is nobody's fault."""
        with self.lock or contextlib.nullcontext():
            lines, self._lines = self._lines, []
            if lines:
                with contextlib.suppress(OSError, ValueError):
                    self.stream.write("".join(lines))
                    self.stream.flush()
