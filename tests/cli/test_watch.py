"""A watch sees what was written, waits until it is whole, and keeps to the quota."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from pathlib import Path

import pytest

from aui_tui.cli import watch
from aui_tui.cli.watch import changed, describe, interval, snapshot, too_often, words
from aui_tui.errors import BadValue, ConfigError

NOBODY = 65534


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("6m", 360), ("2h", 7200), ("45", 45), (" 10 M ", 600), ("360s", 360)]
)
def test_an_interval_is_read_in_seconds_minutes_or_hours(text: str, seconds: float) -> None:
    assert interval(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "0m", "-5", "5d", "1.5h", "m", "９m", "1" * 30])
def test_what_is_no_interval_is_refused(text: str) -> None:
    with pytest.raises(BadValue, match="--every takes"):
        interval(text)


def test_an_interval_keeps_to_the_quota() -> None:
    assert not too_often(360, 10)
    assert not too_often(1, 0)
    assert too_often(359, 10) == "At most 10 scans an hour are allowed, so the shortest interval is 6m."
    assert "shortest interval is 515s" in too_often(480, 7)


@pytest.mark.parametrize(("seconds", "text"), [(90, "90s"), (360, "6m"), (7200, "2h"), (0.4, "0s"), (3601, "3601s")])
def test_durations_in_words(seconds: float, text: str) -> None:
    assert words(seconds) == text


def test_a_snapshot_sees_every_kind_of_change(tmp_path: Path) -> None:
    for name in ("robots.txt", "a/b/page.html", "gone.txt", ".git/HEAD", "node_modules/x.js"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("one")
    before = snapshot(tmp_path)
    assert set(before) == {"robots.txt", "a/b/page.html", "gone.txt"}
    (tmp_path / "robots.txt").write_text("one and more")
    (tmp_path / "gone.txt").unlink()
    (tmp_path / "llms.txt").write_text("# new")
    os.utime(tmp_path / "a/b/page.html", ns=(1, 1))
    (tmp_path / ".git/HEAD").write_text("two")
    assert changed(before, snapshot(tmp_path)) == ["a/b/page.html", "gone.txt", "llms.txt", "robots.txt"]
    assert changed(before, before) == []


def test_one_file_can_be_watched(tmp_path: Path) -> None:
    (tmp_path / "robots.txt").write_text("x")
    assert set(snapshot(tmp_path / "robots.txt")) == {"robots.txt"}


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x").write_text("x")
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "loop").symlink_to(folder)
    (folder / "out").symlink_to(outside)
    (folder / "dangling").symlink_to(tmp_path / "nowhere")
    assert set(snapshot(folder)) <= {"loop", "out", "dangling"}


def test_what_cannot_be_watched_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="There is no folder or file"):
        snapshot(tmp_path / "missing")
    monkeypatch.setattr(watch, "MAX_FILES", 2)
    for name in "abc":
        (tmp_path / name).write_text(name)
    with pytest.raises(ConfigError, match="more than 2 files"):
        snapshot(tmp_path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="another user's folder takes root to make")
@pytest.mark.parametrize(("closed", "mode"), [("", 0o000), ("inner", 0o000), ("", 0o444)])
def test_a_folder_that_cannot_be_read_is_said(closed: str, mode: int) -> None:
    with tempfile.TemporaryDirectory() as made:
        site = Path(made) / "site"
        (site / "inner").mkdir(parents=True)
        (site / "robots.txt").write_text("x")
        (site / closed).chmod(mode)
        Path(made).chmod(0o755)
        os.seteuid(NOBODY)
        try:
            with pytest.raises(ConfigError, match=r"^Cannot watch .*: Permission denied\.$"):
                snapshot(site)
        finally:
            os.seteuid(0)


def test_changes_in_words() -> None:
    assert describe(["robots.txt"]) == "robots.txt"
    assert describe(["a", "b"]) == "a and 1 more file"
    assert describe(["a\x1b", "b", "c"]) == "a\ufffd and 2 more files"


def test_files_count_once_they_keep_still_and_what_is_written_back_is_no_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "TICK", 0.0)
    monkeypatch.setattr(watch, "LOOK", 0.0)
    page = tmp_path / "page.html"
    page.write_text("one")
    before = watch.snapshot(tmp_path)
    page.write_text("two and more")
    after = watch.snapshot(tmp_path)
    assert asyncio.run(watch.reason([], time.monotonic(), 60, tmp_path, before)) == ("page.html changed", after)
    keys: list[str] = []
    looks = [after, before, before, {}, after, before]

    def look(path: Path) -> watch.Snapshot:
        if len(looks) == 1:
            keys.append(" ")
        return looks.pop(0)

    monkeypatch.setattr(watch, "snapshot", look)
    assert asyncio.run(watch.reason(keys, time.monotonic(), 0, tmp_path, before)) == ("asked for", before)
    assert not looks


def test_keys_and_an_interval_are_reasons() -> None:
    def why(keys: list[str], every: float = 0.0) -> str:
        return asyncio.run(watch.reason(keys, time.monotonic(), every, None, {}))[0]

    assert [why([" "]), why(["x", "q"]), why([], 0.5), why(["Q"], 0.5)] == ["asked for", "", "every 0s", ""]
