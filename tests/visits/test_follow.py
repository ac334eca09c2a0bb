"""A growing log: new lines, rotation, truncation, and the end by ctrl+c with the figures kept."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from aui_tui.visits import logs
from aui_tui.visits.counting import Count, LogOptions
from tests.cli.runner import ROOT, environment

LINE = '198.51.100.7 - - [19/Nov/2026:04:54:30 +0000] "GET / HTTP/1.1" 200 512 "-" "Claude-User/1.0"\n'


def add(path: Path, number: int) -> None:
    with path.open("a") as file:
        file.write(LINE * number)


def followed(names: list[Path], *steps: Callable[[], object]) -> list[int]:
    """Return the agents' lines that were counted at first, and after each of ``steps`` that brought some."""
    todo = iter([*steps, None])

    def wait() -> bool:
        act = next(todo)
        if act is not None:
            act()
        return act is not None

    def total(count: Count) -> int:
        for row in count.rows.values():
            row.flush()
        return sum(row.sums["requests"] for row in count.rows.values())

    return [total(count) for count in logs.follow([str(name) for name in names], LogOptions(), {}, wait=wait)]


def test_figures_follow_the_file(tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    add(path, 3)

    def rotate() -> None:
        path.rename(tmp_path / "access.log.1")
        add(path, 5)

    def append(text: str) -> None:
        with path.open("a") as file:
            file.write(text)

    steps = (
        lambda: add(path, 2),
        rotate,
        lambda: path.write_text(LINE),  # the file is cut
        lambda: append(LINE[:40]),
        lambda: append(LINE[40:]),
    )
    assert followed([path], *steps) == [3, 5, 10, 11, 12]


def test_a_server_may_write_to_the_old_file_for_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, old = tmp_path / "access.log", tmp_path / "access.log.1"
    add(path, 3)
    clock = 0.0
    monkeypatch.setattr("aui_tui.visits.reader.time.monotonic", lambda: clock)

    def rotate() -> None:
        nonlocal clock
        clock += 3600  # a quiet hour before it
        path.rename(old)
        add(path, 1)

    assert followed([path], rotate, lambda: add(old, 2), lambda: add(path, 1)) == [3, 4, 6, 7]


def test_a_last_line_without_its_end_counts_when_the_file_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aui_tui.visits.reader.GRACE", 0.0)
    path = tmp_path / "access.log"
    path.write_text(LINE + LINE[:-1])

    def rotate() -> None:
        path.rename(tmp_path / "access.log.1")
        add(path, 2)

    assert followed([path], rotate)[-1] == 4


def test_rotation_among_followed_names_counts_no_line_twice(tmp_path: Path) -> None:
    path, first, second = (tmp_path / name for name in ("access.log", "access.log.1", "access.log.2.gz"))
    add(path, 3)
    add(first, 2)
    second.write_bytes(gzip.compress((LINE * 4).encode()))

    def rotate() -> None:
        first.unlink()
        path.rename(first)
        add(path, 1)

    assert followed([path, first, second], rotate, lambda: add(first, 1), lambda: add(path, 1)) == [9, 10, 11, 12]


def test_what_a_log_cannot_show_is_said_while_it_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    path.write_text(LINE.partition(' "-"')[0] + "\n")
    (count,) = logs.follow([str(path)], LogOptions(), {}, wait=lambda: False)
    assert "no User-Agent" in next(iter(count.notes))


@pytest.mark.ci
@pytest.mark.skipif(os.name == "nt", reason="ctrl+c is a POSIX signal here")
def test_ctrl_c_keeps_what_was_counted(tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    add(path, 3)
    command = [sys.executable, "-m", "aui_tui", "visits", str(path), "--follow", "--json", "--host", "shop.example"]
    env = environment(tmp_path, {})
    with subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["agent_lines"] == 3
        add(path, 4)
        assert json.loads(process.stdout.readline())["agent_lines"] == 7
        add(path, 1)
        assert json.loads(process.stdout.readline())["agent_lines"] == 8  # kept at the end alone
        process.send_signal(signal.SIGINT)
        _, reported = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in reported
    kept = subprocess.run(
        [sys.executable, "-m", "aui_tui", "visits", "--host", "shop.example", "--json"],
        cwd=ROOT,
        env=env,
        capture_output=True,
        check=True,
    )
    assert json.loads(kept.stdout)["agent_lines"] == 8
