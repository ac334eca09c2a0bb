"""A clock that a busy machine does not distort."""

from __future__ import annotations

import selectors
import threading
import time
from collections.abc import Iterator
from typing import Any, Final

import pytest

EVENT: Final = 0.05
"""Seconds that a wait for an event counts at most: what is waited for here is at hand, or does not come."""


class WorkingClock:
    """The seconds in which this process worked, or the event loop of its main thread chose to wait.

    Those in which the machine did something else are not among them, so that limits of a few seconds mean the same
    wherever a test runs. Only for peers in this process, or ones whose time does not matter.
    """

    def __init__(self) -> None:
        self._waited = time.monotonic() - time.process_time()
        self._owner = threading.get_ident()
        self._plain = time.monotonic, selectors.DefaultSelector.select

    def __call__(self) -> float:
        return self._waited + time.process_time()

    def select(self, selector: Any, timeout: float | None = None) -> Any:
        """Do what a selector does, and count the wait: all of it where nothing came."""
        now, plain = self._plain
        began, worked = now(), time.process_time()
        events = plain(selector, timeout)
        if threading.get_ident() == self._owner:
            passed = min(now() - began, EVENT) if events or timeout is None else max(timeout, 0.0)
            self._waited += max(0.0, passed - (time.process_time() - worked))
        return events


@pytest.fixture(autouse=True)
def working_clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the tests of a folder whose ``conftest.py`` names this fixture, and their event loops, go by such a clock."""
    clock = WorkingClock()
    with monkeypatch.context() as patch:
        patch.setattr(selectors.DefaultSelector, "select", lambda *given: clock.select(*given))
        patch.setattr(time, "monotonic", clock)
        yield
