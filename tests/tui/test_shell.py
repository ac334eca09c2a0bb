"""The shell command that a screen shows is one that the command line takes, and it prints the same."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
from pathlib import Path

import msgspec
import pytest

from aui_tui.service.local import LocalService
from aui_tui.tui.app import AuiApp
from aui_tui.tui.dashboard import DashboardScreen
from aui_tui.tui.screens.help import MethodScreen
from tests.cli.runner import here
from tests.cli.stored import fill

from .cards import make_card
from .service import CardService
from .stage import press, settle, stage, text_of

WALKS = {
    "list": (),
    "filtered": ("3", "t"),
    "matrix": ("m", "3"),
    "overview": ("2", "v"),
    "compare": ("space", "space", "equals_sign"),
    "card": ("enter",),
    "earlier scan": ("enter", "h", "down", "enter"),
    "other method": ("enter", "m"),
    "changes": ("enter", "d"),
    "changes since": ("enter", "D", "down", "enter"),
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with hosts that were scanned twice."""
    folder = tmp_path_factory.mktemp("home")
    fill(folder, (make_card(number, back=back) for number in range(12) for back in (1, 0)))
    return folder


async def command_after(home: Path, keys: tuple[str, ...]) -> str:
    """Return what the screen that ``keys`` lead to shows as its command."""
    service = LocalService(home / "data")
    try:
        async with stage(service, standing=False) as pilot:
            for key in keys:
                await pilot.press(key)
                await settle(pilot)
            assert isinstance(pilot.app.screen, DashboardScreen)
            return pilot.app.screen.command()
    finally:
        await service.aclose()


def test_command_of_the_window_on_the_method_prints_it(home: Path) -> None:
    words = MethodScreen("v0.1").rows(80)[-1].content.plain
    assert here(home, *shlex.split(words)[4:]).out.startswith("# Method v0.1")


@pytest.mark.ci
@pytest.mark.parametrize("name", WALKS)
def test_command_of_a_screen_runs(home: Path, name: str) -> None:
    program, *arguments = shlex.split(asyncio.run(command_after(home, WALKS[name])))
    assert program == "aui-tui"
    done = here(home, *arguments)
    assert done.code == 0, done.err
    assert done.out


@pytest.mark.ci
def test_each_compared_host_is_held_against_the_first(home: Path) -> None:
    commands = asyncio.run(command_after(home, ("space",) * 4 + ("equals_sign",))).split("; ")
    assert len(commands) == 3
    pairs = [shlex.split(command)[2:] for command in commands]
    assert len({first for first, _ in pairs}) == 1
    assert len({host for pair in pairs for host in pair}) == 4
    for command in commands:
        assert here(home, *shlex.split(command)[1:]).code == 0


OPTIONS = "--data-dir '/tmp/my data' --source http://127.0.0.1:8640 "


async def test_every_command_on_the_screen_names_the_index_that_the_command_line_chose() -> None:
    async with stage(CardService.of(12), (140, 40)) as pilot:
        app = pilot.app
        assert isinstance(app, AuiApp)
        app.context = msgspec.structs.replace(app.context, options=OPTIONS)
        await press(pilot, "3")
        assert f"aui-tui {OPTIONS}index --stance Walled" in text_of(pilot)
        await press(pilot, "v", "escape", "question_mark")
        assert f"aui-tui {OPTIONS}index --stance Walled" in " ".join(text_of(pilot).replace("│", "").split())
        assert [done.command for done in app.actions] == [f"aui-tui {OPTIONS}index --stance Walled --overview"]
        assert app.context.shell("aui-tui diff a b; aui-tui diff a c") == (
            f"aui-tui {OPTIONS}diff a b; aui-tui {OPTIONS}diff a c"
        )


def test_overview_in_the_shell(home: Path) -> None:
    figures = json.loads(here(home, "index", "--overview", "--json").out)
    hosts = len(json.loads(here(home, "index", "--json").out)["ranked"])
    assert figures["hosts"] == hosts == sum(figures["grades"].values())
    text = here(home, "index", "--overview", "--stance", "Walled").out
    assert text.startswith("4 scored hosts")
    assert "Grades" in text
    assert "an agent is refused or challenged" in text
    nothing = here(home, "index", "--overview", "--query", "nosuchhost").out
    assert nothing == "No scored host matches, so there is nothing to count.\n"


def test_the_list_and_its_figures_as_plain_sentences(home: Path) -> None:
    done = here(home, "index", "--text")
    lines = done.out.splitlines()
    assert lines[0].endswith("unreachable.")
    assert any(line.startswith("1. ") and ": score " in line and "Scanned " in line for line in lines)
    assert not set("│╭█▓░◉◐◌✓✗") & set(done.out)
    figures = here(home, "index", "--overview", "--text").out
    assert re.search(r"^Grade A: \d+ hosts?, \d+ %\.$", figures, re.MULTILINE)
    assert not set("│╭█▓░◉◐◌✓✗") & set(figures)
    assert here(home, "index", "--text", "--json").code == 2
