"""A published index over HTTP (specification 4), kept and asked about again, shown from its last copy when offline."""

from __future__ import annotations

import asyncio
import re
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import quote, urlencode, urljoin, urlsplit

import msgspec

from aui_tui.errors import BadValue, ConfigError, RateLimited, RecordError, Unavailable
from aui_tui.index.cache import CacheFile
from aui_tui.model.card import ReportCard, age
from aui_tui.model.labels import dated
from aui_tui.model.observations import Progress, no_progress
from aui_tui.model.options import ORDINARY, ScanOptions
from aui_tui.model.tasks import TaskProgress, TaskReport, decode_report
from aui_tui.model.view import HistoryPoint, HostReport, Quota
from aui_tui.model.visits import Visits, decode_visits
from aui_tui.service.importer import MAX_DOCUMENT, ImportedRecord, index_rows, page_of, read_card, time_of_index
from aui_tui.service.remote.imported import Imported, ImportedService, temporary_folder
from aui_tui.service.remote.transport import INDEX, SCAN, SITE, HttpReply, Transport, complaint, quota_of, source_of
from aui_tui.text import clean, web_address

KEPT: Final = 365 * 86_400.0
"""Seconds for which a copy is kept."""


class Copy(msgspec.Struct, frozen=True, kw_only=True):
    """An answer that was sent ``at`` (epoch seconds): its body, its entity tag, the page after it."""

    at: float
    body: bytes
    etag: str = ""
    next: str = ""


class Copies:
    """Copies by address in ``folder``. One that cannot be read or written is simply absent. Not for an event loop."""

    def __init__(self, folder: Path) -> None:
        self._file = CacheFile(folder)

    def get(self, url: str) -> Copy | None:
        """Return the copy of ``url``; None when there is none."""
        with suppress(Unavailable, msgspec.ValidationError, zlib.error), self._file.reading() as entries:
            copy = msgspec.convert(entries.get(url), Copy)
            return msgspec.structs.replace(copy, body=zlib.decompress(copy.body))
        return None

    def put(self, url: str, copy: Copy) -> None:
        """Keep ``copy``."""
        with suppress(Unavailable), self._file.writing() as entries:
            entries.set(url, msgspec.structs.replace(copy, body=zlib.compress(copy.body, 1)), KEPT)


T = TypeVar("T")
FRESH: Final = 20.0
"""Seconds for which the list in memory is used without asking again."""
SCAN_SECONDS: Final = 90.0
READ_SECONDS: Final = 60.0
PAGE: Final = 10_000
"""Rows of the list that are asked for at a time; a service that knows no pages sends it whole."""
MOST_PAGES: Final = 1_000
LARGEST_INDEX: Final = MAX_DOCUMENT
"""Bytes of one page, or of a list sent whole."""
_NEXT: Final = re.compile(r'<([^<>\s"]*)>\s*;[^<>,]*\brel="?next\b')
LARGEST_CARD: Final = 4 * 1024 * 1024


