"""An index in a file, or on standard input: rows or whole cards, as this program exports them.

Records of another's index are read tolerantly, with a note when something had to be left out.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, Final, NamedTuple, TypeVar
from urllib.parse import quote

import msgspec

from aui_tui.errors import BadValue, ConfigError, NeverScanned, RecordError, Unavailable
from aui_tui.index.blobs import pack_card, unpack_card
from aui_tui.index.lists import Listing
from aui_tui.model import codec
from aui_tui.model.card import ReportCard, SiteSummary
from aui_tui.model.decoding import json_decoder
from aui_tui.model.observations import Progress
from aui_tui.model.options import ORDINARY, ScanOptions
from aui_tui.model.points import Standing
from aui_tui.model.query import Query
from aui_tui.model.tasks import TaskProgress
from aui_tui.model.view import HistoryPoint, HostReport, IndexView, Overview, Quota
from aui_tui.model.visits import Visits
from aui_tui.model.vocabulary import UNCATEGORIZED
from aui_tui.text import clean

ROW_DEFAULTS: Final[Mapping[str, Any]] = MappingProxyType({"category": UNCATEGORIZED, "top_evidence": "", "url": ""})
"""Fields of a row that say nothing of the verdict: a row without them is still a row."""
CARD_DEFAULTS: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "found": True,
        "category": UNCATEGORIZED,
        "elapsed_ms": 0,
        "evidence": [],
        "files": [],
        "human_title": "",
        "edge": "",
        "probe_dead": False,
        "seed": False,
        "url": "",
        "recommendations": [],
    }
)
"""The same for a report card."""


MAX_ROWS: Final = 1_000_000
"""Rows of an index, both lists together."""
MAX_BROKEN: Final = 1000
"""Broken rows of an index that are left out; with more of them than sound ones it is refused."""
MAX_VALUE: Final = 256 * 1024
"""Bytes of one row."""
READ_SECONDS: Final = 30.0
"""Time in which an index is asked for and read; what other programs take of the processor meanwhile does not count."""
_WINDOW: Final = 512 * 1024
_BOUNDARIES: Final = 50
"""Closing braces that are tried as the end of a row."""
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_BETWEEN: Final = re.compile(r"\}[ \t\r\n]*,[ \t\r\n]*\{")
_DECODER: Final = json.JSONDecoder()
_RAW_VALUES: Final = json_decoder(list[msgspec.Raw])
_NOT_JSON: Final = "The index is not JSON."


class NotAnIndex(RecordError):
    """What was read has no list of rows at all."""


class Reading(NamedTuple):
    """An index as read: ``problem`` is one sentence about rows that were left out, or empty."""

    found: Listing
    problem: str = ""


def read_index(file: IO[bytes], base_url: str = "", *, seconds: float = READ_SECONDS) -> Reading:
    """Return the Index in ``file``; a broken row is left out as long as some row is sound.

    It is read row by row: what is not a row takes no memory. Rows without a page of their own have one under
    ``base_url``. Raises NotAnIndex where no list of rows comes, RecordError for one that cannot be read, for more than
    MAX_ROWS rows, for a row of more than MAX_VALUE bytes, and when it takes longer than ``seconds``.
    """
    rows = _Rows(base_url)
    try:
        scanned_at = _read(JsonText(file, seconds), rows)
    except RecordError as error:
        if rows.lists:
            raise
        raise NotAnIndex(str(error)) from None
    if not rows.lists:
        raise NotAnIndex("The index has neither a list “ranked” nor a list “unreachable”.")
    if rows.broken and not rows.sound:
        raise RecordError(rows.broken[0])
    found = rows.listing.finish(_time(scanned_at))
    if not found.scanned_at:
        raise RecordError("The index has neither a time nor rows.")
    return Reading(found, left_out(rows.broken, "row", found))


def _read(text: JsonText, rows: _Rows) -> Any:
    """Take the lists of an index into ``rows`` and return what it says of its time."""
    scanned_at: Any = None
    for key in text.members():
        if key in ("ranked", "unreachable") and text.peek() == "[":
            rows.lists += 1
            for values in text.elements():
                rows.take(values, ranked=key == "ranked")
        elif key == "scanned_at":
            scanned_at = parse(text.value(), "index")
        else:
            text.value()
    return scanned_at


class _Rows:
    """The rows of an index on their way into ``listing``."""

    def __init__(self, base_url: str) -> None:
        self.listing = Listing()
        self.lists = 0
        self.sound = 0
        self.broken: list[str] = []
        """A sentence for each of the broken rows."""
        self._base_url = base_url

    def take(self, values: bytes, *, ranked: bool) -> None:
        """Take the rows in the JSON array ``values``."""
        found = codec.decode_plain_rows(values)
        for row in self._each(values) if found is None else found:
            self.listing.add(row_with_page(row, self._base_url), ranked=ranked)
            self.sound += 1
        if self.sound > MAX_ROWS:
            raise RecordError(f"The index has more than {MAX_ROWS:,} rows.")

    def _each(self, values: bytes) -> Iterator[SiteSummary]:
        for value in raw_values(values):
            try:
                yield row_of(parse(value, "row"))
            except RecordError as error:
                self.broken.append(str(error))
                if len(self.broken) > max(MAX_BROKEN, self.sound):
                    raise RecordError(f"Most of its rows are broken, such as: {self.broken[0]}") from None


def raw_values(array: bytes) -> list[bytes]:
    """Return the values of a JSON array as they are written; one that is not quite JSON stands alone."""
    try:
        return [bytes(value) for value in _RAW_VALUES.decode(array)]
    except msgspec.DecodeError:
        return [array[1:-1]]


def row_with_page(row: SiteSummary, base_url: str) -> SiteSummary:
    """Return ``row`` with its host in lower case and an address of the web as its page, or none."""
    page, host = page_of(base_url, row.url, row.host), row.host.lower()
    return row if page == row.url and host == row.host else msgspec.structs.replace(row, url=page, host=host)


def page_of(base_url: str, url: str, host: str) -> str:
    """Return ``url`` when it is a web address, else the page of ``host`` under ``base_url``."""
    if url.startswith(("https://", "http://")):
        return url
    return f"{base_url}/site/{quote(host, safe='.:-')}" if base_url else ""


class JsonText:
    """JSON in a file, of which a window is held. Read as Latin-1: what structures JSON is ASCII."""

    def __init__(self, file: IO[bytes], seconds: float) -> None:
        self._file = file
        self._text = ""
        self._at = self._slow_until = 0
        self._seconds = seconds
        self._end = time.thread_time() + seconds

    def members(self) -> Iterator[str]:
        """Yield the names of an object's members; the value of each is to be taken before the next."""
        begins_json = self.peek() in '["-0123456789tfn'
        self._take("{", "The index is not a JSON object." if begins_json else _NOT_JSON)
        for _ in self._items("}"):
            name = parse(self.value(), "index")
            self._take(":", _NOT_JSON)
            yield str(name)

    def elements(self) -> Iterator[bytes]:
        """Yield the elements of an array, as arrays of one or more of them."""
        self._take("[", _NOT_JSON)
        for _ in self._items("]"):
            yield self._several() or b"[" + self.value() + b"]"

    def peek(self) -> str:
        """Return the next character that is not a space, empty at the end."""
        while True:
            self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]  # it matches always
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._fill():
                return ""

    def value(self) -> bytes:
        """Return the bytes of the next value. Raises RecordError when it is too long or not JSON."""
        self.peek()
        while True:
            end = -1
            try:
                _, end = _DECODER.raw_decode(self._text, self._at)
            except RecursionError:
                raise RecordError("The index is nested too deep.") from None
            except ValueError:
                if len(self._text) - self._at > MAX_VALUE:
                    raise RecordError(f"{_NOT_JSON[:-1]}, or a row is longer than {MAX_VALUE >> 10} KiB.") from None
            if 0 <= end < len(self._text):
                break
            if not self._fill():
                raise RecordError("The index is not JSON: it breaks off.")
        data = self._text[self._at : end].encode("latin-1")
        self._at = end
        return data

    def _several(self) -> bytes:
        """Return an array of the elements that the window holds whole, empty where that cannot be said at a glance.

        What stands before the end of an object and makes a sound array is a sequence of whole elements.
        """
        if self._at < self._slow_until:
            return b""
        end = len(self._text)
        for _ in range(_BOUNDARIES):
            end = self._text.rfind("}", self._at, end)
            if end < 0:
                break
            if _BETWEEN.match(self._text, end):
                data = b"[" + self._text[self._at : end + 1].encode("latin-1") + b"]"
                with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    _RAW_VALUES.decode(data)
                    self._at = end + 1
                    return data
                break
        self._slow_until = len(self._text)
        return b""

    def _items(self, end: str) -> Iterator[None]:
        while self.peek() != end:
            if time.thread_time() > self._end:
                raise RecordError(f"The index takes longer than {self._seconds:.0f} s to read.")
            yield
            if self.peek() == ",":
                self._at += 1
            elif self.peek() != end:
                raise RecordError(_NOT_JSON)
        self._at += 1

    def _take(self, character: str, problem: str) -> None:
        if self.peek() != character:
            raise RecordError(problem)
        self._at += 1

    def _fill(self) -> bool:
        data = self._file.read(_WINDOW)
        self._text = self._text[self._at :] + data.decode("latin-1")
        self._at = self._slow_until = 0
        return bool(data)


