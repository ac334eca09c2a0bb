"""Whether a JSON text is a record of the specification, and if not, where and why."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache, reduce
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import msgspec

from aui_tui.model.vocabulary import choose
from aui_tui.text import clean

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

KINDS: Final = ("card", "index", "summary")
MAX_PROBLEMS: Final = 100
"""Problems reported for one text."""


class Problem(msgspec.Struct, frozen=True):
    """One thing that is wrong: where (``ranked[3].score``, empty for the whole) and why."""

    path: str
    why: str

    def __str__(self) -> str:
        return f"{self.path or 'the record'}: {self.why}"


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a text was read as (one of KINDS, with ``s`` for several), how many records it holds, what is wrong."""

    kind: str
    records: int
    problems: tuple[Problem, ...]

    @property
    def valid(self) -> bool:
        """True when nothing is wrong."""
        return not self.problems


@cache
def schema(kind: str) -> dict[str, Any]:
    """Return the packaged JSON Schema of one of KINDS."""
    text = files("aui_tui.model").joinpath(f"schemas/{kind}.schema.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def joined(path: str, part: str | int) -> str:
    """Return the path to ``part`` (a name, or the number of an item) of what lies at ``path``, perhaps ``line 3``."""
    if isinstance(part, int):
        return f"{path}[{part}]"
    name = clean(part, 60)
    if path.startswith("line ") and " " not in path[5:] and ":" not in path:
        return f"{path}: {name}"
    return f"{path}.{name}" if path else name


def shown(value: object) -> str:
    """Return ``value`` as it may stand in a sentence."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    return clean(json.dumps(value, ensure_ascii=False), 60)


def validate(data: bytes, kind: str = "") -> Verdict:
    """Return whether ``data`` is a record: a card, an index, an index row, an array of these, or NDJSON of them.

    ``kind`` is one of KINDS, or empty to go by the fields. Raises BadValue for another kind.
    """
    wanted = choose("kind of record", kind, KINDS) if kind else ""
    problems: list[Problem] = []
    texts = list(_texts(data, problems))
    single = len(texts) == 1 and not texts[0][0]
    named = wanted
    for path, value in ((path, _record(value)) for path, value in texts):
        named = wanted or _kind_of(value)
        for problem in _check(value, named, path):
            if len(problems) >= MAX_PROBLEMS:
                break
            problems.append(problem)
    plural = {"index": "indexes", "summary": "summaries"}.get(named, named + "s")
    return Verdict(
        kind=named if single else plural if named else "nothing", records=len(texts), problems=tuple(problems)
    )


def _record(value: Any) -> Any:
    """Return ``value`` without the field that tabular exports add to a record."""
    if isinstance(value, dict) and value.get("list") in ("ranked", "unreachable"):
        return {name: item for name, item in value.items() if name != "list"}
    return value


def _texts(data: bytes, problems: list[Problem]) -> Iterator[tuple[str, Any]]:
    """Yield each record of ``data`` with the path to it; what cannot be read becomes a problem."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problems.append(Problem("", f"byte {error.start + 1} is not UTF-8."))
        return
    try:
        whole = _parse(text)
    except (ValueError, RecursionError) as error:
        if _is_lines(text):
            yield from _by_line(text, problems)
        else:
            problems.append(Problem("", _syntax(error)))
        return
    if isinstance(whole, list):
        yield from ((f"[{number}]", value) for number, value in enumerate(whole))
    else:
        yield "", whole


def _is_lines(text: str) -> bool:
    """Return whether one of the first two lines is a whole JSON object by itself."""
    lines = [line for line in text.splitlines() if line.strip()]
    for line in lines[:2] if len(lines) > 1 else ():
        try:
            if isinstance(_parse(line), dict):
                return True
        except (ValueError, RecursionError):
            continue
    return False


def _by_line(text: str, problems: list[Problem]) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            yield f"line {number}", _parse(line)
        except (ValueError, RecursionError) as error:
            problems.append(Problem(f"line {number}", _syntax(error)))


def _parse(text: str) -> Any:
    return json.loads(text, parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_unique)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {clean(text, 30)} is too large")
    return number


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {shown(key)} is there twice in one object")
        found[key] = value
    return found


def _syntax(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "not JSON that can be read: nested too deep."
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg.lower()} in line {error.lineno}, column {error.colno}."
    return f"not JSON: {clean(str(error).partition(';')[0], 160)}."


def _kind_of(value: object) -> str:
    if isinstance(value, dict):
        if "ranked" in value or "unreachable" in value:
            return "index"
        if "top_evidence" in value and "evidence" not in value:
            return "summary"
    return "card"


def _check(value: Any, kind: str, path: str) -> Iterator[Problem]:
    rules = schema(kind)
    if "oneOf" in rules and isinstance(value, dict):
        branches = {branch["properties"]["method"]["const"]: branch for branch in rules["oneOf"]}
        method = value.get("method")
        if not isinstance(method, str) or method not in branches:
            reason = f"must be one of {', '.join(branches)}, not {shown(method)}" if "method" in value else "is missing"
            yield Problem(joined(path, "method"), f"{reason}.")
            return
        rules = branches[method]
    errors = _validator(json.dumps(rules)).iter_errors(value)
    yield from dict.fromkeys(_problems(errors, path))
    yield from _times(value, path)


@cache
def _validator(rules: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(rules))


def _problems(errors: Iterable[ValidationError], path: str) -> Iterator[Problem]:
    """Yield ``errors`` in the words of records; a value of the wrong type has that one problem only."""
    found = list(errors)
    mistyped = {tuple(error.absolute_path) for error in found if error.validator == "type"}
    for error in found:
        if error.validator == "oneOf":
            branches: dict[int, list[ValidationError]] = {}
            for inner in error.context or ():
                branches.setdefault(int(inner.schema_path[0]), []).append(inner)
            nearest = min(branches.items(), key=lambda branch: len(branch[1]), default=(0, []))
            yield from _problems(nearest[1], path)
        elif error.validator == "type" or tuple(error.absolute_path) not in mistyped:
            yield from _explain(error, reduce(joined, error.absolute_path, path))


def _explain(error: ValidationError, path: str) -> Iterator[Problem]:
    value: Any = error.instance
    limit: Any = error.validator_value
    rules: Any = error.schema
    if error.validator == "required":
        yield from (Problem(joined(path, name), "is missing.") for name in limit if name not in value)
    elif error.validator == "additionalProperties":
        names = [clean(name, 60) for name in value if name not in rules.get("properties", {})]
        yield from (Problem(joined(path, name), "is not a field of the specification.") for name in names)
    elif error.validator == "uniqueItems":
        seen = [json.dumps(item, sort_keys=True) for item in value]
        for number, item in enumerate(value):
            if seen[number] in seen[:number]:
                yield Problem(joined(path, number), f"{shown(item)} is there twice.")
    else:
        sentence = _SENTENCES.get(str(error.validator), lambda value, limit: clean(error.message, 160))
        yield Problem(path, sentence(value, limit) + ".")


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
_FORMS: Final = MappingProxyType(
    {
        r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$": "2026-11-20T10:00:00.000Z (UTC, milliseconds)",
        r"^(local-node|[a-z0-9]+-edge)$": "local-node or <provider>-edge",
        "^[A-F][+-]?$": "of a grade: A to F, with a + or - at most",
        "/site/": "<base_url>/site/<host>",
    }
)
"""What the patterns of the schemas mean."""


def _type(value: Any, limit: Any) -> str:
    allowed = [limit] if isinstance(limit, str) else limit
    return f"must be {' or '.join(_WORDS[kind] for kind in allowed)}, not {shown(value)}"


def _const(value: Any, limit: Any) -> str:
    given = "" if isinstance(value, dict | list) else f", not {shown(value)}"
    return f"must be {json.dumps(limit)}{given}"


_SENTENCES: Final[Mapping[str, Callable[[Any, Any], str]]] = MappingProxyType(
    {
        "type": _type,
        "const": _const,
        "enum": lambda value, limit: f"must be one of {', '.join(map(str, limit))}, not {shown(value)}",
        "minimum": lambda value, limit: f"must be at least {limit}, not {shown(value)}",
        "maximum": lambda value, limit: f"must be at most {limit}, not {shown(value)}",
        "pattern": lambda value, limit: f"{shown(value)} does not have the form {_FORMS.get(limit, limit)}",
        "minLength": lambda value, limit: "must not be empty",
        "minProperties": lambda value, limit: f"must have at least {limit} entries, not {len(value)}",
        "maxProperties": lambda value, limit: f"must have at most {limit} entries, not {len(value)}",
    }
)


def _times(value: Any, path: str) -> Iterator[Problem]:
    """Yield a problem for a time that has the right form but is not in the calendar."""
    if not isinstance(value, dict):
        return
    when = value.get("scanned_at")
    if isinstance(when, str) and re.fullmatch(r"[0-9T:.Z-]{24}", when):
        try:
            datetime.fromisoformat(when)
        except ValueError:
            yield Problem(joined(path, "scanned_at"), f"{shown(when)} is not a date and time of the calendar.")
    for name in ("ranked", "unreachable"):
        rows = value.get(name)
        for number, row in enumerate(rows if isinstance(rows, list) else ()):
            yield from _times(row, f"{joined(path, name)}[{number}]")