class RemoteService(ImportedService):
    """The index published at ``source``, an http or https address.

    ``folder``: where answers are kept between runs, None for a temporary one. Raises ConfigError for a malformed
    address.
    """

    def __init__(
        self,
        source: str,
        *,
        folder: Path | None = None,
    ) -> None:
        self._base = base_of(source)
        self.label = urlsplit(self._base).netloc
        self._temporary = None if folder else temporary_folder()
        self._copies = Copies(folder or Path(self._temporary.name if self._temporary else ""))
        self._transport = Transport(self._base, self.label)
        self._quota: Quota | None = None
        self._refreshing = asyncio.Lock()
        self._imported: Imported | None = None
        self._versions: list[tuple[str, float]] = []
        self._asked = float("-inf")

    async def imported(self) -> Imported:
        """Return the whole list, asked about again when it is older than FRESH. Raises Unavailable, RecordError."""
        async with self._refreshing:
            if self._imported is None or time.time() - self._asked > FRESH:
                await self._refresh()
                self._asked = time.time()
            assert self._imported is not None
            return self._imported

    async def site(self, host: str, *, method: str = "", at: str = "") -> HostReport:
        """Return the latest card of ``host``, the only one that is published. Raises NeverScanned."""
        url = f"{self._base}/api/site/{quote(host.strip(), safe='.:-')}.json"
        copy, notice = await self._current(url, SITE, host.strip(), LARGEST_CARD, lambda body: self._carded(body, host))
        card = self._carded(copy.body, host)
        if method and method != card.method:
            raise BadValue(f"{self.label} publishes {card.host} under {card.method} alone.", allowed=(card.method,))
        if at and at != card.scanned_at:
            raise BadValue(f"{self.label} publishes the latest card alone.", allowed=(card.scanned_at,))
        point = HistoryPoint(
            scanned_at=card.scanned_at,
            score=card.score,
            grade=card.grade,
            stance=card.stance,
            unreachable=card.unreachable,
        )
        return HostReport(card=card, history=(point,), notice=notice)

    async def visits(self, host: str) -> Visits | None:
        """Return the published visits of ``host``; None when there are none, or the service publishes no visits."""
        return await self._beside_the_card("visits", host, decode_visits)

    async def transcript(self, host: str) -> TaskReport | None:
        """Return the published transcript of the tasks on ``host``; None when there is none."""
        return await self._beside_the_card("tasks", host, decode_report)

    async def _beside_the_card(self, kind: str, host: str, decode: Callable[[bytes], T]) -> T | None:
        """Return a record that the service may publish of ``host``; None when it has none, or publishes none."""
        url = f"{self._base}/api/{kind}/{quote(host.strip(), safe='.:-')}.json"
        reply = await self._get(url, None, LARGEST_CARD)
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
        reply = await self._transport.get(
            f"{self._base}/api/scan?{urlencode(fields)}",
            fields={},
            seconds=SCAN_SECONDS,
            largest=LARGEST_CARD,
        )
        self._quota = quota_of(reply) or self._quota
        self._check(reply, SCAN, url)
        card = await self._read(lambda: self._carded(reply.body, url))
        self.refresh()
        seconds = age(card.scanned_at, time.time())
        other = options.method not in ("", card.method)
        return HostReport(
            card=card,
            source=source_of(reply, seconds),
            age=seconds,
            warnings=(f"{self.label} grades under {card.method} alone.",) if other else (),
        )

    async def quota(self, client: str = "") -> Quota | None:
        """Return the scans left this hour as the last scan's answer gave them, None before."""
        return self._quota

    def refresh(self) -> None:
        self._asked = float("-inf")

    async def aclose(self) -> None:
        """Close the connections."""
        await self._transport.aclose()

    async def _refresh(self) -> None:
        """Read the list again where it has changed, page by page; what was read of one that breaks off is kept.

        Once a page cannot be had now, the last copies of it and of those after it stand for the list.
        """
        pages: dict[str, Copy] = {}
        notice = ""
        following = f"{self._base}/api/index.json?{urlencode({'limit': PAGE})}"
        while following and following not in pages and len(pages) < MOST_PAGES:
            page, notice = await self._current(following, INDEX, "", LARGEST_INDEX, time_of_index, notice)
            pages[following] = page
            following = page.next
        versions = [(url, page.at) for url, page in pages.items()]
        if versions != self._versions:
            self._imported = await asyncio.to_thread(self._import, [page.body for page in pages.values()])
            self._versions = versions
        self.notice = notice

    async def _current(
        self, url: str, operation: str, asked: str, largest: int, read: Callable[[bytes], object], notice: str = ""
    ) -> tuple[Copy, str]:
        """Return the answer of ``url`` as it is now, sound to ``read``; else its last copy and a sentence on that.

        The service is asked about the copy by its tag, and not at all where there is a ``notice`` already. Raises what
        an answer means that no copy can stand for.
        """
        copy = await asyncio.to_thread(self._copies.get, url)
        if notice and copy is not None:
            return copy, notice
        try:
            reply = await self._get(url, copy, largest)
            if reply.status == 304 and copy is not None:
                return copy, ""
            self._check(reply, operation, asked)
            await self._read(lambda: read(reply.body))
        except (Unavailable, RecordError, RateLimited) as error:
            if copy is None:
                raise
            return copy, f"{error} This is the copy {dated(max(time.time() - copy.at, 0))}."
        fields = reply.fields
        copy = Copy(
            at=time.time(),
            body=reply.body,
            etag=fields.get("etag", "")[:500],
            next=self._next(url, fields.get("link", "")),
        )
        await asyncio.to_thread(self._copies.put, url, copy)
        return copy, ""

    async def _get(self, url: str, known: Copy | None, largest: int) -> HttpReply:
        fields = {"If-None-Match": known.etag} if known is not None and known.etag else {}
        return await self._transport.get(url, fields=fields, seconds=READ_SECONDS, largest=largest)

    def _check(self, reply: HttpReply, operation: str, asked: str) -> None:
        """Raise what ``reply`` means when it brings no record."""
        if reply.status != 200:
            raise complaint(reply, operation, self.label, asked)
        if reply.is_page:
            raise RecordError(f"{self.label} sends a web page instead of a record; it may not be a published index.")

    async def _read(self, read: Callable[[], T]) -> T:
        try:
            return await asyncio.to_thread(read)
        except RecordError as error:
            raise RecordError(f"{self.label}: {error}") from None

    def _next(self, url: str, link: str) -> str:
        """Return the address of the next page (RFC 8288), empty without one of this index."""
        found = _NEXT.search(link[:4000])
        target = urljoin(url, found[1]) if found else ""
        return target if target.startswith(f"{self._base}/api/index.json?") and len(target) < 500 else ""

    def _import(self, bodies: list[bytes]) -> Imported:
        """Return the list in the pages ``bodies``. Raises RecordError."""
        rows = (self._row(record) for body in bodies for record in index_rows(body))
        try:
            return Imported(rows, scanned_at=time_of_index(bodies[0]))
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


def base_of(source: str) -> str:
    """Return the base address of ``source``, without a trailing slash or the path of an endpoint.

    Raises ConfigError.
    """
    found = web_address(source)
    if found is None:
        raise ConfigError(f"A source must be an address such as https://index.example, not {clean(source, 80)!r}.")
    return found.removesuffix("/api/index.json")
