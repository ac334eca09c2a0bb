"""What every command shares: one sentence on a mistake, exit codes, clean pipes."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from aui_tui import __main__, __version__
from aui_tui.cli.run import NO_ROOM, Run
from aui_tui.settings import load
from tests.cards import WALLED
from tests.cli.runner import aui, command, environment, here, start, with_closed_output
from tests.cli.stored import fill


@pytest.mark.ci
def test_the_version_is_one_line(tmp_path: Path) -> None:
    done = aui(tmp_path, "--version")
    assert (done.code, done.out, done.err) == (0, f"aui-tui {__version__}\n", "")


def test_bad_settings_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("thme = 'x'\n", encoding="utf-8")
    done = here(tmp_path, "paths", "--config", "c.toml")
    assert done.code == 2
    assert "did you mean theme?" in done.sentence


def test_common_options_stand_before_or_after_the_command(tmp_path: Path) -> None:
    before = here(tmp_path, "--data-dir", "here", "paths", "--json")
    after = here(tmp_path, "paths", "--json", "--data-dir", "here")
    assert before.out == after.out
    assert json.loads(after.out)["data"] == str(tmp_path / "here")
    both = here(tmp_path, "--data-dir", "there", "paths", "--json", "--data-dir", "here")
    assert both.out == after.out


def test_paths_follow_the_variable_and_create_nothing(tmp_path: Path) -> None:
    done = here(tmp_path, "paths")
    assert done.code == 0
    assert str(tmp_path / "data") in done.out
    assert not (tmp_path / "data").exists()


def test_without_a_terminal_the_dashboard_says_what_to_use(tmp_path: Path) -> None:
    done = aui(tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "not a terminal" in done.sentence.lower()
    assert "aui-tui index --json" in done.sentence
    assert not (tmp_path / "data").exists()


@pytest.mark.ci
def test_closed_pipe_ends_quietly(tmp_path: Path) -> None:
    fill(tmp_path)
    for arguments in (["schema", "card"], ["--help"], ["index", "--json"], ["index"], ["site", WALLED.host]):
        assert with_closed_output(tmp_path, *arguments) == (0, "")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("paths >&-", "Standard output is closed."),
        ("help query >&-", "Standard output is closed."),
        ("validate - <&-", "Standard input is closed."),
        ("import - <&-", "Standard input is closed."),
        ("regrade - --method v0.1 <&-", "Standard input is closed."),
        ("<&-", "not a terminal"),
        ("--help >/dev/full", "No space left on device"),
        ("schema card >/dev/full", "aui-tui: Cannot write the output: No space left on device."),
        ("crawl - <&-", "Standard input is closed."),
        ("export -o /dev/full", "the disk is full"),
    ],
)
def test_closed_and_full_streams_are_one_sentence(tmp_path: Path, line: str, words: str) -> None:
    shell = f"{shlex.join(command())} {line}"
    done = subprocess.run(
        ["sh", "-c", shell], cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    [sentence] = done.stderr.splitlines()
    assert words in sentence


@pytest.mark.ci
def test_output_may_be_a_pipe_by_name(tmp_path: Path) -> None:
    shell = f"{shlex.join(command('export', '-o', '/dev/stdout'))} | cat"
    done = subprocess.run(
        ["sh", "-c", shell], cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["ranked"] == []


def test_unexpected_error_is_one_sentence_and_a_traceback_only_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise LookupError("the moon is missing")

    monkeypatch.setattr("aui_tui.cli.about.places", broken)
    done = here(tmp_path, "paths")
    assert done.code == 3
    assert done.sentence.startswith("aui-tui: Unexpected LookupError: the moon is missing")
    shown = here(tmp_path, "paths", env={"AUI_TUI_DEBUG": "1"})
    assert shown.code == 3
    assert "Traceback" in shown.err


def test_a_lack_of_memory_is_no_fault_to_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(*_: object) -> bytes:
        return b"x" * (1 << 62)

    monkeypatch.setattr("aui_tui.cli.about.places", greedy)
    done = here(tmp_path, "paths")
    assert (done.code, done.sentence) == (2, "aui-tui: The system refused: there is not enough memory (ulimit -v).")


def test_ctrl_c_while_modules_load_is_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(arguments: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(__main__, "run", interrupted)
    with pytest.raises(SystemExit, match="130"):
        __main__.main()


@pytest.mark.ci
@pytest.mark.parametrize("arguments", [["diff", "-", "other.json"], ["validate", "-"], ["import", "-"]])
def test_ctrl_c_ends_the_reading_of_standard_input(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "other.json").write_text("{}")
    with start(tmp_path, *arguments, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        process.stdin.write(" " * 1_000_000)  # more than a pipe holds: once it is gone, the program sleeps reading
        process.stdin.flush()
        while psutil.Process(process.pid).status() != psutil.STATUS_SLEEPING:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert process.stderr.read() == ""


@pytest.mark.skipif(sys.platform != "linux", reason="bounds the address space")
@pytest.mark.parametrize("megabytes", [60, 80, 120, 150])
@pytest.mark.ci
def test_a_machine_without_room_is_said_in_one_sentence(tmp_path: Path, megabytes: int) -> None:
    import resource

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    done = subprocess.run(
        command("scan", "http://127.0.0.1:9", "--quiet"),
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
        preexec_fn=bound,
    )
    assert "Traceback" not in done.stderr
    assert "Unexpected" not in done.stderr


@pytest.mark.parametrize(
    "fails", ["asyncio.get_running_loop().call_soon(fail)", "del type('Lost', (), {'__del__': lambda _: fail()})().x"]
)
def test_a_callback_that_fails_for_want_of_memory_ends_the_program(tmp_path: Path, fails: str) -> None:
    """What waits for it would wait for ever."""
    waiting = f"""
import asyncio
from aui_tui.cli.run import Run
def fail(): raise MemoryError
async def work():
    try: {fails}
    except AttributeError: pass
    await asyncio.Event().wait()
Run.of({{}}).wait(work())
"""
    argv = [sys.executable, "-c", waiting]
    done = subprocess.run(argv, cwd=tmp_path, env=environment(tmp_path), capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (2, NO_ROOM)


def test_what_fails_after_a_command_is_told_to_whom_it_was_told_before() -> None:
    before = sys.unraisablehook

    async def work() -> bool:
        return sys.unraisablehook is before

    assert not Run(load(environ={})).wait(work())
    assert sys.unraisablehook is before


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("can't start new thread"),
        ExceptionGroup("tasks", [ValueError(), RuntimeError("can't start new thread")]),
        MemoryError(),
        ImportError("_lexbor.so: failed to map segment from shared object"),
    ],
    ids=repr,
)
def test_what_a_machine_lacks_is_no_fault_of_the_program(error: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    from aui_tui.cli.run import reporting_errors

    def work() -> int:
        raise error

    assert reporting_errors(work, ()) == 2
    assert capsys.readouterr().err.startswith("aui-tui: The system refused: there is no")
