"""Everything that is known of one host, and its kept scans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from aui_tui.errors import Unavailable

if TYPE_CHECKING:
    from aui_tui.model.card import ReportCard
    from aui_tui.model.observations import Observations
    from aui_tui.model.options import Acceptance
    from aui_tui.model.visits import Visits


class HistoryPoint(msgspec.Struct, frozen=True, kw_only=True):
    """One kept scan of a host. ``plain``: where tasks were run, the score without them, else None.

    ``incomplete``: it was stopped before its end.
    """

    scanned_at: str
    score: int
    grade: str
    stance: str
    unreachable: bool = False
    plain: int | None = None
    incomplete: bool = False


def comparable_scores(points: Sequence[HistoryPoint]) -> list[int]:
    """Return the scores of ``points`` for one curve: without tasks, unless all of them or none have tasks."""
    points = [point for point in points if not point.incomplete] or points
    mixed = len({point.plain is None for point in points}) > 1
    return [point.plain if mixed and point.plain is not None else point.score for point in points]


class HostReport(msgspec.Struct, frozen=True, kw_only=True):
    """Everything known of one host: the card, and where the source keeps them, what was seen, why, and the history.

    The answer to a scan and to a look into the index alike. ``source``: ``index`` (stored), ``scan`` (made now),
    ``cache`` (at most 24 h old, cost nothing), ``shared`` (another caller's scan of the same host, waited for) or
    ``replay`` (a recording). ``age``: seconds since the scan, where it was asked for. ``warnings``: sentences such as
    a card not saved.

    ``history`` is oldest first and ends with this card; ``previous`` is the card of the scan before; a scan reads
    neither. ``notice`` is one sentence on where the answer comes from (a copy of last week), or empty. ``visits``: what
    the access logs said when they were last read, with the latest card alone, whose evidence mentions them.
    ``accepted``: the findings, by id, that the owner accepts today.
    """

    card: ReportCard
    observations: Observations | None = None
    previous: ReportCard | None = None
    history: tuple[HistoryPoint, ...] = ()
    visits: Visits | None = None
    source: str = "index"
    age: float = 0.0
    notice: str = ""
    warnings: tuple[str, ...] = ()
    accepted: Mapping[str, Acceptance] = {}

    def require_observations(self) -> Observations:
        """Return the observations. Raises Unavailable for a card without them."""
        if self.observations is None:
            host = self.card.host
            raise Unavailable(f"The card of {host} comes without what was seen, so no fix can be tried. Scan it again.")
        return self.observations
