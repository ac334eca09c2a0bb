"""A data folder that holds some cards, made without scanning."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from aui_tui.model.card import Recommendation, ReportCard
from aui_tui.service.local import LocalService
from tests.cards import DEAD, RICH_OPEN, WALLED

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


def fill(home: Path, cards: Iterable[ReportCard] = CARDS) -> None:
    """Store ``cards`` in the data folder of ``home``."""
    service = LocalService(home / "data")
    service.reports.put_many((card, None) for card in cards)
    service.reports.close()
