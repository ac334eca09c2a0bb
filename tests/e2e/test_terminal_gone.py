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
PATIENCE = 30
"""Seconds on a busy machine in which what is promised in two or five must have happened."""
BUSY = """
import asyncio, sys, time
from pathlib import Path
from aui_tui.service.local import LocalService
from aui_tui.tui import app
from aui_tui.tui.context import Context
from aui_tui.tui.screens.index import IndexScreen

def busy(self):
    while True:
        time.sleep(1)

IndexScreen.action_matrix = busy
service = LocalService(Path(sys.argv[1]))
sys.exit(app.run(Context(service)))
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    fill(folder)
    return folder


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


def test_after_stopping_and_going_on_there_is_one_input_thread_and_the_terminal_is_restored(home: Path) -> None:
    names = home / "threads"
    program = BUSY.replace(
        "    while True:\n        time.sleep(1)",
        "    import threading\n    Path(sys.argv[2]).write_text(' '.join(one.name for one in threading.enumerate()))",
    )
    with Terminal(home, argv=[sys.executable, "-c", program, str(home / "data"), str(names)]) as terminal:
        terminal.wait_for("enter Open")
        for _ in range(4):
            terminal.kill(signal.SIGSTOP)
            time.sleep(0.05)
            terminal.kill(signal.SIGCONT)
            terminal.read(0.5)
        for _ in range(PATIENCE):
            terminal.press("m")  # a key that comes while the terminal is set anew may be lost
            terminal.read(1)
            if names.exists():
                break
        assert names.read_text().split().count("textual-input") == 1
        assert names.read_text().split().count("textual-output") == 1
        terminal.press("q")
        assert terminal.finish(PATIENCE) == 0
        assert terminal.restored()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_ends_a_program_whose_event_loop_does_not_turn(home: Path, number: signal.Signals) -> None:
    with Terminal(home, argv=[sys.executable, "-c", BUSY, str(home / "data")]) as terminal:
        terminal.wait_for("enter Open")
        terminal.press("m")
        terminal.read(0.5)
        terminal.kill(number)
        assert terminal.finish(PATIENCE) == 128 + number
        assert terminal.restored()


def test_a_terminal_that_goes_away_ends_a_program_whose_event_loop_does_not_turn(home: Path) -> None:
    with Terminal(home, argv=[sys.executable, "-c", BUSY, str(home / "data")]) as terminal:
        terminal.wait_for("enter Open")
        terminal.press("m")
        terminal.read(0.5)
        assert terminal.hang_up(PATIENCE) == 128 + signal.SIGHUP
