"""Another index, imported into a temporary index of ours: every question has the answer that ours would give."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from aui_tui.errors import BadValue, RecordError
from aui_tui.index.reports import Reports
from aui_tui.model.query import FIELDS, Query
from aui_tui.model.view import IndexView, Overview
from aui_tui.service.importer import ImportedRecord, take_records
from aui_tui.text import count

MAX_BROKEN: Final = 1000
"""Broken records that are left out; with more of them than sound ones the list is refused."""


def temporary_reports(clock: Callable[[], float] = time.time) -> Reports:
    """Return an empty index in a temporary folder, which goes with the last list that is read from it."""
    folder = tempfile.TemporaryDirectory(prefix="aui-tui-", ignore_cleanup_errors=True)
    reports = Reports(Path(folder.name) / "index.db", clock=clock)
    weakref.finalize(reports.database, folder.cleanup)
    return reports


class ImportedIndex:
    """The ``records`` of somebody else's index in ``reports``. Raises RecordError where most of them are broken.

    ``scanned_at`` is the index's own time, else that of its newest record. ``notice`` says what was left out. Cards
    answer every term of the query language; where only summaries are known, a term about a card raises BadValue.
    """

    def __init__(self, records: Iterable[ImportedRecord], reports: Reports, *, scanned_at: str = "") -> None:
        done = take_records(_mostly_sound(records), reports, limit=sys.maxsize)
        self.reports = reports
        self.scanned_at = scanned_at
        self.has_cards = done.cards > 0
        broken = len(done.problems)
        if done.read == broken and (broken or not scanned_at):
            raise RecordError(done.problems[0] if broken else "It is empty.")
        repeated = 0 if done.cards else done.read - broken - done.new
        parts = (
            (broken, "broken record" if done.cards else "broken row", "", f": {(*done.problems, '')[0]}"),
            (repeated, "row", " of hosts that are listed already", "."),
        )
        self.notice = " ".join(
            f"{count(number, what)}{whose} {'was' if number == 1 else 'were'} left out{end}"
            for number, what, whose, end in parts
            if number
        )

    async def index(self, query: Query) -> IndexView:
        """Return the lists of ``query``. Raises BadValue for a term that this source cannot answer."""
        view = await asyncio.to_thread(self._asked(query).index, query)
        return msgspec.structs.replace(view, scanned_at=self.scanned_at or view.scanned_at, notice=self.notice)

    async def overview(self, query: Query) -> Overview:
        """Return figures over the ranked rows of ``query``; what only cards hold is empty where none are known."""
        figures = await asyncio.to_thread(self._asked(query).overview, query)
        if self.has_cards:
            return figures
        return msgspec.structs.replace(figures, failing={}, edges={}, contradictions=0, disagree={}, refusing={})

    async def position(self, host: str, query: Query) -> int:
        """Return the index of ``host`` in its list of ``query``, -1 when it is absent."""
        return await asyncio.to_thread(self._asked(query).position, host.strip().lower(), query)

    def _asked(self, query: Query) -> Reports:
        unknown = sorted(name for name in query.fields if name in FIELDS and FIELDS[name].of_card)
        if unknown and not self.has_cards:
            raise BadValue(f"This source lists summaries only, so the query term {unknown[0]}: cannot be answered.")
        return self.reports


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
