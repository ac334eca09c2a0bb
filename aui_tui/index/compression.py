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
CARD, OBSERVATIONS = "card.json", "observations.json"
"""Preset dictionaries (RFC 1950 2.2): text that most records of a kind have in common. One for both kinds would make a
kept scan larger by a third."""
MAX_INFLATED: Final = 16 * 1024 * 1024
"""A stored record that inflates beyond this many bytes is refused."""


def pack_card(card: ReportCard) -> bytes:
    """Return ``card`` as compressed JSON."""
    return _deflate(encode_card(card, own=True), CARD)


def unpack_card(blob: bytes) -> ReportCard:
    """Return the card in ``blob``. Raises RecordError when it is damaged or no card."""
    return decode_card(inflate(blob, CARD))


def pack_observations(observations: Observations) -> bytes:
    """Return ``observations`` as compressed JSON."""
    return _deflate(msgspec.json.encode(observations), OBSERVATIONS)


def unpack_observations(blob: bytes) -> Observations:
    """Return the observations in ``blob``. Raises RecordError when they are damaged."""
    return decode_observations(inflate(blob, OBSERVATIONS))


@cache
def _dictionary(kind: str) -> bytes:
    return FOLDER.joinpath(kind).read_bytes()


@cache
def _primed(kind: str) -> Any:
    return zlib.compressobj(zdict=_dictionary(kind))


def _deflate(data: bytes, kind: str) -> bytes:
    machine = _primed(kind).copy()
    packed: bytes = machine.compress(data) + machine.flush()
    return packed


def inflate(blob: bytes, kind: str) -> bytes:
    """Return the JSON in ``blob``, a CARD or OBSERVATIONS. Raises RecordError for damage or over MAX_INFLATED bytes."""
    try:
        machine = zlib.decompressobj(zdict=_dictionary(kind))
        data = machine.decompress(blob, MAX_INFLATED)
    except (zlib.error, TypeError):
        raise RecordError("A stored record is damaged.") from None
    if machine.unconsumed_tail or not machine.eof:
        raise RecordError("A stored record is damaged or larger than 16 MiB.")
    return data
