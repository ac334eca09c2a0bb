"""An index in a file, or on standard input: rows or whole cards, as this program exports them."""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, TypeVar

from aui_tui.errors import BadValue, ConfigError, NeverScanned, RecordError, Unavailable
from aui_tui.records.card import ReportCard
from aui_tui.records.observations import Progress
from aui_tui.records.points import Standing, estimate
from aui_tui.records.query import Query
from aui_tui.records.view import Dossier, HistoryPoint, IndexView, Overview, Quota, ScanAnswer
from aui_tui.records.visits import Visits
from aui_tui.service.remote.reading import (
    JsonText,
    NotAnIndex,
    card_of,
    left_out,
    parse,
    raw_values,
    read_index,
    repeated,
    row_of,
    row_with_page,
)
from aui_tui.store.blobs import pack_card, unpack_card
from aui_tui.store.lists import Listing
from aui_tui.text import clean

T = TypeVar("T")
STDIN: Final = "-"
LONGEST: Final = 16 * 1024 * 1024
"""Bytes of one record."""
HELD: Final = 4 * 1024 * 1024
"""Bytes of standard input that are held in memory; more lie in a file that nobody else sees."""
SECONDS: Final = 600.0
"""Longest time in which a file is read: it is the user's own."""
BOM: Final = b"\xef\xbb\xbf"


class Kept(NamedTuple):
    """A card of the file, packed."""

    scanned_at: str
    method: str
    packed: bytes


class Content(NamedTuple):
    """What a file holds: the list, the kept cards by host (oldest first), and a sentence about what was left out."""

    listing: Listing
    cards: dict[str, list[Kept]]
    problem: str = ""


class FileService:
    """The index in ``source``, a path or ``-`` for standard input; it is read once, at the first question."""

    can_scan = False

    def __init__(self, source: str) -> None:
        self._source = source
        self.label = "standard input" if source == STDIN else clean(Path(source).name, 60)
        self._content: Content | None = None
        self._reading = asyncio.Lock()

    async def index(self, query: Query) -> IndexView:
        """Return the lists of ``query``. Raises ConfigError or RecordError for what cannot be read."""
        content = await self._read()
        return await asyncio.to_thread(content.listing.view, query, now=time.time(), notice=content.problem)

    async def overview(self, query: Query) -> Overview:
        """Return figures over the ranked rows of ``query``."""
        listing = (await self._read()).listing
        return await asyncio.to_thread(listing.overview, query, now=time.time())

    async def position(self, host: str, query: Query) -> int:
        """Return the index of ``host`` in its list of ``query``, -1 when absent."""
        listing = (await self._read()).listing
        return await asyncio.to_thread(listing.position, host, query, now=time.time())

    async def site(self, host: str, *, method: str = "", at: str = "") -> Dossier:
        """Return the card of ``host``. Raises NeverScanned; Unavailable when the file lists the host without a card."""
        content = await self._read()
        wanted = host.strip().lower()
        kept = content.cards.get(wanted)
        if kept is None:
            if content.listing.position(wanted, Query(), now=time.time()) >= 0:
                raise Unavailable(f"{self.label} lists {clean(wanted, 100)} but holds no report cards.")
            raise NeverScanned(clean(wanted, 253))
        times = tuple(one.scanned_at for one in kept)
        if at and at not in times:
            raise BadValue(f"{self.label} holds no such scan of {wanted}.", allowed=times)
        place = times.index(at) if at else len(kept) - 1
        cards = [unpack_card(one.packed) for one in kept[: place + 1]]
        card = cards[place]
        if method and method != card.method:
            raise BadValue(f"{self.label} holds {wanted} under {card.method} alone.", allowed=(card.method,))
        return Dossier(card=card, previous=cards[place - 1] if place else None, history=tuple(map(_point, cards)))

    async def visits(self, host: str) -> Visits | None:
        """Return None: a file of results holds no visits."""
        return None

    async def what_if(self, host: str, fixes: frozenset[str], *, method: str = "", at: str = "") -> Standing:
        """Return where ``host`` would stand with ``fixes`` carried out, by the points of its card."""
        return estimate((await self.site(host, method=method, at=at)).card, fixes)

    async def scan(
        self,
        url: str,
        *,
        force: bool = False,
        method: str = "",
        category: str = "",
        progress: Progress | None = None,
    ) -> ScanAnswer:
        """Raise Unavailable: a file scans nothing."""
        raise Unavailable(f"{self.label} is a file of results; it cannot scan.")

    async def quota(self) -> Quota | None:
        """Return None."""
        return None

    async def aclose(self) -> None:
        """Do nothing."""

    async def _read(self) -> Content:
        async with self._reading:
            if self._content is None:
                self._content = await asyncio.to_thread(self._load)
            return self._content

    def _load(self) -> Content:
        try:
            if self._source == STDIN:
                with tempfile.SpooledTemporaryFile(max_size=HELD) as held:
                    shutil.copyfileobj(sys.stdin.buffer, held)
                    held.seek(0)
                    return content_of(held)
            with Path(self._source).open("rb") as file:
                return content_of(file)
        except OSError as error:
            raise ConfigError(f"Cannot read {clean(self._source, 200)}: {error.strerror or error}.") from None
        except RecordError as error:
            raise RecordError(f"{self.label}: {error}") from None


