"""The only door to ``aui_tui.tui``: the dashboard on a service, and what it remembers."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from aui_tui.cli.exporter import FileExporter
from aui_tui.cli.run import UNEXPECTED, Run
from aui_tui.model.query import Query
from aui_tui.service.local import LocalService
from aui_tui.service.protocol import Service

if TYPE_CHECKING:
    from aui_tui.tui.context import Preferences

CRASHED: Final = 1
LEFT_FOR_DEMO: Final = -1
"""Status of a dashboard that was left for the demo."""
FRAMES: Final = "120"
"""Drawings in a second at most: an answer that comes just after one waits half as long as with Textual's 60."""


class Filling(NamedTuple):
    """What fills the index while it is looked at: a name, how many scans there are, what makes them.

    ``ready`` says why they cannot begin.
    """

    name: str
    total: int
    run: Callable[[Callable[[object], None]], Awaitable[None]]
    ready: Callable[[], Awaitable[str]] | None = None


def open_on(
    run: Run,
    service: Service,
    *,
    host: str = "",
    query: Query | None = None,
    feed: Filling | None = None,
    starter: Filling | None = None,
    open_source: Callable[[str], None] | None = None,
) -> int:
    """Run the dashboard on ``service``, close both, and return its status: an exit code, or how it was left.

    ``query``: the list to begin with. ``feed`` fills the index meanwhile. With a ``starter`` an empty index offers
    that, and the demo; ``open_source`` takes the address of another index. Raises ConfigError.
    """
    settings = run.settings
    os.environ.setdefault("TEXTUAL_FPS", FRAMES)
    try:
        from aui_tui.tui.app import run as run_app
        from aui_tui.tui.context import DEMO, Context, Feed

        context = Context(
            service,
            exporter=FileExporter(service),
            feed=Feed(*feed) if feed is not None else None,
            starter=Feed(*starter) if starter is not None else None,
            demo=starter is not None,
            open_source=open_source,
            preferences=_preferences(run, service),
        )
        status = run_app(
            context,
            theme=settings.theme,
            ascii=settings.ascii,
            mouse=settings.mouse,
            query=query,
            start_host=host,
            theme_folders=(settings.theme_dir,),
        )
    finally:
        asyncio.run(service.aclose())
    return {CRASHED: UNEXPECTED, DEMO: LEFT_FOR_DEMO}.get(status, status)


def _preferences(run: Run, service: Service) -> Preferences:
    """Return what the user chose before, and what remembers the next choice: the settings file."""
    from aui_tui.settings import remember
    from aui_tui.tui.context import Preferences

    settings = run.settings
    file = str(settings.config_file)

    def reader(local: LocalService) -> Callable[[str, str], Awaitable[str]]:
        async def read(host: str, path: str) -> str:
            from aui_tui.cli.visits import read_for

            return await read_for(run, local, host, path)

        return read

    return Preferences(
        columns=settings.columns,
        keys=dict(settings.keys),
        views={name: {str(key): text for key, text in view.items()} for name, view in settings.views.items()},
        ascii=settings.ascii,
        mouse=settings.mouse,
        path=file,
        stronger={name: origin for name, origin in settings.origins.items() if origin not in ("default", file)},
        write=partial(remember, settings.config_file),
        read_log=reader(service) if isinstance(service, LocalService) else None,
    )
