"""Grading a card again from the card alone gives the figures of grading its observations."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given

from aui_tui.checks.scoring import grade_card, regrade
from aui_tui.errors import BadValue, RecordError
from aui_tui.model.codec import decode_card, encode_card
from aui_tui.model.observations import Observations
from tests.cards import RICH_OPEN, SAMPLES, WALLED
from tests.strategies import observations


@pytest.mark.ci
@given(observations())
def test_figures_are_those_of_the_observations(seen: Observations) -> None:
    for old, new in (("v0.1", "v0.2"), ("v0.2", "v0.1")):
        wanted = grade_card(seen, new)
        found = regrade(grade_card(seen, old), new)
        texts = {fix.k: fix for fix in wanted.recommendations}
        assert [(fix.k, fix.pillar, fix.pts) for fix in found.recommendations] == [
            (fix.k, fix.pillar, fix.pts) for fix in wanted.recommendations
        ]
        same = tuple(texts[fix.k] for fix in found.recommendations)
        assert msgspec.structs.replace(found, recommendations=same) == wanted


def test_there_and_back_is_the_same_card() -> None:
    for sample in SAMPLES:
        other = "v0.1" if sample.method == "v0.2" else "v0.2"
        assert regrade(regrade(sample, other), sample.method) == sample
        assert decode_card(encode_card(regrade(sample, other))).method == other


def test_same_method_changes_nothing_and_unknown_is_refused() -> None:
    assert regrade(WALLED, "v0.2") is WALLED
    with pytest.raises(BadValue, match=r"v0\.1, v0\.2"):
        regrade(WALLED, "v0.3")


def test_card_that_does_not_add_up_is_refused() -> None:
    broken = msgspec.structs.replace(RICH_OPEN, pillars=RICH_OPEN.pillars | {"access": 12})
    with pytest.raises(RecordError, match="do not add up"):
        regrade(broken, "v0.2")
