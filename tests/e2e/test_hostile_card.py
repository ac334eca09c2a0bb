"""A hostile report card in a real pseudo-terminal: whatever it carries, only text reaches the terminal."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from aui_tui.model.codec import encode_card
from tests.e2e.terminal import IN_A_TERMINAL, Terminal
from tests.tui.cards import make_card
from tests.tui.test_hostile import PAYLOADS, hostile_card

pytestmark = IN_A_TERMINAL
PALETTE, BACK, DOWN = "\x10", "\x7f", "\x1b[B"
CLOSE = "esc Close"
WALK = (
    ("m", "1 ChatGPT agent"),
    ("mv", "Who gets in"),
    ("vY", "Copied the row"),
    (" " + DOWN + "  =", "lines differ"),
    (BACK + "/e", "AUI  2 of 2 sites"),
    (BACK + "\r\r", "[1 Summary]"),
    ("2", "[2 Agents"),
    ("3", "[3 Evidence"),
    ("4", "[4 Fixes"),
    (" ", "comes without what was seen"),
    ("y", "Copied"),
    ("6", "[6 Log"),
    ("1l", "[1 Summary]"),
    ("d", "[3 Changes]"),
    ("/x", CLOSE),
    ("\x1b", CLOSE),
    ("D", "Compare with the scan of"),
    ("\r?", "In the shell"),
    ("q" + PALETTE + "example", "codenest2.example"),
)
"""Keys, and what stands on the screen then; after escape, what does no longer."""
OURS = re.compile(
    r"\x1b\[[0-9;:?<>=$]*[ -/]*[@-~]"  # CSI: how the program draws
    r"|\x1b\]52;c;[A-Za-z0-9+/=]*(?:\x07|\x1b\\)"  # OSC 52: what was copied, in base64
    r"|\x1b\]2;[^\x00-\x1f\x7f-\x9f]*aui-tui\x1b\\"  # OSC 2: the name of the window, cleaned
    r"|\x1b\]22;[a-z-]*\x07"  # OSC 22: the shape of the pointer
    r"|\x1b[=>78]"  # keypad, cursor
    r"|\x1bP=[12]s\x1b\\"  # synchronised output
)
FORBIDDEN = re.compile("[\x00-\x06\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


@pytest.mark.parametrize("payload", [" ".join(PAYLOADS[:-2]), PAYLOADS[-1]], ids=["all", "wide"])
def test_only_text_of_a_hostile_card_reaches_the_terminal(tmp_path: Path, payload: str) -> None:
    card = msgspec.structs.replace(hostile_card(payload), host="t.example")  # no other host is read from a file
    before = msgspec.structs.replace(card, scanned_at=make_card(1, back=1).scanned_at)
    source = tmp_path / "cards.ndjson"
    source.write_bytes(b"\n".join(encode_card(each) for each in (before, card, make_card(2))))
    with Terminal(tmp_path, ["--source", str(source)], columns=100, lines=30) as terminal:
        terminal.wait_for("AUI  2 sites", "enter Open")
        for keys, words in WALK:
            terminal.press(keys)
            if keys == "\x1b":  # read together with the next key, it would be half of another one
                terminal.wait_until(lambda: CLOSE not in terminal.text)
            else:
                terminal.wait_for(words)
        terminal.press("\x1b")
        terminal.wait_until(lambda: "codenest2.example" not in terminal.text)
        terminal.press("q")
        assert terminal.finish() == 0
        left = OURS.sub("", terminal.raw)
        found = FORBIDDEN.search(left)
        assert found is None, repr(left[max(found.start() - 40, 0) : found.end() + 40])
