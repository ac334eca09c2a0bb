"""A watch sees what was written, waits until it is whole, and keeps to the quota."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aui_tui.cli import watch
from aui_tui.cli.watch import Trigger, changed, describe, interval, snapshot, words
from aui_tui.errors import BadValue, ConfigError


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
    assert interval("6m", limit=10) == 360
    with pytest.raises(BadValue, match=r"At most 10 scans an hour are allowed, so the shortest interval is 6m\."):
        interval("359s", limit=10)
    with pytest.raises(BadValue, match="515s"):
        interval("8m", limit=7)


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


def test_changes_in_words() -> None:
    assert describe(["robots.txt"]) == "robots.txt"
    assert describe(["a", "b"]) == "a and 1 more file"
    assert describe(["a\x1b", "b", "c"]) == "a\ufffd and 2 more files"


def test_a_key_and_an_interval_are_reasons() -> None:
    trigger = Trigger(every=360)
    trigger.started(100.0)
    assert trigger.ask(459.9) == ""
    assert trigger.ask(460.0) == "every 6m"
    assert trigger.ask(101.0, key=True) == "asked for"
    trigger.started(461.0)
    assert trigger.ask(462.0) == ""


def test_without_an_interval_only_keys_and_files_count() -> None:
    trigger = Trigger()
    trigger.started(0.0)
    assert trigger.ask(1e9) == ""


def test_files_count_once_they_keep_still() -> None:
    trigger = Trigger(settle=0.5)
    one, two, three = ({"robots.txt": (n, n)} for n in (1, 2, 3))
    trigger.started(0.0, one)
    assert trigger.ask(1.0, one) == ""
    assert trigger.ask(2.0, two) == ""
    assert trigger.ask(2.3, three) == ""
    assert trigger.ask(2.7, three) == ""
    assert trigger.ask(2.8, three) == "robots.txt changed"
    trigger.started(2.8, three)
    assert trigger.ask(9.0, three) == ""


def test_a_file_written_back_as_it_was_is_no_change() -> None:
    trigger = Trigger(settle=0.5)
    one, two = {"a": (1, 1)}, {"a": (2, 2)}
    trigger.started(0.0, one)
    assert trigger.ask(1.0, two) == ""
    assert trigger.ask(1.2, one) == ""
    assert trigger.ask(5.0, one) == ""


def test_a_change_while_a_scan_runs_is_seen_after_it() -> None:
    trigger = Trigger(settle=0.5)
    one, two = {"a": (1, 1)}, {"a": (2, 2)}
    trigger.started(0.0, one)
    assert trigger.ask(5.0, two) == ""
    assert trigger.ask(5.5, two) == "a changed"
