"""The log of a server: clean lines on standard error, written by a thread of its own: nobody waits for its reader."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import sys
import threading
import time
from collections import deque
from typing import Any, Final

from aui_tui.text import break_marks, clean, count

MAX_WAITING: Final = 500
"""Lines kept for a reader who does not read; further ones are counted and dropped."""
LAST_WORDS: Final = 0.5
"""Seconds that the end of the program waits for the reader of the log."""
LOGGING: Final[dict[str, Any]] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": f"{__name__}.LineFormatter"}},
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": "line", "stream": f"ext://{__name__}.output"}
    },
    "loggers": {
        "aui_tui": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
        "uvicorn": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
    },
}
"""Everything on standard error, a line each."""


class LineFormatter(logging.Formatter):
    """One clean line for each event; an exception is named, its stack left out."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of ``record``."""
        message, error = record.getMessage(), record.exc_info[1] if record.exc_info else None
        if error is not None:
            message = f"{message.strip()}: {type(error).__name__}: {error}"
        elif "Traceback (most recent call last)" in message:  # how uvicorn tells why it does not start
            message = message.strip().rpartition("\n")[2]
        return log_line(record.name, message, record.created)


def log_line(name: str, message: str, at: float) -> str:
    """Return a clean line: the time ``at`` in UTC, who says it, and what happened."""
    second = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at))
    return break_marks(clean(f"{second}.{int(at % 1 * 1000):03d}Z {name} {message}", 2000))


class LogOutput:
    """Takes lines at once, and writes them to standard error as fast as somebody reads there."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque()
        self._dropped = 0
        self._changed = threading.Condition()
        self._writer: threading.Thread | None = None

    def write(self, text: str) -> None:
        """Take whole lines; never waits."""
        with self._changed:
            if len(self._lines) >= MAX_WAITING:
                self._dropped += 1
                return
            self._lines.append(text)
            if self._writer is None:
                self._writer = threading.Thread(target=self._write_all, name="aui-log", daemon=True)
                self._writer.start()
                atexit.register(self.flush, LAST_WORDS)
            self._changed.notify_all()

    def flush(self, seconds: float = 0.0) -> None:
        """Wait that long at most until all lines are written; a logger, which waits for nobody, calls it too."""
        with self._changed:
            self._changed.wait_for(lambda: not self._lines, seconds)

    def _write_all(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._lines) or self._dropped > 0)
                text = "".join(self._lines)
                if self._dropped:
                    lost = f"{count(self._dropped, 'line')} of this log dropped: nobody read it"
                    text += log_line("aui_tui.serve", lost, time.time()) + "\n"
                number, self._dropped = len(self._lines), 0
            _put(text.encode("utf-8", "replace"))
            with self._changed:
                for _ in range(number):
                    self._lines.popleft()
                self._changed.notify_all()


def _put(data: bytes) -> None:
    """Write to standard error past its buffer, whose lock, held by a thread that waits, would hold the end up."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        descriptor = sys.stderr.fileno()
        while data:
            data = data[os.write(descriptor, data) :]


output: Final = LogOutput()
"""The log of this process."""
