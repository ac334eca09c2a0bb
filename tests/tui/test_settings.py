"""What is remembered: theme, columns, keys, saved lists; the figures of a column; the first screen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from aui_tui.service.protocol import Feed
from aui_tui.settings import load, remember
from aui_tui.tui.app import AuiApp
from aui_tui.tui.context import DEMO, Context, Preferences, SettingShown
from aui_tui.tui.screens.index import IndexScreen
from aui_tui.tui.widgets.listing import RowList
from aui_tui.tui.widgets.querybar import QueryLine

from .cards import NOW, make_card
from .service import CardService, PublishedService
from .stage import press, settle, stage, text_of, until


def app_with(
    path: Path,
    hosts: int = 60,
    *,
    size: tuple[int, int] = (100, 30),
    kind: type[CardService] = CardService,
    **more: Any,
) -> tuple[AuiApp, Callable[[], Any]]:
    """Return a dashboard that remembers in ``path``, and what runs it."""

    def write(name: Sequence[str], value: Any) -> None:
        remember(path, name, value)

    kept = load({"config_file": str(path)}, {}) if path.exists() else None
    preferences = Preferences(
        path=str(path),
        write=write,
        columns=kept.columns if kept else (),
        keys=dict(kept.keys) if kept else {},
        views={name: {str(key): text for key, text in view.items()} for name, view in kept.views.items()}
        if kept
        else {},
    )
    context = Context(kind.of(hosts), clock=NOW.timestamp, preferences=preferences, **more)
    app = AuiApp(context, theme="dusk")
    app.animation_level = "none"
    app.set_keymap(preferences.keys)
    return app, lambda: app.run_test(size=size, notifications=True)


def index_of(app: AuiApp) -> IndexScreen:
    return next(screen for screen in app.screen_stack if isinstance(screen, IndexScreen))


@pytest.mark.ci
async def test_a_chosen_theme_is_remembered_and_said_where(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("# mine\nmouse = false\n", encoding="utf-8")
    _app, run = app_with(path)
    async with run() as pilot:
        await press(pilot, "T", "home", "enter")
        assert "Remembered in" in text_of(pilot)
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# mine\nmouse = false\n")
    assert load({"config_file": str(path)}, {}).theme == "colour-blind"


@pytest.mark.ci
async def test_a_list_is_saved_with_a_name_and_comes_back_with_two_keys(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    app, run = app_with(path)
    async with run() as pilot:
        await press(pilot, "3", "greater_than_sign", "t", "V", "enter")
        await pilot.press(*"walls")
        await press(pilot, "enter")
        before = index_of(app).state.query
        await press(pilot, "3", "less_than_sign")
        assert index_of(app).state.query != before
        await press(pilot, "V", "enter")
        assert index_of(app).state.query == before
    app, run = app_with(path)
    async with run() as pilot:
        await press(pilot, "V", "enter")
        assert index_of(app).state.query == before
        await press(pilot, "V", "ctrl+d")
        assert "List walls forgotten." in " ".join(text_of(pilot).split())
    assert not load({"config_file": str(path)}, {}).views


@pytest.mark.ci
async def test_columns_are_chosen_and_remembered(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    _app, run = app_with(path)
    async with run() as pilot:
        await press(pilot, "C", "space", "down", "down", "down", "down", "space", "end", "space", "enter")
        heads = text_of(pilot).splitlines()[2].split()
    assert [head for head in heads if head not in "▴▾"] == ["#", "Host", "in-browser"]
    assert load({"config_file": str(path)}, {}).columns == ("rank", "host", "matrix.browser_agents")


@pytest.mark.ci
@pytest.mark.parametrize(("moves", "title", "field"), [(1, "2 Scores", "grade"), (4, "3 Stances", "category")], ids=str)
async def test_the_values_of_the_column_under_the_cursor_are_counted_in_the_overview(
    tmp_path: Path, moves: int, title: str, field: str
) -> None:
    app, run = app_with(tmp_path / "config.toml")
    async with run() as pilot:
        await press(pilot, *["right"] * moves, "F")
        block = app.focused
        assert isinstance(block, RowList)
        assert str(block.border_title) == title
        assert block.key.startswith(f"{field}:")
        hosts = int(block.row_text.split()[-1 if field == "category" else -3])
        await press(pilot, *["right"] * 9, "enter")
        assert len(index_of(app).table) == hosts > 0


@pytest.mark.ci
async def test_t_orders_by_the_column_under_the_cursor_and_then_turns(tmp_path: Path) -> None:
    app, run = app_with(tmp_path / "config.toml")
    async with run() as pilot:
        await press(pilot, "right", "right", "t")
        assert (index_of(app).state.query.sort, index_of(app).state.query.descending) == ("change", False)
        await press(pilot, "t")
        assert index_of(app).state.query.descending


@pytest.mark.ci
async def test_the_palette_finds_settings_saved_lists_and_words(tmp_path: Path) -> None:
    app, run = app_with(tmp_path / "config.toml")
    app.context.preferences.views = {"my shops": {"query": "category:retail"}}
    async with run() as pilot:
        pace = SettingShown(0.0, "default", "seconds between two requests of a scan")
        app.context.preferences.settings = lambda: {"pace": pace}
        for words, found in (("pace", "Setting pace"), ("my shops", "List my shops"), ("wba", "Web Bot Auth")):
            await pilot.press("ctrl+p", *("space" if char == " " else char for char in words))
            await until(lambda found=found: found in text_of(pilot))  # type: ignore[misc]
            await settle(pilot)
            await press(pilot, "escape", "escape")


@pytest.mark.ci
async def test_the_palette_puts_hosts_before_words_in_whose_meaning_some_letters_match() -> None:
    async with stage(CardService.of(60)) as pilot:
        await pilot.press("ctrl+p", *"cart")
        await until(lambda: "cartbase41.example" in text_of(pilot) or "what it means" in text_of(pilot))
        await settle(pilot)
        lines = [line[2:78].strip(" ▇▅▃▁") for line in text_of(pilot).splitlines()]  # the window alone
        found = [line for line in lines if line.endswith(".example") or line.startswith("what it means")]
        assert found[0].startswith("cart")


@pytest.mark.ci
@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (("0",), "Hosts of every stance are shown already."),
        (("plus",), "The preview needs a screen of 110 columns."),
        (("J",), "The preview needs a screen of 110 columns."),
        (("r",), "Reading again."),
        (("enter", "plus"), "A pane has the whole screen already"),
    ],
)
async def test_a_key_that_changes_nothing_to_be_seen_says_why(keys: Sequence[str], words: str) -> None:
    async with stage(CardService.of(60)) as pilot:
        await press(pilot, *keys)
        assert words in " ".join(text_of(pilot).split())


async def test_an_empty_index_has_three_doors(tmp_path: Path) -> None:
    done = asyncio.Event()

    async def scans(on_card: Callable[[object], None]) -> None:
        on_card(make_card(1))
        await done.wait()

    app, run = app_with(tmp_path / "config.toml", 0, starter=Feed("known sites", 230, scans))
    async with run() as pilot:
        await settle(pilot)
        text = text_of(pilot)
        for door in ("Can AI assistants get into your site?", "Known sites       230", "The demo"):
            assert door in text
        await press(pilot, "escape", "down")
        await pilot.press("enter")
        await until(lambda: "known sites: 1 of 230" in text_of(pilot))
        await pilot.press("escape")
        await until(lambda: "known sites" not in text_of(pilot).splitlines()[0])
        await press(pilot, "escape")
        assert "Can AI assistants get into your site?" in text_of(pilot), "esc goes back from the empty list"
        await press(pilot, "escape")
        await pilot.press("enter")
    assert app.return_value == DEMO


@pytest.mark.ci
async def test_an_address_of_another_index_that_is_none_stays_to_be_corrected() -> None:
    feed = Feed("known sites", 230, lambda _scanned: asyncio.sleep(0))
    app = AuiApp(Context(CardService.of(0), starter=feed))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, "down", "end", "enter", *"nowhere", "enter")
        assert "neither a file nor an address" in " ".join(text_of(pilot).split())
        await press(pilot, "ctrl+u", *"https://index.example")
        await pilot.press("enter")
    assert app.return_value == "https://index.example"


@pytest.mark.ci
async def test_what_cannot_be_remembered_says_so() -> None:
    async with stage(CardService.of(3)) as pilot:
        await press(pilot, "comma", "e")
        assert "Nothing is remembered here." in " ".join(text_of(pilot).replace("▌", "").split())
        await press(pilot, "escape", "V", *"mine", "enter")
        assert "List mine saved. Nothing is remembered here." in " ".join(text_of(pilot).split())


@pytest.mark.ci
@pytest.mark.parametrize("key", ["tab", "down"])
async def test_a_query_without_a_choice_says_so(key: str) -> None:
    async with stage(CardService.of(3)) as pilot:
        await press(pilot, "slash", *"zz", key)
        assert "there is no choice to take" in " ".join(text_of(pilot).replace("▌", "").split())
        assert isinstance(pilot.app.focused, QueryLine)


@pytest.mark.ci
async def test_a_source_without_a_browser_says_so_when_tasks_are_asked_for(tmp_path: Path) -> None:
    _app, run = app_with(tmp_path / "config.toml", kind=PublishedService)
    async with run() as pilot:
        await press(pilot, "enter")
        assert "key a" not in text_of(pilot)
        assert "Tasks" not in text_of(pilot).splitlines()[-1]
        await press(pilot, "a")
        assert "for its own index alone" in " ".join(text_of(pilot).split())
        await press(pilot, "7")
        assert "Not run. Tasks run in a browser on this machine" in text_of(pilot)


def test_a_file_that_cannot_be_changed_is_one_sentence(tmp_path: Path) -> None:
    from aui_tui.errors import ConfigError

    path = tmp_path / "config.toml"
    path.write_text("keys = 3\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="cannot be changed"):
        remember(path, ("keys", "scan"), "x")
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written"):
        remember(tmp_path / "file" / "config.toml", ("theme",), "dusk")


def test_a_settings_file_that_is_a_link_stays_one(tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles.toml"
    kept.write_text("# mine\n")
    path = tmp_path / "config.toml"
    path.symlink_to(kept)
    remember(path, ("theme",), "dusk")
    assert path.is_symlink()
    assert kept.read_text() == '# mine\ntheme = "dusk"\n'
