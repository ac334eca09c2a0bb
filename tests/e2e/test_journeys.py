"""Whole journeys through the dashboard in a pseudo-terminal: the analyst's, the owner's, and what may go wrong."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pexpect
import pytest

from aui_tui.errors import RateLimited
from aui_tui.service.local import LocalService
from tests.cli.runner import here
from tests.cli.stored import fill
from tests.e2e.shops import PythonShop
from tests.e2e.terminal import IN_A_TERMINAL, Terminal
from tests.e2e.workshop import with_tools
from tests.service.browser import BROWSER, MISSING
from tests.tui.cards import make_card

pytestmark = IN_A_TERMINAL
COPIED = re.compile(r"\x1b\]52;c;([A-Za-z0-9+/=]+)\x07")


def copied(terminal: Terminal) -> str:
    """Return what was put on the clipboard last."""
    return base64.b64decode(COPIED.findall(terminal.raw)[-1]).decode()


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (140, 40), (50, 15)])
def test_an_analyst_finds_the_walled_travel_sites_and_exports_them(tmp_path: Path, columns: int, lines: int) -> None:
    cards = [make_card(number) for number in range(80)]
    fill(tmp_path, cards)
    wanted = {c.host for c in cards if (c.stance, c.category, c.unreachable) == ("Walled", "Travel", False)}
    assert len(wanted) > 1
    with Terminal(tmp_path, [], columns=columns, lines=lines) as terminal:
        terminal.wait_for(" sites", "enter Open")
        terminal.press("3")
        terminal.wait_for("◌ Walled")
        terminal.press("c")
        terminal.wait_for("All categories")
        terminal.press("\x1b[B\r")
        terminal.wait_for(f"AUI  {len(wanted)} of ")
        terminal.press("x")
        terminal.wait_for("Write the list", "walled-travel.json")
        terminal.press("\r")
        terminal.wait_for("Wrote")
        terminal.press("x")
        terminal.wait_for("Write the list")
        terminal.press("\r")
        terminal.wait_for("is there already")
        terminal.press("\r")
        terminal.wait_until(lambda: "Write the list" not in terminal.text)
        terminal.press("q")
        assert terminal.finish() == 0
    found = json.loads((tmp_path / "walled-travel.json").read_text(encoding="utf-8"))
    assert {row["host"] for row in found["ranked"]} == wanted


def chosen(screen: str) -> str:
    """Return ``llms`` where the cursor of the pane stands on that fix, else the words of the line."""
    row = next((row.split("▸")[1] for row in screen.splitlines() if "▸" in row), "")
    return "llms" if "llms.txt" in row else row.strip()


def test_an_owner_types_scans_fixes_scans_again_and_sees_the_difference(tmp_path: Path) -> None:
    """The loop from an empty folder: 15 + 1 keys to the card, 5 to the copied change, 2 to what it brought."""
    with PythonShop(tmp_path) as shop, Terminal(tmp_path, [], columns=100, lines=30) as terminal:
        address = f"localhost:{shop.port}"
        terminal.wait_for("Can AI assistants get into your site?", "enter scans")
        terminal.press(address)
        terminal.wait_for(f"{address} is on this machine")
        terminal.press("\r")
        terminal.wait_for("[1 Summary]", address, "◌ Walled", seconds=90)
        terminal.press("4")
        terminal.wait_for("[4 Fixes", "y copies the change")
        while (fix := chosen(terminal.text)) != "llms":
            terminal.press("j")

            def is_next(before: str = fix) -> bool:
                return chosen(terminal.text) not in ("", before)

            terminal.wait_until(is_next, f"for the fix after {fix}")
        terminal.press("y")
        terminal.wait_for("Copied the change")
        assert copied(terminal).startswith("# ")
        (shop.root / "llms.txt").write_text(copied(terminal), encoding="utf-8")
        shop.leave_out("/llms.txt")  # a file that agents cannot get earns nothing
        terminal.press(" ")
        terminal.wait_for("what if 1 fix")
        terminal.press("s")
        terminal.wait_for("→", "d shows why", seconds=90)
        terminal.press("d")
        terminal.wait_for("[3 Changes]", "llms.txt", "score ")
        terminal.press("L")
        terminal.wait_for("Actions", f"aui-tui scan {address}")
        terminal.press("\r")
        terminal.wait_for("Copied the command line")
        assert copied(terminal) == f"aui-tui scan {address}"
        terminal.press("q")
        assert terminal.finish() == 0
        assert here(tmp_path, *copied(terminal).split()[1:], "-q", "--json").code == 0


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_each_line_of_the_history_runs_in_a_shell(tmp_path: Path) -> None:
    fill(tmp_path, [make_card(number) for number in range(12)])
    lines: list[str] = []
    kinds = {"index", "export", "site", "scan"}
    with PythonShop(tmp_path) as shop, Terminal(tmp_path, [], columns=140, lines=40) as terminal:
        terminal.wait_for(" sites", "enter Open")
        terminal.press("v")
        terminal.wait_for("Who gets in", "What sites lack most")
        terminal.press("\x1b[B\r")
        terminal.wait_for("─ Claude ─")
        terminal.press("\r")
        terminal.wait_for("agent:", "enter Open")
        for keys, kind in (("x", "list"), (" \x1b[Bx", "list"), ("\r", ""), ("x", "card"), ("4", ""), ("x", "snippet")):
            terminal.press(keys)
            if kind:
                terminal.wait_for(f"Write the {kind}")
                terminal.press("\r")
                terminal.wait_until(lambda: "Write the" not in terminal.text, "for the window to close")
            else:
                terminal.wait_for("y copies the change")
        terminal.press("\x7fS")
        terminal.wait_for("Scan an address")
        terminal.press(f"localhost:{shop.port}\r")
        terminal.wait_for(f"localhost:{shop.port}", "Summary", "Welcome", seconds=90)
        terminal.press("L")
        terminal.wait_for("Actions: enter copies", *(f"  aui-tui {word} " for word in kinds))
        count = sum("  aui-tui " in line for line in terminal.text.splitlines())
        for number in range(count):
            terminal.press("\x1b[B" * number + "\r")
            terminal.wait_until(lambda number=number: len(COPIED.findall(terminal.raw)) > number)  # type: ignore[misc]
            lines.append(copied(terminal))
            terminal.wait_until(lambda: "Actions: enter copies" not in terminal.text, "for the window to close")
            terminal.press("L")
            terminal.wait_for("Actions: enter copies")
        terminal.press("\x1b")
        terminal.wait_until(lambda: "Actions: enter copies" not in terminal.text)
        terminal.press("q")
        assert terminal.finish() == 0
        assert {line.split()[1] for line in lines} == kinds
        for written in tmp_path.glob("*.*"):
            written.unlink()
        for line in lines:
            done = subprocess.run(
                ["bash", "-c", line],
                cwd=tmp_path,
                env=with_tools(tmp_path),
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, (line, done.stderr)


def test_a_full_disk_is_said_on_the_screen(tmp_path: Path) -> None:
    home = tmp_path / "small"
    home.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(home)]
    if sys.platform != "linux" or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("needs the right to mount a small disk")
    try:
        fill(home, [make_card(number) for number in range(5)])
        with PythonShop(tmp_path) as shop, Terminal(home, [], columns=120, lines=30) as terminal:
            terminal.wait_for("AUI  5 sites")
            with suppress(OSError), (home / "ballast").open("wb", buffering=0) as ballast:
                while True:
                    ballast.write(b"x" * 4096)
            terminal.press("x")
            terminal.wait_for("Write the list")
            terminal.press("\r")
            terminal.wait_for("✗", "the disk is full")
            terminal.wait_until(lambda: "the disk is full" not in terminal.text)
            terminal.press("S")
            terminal.wait_for("Scan an address")
            terminal.press(f"localhost:{shop.port}\r")
            terminal.wait_for("This scan is not saved", seconds=90)
            terminal.wait_for("Welcome", f"localhost:{shop.port}")
            terminal.press("q")
            assert terminal.finish() == 0
    finally:
        subprocess.run(["umount", str(home)], check=True)


def spend_the_hour(home: Path) -> None:
    """Use up the scans that this hour has left."""
    service = LocalService(home / "data")
    with suppress(RateLimited):
        while True:
            service.scans.quota.spend("local")
    asyncio.run(service.aclose())


def test_a_site_of_this_machine_is_scanned_when_the_hour_has_no_scans_left(tmp_path: Path) -> None:
    with PythonShop(tmp_path) as shop:
        address = f"localhost:{shop.port}"
        assert here(tmp_path, "scan", address, "-q", "--json").code == 0
        spend_the_hour(tmp_path)
        assert here(tmp_path, "scan", address, "-q", "--json").code == 0
        with Terminal(tmp_path, []) as terminal:
            terminal.wait_for("AUI  1 site ", "0 scans left")
            terminal.press("s")
            terminal.wait_for("as before", "[1 Summary]", seconds=90)
            terminal.press("s")
            terminal.wait_until(lambda: terminal.raw.count("as before") > 1, "for the second scan")
            terminal.press("q")
            assert terminal.finish() == 0


@pytest.mark.browser
@pytest.mark.skipif(BROWSER is None, reason=MISSING)
def test_tasks_are_tried_and_an_ordinary_rescan_keeps_them_with_their_age(tmp_path: Path) -> None:
    with PythonShop(tmp_path) as shop, Terminal(tmp_path, [], columns=100, lines=30) as terminal:
        terminal.wait_for("Can AI assistants get into your site?", "enter scans")
        terminal.press(f"localhost:{shop.port}\r")
        terminal.wait_for("[1 Summary]", "not tried, a tries it", seconds=90)
        terminal.press("a")
        terminal.wait_for("[7 Tasks]", "points for tasks", seconds=150)
        terminal.wait_for("7 Tasks – ", "of 15 points measured")
        points = re.search(r"7 Tasks – (\d+) of 15 points measured", terminal.text)
        assert points is not None
        assert "; tasks " not in terminal.text
        terminal.press("s")
        terminal.wait_for("as before", seconds=90)
        terminal.wait_for(f"7 Tasks – {points[1]} of 15 points measured", "; tasks ")
        assert "not tried, a tries it" not in terminal.text
        terminal.press("q")
        assert terminal.finish() == 0


def test_keys_without_effect_say_why(tmp_path: Path) -> None:
    fill(tmp_path, [make_card(number) for number in range(5)])
    with Terminal(tmp_path, []) as terminal:
        terminal.wait_for("enter Open")
        terminal.press("Z")
        terminal.wait_for("Z does nothing here. ? lists the keys that do.")
        terminal.press("\x1b")
        terminal.wait_for("This is the whole list")


def test_another_program_s_scan_comes_into_the_list(tmp_path: Path) -> None:
    fill(tmp_path, [make_card(number) for number in range(5)])
    with Terminal(tmp_path, []) as terminal:
        terminal.wait_for("AUI  5 sites")
        fill(tmp_path, [make_card(7)])
        terminal.wait_for("AUI  6 sites")


def test_a_damaged_index_is_said_on_the_screen(tmp_path: Path) -> None:
    fill(tmp_path, [make_card(number) for number in range(5)])
    index = next(path for path in tmp_path.rglob("index.db"))
    index.write_bytes(b"no database at all, " * 500)
    with Terminal(tmp_path, []) as terminal:
        terminal.wait_for("damaged")
        terminal.press("\x1b")
        terminal.wait_for("Can AI assistants")


def test_an_empty_index_gives_way_to_another_one(tmp_path: Path) -> None:
    fill(tmp_path / "theirs", [make_card(number) for number in range(5)])
    exported = tmp_path / "theirs.json"
    assert here(tmp_path / "theirs", "export", "-o", str(exported)).code == 0
    (tmp_path / "mine").mkdir()
    with Terminal(tmp_path / "mine", []) as terminal:
        terminal.wait_for("Can AI assistants", "Another index")
        terminal.press("\x1b" + "\x1b[B" * 2 + "\r")
        terminal.wait_for("https://index.example")
        terminal.press(f"{exported}\r")
        terminal.wait_for("AUI  5 sites", "enter Open")
        terminal.press("q")
        assert terminal.finish() == 0


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_fg_draws_the_screen_at_once(tmp_path: Path) -> None:
    fill(tmp_path, [make_card(number) for number in range(5)])
    with Terminal(tmp_path, [], shell=True) as terminal:
        terminal.wait_for("AUI  5 sites")
        terminal.press("\x1a")
        terminal.wait_for("Stopped")
        before = len(terminal.raw)
        terminal.press("fg\r")
        terminal.wait_until(lambda: "5 sites" in terminal.raw[before:], "for the screen after fg")
        terminal.press("q")
        terminal.wait_until(lambda: terminal.raw.endswith("$ "), "for the shell")
        terminal.press("exit\r")
        assert terminal.finish() == 0


def test_a_machine_without_a_network_is_not_233_dead_sites(tmp_path: Path) -> None:
    with Terminal(tmp_path, []) as terminal:
        terminal.wait_for("Known sites")
        terminal.press("\x1b")
        terminal.press("\x1b[B\r")
        terminal.wait_for("no network")
        assert "unreachable" not in terminal.text
        terminal.press("q")


def test_a_kill_leaves_an_index_that_opens_again(tmp_path: Path) -> None:
    fill(tmp_path, [make_card(number) for number in range(5)])
    with Terminal(tmp_path, []) as terminal:
        terminal.wait_for("AUI  5 sites")
        terminal.kill(signal.SIGKILL)
        with pytest.raises((AssertionError, pexpect.EOF)):
            terminal.wait_for("never", seconds=5)
    with Terminal(tmp_path, []) as terminal:
        terminal.wait_for("AUI  5 sites")
