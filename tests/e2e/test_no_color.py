"""NO_COLOR: no colour at all reaches the terminal, and what a colour says elsewhere an attribute says here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.stored import fill
from tests.e2e.terminal import IN_A_TERMINAL, Terminal
from tests.tui.cards import make_card

pytestmark = IN_A_TERMINAL
SGR = re.compile(r"\x1b\[([\d;:]*)m")
JOURNEY = (
    ("3", "AUI  19 of "),
    ("m", "1 ChatGPT agent"),
    ("c\x1b[B\r", "Category: Travel"),
    ("v", "Who gets in"),
    ("v", "Category: Travel"),
    ("/", "esc Cancel"),
    ("codenest", "AUI  1 of "),
    ("\r", "enter Open"),
    ("\r", "[1 Summary]"),
    ("4", "[4 Fixes"),
    (" ", "comes without what was seen"),
    ("y", "Copied"),
    ("D", "Only one scan"),
    ("?", "Report card"),
    ("qT", "high-contrast"),
    ("\x1b[B\r\x10", "Search for commands"),
)


def colours(raw: str) -> set[str]:
    """Return the parameters of SGR sequences that are a colour."""
    found = {part for match in SGR.finditer(raw) for part in re.split("[;:]", match[1])}
    return {part for part in found if re.fullmatch(r"[34]\d|9\d|10\d", part)}


@pytest.mark.parametrize(("theme", "plain"), [("", False), ("paper", False), ("terminal", True)])
def test_no_colour_reaches_the_terminal(tmp_path: Path, theme: str, plain: bool) -> None:
    fill(tmp_path, (make_card(number) for number in range(60)))
    asked = {"NO_COLOR": "1", "AUI_TUI_THEME": theme, "AUI_TUI_ASCII": str(plain)}
    with Terminal(tmp_path, [], env=asked) as terminal:
        terminal.wait_for("AUI  5", "enter Open")
        cursor = next(line for line in range(24) if terminal.text.splitlines()[line].startswith(("▸", ">")))
        assert terminal.attributes(cursor, 20) == {"bold", "reverse"}
        assert terminal.attributes(cursor + 1, 20) == set()
        for keys, words in JOURNEY:
            terminal.press(keys)
            terminal.wait_for(words)
        assert colours(terminal.raw) == set()
        assert terminal.raw.isascii() is plain


def test_an_empty_no_color_is_none(tmp_path: Path) -> None:
    fill(tmp_path, [make_card(1)])
    with Terminal(tmp_path, [], env={"NO_COLOR": ""}) as terminal:
        terminal.wait_for("AUI  1 site", "enter Open")
        assert "38" in colours(terminal.raw)