def content_of(file: IO[bytes]) -> Content:
    """Return what ``file`` holds: an Index, a card, an array of cards or rows, or one of them a line.

    It is read record by record. Raises RecordError.
    """
    start = len(BOM) if file.read(len(BOM)) == BOM else 0
    file.seek(start)
    first = JsonText(file, SECONDS).peek()
    if not first:
        raise RecordError("It is empty.")
    file.seek(start)
    if first == "[":
        return _content(_elements(file))
    with suppress(NotAnIndex):
        reading = read_index(file, seconds=SECONDS)
        return Content(reading.found, {}, reading.problem)
    file.seek(start)
    return _content(_documents(file))


def _elements(file: IO[bytes]) -> Iterator[Any]:
    for number, value in enumerate(chain.from_iterable(map(raw_values, JsonText(file, SECONDS).elements())), 1):
        yield _parsed(value, f"record {number}")


def _documents(file: IO[bytes]) -> Iterator[Any]:
    """Yield the one document in ``file``, which may take several lines, or the one in each line."""
    first = file.readline(LONGEST + 1)
    whole = _parsed(first, "line 1")
    if isinstance(whole, RecordError):
        second = file.readline(LONGEST + 1)
        if not first.lstrip().startswith(b"{") or isinstance(_parsed(second, "line 2"), RecordError):
            yield _parsed(first + second + file.read(LONGEST + 1), "file")
            return
        yield whole
        yield _parsed(second, "line 2")
    else:
        yield whole
    for number, line in enumerate(iter(lambda: file.readline(LONGEST + 1), b""), 2):
        if line.strip():
            yield _parsed(line, f"line {number}")


def _parsed(data: bytes, what: str) -> Any:
    """Return ``data`` as JSON, or the RecordError that says why it is not."""
    if len(data) > LONGEST:
        return RecordError(f"The {what} is longer than {LONGEST >> 20} MiB.")
    try:
        return parse(data, what)
    except RecordError as error:
        return error


def _content(items: Iterable[Any]) -> Content:
    broken: list[str] = []
    cards: dict[str, list[Kept]] = {}
    listing = Listing()
    rows = 0
    for item in items:
        if isinstance(item, RecordError):
            broken.append(str(item))
        elif isinstance(item, dict) and "recommendations" not in item and "ua_policy" not in item:
            row = _sound(item, row_of, broken)
            if row is not None:
                rows += 1
                listing.add(row_with_page(row, ""), ranked=item.get("list") != "unreachable")
        else:
            card = _sound(item, card_of, broken)
            if card is not None:
                cards.setdefault(card.host.lower(), []).append(Kept(card.scanned_at, card.method, pack_card(card)))
    if not cards and not rows:
        raise RecordError(broken[0] if broken else "It holds no records.")
    for kept in cards.values():
        kept.sort(key=lambda one: one.scanned_at)
    if cards:
        listing = Listing()
        for kept in cards.values():
            listing.add_card(unpack_card(kept[-1].packed))
    listing.finish()
    return Content(listing, cards, " ".join(filter(None, (left_out(broken, "record"), repeated(listing)))))


def _sound(item: Any, read: Callable[[Any], T], broken: list[str]) -> T | None:
    try:
        return read(item)
    except RecordError as error:
        broken.append(str(error))
        return None


def _point(card: ReportCard) -> HistoryPoint:
    return HistoryPoint(
        scanned_at=card.scanned_at,
        score=card.score,
        grade=card.grade,
        stance=card.stance,
        unreachable=card.unreachable,
    )
