"""A service over a list of cards in memory: the whole protocol, no network and no disk."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from aui_tui.errors import AuiError, NeverScanned
from aui_tui.index.reports import Reports
from aui_tui.model.agents import contradictions
from aui_tui.model.card import ReportCard, epoch_ms
from aui_tui.model.methods import grade_of
from aui_tui.model.observations import BROWSER, FILE_PROBES, ProbeEvent, Progress
from aui_tui.model.options import ORDINARY, ScanOptions
from aui_tui.model.points import Standing, by_harm
from aui_tui.model.query import Query
from aui_tui.model.registry import registry
from aui_tui.model.tasks import TaskProgress
from aui_tui.model.view import Facets, HistoryPoint, HostReport, IndexView, Overview, Quota, Row
from aui_tui.model.visits import Visits
from aui_tui.model.vocabulary import CATEGORIES, GRADES, STANCES
from aui_tui.service.protocol import Service
from tests.cards import estimate
from tests.matching import counted, ordered

from .cards import NOW, make_card


class MemoryService(Service):
    """``histories`` maps a host to its cards, oldest first."""

    label = "local engine"

    def __init__(
        self, cards: Sequence[ReportCard] = (), *, histories: dict[str, list[ReportCard]] | None = None
    ) -> None:
        self.histories = histories if histories is not None else {card.host: [card] for card in cards}
        self.left = 7
        self.gate: asyncio.Event | None = None
        self.failure: BaseException | None = None
        self.notice = ""
        self.scanned: list[tuple[str, bool]] = []
        self.visits_kept: dict[str, Visits] = {}
        self._indexed: tuple[tuple[tuple[str, int], ...], Reports, TemporaryDirectory[str]] | None = None

    @classmethod
    def of(cls, count: int) -> Self:
        """Return a service over ``count`` made-up hosts with two scans each."""
        made = [[make_card(n, back=1), make_card(n)] for n in range(count)]
        return cls(histories={cards[-1].host: cards for cards in made})

    def rows(self) -> list[Row]:
        """Return every row, ranked ones with their competition rank."""
        newest = {host: cards[-1] for host, cards in self.histories.items()}
        scores = sorted((c.score for c in newest.values() if not c.unreachable), reverse=True)
        out = []
        for host, card in newest.items():
            cards = self.histories[host]
            fix = next(iter(by_harm(card)), None)
            out.append(
                Row(
                    summary=card.summary(),
                    rank=0 if card.unreachable else scores.index(card.score) + 1,
                    change=card.score - cards[-2].score if len(cards) > 1 else None,
                    scans=len(cards),
                    method=card.method,
                    edge=card.edge,
                    best_fix=fix.title if fix else "",
                    best_points=fix.pts if fix else 0,
                    live=tuple(a.status for a in card.agent_access.values()),
                    disagree=bool(contradictions(card)),
                )
            )
        return out

    def _check(self) -> None:
        if self.failure is not None:
            raise self.failure

    async def index(self, query: Query) -> IndexView:
        self._check()
        rows = self._chosen(query) if query.terms else self.rows()
        chosen = [
            r for r in rows if query.stance in ("", r.summary.stance) and query.category in ("", r.summary.category)
        ]
        ranked = ordered((row for row in chosen if row.rank), query)
        unreachable = ordered((row for row in chosen if not row.rank), query)
        by_stance = Counter(r.summary.stance for r in rows if query.category in ("", r.summary.category))
        by_category = Counter(r.summary.category for r in rows if query.stance in ("", r.summary.stance))
        return IndexView(
            query=query,
            scanned_at=max((r.summary.scanned_at for r in chosen), default="2026-11-20T10:00:00.000Z"),
            ranked=ranked,
            unreachable=unreachable,
            facets=Facets(stance={s: by_stance[s] for s in STANCES}, category={c: by_category[c] for c in CATEGORIES}),
        )

    def _chosen(self, query: Query) -> list[Row]:
        """Return the rows that satisfy the query line, as an index says."""
        scans = tuple((host, len(cards)) for host, cards in self.histories.items())
        if self._indexed is None or self._indexed[0] != scans:
            folder = TemporaryDirectory()
            index = Reports(Path(folder.name) / "index.db", clock=NOW.timestamp)
            index.put_many((card, None) for cards in self.histories.values() for card in cards)
            self._indexed = (scans, index, folder)
        view = self._indexed[1].index(Query(terms=query.terms))
        hosts = {row.summary.host for window in (view.ranked, view.unreachable) for row in window[0 : len(window)]}
        return [row for row in self.rows() if row.summary.host in hosts]

    async def overview(self, query: Query) -> Overview:
        view = await self.index(query)
        rows = list(view.ranked[:])
        failing = Counter(fix.k for row in rows for fix in self.histories[row.summary.host][-1].recommendations)
        return Overview(
            grades={g: sum(r.summary.grade == g for r in rows) for g in GRADES},
            stances={
                c: {s: sum(r.summary.category == c and r.summary.stance == s for r in rows) for s in STANCES}
                for c in CATEGORIES
            },
            failing=dict(failing.most_common()),
            hosts=len(rows),
            unreachable=len(view.unreachable),
            **counted(rows),
        )

    async def site(self, host: str, *, method: str = "", at: str = "") -> HostReport:
        self._check()
        cards = self.histories.get(host)
        if not cards:
            raise NeverScanned(host)
        if at:
            cards = [card for card in cards if card.scanned_at <= at]
        return HostReport(
            card=cards[-1],
            previous=cards[-2] if len(cards) > 1 else None,
            history=tuple(
                HistoryPoint(
                    scanned_at=c.scanned_at, score=c.score, grade=c.grade, stance=c.stance, unreachable=c.unreachable
                )
                for c in cards
            ),
            notice=self.notice,
        )

    async def visits(self, host: str) -> Visits | None:
        self._check()
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
        self._check()
        self.scanned.append((url, options.force))
        tell = progress or (lambda _event: None)
        tell(ProbeEvent(name="cache", state="done", outcome="miss"))
        names = (BROWSER, *(agent.key for agent in registry().live), *FILE_PROBES)
        for name in names:
            tell(ProbeEvent(name=name, state="started"))
        tell(ProbeEvent(name=BROWSER, state="done", status=200, elapsed_ms=800, outcome="served"))
        if self.gate is not None:
            await self.gate.wait()
        for name in names[1:]:
            outcome = "absent" if name in FILE_PROBES else "served"
            status = 404 if name in FILE_PROBES else 200
            tell(ProbeEvent(name=name, state="done", status=status, elapsed_ms=120, outcome=outcome))
        self.left -= 1
        old = self.histories.get(url, [])
        card = self._scanned(url, old)
        self.histories[url] = [*old, card]
        return HostReport(card=card, source="scan")

    def _scanned(self, url: str, old: list[ReportCard]) -> ReportCard:
        import msgspec

        base = old[-1] if old else make_card(1)
        score = min(base.score + 5, 100)
        when = NOW.strftime("%Y-%m-%dT%H:%M:%S.000Z")
        return msgspec.structs.replace(base, host=url, name=url, score=score, grade=grade_of(score), scanned_at=when)

    async def quota(self, client: str = "") -> Quota | None:
        return Quota(
            left=self.left, limit=10, next_slot=epoch_ms("2026-11-20T10:42:00.000Z") / 1000 if self.left < 10 else 0.0
        )

    async def position(self, host: str, query: Query) -> int:
        view = await self.index(query)
        for rows in (view.ranked, view.unreachable):
            for place, row in enumerate(rows[:]):
                if row.summary.host == host:
                    return place
        return -1

    async def aclose(self) -> None:
        return None


def refuse(error: AuiError) -> MemoryService:
    """Return a service that answers everything with ``error``."""
    service = MemoryService.of(3)
    service.failure = error
    return service
