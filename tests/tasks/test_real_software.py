"""Sites that software of others makes: the tasks say what somebody with a keyboard and a screen reader can do there.

Nothing is installed here: each test runs where its program is on the path.
"""

from __future__ import annotations

import asyncio
import functools
import http.server
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from aui_tui.tasks.browser import Browser
from aui_tui.tasks.run import run_tasks
from tests.tasks.running import HOST, leading_to, seen_at

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.real_server,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.timeout(300),
]

PROSE = (
    "This handbook explains how the lanterns and kettles of the harbour are kept in order, day by day, for everyone "
    "who works on the quay and wants to know more about it."
)
EXPECTED = {
    "read": "done",
    "follow": "done",
    "search": "done",
    "contact": "done",
    "form": "absent",
    "offer": "absent",
}


@contextmanager
def static(folder: Path) -> Iterator[int]:
    """Serve a folder on loopback."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *parts: object) -> None:
            return

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join(10)


async def outcomes(browser: Browser, folder: Path) -> dict[str, str]:
    with static(folder) as port:
        run = await run_tasks(seen_at(f"http://{HOST}"), browser, access=leading_to(port))
    return {result.task: result.outcome for result in run.report.results}


def program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"needs {name} on the path")
    return found


async def test_sphinx(browser: Browser, tmp_path: Path) -> None:
    build = program("sphinx-build")
    pages = {
        "conf.py": "project = 'Harbour Handbook'\n",
        "index.rst": "Welcome to the harbour\n======================\n\n"
        f"{PROSE}\n\n.. toctree::\n\n   lantern\n   contact\n",
        "lantern.rst": "Lantern care\n============\n\nTrim the wick every morning.\n",
        "contact.rst": "Contact\n=======\n\nWrite to hello@harbour.example.\n",
    }
    (tmp_path / "source").mkdir()
    for name, text in pages.items():
        (tmp_path / "source" / name).write_text(text)
    command = [build, "-q", str(tmp_path / "source"), str(tmp_path / "site")]
    await asyncio.to_thread(subprocess.run, command, check=True, timeout=120)
    assert await outcomes(browser, tmp_path / "site") == EXPECTED


async def test_mkdocs(browser: Browser, tmp_path: Path) -> None:
    build = program("mkdocs")
    pages = {
        "mkdocs.yml": "site_name: Harbour Handbook\nplugins: [search]\n",
        "docs/index.md": f"# Welcome to the harbour\n\n{PROSE}\n\n- [Lantern care](lantern.md)\n",
        "docs/lantern.md": "# Lantern care\n\nTrim the wick every morning.\n",
        "docs/contact.md": "# Contact\n\nWrite to hello@harbour.example.\n",
    }
    (tmp_path / "docs").mkdir()
    for name, text in pages.items():
        (tmp_path / name).write_text(text)
    command = [build, "build", "-q", "-f", str(tmp_path / "mkdocs.yml"), "-d", str(tmp_path / "site")]
    await asyncio.to_thread(subprocess.run, command, check=True, timeout=120)
    assert await outcomes(browser, tmp_path / "site") == EXPECTED
