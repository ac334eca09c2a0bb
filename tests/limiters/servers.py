"""Sites on loopback behind a limit on requests. Windows are given in the pauses of a scan, so that they are short."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from aui_tui.checks.scoring import grade_card
from aui_tui.model.card import ReportCard
from aui_tui.model.observations import Observations
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.policy import Limits
from aui_tui.scan.scan import observe
from tests.faults.site import Asked, Behaviour, Site, answer, good
from tests.limiters.models import Limiter

PAUSE = 0.05
"""One second of an ordinary scan."""
LIMITS = Limits(
    probe=4.0, connect=2.0, lookup=1.0, pause=PAUSE, again=0.2, budget=60 * PAUSE, whole=60 * PAUSE + 5, retry_after=1.0
)


@dataclass
class LimitedSite(Site):
    """A site behind ``limiter``, which says no by ``how``: a status, ``drop``, or ``delay``.

    ``hold``: seconds for which a request that is let in takes a place; ``by_connection``: connections are limited, and
    not requests.
    """

    limiter: Limiter | None = None
    how: str = "429"
    hold: float = 0.002
    by_connection: bool = False
    refused: int = 0
    behind: Behaviour = field(default=good)

    def __post_init__(self) -> None:
        self.default = self._answer

    async def _answer(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        if self.by_connection or self.limiter is None:
            await self.behind(asked, writer)
            return
        while not self.limiter.admit(time.monotonic()):
            self.refused += 1
            if self.how != "delay":
                await self._refuse(writer)
                return
            await asyncio.sleep(PAUSE / 4)
        try:
            await asyncio.sleep(self.hold)
            await self.behind(asked, writer)
        finally:
            self.limiter.leave()

    async def _refuse(self, writer: asyncio.StreamWriter) -> None:
        if self.how == "drop":
            writer.transport.abort()
            return
        extra = b"Retry-After: 1\r\n" if "Retry" in self.how else b""
        writer.write(answer(b"<h1>Slow down</h1>", f"{self.how[:3]} No", extra=extra))
        await writer.drain()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.by_connection and self.limiter is not None and not self.limiter.admit(time.monotonic()):
            self.refused += 1
            writer.transport.abort()
            return
        super()._connected(reader, writer)


async def scanned(site: Site, parser: ParserProcess, limits: Limits = LIMITS) -> tuple[Observations, ReportCard]:
    """Return what a scan of ``site`` saw, and its card."""
    access = site.access(limits)
    observed = await observe(access.target(site.url), parser=parser, access=access)
    return observed, grade_card(observed)


def accusations(card: ReportCard, allowed: Callable[[str], bool] = lambda slug: False) -> list[str]:
    """Return what a card of a healthy site must not say: verdicts against agents, Walled, files that are missing."""
    words = ("blocked", "walled", "disallowed")
    found = [f"{slug} {word}" for slug, word in card.matrix.items() if word in words and not allowed(slug)]
    found += ["Walled"] if card.stance == "Walled" else []
    wrong = {"wba", "robots", "signal", "llms", "front-door"}
    return found + [f"fix {fix.k}" for fix in card.recommendations if fix.k in wrong]
