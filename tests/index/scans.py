"""Scans for an index: what was seen of a host at a time, and its card."""

from __future__ import annotations

from functools import cache

from aui_tui.model.card import ReportCard
from aui_tui.model.observations import BROWSER, FileFacts, Observations
from aui_tui.model.times import stamp
from tests.index.clock import NOW
from tests.scan import situations
from tests.scan.situations import graded, probe, site

DAY = 86400.0


@cache
def scan(
    host: str = "shop.example", at: float = NOW, *, status: int = 200, llms: bool = False, dead: bool = False
) -> tuple[ReportCard, Observations]:
    answered = site(probe(BROWSER, status), lambda slot: probe(slot, status), files=FileFacts(llms=llms))
    return graded(host, situations.dead() if dead else answered, stamp(at), category="Tech")
