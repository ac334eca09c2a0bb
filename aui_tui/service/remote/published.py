"""A published index over HTTP: its list is imported once, and its cards when they are asked for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from aui_tui.errors import BadValue, ConfigError, NeverScanned, RecordError
from aui_tui.model.card import ReportCard
from aui_tui.model.options import ORDINARY, ScanOptions
from aui_tui.model.progress import Progress, no_progress
from aui_tui.model.quota import Quota
from aui_tui.model.report import HostReport
from aui_tui.model.tasks import TaskProgress, TaskReport, decode_report
from aui_tui.model.times import age
from aui_tui.model.visits import Visits, decode_visits
from aui_tui.service.importer import ImportedRecord, index_rows, page_of, read_card, take_records, time_of_index
from aui_tui.service.remote.imported import ImportedService, TemporaryIndex
from aui_tui.service.remote.transport import INDEX, SCAN, SITE, HttpReply, Transport, complaint, quota_of, source_of
from aui_tui.text import clean, web_address

T = TypeVar("T")
SCAN_SECONDS: Final = 90.0
READ_SECONDS: Final = 60.0
LARGEST_INDEX: Final = 64 * 1024 * 1024
"""Bytes of the longest list: some 120,000 rows."""
LARGEST_CARD: Final = 4 * 1024 * 1024


class PublishedIndex(ImportedService):
    """The index published at ``source``, an http or https address. Raises ConfigError for a malformed one."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self._base = base_of(source)
        self.label = urlsplit(self._base).netloc
        self._transport = Transport(self._base, self.label)
        self._quota: Quota | None = None

    async def read_list(self, index: TemporaryIndex) -> None:
        """Import the list as it is now. Raises Unavailable, RecordError."""
        reply = await self._get(f"{self._base}/api/index.json", LARGEST_INDEX)
        self._check(reply, INDEX, "")
        rows = map(self._row, index_rows(reply.body))
        await self._read(lambda: index.take(rows, scanned_at=time_of_index(reply.body)))

    async def site(self, host: str, *, method: str = "", at: str = "") -> HostReport:
        """Return the latest card of ``host``, asked for when it is not known here. Raises NeverScanned."""
        index = await self.temporary(listed=False)
        with suppress(NeverScanned):
            return await index.local.site(host, method=method, at=at)
        reply = await self._get(self._address("site", host), LARGEST_CARD)
        self._check(reply, SITE, host.strip())
        card = await self._read(lambda: self._carded(reply.body, host.strip()))
        await self._take(index, card)
        if at and at != card.scanned_at:
            raise BadValue(f"{self.label} publishes the latest card alone.", allowed=(card.scanned_at,))
        return await index.local.site(card.host, method=method)

    async def visits(self, host: str) -> Visits | None:
        """Return the published visits of ``host``; None when there are none, or the service publishes no visits."""
        return await self._beside_the_card("visits", host, decode_visits)

    async def transcript(self, host: str) -> TaskReport | None:
        """Return the published transcript of the tasks on ``host``; None when there is none."""
        return await self._beside_the_card("tasks", host, decode_report)

    async def _beside_the_card(self, kind: str, host: str, decode: Callable[[bytes], T]) -> T | None:
        """Return a record that the service may publish of ``host``; None when it has none, or publishes none."""
        reply = await self._get(self._address(kind, host), LARGEST_CARD)
        if reply.status in (404, 405, 501):
            return None
        self._check(reply, SITE, host)
        return await self._read(lambda: decode(reply.body))

    async def scan(
        self,
        url: str,
        options: ScanOptions = ORDINARY,
        *,
        progress: Progress = no_progress,
        live: TaskProgress | None = None,
    ) -> HostReport:
        """Have the service scan ``url``; its probes are not reported one by one.

        Raises InvalidHost, RateLimited, Unavailable. It is asked once: a scan costs.
        """
        if options.category:
            raise BadValue(f"{self.label} sets the categories of its hosts itself.")
        if options.tasks:
            raise ConfigError("--tasks cannot be used with --source; leave out --source to scan from this machine.")
        fields = {"url": url, **({"force": "true"} if options.force else {})}
        address = f"{self._base}/api/scan?{urlencode(fields)}"
        reply = await self._transport.get(address, seconds=SCAN_SECONDS, largest=LARGEST_CARD)
        self._quota = quota_of(reply) or self._quota
        self._check(reply, SCAN, url)
        card = await self._read(lambda: self._carded(reply.body, url))
        await self._take(await self.temporary(listed=False), card)
        seconds = age(card.scanned_at, time.time())
        another_method = options.method not in ("", card.method)
        return HostReport(
            card=card,
            source=source_of(reply, seconds),
            age=seconds,
            warnings=(f"{self.label} grades under {card.method} alone.",) if another_method else (),
        )

    async def quota(self, client: str = "") -> Quota | None:
        """Return the scans left this hour as the last scan's answer gave them, None before."""
        return self._quota

    def refresh(self) -> None:
        """Read the list and the cards again when they are next asked for."""
        self._index = None

    async def aclose(self) -> None:
        """Close the connections and the temporary index."""
        await self._transport.aclose()
        await super().aclose()

    def _address(self, kind: str, host: str) -> str:
        return f"{self._base}/api/{kind}/{quote(host.strip(), safe='.:-')}.json"

    async def _get(self, url: str, largest: int) -> HttpReply:
        return await self._transport.get(url, seconds=READ_SECONDS, largest=largest)

    def _check(self, reply: HttpReply, operation: str, requested: str) -> None:
        """Raise what ``reply`` means when it brings no record."""
        if reply.status != 200:
            raise complaint(reply, operation, self.label, requested)
        if reply.is_page:
            raise RecordError(f"{self.label} sends a web page instead of a record; it may not be a published index.")

    async def _read(self, read: Callable[[], T]) -> T:
        try:
            return await asyncio.to_thread(read)
        except RecordError as error:
            raise RecordError(f"{self.label}: {error}") from None

    def _row(self, record: ImportedRecord) -> ImportedRecord:
        row = record.summary
        if row is None:
            error = record.error or "A card stands where a row should."
            return ImportedRecord(place=record.place, error=error)
        row = msgspec.structs.replace(row, url=page_of(self._base, row.url, row.host))
        return msgspec.structs.replace(record, summary=row)

    def _carded(self, body: bytes, host: str) -> ReportCard:
        card = read_card(body, host)
        return msgspec.structs.replace(card, url=page_of(self._base, card.url, card.host))

    async def _take(self, index: TemporaryIndex, card: ReportCard) -> None:
        """Import a card."""
        done = await asyncio.to_thread(take_records, [ImportedRecord(place="the card", card=card)], index.local.store)
        for problem in done.problems:
            raise RecordError(f"{self.label}: {problem}")


def base_of(source: str) -> str:
    """Return the base address of ``source``, without a trailing slash or the path of an endpoint.

    Raises ConfigError.
    """
    address = web_address(source)
    if address is None:
        raise ConfigError(f"A source must be an address such as https://index.example, not {clean(source, 80)!r}.")
    return address.removesuffix("/api/index.json")
