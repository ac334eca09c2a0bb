"""A data folder that holds some cards, made without scanning."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

from aui_tui.model.card import ReportCard
from aui_tui.model.observations import Observations
from aui_tui.service.local import LocalService
from tests.cards import DEAD, RICH_OPEN, WALLED, WALLED_SITE
from tests.scan import situations

EARLIER, _ = situations.graded(
    WALLED.host,
    replace(WALLED_SITE, page=replace(WALLED_SITE.page, jsonld=0)),
    "2026-11-12T08:00:00.000Z",
    name=WALLED.name,
    category=WALLED.category,
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
