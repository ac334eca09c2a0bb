"""Standard output carries data, standard error carries narration."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from typing import BinaryIO, Final

from aui_tui.errors import ConfigError
from aui_tui.text import clean

NAME: Final = "aui-tui"


class ClosedPipe(Exception):
    """Whoever read our output has heard enough."""


def write(data: bytes | str) -> None:
    """Write ``data`` to standard output.

    Raises ClosedPipe when the reader is gone and ConfigError when the output cannot be written (a full disk).
    """
    if isinstance(data, str):
        data = data.encode("utf-8", "replace")
    if sys.stdout is None:
        raise ConfigError("Standard output is closed.")
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[sys.stdout.buffer.write(rest) :]
    except OSError as error:
        _refuse(error)


def write_line(data: bytes | str) -> None:
    """Write ``data`` and a line break to standard output; raises as :func:`write`."""
    write(data + b"\n" if isinstance(data, bytes) else data + "\n")


def put_line(data: bytes) -> None:
    """Write ``data`` and a line break to standard output at once; raises as :func:`write`.

    Nothing passes through the buffer: its lock, held by a thread whose reader pauses, would keep the program from
    ending.
    """
    flush()
    if sys.stdout is None:
        raise ConfigError("Standard output is closed.")
    rest = memoryview(data + b"\n")
    try:
        while rest:
            rest = rest[os.write(sys.stdout.fileno(), rest) :]
    except OSError as error:
        _refuse(error)


def flush() -> None:
    """Push out what is still buffered; raises as :func:`write`."""
    if sys.stdout is None:
        return
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
def narrating_in_json(wanted: bool) -> Iterator[None]:
    """While the block runs, write each line on standard error as one JSON object where that is ``wanted``."""
    token = _form.set(wanted)
    try:
        yield
    finally:
        _form.reset(token)


def say(text: str) -> None:
    """Write ``text`` on standard error, one line, without anything that steers a terminal."""
    _narrate({"notice": clean(text)} if _form.get() else f"{NAME}: {clean(text)}")


def fail(text: str, title: str, exit_code: int) -> None:
    """Write an error on standard error: its sentence, or with ``--json`` an object with title and exit code."""
    said = clean(text)
    _narrate({"error": said, "title": title, "exit_code": exit_code} if _form.get() else f"{NAME}: {said}")


def _narrate(line: str | dict[str, object]) -> None:
    if sys.stderr is None:
        return
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write((line if isinstance(line, str) else json.dumps(line, ensure_ascii=False)) + "\n")
        sys.stderr.flush()


NO_SCREEN: Final = "This is not a terminal, and the dashboard needs one for standard input, output and error"
"""What is said where :func:`interactive` says no."""


def interactive() -> bool:
    """Whether a user sees the dashboard: at a terminal, where Textual draws on standard error, or by ``web``."""
    if os.environ.get("TEXTUAL_DRIVER", "").endswith(":WebDriver"):
        return True
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.__stderr__))
