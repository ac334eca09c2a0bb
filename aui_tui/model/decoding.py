"""Plain values and bytes to typed records, safe in threads.

msgspec collects what it knows of a record type at the first use of it. Another thread that uses the type meanwhile sees
only a part of that, reads through a null pointer, and the process crashes. Here one thread at a time uses a type for
the first time, and nothing else in the package gives a type to msgspec.
"""

from __future__ import annotations

import threading
from typing import Any, Final, TypeVar

import msgspec

T = TypeVar("T")
_FIRST_USE: Final = threading.Lock()
_known: set[Any] = set()


def convert(value: Any, kind: type[T]) -> T:
    """Return ``value``, made of dicts and lists, as a record. Raises msgspec.ValidationError."""
    return msgspec.convert(value, _ready(kind))


def from_json(data: bytes | str, kind: type[T]) -> T:
    """Return the record in the JSON ``data``. Raises msgspec.DecodeError (ValidationError for another record)."""
    return msgspec.json.decode(data, type=_ready(kind))


def from_msgpack(data: bytes, kind: type[T]) -> T:
    """Return the record in the MessagePack ``data``. Raises as ``from_json``."""
    return msgspec.msgpack.decode(data, type=_ready(kind))


def json_decoder(kind: type[T]) -> msgspec.json.Decoder[T]:
    """Return a decoder of JSON, for many records of one type."""
    return msgspec.json.Decoder(_ready(kind))


def msgpack_decoder(kind: type[T]) -> msgspec.msgpack.Decoder[T]:
    """Return a decoder of MessagePack, for many records of one type."""
    return msgspec.msgpack.Decoder(_ready(kind))


def _ready(kind: type[T]) -> type[T]:
    if kind not in _known:
        with _FIRST_USE:
            msgspec.json.Decoder(kind)
            _known.add(kind)
    return kind
