"""Records of another's index: read tolerantly, with a note when something had to be left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeVar

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
        return _sound_rows(raw, error)


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


def _sound_rows(raw: dict[str, Any], error: RecordError) -> Reading:
    broken: list[str] = []
    ranked = _each(raw.get("ranked"), row_of, broken)
    unreachable = _each(raw.get("unreachable"), row_of, broken)
    if broken and not ranked and not unreachable:
        raise error
    newest = max((row.scanned_at for row in (*ranked, *unreachable)), default="")
    scanned_at = raw.get("scanned_at")
    try:
        empty: dict[str, Any] = {"scanned_at": scanned_at, "ranked": [], "unreachable": []}
        scanned_at = codec.decode_index(msgspec.json.encode(empty)).scanned_at
    except RecordError:
        if not newest:
            raise error from None
        scanned_at = newest
    index = Index(scanned_at=scanned_at, ranked=tuple(ranked), unreachable=tuple(unreachable))
    return Reading(index, left_out(broken, "row"))


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
