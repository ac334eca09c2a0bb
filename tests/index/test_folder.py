"""The data folder."""

from __future__ import annotations

import os
import stat
from contextlib import closing
from pathlib import Path

import pytest

from aui_tui.errors import ConfigError
from aui_tui.index.folder import damaged, places, prepare, set_aside
from aui_tui.index.store import Store


def test_folder_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    made = prepare(tmp_path / "a" / "b")
    assert made == tmp_path / "a" / "b"
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert list(made.iterdir()) == []


def test_open_folder_is_narrowed(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    assert stat.S_IMODE(prepare(tmp_path).stat().st_mode) == 0o700


@pytest.mark.parametrize("mode", [0o1777, 0o775, 0o777, 0o2770])
def test_a_shared_folder_stays_as_it_is_and_ours_in_it_is_private(tmp_path: Path, mode: int) -> None:
    tmp_path.chmod(mode)
    found = places(prepare(tmp_path))
    assert stat.S_IMODE(tmp_path.stat().st_mode) == mode
    with closing(Store(found.index)) as store:
        store.history("a.example")
    prepare(tmp_path)
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in tmp_path.iterdir()} == {0}
    assert found.index in tmp_path.iterdir()


@pytest.mark.parametrize("kind", ["file", "below a file", "loop", "too long", "zero"])
def test_folder_that_cannot_be_used_is_refused_in_one_sentence(tmp_path: Path, kind: str) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    folder = {
        "file": tmp_path / "file",
        "below a file": tmp_path / "file" / "x",
        "loop": tmp_path / "loop",
        "too long": tmp_path / ("x" * 300),
        "zero": tmp_path / "a\0b",
    }[kind]
    with pytest.raises(ConfigError) as refused:
        prepare(folder)
    text = str(refused.value)
    assert text.startswith("The data folder ")
    assert text.endswith(".")
    assert "\0" not in text
    assert "\n" not in text


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root writes everywhere")
def test_read_only_folder_is_refused(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(ConfigError, match="Permission denied"):
            prepare(inner)
    finally:
        tmp_path.chmod(0o700)


def test_file_is_set_aside_with_its_side_files_and_a_time(tmp_path: Path) -> None:
    file = tmp_path / "index.db"
    for turn in range(2):
        file.write_text(f"main {turn}")
        (tmp_path / "index.db-wal").write_text("log")
        aside = set_aside(file)
        assert aside.read_text() == f"main {turn}"
        assert Path(f"{aside}-wal").read_text() == "log"
        assert not file.exists()
        assert not (tmp_path / "index.db-wal").exists()
    names = [path.name for path in damaged(tmp_path)]
    assert len(names) == 2
    assert "index.damaged-20261118T110640Z.db" in names
