"""Records of a file: report cards, rows and whole indexes, as JSON or one record a line, read for an index of ours.

Records of another's index are read tolerantly: what says nothing of the verdict may be missing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain, islice
from types import MappingProxyType
from typing import Any, BinaryIO, Final

import msgspec

from aui_tui.errors import InvalidHost, NeverScanned, RecordError
from aui_tui.index.lists import FUTURE_MS
from aui_tui.index.packed import Packed
from aui_tui.index.store import Store
from aui_tui.model import codec
from aui_tui.model.card import ReportCard, site_url
from aui_tui.model.decoding import from_json, parse
from aui_tui.model.observations import Observations, observations_from
from aui_tui.model.summary import SiteSummary
from aui_tui.model.times import epoch_ms
from aui_tui.model.vocabulary import UNCATEGORIZED
from aui_tui.scan.target import site_of
from aui_tui.text import clean

MAX_LINE: Final = 16 * 1024 * 1024
"""Bytes of the longest line that may hold one record."""
MAX_DOCUMENT: Final = 32 * 1024 * 1024
"""Bytes of the longest document of several records: some 60,000 rows, and 300 MB of memory at the very worst."""
DENSEST: Final = 12
"""Bytes of a document for each of its commas, at least; records have twice as many."""
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
WHOLE: Final = "the file"
"""The place of what is wrong with a whole file: it holds no records."""
_BOM: Final = b"\xef\xbb\xbf"


class ImportedRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One record of a file, or why it is not a record.

    ``place`` names it for the user: ``line 12``, ``ranked[3]``. A record is a ``card``, with ``observations`` where
    the file has them, or a ``summary`` with the list (``ranked``) it comes from; else ``error`` is a sentence.
    """

    place: str
    card: ReportCard | None = None
    observations: Observations | None = None
    summary: SiteSummary | None = None
    ranked: bool = True
    error: str = ""


class _Lists(msgspec.Struct):
    """The members of an Index (4.1), unread."""

    scanned_at: msgspec.Raw = msgspec.Raw(b'""')
    ranked: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    unreachable: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


def read_card(data: bytes, host: str) -> ReportCard:
    """Return the report card in ``data``. Raises RecordError; NeverScanned when it says that there is none."""
    raw = parse(data, "report card")
    if isinstance(raw, dict) and raw.get("found") is False:
        raise NeverScanned(host)
    return codec.card_from(_filled(raw, CARD_DEFAULTS))


def _filled(raw: Any, defaults: Mapping[str, Any]) -> Any:
    """Return a record with the ``defaults`` of what it lacks, and its host where it does not name the site."""
    if not isinstance(raw, dict):
        return raw
    values = {key: value for key, value in raw.items() if value is not None or key not in defaults}
    return {**defaults, **{name: raw["host"] for name in ("name", "input_host") if "host" in raw}, **values}


def page_of(base_url: str, url: str, host: str) -> str:
    """Return ``url`` when it is a web address, else the page of ``host`` under ``base_url``."""
    if url.startswith(("https://", "http://")):
        return url
    return site_url(base_url, host) if base_url else ""


def read(stream: BinaryIO) -> Iterator[ImportedRecord]:
    """Yield what ``stream`` holds: one JSON record or index, an array of records, or one record a line.

    A record is a report card (2.2), ``{"card": ..., "observations": ...}``, a row of the index (2.1), or a whole
    Index (4.1). Broken ones are reported and skipped, and what a service answers where it has no card (7).
    """
    number, first = 1, stream.readline(MAX_LINE + 1).removeprefix(_BOM)
    while first and not first.strip():
        number, first = number + 1, stream.readline(MAX_LINE + 1)
    if not first:
        return
    if first.startswith(b"SQLite format 3\0"):
        sentence = (
            "It is a database, not a list of records. If it is an index of aui-tui, name its folder by --data-dir."
        )
        yield ImportedRecord(place=WHOLE, error=sentence)
        return
    second = stream.readline(MAX_LINE + 1)
    if first.lstrip().startswith(b"[") or not (_is_json(first) or _is_json(second)):
        yield from _document(first + second, stream)
    else:
        yield from _lines(chain((first, second), iter(partial(stream.readline, MAX_LINE + 1), b"")), number)


