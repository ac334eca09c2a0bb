"""Keys that come all at once, as they do over a slow line: each acts in order, on the screen it was meant for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.stored import fill
from tests.e2e.terminal import IN_A_TERMINAL, Terminal
from tests.tui.cards import make_card

pytestmark = IN_A_TERMINAL
DOWN, PALETTE, BACK = "\x1b[B", "\x10", "\x7f"
HOSTS = 60


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with some hosts."""
    folder = tmp_path_factory.mktemp("home")
    fill(folder, (make_card(number) for number in range(HOSTS)))
    return folder


@pytest.mark.parametrize(
    ("burst", "words"),
    [
        ("/staykit11", ("AUI  1 of ", "esc Cancel")),
        ("/staykit11\r", ("AUI  1 of ", "enter Open")),
        ("/staykit11\r\r", ("staykit11.example", "[1 Summary]", "Walled")),
        ("/walle" + BACK * 5 + "staykit11\r\r4", ("staykit11.example", "[4 Fixes")),
        ("/staykit11\r\r4  j ", ("staykit11.example", "comes without what was seen")),
        ("/staykit11\r\r?", ("aui-tui site staykit11.example",)),
        ("/staykit11\r\r?q" + BACK, ("AUI  1 of ", "enter Open")),
        ("c" + DOWN * 3 + "\r3", ("Grocery & food", "AUI  2 of ")),
        ("3m?", ("--stance Walled",)),
        ("v?", ("--overview",)),
        ("vv/staykit11", ("AUI  1 of ", "esc Cancel")),
        ("Snot an address", ("not an address", "enter scans")),
        (PALETTE + "stance walled\r", ("AUI  19 of ", "enter Open")),
        ("eqT" + DOWN, ("Theme", "colour-blind")),
        ("\rnnn" + BACK + "y", ("Copied playyard30.example.",)),
    ],
)
def test_every_key_of_a_burst_acts_where_it_was_meant(home: Path, burst: str, words: tuple[str, ...]) -> None:
    with Terminal(home, []) as terminal:
        terminal.wait_for(" sites", "enter Open")
        terminal.press(burst)
        terminal.wait_for(*words)
        assert "probes" not in terminal.text
