"""The dashboard in a pseudo-terminal, on the demo's web and on the user's own index."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from aui_tui.index.cache import LIMIT, QuotaStore, SharedCache
from aui_tui.index.folder import places
from aui_tui.tui.glyphs import CURSOR
from aui_tui.tui.themes import packaged
from aui_tui.tui.words import local_time
from tests.cli.runner import command, environment, here
from tests.cli.stored import fill
from tests.e2e.conftest import GUARDED, RICH, Options
from tests.e2e.terminal import IN_A_TERMINAL, Terminal
from tests.tui.cards import make_card

pytestmark = IN_A_TERMINAL
RESTORED = ("\x1b[?1049l", "\x1b[?25h")
"""Leaving the alternate screen, and showing the cursor."""


@pytest.mark.slow
def test_demo_filter_open_scan_quit(tmp_path: Path) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    with Terminal(tmp_path, ["demo"], env={"TMPDIR": str(temporary)}) as terminal:
        terminal.wait_for("demo: ", "scans")
        terminal.wait_for("28 sites", "4 unreachable", "blog.demo.test", "+24", seconds=150)
        terminal.press("3")
        terminal.wait_until(lambda: "blog.demo.test" not in terminal.text)
        terminal.wait_for("stay.demo.test")
        terminal.press("/")
        terminal.wait_for("esc Cancel")
        terminal.press("stay")
        terminal.wait_for("AUI  1 of 28 sites")
        terminal.press("\r")
        terminal.wait_for("Category: all")
        terminal.press("\r")
        terminal.wait_for("stay.demo.test", "Walled", "Welcome", "Cloudflare")
        terminal.press("f")
        terminal.wait_for("42, as before", "10 scans left")  # scans of the small web cost none of the ten
        terminal.press("q")
        assert terminal.finish() == 0
        for sequence in RESTORED:
            assert sequence in terminal.raw
        assert "Traceback" not in terminal.raw
    assert not list(temporary.iterdir())
    assert not (tmp_path / "data").exists()


def test_dashboard_opens_on_the_local_index(tmp_path: Path, serve: Callable[..., Options]) -> None:
    rules = serve(RICH, GUARDED)
    assert here(tmp_path, "scan", "http://rich.test", *rules, "-q").code == 0
    with Terminal(tmp_path, rules) as terminal:
        terminal.wait_for("AUI  1 site ", "rich.test", "10 scans left")
        terminal.press("q")
        assert terminal.finish() == 0
    with Terminal(tmp_path, [*rules, "--open", "rich.test"]) as terminal:
        terminal.wait_for("rich.test", "100 A", "50 of 50*", "Summary")
        terminal.press("q")
        assert terminal.finish() == 0


def test_a_scan_at_zero_scans_left_names_the_next_slot_and_the_dashboard_goes_on(
    tmp_path: Path, serve: Callable[..., Options]
) -> None:
    rules = serve(GUARDED)
    fill(tmp_path, (make_card(number) for number in range(12)))
    quota = QuotaStore(SharedCache(places(tmp_path / "data").cache))
    for _ in range(LIMIT):
        quota.spend("local")
    with Terminal(tmp_path, rules, columns=140, lines=40) as terminal:
        terminal.wait_for("AUI  11 sites", "0 scans left", "next at " + local_time(quota.left("local").next_slot))
        terminal.press("Sfar-away.org\r")
        terminal.wait_for("The limit of 10 scans an hour is used up", "free in")
        terminal.press("3")
        terminal.wait_for("AUI  4 of 11 sites")
        terminal.press("\r")
        terminal.wait_for("1 Summary", "0 scans left")
        terminal.press("\x7f3u")
        terminal.wait_for("Reason")
        terminal.press("q")
        assert terminal.finish() == 0
    assert "far-away.org" not in here(tmp_path, "index", "--json").out


def test_the_list_comes_back_as_it_was_left(tmp_path: Path) -> None:
    cards = [make_card(number) for number in range(40)]
    fill(tmp_path, cards)
    left = sorted(card.host for card in cards if (card.score or 0) > 70)

    def as_it_was_left(terminal: Terminal) -> bool:
        return (under_the_cursor(terminal), hosts(terminal)) == (left[4], left)

    with Terminal(tmp_path, columns=120) as terminal:
        terminal.wait_for("AUI  ", "unreachable")
        terminal.press("/")
        terminal.wait_for("esc Cancel")
        terminal.press("score:>70\r")
        terminal.wait_for(" of 37 sites")
        terminal.press("<")
        terminal.wait_for("Host ▴")
        terminal.press("\x1b[H" + "\x1b[B" * 4)
        terminal.wait_until(lambda: as_it_was_left(terminal))
        terminal.press("q")
        assert terminal.finish() == 0
    with Terminal(tmp_path, columns=120) as terminal:
        terminal.wait_for("score:>70")
        terminal.wait_until(lambda: as_it_was_left(terminal))
    kept = places(tmp_path / "data").dashboard
    for text in (b"{", b'{"sort": "no column"}', b"\xff"):
        kept.write_bytes(text)
        with Terminal(tmp_path, columns=120) as terminal:
            terminal.wait_for("AUI  ", "unreachable", "Open")
            terminal.press("q")
            assert terminal.finish() == 0


def hosts(terminal: Terminal) -> list[str]:
    """Return the hosts of the list from top to bottom."""
    rows = (row[: row.find(".example") + len(".example")].split() for row in terminal.text.splitlines()[3:-2])
    return [row[-1] for row in rows if row and row[-1].endswith(".example")]


def under_the_cursor(terminal: Terminal) -> str:
    """Return the host under the cursor of the list."""
    rows = (row for row in terminal.text.splitlines() if row.startswith(CURSOR))
    return next((word for row in rows for word in row.split() if word.endswith(".example")), "")


@pytest.mark.parametrize("listens", [True, False], ids=["mouse", "no mouse"])
def test_the_mouse_is_left_to_the_terminal_when_asked(tmp_path: Path, listens: bool) -> None:
    with Terminal(tmp_path, [], env={"AUI_TUI_MOUSE": str(listens)}) as terminal:
        terminal.wait_for("Can AI assistants")
        assert ("\x1b[?1000h" in terminal.raw) is listens


def test_without_standard_error_on_the_terminal_it_says_so_instead_of_drawing_into_a_file(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            command(), cwd=tmp_path, env=environment(tmp_path), stdin=theirs, stdout=theirs, stderr=subprocess.PIPE
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 2
    assert b"needs one for standard input, output and error" in done.stderr
    assert b"\x1b" not in done.stderr


def test_a_theme_beside_the_settings_is_drawn_with(tmp_path: Path) -> None:
    (tmp_path / "themes").mkdir()
    (tmp_path / "settings.toml").write_text("", encoding="utf-8")
    text = (packaged() / "dusk.toml").read_text(encoding="utf-8")
    text = text.replace('"dusk"', '"mine"').replace("#16181f", "#010203")
    (tmp_path / "themes" / "mine.toml").write_text(text, encoding="utf-8")
    arguments = ["--config", str(tmp_path / "settings.toml")]
    with Terminal(tmp_path, arguments, env={"AUI_TUI_THEME": "mine"}) as terminal:
        terminal.wait_for("Can AI assistants")
        terminal.press("\x10")
        terminal.wait_for("Search for commands")
        terminal.press("theme\r")
        terminal.wait_for("mine", "paper")
        terminal.press("\r")
        terminal.wait_until(lambda: "paper" not in terminal.text)
        terminal.press("\x11")
        assert terminal.finish() == 0
        assert "48;2;1;2;3" in terminal.raw


def test_unknown_theme_is_one_sentence_before_the_screen_is_touched(tmp_path: Path) -> None:
    with Terminal(tmp_path, [], env={"AUI_TUI_THEME": "nope"}) as terminal:
        terminal.wait_for("aui-tui:", "nope")
        assert terminal.finish() == 2
        assert "\x1b[?1049h" not in terminal.raw


def test_an_empty_index_leads_to_the_demo_with_one_key(tmp_path: Path) -> None:
    with Terminal(tmp_path, []) as terminal:
        terminal.wait_for("enter scans", "The demo", "Known sites", "233 public sites", "in the background")
        assert "Can AI assistants get into your site?" in terminal.text
        terminal.press("\x1b[B\r")
        terminal.wait_for("demo: ", " of 35 scans")
        terminal.press("q")
        assert terminal.finish() == 0
