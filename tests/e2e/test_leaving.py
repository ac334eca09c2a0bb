"""However the dashboard ends, the terminal is as it was before, and the exit status tells how."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from tests.cli.stored import fill
from tests.e2e.terminal import IN_A_TERMINAL, Terminal

pytestmark = IN_A_TERMINAL
CRASHING = """
import asyncio, sys
from pathlib import Path
from aui_tui.service.local import LocalService
from aui_tui.tui import app
from aui_tui.tui.context import Context
from aui_tui.tui.screens.index import IndexScreen

def fail(self):
    raise RuntimeError("made to fail")

IndexScreen.action_matrix = fail
service = LocalService(Path(sys.argv[1]))
try:
    code = app.run(Context(service))
finally:
    asyncio.run(service.aclose())
sys.exit(code)
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    fill(tmp_path)
    return tmp_path


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_with_128_and_its_number(home: Path, number: signal.Signals) -> None:
    with Terminal(home) as terminal:
        terminal.wait_for("enter Open")
        terminal.kill(number)
        assert terminal.finish(60) == 128 + number
        assert terminal.restored()
        assert "Traceback" not in terminal.raw


def test_a_terminal_that_goes_away_takes_it_along(home: Path) -> None:
    with Terminal(home) as terminal:
        terminal.wait_for("enter Open")
        assert terminal.hang_up(60) == 128 + signal.SIGHUP


@pytest.mark.parametrize("term", ["dumb", "unknown"])
def test_a_terminal_that_cannot_draw_is_told_so(home: Path, term: str) -> None:
    with Terminal(home, env={"TERM": term}) as terminal:
        assert terminal.finish(60) == 2
        assert f"TERM={term}; use" in terminal.raw


def test_quitting_over_a_card_is_0(home: Path) -> None:
    with Terminal(home) as terminal:
        terminal.wait_for("enter Open")
        terminal.press("\r4")
        terminal.wait_for("[4 Fixes")
        terminal.press("q")
        assert terminal.finish(60) == 0
        assert terminal.restored()


def test_a_crash_restores_the_terminal_and_is_not_0(home: Path) -> None:
    with Terminal(home, argv=[sys.executable, "-c", CRASHING, str(home / "data")]) as terminal:
        terminal.wait_for("enter Open")
        terminal.press("m")
        assert terminal.finish(60) == 1
        assert terminal.restored()
        assert "made to fail" in terminal.raw


def test_the_check_of_a_restored_terminal_can_fail(home: Path) -> None:
    with Terminal(home) as terminal:
        terminal.wait_for("enter Open")
        terminal.kill(signal.SIGKILL)
        terminal.finish(60)
        assert not terminal.restored()
