"""The index of this machine: the engine scans, the store keeps."""

from __future__ import annotations

import asyncio
import hashlib
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import msgspec

from aui_tui.engine.access import PUBLIC, Access
from aui_tui.engine.target import Target, parse
from aui_tui.errors import AuiError, BadValue, InvalidHost, Unavailable
from aui_tui.records.card import ReportCard
from aui_tui.records.methods import DEFAULT_METHOD
from aui_tui.records.methods import method as method_called
from aui_tui.records.observations import Observations
from aui_tui.records.progress import ProbeEvent, Progress
from aui_tui.records.query import Query
from aui_tui.records.starter import Known
from aui_tui.records.times import age
from aui_tui.records.view import Dossier, IndexView, Overview, Quota, ScanAnswer
from aui_tui.records.vocabulary import CATEGORIES, choose
from aui_tui.service.engine import Observer, Scanner
from aui_tui.service.flight import Flights
from aui_tui.store.cache import Cached, ScanCache
from aui_tui.store.folder import prepare
from aui_tui.store.jar import FAULTS, Jar
from aui_tui.store.lease import Lease, Leases
from aui_tui.store.places import places
from aui_tui.store.quota import QuotaStore
from aui_tui.store.reports import Reports
from aui_tui.text import clean

T = TypeVar("T")
THREADS: Final = 4
"""Threads that read and write files."""
POLL: Final = 0.2
"""Seconds between looks at a lease that another process holds."""
PATIENCE: Final = 60.0
"""Longest wait in seconds for another process's scan of the same host."""


class _Outcome(NamedTuple):
    card: ReportCard
    observations: Observations
    shared: bool
    age: float
    warnings: tuple[str, ...]


