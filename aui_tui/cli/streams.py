"""Standard output carries data, standard error narration; and how text is laid out for a terminal or a file.

Layout: symbols, colour only where it is wanted, wrapping by cells.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from types import MappingProxyType
from typing import BinaryIO, Final, NamedTuple, TextIO

from aui_tui.errors import ConfigError
from aui_tui.model.signs import ASCII, sign
from aui_tui.text import BreakMarks, break_marks, cells, clean, wrap

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
        text = line if isinstance(line, str) else json.dumps(line, ensure_ascii=False)
        sys.stderr.write((text if sys.stderr.isatty() else break_marks(text)) + "\n")
        sys.stderr.flush()


DUMB: Final = ("dumb", "unknown")
"""Values of TERM for which Textual's size of the screen is not the terminal's, so that it draws without end."""


def no_screen() -> str:
    """Return why the dashboard cannot be shown, empty where it can.

    It needs a terminal, where Textual draws on standard error, or ``web``.
    """
    if os.environ.get("TEXTUAL_DRIVER", "").endswith(":WebDriver"):
        return ""
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.__stderr__)):
        return "This is not a terminal, and the dashboard needs one for standard input, output and error"
    term = os.environ.get("TERM", "").lower()
    return f"The dashboard cannot be drawn on a terminal of the kind TERM={term}" if term in DUMB else ""


STYLES: Final = MappingProxyType(
    {
        "bold": "1",
        "dim": "2",
        "good": "32",
        "warn": "33",
        "critical": "31",
        "muted": "2",
        "accent": "36",
        "open": "32",
        "selective": "33",
        "walled": "31",
    }
)
"""The colours of the styles, among them the tones of the table of signs."""


MIN_WIDTH: Final = 40
MAX_WIDTH: Final = 100


class Paint(NamedTuple):
    """How to write: ``width`` in cells, with ``colour`` or without, with symbols or in ``ascii`` only."""

    width: int = 80
    colour: bool = False
    ascii: bool = False

    @classmethod
    def for_output(cls, *, ascii_only: bool = False) -> Paint:
        """Return the paint that standard output can take: colour on a terminal unless NO_COLOR is set."""
        terminal = bool(sys.stdout and sys.stdout.isatty())
        width = shutil.get_terminal_size((80, 24)).columns if terminal or "COLUMNS" in os.environ else 80
        coloured = terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") not in DUMB
        return cls(width=max(MIN_WIDTH, min(width, MAX_WIDTH)), colour=coloured, ascii=ascii_only)

    def style(self, text: str, style: str) -> str:
        """Return ``text`` in one of STYLES; an empty style leaves it alone."""
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if self.colour and style else text

    def plain(self, text: str) -> str:
        """Return ``text`` as a command prints it: arrows as they are typed, all in ASCII where that is wanted."""
        text = text.replace("→", "->")
        return text.translate(ASCII) if self.ascii else text

    def glyph(self, word: str) -> str:
        """Return the sign of a word, the neutral one for an unknown word."""
        found = sign(word)
        return found.ascii if self.ascii else found.sign

    def marked(self, word: str) -> str:
        """Return ``word`` after its sign, in its colour."""
        return self.style(f"{self.glyph(word)} {word}", sign(word).tone)

    def heading(self, text: str) -> str:
        """Return a heading line."""
        return self.style(text, "bold")

    def hanging(self, first: str, text: str, *, style: str = "") -> Iterator[str]:
        """Yield ``text`` wrapped to the width after ``first``, later lines indented by as much."""
        indent = cells(first)
        for number, line in enumerate(wrap(self.plain(" ".join(text.split())), max(self.width - indent, 10))):
            yield (self.style(first, style) if number == 0 else " " * indent) + line
