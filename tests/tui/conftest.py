"""What every test of the dashboard needs."""

from __future__ import annotations

import pytest
from textual._compositor import Compositor

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


@pytest.fixture(autouse=True)
def drawn_when_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw the screen when a test looks at it, not for a terminal that is not there: two fifths of the work."""

    def not_drawn(compositor: Compositor, *_: object, **__: object) -> None:
        compositor._dirty_regions.clear()

    monkeypatch.setattr(Compositor, "render_update", not_drawn)
