"""Settings: precedence, strictness, and places that never depend on the current directory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aui_tui import settings
from aui_tui.errors import ConfigError
from aui_tui.settings import DEFAULTS, load


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_defaults_have_an_origin(tmp_path: Path) -> None:
    found = load({}, {"AUI_TUI_CONFIG": str(write(tmp_path, ""))})
    assert {found.origins[name] for name in DEFAULTS} == {"default"}
    assert (found.method, found.theme, found.mouse, found.ascii) == ("v0.2", "", True, False)
    assert found.base_url.startswith("http://127.0.0.1:")


def test_flag_beats_variable_beats_file_beats_default(tmp_path: Path) -> None:
    path = write(tmp_path, 'theme = "file"\nmethod = "V0.1"\nmouse = false\n')
    environ = {"AUI_TUI_CONFIG": str(path), "AUI_TUI_THEME": "variable", "AUI_TUI_ASCII": "yes"}
    found = load({"theme": "flag"}, environ)
    assert (found.theme, found.origins["theme"]) == ("flag", "--set theme")
    found = load({"theme": None}, environ)
    assert (found.theme, found.origins["theme"]) == ("variable", "AUI_TUI_THEME")
    assert (found.method, found.origins["method"]) == ("v0.1", str(path))
    assert (found.mouse, found.ascii) == (False, True)
    assert found.origins["base_url"] == "default"


def test_keys_and_themes_come_from_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, '[keys]\nscan = "x"\n')
    found = load({"config_file": path}, {})
    assert dict(found.keys) == {"scan": "x"}
    assert found.theme_dir == tmp_path / "themes"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('themes = "x"', ("unknown setting 'themes'", "did you mean theme?")),
        ("qqq = 1", ("unknown setting 'qqq'", "allowed are:")),
        ("theme = 3", ("theme: must be text, not a whole number. It is: ", "theme of the dashboard")),
        ('mouse = "perhaps"', ("mouse: must be true or false, not text.",)),
        ("pace = 61", ("pace: must be a number <= 60",)),
        ("columns = [1]", ("columns[0]: must be text, not a whole number.",)),
        ('views.mine.colour = "x"', ("views (one of its entries): unknown value 'colour'.", "query, stance")),
        ('method = "v9"', ("Unknown method", "v0.1, v0.2")),
        ('base_url = "index.example"', ("base_url must be an address",)),
        ('source = "ftp://x"', ("source must be an address",)),
        ('base_url = "https://[broken"', ("base_url must be an address",)),
        ("keys = 1", ("keys: must be a table of names and values, not a whole number.", "keys of the dashboard")),
        ("theme = ", ("is not TOML",)),
        pytest.param(f"pace = {'9' * 60_000}", ("is not TOML",), id="a number of 60,000 digits"),
        pytest.param(f"pace = {'[' * 60_000}", ("is not TOML",), id="60,000 brackets"),
        ('theme = "\\u001b[2J"\nbad\u001b = 1', ("is not TOML",)),
    ],
)
def test_file_is_strict_and_the_sentence_names_the_fault(tmp_path: Path, text: str, words: tuple[str, ...]) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load({"config_file": path}, {})
    assert str(path) in str(caught.value)
    assert "\x1b" not in str(caught.value)
    for word in words:
        assert word in str(caught.value)


def test_bad_variable_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"AUI_TUI_MOUSE: must be true or false, not text"):
        load({}, {"AUI_TUI_MOUSE": "maybe", "AUI_TUI_CONFIG": str(write(tmp_path, ""))})


def test_a_variable_that_sets_nothing_is_named() -> None:
    known = {"AUI_TUI_HOME": "x", "AUI_TUI_CONFIG": "x", "AUI_TUI_DEBUG": "1", "AUI_TUI_PACE": "1", "HOME": "x"}
    assert not settings.ignored(known)
    said = "\n".join(settings.ignored({"AUI_TUI_DATA_DIR": "x", "AUI_TUI_INSECUR": "1", "AUI_TUI_SITES": "x"}))
    assert "AUI_TUI_DATA_DIR is ignored" in said
    assert "did you mean AUI_TUI_HOME?" in said
    assert "did you mean AUI_TUI_INSECURE?" in said
    assert "AUI_TUI_SITES is ignored" in said


def test_named_settings_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="There is no settings file"):
        load({"config_file": tmp_path / "none.toml"}, {})
    with pytest.raises(ConfigError, match="Cannot read"):
        load({"config_file": tmp_path}, {})
    with pytest.raises(ConfigError, match="is larger than 1 MiB"):
        load({"config_file": "/dev/zero"}, {})


def test_settings_file_that_is_not_named_may_be_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    found = load({}, {})
    assert found.config_file.name == "config.toml"
    assert not found.config_file.exists()


def test_a_user_without_a_home_names_the_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name == "HOME" or name.startswith("XDG_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(os, "getuid", lambda: 54_321)
    monkeypatch.chdir(tmp_path)
    named = {"AUI_TUI_HOME": str(tmp_path / "data"), "AUI_TUI_CONFIG": os.devnull}
    assert load({}, named).data_dir == tmp_path / "data"
    with pytest.raises(ConfigError, match=r"No home folder is known.* by AUI_TUI_HOME and AUI_TUI_CONFIG"):
        load({}, {})
    with pytest.raises(ConfigError, match="~nobody-of-this-name/x: that home folder is not known"):
        load({"data_dir": "~nobody-of-this-name/x"}, named)
    assert not list(tmp_path.iterdir())


def test_data_folder_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    environ = {"AUI_TUI_HOME": str(tmp_path / "home"), "AUI_TUI_CONFIG": str(write(tmp_path, ""))}
    found = load({"data_dir": tmp_path / "flag"}, environ)
    assert (found.data_dir, found.origins["data_dir"]) == (tmp_path / "flag", "--data-dir")
    found = load({}, environ)
    assert (found.data_dir, found.origins["data_dir"]) == (tmp_path / "home", "AUI_TUI_HOME")
    del environ["AUI_TUI_HOME"]
    monkeypatch.setattr(settings, "checkout_root", lambda: tmp_path / "checkout")
    assert load({}, environ).data_dir == tmp_path / "checkout" / "cache"
    monkeypatch.setattr(settings, "checkout_root", lambda: None)
    installed = load({}, environ).data_dir
    assert installed.is_absolute()
    assert "aui-tui" in installed.parts
    assert tmp_path not in installed.parents
    assert not installed.is_relative_to(Path.cwd())


def test_relative_data_folder_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load({"data_dir": "here"}, {}).data_dir == tmp_path / "here"
    with pytest.raises(ConfigError, match="--data-dir must be the path"):
        load({"data_dir": " "}, {})


def test_only_this_package_counts_as_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "aui_tui"
    package.mkdir()
    monkeypatch.setattr(settings, "__file__", str(package / "settings.py"))
    assert settings.checkout_root() is None
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "somebody-else"\n', encoding="utf-8")
    assert settings.checkout_root() is None
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "aui-tui"\n', encoding="utf-8")
    assert settings.checkout_root() == tmp_path


def test_what_the_command_line_gave_is_given_on_to_another_process(tmp_path: Path) -> None:
    environ = {"AUI_TUI_THEME": "variable"}
    flags = {"mouse": False, "ascii": True, "pace": 1.5, "cors": ("https://a.example", "https://b.example")}
    found = load(flags | {"data_dir": tmp_path, "config_file": write(tmp_path, "")}, environ)
    assert " ".join(found.options) == (
        "--set ascii=True --set mouse=False --set pace=1.5 --set cors=https://a.example,https://b.example"
        f" --config {found.config_file} --data-dir {tmp_path}"
    )
