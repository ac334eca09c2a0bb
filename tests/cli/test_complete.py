"""Completion in the three shells: scripts, commands, options, words and hosts."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pexpect
import pytest

from tests.cli.runner import environment, here
from tests.cli.stored import fill
from tests.service.waiting import eventually


def complete(home: Path, line: str) -> list[str]:
    env = {"_AUI_TUI_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    return here(home, env=env).out.split()


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("aui-tui sc", ["scan", "schema"]),
        ("aui-tui scan --fail-u", ["--fail-under"]),
        ("aui-tui index --stance W", ["Walled"]),
        ("aui-tui scan x.com --must-serve claude,ch", ["claude,chatgpt"]),
        ("aui-tui site shop", ["shop.example"]),
        ("aui-tui forget g", ["gone.example"]),
        ("aui-tui schema c", ["card"]),
        ("aui-tui plan x.com --grade ", ["A", "B", "C", "D", "F"]),
        ("aui-tui diff x.com --format m", ["markdown"]),
        ("aui-tui index --sort matrix.g", ["matrix.gemini"]),
        ("aui-tui export --fields host,ma", ["host,matrix"]),
        ("aui-tui export --fields sco", ["score"]),
        ("aui-tui index --query contr", ["contradiction:", "contradiction:out"]),
        ("aui-tui site --data", ["--data-dir"]),
        ("aui-tui index --query stance:w", ["stance:Walled"]),
        ("aui-tui index --query agent:claude=ou", ["agent:claude=out"]),
        ("aui-tui index --query fresh:", ["fresh:\\<7d", "fresh:\\<24h", "fresh:\\>30d"]),
    ],
)
def test_words_that_fit(tmp_path: Path, line: str, wanted: list[str]) -> None:
    fill(tmp_path)
    assert complete(tmp_path, line) == wanted


def test_ctrl_c_during_completion_ends_it_without_a_word(tmp_path: Path) -> None:
    env = {"_AUI_TUI_COMPLETE": "complete_bash", "COMP_WORDS": "aui-tui\nsite\n", "COMP_CWORD": "2"}
    interrupted = "import os, signal, aui_tui.__main__ as program; os.kill(os.getpid(), signal.SIGINT); program.main()"
    done = subprocess.run(
        [sys.executable, "-c", interrupted], env=environment(tmp_path, env), capture_output=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")


def test_hosts_without_an_index_are_none_and_create_nothing(tmp_path: Path) -> None:
    assert complete(tmp_path, "aui-tui site s") == []
    assert not (tmp_path / "data").exists()


RC = {
    "bash": ("bash", ["--norc", "--noprofile", "-i"], 'eval "$(_AUI_TUI_COMPLETE=source_bash aui-tui)"'),
    "zsh": ("zsh", ["-f", "-i"], 'autoload -U compinit; compinit -u; eval "$(_AUI_TUI_COMPLETE=source_zsh aui-tui)"'),
    "fish": ("fish", ["--no-config", "-i"], "_AUI_TUI_COMPLETE=source_fish aui-tui | source"),
}


SLOW = """
import pathlib, sys, time, aui_tui.__main__ as program
asked, begun, quick = pathlib.Path("asked"), program.run, pathlib.Path("quick").exists()
def run(arguments):
    asked.touch()
    time.sleep(0 if quick else 60)
    return begun(arguments)
program.run = run
program.main()
"""
"""The program, which takes a minute to complete unless there is a file ``quick``."""


@contextmanager
def shell_at(folder: Path, shell: str, command: str) -> Iterator[pexpect.spawn[str]]:
    """Run a real ``shell`` in a pseudo-terminal, its completion of aui-tui loaded; ``command`` is what completes."""
    name, options, rc = RC[shell]
    if shutil.which(name) is None:
        pytest.skip(f"needs {name}")
    tool = folder / "aui-tui"
    tool.write_text(
        f'#!/bin/sh\ncase "$_AUI_TUI_COMPLETE" in complete_*) exec {command} "$@";; esac\n'
        f'exec {shlex.quote(sys.executable)} -m aui_tui "$@"\n'
    )
    tool.chmod(0o755)
    env = environment(folder, {"PATH": f"{folder}:{os.environ['PATH']}", "TERM": "dumb"})
    child = pexpect.spawn(name, options, env=env, cwd=str(folder), encoding="utf-8", timeout=40, dimensions=(40, 200))
    try:
        child.sendline(rc)
        child.sendline("echo rea''dy")
        child.expect("ready")
        yield child
    finally:
        child.close(force=True)


@pytest.mark.pty
@pytest.mark.slow
@pytest.mark.parametrize("shell", RC)
def test_a_value_with_spaces_is_one_word_in_a_real_shell(tmp_path: Path, shell: str) -> None:
    """Typed up to ``So``, completed by the tab key and entered: the program gets ``Social & media``."""
    with shell_at(tmp_path, shell, f"{shlex.quote(sys.executable)} -m aui_tui") as child:
        child.send("aui-tui index --category So\t")
        child.expect("media")
        child.send("\r")
        child.expect("No cards in Social & media")


@pytest.mark.pty
@pytest.mark.slow
@pytest.mark.parametrize("shell", RC)
def test_ctrl_c_during_completion_leaves_a_real_shell_clean(tmp_path: Path, shell: str) -> None:
    """The key ends the program that completes, without a word; the shell takes the next line and completes again."""
    (tmp_path / "slow.py").write_text(SLOW)
    with shell_at(tmp_path, shell, f"{shlex.quote(sys.executable)} slow.py") as child:
        child.send("aui-tui index --stance W\t")
        eventually((tmp_path / "asked").exists)
        child.sendintr()
        eventually(lambda: not programs_in(tmp_path))
        (tmp_path / "quick").touch()
        said = ""
        for _ in range(8):  # what is typed before the shell reads again is lost
            child.sendcontrol("u")  # bash has given up the line, zsh and fish keep it
            child.sendline("echo cle''an; stty -a")
            if child.expect(["clean", pexpect.TIMEOUT], timeout=5) == 0:
                break
            said += child.before
        said += child.before
        assert not any(word in said for word in ("Traceback", "Interrupt", "Aborted", "aui-tui:")), said
        child.expect(r"[^-]icanon")
        child.expect(r"[^-]echo\b")
        child.send("aui-tui index --stance W\t")
        child.expect("Walled")


def programs_in(folder: Path) -> list[str]:
    """Return the ids of the processes that complete in ``folder``."""
    found = subprocess.run(["ps", "-eo", "pid=,args="], capture_output=True, text=True, check=True).stdout
    running = [line.split(maxsplit=1) for line in found.splitlines() if line.strip().endswith("slow.py")]
    return [pid for pid, _ in running if os.path.realpath(f"/proc/{pid}/cwd") == str(folder.resolve())]
