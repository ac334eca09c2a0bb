"""Types of records are used for the first time by one thread at a time: two at once end the process."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest

from aui_tui.model import codec
from tests.cards import RICH_OPEN
from tests.scan.situations import open_rich

RACE = """
import sys, threading
from aui_tui.model.codec import decode_card
from aui_tui.model.observations import decode_observations

sys.setswitchinterval(1e-6)
card, seen = sys.stdin.buffer.read().split(b"\\n")
start = threading.Barrier(12)

def read(number):
    start.wait()
    for _ in range(3):
        decode_observations(seen) if number % 4 else decode_card(card)

threads = [threading.Thread(target=read, args=(number,)) for number in range(12)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


@pytest.mark.ci
def test_many_threads_may_read_records_at_one_first_moment() -> None:
    reported = codec.encode_card(RICH_OPEN) + b"\n" + msgspec.json.encode(open_rich())
    for _ in range(6):
        done = subprocess.run([sys.executable, "-c", RACE], input=reported, capture_output=True, timeout=60)
        assert done.returncode == 0, done.stderr.decode()[-500:]
