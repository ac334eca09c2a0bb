"""The hosts of a small index, each seen in a way that lists and filters tell apart."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from aui_tui.model.card import ReportCard
from aui_tui.model.methods import grade_of
from aui_tui.model.observations import Observations
from tests.scan import situations as site


def card(
    label: str, score: int, seen: Observations, at: str = "20T08:00:00.000", *, method: str = "v0.2", **words: str
) -> ReportCard:
    """Return the card of ``label``.example with this ``score``, as ``seen`` on a day of November 2026."""
    seen = replace(seen, edge=words.pop("edge", seen.edge))
    labels = {"name": label, "category": "Retail"} | words
    found, _ = site.graded(f"{label}.example", seen, f"2026-11-{at}Z", method=method, **labels)
    return replace(found, score=score, grade=grade_of(score))


CARDS: Final = (
    card("a", 100, site.open_rich(), name="Book shop", edge="Akamai"),
    card("b", 82, site.plain(), category="Travel", name="straße"),
    card("c", 42, site.wall_for_agents(), "20T11:59:30.500", name="ÇA & shop", edge="cloudflare nginx"),
    card("d", 24, site.wall_for_all(), "13T12:00:00.000", category="Tech"),
    card("e", 38, site.robots_all(), method="v0.1", name="50%_off", edge="nginx"),
    card("f", 71, site.robots_one(), "13T11:00:00.000", category="Travel", name="日本語の店"),
    card("g", 60, site.half_open(), name="Shop of g", edge="Datadome"),
    card("h", 71, site.shell(), "21T12:00:00.000", category="Tech"),
    card("i", 0, site.dead(), category="Travel", name="Dead shop"),
    card("j", 0, site.down(), "13T12:00:00.000"),
    card("k", 42, site.dropped()),
    card("l", 42, site.pay_with_terms(), category="Tech", name="Paid shop", edge="nginx"),
)
