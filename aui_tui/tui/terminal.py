"""A terminal that may go away: how the program notices, and how it ends when the event loop does not."""

from __future__ import annotations

import errno
import os
import select
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, Self, TextIO

GONE: Final = frozenset({errno.EIO, errno.ENXIO, errno.EBADF, errno.ENOTTY, errno.ENODEV})
"""What a terminal that has gone answers when it is asked for its modes."""
LOOK: Final = 0.25
"""Seconds between two looks at the terminal."""
AT_ONCE: Final = 1.5
"""Seconds that the program has to end in order when its terminal has gone."""
IN_ORDER: Final = 4.5
"""Seconds that it has after a signal."""
LEAVE: Final = b"\x1b[23;2t\x1b[?2004l\x1b[?7h\x1b[?1000l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[<u\x1b[?1049l\x1b[?25h"
"""Turns off what Textual turned on: paste, mouse, focus, keyboard protocol, second screen; shows the cursor."""


class Guard:
    """A thread that ends the program after a signal, or once its terminal has gone, whatever the event loop does.

    Python hands a signal to the main thread, which may be in a call that does not return; its number comes here as well
    (``signal.set_wakeup_fd``). ``leave``: asks the event loop to end with an exit status, from any thread.
    """

    def __init__(self, leave: Callable[[int], object]) -> None:
        self._leave = leave
        self._ended = threading.Event()
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)
        self._terminal = sys.__stdin__.fileno() if sys.__stdin__ is not None else 0
        self._modes = _modes(self._terminal)
        self._thread = threading.Thread(target=self._watch, name="terminal-guard", daemon=True)

    def __enter__(self) -> Self:
        """Begin; called by the main thread, in which Python lets signals be handled."""
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
        self._handlers = {number: signal.signal(number, lambda *_: None) for number in numbers}
        self._wakeup = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        self._thread.start()
        return self

    @property
    def gone(self) -> bool:
        """Whether the terminal has gone."""
        return self._modes is not None and _is_gone(self._terminal)

    def __exit__(self, *_: object) -> bool:
        """End; errors of a terminal that has gone are suppressed."""
        self._ended.set()
        signal.set_wakeup_fd(self._wakeup)
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._thread.join()
        os.close(self._read)
        os.close(self._write)
        return self.gone

    def _watch(self) -> None:
        while not self._ended.is_set():
            select.select([self._read], [], [], LOOK)
            with suppress(BlockingIOError):
                for number in os.read(self._read, 64):
                    if number in self._handlers:
                        self._end(number, IN_ORDER)
            if self.gone:
                self._end(signal.SIGHUP, AT_ONCE)

    def _end(self, number: int, seconds: float) -> None:
        """Ask for the end, and end the process where it has not come after ``seconds``."""
        with suppress(RuntimeError):  # the event loop has ended already
            self._leave(128 + number)
        if self._ended.wait(seconds):
            return
        with suppress(OSError):
            os.set_blocking(2, False)
            os.write(2, LEAVE)
        _restore(self._terminal, self._modes)
        os._exit(128 + number)


def _modes(terminal: int) -> list[Any] | None:
    import termios

    with suppress(termios.error):
        return termios.tcgetattr(terminal)
    return None


def _restore(terminal: int, modes: list[Any] | None) -> None:
    import termios

    if modes is not None:
        with suppress(termios.error):
            termios.tcsetattr(terminal, termios.TCSANOW, modes)


def _is_gone(terminal: int) -> bool:
    import termios

    try:
        termios.tcgetattr(terminal)
    except termios.error as error:
        return error.args[0] in GONE
    return False


def driver(textual: type[Any]) -> type[Any]:
    """Return Textual's driver of a terminal with one input thread, however often it is started; another as it is.

    Textual starts a second one after SIGCONT without SIGTSTP (``kill -STOP``, ``kill -CONT``), and takes the modes that
    it has set itself for those from before. It also draws in its handlers: one that comes while the main thread holds
    the lock of the queue to the terminal would wait for that lock for ever, so the event loop does it instead.
    """
    if textual.__name__ != "LinuxDriver":
        return textual

    class Driver(textual):  # type: ignore[misc]  # chosen by Textual when the program runs
        def start_application_mode(self) -> None:
            running = self._key_thread
            if running is not None and running.is_alive():
                self.exit_event.set()  # disable_input() would also throw away what was typed meanwhile
                running.join()
                self.exit_event.clear()
                self.close()
                _restore(self.fileno, self.attrs_before)
            super().start_application_mode()
            self.write("\x1b[22;2t")  # keeps the name of the window, which the program changes

        def stop_application_mode(self) -> None:
            self.write("\x1b[23;2t")
            super().stop_application_mode()

        def _sigtstp_application(self, *_: object) -> None:
            """Stop; at once where another program has the terminal, for which the event loop may be waiting."""
            self._soon(self._stop) if self._auto_restart else self._stop()

        def _sigcont_application(self, *_: object) -> None:
            self._soon(super()._sigcont_application)

        def _soon(self, act: Callable[[], object]) -> None:
            with suppress(RuntimeError):  # the event loop has ended
                self._loop.call_soon_threadsafe(act)

        def _stop(self) -> None:
            """Stop as the signal does by itself: not where nobody could continue the process (an orphaned group)."""
            suspended = self._auto_restart
            if suspended:
                self.suspend_application_mode()
                self._must_signal_resume = True
            handlers = {number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGTSTP, signal.SIGCONT)}
            os.kill(os.getpid(), signal.SIGTSTP)
            for number, handler in handlers.items():
                signal.signal(number, handler)
            if suspended:
                self.resume_application_mode()

        def _run_input_thread(self) -> None:
            with suppress(OSError):  # the terminal has gone, and the guard ends the program
                self.run_input_thread()

    return Driver


class Output:
    """Standard error, on which Textual draws, without the errors of a terminal that has gone.

    Such an error would end the thread that writes; then the next frame, and with it the end of the program, would wait
    for ever.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def write(self, text: str) -> None:
        """Write ``text``, unless the terminal has gone."""
        with suppress(OSError):
            self._file.write(text)

    def flush(self) -> None:
        """Send what was written, unless the terminal has gone."""
        with suppress(OSError):
            self._file.flush()
