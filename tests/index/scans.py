"""Scans for an index: what was seen of a host at a time, and its card."""

from __future__ import annotations

from functools import cache

from aui_tui.checks.scoring import Labels, grade_card
from aui_tui.model.card import ReportCard, stamp
from aui_tui.model.observations import Exchange, FileFacts, Observations
from tests.index.clock import NOW

DAY = 86400.0


@cache
def scan(
    host: str = "shop.example", at: float = NOW, *, status: int = 200, llms: bool = False, dead: bool = False
) -> tuple[ReportCard, Observations]:
    names = ("browser", "agent_01", "agent_02", "agent_03", "agent_04", "robots")
    found = Observations(
        host=host,
        input_host=host,
        origin=f"https://{host}",
        scanned_at=stamp(at),
        elapsed_ms=10,
        exchanges=tuple(Exchange(name=name, url=f"https://{host}/", status=0 if dead else status) for name in names),
        files=FileFacts(llms=llms),
    )
    return grade_card(found, labels=Labels(category="Tech")), found