def read_card(data: bytes, host: str) -> ReportCard:
    """Return the report card in ``data``. Raises RecordError; NeverScanned when it says that there is none."""
    try:
        return codec.decode_card(data)
    except RecordError:
        raw = parse(data, "report card")
        if isinstance(raw, dict) and raw.get("found") is False:
            raise NeverScanned(host) from None
        return card_of(raw)


def parse(data: bytes, what: str) -> Any:
    """Return ``data`` as JSON. Raises RecordError."""
    try:
        return msgspec.json.decode(data)
    except RecursionError:
        raise RecordError(f"The {what} is nested too deep.") from None
    except ValueError as error:
        raise RecordError(f"The {what} is not JSON: {clean(str(error), 120)}.") from None


def row_of(raw: Any) -> SiteSummary:
    """Return an index row from its JSON members. Raises RecordError."""
    return codec.decode_summary(msgspec.json.encode(_filled(raw, ROW_DEFAULTS)))


def card_of(raw: Any) -> ReportCard:
    """Return a report card from its JSON members. Raises RecordError."""
    filled = _filled(raw, CARD_DEFAULTS)
    if isinstance(filled, dict) and "host" in filled:
        filled = {"input_host": filled["host"], **filled}
    return codec.decode_card(msgspec.json.encode(filled))


