"""What became of the rows of a list: one by one, and counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from aui_tui.crawl.job import Result
from aui_tui.crawl.listing import BadRow, Row

SCANNED: Final = "scanned"
UNREACHABLE: Final = "unreachable"
FAILED: Final = "failed"
FRESH: Final = "fresh"
BAD: Final = "bad"


class Done(NamedTuple):
    """What became of a row: one of the words above; ``result`` where it was scanned, ``saved`` once it is kept."""

    row: Row | BadRow
    kind: str
    result: Result | None = None
    saved: bool = False

    @classmethod
    def of(cls, row: Row, result: Result, *, written: bool) -> Done:
        """Return the outcome of a scan; ``written`` says whether the index took what there was to write."""
        kind = FAILED if result.packed is None else UNREACHABLE if result.unreachable else SCANNED
        return cls(row, kind, result, written and result.packed is not None)


@dataclass(slots=True)
class Counts:
    """Rows by what became of them; ``unsaved`` results could not be written."""

    scanned: int = 0
    unreachable: int = 0
    failed: int = 0
    fresh: int = 0
    bad: int = 0
    unsaved: int = 0

    def add(self, done: Done) -> None:
        """Count one row."""
        setattr(self, done.kind, getattr(self, done.kind) + 1)
        if done.result is not None and done.result.packed is not None and not done.saved:
            self.unsaved += 1

    @property
    def total(self) -> int:
        """Rows that are dealt with."""
        return self.scanned + self.unreachable + self.failed + self.fresh + self.bad

    @property
    def worked(self) -> int:
        """Hosts that were asked."""
        return self.scanned + self.unreachable + self.failed
