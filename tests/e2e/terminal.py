"""A terminal that a test reads: the program runs in a pseudo-terminal, the screen is kept as text."""

from __future__ import annotations

import contextlib
import re
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any, Self

import pexpect
import pyte
import pytest
from pyte import modes
from pyte.screens import Char
from wcwidth import wcwidth

from tests.cli.runner import command, environment

IN_A_TERMINAL = [pytest.mark.pty, pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")]
"""The marks of a test that drives the program in a pseudo-terminal."""


STYLE = re.compile(r"\x1b\[([0-9;]*)m")


class _Screen(pyte.Screen):
    """A screen that makes each character of each style once: nearly all that is written was written before."""

    def __init__(self, columns: int, lines: int) -> None:
        self._styles: dict[tuple[Char, str], Char] = {}
        self._cells: dict[Char, dict[str, Char]] = {}
        super().__init__(columns, lines)

    def style(self, numbers: str) -> None:
        """Set how the next characters look, by the numbers of a sequence as they are written."""
        key = (self.cursor.attrs, numbers)
        if key not in self._styles:
            self.select_graphic_rendition(*(int(number or 0) for number in numbers.split(";")))
            self._styles[key] = self.cursor.attrs
        self.cursor.attrs = self._styles[key]

    def draw(self, data: str) -> None:
        """Write text; what is wide, or goes over the end of the line, is left to pyte."""
        cursor, end = self.cursor, self.cursor.x + len(data)
        cells = self._cells.setdefault(cursor.attrs, {})
        for char in set(data) - cells.keys():
            if wcwidth(char) == 1:
                cells[char] = cursor.attrs._replace(data=char)
        if end > self.columns or modes.IRM in self.mode or self.charset or not cells.keys() >= set(data):
            super().draw(data)
            return
        self.buffer[cursor.y].update(zip(range(cursor.x, end), map(cells.__getitem__, data), strict=True))
        self.dirty.add(cursor.y)
        cursor.x = end


class _Stream(pyte.Stream):
    """Reads colours, most of what is written, as a whole: pyte takes a step for each of their characters."""

    def feed(self, data: str) -> None:
        assert isinstance(self.listener, _Screen)
        for place, part in enumerate(STYLE.split(data)):
            if place % 2:
                self.listener.style(part)
            else:
                super().feed(part)


def shown(screen: pyte.Screen) -> list[str]:
    """Return the lines of a screen. pyte's own ``display`` fails on half a wide character."""
    rows = (screen.buffer[line] for line in range(screen.lines))
    return ["".join(row[column].data for column in range(screen.columns)).rstrip() for row in rows]


class Terminal:
    """Runs ``aui-tui ARGUMENTS`` on a screen of ``columns`` by ``lines``, in a shell with jobs when ``shell``.

    ``argv`` is another program to run. ``raw`` is all that it wrote; ``child`` its process.
    """

    def __init__(
        self,
        home: Path,
        arguments: Sequence[str] = (),
        *,
        columns: int = 80,
        lines: int = 24,
        env: Mapping[str, str] | None = None,
        shell: bool = False,
        argv: Sequence[str] = (),
    ) -> None:
        self._screen = _Screen(columns, lines)
        self._stream = _Stream(self._screen)
        self._drawn = 0
        program, *rest = argv or command(*arguments)
        variables = environment(home, {"TERM": "xterm-256color", "COLORTERM": "truecolor", **(env or {})})
        for name in ("COLUMNS", "LINES", "NO_COLOR"):
            variables.pop(name, None)
        variables |= env or {}
        self.raw = ""
        line = " ".join(map(quote, (program, *rest)))
        if shell:
            program, rest = "bash", ["--norc", "--noprofile", "-i"]
            variables["PS1"] = "$ "
        self.started = time.perf_counter()
        self.child = pexpect.spawn(
            program, rest, cwd=str(home), env=variables, dimensions=(lines, columns), encoding="utf-8"
        )
        self._modes = self._after = _modes(self.child.child_fd)
        if shell:
            self.child.send(line + "\r")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.child.kill(signal.SIGKILL)
        self.child.wait()
        self.child.close()

    @property
    def text(self) -> str:
        """What stands on the screen; half of a wide character that is being drawn over is nothing."""
        self._draw()
        return "\n".join(shown(self._screen))

    def attributes(self, line: int, column: int) -> set[str]:
        """Return what the character there is drawn with: bold, italics, underscore, strikethrough, reverse."""
        self._draw()
        char = self._screen.buffer[line][column]
        names = ("bold", "italics", "underscore", "strikethrough", "reverse")
        return {name for name in names if getattr(char, name)}

    def restored(self) -> bool:
        """Whether the program, which has ended, left the modes as they were: discipline, screen, cursor, mouse."""
        pairs = (("\x1b[?1049h", "\x1b[?1049l"), ("\x1b[?25l", "\x1b[?25h"), ("\x1b[?1000h", "\x1b[?1000l"))
        turned_off = all(self.raw.rfind(off) > self.raw.rfind(on) for on, off in pairs if on in self.raw)
        return turned_off and self._after == self._modes

    def wait_for(self, *words: str, seconds: float = 60) -> str:
        """Read until every one of ``words`` stands on the screen; return the screen. Fails after ``seconds``."""
        return self.wait_until(lambda: all(word in self.text for word in words), f"for {words}", seconds)

    def wait_until(self, condition: Callable[[], bool], what: str = "", seconds: float = 60) -> str:
        """Read until ``condition`` holds; return the screen. Fails after ``seconds``, saying ``what`` it waited for."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"waited {seconds} s {what}; the screen shows:\n{self.text}"
            assert self.read(0.2), f"the program ended; the screen showed:\n{self.text}"
        return self.text

    def press(self, keys: str) -> None:
        """Send ``keys`` as typed."""
        self.child.send(keys)

    def kill(self, number: signal.Signals) -> None:
        """Send the program a signal."""
        self.child.kill(number)

    def hang_up(self, seconds: float = 60) -> int:
        """Take the terminal away, as closing its window does; return the exit status, negative for a signal."""
        self.child.ptyproc.fileobj.close()
        end = time.monotonic() + seconds
        while self.child.isalive():
            assert time.monotonic() < end, f"still running after {seconds} s"
            time.sleep(0.05)
        return int(self.child.exitstatus if self.child.signalstatus is None else -self.child.signalstatus)

    def finish(self, seconds: float = 60) -> int:
        """Read until the program ends and return its exit status, negative for a signal."""
        end = time.monotonic() + seconds
        while self.read(0.2):
            assert time.monotonic() < end, f"still running after {seconds} s; the screen shows:\n{self.text}"
        self._after = _modes(self.child.child_fd)
        self.child.wait()
        self.child.close()
        if self.child.signalstatus is not None:
            return -int(self.child.signalstatus)
        return int(self.child.exitstatus or 0)

    def read(self, seconds: float) -> bool:
        """Read what comes within ``seconds``; return whether the program goes on."""
        try:
            self.raw += self.child.read_nonblocking(65536, seconds)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        return True

    def _draw(self) -> None:
        self._stream.feed(self.raw[self._drawn :])
        self._drawn = len(self.raw)


def _modes(descriptor: int) -> list[Any]:
    """Return the modes of a terminal, as far as it has them."""
    if sys.platform == "win32":
        return []
    import termios

    with contextlib.suppress(termios.error):
        return termios.tcgetattr(descriptor)[:4]
    return []
