"""Validation of JSON texts as records of the specification."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cache, reduce
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import msgspec

from aui_tui.errors import MissingExtra
from aui_tui.model.methods import METHODS
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
            raise ValueError(f"the key {clean(key, 60)!r} is there twice in one object")
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


METHOD_RULES: Final = {"type": "object", "required": ["method"], "properties": {"method": {"enum": list(METHODS)}}}
"""What is asked of a card whose method is unknown."""


def _check(value: Any, kind: str, path: str) -> Iterator[Problem]:
    rules = schema(kind)
    if "oneOf" in rules:
        branches = {branch["properties"]["method"]["const"]: branch for branch in rules["oneOf"]}
        method = value.get("method") if isinstance(value, dict) else None
        rules = branches[method] if isinstance(method, str) and method in branches else METHOD_RULES
    errors = _validator(json.dumps(rules)).iter_errors(value)
    yield from dict.fromkeys(_problems(errors, path))
    yield from _times(value, path)


@cache
def _validator(rules: str) -> Draft202012Validator:
    try:
        from jsonschema import Draft202012Validator
    except ImportError:
        raise MissingExtra("aui-tui validate", "validate") from None

    return Draft202012Validator(json.loads(rules))


def _problems(errors: Iterable[ValidationError], path: str) -> Iterator[Problem]:
    """Yield ``errors`` in the library's own words, of alternatives the nearest one."""
    from jsonschema.exceptions import best_match

    for error in errors:
        nearest = best_match([error]) or error
        yield Problem(reduce(joined, nearest.absolute_path, path), f"{clean(nearest.message, 160)}.")


def _times(value: Any, path: str) -> Iterator[Problem]:
    """Yield a problem for a time that has the right form but is not in the calendar."""
    if not isinstance(value, dict):
        return
    when = value.get("scanned_at")
    if isinstance(when, str) and re.fullmatch(r"[0-9T:.Z-]{24}", when):
        try:
            datetime.fromisoformat(when)
        except ValueError:
            yield Problem(joined(path, "scanned_at"), f"{when!r} is not a date and time of the calendar.")
    for name in ("ranked", "unreachable"):
        rows = value.get(name)
        for number, row in enumerate(rows if isinstance(rows, list) else ()):
            yield from _times(row, f"{joined(path, name)}[{number}]")