class LocalService:
    """Service over the data folder ``folder`` and the packaged engine.

    ``base_url`` begins the ``url`` of cards; ``method`` grades what is stored and asked for without a method;
    ``access`` is what the local user allows; ``known`` looks a host up in the starter list; ``client`` pays for scans;
    ``observer`` scans (the packaged engine). Files are read and written on threads. Raises ConfigError when the folder
    cannot be used, Unavailable when the index is locked.
    """

    def __init__(
        self,
        folder: Path,
        *,
        base_url: str = "http://127.0.0.1",
        method: str = DEFAULT_METHOD,
        access: Access = PUBLIC,
        client: str = "local",
        known: Mapping[str, Known] | None = None,
        clock: Callable[[], float] = time.time,
        observer: Observer | None = None,
    ) -> None:
        self._method = method_called(method).name
        self._base_url = base_url.rstrip("/")
        self._access = access
        self._client = client
        self._known = known or {}
        self._clock = clock
        self._observer = observer or Scanner(clock=clock)
        self.places = places(prepare(folder))
        self.reports = Reports(self.places.index, clock=clock)
        self._scans = Jar(self.places.scans, evict=True, clock=clock)
        self._limits = Jar(self.places.limits, evict=False, clock=clock)
        self.cache = ScanCache(self._scans, clock=clock)
        self._quota = QuotaStore(self._limits, clock=clock)
        self.leases = Leases(self._limits, clock=clock)
        self._flights: Flights[_Outcome] = Flights()
        self._threads = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="aui-store")

    @property
    def access(self) -> Access:
        """What its scans may do."""
        return self._access

    @property
    def known(self) -> Mapping[str, Known]:
        """The starter list."""
        return self._known

    @property
    def label(self) -> str:
        """``local engine``."""
        return "local engine"

    @property
    def can_scan(self) -> bool:
        """True."""
        return True

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about the files, such as that a damaged one was set aside."""
        return (*self.reports.warnings, *self._scans.warnings, *self._limits.warnings)

    async def index(self, query: Query) -> IndexView:
        """Return the lists of ``query``; their slices may be read on the event loop."""
        return await self._call(lambda: self.reports.index(query))

    async def overview(self, query: Query) -> Overview:
        """Return figures over the ranked rows of ``query``."""
        return await self._call(lambda: self.reports.overview(query))

    async def position(self, host: str, query: Query) -> int:
        """Return the index of ``host`` in its list of ``query``, -1 when absent."""
        return await self._call(lambda: self.reports.position(self._key(host), query))

    async def quota(self) -> Quota:
        """Return the scans left this hour."""
        return await self.quota_of(self._client)

    async def quota_of(self, client: str) -> Quota:
        """Return the scans that ``client`` has left this hour."""
        return await self._call(lambda: self._quota.left(client))

    async def site(self, host: str, *, method: str = "", at: str = "") -> Dossier:
        """Return what is stored of ``host``. Raises NeverScanned, or BadValue for a method it was not kept for."""
        wanted = method_called(method).name if method else ""
        return await self._call(lambda: self._dossier(self._key(host), wanted or self._method, bool(method), at))

    async def forget(self, host: str) -> int:
        """Remove ``host`` with its history and cached scans; return the scans removed. Raises NeverScanned."""
        key = self._key(host)

        def remove() -> int:
            removed = self.reports.forget(key)
            self.uncache([key])
            return removed

        return await self._call(remove)

    def uncache(self, sites: Iterable[str]) -> None:
        """Drop the cached answers of ``sites``, as cards are kept; blocks for a moment."""
        marks = dict.fromkeys(("", self._detour_mark()))
        schemes = ("", "https://", "http://")
        self.cache.drop_many([scheme + site + mark for site in sites for scheme in schemes for mark in marks])

    async def scan(
        self,
        url: str,
        *,
        force: bool = False,
        method: str = "",
        category: str = "",
        progress: Progress | None = None,
        client: str = "",
        name: str = "",
        free: bool = False,
    ) -> ScanAnswer:
        """Scan ``url`` or answer from the cache (see ``Service.scan``).

        ``client`` pays instead of the service's own; ``free`` scans are the operator's and cost nothing; ``name`` is
        the display name to keep.
        """
        wanted = method_called(method).name if method else self._method
        category = choose("category", category, CATEGORIES) if category else ""
        target = self._access.target(url)
        key = self._cache_key(target)
        since = self._clock() if force else 0.0
        if not force and key:
            hit = await self._call(lambda: self.cache.get(key, target.site))
            if progress is not None:
                progress(ProbeEvent(name="cache", state="done", outcome="hit" if hit else "miss"))
            if hit is not None:
                return await self._from_cache(key, hit, wanted, name, category)
        payer = None if free else client or self._client
        outcome, joined = await self._flights.run(
            target.key, lambda tell: self._fly(target, payer, name, category, since, tell), progress
        )
        card = self._graded(outcome.card, outcome.observations, wanted)
        shared = joined or outcome.shared
        return ScanAnswer(
            card=card,
            source="shared" if shared else "scan",
            age=outcome.age,
            warnings=outcome.warnings,
            observations=outcome.observations,
        )

    async def aclose(self) -> None:
        """Cancel running scans and close the files."""
        await self._flights.aclose()
        await self._observer.aclose()
        together = threading.Barrier(THREADS)
        await asyncio.gather(*(self._call(partial(self._leave, together)) for _ in range(THREADS)))
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._scans.close()
        self._limits.close()
        self.reports.close()

    def _leave(self, together: threading.Barrier) -> None:
        """Close what the calling thread has open, once every thread is here to do the same."""
        with suppress(threading.BrokenBarrierError):
            together.wait(PATIENCE)
        self._scans.leave()
        self._limits.leave()

    async def _call(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def _key(self, host: str) -> str:
        try:
            return parse(host, allow_private=True).site
        except InvalidHost:
            return clean(host.strip().lower(), 300)

    def _cache_key(self, target: Target) -> str:
        """Return the key of ``target`` in the cache, empty when its answer belongs to the user alone.

        What was relaxed is part of the key: an answer had by a detour is not the site's.
        """
        access = self._access
        if access.headers or access.basic_auth is not None:
            return ""
        return target.key + self._detour_mark()

    def _detour_mark(self) -> str:
        """Return what follows the key of an answer had with something relaxed, empty when nothing is."""
        access = self._access
        relaxed = (access.connect_to, access.insecure, access.cafile)
        if relaxed == ((), False, ""):
            return ""
        return f"#{hashlib.sha256(repr(relaxed).encode()).hexdigest()[:16]}"

    async def _fly(
        self, target: Target, payer: str | None, name: str, category: str, since: float, tell: Progress
    ) -> _Outcome:
        lease, hit = await self._lease(target, since)
        try:
            if hit is not None:
                return _Outcome(hit.card, hit.observations, True, hit.age, ())
            return await self._scan(target, payer, name, category, tell)
        finally:
            await asyncio.shield(self._call(lambda: self.leases.release(lease)))

    async def _lease(self, target: Target, since: float) -> tuple[Lease, Cached | None]:
        """Return the lease of the host, and a scan begun after ``since`` that another caller has ended meanwhile.

        A scan that had to be waited for counts whenever it began.
        """
        key = self._cache_key(target)
        end = time.monotonic() + PATIENCE
        while True:
            lease = await self._call(lambda: self.leases.take(target.site))
            if lease is not None:
                hit = await self._call(lambda: self.cache.get(key, target.site)) if key else None
                return lease, hit if hit is not None and self._clock() - hit.age >= since else None
            if time.monotonic() > end:
                raise Unavailable(f"Another process has been scanning {target.site} for {PATIENCE:.0f} s.")
            since = min(since, self._clock() - PATIENCE)
            await asyncio.sleep(POLL)

    async def _scan(self, target: Target, payer: str | None, name: str, category: str, tell: Progress) -> _Outcome:
        warnings: list[str] = []
        if payer is not None and not await self._call(lambda: self._quota.spend(payer)):
            warnings.append("The count of scans could not be saved; this process counts alone.")
        try:
            observations = await self._observer.observe(target, access=self._access, progress=tell)
        except (InvalidHost, Unavailable):
            if payer is not None:
                await self._call(lambda: self._quota.refund(payer))
            raise
        card = await self._call(lambda: self._grade(observations, name, category))
        saving = self._call(lambda: self._save(self._cache_key(target), card, observations))
        warnings += await asyncio.shield(saving)
        return _Outcome(card, observations, False, age(card.scanned_at, self._clock()), tuple(warnings))

    def _grade(self, observations: Observations, name: str = "", category: str = "") -> ReportCard:
        from aui_tui.engine.scoring import Labels, grade_card

        known = self._known.get(observations.host, Known())
        labels = Labels(
            name=name or known.name,
            category=category or known.category or self._kept_category(observations.host) or "Uncategorized",
            seed=known.seed,
            base_url=self._base_url,
        )
        return grade_card(observations, self._method, labels=labels)

    def _kept_category(self, host: str) -> str:
        """Return the category of the stored card: the user's word outlives a scan without one."""
        try:
            return self.reports.row(host).summary.category
        except AuiError:
            return ""

    def _save(self, key: str, card: ReportCard, observations: Observations) -> list[str]:
        """Keep a scan in index and cache; return sentences about what could not be kept."""
        warnings = []
        try:
            latest = self.reports.put(card, observations)
            if not latest and card.probe_dead:
                warnings.append(
                    "No probe got any answer; the earlier card stays in the index until this has gone on for a day."
                )
        except Unavailable as error:
            warnings.append(f"This scan is not saved. {error}")
        if not key:
            return warnings
        try:
            self.cache.put(key, card, observations)
        except Unavailable as error:
            warnings.append(f"This scan is not cached. {error}")
        except FAULTS as error:
            reason = clean(str(error), 120) or "the file is locked"
            warnings.append(f"This scan is not cached: {reason}.")
        return warnings

    async def _from_cache(self, key: str, hit: Cached, wanted: str, name: str, category: str) -> ScanAnswer:
        card = hit.card
        warnings: tuple[str, ...] = ()
        if (category and category != card.category) or (name and name != card.name):
            card = msgspec.structs.replace(card, category=category or card.category, name=name or card.name)
            saved = card
            warnings = tuple(await self._call(lambda: self._save(key, saved, hit.observations)))
        return ScanAnswer(
            card=self._graded(card, hit.observations, wanted),
            source="cache",
            age=hit.age,
            warnings=warnings,
            observations=hit.observations,
        )

    def _graded(self, card: ReportCard, observations: Observations | None, method: str) -> ReportCard:
        """Return ``card`` under ``method``. Raises BadValue when it was kept without observations for another."""
        if card.method == method:
            return card
        if observations is None:
            raise BadValue(
                f"The card of {card.host} is kept without what was seen, so it exists under {card.method} alone.",
                allowed=(card.method,),
            )
        from aui_tui.engine.scoring import Labels, grade_card

        labels = Labels(name=card.name, category=card.category, seed=card.seed, base_url=self._base_url)
        return grade_card(observations, method, labels=labels)

    def _dossier(self, key: str, method: str, explicit: bool, at: str) -> Dossier:
        scan = self.reports.get(key, at)
        if scan.observations is None and not explicit:
            method = scan.card.method
        card = self._graded(scan.card, scan.observations, method)
        before = self.reports.previous(key, card.scanned_at)
        previous = None
        if before is not None:
            comparable = before.observations is not None or before.card.method == method
            previous = self._graded(before.card, before.observations, method) if comparable else before.card
        book = None
        if scan.observations is not None:
            from aui_tui.engine.scoring import ledger

            book = ledger(scan.observations, method_called(method))
        history = tuple(point for point in self.reports.history(key) if point.scanned_at <= card.scanned_at)
        return Dossier(card=card, observations=scan.observations, ledger=book, previous=previous, history=history)
