"""Themes: every text can be read, every mistake in a file is reported, colour is never alone."""

from __future__ import annotations

import os
import tomllib
from itertools import product
from pathlib import Path

import pytest
from textual.color import Color
from textual.theme import Theme

from aui_tui.errors import ConfigError
from aui_tui.tui import themes
from aui_tui.tui.app import AuiApp
from aui_tui.tui.context import Context
from tests.cli.runner import ROOT

from .service import CardService
from .stage import settle, stage, strips_of, text_of, until

LOADED = themes.load((themes.packaged(),))
THEMES = sorted(path.stem for path in themes.packaged().glob("*.toml"))
TEXTS = ("muted", "open", "selective", "walled", "good", "warn", "critical", "bar", "code")


def pairs(theme: Theme) -> list[tuple[str, str]]:
    """Return every text colour with every background it may stand on."""
    variables = theme.variables
    texts = [variables["role-" + name] for name in TEXTS] + [theme.foreground, theme.primary, theme.accent]
    grounds = [theme.background, theme.surface, theme.panel, variables["role-cursor-background"]]
    found = [(str(text), str(ground)) for text, ground in product(texts, grounds)]
    return [*found, (variables["role-cursor"], variables["role-cursor-background"])]


def test_the_packaged_themes_load_without_a_complaint() -> None:
    assert LOADED.problems == ()
    assert set(LOADED.themes) == set(THEMES) >= {"dusk", "dusk-256", "paper", "terminal"}


def test_a_wheel_holds_every_theme() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    files = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert files == {f"themes/{name}.toml": f"aui_tui/themes/{name}.toml" for name in THEMES}


@pytest.mark.parametrize("name", [name for name in THEMES if name != "terminal"])
def test_every_text_has_a_contrast_of_4_5(name: str) -> None:
    floor = 7.0 if name == "high-contrast" else 4.5
    theme = LOADED.themes[name]
    ratios = {pair: themes.contrast(*map(Color.parse, pair)) for pair in pairs(theme)}
    assert not {pair: round(ratio, 2) for pair, ratio in ratios.items() if ratio < floor}
    assert themes.hard_to_read(theme) == ""


async def test_a_theme_of_the_user_that_is_hard_to_read_is_said_to_be(tmp_path: Path) -> None:
    text = (themes.packaged() / "dusk.toml").read_text(encoding="utf-8").replace('"dusk"', '"mist"')
    (tmp_path / "mist.toml").write_text(text.replace('muted = "#98a0ba"', 'muted = "#3b4154"'), encoding="utf-8")
    app = AuiApp(Context(CardService.of(3)), (tmp_path,), theme="mist")
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        words = "mist: muted on cursor-background has a contrast of 1.3"
        await until(lambda: words in " ".join(text_of(pilot).split()))


def test_the_black_and_white_of_wcag_has_the_largest_contrast() -> None:
    assert round(themes.contrast(Color.parse("#000000"), Color.parse("#ffffff")), 1) == 21.0


def test_the_colours_of_dusk_256_are_those_of_the_terminal() -> None:
    theme = LOADED.themes["dusk-256"]
    levels = (0, 95, 135, 175, 215, 255)
    greys = {8 + 10 * step for step in range(24)}
    for value in (*theme.variables.values(), theme.primary, theme.foreground, theme.background, theme.panel):
        color = Color.parse(str(value))
        grey = color.r == color.g == color.b and color.r in greys
        assert grey or all(part in levels for part in (color.r, color.g, color.b)), value


@pytest.mark.parametrize(
    ("environ", "name"),
    [
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, "dusk"),
        ({"TERM": "xterm-direct"}, "dusk"),
        ({"TERM": "screen-256color"}, "dusk-256"),
        ({"TERM": "vt100"}, "terminal"),
        ({"TERM": "linux"}, "terminal"),
    ],
)
def test_the_default_theme_is_the_one_for_the_colours_of_the_terminal(environ: dict[str, str], name: str) -> None:
    assert themes.default(environ, no_color=False) == name
    assert themes.default(environ, no_color=True) == "terminal"


@pytest.mark.ci
@pytest.mark.parametrize("name", THEMES)
async def test_every_theme_draws(name: str) -> None:
    async with stage(CardService.of(20), theme=name) as pilot:
        await pilot.press("enter")
        await settle(pilot)
        assert "Summary" in text_of(pilot)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name = 'x", "x.toml"),
        ("name = 'a b'\n[colors]\n[roles]\n", "name: must be text matching"),
        ("name = 'x'\n[roles]\n", "lacks `colors`"),
        ("name = 'x'\nextra = 1\n[colors]\n[roles]\n", "unknown name `extra`"),
        ("name = 'x'\n[colors]\nprimry = '#123456'\n[roles]\n", "did you mean primary?"),
        ("name = 'x'\n[colors]\nprimary = 'bar;}'\n[roles]\n", "colors.primary: 'bar;}' is not a colour"),
        ("name = 'x'\n[colors]\nprimary = 7\n[roles]\n", "colors.primary: 7 is not a colour"),
        ("name = 'x'\n[colors]\n[roles]\nopen = 'ansi_red'\n", "roles.open: 'ansi_red' is not a colour"),
        ("name = 'x'\ndark = 'yes'\n[colors]\n[roles]\n", "dark: must be true or false, not text"),
        ("name = 'x'\n[colors]\nprimary = '#123456'\n[roles]\n", "colors: missing secondary"),
        ("name = 'x'\nauthor = 3\n[colors]\n[roles]\n", "author: must be text, not a whole number"),
        ("\x00", "x.toml"),
    ],
)
def test_a_theme_that_cannot_be_used_says_file_key_and_reason(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "x.toml").write_text(text, encoding="utf-8")
    loaded = themes.load((themes.packaged(), tmp_path))
    problems = " ".join(loaded.problems)
    assert "x.toml" in problems
    assert words in problems
    assert set(THEMES) <= set(loaded.themes)


