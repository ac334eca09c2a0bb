"""Context of a command, and its report of errors. Imports no parser: the dashboard starts without one."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import sys
import traceback
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

import msgspec

from aui_tui import __version__
from aui_tui.cli import streams
from aui_tui.errors import DEBUG, AuiError, ConfigError, lacking
from aui_tui.text import clean

if TYPE_CHECKING:
    import asyncio

    from aui_tui.settings import Settings

T = TypeVar("T")

INTERRUPTED: Final = 130
UNEXPECTED: Final = 3
"""Exit code of an unexpected error: like an inconclusive scan, it says nothing about any site."""


NO_ROOM: Final = b"aui-tui: The system refused: there is not enough memory (ulimit -v).\n"
"""Made before there is none left."""


class Stopped(Exception):
    """The system asked the program to end; ``number`` is the signal."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Run(msgspec.Struct, frozen=True):
    """What a command works with: the settings in force, and whether it may narrate."""

    settings: Settings
    quiet: bool = False

    @classmethod
    def of(cls, flags: dict[str, Any]) -> Run:
        """Return the run that the merged common options ask for. Raises ConfigError."""
        from aui_tui.settings import ignored, load

        run = cls(
            settings=load({name: value for name, value in flags.items() if name != "quiet"}),
            quiet=bool(flags.get("quiet")),
        )
        for sentence in () if run.quiet else ignored(os.environ):
            streams.say(sentence)
        return run

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run ``work`` on an event loop of its own to its end.

        Ctrl+c, SIGTERM and SIGHUP cancel it: raises KeyboardInterrupt for the first, Stopped for the others.
        """
        import asyncio

        stopped: list[int] = []

        async def whole() -> T:
            loop, task = asyncio.get_running_loop(), asyncio.current_task()
            loop.set_exception_handler(_in_callback)

            def stop(number: int) -> None:
                stopped.append(number)
                if task is not None:
                    task.cancel()

            for number in (getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP")):
                if number is not None and signal.getsignal(number) == signal.SIG_DFL:
                    with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                        loop.add_signal_handler(number, stop, number)
            return await work

        before = sys.unraisablehook
        sys.unraisablehook = partial(_unraisable, before)
        try:
            return asyncio.run(whole())
        except asyncio.CancelledError:
            if stopped:
                raise Stopped(stopped[0]) from None
            raise
        finally:
            sys.unraisablehook = before


def _in_callback(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    if isinstance(context.get("exception"), MemoryError):
        _end_without_room()
    loop.default_exception_handler(context)


def _unraisable(report: Callable[[sys.UnraisableHookArgs], object], unraisable: sys.UnraisableHookArgs) -> None:
    if issubclass(unraisable.exc_type, MemoryError):
        _end_without_room()
    report(unraisable)


def _end_without_room() -> NoReturn:
    """End at once: what waits for a callback that failed for want of memory would wait for ever."""
    os.write(2, NO_ROOM)
    os._exit(ConfigError.exit_code)


def print_version() -> int:
    """Print the version of the program; return the exit code."""
    streams.write_line(f"{streams.NAME} {__version__}")
    streams.flush()
    return 0


def reporting_errors(work: Callable[[], int], arguments: Sequence[str]) -> int:
    """Return the exit code of ``work``; an error is reported in one sentence, with ``--json`` as an object."""
    plain = itertools.takewhile(lambda word: word != "--", arguments)
    with streams.narrating_in_json("--json" in plain):
        return _exit_code(work, arguments)


def fail(error: AuiError) -> int:
    """Report ``error`` on standard error and return its exit code."""
    streams.fail(str(error), error.title, error.exit_code)
    return error.exit_code


def _exit_code(work: Callable[[], int], arguments: Sequence[str]) -> int:
    try:
        return work()
    except KeyboardInterrupt:
        return INTERRUPTED
    except Stopped as stop:
        return 128 + stop.number
    except streams.ClosedPipe:
        return 0
    except AuiError as error:
        return fail(error)
    except OSError as error:
        if os.environ.get(DEBUG):
            traceback.print_exc()
        streams.silence()
        what = f" {clean(str(error.filename), 200)}" if error.filename else ""
        streams.fail(f"The system refused{what}: {error.strerror or error}.", "System error", ConfigError.exit_code)
        return ConfigError.exit_code
    except Exception as error:  # a traceback is of no use to most users: AUI_TUI_DEBUG shows it
        if os.environ.get(DEBUG):
            traceback.print_exc()
        if lacks := lacking(error):
            streams.fail(f"The system refused: there {lacks}.", "System error", ConfigError.exit_code)
            return ConfigError.exit_code
        sentence = f"Unexpected {type(error).__name__}: {error} ({DEBUG}=1 shows where; please report it)."
        streams.fail(sentence, "Unexpected error", UNEXPECTED)
        return UNEXPECTED
