"""Modules that lie in the user's folder: no process of ours runs them."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from aui_tui.process import command
from tests.cli.runner import ROOT
from tests.service.waiting import eventually

PLANTED = (
    *("multiprocessing", "textual", "rich", "msgspec", "httpx", "httpcore", "starlette", "uvicorn", "selectolax"),
    *("asyncio", "json", "importlib", "sqlite3", "typer", "encodings", "concurrent", "aui_tui", "mcp", "h11"),
)


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A folder full of modules that leave a mark when they run."""
    folder = tmp_path / "downloads"
    folder.mkdir()
    for name in PLANTED:
        code = f"open({str(tmp_path / 'ran')!r}, 'a').write({name!r} + ' ')\nraise SystemExit(9)\n"
        (folder / f"{name}.py").write_text(code)
    return folder


def program() -> list[str]:
    """The program as an installed script starts it."""
    script = Path(sys.executable).with_name("aui-tui")
    return [str(script)] if script.exists() else command("aui_tui.__main__")


@contextmanager
def started(planted: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    data = str(planted.parent / "data")
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONSAFEPATH", "PYTHONPATH")}
    process = subprocess.Popen(
        [*program(), *arguments, "--data-dir", data], cwd=planted, env=environment, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


def ran(planted: Path) -> str:
    mark = planted.parent / "ran"
    return mark.read_text() if mark.exists() else ""


def address_in(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.search(r"http://\S+:\d+(/\S{32})?", line):
            return found[0]
    raise AssertionError(f"no address; planted modules that ran: {process}")


def test_a_log_is_read_without_them(planted: Path) -> None:
    line = '203.0.113.7 - - [21/Nov/2026:10:00:00 +0000] "GET /a HTTP/1.1" 200 10 "-" "ChatGPT-User/1.0"\n'
    (planted / "access.log").write_text(line * 1000)
    with started(planted, "visits", "access.log", "--host", "shop.example") as process:
        process.communicate(timeout=120)
    assert (process.returncode, ran(planted)) == (0, "")


def test_several_server_processes_start_without_them(planted: Path) -> None:
    with started(planted, "serve", "--workers", "2", "--port", "0") as process:
        address = address_in(process)

        def answers() -> bool:
            with suppress(httpx.TransportError):
                return httpx.get(f"{address}/healthz", trust_env=False, verify=False).status_code == 200
            return False

        eventually(answers, 90)
    assert ran(planted) == ""


def test_the_dashboard_in_a_browser_starts_without_them(planted: Path) -> None:
    pytest.importorskip("textual_serve")
    with started(planted, "web", "--port", "0") as process:
        address = address_in(process)
        assert screen_of(address)
    assert ran(planted) == ""


def screen_of(address: str) -> bytes:
    """Return the first bytes that a dashboard behind a WebSocket draws."""
    import aiohttp

    async def work() -> bytes:
        origin = address.rpartition("/")[0]
        async with aiohttp.ClientSession() as session, session.ws_connect(f"{address}/ws", origin=origin) as socket:
            async with asyncio.timeout(60):
                async for message in socket:
                    if message.type == aiohttp.WSMsgType.BINARY and message.data:
                        return bytes(message.data)
        return b""

    return asyncio.run(work())


def test_the_module_form_does_not_take_libraries_from_the_folder(planted: Path) -> None:
    for name in ("asyncio", "json", "importlib", "encodings", "aui_tui"):
        (planted / f"{name}.py").unlink()  # Python itself takes these from the folder before our first line
    done = subprocess.run(
        [sys.executable, "-m", "aui_tui", "--version"], cwd=planted, capture_output=True, text=True, check=False
    )
    assert (done.returncode, ran(planted)) == (0, ""), done.stderr


def test_a_child_is_isolated_and_finds_what_the_parent_finds(tmp_path: Path) -> None:
    words = command("aui_tui.__main__", "--version")
    assert Path(words[0]).is_absolute()
    done = subprocess.run(
        words, cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("aui-tui ")
    assert str(ROOT) in words[5]
