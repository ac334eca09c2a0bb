"""What every test of the dashboard needs."""

from __future__ import annotations

import pytest

from aui_tui.tui import dashboard

from .cards import NOW


@pytest.fixture(autouse=True)
def standing_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clock at the moment from which made-up cards count back."""
    monkeypatch.setattr("time.time", NOW.timestamp)


@pytest.fixture(autouse=True)
def notifications_that_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no notification go before a slow machine has read it."""
    monkeypatch.setattr(dashboard, "SHOWN_FOR", dict.fromkeys(dashboard.SHOWN_FOR, 600.0))
