"""What follows from a card alone: the outcome of each answer, and that a second scan of the same is the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from aui_tui.checks.scoring import grade_card
from aui_tui.model.card import AgentAccess, Index, ReportCard
from aui_tui.model.observations import Observations
from aui_tui.report.diff import diff
from aui_tui.report.export import write_cards, write_listing
from aui_tui.report.formats import CARD_FORMATS, LIST_FORMATS
from tests.cards import listing_of
from tests.strategies import observations


@pytest.mark.parametrize(
    ("status", "challenged", "outcome"),
    [
        (0, False, "inconclusive"),
        (200, False, "served"),
        (200, True, "challenged"),
        (302, False, "inconclusive"),
        (304, False, "refused"),
        (403, False, "refused"),
        (403, True, "challenged"),
        (503, False, "refused"),
    ],
)
def test_the_outcome_follows_from_the_record_alone(status: int, challenged: bool, outcome: str) -> None:
    assert AgentAccess(status=status, challenged=challenged, title="").outcome == outcome


def again(seen: Observations) -> Observations:
    """Return the same scan made later: other times, other ids of requests."""
    exchanges = tuple(
        replace(
            exchange,
            elapsed_ms=exchange.elapsed_ms + 17,
            challenge=replace(exchange.challenge, reference="1.2.3; x")
            if exchange.challenge and exchange.challenge.reference
            else exchange.challenge,
        )
        for exchange in seen.exchanges
    )
    return replace(seen, exchanges=exchanges, scanned_at="2030-01-01T00:00:00.000Z", elapsed_ms=seen.elapsed_ms + 17)


def both(seen: Observations) -> tuple[ReportCard, ReportCard]:
    return grade_card(seen, "v0.2"), grade_card(again(seen), "v0.2")


@pytest.mark.ci
@given(observations(), st.sampled_from(CARD_FORMATS), st.sampled_from(LIST_FORMATS))
def test_a_second_scan_of_the_same_is_the_same(seen: Observations, form: str, listed: str) -> None:
    before, after = both(seen)
    assert diff(before, after).same
    texts = ["".join(write_cards(form, [card], deterministic=True)) for card in (before, after)]
    assert texts[0] == texts[1]
    lists = [Index(scanned_at=card.scanned_at, ranked=(card.summary(),), unreachable=()) for card in (before, after)]
    texts = ["".join(write_listing(listed, listing_of(index), deterministic=True)) for index in lists]
    assert texts[0] == texts[1]
