"""Plain values and bytes to typed records with clean texts, safe in threads.

msgspec collects what it knows of a record type at the first use of it. Another thread that uses the type meanwhile sees
only a part of that, reads through a null pointer, and the process crashes. Here one thread at a time uses a type for
the first time, and nothing else in the package gives a type to msgspec.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, TypeVar

import msgspec

from aui_tui.errors import RecordError
from aui_tui.text import clean

T = TypeVar("T")
Limits = Mapping[str, tuple[int, bool]]
"""By field: the longest text in characters, and whether it may have several lines."""
NO_LIMITS: Final[Limits] = MappingProxyType({})
KEY: Final = 500
"""Longest key of a map in characters."""
DEEPEST: Final = 40
_FIRST_USE: Final = threading.Lock()
_known: set[Any] = set()


def convert(value: Any, kind: type[T]) -> T:
    """Return ``value``, made of dicts and lists, as a record. Raises msgspec.ValidationError."""
    return msgspec.convert(value, _ready(kind))


def to_json(value: object) -> str:
    """Return ``value`` as JSON for a column of the index."""
    return msgspec.json.encode(value).decode()


def from_json(data: bytes | str, kind: type[T]) -> T:
    """Return the record in the JSON ``data``. Raises msgspec.DecodeError (ValidationError for another record)."""
    return msgspec.json.decode(data, type=_ready(kind))


def from_msgpack(data: bytes, kind: type[T]) -> T:
    """Return the record in the MessagePack ``data``. Raises as ``from_json``."""
    return msgspec.msgpack.decode(data, type=_ready(kind))


def _ready(kind: type[T]) -> type[T]:
    if kind not in _known:
        with _FIRST_USE:
            msgspec.json.Decoder(kind)
            _known.add(kind)
    return kind


def parse(data: bytes | msgspec.Raw, what: str) -> Any:
    """Return ``data`` as plain JSON, also where a text is not UTF-8. Raises RecordError with a sentence on ``what``."""
    try:
        return _parsed(data)
    except RecursionError:
        raise RecordError(f"The {what} is nested too deep.") from None
    except ValueError as error:
        raise RecordError(f"The {what} is not JSON: {clean(str(error).partition(';')[0], 120)}.") from None


def _parsed(data: bytes | msgspec.Raw) -> Any:
    try:
        return msgspec.json.decode(data)
    except ValueError:
        import json  # only for what msgspec does not read

        return json.loads(bytes(data).decode("utf-8", "replace"), parse_constant=_no_constant)


def _no_constant(name: str) -> Any:
    raise ValueError(name + " is not a number of JSON")


def decode(data: bytes, kind: type[T], what: str, limit: int, limits: Limits = NO_LIMITS) -> T:
    """Return the record in the JSON ``data``, its texts cleaned. Raises RecordError with a sentence on ``what``."""
    return record_of(parse(data, what), kind, what, limit, limits)


def record_of(raw: Any, kind: type[T], what: str, limit: int, limits: Limits = NO_LIMITS) -> T:
    """Return plain JSON as a record, its texts cleaned. Raises RecordError with a sentence on ``what``."""
    try:
        return convert(cleaned(raw, limit, limits), kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise RecordError(f"Broken {what}: {sentence(error)}.") from None


def cleaned(value: Any, limit: int, limits: Limits = NO_LIMITS, field: str = "", depth: int = 0) -> Any:
    """Return plain JSON with whole numbers as integers and every text clean and cut.

    A text has at most ``limit`` characters, that of a field in ``limits`` as many as stand there.
    """
    kind = type(value)
    if kind is str:
        size, block = limits.get(field) or (limit, False)
        if len(value) <= size and value.isascii() and value.isprintable():
            return value
        return clean(value, size, block=block)
    if kind is dict or kind is list:
        if depth > DEEPEST:
            raise RecursionError("nested too deep")
        if kind is dict:
            return {_key(key): cleaned(item, limit, limits, key, depth + 1) for key, item in value.items()}
        return [cleaned(item, limit, limits, field, depth + 1) for item in value]
    return int(value) if kind is float and value.is_integer() else value


@lru_cache(maxsize=4096)
def _key(name: str) -> str:
    return clean(name, KEY)


_PATH: Final = r" - at (?:`key` in )?`\$\.?(.*?)`$"
_ONE_OF: Final = r"must be text matching regex '\^\(([\w| -]+)\)\??\$'"
_FORMS: Final = {
    "scanned_at": "must be a UTC time such as 2026-11-20T10:00:00.000Z",
    "grade": "must be a letter from A to F, with a + or - at most",
}
"""What the fields with a pattern must look like, in words."""
_TYPES: Final = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "object": "a table of names and values",
    "array": "a list",
    "null": "nothing",
}
_WORDS: Final = {
    "Expected ": "must be ",
    ", got ": ", not ",
    "Object missing required field ": "lacks ",
    "Object contains unknown field ": "unknown name ",
    "Invalid enum value ": "unknown value ",
}
"""What msgspec says, and the same in plain words."""


def sentence(error: Exception) -> str:
    """Return what msgspec says of a broken record, in plain words and the field first, without a full stop."""
    text = clean(error, 300)
    place = re.search(_PATH, text)
    problem = re.sub(r"`([a-z |]+)`", _types, text[: place.start()] if place else text)
    for theirs, plain in _WORDS.items():
        problem = problem.replace(theirs, plain)
    if place is None:
        return problem[:1].lower() + problem[1:]
    words = re.fullmatch(_ONE_OF, problem)
    if words is not None:
        problem = f"must be one of {words[1].replace('|', ', ')}"
    elif "matching regex" in problem:
        problem = _FORMS.get(place[1].rpartition(".")[2], problem)
    path = (place[1] or "the record").replace("[...]", " (one of its entries)").replace(").", "), ")
    return f"{path}: {problem}"


def _types(match: re.Match[str]) -> str:
    words = match[1].split(" | ")
    return " or ".join(_TYPES[word] for word in words) if set(words) <= _TYPES.keys() else match[0]
