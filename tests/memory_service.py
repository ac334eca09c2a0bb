"""An index in memory for tests of what stands on the service protocol: no network, no files."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import msgspec

from aui_tui.errors import InvalidHost, NeverScanned, RateLimited
from aui_tui.model.card import ReportCard
from aui_tui.model.observations import Progress
from aui_tui.model.options import ORDINARY, ScanOptions
from aui_tui.model.points import Standing
from aui_tui.model.query import Query
from aui_tui.model.tasks import TaskProgress
from aui_tui.model.view import Facets, HistoryPoint, HostReport, IndexView, Overview, Quota, Row
from aui_tui.model.visits import Visits
from aui_tui.model.vocabulary import CATEGORIES, STANCES
from aui_tui.service.protocol import Service
from tests.cards import DEAD, SAMPLES, WALLED, estimate
from tests.matching import counted

LIMIT = 10


def many(count: int) -> list[ReportCard]:
    """Return ``count`` cards of hosts ``h00000.example`` and on, scores and stances going round."""
    made = []
    for number in range(count):
        host = f"h{number:05d}.example"
        made.append(
            msgspec.structs.replace(
                WALLED,
                host=host,
                input_host=host,
                name=f"Host {number}",
                score=number % 101,
                stance=STANCES[number % 3],
                category=CATEGORIES[number % len(CATEGORIES)],
            )
        )
    return made


@dataclass
class MemoryService(Service):
    """``cards`` by host; a scan of a host in ``cards`` answers with it, once new and then from the cache."""

    cards: dict[str, ReportCard] = field(default_factory=dict)
    faults: dict[str, Exception] = field(default_factory=dict)
    """Errors to raise, by operation: ``index``, ``site``, ``scan``, ``stamp``."""
    calls: list[tuple[str, object]] = field(default_factory=list)
    spent: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    recent: set[str] = field(default_factory=set)
    version: int = 0
    at: float | None = 1_795_168_800.0
    """When it last changed, in seconds since the epoch."""
    closed: bool = False
    visits_kept: dict[str, Visits] = field(default_factory=dict)
    label: str = "memory"
    can_scan: bool = True

    @classmethod
    def of(cls, cards: Iterable[ReportCard] = (*SAMPLES, DEAD)) -> MemoryService:
        """Return a service that holds ``cards``."""
        return cls(cards={card.host: card for card in cards})

    def put(self, card: ReportCard) -> None:
        """Store a card."""
        self.cards[card.host] = card
        self.version += 1

    def _called(self, operation: str, argument: object) -> None:
        self.calls.append((operation, argument))
        if operation in self.faults:
            raise self.faults[operation]

    async def stamp(self) -> str:
        self._called("stamp", None)
        return f"memory-{self.version}"

    async def changed(self) -> float | None:
        return self.at

    async def index(self, query: Query) -> IndexView:
        self._called("index", query)
        found = [card for card in self.cards.values() if _holds(card, query)]
        ranked = sorted((c for c in found if not c.unreachable), key=lambda c: (-c.score, c.host))
        lost = sorted((c for c in found if c.unreachable), key=lambda c: c.host)
        newest = max((c.scanned_at for c in self.cards.values()), default=now())
        scores = [card.score for card in ranked]
        return IndexView(
            query=query,
            scanned_at=newest,
            ranked=[_row(card, scores.index(card.score) + 1) for card in ranked],
            unreachable=[_row(card, 0) for card in lost],
            facets=Facets(
                stance={word: sum(c.stance == word for c in found) for word in STANCES},
                category={word: sum(c.category == word for c in found) for word in CATEGORIES},
            ),
        )

    async def overview(self, query: Query) -> Overview:
        rows = list((await self.index(query)).ranked[:])
        pairs = Counter((row.summary.category, row.summary.stance) for row in rows)
        stances = {word: {stance: pairs[word, stance] for stance in STANCES} for word in CATEGORIES}
        return Overview(grades={}, stances=stances, failing={}, hosts=len(rows), **counted(rows))

    async def position(self, host: str, query: Query) -> int:
        view = await self.index(query)
        hosts = [row.summary.host for row in view.ranked[:]]
        return hosts.index(host) if host in hosts else -1

    async def site(self, host: str, *, method: str = "", at: str = "") -> HostReport:
        self._called("site", host)
        card = self.cards.get(host)
        if card is None:
            raise NeverScanned(host)
        point = HistoryPoint(scanned_at=card.scanned_at, score=card.score, grade=card.grade, stance=card.stance)
        return HostReport(card=card, history=(point,))

    async def visits(self, host: str) -> Visits | None:
        self._called("visits", host)
        return self.visits_kept.get(host)

    async def what_if(self, host: str, fixes: frozenset[str], *, method: str = "", at: str = "") -> Standing:
        return estimate((await self.site(host, method=method, at=at)).card, fixes)

    async def scan(
        self,
        url: str,
        options: ScanOptions = ORDINARY,
        *,
        progress: Progress | None = None,
        live: TaskProgress | None = None,
    ) -> HostReport:
        client, force = options.client or "local", options.force
        self._called("scan", (client, url, force))
        if "." not in url or " " in url:
            raise InvalidHost(f"{url!r} is not a host name.")
        if url in self.recent and not force:
            return HostReport(card=self.cards[url], source="cache", age=60)
        if self.spent[client] >= LIMIT:
            raise RateLimited("All 10 scans of this hour are used.", retry_after=90, reset_at=time.time() + 90)
        self.spent[client] += 1
        if url not in self.cards:
            self.put(msgspec.structs.replace(WALLED, host=url, input_host=url, scanned_at=now()))
        self.recent.add(url)
        return HostReport(card=self.cards[url], source="scan")

    async def cached(self, url: str) -> HostReport | None:
        if "." not in url or " " in url:
            raise InvalidHost(f"{url!r} is not a host name.")
        return HostReport(card=self.cards[url], source="cache", age=60) if url in self.recent else None

    async def quota(self, client: str = "") -> Quota:
        used = self.spent[client or "local"]
        return Quota(left=LIMIT - used, limit=LIMIT, next_slot=time.time() + 3600 if used else 0.0)

    async def aclose(self) -> None:
        self.closed = True


def now() -> str:
    """Return the time in the form of a record."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _holds(card: ReportCard, query: Query) -> bool:
    words: Sequence[str] = [term.text for term in query.terms]
    return (
        query.category in ("", card.category)
        and query.stance in ("", card.stance)
        and all(word in card.host or word in card.name.casefold() for word in words)
    )


def _row(card: ReportCard, rank: int) -> Row:
    return Row(summary=card.summary(), rank=rank, method=card.method)
