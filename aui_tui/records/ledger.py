"""How a score came about: every point traced to its fact."""

from __future__ import annotations

import msgspec


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One component of the score: points ``earned`` of ``possible`` in ``pillar`` (its wire key), and the ``reason``.

    ``measured`` is False when no probe was conclusive: then the component counts on neither side.
    ``fix`` is the recommendation key that would complete it, empty when nothing is left to gain.
    """

    component: str
    pillar: str
    earned: int
    possible: int
    reason: str
    measured: bool = True
    fix: str = ""


class Ledger(msgspec.Struct, frozen=True, kw_only=True):
    """All components of a score under one method, their sums, and what the sums became.

    ``raw`` is round half up of 100 x earned / possible; ``score`` is ``raw``, at most 59 when ``capped``.
    """

    method: str
    entries: tuple[Entry, ...]
    earned: int
    possible: int
    raw: int
    score: int
    capped: bool
    grade: str

    @property
    def points(self) -> dict[str, int]:
        """Points earned per component."""
        return {entry.component: entry.earned for entry in self.entries}
