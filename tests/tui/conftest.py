"""What every test of the dashboard needs."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import RenderableType
from textual._compositor import Compositor
from textual.screen import Screen

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
    """Draw the screen when a test looks at it, not for a terminal that is not there: two fifths of the work.

    A window over other screens is drawn: that is how these are known when a test looks.
    """
    draw = Compositor.render_update

    def drawn_below_windows(
        compositor: Compositor,
        full: bool = False,
        screen_stack: list[Screen[Any]] | None = None,
        simplify: bool = False,
    ) -> RenderableType | None:
        if screen_stack:
            return draw(compositor, full, screen_stack, simplify)
        compositor._dirty_regions.clear()
        return None

    monkeypatch.setattr(Compositor, "render_update", drawn_below_windows)
