"""How many keys it takes: journeys in a pseudo-terminal, counted."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from aui_tui.engine.scoring import grade_card
from aui_tui.records.methods import DEFAULT_METHOD
from aui_tui.service.local import LocalService
from tests.e2e.terminal import Terminal
from tests.engine import situations

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
        seen = replace(scan, host=host, input_host=host)
        card = replace(grade_card(seen, DEFAULT_METHOD), category="Retail")
        service.reports.put(card, seen)
    asyncio.run(service.aclose())
    return folder


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


def test_a_newcomer_reads_verdict_and_next_step_without_a_key_and_more_with_enter(home: Path) -> None:
    with Terminal(home, [], columns=140, lines=40) as terminal:
        text = terminal.wait_for("Ranked 3", "open.example", "✗ Claude", "# nobody")
        assert "Gets in" in text
        keys = Keys(terminal)
        keys.press(["\r"], "Every assistant gets in, to every page.", "Score", "Next")
        assert keys.pressed == 1


def test_the_raw_exchange_is_two_keys_from_the_list(home: Path) -> None:
    with Terminal(home, [], columns=140, lines=40) as terminal:
        terminal.wait_for("Ranked 3", "open.example")
        terminal.press("j")
        keys = Keys(terminal)
        keys.press(["\r"], "Claude is refused; every other assistant gets in.", "robots.txt yes")
        keys.press(["\r"], "Compared", "403 Forbidden", "200 OK", "curl -sS")
        assert keys.pressed == 2


def test_three_hosts_are_compared_with_four_keys(home: Path) -> None:
    with Terminal(home, [], columns=140, lines=40) as terminal:
        terminal.wait_for("Ranked 3", "open.example")
        keys = Keys(terminal)
        keys.press([" ", " ", " ", "="], "Compare", *HOSTS)
        assert keys.pressed == 4


def test_an_analyst_finds_the_walled_shops_that_turn_claude_away_and_exports_them(home: Path) -> None:
    with Terminal(home, [], columns=140, lines=40) as terminal:
        terminal.wait_for("Ranked 3")
        keys = Keys(terminal)
        keys.press(["/"], "enter searches as typed")
        terminal.press("category:retail stance:walled agent:claude=out")
        terminal.wait_for("Ranked 1 ")
        keys.press(["\r", ">", ">"], "Δ▾", "stay.example")
        keys.press(["x"], "Export the list")
        keys.press(["\r"])
        terminal.wait_until(lambda: any(home.glob("*.json")), "for the file")
        assert "stay.example" in next(home.glob("*.json")).read_text(encoding="utf-8")
        assert keys.pressed <= 12
