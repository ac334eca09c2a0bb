"""A terminal that is stopped, resized, closed or killed in any order takes the program along, and is as it was."""

from __future__ import annotations

import random
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.cli.stored import fill
from tests.e2e.terminal import IN_A_TERMINAL, Terminal

pytestmark = IN_A_TERMINAL
PATIENCE = 60
"""Seconds on a busy machine in which what is promised in two or five must have happened."""
BUSY = """
import asyncio, sys, threading, time
from pathlib import Path
from aui_tui.service.local import LocalService
from aui_tui.tui import app
from aui_tui.tui.context import Context
from aui_tui.tui.screens.index import IndexScreen

def busy(self):
    with open(sys.argv[2], "a") as named:
        print(*(one.name for one in threading.enumerate()), file=named)
    while sys.argv[3:] == ["stay"]:
        time.sleep(1)

IndexScreen.action_matrix = busy
service = LocalService(Path(sys.argv[1]))
sys.exit(app.run(Context(service)))
"""
"""The dashboard, which writes the names of its threads to a file on ``m``; told to stay, it does no more then."""
INTERRUPTED = """
import os, sys, threading
from textual.drivers import _writer_thread

class Interrupted(_writer_thread.Queue):
    signals = [int(sys.argv[3])]

    def _put(self, item):
        if self.signals and os.path.exists(sys.argv[2]) and threading.current_thread() is threading.main_thread():
            os.kill(os.getpid(), self.signals.pop())
        super()._put(item)

_writer_thread.Queue = Interrupted
"""
"""A signal comes while the dashboard hands to the terminal what it draws first after ``m``."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    fill(folder)
    return folder


def busy(home: Path, names: Path, *more: str, before: str = "") -> list[str]:
    """Return the command that runs ``BUSY`` on ``home``, after ``before``."""
    return [sys.executable, "-c", before + BUSY, str(home / "data"), str(names), *more]


def pressed(terminal: Terminal, names: Path) -> str:
    """Press ``m`` until it acts, and return the first line of ``names``.

    A key that comes while the terminal is set anew may be lost, so a second without an answer calls for another.
    """
    again = 0.0

    def acts() -> bool:
        nonlocal again
        if time.monotonic() >= again:
            terminal.press("m")
            again = time.monotonic() + 1
        return names.exists() and "\n" in names.read_text()

    terminal.wait_until(acts, "for the key m")
    return names.read_text().partition("\n")[0]


def sequence(terminal: Terminal, chance: random.Random, *, starts: bool = False) -> None:
    """Stop, continue, resize, type, then close the terminal or kill the program; it must end.

    ``starts``: it may not have looked for a terminal yet; without one it says so and ends with 2.
    """
    for _ in range(chance.randint(0, 5)):
        what = chance.choice(("stop", "stop", "suspend", "size", "type", "wait"))
        if what in ("stop", "suspend"):
            terminal.kill(signal.SIGSTOP if what == "stop" else signal.SIGTSTP)
            time.sleep(chance.random() / 20)
            terminal.kill(signal.SIGCONT)
        elif what == "size":
            terminal.child.setwinsize(chance.randint(5, 60), chance.randint(20, 200))
        elif what == "type":
            terminal.press(chance.choice(("\r", "j", "/x\x1b", "v", "?", "3", "m")))
        terminal.read(chance.random() / 5)
    if chance.random() < 0.3:
        terminal.kill(signal.SIGSTOP)
    if chance.random() < 0.5:
        assert terminal.hang_up(PATIENCE) in (128 + signal.SIGHUP, -signal.SIGHUP, *([2] if starts else []))
        return
    number = chance.choice((signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGINT))
    terminal.kill(number)
    terminal.kill(signal.SIGCONT)
    assert terminal.finish(PATIENCE) in (128 + number, -number)


@pytest.mark.parametrize("seed", range(3))
def test_any_end_of_a_terminal_ends_the_program(home: Path, seed: int) -> None:
    with Terminal(home) as terminal:
        terminal.wait_for("enter Open")
        sequence(terminal, random.Random(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3, 103))
def test_a_hundred_ends_of_a_terminal_end_the_program(home: Path, seed: int) -> None:
    with Terminal(home) as terminal:
        chance = random.Random(seed)
        starts = chance.random() >= 0.8
        if starts:
            terminal.read(chance.random())
        else:
            terminal.wait_for("enter Open")
        sequence(terminal, chance, starts=starts)


def test_after_stopping_and_going_on_there_is_one_input_thread_and_the_terminal_is_restored(
    home: Path, tmp_path: Path
) -> None:
    with Terminal(home, argv=busy(home, tmp_path / "threads")) as terminal:
        terminal.wait_for("enter Open")
        for _ in range(4):
            terminal.kill(signal.SIGSTOP)
            time.sleep(0.05)
            terminal.kill(signal.SIGCONT)
            terminal.read(0.5)
        names = pressed(terminal, tmp_path / "threads").split()
        assert names.count("textual-input") == 1
        assert names.count("textual-output") == 1
        terminal.press("q")
        assert terminal.finish(PATIENCE) == 0
        assert terminal.restored()


@pytest.mark.parametrize("number", [signal.SIGCONT, signal.SIGTSTP])
def test_a_signal_in_the_middle_of_drawing_is_not_waited_for_for_ever(
    home: Path, tmp_path: Path, number: signal.Signals
) -> None:
    command = busy(home, tmp_path / "threads", str(int(number)), before=INTERRUPTED)
    with Terminal(home, argv=command) as terminal:
        terminal.wait_for("enter Open")
        pressed(terminal, tmp_path / "threads")
        terminal.press("j")
        terminal.wait_until(lambda: terminal.raw.count("\x1b[?1049h") == 2, "for the second start")
        terminal.press("3")
        terminal.wait_for("AUI  1 of 2 sites")
        terminal.press("q")
        assert terminal.finish(PATIENCE) == 0
        assert terminal.restored()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_ends_a_program_whose_event_loop_does_not_turn(
    home: Path, tmp_path: Path, number: signal.Signals
) -> None:
    with Terminal(home, argv=busy(home, tmp_path / "threads", "stay")) as terminal:
        terminal.wait_for("enter Open")
        pressed(terminal, tmp_path / "threads")
        terminal.kill(number)
        assert terminal.finish(PATIENCE) == 128 + number
        assert terminal.restored()


def test_a_terminal_that_goes_away_ends_a_program_whose_event_loop_does_not_turn(home: Path, tmp_path: Path) -> None:
    with Terminal(home, argv=busy(home, tmp_path / "threads", "stay")) as terminal:
        terminal.wait_for("enter Open")
        pressed(terminal, tmp_path / "threads")
        assert terminal.hang_up(PATIENCE) == 128 + signal.SIGHUP
