"""The first minute of somebody who has never seen the program, screen by screen, in a pseudo-terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.shops import HOST, PythonShop, rules
from tests.e2e.terminal import IN_A_TERMINAL, Terminal

pytestmark = IN_A_TERMINAL


class Recording:
    """The screens that somebody sees, each with the keys that led there."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.screens: list[tuple[str, str]] = []

    def after(self, keys: str, *words: str) -> str:
        """Type ``keys`` and return the screen once it shows ``words``."""
        if keys:
            self.terminal.press(keys)
        self.screens.append((keys, self.terminal.wait_for(*words, seconds=90)))
        return self.screens[-1][1]


def test_without_an_index_the_field_takes_the_first_key_and_the_first_card_says_it_all(tmp_path: Path) -> None:
    with PythonShop(tmp_path) as shop, Terminal(tmp_path, rules(shop)) as terminal:
        seen = Recording(terminal)
        first = seen.after("", "Can AI assistants get into your site?")
        assert "enter" in first.splitlines()[-1], "what the typed address is for"
        assert "http://" in seen.after("http://", "http://"), "the field has the cursor without a key"
        facts = ("All four assistants that were asked are refused", "✗ Claude 403", "Works", "How the score came")
        card = seen.after(f"{HOST}\r", "Next", "Welcome", "ChatGPT", *facts)
        assert HOST in card.splitlines()[0]
        exchange = seen.after("\r", "Compared", "curl")
        assert "403" in exchange
        assert "Next" in seen.after("\x1b", "Next", "Welcome")
        listed = seen.after("\x1b", "AUI  1 site", HOST)
        assert "Gets in" in listed
        assert [keys for keys, _ in seen.screens] == ["", "http://", f"{HOST}\r", "\r", "\x1b", "\x1b"]


@pytest.mark.slow
def test_the_first_card_of_the_demo_tells_a_story_in_one_screen(tmp_path: Path) -> None:
    with Terminal(tmp_path, ["demo"]) as terminal:
        seen = Recording(terminal)
        seen.after("", "28 sites", "▸")
        card = seen.after("\r", "Next", "Welcome")
        for part in ("Walled", "Welcome", "Built", "Works", "ChatGPT", "Claude", "Next", "How the score came about"):
            assert part in card, part