def _filled(raw: Any, defaults: Mapping[str, Any]) -> Any:
    if not isinstance(raw, dict):
        return raw
    given = {key: value for key, value in raw.items() if value is not None or key not in defaults}
    return {**defaults, "name": given.get("host", ""), **given}


def _time(value: Any) -> str:
    """Return the time of an index as a record writes it, empty when ``value`` is not one."""
    try:
        return codec.decode_index(
            msgspec.json.encode({"scanned_at": value, "ranked": [], "unreachable": []})
        ).scanned_at
    except RecordError:
        return ""


def left_out(broken: list[str], what: str, found: Listing) -> str:
    """Return sentences about broken records and rows of hosts that were listed before, empty when there are none."""
    parts = []
    if broken:
        parts.append(f"{len(broken)} broken {what}{'s were' if len(broken) > 1 else ' was'} left out: {broken[0]}")
    if count := found.repeated:
        parts.append(f"{count} row{'s' if count > 1 else ''} of hosts that are listed already were left out.")
    return " ".join(parts)


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

    can_scan = is_local = False

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

    async def site(self, host: str, *, method: str = "", at: str = "") -> HostReport:
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
        return HostReport(card=card, previous=cards[place - 1] if place else None, history=tuple(map(point_of, cards)))

    async def visits(self, host: str) -> Visits | None:
        """Return None: a file of results holds no visits."""
        return None

    async def what_if(self, host: str, fixes: frozenset[str], *, method: str = "", at: str = "") -> Standing:
        """Raise Unavailable: only what was seen says where a site would stand, and this source does not have it."""
        raise Unavailable(f"{self.label} keeps cards without what was seen, so it cannot say where fixes would lead.")

    async def scan(
        self,
        url: str,
        options: ScanOptions = ORDINARY,
        *,
        progress: Progress | None = None,
        live: TaskProgress | None = None,
    ) -> HostReport:
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
    return Content(listing, cards, left_out(broken, "record", listing))


def _sound(item: Any, read: Callable[[Any], T], broken: list[str]) -> T | None:
    try:
        return read(item)
    except RecordError as error:
        broken.append(str(error))
        return None


def point_of(card: ReportCard) -> HistoryPoint:
    """Return the place of ``card`` in a history."""
    return HistoryPoint(
        scanned_at=card.scanned_at, score=card.score, grade=card.grade, stance=card.stance, unreachable=card.unreachable
    )
