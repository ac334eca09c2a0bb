"""A terminal that a test reads: the program runs in a pseudo-terminal, the screen is kept as text."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Self

import pexpect
import pyte

from tests.cli.runner import command, environment


def shown(screen: pyte.Screen) -> list[str]:
    """Return the lines of a screen. pyte's own ``display`` fails on half a wide character."""
    rows = (screen.buffer[line] for line in range(screen.lines))
    return ["".join(row[column].data for column in range(screen.columns)).rstrip() for row in rows]


class Terminal:
    """Runs ``aui-tui ARGUMENTS`` on a screen of ``columns`` by ``lines``, in a shell with jobs when ``shell``."""

    def __init__(
        self,
        home: Path,
        arguments: Sequence[str],
        *,
        columns: int = 80,
        lines: int = 24,
        env: Mapping[str, str] | None = None,
        shell: bool = False,
    ) -> None:
        self._screen = pyte.Screen(columns, lines)
        self._stream = pyte.Stream(self._screen)
        program, *rest = command(*arguments)
        variables = environment(home, {"TERM": "xterm-256color", "COLORTERM": "truecolor", **(env or {})})
        for name in ("COLUMNS", "LINES", "NO_COLOR"):
            variables.pop(name, None)
        variables |= env or {}
        self.raw = ""
        if shell:
            rest = ["--norc", "--noprofile", "-i"]
            variables["PS1"] = "$ "
            line = " ".join(map(quote, (program, *command(*arguments)[1:])))
            program = "bash"
        self._child = pexpect.spawn(
            program, rest, cwd=str(home), env=variables, dimensions=(lines, columns), encoding="utf-8"
        )
        if shell:
            self._child.send(line + "\r")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.kill(signal.SIGKILL)
        self._child.wait()
        self._child.close()

    @property
    def text(self) -> str:
        """What stands on the screen; half of a wide character that is being drawn over is nothing."""
        return "\n".join(shown(self._screen))

    def attributes(self, line: int, column: int) -> set[str]:
        """Return what the character there is drawn with: bold, italics, underscore, strikethrough, reverse."""
        char = self._screen.buffer[line][column]
        names = ("bold", "italics", "underscore", "strikethrough", "reverse")
        return {name for name in names if getattr(char, name)}

    def wait_for(self, *words: str, seconds: float = 60) -> str:
        """Read until every one of ``words`` stands on the screen; return the screen. Fails after ``seconds``."""
        return self.wait_until(lambda: all(word in self.text for word in words), f"for {words}", seconds)

    def wait_until(self, condition: Callable[[], bool], what: str = "", seconds: float = 60) -> str:
        """Read until ``condition`` holds; return the screen. Fails after ``seconds``, saying ``what`` it waited for."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"waited {seconds} s {what}; the screen shows:\n{self.text}"
            assert self._read(0.2), f"the program ended; the screen showed:\n{self.text}"
        return self.text

    def press(self, keys: str) -> None:
        """Send ``keys`` as typed."""
        self._child.send(keys)

    def kill(self, number: signal.Signals) -> None:
        """End the program with a signal."""
        self._child.kill(number)

    def finish(self, seconds: float = 30) -> int:
        """Read until the program ends and return its exit status, negative for a signal."""
        end = time.monotonic() + seconds
        while self._read(0.2):
            assert time.monotonic() < end, f"still running after {seconds} s; the screen shows:\n{self.text}"
        self._child.wait()
        self._child.close()
        if self._child.signalstatus is not None:
            return -int(self._child.signalstatus)
        return int(self._child.exitstatus or 0)

    def _read(self, seconds: float) -> bool:
        try:
            part = self._child.read_nonblocking(65536, seconds)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.raw += part
        self._stream.feed(part)
        return True
