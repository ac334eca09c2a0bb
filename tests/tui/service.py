"""The service of this machine over made-up cards in a temporary folder; what its scans bring is made up too."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Self, TypeVar

from msgspec.structs import replace

from aui_tui.errors import NeverScanned
from aui_tui.index.folder import places, prepare
from aui_tui.model.card import ReportCard
from aui_tui.model.listing import IndexView
from aui_tui.model.methods import grade_of
from aui_tui.model.observations import BROWSER, FILE_PROBES
from aui_tui.model.options import ORDINARY, ScanOptions
from aui_tui.model.overview import Moves
from aui_tui.model.progress import ProbeEvent, Progress, no_progress
from aui_tui.model.query import Query
from aui_tui.model.quota import Quota
from aui_tui.model.registry import registry
from aui_tui.model.report import HostReport
from aui_tui.model.tasks import TaskProgress
from aui_tui.model.times import epoch_ms
from aui_tui.service.local import LocalService

from .cards import NOW, make_card, make_scan

T = TypeVar("T")


class CardService(LocalService):
    """Keeps ``cards``, several of a host as its scans; ``index`` is a file of kept ones.

    ``failure`` is raised by whatever it is asked, ``gate`` holds its scans up, ``scanned`` has their addresses.
    """

    def __init__(self, cards: Iterable[ReportCard] = (), *, index: bytes = b"") -> None:
        self._temporary = TemporaryDirectory(ignore_cleanup_errors=True)
        folder = Path(self._temporary.name)
        if index:
            places(prepare(folder)).index.write_bytes(index)
        super().__init__(folder)
        self.store.regrade(lambda card, _seen: card, seconds=1)  # what is put from now on is up to date
        self.store.put_many((card, None) for card in cards)
        self.left = 7
        self.gate: asyncio.Event | None = None
        self.failure: BaseException | None = None
        self.scanned: list[tuple[str, bool]] = []

    @classmethod
    def of(cls, count: int) -> Self:
        """Return a service over ``count`` made-up hosts with two scans each."""
        return cls(index=_kept(count))

    async def _call(self, work: Callable[[], T], /) -> T:
        if self.failure is not None:
            raise self.failure
        return await super()._call(work)

    async def owns(self, url: str) -> bool:
        return False  # names under .example cannot be scanned

    async def scan(
        self,
        url: str,
        options: ScanOptions = ORDINARY,
        *,
        progress: Progress = no_progress,
        live: TaskProgress | None = None,
    ) -> HostReport:
        if self.failure is not None:
            raise self.failure
        self.scanned.append((url, options.force))
        progress(ProbeEvent(name="cache", state="done", outcome="miss"))
        names = (BROWSER, *(agent.key for agent in registry().live), *FILE_PROBES)
        for name in names:
            progress(ProbeEvent(name=name, state="started"))
        progress(ProbeEvent(name=BROWSER, state="done", status=200, elapsed_ms=800, outcome="served"))
        if self.gate is not None:
            await self.gate.wait()
        for name in names[1:]:
            outcome = "absent" if name in FILE_PROBES else "served"
            status = 404 if name in FILE_PROBES else 200
            progress(ProbeEvent(name=name, state="done", status=status, elapsed_ms=120, outcome=outcome))
        try:
            base = (await self.site(url)).card
        except NeverScanned:
            base = make_card(1)
        self.left -= 1
        score, at = min(base.score + 5, 100), NOW.strftime("%Y-%m-%dT%H:%M:%S.000Z")
        card = replace(base, host=url, name=url, score=score, grade=grade_of(score), scanned_at=at)
        await self._call(lambda: self.store.put(card))
        return HostReport(card=card, source="scan")

    async def quota(self, client: str = "") -> Quota:
        next_slot = epoch_ms("2026-11-20T10:42:00.000Z") / 1000 if self.left < 10 else 0.0
        return Quota(left=self.left, limit=10, next_slot=next_slot)

    async def aclose(self) -> None:
        await super().aclose()
        self._temporary.cleanup()


OLD_COPY: Final = "index.example cannot be reached. This is the copy of 3 h ago."


class PublishedService(CardService):
    """Has its cards from elsewhere, and the latest of each host alone."""

    is_local = False

    async def site(self, host: str, *, method: str = "", at: str = "") -> HostReport:
        report = await super().site(host, method=method, at=at)
        return replace(report, notice=OLD_COPY)

    async def first_page(self, query: Query) -> IndexView | None:
        view = await super().first_page(query)
        return replace(view, notice=OLD_COPY) if view is not None else None

    async def index(self, query: Query) -> IndexView:
        return replace(await super().index(query), notice=OLD_COPY)

    async def moves(self, query: Query, since: str, most: int) -> Moves | None:  # type: ignore[override]  # of no local one
        return None


@cache
def _kept(count: int) -> bytes:
    """Return the index of ``count`` made-up hosts with two scans each."""
    service = CardService()
    service.store.put_many(make_scan(number, back=back) for number in range(count) for back in (1, 0))
    service.store.close()
    return service.places.index.read_bytes()
