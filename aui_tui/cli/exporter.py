"""The dashboard's writer of files. The formats are loaded at the first export: the dashboard opens without them."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from aui_tui.errors import ConfigError
from aui_tui.model.view import IndexView, Row, rows
from aui_tui.service.protocol import Service
from aui_tui.text import clean, count

if TYPE_CHECKING:
    from aui_tui.report.formats import Listing
    from aui_tui.tui.export import ExportJob


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
        from aui_tui.report.formats import write_cards, write_listing
        from aui_tui.report.forms import CARD_FORMATS, LIST_FORMATS

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
