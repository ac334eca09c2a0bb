"""Taking records from a file into the index: report cards, rows and whole indexes, as JSON or one record a line."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, BinaryIO, Final

import msgspec

from aui_tui.errors import InvalidHost, RecordError
from aui_tui.index.blobs import decode_observations
from aui_tui.index.reports import Reports
from aui_tui.index.writer import Packed
from aui_tui.model.card import ReportCard, SiteSummary
from aui_tui.model.codec import MAX_BYTES, decode_card, decode_summary
from aui_tui.model.observations import Observations
from aui_tui.scan.target import parse
from aui_tui.text import clean

MAX_LINE: Final = 16 * 1024 * 1024
"""Bytes of the longest line that may hold one record."""
NOT_JSON: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


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


def read(stream: BinaryIO) -> Iterator[ImportedRecord]:
    """Yield what ``stream`` holds: one JSON record or index, an array of records, or one record a line.

    A record is a report card (2.2), ``{"card": ..., "observations": ...}``, a row of the index (2.1), or a whole
    Index (4.1). Broken ones are reported and skipped, and what a service answers where it has no card (7).
    """
    first = stream.readline(MAX_LINE + 1)
    if first.startswith(b"\xef\xbb\xbf"):
        first = first[3:]
    number = 1
    while first and not first.strip():
        first = stream.readline(MAX_LINE + 1)
        number += 1
    if not first:
        return
    try:
        value = msgspec.json.decode(first)
    except NOT_JSON:
        yield from _whole(first, stream)
        return
    if isinstance(value, dict) and "ranked" not in value:
        yield from _record(value, f"line {number}")
    else:
        yield from _any(value, "")
    yield from _lines(stream, number)


def _lines(stream: BinaryIO, number: int) -> Iterator[ImportedRecord]:
    while line := stream.readline(MAX_LINE + 1):
        number += 1
        place = f"line {number}"
        if len(line) > MAX_LINE and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = stream.readline(MAX_LINE + 1)
            yield ImportedRecord(place=place, error=f"The line is longer than {MAX_LINE // 1024 // 1024} MiB.")
        elif line.strip():
            try:
                value = msgspec.json.decode(line)
            except NOT_JSON as error:
                yield ImportedRecord(place=place, error=f"Not JSON: {clean(str(error), 120)}.")
            else:
                yield from _record(value, place)


def _whole(first: bytes, stream: BinaryIO) -> Iterator[ImportedRecord]:
    """Read a document that takes several lines."""
    data = first + stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        yield ImportedRecord(place="the file", error=f"The file is larger than {MAX_BYTES // 1024 // 1024} MiB.")
        return
    try:
        value = msgspec.json.decode(data)
    except NOT_JSON as error:
        problem = f"Not JSON: {clean(str(error), 120)}."
        rest = io.BytesIO(data)
        rest.readline()
        if _is_record(rest.readline()):
            rest.seek(len(first))
            yield ImportedRecord(place="line 1", error=problem)
            yield from _lines(rest, 1)
        else:
            yield ImportedRecord(place="the file", error=problem)
        return
    yield from _any(value, "")


def _is_record(line: bytes) -> bool:
    try:
        return isinstance(msgspec.json.decode(line), dict)
    except NOT_JSON:
        return False


def _any(value: Any, place: str) -> Iterator[ImportedRecord]:
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from _record(item, f"record {number + 1}")
    elif isinstance(value, dict) and "ranked" in value:
        for name in ("ranked", "unreachable"):
            rows = value.get(name, [])
            if not isinstance(rows, list):
                yield ImportedRecord(place=name, error="It is not an array.")
                continue
            for number, item in enumerate(rows):
                yield from _record(item, f"{name}[{number}]", ranked=name == "ranked")
    else:
        yield from _record(value, place or "the file")


def _record(value: Any, place: str, *, ranked: bool = True) -> Iterator[ImportedRecord]:
    if not isinstance(value, dict):
        yield ImportedRecord(place=place, error="It is not a JSON object.")
        return
    if "ranked" in value:
        yield from _any(value, place)
        return
    if value.get("found") is False:
        yield ImportedRecord(place=place, error=clean(f"No card of {value.get('host')}: {value.get('detail')}", 400))
        return
    try:
        if isinstance(value.get("card"), dict):
            seen = value.get("observations")
            yield ImportedRecord(
                place=place,
                card=decode_card(msgspec.json.encode(value["card"])),
                observations=None if seen is None else decode_observations(msgspec.json.encode(seen)),
            )
        elif "found" in value or "evidence" in value:
            yield ImportedRecord(place=place, card=decode_card(msgspec.json.encode(value)))
        else:
            yield ImportedRecord(place=place, summary=decode_summary(msgspec.json.encode(value)), ranked=ranked)
    except (RecordError, ValueError) as error:
        yield ImportedRecord(place=place, error=str(error))


BATCH: Final = 500
OnProgress = Callable[[int], None]
"""Called with how many records were read."""


class ImportResult(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a file: records ``read``, those that are ``new`` or newer in the index, and the ``problems``.

    ``problems`` are sentences that begin with the place in the file; the records they are about were passed over.
    """

    read: int
    new: int
    problems: tuple[str, ...]


def take(
    stream: BinaryIO, reports: Reports, *, progress: OnProgress = lambda done: None, limit: int = 1000
) -> ImportResult:
    """Put every record of ``stream`` into ``reports``; at most ``limit`` problems are kept as sentences.

    A record that is older than what is known goes to the history; a summary never replaces a card. Raises Unavailable
    when the index cannot be written: what was taken before stays.
    """
    done = new = 0
    problems: list[str] = []
    source = read(stream)
    while batch := list(islice(source, BATCH)):
        packed = []
        for record in batch:
            try:
                packed.append(_packed(record))
            except (InvalidHost, RecordError) as error:
                if len(problems) < limit:
                    problems.append(f"{record.place}: {error}")
        new += reports.put_packed(packed)
        done += len(batch)
        progress(done)
    return ImportResult(read=done, new=new, problems=tuple(problems))


def _packed(record: ImportedRecord) -> Packed:
    """Return a record ready to be written. Raises RecordError for a broken one, InvalidHost for a bad host."""
    if record.error:
        raise RecordError(record.error)
    if record.summary is not None:
        summary = msgspec.structs.replace(record.summary, host=_host(record.summary.host))
        return Packed.of_summary(summary, ranked=record.ranked)
    assert record.card is not None
    card = msgspec.structs.replace(record.card, host=_host(record.card.host))
    seen = record.observations
    if seen is not None and _host(seen.host) != card.host:
        raise RecordError(f"The observations are of {seen.host}, the card is of {card.host}.")
    return Packed.of(card, None if seen is None else msgspec.structs.replace(seen, host=card.host))


def _host(text: str) -> str:
    return parse(text, allow_private=True).site