def test_a_theme_that_is_no_regular_file_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "endless.toml").symlink_to("/dev/zero")
    (tmp_path / "folder.toml").mkdir()
    problems = themes.load((tmp_path,)).problems
    assert problems == tuple(
        f"{name}.toml: cannot be read: it is not a regular file." for name in ("endless", "folder", "pipe")
    )


def test_two_files_of_one_folder_with_the_same_name_are_reported(tmp_path: Path) -> None:
    text = (themes.packaged() / "dusk.toml").read_text(encoding="utf-8")
    for name in ("a", "b"):
        (tmp_path / f"{name}.toml").write_text(text.replace('"dusk"', '"mine"'), encoding="utf-8")
    loaded = themes.load((tmp_path,))
    assert loaded.problems == ("b.toml: name: a.toml has the name mine already.",)
    assert set(loaded.themes) == {"mine"}


def test_a_theme_that_was_asked_for_and_cannot_be_used_says_why(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("name = 'mine'\n[colors]\n[roles]\n", encoding="utf-8")
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(ConfigError) as caught:
        themes.first((tmp_path,), "mine", no_color=False)
    said = str(caught.value)
    for words in ("Unknown theme 'mine'", "folder.toml: cannot be read", "mine.toml: colors: missing primary"):
        assert words in said


@pytest.mark.parametrize("size", [(80, 24), (140, 40)], ids=str)
async def test_all_that_is_wrong_with_themes_is_one_message_at_the_start(tmp_path: Path, size: tuple[int, int]) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.toml").write_text(f"name = '{name}'\n[colors]\nprimary = 'no'\nsurface = 'no'\n[roles]\n")
    app = AuiApp(Context(CardService.of(3)), (tmp_path,))
    app.animation_level = "none"
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(lambda: "Themes that could not be used:" in text_of(pilot))
        await settle(pilot)
        text = " ".join(text_of(pilot).split())
        for words in ("a.toml: roles: missing", "b.toml: roles: missing"):
            assert words in text
        assert text.count("'no' is not a colour") == 4
        assert len(app._notifications) == 1


SHOWN: dict[str, tuple[tuple[str, ...], str]] = {
    "index": ((), "IndexScreen"),
    "query": (("slash", "w"), "IndexScreen"),
    "matrix": (("m",), "IndexScreen"),
    "overview": (("v",), "OverviewScreen"),
    "category": (("c", "down", "down"), ".window"),
    "grey category": (("c", "end"), ".window"),
    "themes": (("T",), ".window"),
    "scan": (("S",), ".window"),
    "help": (("question_mark",), ".window"),
    "palette": (("ctrl+p", "down"), "CommandList"),
    "card": (("enter",), "CardScreen"),
    "fixes": (("enter", "4", "space"), "CardScreen"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in THEMES if name != "terminal"])
async def test_every_text_on_the_screen_has_a_contrast_of_4_5(name: str) -> None:
    poor = {}
    for shown, (keys, part) in SHOWN.items():
        async with stage(CardService.of(4), (140, 40), theme=name) as pilot:
            for key in keys:
                await pilot.press(key)
                await settle(pilot)
            screen = pilot.app.screen
            region = screen.region if part.endswith("Screen") else screen.query_one(part).region
            strips = strips_of(pilot)[region.y : region.bottom]
            for segment in (each for strip in strips for each in strip.crop(region.x, region.right)):
                style = segment.style
                if style and style.color and style.bgcolor and any(char.isalnum() for char in segment.text):
                    ratio = themes.contrast(*map(Color.from_rich_color, (style.color, style.bgcolor)))
                    if ratio < 4.5 or style.dim:
                        poor[shown, segment.text.strip()] = round(ratio, 2)
    assert not poor


def test_a_persons_theme_replaces_the_packaged_one_of_its_name(tmp_path: Path) -> None:
    text = (themes.packaged() / "dusk.toml").read_text(encoding="utf-8").replace("#16181f", "#000000")
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    assert themes.load((themes.packaged(), tmp_path)).themes["dusk"].background == "#000000"


def test_an_unknown_theme_is_named_with_its_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLORTERM", "truecolor")
    folders: tuple[Path, ...] = ()
    with pytest.raises(ConfigError, match="did you mean paper"):
        themes.first(folders, "papr", no_color=False)
    with pytest.raises(ConfigError, match=rf"Unknown theme '\.\./x'; there are: {', '.join(THEMES)}"):
        themes.first(folders, "../x", no_color=False)
    assert themes.first(folders, "", no_color=False)[1] == "dusk"
    assert themes.first(folders, "", no_color=True)[1] == "terminal"


async def test_the_theme_window_shows_each_theme_and_puts_the_old_one_back() -> None:
    async with stage(CardService.of(3)) as pilot:
        await pilot.press("T", "down")
        await settle(pilot)
        assert pilot.app.theme != "dusk"
        await pilot.press("escape")
        await settle(pilot)
        assert pilot.app.theme == "dusk"


@pytest.mark.ci
async def test_a_theme_is_chosen_in_the_palette() -> None:
    async with stage(CardService.of(3)) as pilot:
        await pilot.press("ctrl+p", *"paper")
        await until(lambda: "Theme paper" in text_of(pilot))
        await settle(pilot)
        await pilot.press("enter")
        await until(lambda: pilot.app.theme == "paper")
