"""An index in a file, or on standard input: rows or whole cards, as this program exports them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from aui_tui.errors import BadValue, ConfigError, NeverScanned, RecordError, Unavailable
from aui_tui.records.card import ReportCard
from aui_tui.records.progress import Progress
from aui_tui.records.query import Query
from aui_tui.records.standing import Standing, estimate
from aui_tui.records.view import Dossier, HistoryPoint, IndexView, Overview, Quota, Row, ScanAnswer
from aui_tui.records.visits import Visits
from aui_tui.service.remote.listing import Listing, row_of
from aui_tui.service.remote.reading import card_of, left_out, parse, read_index
from aui_tui.service.remote.reading import row_of as summary_of
from aui_tui.text import clean

T = TypeVar("T")
STDIN: Final = "-"
LARGEST: Final = 512 * 1024 * 1024


class Content(NamedTuple):
    """What a file holds: the list, the kept cards by host (oldest first), and a sentence about what was left out."""

    listing: Listing
    cards: dict[str, list[ReportCard]]
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
        return content.listing.view(query, notice=content.problem)

    async def overview(self, query: Query) -> Overview:
        """Return figures over the ranked rows of ``query``."""
        return (await self._read()).listing.overview(query)

    async def position(self, host: str, query: Query) -> int:
        """Return the index of ``host`` in its list of ``query``, -1 when absent."""
        return (await self._read()).listing.position(host, query)

    async def site(self, host: str, *, method: str = "", at: str = "") -> Dossier:
        """Return the card of ``host``. Raises NeverScanned; Unavailable when the file lists the host without a card."""
        content = await self._read()
        wanted = host.strip().lower()
        cards = content.cards.get(wanted)
        if cards is None:
            if content.listing.position(wanted, Query()) >= 0:
                raise Unavailable(f"{self.label} lists {clean(wanted, 100)} but holds no report cards.")
            raise NeverScanned(clean(wanted, 253))
        card = next((card for card in cards if card.scanned_at == at), None) if at else cards[-1]
        if card is None:
            raise BadValue(f"{self.label} holds no such scan of {wanted}.", allowed=tuple(c.scanned_at for c in cards))
        if method and method != card.method:
            raise BadValue(f"{self.label} holds {wanted} under {card.method} alone.", allowed=(card.method,))
        place = cards.index(card)
        return Dossier(
            card=card, previous=cards[place - 1] if place else None, history=tuple(map(_point, cards[: place + 1]))
        )

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
                data = sys.stdin.buffer.read(LARGEST + 1)
            else:
                with Path(self._source).open("rb") as file:
                    data = file.read(LARGEST + 1)
        except OSError as error:
            raise ConfigError(f"Cannot read {clean(self._source, 200)}: {error.strerror or error}.") from None
        if len(data) > LARGEST:
            raise ConfigError(f"{self.label} is larger than {LARGEST // 1024 // 1024} MiB.")
        try:
            return content_of(data)
        except RecordError as error:
            raise RecordError(f"{self.label}: {error}") from None


def content_of(data: bytes) -> Content:
    """Return what ``data`` holds: an Index, a card, an array of cards or rows, or one of them a line.

    Raises RecordError.
    """
    data = data.removeprefix(b"\xef\xbb\xbf").strip()
    if not data:
        raise RecordError("It is empty.")
    try:
        raw = parse(data, "file")
    except RecordError:
        lines = [line for line in data.splitlines() if line.strip()]
        if len(lines) < 2 or not lines[0].lstrip().startswith(b"{"):
            raise
        return _content(_parsed(lines))
    if isinstance(raw, dict) and ("ranked" in raw or "unreachable" in raw):
        reading = read_index(data)
        return Content(Listing.of_index(reading.found), {}, reading.problem)
    return _content(raw if isinstance(raw, list) else [raw])


def _parsed(lines: Iterable[bytes]) -> list[Any]:
    found: list[Any] = []
    for number, line in enumerate(lines, 1):
        try:
            found.append(parse(line, f"line {number}"))
        except RecordError as error:
            found.append(error)
    return found


def _content(items: list[Any]) -> Content:
    broken: list[str] = []
    cards: dict[str, list[ReportCard]] = {}
    ranked: list[Row] = []
    unreachable: list[Row] = []
    for item in items:
        if isinstance(item, RecordError):
            broken.append(str(item))
        elif isinstance(item, dict) and "recommendations" not in item and "ua_policy" not in item:
            row = _sound(item, summary_of, broken)
            if row is not None:
                (unreachable if item.get("list") == "unreachable" else ranked).append(row_of(row))
        else:
            card = _sound(item, card_of, broken)
            if card is not None:
                cards.setdefault(card.host.lower(), []).append(card)
    if not cards and not ranked and not unreachable:
        raise RecordError(broken[0] if broken else "It holds no records.")
    for kept in cards.values():
        kept.sort(key=lambda card: card.scanned_at)
    problem = left_out(broken, "record")
    if cards:
        return Content(Listing.of_cards(kept[-1] for kept in cards.values()), cards, problem)
    return Content(Listing(ranked, unreachable), {}, problem)


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