def _lines(lines: Iterator[bytes], first: int) -> Iterator[ImportedRecord]:
    """Read one record a line; ``first`` is the number of the first line."""
    for number, line in enumerate(lines, first):
        place = f"line {number}"
        if len(line) > MAX_LINE and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = next(lines, b"")
            yield ImportedRecord(place=place, error=f"The line is longer than {MAX_LINE >> 20} MiB.")
        elif line.strip():
            yield from _line(line, place)


def _line(line: bytes, place: str) -> Iterator[ImportedRecord]:
    """Yield the record in a line, or those of the Index that a line may hold."""
    if b'"ranked"' in line or b'"unreachable"' in line:
        with_lists = _index(line)
        if with_lists is not None:
            yield from with_lists
            return
    try:
        yield _record(parse(line, "line"), place)
    except RecordError as error:
        yield ImportedRecord(place=place, error=str(error).replace("The line is not JSON", "Not JSON"))


def _document(first: bytes, stream: BinaryIO) -> Iterator[ImportedRecord]:
    """Read a document that takes several lines, or an array."""
    data = first + stream.read(MAX_DOCUMENT + 1)
    if len(data) > MAX_DOCUMENT:
        sentence = f"It is longer than {MAX_DOCUMENT >> 20} MiB; write one record a line, then it may be of any length."
        yield ImportedRecord(place=WHOLE, error=sentence)
        return
    try:
        if data.lstrip().startswith(b"["):
            yield from _elements(data, "record {}")
            return
        with_lists = _index(data)
        if with_lists is not None:
            yield from with_lists
            return
        yield _record(parse(data, "file"), WHOLE)
    except RecordError as error:
        yield ImportedRecord(place=WHOLE, error=str(error).replace("The file is not JSON", "Not JSON"))


def _is_json(line: bytes) -> bool:
    try:
        from_json(line, msgspec.Raw)
    except (ValueError, RecursionError):
        return False
    return bool(line.strip())


def _index(data: bytes) -> Iterator[ImportedRecord] | None:
    """Return the rows of the Index in ``data``; None where it is something else."""
    try:
        lists = _lists(data)
    except RecordError:
        return None
    return None if lists.ranked is lists.unreachable is msgspec.UNSET else _rows(lists)


def _lists(data: bytes) -> _Lists:
    """Return the members of the Index in ``data``. Raises RecordError."""
    try:
        return from_json(data, _Lists)
    except RecursionError:
        raise RecordError("The index is nested too deep.") from None
    except (ValueError, UnicodeDecodeError) as error:
        what = "is not a JSON object" if isinstance(error, msgspec.ValidationError) else "is not JSON"
        raise RecordError(f"The index {what}: {clean(error, 120)}.") from None


def index_rows(data: bytes) -> Iterator[ImportedRecord]:
    """Yield each row of the Index in ``data``, sound or with its error. Raises RecordError for what is no Index."""
    yield from _rows(_lists(data))


def _rows(lists: _Lists) -> Iterator[ImportedRecord]:
    has_list = False
    for name in ("ranked", "unreachable"):
        values: msgspec.Raw | msgspec.UnsetType = getattr(lists, name)
        if isinstance(values, msgspec.Raw) and bytes(values).lstrip().startswith(b"["):
            has_list = True
            yield from _elements(bytes(values), name + "[{}]", ranked=name == "ranked", base=0)
        elif isinstance(values, msgspec.Raw) and bytes(values) != b"null":
            yield ImportedRecord(place=name, error="It is not an array.")
    if not has_list:
        raise RecordError("The index has neither a list “ranked” nor a list “unreachable”.")


def time_of_index(data: bytes) -> str:
    """Return the time of the Index in ``data`` as a record writes it, empty when it has none.

    Raises RecordError for what is no Index.
    """
    lists = _lists(data)
    try:
        return codec.instant(str(msgspec.json.decode(lists.scanned_at)))
    except (ValueError, RecursionError):
        return ""


