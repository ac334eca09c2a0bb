"""Whole journeys through the dashboard in a pseudo-terminal: the analyst's, and the owner's."""

from __future__ import annotations

import base64
import json
import re
import socket
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cli.stored import fill
from tests.e2e.shops import PythonShop
from tests.e2e.terminal import Terminal
from tests.tui.cards import make_card

pytestmark = [
    pytest.mark.pty,
    pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal"),
]
COPIED = re.compile(r"\x1b\]52;c;([A-Za-z0-9+/=]+)\x07")


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (140, 40), (50, 15)])
def test_an_analyst_finds_the_walled_travel_sites_and_exports_them(tmp_path: Path, columns: int, lines: int) -> None:
    cards = [make_card(number) for number in range(80)]
    fill(tmp_path, cards)
    wanted = {c.host for c in cards if (c.stance, c.category, c.unreachable) == ("Walled", "Travel", False)}
    assert len(wanted) > 1
    with Terminal(tmp_path, [], columns=columns, lines=lines) as terminal:
        terminal.wait_for("Ranked", "enter Open")
        terminal.press("3")
        terminal.wait_for("◌ Walled")
        terminal.press("c")
        terminal.wait_for("All categories")
        terminal.press("\x1b[B\r")
        terminal.wait_for(f"Ranked {len(wanted)} ")
        terminal.press("x")
        terminal.wait_for("Export the list", "walled-travel.json")
        terminal.press("\r")
        terminal.wait_for("Wrote")
        terminal.press("q")
        assert terminal.finish() == 0
    found = json.loads((tmp_path / "walled-travel.json").read_text(encoding="utf-8"))
    assert {row["host"] for row in found["ranked"]} == wanted


def chosen(screen: str) -> str:
    """Return ``llms`` where the cursor of the pane stands on that fix, else the words of the line."""
    row = next((row.split("▸")[1] for row in screen.splitlines() if "▸" in row), "")
    return "llms" if "llms.txt" in row else row.strip()


def test_an_owner_scans_reads_copies_a_fix_scans_again_and_sees_the_difference(tmp_path: Path) -> None:
    with ExitStack() as stack:
        shop = stack.enter_context(PythonShop(tmp_path))
        closed = stack.enter_context(socket.socket())
        closed.bind(("127.0.0.1", 0))
        rules = [*shop.rules, "--connect-to", f"{shop.host}:443:127.0.0.1:{closed.getsockname()[1]}"]
        terminal = stack.enter_context(Terminal(tmp_path, rules, columns=100, lines=30))
        terminal.wait_for("No host has been scanned yet.")
        terminal.press(f"S{shop.host}\r")
        terminal.wait_for("Ranked 1 ", shop.host, "◌ Walled", seconds=90)
        terminal.press("\r4")
        terminal.wait_for("[4 Fixes", "y copies the snippet")
        terminal.wait_until(lambda: chosen(terminal.text) != "")
        while (fix := chosen(terminal.text)) != "llms":
            terminal.press("j")
            terminal.wait_until(lambda fix=fix: chosen(terminal.text) not in ("", fix), f"for the fix after {fix}")
        terminal.press("y")
        terminal.wait_for("Copied /llms.txt snippet")
        copied = base64.b64decode(COPIED.findall(terminal.raw)[-1]).decode()
        assert copied.startswith("# ")
        (shop.folder / "llms.txt").write_text(copied, encoding="utf-8")
        terminal.press("f")
        terminal.wait_for("8/10", seconds=90)
        terminal.press("d")
        terminal.wait_for("[3 Changes]", "llms.txt", "Score")
        terminal.press("q")
        assert terminal.finish() == 0
