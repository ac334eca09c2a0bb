"""A program in a pseudo-terminal: keys in, screen out, and when each byte came."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

import pyte

from tests.e2e.terminal import shown

ROOT = Path(__file__).resolve().parents[2]
KEYS = {
    "enter": "\r",
    "escape": "\x1b",
    "tab": "\t",
    "space": " ",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "ctrl+p": "\x10",
    "ctrl+q": "\x11",
}


class Terminal:
    """Runs ``argv`` with a terminal of ``size`` columns and rows as its standard streams."""

    def __init__(
        self, argv: Sequence[str], size: tuple[int, int] = (80, 24), *, env: Mapping[str, str] | None = None
    ) -> None:
        import fcntl
        import struct
        import termios

        self.size = size
        columns, rows = size
        self._master, worker = os.openpty()
        fcntl.ioctl(worker, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.before = termios.tcgetattr(worker)
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            argv,
            stdin=worker,
            stdout=worker,
            stderr=worker,
            cwd=ROOT,
            env={**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", **(env or {})},
            preexec_fn=self._lead,
        )
        self._worker = worker
        self.raw = bytearray()
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._drawn = 0

    @staticmethod
    def _lead() -> None:
        import fcntl
        import termios

        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(10)
        for handle in (self._master, self._worker):
            with contextlib.suppress(OSError):
                os.close(handle)

    def pump(self, seconds: float) -> float | None:
        """Read what comes within ``seconds``; return when it came, None when nothing did."""
        ready, _, _ = select.select([self._master], [], [], max(seconds, 0))
        if not ready:
            return None
        try:
            data = os.read(self._master, 1 << 16)
        except OSError:
            return None
        self.raw += data
        return time.perf_counter()

    def send(self, *keys: str) -> float:
        """Press keys, by name or as they are written; return when."""
        now = time.perf_counter()
        for key in keys:
            os.write(self._master, KEYS.get(key, key).encode())
        return now

    def wait_for_bytes(self, marker: bytes, seconds: float = 30) -> float:
        """Return when ``marker`` had come, counting from what is read after this call was made."""
        start = len(self.raw)
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            came = self.pump(end - time.perf_counter())
            if marker in self.raw[max(start - len(marker), 0) :]:
                return came or time.perf_counter()
            if came is None and self.process.poll() is not None:
                break
        raise AssertionError(f"{marker!r} did not come; the screen is:\n{self.text()}")

    def settle(self, quiet: float = 0.08, longest: float = 10) -> float:
        """Read until nothing came for ``quiet`` seconds; return when the last byte came."""
        last = time.perf_counter()
        end = last + longest
        while time.perf_counter() < end:
            came = self.pump(quiet)
            if came is None:
                break
            last = came
        return last

    def text(self) -> str:
        """Return the screen as lines of text."""
        self._stream.feed(bytes(self.raw[self._drawn :]))
        self._drawn = len(self.raw)
        return "\n".join(shown(self._screen))

    def wait_for(self, words: str, seconds: float = 30) -> str:
        """Return the screen once ``words`` are on it."""
        end = time.perf_counter() + seconds
        while words not in self.text():
            if time.perf_counter() > end or (self.pump(0.05) is None and self.process.poll() is not None):
                raise AssertionError(f"{words!r} did not appear; the screen is:\n{self.text()}")
        return self.text()

    def press(self, *keys: str) -> str:
        """Press keys one by one, each after the screen came to rest, and return the screen."""
        for key in keys:
            self.send(key)
            self.settle()
        return self.text()

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size."""
        import fcntl
        import struct
        import termios

        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._screen.resize(rows, columns)
        self.process.send_signal(signal.SIGWINCH)

    def end(self, seconds: float = 15) -> int:
        """Return the exit status, reading what is still written; minus the number of a signal that killed it."""
        end = time.perf_counter() + seconds
        while self.process.poll() is None and time.perf_counter() < end:
            self.pump(0.05)
        while self.pump(0.05) is not None:
            pass
        return self.process.wait(max(end - time.perf_counter(), 0.1))

    def restored(self) -> bool:
        """Whether the terminal has its modes back: line discipline, main screen, cursor, mouse, paste."""
        import termios

        after = termios.tcgetattr(self._worker)
        text = bytes(self.raw)
        pairs = ((b"\x1b[?1049h", b"\x1b[?1049l"), (b"\x1b[?25l", b"\x1b[?25h"), (b"\x1b[?1000h", b"\x1b[?1000l"))
        modes = all(text.rfind(off) > text.rfind(on) for on, off in pairs if on in text)
        return after[:4] == self.before[:4] and modes


def python(*arguments: str) -> list[str]:
    """Return a command line of this Python."""
    return [sys.executable, *arguments]
