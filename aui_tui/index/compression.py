"""Cards and observations as compressed bytes, and back with nothing trusted."""

from __future__ import annotations

import zlib
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

from aui_tui.errors import RecordError
from aui_tui.model.card import ReportCard
from aui_tui.model.codec import decode_card, encode_card
from aui_tui.model.observations import Observations, decode_observations

FOLDER: Final = Path(__file__).with_name("dictionaries")
LEVEL: Final = 6
CARD: Final = "card-4.json"
OBSERVATIONS: Final = "observations-3.json"
"""Preset dictionaries (RFC 1950 2.2): text that records have in common. One that was ever released must stay."""
MAX_INFLATED: Final = 16 * 1024 * 1024
"""A stored record that inflates beyond this many bytes is refused."""


def pack_card(card: ReportCard) -> bytes:
    """Return ``card`` as compressed JSON."""
    return _deflate(encode_card(card, own=True), CARD)


def unpack_card(blob: bytes) -> ReportCard:
    """Return the card in ``blob``. Raises RecordError when it is damaged or no card."""
    return decode_card(inflate(blob))


def pack_observations(observations: Observations) -> bytes:
    """Return ``observations`` as compressed JSON."""
    return _deflate(msgspec.json.encode(observations), OBSERVATIONS)


def unpack_observations(blob: bytes) -> Observations:
    """Return the observations in ``blob``. Raises RecordError when they are damaged."""
    return decode_observations(inflate(blob))


@cache
def _dictionaries() -> dict[int, bytes]:
    """Return every dictionary by its number, the Adler-32 that a zlib stream names (RFC 1950 2.2)."""
    return {zlib.adler32(data): data for data in (file.read_bytes() for file in FOLDER.glob("*.json"))}


@cache
def _primed(name: str) -> Any:
    return zlib.compressobj(LEVEL, zdict=FOLDER.joinpath(name).read_bytes())


def _deflate(data: bytes, name: str) -> bytes:
    machine = _primed(name).copy()
    packed: bytes = machine.compress(data) + machine.flush()
    return packed


def inflate(blob: bytes) -> bytes:
    """Return the JSON in ``blob``. Raises RecordError when it is damaged or larger than MAX_INFLATED."""
    try:
        named = _dictionaries().get(int.from_bytes(blob[2:6], "big")) if blob[1] & 0x20 else None
        machine = zlib.decompressobj() if named is None else zlib.decompressobj(zdict=named)
        data = machine.decompress(blob, MAX_INFLATED)
    except (zlib.error, TypeError, IndexError):
        raise RecordError("A stored record is damaged.") from None
    if machine.unconsumed_tail or not machine.eof:
        raise RecordError("A stored record is damaged or larger than 16 MiB.")
    return data
