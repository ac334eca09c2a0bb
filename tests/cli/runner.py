"""Runs the command line the way a user does: as a process of its own."""

from __future__ import annotations

import contextlib
import io
import os
import select
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Result:
    """What a finished command left."""

    code: int
    out: str
    err: str

    @property
    def sentence(self) -> str:
        """The one line on standard error. Fails when there are more, or a traceback."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert "Traceback" not in self.err
        return lines[0]


def environment(home: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return an environment in which the program finds only what the test put there."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("AUI_TUI_", "XDG_", "COV"))}
    kept |= {"HOME": str(home), "AUI_TUI_HOME": str(home / "data"), "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    kept |= {"COLUMNS": "80", "PYTHONDONTWRITEBYTECODE": "1"}
    return kept | dict(extra or {})


def command(*arguments: str) -> list[str]:
    """Return the argument list of a process that runs the command line."""
    return [sys.executable, "-m", "aui_tui", *arguments]


def aui(
    home: Path,
    *arguments: str,
    env: Mapping[str, str] | None = None,
    stdin: str = "",
    timeout: float = 150,
) -> Result:
    """Run ``aui-tui ARGUMENTS`` with ``home`` as its home and data folder and return the result."""
    done = subprocess.run(
        command(*arguments),
        cwd=home,
        env=environment(home, env),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


class Running(subprocess.Popen[str]):
    """A process whose streams are pipes, when they were asked for."""

    stdin: IO[str]
    stdout: IO[str]
    stderr: IO[str]


def start(home: Path, *arguments: str, env: Mapping[str, str] | None = None, **options: Any) -> Running:
    """Start ``aui-tui ARGUMENTS`` with pipes."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return Running(command(*arguments), cwd=home, env=environment(home, env), text=True, **(pipes | options))


@contextlib.contextmanager
def helper(module: str, *arguments: str) -> Iterator[IO[str]]:
    """Run ``module``, which serves until its input ends, in a process of its own and yield its output."""
    process = Running(
        [sys.executable, "-m", module, *arguments], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield process.stdout
    finally:
        process.stdin.close()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(60)
        process.stdout.close()


def with_closed_output(home: Path, *arguments: str) -> tuple[int, str]:
    """Run ``aui-tui ARGUMENTS`` while nobody reads its output; return exit code and standard error."""
    with start(home, *arguments) as process:
        process.stdout.close()
        errors = process.stderr.read()
        return process.wait(60), errors


def read_terminal(descriptor: int) -> bytes:
    """Return all that is written to the terminal behind ``descriptor``, and close it. Fails after 60 s of silence."""
    seen = b""
    while select.select([descriptor], [], [], 60)[0]:
        try:
            part = os.read(descriptor, 65536)
        except OSError:
            break
        if not part:
            break
        seen += part
    else:
        raise AssertionError(f"the program went on without writing: {seen!r}")
    os.close(descriptor)
    return seen


def read_until(stream: IO[str], words: str) -> str:
    """Return what ``stream`` said up to the line that holds ``words``. Fails when it ends before that line."""
    said = ""
    for line in stream:
        said += line
        if words in line:
            return said
    raise AssertionError(f"ended before {words!r} came: {said}")


def here(home: Path, *arguments: str, env: Mapping[str, str] | None = None, stdin: str = "") -> Result:
    """Run ``aui-tui ARGUMENTS`` as :func:`aui` does, but inside this process: much faster, for what needs no other."""
    from aui_tui.cli.app import run

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    source = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        contextlib.chdir(home),
    ):
        patch.setattr(sys, "stdin", source)
        wanted = environment(home, env)
        for name in os.environ.keys() - wanted.keys():
            patch.delenv(name)
        for name, value in wanted.items():
            patch.setenv(name, value)
        code = run(arguments)
        out.flush()
        err.flush()
    texts = [stream.buffer.getvalue().decode() for stream in (out, err) if isinstance(stream.buffer, io.BytesIO)]
    return Result(code, *texts)


def required(command: Any) -> list[str]:
    """Return a value for each argument and option that ``command`` insists on."""
    words = []
    for one in command.params:
        if one.required:
            words += ["shop.example"] if one.param_type_name == "argument" else [one.opts[0], "v0.1"]
    return words


def python(home: Path, code: str, *arguments: str) -> Result:
    """Run ``code`` in a fresh interpreter that finds the package, and return the result."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=home,
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)
