"""Work that is late, work in time, and the end of the thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from aui_tui.scan.parser_pool import Watchdog

PATIENCE = 30
"""Seconds to wait for what comes at once."""


class Bites:
    """Counts the bites, and lets a test wait for one."""

    def __init__(self) -> None:
        self.count = 0
        self.seen = threading.Event()

    def __call__(self) -> None:
        self.count += 1
        self.seen.set()


@pytest.fixture
def bites() -> Bites:
    return Bites()


@pytest.fixture
def watchdog(bites: Bites) -> Iterator[Watchdog]:
    found = Watchdog(bites)
    yield found
    found.close()


def test_late_work_is_bitten_each_time(watchdog: Watchdog, bites: Bites) -> None:
    for number in (1, 2):
        bites.seen.clear()
        with watchdog.within(0.01):
            assert bites.seen.wait(PATIENCE)
        assert bites.count == number


def test_a_short_limit_counts_after_a_long_one(watchdog: Watchdog, bites: Bites) -> None:
    with watchdog.within(10 * PATIENCE):
        pass
    assert bites.count == 0
    with watchdog.within(0.01):
        assert bites.seen.wait(PATIENCE)


def test_the_thread_ends_when_it_is_closed(bites: Bites) -> None:
    before = threading.enumerate()
    watchdog = Watchdog(bites)
    (thread,) = (one for one in threading.enumerate() if one.name == "aui-watchdog" and one not in before)
    with watchdog.within(10 * PATIENCE):
        watchdog.close()
        thread.join(PATIENCE)
    assert not thread.is_alive()
    assert bites.count == 0
