"""The only door to ``aui_tui.tui``: the dashboard on a service, what it remembers, and the writer of its exports.

The writers of ``export`` are loaded at the first export: the dashboard opens without them.
"""

from __future__ import annotations

import asyncio
import dataclasses
import os
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sized
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from aui_tui.cli.run import UNEXPECTED, Run
from aui_tui.errors import ConfigError
from aui_tui.model.query import Query
from aui_tui.model.view import IndexView, Row, rows
from aui_tui.service.protocol import Service
from aui_tui.text import clean, count

if TYPE_CHECKING:
    from aui_tui.report.formats import Listing
    from aui_tui.service.local import LocalService
    from aui_tui.tui.context import ExportJob, Preferences

CRASHED: Final = 1
LEFT_FOR_DEMO: Final = -1
"""Status of a dashboard that was left for the demo."""
LEFT_FOR_OTHER: Final = -2
"""Status of a dashboard that was left for another index."""
Stream = tuple[str, Sized, Callable[[Callable[[object], None]], Awaitable[None]]]
"""What fills the index while it is looked at: a name, the sites to scan, and what scans them."""


FRAMES: Final = "120"
"""Drawings in a second at most: an answer that comes just after one waits half as long as with Textual's 60."""


def open_on(
    run: Run,
    service: Service,
    *,
    host: str = "",
    query: Query | None = None,
    feed: Stream | None = None,
    starter: Stream | None = None,
    ready: Callable[[], Awaitable[str]] | None = None,
    open_source: Callable[[str], None] | None = None,
) -> int:
    """Run the dashboard on ``service``, close both, and return the exit code.

    ``query``: the list to begin with. ``feed`` fills the index meanwhile. With a ``starter`` an empty index offers
    that, and the demo: LEFT_FOR_DEMO when the user chose it; ``ready`` says why the starter cannot begin.
    ``open_source`` takes the address of another index: then LEFT_FOR_OTHER. Raises ConfigError.
    """
    settings = run.settings
    os.environ.setdefault("TEXTUAL_FPS", FRAMES)
    try:
        from aui_tui.tui.app import run as run_app
        from aui_tui.tui.context import DEMO, OTHER, Context, Feed

        context = Context(
            service,
            exporter=FileExporter(service),
            feed=Feed(*feed) if feed is not None else None,
            starter=Feed(*starter, ready) if starter is not None else None,
            demo=starter is not None,
            open_source=open_source,
            preferences=_preferences(run, local_index(service)),
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
    return {CRASHED: UNEXPECTED, DEMO: LEFT_FOR_DEMO, OTHER: LEFT_FOR_OTHER}.get(status, status)


def local_index(service: Service) -> LocalService | None:
    """Return the index of this machine, None for a published one."""
    if service.label != "local engine":
        return None
    from aui_tui.service.local import LocalService

    return service if isinstance(service, LocalService) else None


def _preferences(run: Run, service: LocalService | None) -> Preferences:
    """Return what the user chose before, and what remembers the next choice: the settings file."""
    from aui_tui.settings import remember
    from aui_tui.tui.context import Preferences

    settings = run.settings
    file = str(settings.config_file)

    async def read_log(host: str, path: str) -> str:
        from aui_tui.cli.visits import read_for

        assert service is not None
        return await read_for(run, service, host, path)

    return Preferences(
        columns=settings.columns,
        keys=dict(settings.keys),
        views={name: {str(key): text for key, text in view.items()} for name, view in settings.views.items()},
        ascii=settings.ascii,
        mouse=settings.mouse,
        path=file,
        stronger={name: origin for name, origin in settings.origins.items() if origin not in ("default", file)},
        write=partial(remember, settings.config_file),
        read_log=read_log if service is not None else None,
    )


class FileExporter:
    """The dashboard's writer of files over ``service``; a file that is there stays as it is."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._rows = 0

    def _counted(self, found: Iterable[Row]) -> Iterator[Row]:
        for row in found:
            self._rows += 1
            yield row

    async def __call__(self, job: ExportJob, /) -> str:
        """Write ``job`` and return one sentence on it. Raises BadValue, ConfigError, NeverScanned, Unavailable."""
        from aui_tui.report.atomic import create

        path = path_of(job.path)
        self._rows = 0
        chunks = await self._chunks(job, path)
        path = await asyncio.to_thread(create, path.parent, path.name, chunks, force=job.replace)
        what = {"list": count(self._rows, "host"), "card": f"the card of {job.host}", "snippet": "the change"}[job.kind]
        folder = str(path.resolve().parent)
        return f"Wrote {what} to {clean(path.name, 100)} in {clean(folder, 200)}."

    async def _chunks(self, job: ExportJob, path: Path) -> Iterable[str]:
        if job.kind == "snippet":
            return [job.text.rstrip("\n") + "\n"]
        from aui_tui.cli.output import format_of
        from aui_tui.report.formats import CARD_FORMATS, LIST_FORMATS, write_cards, write_listing

        if job.kind == "card":
            form = format_of(path, CARD_FORMATS)
            report = await self._service.site(job.host, method=job.method, at=job.at)
            return write_cards(form, [report.card])
        form = format_of(path, LIST_FORMATS)
        listing = listing_of(await self._service.index(job.query), job)
        ranked, unreachable = self._counted(listing.ranked), self._counted(listing.unreachable)
        return write_listing(form, dataclasses.replace(listing, ranked=ranked, unreachable=unreachable))


def path_of(text: str) -> Path:
    """Return the file that the user named. Raises ConfigError when it cannot be one."""
    if not text.strip() or "\0" in text:
        raise ConfigError("Name a file to write.")
    return Path(text.strip()).expanduser()


def listing_of(view: IndexView, job: ExportJob) -> Listing:
    """Return the rows that ``job`` asks for: one of the two lists, or the marked hosts of both."""
    from aui_tui.report.formats import Listing

    wanted = set(job.hosts)

    def marked(found: Iterator[Row]) -> Iterator[Row]:
        return (row for row in found if not wanted or row.summary.host in wanted)

    ranked = marked(rows(view.ranked)) if wanted or not job.unreachable else iter(())
    unreachable = marked(rows(view.unreachable)) if wanted or job.unreachable else iter(())
    title = "marked hosts" if wanted else view.query.words()
    return Listing(scanned_at=view.scanned_at, ranked=ranked, unreachable=unreachable, title=title)
