"""A data folder that holds some cards, made without scanning."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from aui_tui.model.card import Recommendation, ReportCard
from aui_tui.model.observations import Observations
from aui_tui.service.local import LocalService
from tests.cards import DEAD, RICH_OPEN, WALLED
from tests.scan import situations

EARLIER = msgspec.structs.replace(
    WALLED,
    scanned_at="2026-11-12T08:00:00.000Z",
    score=36,
    pillars={"works": None, "welcome": 9, "built": 9},
    jsonld=0,
    recommendations=(
        *WALLED.recommendations,
        Recommendation("jsonld", "Built", 3, "Add JSON-LD", "Describe it.", "{}"),
    ),
)
"""The walled shop a week before, six points lower."""
CARDS = (EARLIER, RICH_OPEN, WALLED, DEAD)


SEEN = (
    situations.graded("seen.example", situations.half_open()),
    situations.graded("other.example", situations.plain()),
)
"""Scans that are kept with what was seen."""


def fill(
    home: Path, cards: Iterable[ReportCard] = CARDS, scans: Iterable[tuple[ReportCard, Observations]] = ()
) -> None:
    """Store ``cards``, and ``scans`` with what was seen, in the data folder of ``home``."""
    service = LocalService(home / "data")
    service.store.put_many((card, None) for card in cards)
    service.store.put_many(scans)
    service.store.close()
