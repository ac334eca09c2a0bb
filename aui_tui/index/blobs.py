"""Cards, observations and list lines as compressed bytes, and back with nothing trusted."""

from __future__ import annotations

import zlib
from functools import cache, lru_cache
from typing import Any, Final

import msgspec

from aui_tui.errors import RecordError
from aui_tui.model.card import ReportCard, SiteSummary
from aui_tui.model.codec import decode_card, encode_card, names_of
from aui_tui.model.decoding import convert, from_json, msgpack_decoder
from aui_tui.model.observations import Observations, cleaned
from aui_tui.model.view import Row
from aui_tui.model.vocabulary import VERDICTS
from aui_tui.text import clean

LEVEL: Final = 3
CARD: Final = "card-2.json"
OBSERVATIONS: Final = "observations-2.json"
"""Preset dictionaries (RFC 1950 2.2): text that records have in common. One that was ever released must stay."""
MAX_INFLATED: Final = 16 * 1024 * 1024
"""A stored record that inflates beyond this many bytes is refused."""
_TEXT_LIMIT: Final = 20_000
_FILE_LIMIT: Final = 64 << 10


def pack_card(card: ReportCard) -> bytes:
    """Return ``card`` as compressed JSON."""
    return _deflate(encode_card(card, own=True), CARD)


def unpack_card(blob: bytes) -> ReportCard:
    """Return the card in ``blob``. Raises RecordError when it is damaged or no card."""
    return decode_card(_inflate(blob))


class _Matrix(msgspec.Struct):
    """The one field of a card that says who gets in."""

    matrix: dict[str, str] = {}


def unpack_matrix(blob: bytes) -> dict[str, str]:
    """Return the matrix of the card in ``blob`` alone. Raises RecordError when it is damaged or not a card."""
    try:
        return from_json(_inflate(blob), _Matrix).matrix
    except msgspec.MsgspecError as error:
        raise RecordError(f"Broken stored card: {clean(str(error), 160)}.") from None


def pack_observations(observations: Observations) -> bytes:
    """Return ``observations`` as compressed JSON."""
    return _deflate(msgspec.json.encode(observations), OBSERVATIONS)


def unpack_observations(blob: bytes) -> Observations:
    """Return the observations in ``blob``. Raises RecordError when they are damaged."""
    return decode_observations(_inflate(blob))


def decode_observations(data: bytes) -> Observations:
    """Return the observations in the JSON ``data``, their texts cleaned. Raises RecordError when they are broken."""
    try:
        return convert(cleaned(msgspec.json.decode(data), _TEXT_LIMIT, _FILE_LIMIT), Observations)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise RecordError(f"Broken stored observations: {clean(str(error), 160)}.") from None


@cache
def _dictionary(name: str) -> bytes:
    from importlib.resources import files

    return files("aui_tui.index").joinpath("dictionaries", name).read_bytes()


@cache
def _dictionaries() -> dict[int, bytes]:
    """Return every dictionary by its number, the Adler-32 that a zlib stream names (RFC 1950 2.2)."""
    from importlib.resources import files

    names = (entry.name for entry in files("aui_tui.index").joinpath("dictionaries").iterdir())
    return {zlib.adler32(_dictionary(name)): _dictionary(name) for name in names if name.endswith(".json")}


@cache
def _primed(name: str) -> Any:
    return zlib.compressobj(LEVEL, zdict=_dictionary(name))


def _deflate(data: bytes, name: str) -> bytes:
    machine = _primed(name).copy()
    packed: bytes = machine.compress(data) + machine.flush()
    return packed


def _inflate(blob: bytes) -> bytes:
    try:
        named = _dictionaries().get(int.from_bytes(blob[2:6], "big")) if blob[1] & 0x20 else None
        machine = zlib.decompressobj() if named is None else zlib.decompressobj(zdict=named)
        data = machine.decompress(blob, MAX_INFLATED)
    except (zlib.error, TypeError, IndexError):
        raise RecordError("A stored record is damaged.") from None
    if machine.unconsumed_tail or not machine.eof:
        raise RecordError("A stored record is damaged or larger than 16 MiB.")
    return data


class Line(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """What a list shows of one host and no column holds. ``matrix``: our eight verdicts as digits, or a foreign map."""

    name: str
    category: str
    grade: str
    stance: str
    pillars: dict[str, int | float | None]
    matrix: str | dict[str, str]
    scanned_at: str
    top_evidence: str
    url: str
    method: str
    edge: str = ""
    best_fix: str = ""
    best_points: int = 0
    live: tuple[int, ...] = ()


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgpack_decoder(Line)


def pack_line(card: ReportCard) -> bytes:
    """Return the list line of ``card``."""
    best = card.recommendations[0] if card.recommendations else None
    line = msgspec.structs.replace(
        _line(card.summary(), card.method),
        edge=card.edge,
        best_fix=best.title if best else "",
        best_points=best.pts if best else 0,
        live=tuple(access.status for access in card.agent_access.values()),
    )
    return _ENCODER.encode(line)


def pack_summary(summary: SiteSummary, method: str) -> bytes:
    """Return the list line of a host of which only the summary is known."""
    return _ENCODER.encode(_line(summary, method))


def _line(summary: SiteSummary, method: str) -> Line:
    return Line(
        name=summary.name,
        category=summary.category,
        grade=summary.grade,
        stance=summary.stance,
        pillars=summary.pillars,
        matrix=_pack_matrix(summary.matrix),
        scanned_at=summary.scanned_at,
        top_evidence=summary.top_evidence,
        url=summary.url,
        method=method,
    )


def unpack_row(host: str, score: int, blob: bytes, *, rank: int, change: int | None, scans: int) -> Row:
    """Return the list row of ``host``. Raises RecordError when its stored line is damaged."""
    try:
        line = _DECODER.decode(blob)
    except (msgspec.MsgspecError, ValueError, TypeError):
        raise RecordError(f"The stored line of {clean(host, 60)} is damaged.") from None
    summary = SiteSummary(
        host=host,
        name=line.name,
        category=line.category,
        score=score,
        grade=line.grade,
        stance=line.stance,
        pillars=line.pillars,
        matrix=_unpack_matrix(line.matrix),
        scanned_at=line.scanned_at,
        top_evidence=line.top_evidence,
        url=line.url,
    )
    return Row(
        summary=summary,
        rank=rank,
        change=change,
        scans=scans,
        method=line.method,
        edge=line.edge,
        best_fix=line.best_fix,
        best_points=line.best_points,
        live=line.live,
    )


def _pack_matrix(matrix: dict[str, str]) -> str | dict[str, str]:
    return (_digits_of(tuple(matrix.values())) if tuple(matrix) == names_of("matrix") else "") or matrix


@lru_cache(maxsize=65536)
def _digits_of(words: tuple[str, ...]) -> str:
    """Return verdicts as digits, empty when one of them is unknown."""
    known = all(word in VERDICTS for word in words)
    return "".join(str(VERDICTS.index(word)) for word in words) if known else ""


def _unpack_matrix(matrix: str | dict[str, str]) -> dict[str, str]:
    return _of_digits(matrix).copy() if isinstance(matrix, str) else matrix


@lru_cache(maxsize=4096)
def _of_digits(digits: str) -> dict[str, str]:
    return {
        slug: VERDICTS[int(digit)] if digit in "0123456" else digit
        for slug, digit in zip(names_of("matrix"), digits, strict=False)
    }
