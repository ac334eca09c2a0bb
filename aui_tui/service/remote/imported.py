"""Another index, imported into a temporary index of ours: every question has the answer that ours would give."""

from __future__ import annotations

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

from aui_tui.errors import BadValue, RecordError
from aui_tui.model.query import FIELDS, Query
from aui_tui.model.view import IndexView, Overview
from aui_tui.process import has_ended
from aui_tui.service.importer import ImportedRecord, take_records
from aui_tui.service.local import LocalService
from aui_tui.service.protocol import Service
from aui_tui.text import count

_PREFIX: Final = "aui-tui-source-"
"""Begins the name of a temporary folder; the number of the process that uses it follows."""
MAX_BROKEN: Final = 1000
"""Broken records that are left out; with more of them than sound ones the list is refused."""


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder for this process; what killed ones left of theirs is removed."""
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        number = left.name.removeprefix(_PREFIX).partition("-")[0]
        if re.fullmatch(r"[0-9]{1,9}", number) and has_ended(int(number)) and _is_own(left):
            shutil.rmtree(left, ignore_errors=True)
    return tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-", ignore_cleanup_errors=True)


def _is_own(folder: Path) -> bool:
    try:
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()


class Imported:
    """The ``records`` of somebody else's index, ``here`` as an index of ours. Raises RecordError when most are broken.

    ``scanned_at`` is the index's own time, empty for that of its newest record. ``notice`` says what was left out. The
    folder goes with the last list that is read from it.
    """

    def __init__(self, records: Iterable[ImportedRecord], *, scanned_at: str = "") -> None:
        folder = temporary_folder()
        self.here = LocalService(Path(folder.name), base_url="")
        weakref.finalize(self.here.reports.database, folder.cleanup)
        done = take_records(_mostly_sound(records), self.here.reports, limit=sys.maxsize)
        self.scanned_at = scanned_at
        self.has_cards = done.cards > 0
        broken = len(done.problems)
        if done.read == broken and (broken or not scanned_at):
            raise RecordError(done.problems[0] if broken else "It is empty.")
        what = "broken record" if self.has_cards else "broken row"
        was = "was" if broken == 1 else "were"
        self.notice = f"{count(broken, what)} {was} left out: {done.problems[0]}" if broken else ""

    def asked(self, query: Query) -> LocalService:
        """Return what answers ``query``. Raises BadValue for a term about cards where only summaries are known."""
        unknown = sorted(name for name in query.fields if name in FIELDS and FIELDS[name].of_card)
        if unknown and not self.has_cards:
            raise BadValue(f"This source lists summaries only, so the query term {unknown[0]}: cannot be answered.")
        return self.here


class ImportedService(Service):
    """A source that is imported to be asked."""

    notice = ""
    """One sentence on the source, instead of that on what was left out."""

    @abstractmethod
    async def imported(self) -> Imported:
        """Return the index as it is now. Raises AuiError for what cannot be read."""

    async def index(self, query: Query) -> IndexView:
        """Return the lists of ``query``, answered from the whole list."""
        found = await self.imported()
        view = await found.asked(query).index(query)
        notice = self.notice or found.notice or view.notice
        return msgspec.structs.replace(view, scanned_at=found.scanned_at or view.scanned_at, notice=notice)

    async def overview(self, query: Query) -> Overview:
        """Return figures over the ranked rows of ``query``; what only cards hold is empty where none are known."""
        found = await self.imported()
        figures = await found.asked(query).overview(query)
        if found.has_cards:
            return figures
        return msgspec.structs.replace(figures, failing={}, edges={}, contradictions=0, disagree={}, refusing={})

    async def position(self, host: str, query: Query) -> int:
        """Return the index of ``host`` in its list of ``query``, -1 when it is absent."""
        return await (await self.imported()).asked(query).position(host, query)


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
