"""Another index, imported into a temporary index of ours: every question has the answer that ours would give."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import stat
import sys
import tempfile
import weakref
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from aui_tui.errors import AuiError, BadValue, ConfigError, NeverScanned, NoCard, RecordError, Unavailable
from aui_tui.files import STDIN, reading
from aui_tui.model.listing import IndexView
from aui_tui.model.overview import Moves, Overview
from aui_tui.model.points import Standing
from aui_tui.model.query import Query
from aui_tui.model.query_line import fields
from aui_tui.model.report import HostReport
from aui_tui.process import has_ended
from aui_tui.service.importer import ImportedRecord, read, take_records
from aui_tui.service.local import LocalService
from aui_tui.service.protocol import Service
from aui_tui.text import clean, count
from aui_tui.threads import abandonable

_PREFIX: Final = "aui-tui-source-"
"""Begins the name of a temporary folder; the number of the process that uses it follows."""
MAX_BROKEN: Final = 1000
"""Broken records that are left out; with more of them than sound ones the list is refused."""


class TemporaryIndex:
    """An index in a temporary folder, which is removed with the last list that is read from it.

    ``scanned_at`` is the other index's own time, empty for that of its newest record. ``notice`` says what was left
    out.
    """

    def __init__(self) -> None:
        _remove_left()
        folder = tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-", ignore_cleanup_errors=True)
        self.local = LocalService(Path(folder.name), base_url="")
        weakref.finalize(self.local.store.database, folder.cleanup)
        self.is_listed = self.has_cards = False
        self.scanned_at = self.notice = ""

    def take(self, records: Iterable[ImportedRecord], *, scanned_at: str = "") -> None:
        """Import the ``records`` of the other index. Raises RecordError when most are broken."""
        done = take_records(_mostly_sound(records), self.local.store, limit=sys.maxsize)
        self.scanned_at = scanned_at
        self.has_cards = done.cards > 0
        broken = done.broken
        if not done.read and (broken or not scanned_at):
            raise RecordError(done.problems[0] if broken else "It is empty.")
        what = "broken record" if self.has_cards else "broken row"
        was = "was" if broken == 1 else "were"
        self.notice = f"{count(broken, what)} {was} left out: {done.problems[0]}" if broken else ""
        self.is_listed = True


def _remove_left() -> None:
    """Remove the temporary folders of processes that were killed."""
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        number = left.name.removeprefix(_PREFIX).partition("-")[0]
        if re.fullmatch(r"[0-9]{1,9}", number) and has_ended(int(number)) and _is_own(left):
            shutil.rmtree(left, ignore_errors=True)


def _is_own(folder: Path) -> bool:
    try:
        status = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()


def _mostly_sound(records: Iterable[ImportedRecord]) -> Iterator[ImportedRecord]:
    """Yield ``records``. Raises RecordError once more than MAX_BROKEN, and most of them, are broken."""
    sound, broken = 0, list[str]()
    for record in records:
        if record.error:
            broken.append(record.error)
            if len(broken) > max(MAX_BROKEN, sound):
                raise RecordError(f"Most of its rows are broken, such as: {broken[0]}")
        else:
            sound += 1
        yield record


class ImportedService(Service):
    """A source that is imported to be asked."""

    def __init__(self) -> None:
        self._index: TemporaryIndex | None = None
        self._reading = asyncio.Lock()

    async def temporary(self, *, listed: bool = True) -> TemporaryIndex:
        """Return the temporary index; ``listed``: with the list of the source, read when it is first asked for.

        Raises AuiError for what cannot be read.
        """
        async with self._reading:
            index = self._index
            if index is None:
                index = await asyncio.to_thread(TemporaryIndex)
            if listed and not index.is_listed:
                await self.read_list(index)
            self._index = index
            return index

    @abstractmethod
    async def read_list(self, index: TemporaryIndex) -> None:
        """Import the list of the source into ``index``."""

    async def _index_for(self, query: Query) -> TemporaryIndex:
        """Return what answers ``query``. Raises BadValue for a term about cards where only summaries are known."""
        index = await self.temporary()
        unknown = sorted(name for name in query.fields if name in fields() and fields()[name].of_card)
        if unknown and not index.has_cards:
            raise BadValue(f"This source lists summaries only, so the query term {unknown[0]}: cannot be answered.")
        return index

    async def index(self, query: Query) -> IndexView:
        """Return the lists of ``query``, answered from the whole list."""
        index = await self._index_for(query)
        view = await index.local.index(query)
        notice = index.notice or view.notice
        return msgspec.structs.replace(view, scanned_at=index.scanned_at or view.scanned_at, notice=notice)

    async def overview(self, query: Query) -> Overview:
        """Return figures over the ranked rows of ``query``; what only cards hold is empty where none are known."""
        index = await self._index_for(query)
        figures = await index.local.overview(query)
        if index.has_cards:
            return figures
        return msgspec.structs.replace(figures, failing={}, edges={}, contradictions=0, disagree={}, refusing={})

    async def moves(self, query: Query, since: str, most: int) -> Moves | None:
        """Return how the ranked hosts of ``query`` changed; None where the source lists summaries only."""
        index = await self._index_for(query)
        return await index.local.moves(query, since, most) if index.has_cards else None

    async def site(self, host: str, *, method: str = "", at: str = "") -> HostReport:
        """Return the card of ``host``. Raises NeverScanned; Unavailable when the source lists the host without one."""
        local = (await self.temporary()).local
        try:
            return await local.site(host, method=method, at=at)
        except NoCard:
            raise Unavailable(f"{self.label} lists {clean(host.strip(), 100)} but holds no report cards.") from None
        except NeverScanned:
            history = (await local.site(host)).history if at else ()
            if not history:
                raise
            times = tuple(point.scanned_at for point in history)
            raise BadValue(f"{self.label} holds no such scan of {clean(host, 100)}.", allowed=times) from None

    async def what_if(self, host: str, fixes: frozenset[str], *, method: str = "", at: str = "") -> Standing:
        """Return where ``host`` would stand with ``fixes`` carried out."""
        await self.site(host, method=method, at=at)
        return await (await self.temporary(listed=False)).local.what_if(host, fixes, method=method, at=at)

    async def aclose(self) -> None:
        """Close the temporary index."""
        if self._index is not None:
            await self._index.local.aclose()


class IndexFile(ImportedService):
    """The index in ``source``, a path or ``-`` for standard input; it is read once, at the first question."""

    can_scan = False

    def __init__(self, source: str) -> None:
        super().__init__()
        self._source = source
        self.label = "standard input" if source == STDIN else clean(Path(source).name, 60)

    async def read_list(self, index: TemporaryIndex) -> None:
        """Import the records of the file. Raises ConfigError or RecordError for what cannot be read."""

        def work() -> None:
            with reading(self._source) as file:
                index.take(read(file))

        try:
            await abandonable(work)
        except ConfigError:
            raise
        except AuiError as error:
            raise type(error)(f"{self.label}: {error}") from None
