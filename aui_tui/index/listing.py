"""Somebody else's index as a list of its own: every question about it has the answer that our own index would give."""

from __future__ import annotations

import tempfile
import time
import weakref
from pathlib import Path
from typing import Final

import msgspec

from aui_tui.errors import BadValue
from aui_tui.index.reports import Reports
from aui_tui.index.rows import Packed
from aui_tui.model.card import SiteSummary
from aui_tui.model.query import FIELDS, Query
from aui_tui.model.view import IndexView, Overview

BATCH: Final = 5000
"""Rows that are written at a time."""


def refuse_card_terms(query: Query) -> None:
    """Raise BadValue for a term that rows without cards cannot answer."""
    unknown = sorted(name for name in query.fields if name in FIELDS and FIELDS[name].of_card)
    if unknown:
        raise BadValue(f"This source lists summaries only, so the query term {unknown[0]}: cannot be answered.")


def without_card_figures(figures: Overview) -> Overview:
    """Return ``figures`` without what only cards hold."""
    return msgspec.structs.replace(figures, failing={}, edges={}, contradictions=0, disagree={}, refusing={})


class Listing:
    """Rows of an index, one for each host: ``add`` them, then ``finish``, then ask. Every step may raise Unavailable.

    They lie in a temporary folder. Cards answer every term of the query language; where only summaries are known, a
    term about a card raises BadValue.
    """

    def __init__(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="aui-tui-", ignore_cleanup_errors=True)
        self._now = time.time()
        self._reports = Reports(Path(folder.name) / "index.db", clock=lambda: self._now)
        self._finalizer = weakref.finalize(self, _remove, self._reports, folder)
        self._waiting: list[Packed] = []
        self.size = 0
        """Rows of both lists."""
        self.repeated = 0
        """Rows that were left out because their host had one already."""
        self.scanned_at = ""

    def add(self, summary: SiteSummary, *, ranked: bool) -> None:
        """Add a row of one of the two lists; the first row of a host counts."""
        self._take(Packed.of_summary(summary, ranked=ranked))

    def finish(self, scanned_at: str = "") -> Listing:
        """Make the list ready for questions; ``scanned_at`` is the index's own time, else that of its newest row."""
        self._flush()
        self.scanned_at = scanned_at or (self._reports.index(Query()).scanned_at if self.size else "")
        return self

    def view(self, query: Query, *, now: float, notice: str = "") -> IndexView:
        """Return the answer to ``query``. Raises BadValue for a term that this source cannot answer."""
        view = self._asked(query, now).index(query)
        return msgspec.structs.replace(view, scanned_at=self.scanned_at or view.scanned_at, notice=notice)

    def overview(self, query: Query, *, now: float) -> Overview:
        """Return figures over the ranked rows of ``query``; what only cards hold is empty where none are known."""
        return without_card_figures(self._asked(query, now).overview(query))

    def position(self, host: str, query: Query, *, now: float) -> int:
        """Return the index of ``host`` in its list of ``query``, -1 when it is absent."""
        return self._asked(query, now).position(host, query)

    def _asked(self, query: Query, now: float) -> Reports:
        refuse_card_terms(query)
        self._now = now
        return self._reports

    def _take(self, row: Packed) -> None:
        self._waiting.append(row)
        if len(self._waiting) >= BATCH:
            self._flush()

    def _flush(self) -> None:
        rows, self._waiting = self._waiting, []
        known = set(self._reports.recent([row["host"] for row in rows]))
        fresh = {row["host"]: row for row in reversed(rows) if row["host"] not in known}
        self.repeated += len(rows) - len(fresh)
        self.size += len(fresh)
        self._reports.put_packed(list(fresh.values()))


def _remove(reports: Reports, folder: tempfile.TemporaryDirectory[str]) -> None:
    reports.close()
    folder.cleanup()
