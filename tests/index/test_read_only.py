"""A data folder that this user may not write to is read, and says so where something should be kept."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from aui_tui.index.store import Store
from tests.cards import RICH_OPEN, SAMPLES
from tests.cli.runner import ROOT

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the rights of the superuser are given up by Linux's own call"
)


def as_ordinary_user() -> None:
    """Give up, for the program about to be started, what lets the superuser write everywhere (capabilities(7))."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in (1, 2):
            libc.prctl(24, capability, 0, 0, 0)


def aui_tui(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "aui_tui", *arguments, "--data-dir", str(folder)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        preexec_fn=as_ordinary_user,
        timeout=120,
    )


@pytest.mark.ci
@pytest.mark.parametrize("log", ["none", "left", "cut"])
def test_reading_works_and_writing_says_why_not(tmp_path: Path, log: str) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    store = Store(folder / "index.db")
    store.put_many((card, None) for card in SAMPLES)
    if log == "none":
        store.close()
    else:
        store.database.reader().execute("PRAGMA wal_checkpoint")
        store.put(RICH_OPEN)
        if log == "cut":
            os.truncate(folder / "index.db-wal", 5000)
        (folder / "index.db-shm").unlink()
    for file in folder.iterdir():
        file.chmod(0o400)
    folder.chmod(0o500)
    before = sorted(path.name for path in folder.iterdir())
    try:
        listed = aui_tui(folder, "index")
        assert listed.returncode == 0, listed.stderr
        assert all(card.host in listed.stdout for card in SAMPLES)
        assert ("newest scans may be missing" in listed.stderr) == (log != "none")
        shown = aui_tui(folder, "site", RICH_OPEN.host, "--json")
        assert shown.returncode == 0, shown.stderr
        refused = aui_tui(folder, "forget", RICH_OPEN.host)
        assert refused.returncode == 3
        assert "Nothing can be saved" in refused.stderr
        assert sorted(path.name for path in folder.iterdir()) == before
    finally:
        folder.chmod(0o700)
