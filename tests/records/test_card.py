from __future__ import annotations

import pytest

from aui_tui.records.card import AgentAccess


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
