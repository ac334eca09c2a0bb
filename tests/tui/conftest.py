"""What every test of the dashboard needs."""

from __future__ import annotations

import pytest

from aui_tui.tui import app


@pytest.fixture(autouse=True)
def notifications_that_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no notification go before a slow machine has read it."""
    monkeypatch.setattr(app, "SHOWN_FOR", dict.fromkeys(app.SHOWN_FOR, 600.0))
