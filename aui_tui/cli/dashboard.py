"""The only door to ``aui_tui.tui``: the dashboard on a service, what it writes to files, and what it remembers."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from aui_tui.cli.run import UNEXPECTED, Run
from aui_tui.errors import ConfigError
from aui_tui.model.query import Query
from aui_tui.model.view import Row, rows
from aui_tui.report.atomic import create
from aui_tui.report.formats import CARD_FORMATS, LIST_FORMATS, Listing, format_of, write_cards, write_listing
from aui_tui.service.local import LocalService
from aui_tui.service.protocol import Service
from aui_tui.text import clean, count

if TYPE_CHECKING:
    from aui_tui.tui.context import Preferences
    from aui_tui.tui.export import ExportJob

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
            exporter=partial(export, service),
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


async def export(service: Service, job: ExportJob) -> str:
    """Write ``job`` to a file that is not there yet and return one sentence on it. Raises AuiError."""
    path, hosts, written = _file_of(job.path), set(job.hosts), 0

    def chosen(found: Iterator[Row]) -> Iterator[Row]:
        nonlocal written
        for row in found:
            if not hosts or row.summary.host in hosts:
                written += 1
                yield row

    if job.kind == "snippet":
        chunks: Iterable[str] = [job.text.rstrip("\n") + "\n"]
    elif job.kind == "card":
        form = format_of(path, CARD_FORMATS)
        chunks = write_cards(form, [await service.site(job.host, method=job.method, at=job.at)])
    else:
        form = format_of(path, LIST_FORMATS)
        view = await service.index(job.query)
        listing = Listing(
            scanned_at=view.scanned_at,
            ranked=chosen(rows(view.ranked)) if hosts or not job.unreachable else (),
            unreachable=chosen(rows(view.unreachable)) if hosts or job.unreachable else (),
            title="marked hosts" if hosts else view.query.words(),
        )
        chunks = write_listing(form, listing)
    path = await asyncio.to_thread(create, path.parent, path.name, chunks, force=job.replace)
    what = {"list": count(written, "host"), "card": f"the card of {job.host}", "snippet": "the change"}[job.kind]
    return f"Wrote {what} to {clean(path.name, 100)} in {clean(str(path.resolve().parent), 200)}."


def _file_of(text: str) -> Path:
    """Return the file that the user named. Raises ConfigError when it cannot be one."""
    if not text.strip() or "\0" in text:
        raise ConfigError("Name a file to write.")
    return Path(text.strip()).expanduser()


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
