"""A published index of made-up cards, whose scans ask nobody."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from aui_tui.errors import InvalidHost, NeverScanned, RateLimited
from aui_tui.model.card import ReportCard
from aui_tui.model.listing import IndexView
from aui_tui.model.options import ORDINARY, ScanOptions
from aui_tui.model.progress import Progress, no_progress
from aui_tui.model.query import Query
from aui_tui.model.quota import Quota
from aui_tui.model.report import HostReport
from aui_tui.model.tasks import TaskProgress
from aui_tui.model.times import stamp
from aui_tui.model.vocabulary import CATEGORIES, STANCES
from aui_tui.service.publication import Publication
from tests.cards import DEAD, SAMPLES, WALLED

LIMIT = 10


def many(count: int) -> list[ReportCard]:
    """Return ``count`` cards of hosts ``h00000.example`` and on, scores and stances going round."""
    return [
        replace(
            WALLED,
            host=f"h{number:05d}.example",
            input_host=f"h{number:05d}.example",
            name=f"Host {number}",
            score=number % 101,
            stance=STANCES[number % 3],
            category=CATEGORIES[number % len(CATEGORIES)],
        )
        for number in range(count)
    ]


class StoredService(Publication):
    """Keeps ``cards``; a scan gives the card of its host, or of another a made-up one, once new and then cached.

    ``faults`` are raised by operation: ``index``, ``site``, ``scan``, ``stamp``. ``calls``: what was asked. ``spent``:
    scans by client. ``recent``: hosts in the cache.
    """

    def __init__(self, cards: Iterable[ReportCard] = (*SAMPLES, DEAD)) -> None:
        self._temporary = TemporaryDirectory(ignore_cleanup_errors=True)
        super().__init__(Path(self._temporary.name))
        self.store.regrade(lambda card, _seen: card, seconds=1)  # what is put from now on is up to date
        self.store.put_many((card, None) for card in cards)
        self.faults: dict[str, Exception] = {}
        self.calls: list[tuple[str, object]] = []
        self.spent: defaultdict[str, int] = defaultdict(int)
        self.recent: set[str] = set()
        self.closed = False

    def _called(self, operation: str, argument: object) -> None:
        self.calls.append((operation, argument))
        if operation in self.faults:
            raise self.faults[operation]

    async def stamp(self) -> str:
        self._called("stamp", None)
        return await super().stamp()

    async def changed(self) -> float | None:
        return 1_795_168_800.0

    async def index(self, query: Query) -> IndexView:
        self._called("index", query)
        return await super().index(query)

    async def site(self, host: str, *, method: str = "", at: str = "") -> HostReport:
        self._called("site", host)
        return await super().site(host, method=method, at=at)

    async def scan(
        self,
        url: str,
        options: ScanOptions = ORDINARY,
        *,
        progress: Progress = no_progress,
        live: TaskProgress | None = None,
    ) -> HostReport:
        client = options.client or "local"
        self._called("scan", (client, url, options.force))
        found = await self.cached(url)
        if found is not None and not options.force:
            return found
        if self.spent[client] >= LIMIT:
            raise RateLimited("All 10 scans of this hour are used.", retry_after=90, reset_at=time.time() + 90)
        self.spent[client] += 1
        self.recent.add(url)
        try:
            card = self.store.get(url).card
        except NeverScanned:
            card = replace(WALLED, host=url, input_host=url, scanned_at=stamp(time.time()))
            self.store.put(card)
        return HostReport(card=card, source="scan")

    async def cached(self, url: str) -> HostReport | None:
        if "." not in url or " " in url:
            raise InvalidHost(f"{url!r} is not a host name.")
        return HostReport(card=self.store.get(url).card, source="cache", age=60) if url in self.recent else None

    async def quota(self, client: str = "") -> Quota:
        used = self.spent[client or "local"]
        return Quota(left=LIMIT - used, limit=LIMIT, next_slot=time.time() + 3600 if used else 0.0)

    async def aclose(self) -> None:
        self.closed = True
        await super().aclose()
        self._temporary.cleanup()
