"""Killed in the middle of writing: what was said to be kept is kept, nothing is half there."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aui_tui.index.cache import QuotaStore, RecentScans, SharedCache
from aui_tui.index.store import Store
from aui_tui.index.upkeep import examine
from aui_tui.model.query import Query
from tests.index.scans import scan

ROOT = Path(__file__).parents[2]

WRITE = """
import sys, time
from pathlib import Path
from aui_tui.index.store import Store
from tests.index.clock import NOW
from tests.index.scans import scan
time.time = lambda: NOW
store = Store(Path(sys.argv[1]))
number = int(sys.argv[2])
print("ready", flush=True)
while True:
    store.put_many([scan(f"h{number % 40}.example", NOW + number), scan(f"n{number}.example", NOW + number)])
    print(number, flush=True)
    number += 1
"""

SPEND = """
import sys, time
from pathlib import Path
from aui_tui.index.cache import QuotaStore, RecentScans, SharedCache
from aui_tui.index.store import Store
from tests.index.clock import NOW
from tests.index.scans import scan
time.time = lambda: NOW
folder = Path(sys.argv[1])
shared, store = SharedCache(folder / "cache"), Store(folder / "index.db")
recent, quota = RecentScans(shared), QuotaStore(shared)
number = 0
print("ready", flush=True)
while True:
    card, seen = scan(f"h{number % 40}.example")
    store.put(card, seen)
    recent.put(card.host, card)
    if number < 8:
        quota.spend("a")
    print(number, flush=True)
    number += 1
"""


def killed(dice: random.Random, script: str, *arguments: str) -> list[str]:
    """Run a script, kill it somewhere in a write after some that it said were done, and return the lines it wrote."""
    process = subprocess.Popen([sys.executable, "-c", script, *arguments], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    lines = [process.stdout.readline() for _ in range(dice.randrange(1, 60))]
    time.sleep(dice.uniform(0, 0.02))
    process.send_signal(signal.SIGKILL)
    lines += process.stdout.readlines()
    process.wait(60)
    process.stdout.close()
    return lines


@pytest.mark.parametrize("kills", [2, pytest.param(25, marks=pytest.mark.slow)])
def test_index_survives_kill(tmp_path: Path, kills: int) -> None:
    dice, path, said = random.Random(kills), tmp_path / "index.db", 0
    for _ in range(kills):
        lines = killed(dice, WRITE, str(path), str(said))
        said += len(lines)
        store = Store(path)
        assert store.warnings == ()
        assert examine(store).problems == ()
        kept = {row.summary.host for row in store.index(Query()).ranked[:]}
        assert kept >= {f"n{number}.example" for number in range(said)}
        for number in range(max(0, said - 40), said):
            assert store.get(f"n{number}.example").card.host == f"n{number}.example"
        said = sum(host.startswith("n") for host in kept)
        store.close()
    assert said > kills


@pytest.mark.parametrize("kills", [2, pytest.param(15, marks=pytest.mark.slow)])
def test_cache_and_quota_survive_kill(tmp_path: Path, kills: int) -> None:
    dice = random.Random(kills)
    for turn in range(kills):
        folder = tmp_path / str(turn)
        folder.mkdir()
        lines = killed(dice, SPEND, str(folder))
        shared, store = SharedCache(folder / "cache"), Store(folder / "index.db")
        recent, quota = RecentScans(shared), QuotaStore(shared)
        for number in range(min(len(lines), 40)):
            card = scan(f"h{number}.example")[0]
            assert recent.get(card.host) == card.scanned_at
            assert store.get(card.host, card.scanned_at).card == card
        store.close()
        spent = 10 - quota.left("a").left
        assert min(len(lines), 8) <= spent <= min(len(lines) + 1, 8)
        assert shared.warnings == []
