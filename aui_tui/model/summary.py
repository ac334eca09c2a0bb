"""The summary of a card, which the index lists, and the types of the fields that both have."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from aui_tui.model.times import Timestamp
from aui_tui.model.vocabulary import STANCES, SURFACES_TOTAL, one_of

Percent = Annotated[int, Meta(ge=0, le=100)]
Grade = Annotated[str, Meta(pattern=r"^[A-F][+-]?$")]
Stance = Annotated[str, one_of(STANCES)]
MOST_POINTS: Final = 1000
"""More points than this on one pillar are refused, and so are NaN and infinity."""
Points = dict[str, Annotated[int, Meta(ge=0, le=MOST_POINTS)] | Annotated[float, Meta(ge=0, le=MOST_POINTS)] | None]
Host = Annotated[str, Meta(min_length=1)]
Matrix = Annotated[dict[str, str], Meta(min_length=SURFACES_TOTAL, max_length=SURFACES_TOTAL)]


class SiteSummary(msgspec.Struct, frozen=True, kw_only=True):
    """An element of ``ranked`` and ``unreachable`` in the Index."""

    host: Host
    name: str
    category: str
    score: Percent
    grade: Grade
    stance: Stance
    pillars: Points
    matrix: Matrix
    scanned_at: Timestamp
    top_evidence: str
    url: str
