"""The packaged JSON schemas of the records, and applying them.

They are applied by a small reader of the keywords that they use: a library for all of JSON Schema would bring compiled
dependencies to every installation for one command, and speak of schemas instead of records. Tests hold it to the
library's verdicts, and to knowing every keyword in the schemas.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final

import msgspec

from aui_tui.text import clean

Schema = dict[str, Any]


class Problem(msgspec.Struct, frozen=True):
    """One thing that is wrong: where (``ranked[3].score``, empty for the whole) and why."""

    path: str
    why: str

    def __str__(self) -> str:
        return f"{self.path or 'the record'}: {self.why}"


@cache
def schema(kind: str) -> Schema:
    """Return the packaged JSON schema of one of KINDS."""
    text = files("aui_tui.records").joinpath(f"schemas/{kind}.schema.json").read_text(encoding="utf-8")
    found: Schema = json.loads(text)
    return found


def apply(value: Any, rules: Schema, path: str = "") -> Iterator[Problem]:
    """Yield what is wrong with ``value``, which lies at ``path``, under ``rules``."""
    if "oneOf" in rules:
        yield from _one_of(value, rules["oneOf"], path)
        return
    kinds = rules.get("type")
    if kinds is not None:
        allowed = [kinds] if isinstance(kinds, str) else kinds
        if not any(_TYPES[kind](value) for kind in allowed):
            yield Problem(path, f"must be {' or '.join(_WORDS[kind] for kind in allowed)}, not {shown(value)}.")
            return
    for keyword, limit in rules.items():
        checker = _KEYWORDS.get(keyword)
        if checker is not None:
            yield from checker(value, limit, path)
    if isinstance(value, dict):
        yield from _object(value, rules, path)


def _one_of(value: Any, branches: list[Schema], path: str) -> Iterator[Problem]:
    """Apply the branch that ``value`` means: by its method, else the one with the fewest problems."""
    if isinstance(value, dict):
        methods = {branch.get("properties", {}).get("method", {}).get("const"): branch for branch in branches}
        if None not in methods:
            given = value.get("method")
            if isinstance(given, str) and given in methods:
                yield from apply(value, methods[given], path)
            else:
                words = (
                    "is missing"
                    if "method" not in value
                    else f"must be one of {', '.join(methods)}, not {shown(given)}"
                )
                yield Problem(joined(path, "method"), words + ".")
            return
    yield from min((list(apply(value, branch, path)) for branch in branches), key=len)


def _object(value: dict[str, Any], rules: Schema, path: str) -> Iterator[Problem]:
    known: dict[str, Schema] = rules.get("properties", {})
    extra = rules.get("additionalProperties", True)
    for name in rules.get("required", ()):
        if name not in value:
            yield Problem(joined(path, name), "is missing.")
    for name, item in value.items():
        if name in known:
            yield from apply(item, known[name], joined(path, name))
        elif extra is False:
            yield Problem(joined(path, clean(name, 60)), "is not a field of the specification.")
        elif isinstance(extra, dict):
            yield from apply(item, extra, joined(path, clean(name, 60)))


def joined(path: str, name: str) -> str:
    """Return the path to the part ``name`` of what lies at ``path``, itself perhaps only ``line 3``."""
    if path.startswith("line ") and " " not in path[5:] and ":" not in path:
        return f"{path}: {name}"
    return f"{path}.{name}" if path else name


def shown(value: object) -> str:
    """Return ``value`` as it may stand in a sentence."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    return clean(json.dumps(value, ensure_ascii=False), 60)


