"""Standard output carries data, standard error narration."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import BinaryIO, Final, TextIO

from aui_tui.errors import ConfigError
from aui_tui.text import BreakMarks, break_marks, clean

NAME: Final = "aui-tui"


class ClosedPipe(Exception):
    """The reader of standard output has closed it."""


def write(data: bytes | str) -> None:
    """Write ``data`` to standard output.

    Raises ClosedPipe when the reader is gone and ConfigError when the output cannot be written (a full disk).
    """
    if isinstance(data, str):
        data = data.encode("utf-8", "replace")
    _send(_harmless(data), lambda rest: sys.stdout.buffer.write(rest))


def write_line(data: bytes | str) -> None:
    """Write ``data`` and a line break to standard output; raises as :func:`write`."""
    write(data + b"\n" if isinstance(data, bytes) else data + "\n")


def put_line(data: bytes) -> None:
    """Write ``data`` and a line break to standard output at once; raises as :func:`write`.

    Nothing passes through the buffer: its lock, held by a thread whose reader pauses, would keep the program from
    ending.
    """
    flush()
    _send(_harmless(data + b"\n"), lambda rest: os.write(sys.stdout.fileno(), rest))


class _Output:
    """What was written to standard output, as far as a mark of a build system may go on."""

    stream: TextIO | None = None
    marks: BreakMarks | None = None


def _harmless(data: bytes) -> bytes:
    """Return ``data`` for standard output: where that is no terminal, without what a build log takes for a command."""
    if sys.stdout is not _Output.stream:
        _Output.stream = sys.stdout
        _Output.marks = None if sys.stdout is None or sys.stdout.isatty() else BreakMarks()
    return _Output.marks.take(data) if _Output.marks else data


def _send(data: bytes, take: Callable[[memoryview], int]) -> None:
    if sys.stdout is None:
        raise ConfigError("Standard output is closed.")
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[take(rest) :]
    except OSError as error:
        _refuse(error)


def flush() -> None:
    """Write out what is still buffered; raises as :func:`write`."""
    if sys.stdout is None:
        return
    if _Output.marks and _Output.stream == sys.stdout:
        _send(_Output.marks.rest(), lambda rest: sys.stdout.buffer.write(rest))
    try:
        sys.stdout.flush()
    except OSError as error:
        _refuse(error)


def _refuse(error: OSError) -> None:
    silence()
    if isinstance(error, BrokenPipeError):
        raise ClosedPipe from None
    raise ConfigError(f"Cannot write the output: {error.strerror or error}.") from None


def silence() -> None:
    """Point standard output at nothing, so that the interpreter's last flush cannot fail."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def source() -> BinaryIO:
    """Return standard input. Raises ConfigError when there is none."""
    if sys.stdin is None:
        raise ConfigError("Standard input is closed.")
    return sys.stdin.buffer


_form: ContextVar[bool] = ContextVar("json lines on standard error", default=False)


@contextlib.contextmanager
def narrating_in_json(as_json: bool) -> Iterator[None]:
    """While the block runs, write each line on standard error as one JSON object if ``as_json``."""
    token = _form.set(as_json)
    try:
        yield
    finally:
        _form.reset(token)


def say(text: str) -> None:
    """Write ``text`` on standard error, one line, without anything that steers a terminal."""
    _narrate({"notice": clean(text)} if _form.get() else f"{NAME}: {clean(text)}")


def fail(text: str, title: str, exit_code: int) -> None:
    """Write an error on standard error: its sentence, or with ``--json`` an object with title and exit code."""
    message = clean(text)
    _narrate({"error": message, "title": title, "exit_code": exit_code} if _form.get() else f"{NAME}: {message}")


def _json(line: dict[str, object]) -> str:
    import json  # a first frame says nothing here

    return json.dumps(line, ensure_ascii=False)


def _narrate(line: str | dict[str, object]) -> None:
    if sys.stderr is None:
        return
    with contextlib.suppress(OSError, ValueError):
        text = line if isinstance(line, str) else _json(line)
        sys.stderr.write((text if sys.stderr.isatty() else break_marks(text)) + "\n")
        sys.stderr.flush()