def _elements(array: bytes, place: str, *, ranked: bool = True, base: int = 1) -> Iterator[ImportedRecord]:
    """Yield the records of the JSON array ``array``. Raises RecordError where it is not one of records."""
    if array.count(b",") > len(array) // DENSEST + 1000:
        raise RecordError("It is not a list of records: too many values for its length.")
    try:
        values = from_json(array, list[msgspec.Raw])
    except RecursionError:
        raise RecordError("It is nested too deep.") from None
    except (ValueError, UnicodeDecodeError) as error:
        raise RecordError(f"Not JSON: {clean(error, 120)}.") from None
    for number, value in enumerate(values, base):
        where = place.format(number)
        try:
            yield _record(parse(value, "record"), where, ranked=ranked)
        except RecordError as error:
            yield ImportedRecord(place=where, error=str(error))


def _record(value: Any, place: str, *, ranked: bool = True) -> ImportedRecord:
    if not isinstance(value, dict):
        return ImportedRecord(place=place, error="It is not a JSON object.")
    if value.get("found") is False:
        return ImportedRecord(place=place, error=clean(f"No card of {value.get('host')}: {value.get('detail')}", 400))
    try:
        if isinstance(value.get("card"), dict):
            observations = value.get("observations")
            return ImportedRecord(
                place=place,
                card=codec.card_from(_filled(value["card"], CARD_DEFAULTS)),
                observations=None if observations is None else observations_from(observations),
            )
        if "found" in value or "evidence" in value or "ua_policy" in value:
            return ImportedRecord(place=place, card=codec.card_from(_filled(value, CARD_DEFAULTS)))
        ranked = ranked and value.get("list") != "unreachable"
        return ImportedRecord(place=place, summary=codec.summary_from(_filled(value, ROW_DEFAULTS)), ranked=ranked)
    except RecordError as error:
        return ImportedRecord(place=place, error=str(error))


def _check_time(scanned_at: str) -> None:
    """Raise RecordError for a time that lies ahead: no later scan would replace it."""
    if epoch_ms(scanned_at) > time.time() * 1000 + FUTURE_MS:
        raise RecordError(f"Its time {clean(scanned_at, 40)} is more than five minutes ahead.")


BATCH: Final = 500
OnProgress = Callable[[int], None]
"""Called with how many records were read."""


class ImportResult(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a file: records ``read``, ``cards`` among them, those that are ``new`` or newer in the index, and
    the ``problems``.

    ``problems`` are sentences that begin with the place in the file; the ``broken`` records they are about were passed
    over and not read.
    """

    read: int
    cards: int
    new: int
    problems: tuple[str, ...]
    broken: int = 0


def take_records(
    records: Iterable[ImportedRecord],
    store: Store,
    *,
    progress: OnProgress = lambda done: None,
    limit: int = 1000,
) -> ImportResult:
    """Put ``records`` into ``store``; at most ``limit`` problems are kept as sentences.

    A record that is older than what is known goes to the history; a summary never replaces a card. Raises Unavailable
    when the index cannot be written: what was taken before stays.
    """
    done = new = cards = broken = 0
    problems: list[str] = []
    source = iter(records)
    while batch := list(islice(source, BATCH)):
        packed = []
        for record in batch:
            try:
                packed.append(_packed(record))
                cards += record.card is not None
            except (InvalidHost, RecordError) as error:
                broken += 1
                if len(problems) < limit:
                    problems.append(f"{record.place}: {error}")
        new += store.put_packed(packed)
        done += len(batch)
        progress(done)
    return ImportResult(read=done - broken, cards=cards, new=new, problems=tuple(problems), broken=broken)


def _packed(record: ImportedRecord) -> Packed:
    """Return a record ready to be written.

    Raises RecordError for a broken one, or one from the future; InvalidHost for a bad host.
    """
    if record.error:
        raise RecordError(record.error)
    if record.summary is not None:
        row = record.summary
        _check_time(row.scanned_at)
        summary = msgspec.structs.replace(row, host=site_of(row.host), url=page_of("", row.url, row.host))
        return Packed.of_summary(summary, ranked=record.ranked)
    assert record.card is not None
    card = record.card
    _check_time(card.scanned_at)
    card = msgspec.structs.replace(card, host=site_of(card.host), url=page_of("", card.url, card.host))
    observations = record.observations
    if observations is not None and site_of(observations.host) != card.host:
        raise RecordError(f"The observations are of {observations.host}, the card is of {card.host}.")
    return Packed.of(card, None if observations is None else msgspec.structs.replace(observations, host=card.host))