def _equal(one: Any, other: Any) -> bool:
    """Compare as JSON does: true is not 1, 1.0 is 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(one == other)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_integer(value: object) -> bool:
    return _is_number(value) and (isinstance(value, int) or float(value).is_integer())  # type: ignore[arg-type]


_TYPES: Final[MappingProxyType[str, Callable[[Any], bool]]] = MappingProxyType(
    {
        "object": lambda value: isinstance(value, dict),
        "array": lambda value: isinstance(value, list),
        "string": lambda value: isinstance(value, str),
        "integer": _is_integer,
        "number": _is_number,
        "boolean": lambda value: isinstance(value, bool),
        "null": lambda value: value is None,
    }
)
_WORDS: Final = MappingProxyType(
    {
        "object": "an object",
        "array": "an array",
        "string": "a text",
        "integer": "a whole number",
        "number": "a number",
        "boolean": "true or false",
        "null": "null",
    }
)


def _const(value: Any, wanted: Any, path: str) -> Iterator[Problem]:
    if not _equal(value, wanted):
        words = json.dumps(wanted)
        told = "" if isinstance(value, dict | list) else f", not {shown(value)}"
        yield Problem(path, f"must be {words}{told}.")


def _enum(value: Any, allowed: list[Any], path: str) -> Iterator[Problem]:
    if not any(_equal(value, word) for word in allowed):
        yield Problem(path, f"must be one of {', '.join(str(word) for word in allowed)}, not {shown(value)}.")


def _minimum(value: Any, limit: Any, path: str) -> Iterator[Problem]:
    if _is_number(value) and value < limit:
        yield Problem(path, f"must be at least {limit}, not {shown(value)}.")


def _maximum(value: Any, limit: Any, path: str) -> Iterator[Problem]:
    if _is_number(value) and value > limit:
        yield Problem(path, f"must be at most {limit}, not {shown(value)}.")


def _pattern(value: Any, pattern: str, path: str) -> Iterator[Problem]:
    if isinstance(value, str) and not re.search(pattern, value):
        yield Problem(path, f"{shown(value)} does not have the form {_FORMS.get(pattern, pattern)}.")


_FORMS: Final = MappingProxyType(
    {
        r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$": "2026-11-20T10:00:00.000Z (UTC, milliseconds)",
        r"^(local-node|[a-z0-9]+-edge)$": "local-node or <provider>-edge",
        "^[A-F][+-]?$": "of a grade: A to F, with a + or - at most",
        "/site/": "<base_url>/site/<host>",
    }
)
"""What the patterns of the schemas mean."""


def _min_length(value: Any, limit: int, path: str) -> Iterator[Problem]:
    if isinstance(value, str) and len(value) < limit:
        yield Problem(path, "must not be empty.")


def _size(word: str, fits: Callable[[int, int], bool]) -> Callable[[Any, int, str], Iterator[Problem]]:
    def check(value: Any, limit: int, path: str) -> Iterator[Problem]:
        if isinstance(value, dict) and not fits(len(value), limit):
            yield Problem(path, f"must have {word} {limit} entries, not {len(value)}.")

    return check


def _items(value: Any, rules: Schema, path: str) -> Iterator[Problem]:
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from apply(item, rules, f"{path}[{number}]")


def _unique_items(value: Any, wanted: bool, path: str) -> Iterator[Problem]:
    if wanted and isinstance(value, list):
        for number, item in enumerate(value):
            if any(_equal(item, earlier) for earlier in value[:number]):
                yield Problem(f"{path}[{number}]", f"{shown(item)} is there twice.")


_KEYWORDS: Final[MappingProxyType[str, Callable[[Any, Any, str], Iterator[Problem]]]] = MappingProxyType(
    {
        "const": _const,
        "enum": _enum,
        "items": _items,
        "maxProperties": _size("at most", lambda size, limit: size <= limit),
        "maximum": _maximum,
        "minLength": _min_length,
        "minProperties": _size("at least", lambda size, limit: size >= limit),
        "minimum": _minimum,
        "pattern": _pattern,
        "uniqueItems": _unique_items,
    }
)
KEYWORDS: Final = frozenset(
    {*_KEYWORDS, "$schema", "additionalProperties", "oneOf", "properties", "required", "title", "type"}
)
"""Every keyword that is understood."""
