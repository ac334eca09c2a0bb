"""How many keys it takes: journeys in a pseudo-terminal, counted."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from aui_tui.service.local import LocalService
from tests.e2e.shops import HOST, PythonShop, rules
from tests.e2e.terminal import Terminal
from tests.scan import situations
from tests.visits.planted import plant

HOSTS = ("outlet.example", "stay.example", "open.example")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with three scans: one agent refused, all challenged, all let in."""
    folder = tmp_path_factory.mktemp("home")
    service = LocalService(folder / "data")
    refused = situations.open_rich()
    agent = refused.live[1].name
    exchanges = tuple(situations.probe(agent, 403) if one.name == agent else one for one in refused.exchanges)
    scans = (replace(refused, exchanges=exchanges), situations.wall_for_agents(), situations.open_rich())
    for host, scan in zip(HOSTS, scans, strict=True):
        service.store.put(*situations.graded(host, scan, category="Retail"))
    asyncio.run(service.aclose())
    return folder


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """An empty file of settings."""
    path = tmp_path / "config.toml"
    path.write_text("", encoding="utf-8")
    return path


class Keys:
    """Presses keys one by one and counts them."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.pressed = 0

    def press(self, keys: Sequence[str], *words: str) -> str:
        for key in keys:
            self.terminal.press(key)
            self.pressed += 1
        return self.terminal.wait_for(*words)


@pytest.mark.ci
def test_a_newcomer_reads_verdict_and_next_step_without_a_key_and_more_with_enter(home: Path) -> None:
    with Terminal(home, [], columns=140, lines=40) as terminal:
        text = terminal.wait_for("AUI  3 sites", "open.example", "✗ Claude", "# 4 out")
        assert "Gets in" in text
        keys = Keys(terminal)
        keys.press(["\r"], "Every assistant that was asked gets in.", "50 of 50*", "Next")
        assert keys.pressed == 1


@pytest.mark.ci
def test_the_raw_exchange_is_two_keys_from_the_list(home: Path) -> None:
    with Terminal(home, [], columns=140, lines=40) as terminal:
        terminal.wait_for("AUI  3 sites", "open.example")
        terminal.press("j")
        keys = Keys(terminal)
        keys.press(["\r"], "Claude is refused;", "though robots.txt")
        keys.press(["\r"], "Compared", "403 Forbidden", "200 OK", "curl -sS")
        assert keys.pressed == 2


@pytest.mark.ci
def test_three_hosts_are_compared_with_four_keys(home: Path) -> None:
    with Terminal(home, [], columns=140, lines=40) as terminal:
        terminal.wait_for("AUI  3 sites", "open.example")
        keys = Keys(terminal)
        keys.press([" ", " ", " ", "="], "Compare", *HOSTS)
        assert keys.pressed == 4


@pytest.mark.ci
def test_an_analyst_finds_the_walled_shops_that_turn_claude_away_and_exports_them(home: Path) -> None:
    with Terminal(home, [], columns=140, lines=40) as terminal:
        terminal.wait_for("AUI  3 sites")
        keys = Keys(terminal)
        keys.press(["/"], "enter searches as typed")
        terminal.press("category:retail stance:walled agent:claude=out")
        terminal.wait_for("AUI  1 of 3 sites")
        keys.press(["\r", ">", ">"], "G▴", "stay.example")
        keys.press(["x"], "Write the list")
        keys.press(["\r"])
        terminal.wait_until(
            lambda: any("stay.example" in file.read_text(encoding="utf-8") for file in home.glob("*.json")),
            "for the whole file",
        )
        assert keys.pressed <= 12


@pytest.mark.ci
def test_an_owner_scans_reads_the_cause_copies_the_fix_scans_again_and_sees_the_difference(tmp_path: Path) -> None:
    with PythonShop(tmp_path) as shop, Terminal(tmp_path, rules(shop), columns=140, lines=40) as terminal:
        terminal.wait_for("Can AI assistants get into your site?")
        keys = Keys(terminal)
        terminal.press(f"http://{HOST}")
        keys.press(["\r"], "refused", "though robots.txt", "Next")
        keys.press(["y"], "Copied")
        (shop.root / "llms.txt").write_text(f"# {HOST}\n\n> A shop.\n", encoding="utf-8")
        shop.leave_out("/llms.txt")
        keys.press(["f"])
        terminal.wait_for("d shows why", seconds=90)
        keys.press(["d"], "Changes", "llms.txt")
        assert keys.pressed <= 8


@pytest.mark.ci
def test_a_key_of_the_settings_file_works_and_the_pane_of_keys_says_where_to_write_it(home: Path, config: Path) -> None:
    config.write_text('[keys]\noverview = "Z"\n', encoding="utf-8")
    with Terminal(home, ["--config", str(config)], columns=140, lines=40) as terminal:
        terminal.wait_for("AUI  3 sites")
        keys = Keys(terminal)
        keys.press([","], "Settings")
        keys.press(["G", *["k"] * 4, "\r"], "write its name under [keys] in")
        keys.press(["\x1b"])
        terminal.wait_until(lambda: "under [keys]" not in terminal.text)
        keys.press(["Z"], "1 Who gets in")


@pytest.mark.ci
def test_the_settings_say_where_each_comes_from_and_open_in_the_users_editor(
    home: Path, config: Path, tmp_path: Path
) -> None:
    config.write_text('control = "plain"\n', encoding="utf-8")
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf \'%s\\n\' "$2" >>"$3"\nread answer </dev/tty\n', encoding="utf-8")
    editor.chmod(0o700)
    env = {"EDITOR": f"'{editor}' --wait 'pace = 90'", "AUI_TUI_SCHEDULER": "tcp://head:8786"}
    with Terminal(home, ["--config", str(config)], columns=140, lines=80, env=env) as terminal:
        terminal.wait_for("AUI  3 sites")
        terminal.press(",")
        terminal.wait_for("plain (file): ", "tcp://head:8786 (AUI_TUI_SCHEDULER): ", "(default): scoring method")
        terminal.press("e")
        terminal.wait_until(lambda: "pace = 90" in config.read_text(encoding="utf-8"))
        terminal.press("done\r")
        terminal.wait_for("pace: must be a number <= 60.0", "AUI  3 sites")


@pytest.mark.ci
def test_a_list_is_saved_with_two_keys_and_a_name_and_comes_back_with_two(home: Path, config: Path) -> None:
    with Terminal(home, ["--config", str(config)], columns=140, lines=40) as terminal:
        terminal.wait_for("AUI  3 sites")
        terminal.press("3")
        terminal.wait_for("AUI  1 of 3 sites")
        keys = Keys(terminal)
        keys.press(["V"], "Saved lists")
        terminal.press("walls")
        keys.press(["\r"], "List walls saved.")
        assert keys.pressed == 2
        terminal.press("0")
        terminal.wait_for("AUI  3 sites")
        back = Keys(terminal)
        back.press(["V", "\r"], "AUI  1 of 3 sites", "stay.example")
        assert back.pressed == 2


@pytest.mark.ci
def test_an_access_log_is_read_from_the_card_and_its_figures_stand_in_pane_7(home: Path, tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    truth = plant(log, 3000)
    with Terminal(home, [], columns=140, lines=40) as terminal:
        terminal.wait_for("AUI  3 sites", "outlet.example")
        terminal.press("/outlet")
        terminal.wait_for("AUI  1 of 3 sites")
        keys = Keys(terminal)
        keys.press(["\r", "\r"], "Claude is refused;")
        keys.press(["\x10"])
        terminal.press("access log")
        terminal.wait_for("beside this card")
        keys.press(["\r"], "An access log that outlet.example wrote")
        terminal.press(str(log))
        keys.press(["\r"], f"{truth.lines:,} lines of")
        text = keys.press(["8", "+"], "Together", "GPTBot", "Claude")
        row = next(row for row in text.splitlines() if " Claude " in row and "%" in row)
        assert f" {truth.agents['Claude-User']['requests']:,} " in row
        assert keys.pressed == 7
