"""Runs the dashboard in memory at a size, and reads what is on its screen as text."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.pilot import Pilot

from aui_tui.records.query import Query
from aui_tui.service.protocol import Service
from aui_tui.tui.app import AuiApp
from aui_tui.tui.context import Context

from .cards import NOW

STEPS = 200
"""Looks at the screen before a test goes on with whatever is there."""


@asynccontextmanager
async def stage(
    service: Service,
    size: tuple[int, int] = (80, 24),
    *,
    theme: str = "dusk",
    ascii: bool = False,  # noqa: A002
    start_host: str = "",
    query: Query | None = None,
    standing: bool = True,
) -> AsyncIterator[Pilot[int]]:
    """Yield a pilot of the running dashboard, with its clock ``standing`` still or going."""
    app = AuiApp(
        Context(service, clock=NOW.timestamp if standing else time.time),
        theme=theme,
        ascii=ascii,
        start_host=start_host,
        query=query,
    )
    app.animation_level = "none"
    async with app.run_test(size=size, notifications=True) as pilot:
        await settle(pilot)
        yield pilot


async def settle(pilot: Pilot[int]) -> None:
    """Wait until the answers that were asked for are on the screen, and the screen has come to rest."""
    shown = ""
    for _ in range(STEPS):
        await pilot.pause()
        workers = [w for w in pilot.app.workers if w.group != "scan"]
        if workers:
            await pilot.app.workers.wait_for_complete(workers)
            continue
        text = text_of(pilot)
        if text == shown and text.strip():
            return
        shown = text
        await asyncio.sleep(0.01)


def text_of(pilot: Pilot[int]) -> str:
    """Return the screen as the compositor draws it, one line per row, without trailing blanks."""
    compositor = pilot.app.screen._compositor
    height = pilot.app.size.height
    pilot.app.screen.refresh()
    strips = compositor.render_strips() if hasattr(compositor, "render_strips") else []
    lines = ["".join(segment.text for segment in strip).rstrip() for strip in strips[:height]]
    return "\n".join(lines) + "\n"
