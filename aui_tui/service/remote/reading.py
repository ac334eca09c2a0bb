"""Records of another's index: read tolerantly, with a note when something had to be left out."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import IO, Any, Final, NamedTuple, TypeVar

import msgspec

from aui_tui.errors import NeverScanned, RecordError
from aui_tui.records import codec
from aui_tui.records.card import Index, ReportCard, SiteSummary
from aui_tui.text import clean

T = TypeVar("T")

ROW_DEFAULTS: Final[Mapping[str, Any]] = MappingProxyType({"category": "Uncategorized", "top_evidence": "", "url": ""})
"""Fields of a row that say nothing of the verdict: a row without them is still a row."""
CARD_DEFAULTS: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "found": True,
        "category": "Uncategorized",
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
"""Broken rows of a long index that are left out; with more of them than sound ones it is refused."""
MAX_VALUE: Final = 256 * 1024
"""Bytes of one row of a long index."""
LONG_SECONDS: Final = 120.0
"""Time in which a long index is read."""
_WINDOW: Final = 512 * 1024
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_DECODER: Final = json.JSONDecoder()


class Reading(NamedTuple):
    """An index as read: ``problem`` is one sentence about rows that were left out, or empty."""

    found: Index
    problem: str = ""


def read_index(data: bytes) -> Reading:
    """Return the Index in ``data``; a broken row is left out as long as some row is sound. Raises RecordError."""
    try:
        return Reading(codec.decode_index(data))
    except RecordError as error:
        raw = parse(data, "index")
        if not isinstance(raw, dict) or not isinstance(raw.get("ranked", raw.get("unreachable")), list):
            raise error from None
        broken: list[str] = []
        rows = {name: _each(raw.get(name), row_of, broken) for name in ("ranked", "unreachable")}
        if broken and not any(rows.values()):
            raise error from None
        return Reading(_sound_rows(raw, error, rows), left_out(broken, "row"))


def read_long_index(file: IO[bytes]) -> Reading:
    """Return the Index in ``file`` as ``read_index`` does, read row by row; what is no row takes no memory.

    Raises RecordError, also for more than MAX_ROWS rows, a row of more than MAX_VALUE bytes, and when it takes longer
    than LONG_SECONDS.
    """
    text = _Text(file)
    rows: dict[str, list[SiteSummary]] = {"ranked": [], "unreachable": []}
    broken: list[str] = []
    scanned_at: Any = None
    for key in text.members():
        if key in rows and text.peek() == "[":
            _take_rows(text, rows[key], rows, broken)
        elif key == "scanned_at":
            scanned_at = parse(text.value(), "index")
        else:
            text.value()
    if not (rows["ranked"] or rows["unreachable"] or scanned_at):
        raise RecordError(broken[0] if broken else "The index has neither a time nor rows.")
    found = _sound_rows({"scanned_at": scanned_at}, RecordError("The index has no time."), rows)
    return Reading(found, left_out(broken, "row"))


def _take_rows(text: _Text, found: list[SiteSummary], rows: dict[str, list[SiteSummary]], broken: list[str]) -> None:
    for value in text.elements():
        try:
            found.append(_quick_row(value))
        except RecordError as error:
            broken.append(str(error))
        sound = sum(map(len, rows.values()))
        if sound > MAX_ROWS:
            raise RecordError(f"The index has more than {MAX_ROWS:,} rows.")
        if len(broken) > max(MAX_BROKEN, sound):
            raise RecordError(f"Most of its rows are broken, such as: {broken[0]}")


def _quick_row(value: bytes) -> SiteSummary:
    try:
        return codec.decode_row(value)
    except RecordError:
        return row_of(parse(value, "row"))


class _Text:
    """JSON in a file, of which a window is held. Read as Latin-1: what structures JSON is ASCII."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._text = ""
        self._at = 0
        self._end = time.monotonic() + LONG_SECONDS

    def members(self) -> Iterator[str]:
        """Yield the names of an object's members; the value of each is to be taken before the next."""
        self._take("{", "The index is not a JSON object.")
        for _ in self._items("}"):
            name = parse(self.value(), "index")
            self._take(":", _NOT_JSON)
            yield str(name)

    def elements(self) -> Iterator[bytes]:
        """Yield the elements of an array."""
        self._take("[", _NOT_JSON)
        for _ in self._items("]"):
            yield self.value()

    def peek(self) -> str:
        """Return the next character that is no space, empty at the end."""
        while True:
            self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
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
                raise RecordError("The index breaks off.")
        data = self._text[self._at : end].encode("latin-1")
        self._at = end
        return data

    def _items(self, end: str) -> Iterator[None]:
        while self.peek() != end:
            if time.monotonic() > self._end:
                raise RecordError(f"The index takes longer than {LONG_SECONDS:.0f} s to read.")
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
        self._at = 0
        return bool(data)


_NOT_JSON: Final = "The index is not JSON."


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


def _sound_rows(raw: dict[str, Any], error: RecordError, rows: Mapping[str, list[SiteSummary]]) -> Index:
    """Return the Index of ``rows`` with the time of ``raw``, else that of the newest row. Raises ``error``."""
    ranked, unreachable = rows["ranked"], rows["unreachable"]
    newest = max((row.scanned_at for row in (*ranked, *unreachable)), default="")
    scanned_at = raw.get("scanned_at")
    try:
        empty: dict[str, Any] = {"scanned_at": scanned_at, "ranked": [], "unreachable": []}
        scanned_at = codec.decode_index(msgspec.json.encode(empty)).scanned_at
    except RecordError:
        if not newest:
            raise error from None
        scanned_at = newest
    return Index(scanned_at=scanned_at, ranked=tuple(ranked), unreachable=tuple(unreachable))


def left_out(broken: list[str], what: str) -> str:
    """Return one sentence about broken records that were left out, empty when there are none."""
    if not broken:
        return ""
    return f"{len(broken)} broken {what}{'s were' if len(broken) > 1 else ' was'} left out: {broken[0]}"


def _each(values: Any, read: Callable[[Any], T], broken: list[str]) -> list[T]:
    found = []
    for value in values if isinstance(values, list) else ():
        try:
            found.append(read(value))
        except RecordError as error:
            broken.append(str(error))
    return found
