"""Completion in the three shells: scripts, commands, options, words and hosts."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from tests.cli.runner import environment, here
from tests.cli.stored import fill


def complete(home: Path, line: str) -> list[str]:
    env = {"_AUI_TUI_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    return here(home, env=env).out.split()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script_for_each_shell(tmp_path: Path, shell: str) -> None:
    done = here(tmp_path, env={"_AUI_TUI_COMPLETE": f"source_{shell}"})
    assert done.code == 0
    assert "_AUI_TUI_COMPLETE" in done.out
    assert done.out.count("2>/dev/null") == (2 if shell == "fish" else 1)


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
        ("aui-tui --theme du", ["dusk", "dusk-256"]),
        ("aui-tui site tickets.example --at 2026-11-1", ["2026-11-12T08:00:00.000Z"]),
        ("aui-tui site tickets.example --at l", ["last"]),
        ("aui-tui index --sort matrix.g", ["matrix.gemini"]),
        ("aui-tui export --fields host,matrix.cl", ["host,matrix.claude"]),
        ("aui-tui export --fields sco", ["score"]),
        ("aui-tui index --query contr", ["contradiction:", "contradiction:out"]),
        ("aui-tui site --data", ["--data-dir"]),
        ("aui-tui index --query stance:w", ["stance:Walled"]),
        ("aui-tui index --query agent:claude=ou", ["agent:claude=out"]),
        ("aui-tui index --query fresh:", ["fresh:\\<7d"]),
    ],
)
def test_words_that_fit(tmp_path: Path, line: str, wanted: list[str]) -> None:
    fill(tmp_path)
    assert complete(tmp_path, line) == wanted


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["index", "--query", "stance", ":", "w"], ["Walled"]),
        (["index", "--query", "stance", ":"], ["Open", "Selective", "Walled"]),
        (["index", "--query", "agent", ":", "claude", "=", "ou"], ["out"]),
        (["index", "--stance", "=", "w"], ["Walled"]),
        (["index", "--query", "=", "stance", ":", "w"], ["Walled"]),
        (["site", "tickets.example", "--at", "2026-11-12T08", ":", "00"], ["00:00.000Z"]),
        (["index", "--query", "'stance:w"], ["stance:Walled"]),
    ],
)
def test_bash_breaks_words_at_colons(tmp_path: Path, words: list[str], wanted: list[str]) -> None:
    fill(tmp_path)
    env = {
        "_AUI_TUI_COMPLETE": "complete_bash",
        "COMP_WORDS": "\n".join(["aui-tui", *words]),
        "COMP_CWORD": str(len(words)),
    }
    assert here(tmp_path, env=env).out.split() == wanted


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


@pytest.mark.pty
@pytest.mark.slow
@pytest.mark.parametrize("shell", RC)
def test_a_value_with_spaces_is_one_word_in_a_real_shell(tmp_path: Path, shell: str) -> None:
    """Typed up to ``So``, completed by the tab key and entered: the program gets ``Social & media``."""
    name, options, rc = RC[shell]
    if shutil.which(name) is None:
        pytest.skip(f"needs {name}")
    tool = tmp_path / "aui-tui"
    tool.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m aui_tui "$@"\n')
    tool.chmod(0o755)
    env = environment(tmp_path, {"PATH": f"{tmp_path}:{os.environ['PATH']}", "TERM": "dumb"})
    child = pexpect.spawn(name, options, env=env, cwd=str(tmp_path), encoding="utf-8", timeout=40, dimensions=(40, 200))
    try:
        child.sendline(rc)
        child.sendline("echo rea''dy")
        child.expect("ready")
        child.send("aui-tui index --category So\t")
        child.expect("media", timeout=40)
        child.send("\r")
        child.expect("No cards in Social & media")
        child.send("aui-tui index --query stance:Wal\t")
        child.expect("stance:Walled", timeout=40)
        child.send("\r")
        child.expect('No cards matching "stance:Walled"')
    finally:
        child.close(force=True)
