"""Whether a JSON text is a record of the specification, and if not, where and why."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

import msgspec

from aui_tui.records.schema import Problem, apply, joined, schema, shown
from aui_tui.records.vocabulary import choose
from aui_tui.text import clean

KINDS: Final = ("card", "index", "summary")
MAX_PROBLEMS: Final = 100
"""Problems told of one text."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a text was read as (one of KINDS, with ``s`` for several), how many records it holds, what is wrong."""

    kind: str
    records: int
    problems: tuple[Problem, ...]

    @property
    def valid(self) -> bool:
        """True when nothing is wrong."""
        return not self.problems


def validate(data: bytes, kind: str = "") -> Verdict:
    """Return whether ``data`` is a record: a card, an index, an index row, an array of these, or NDJSON of them.

    ``kind`` is one of KINDS, or empty to go by the fields. Raises BadValue for another kind.
    """
    wanted = choose("kind of record", kind, KINDS) if kind else ""
    problems: list[Problem] = []
    texts = list(_texts(data, problems))
    single = len(texts) == 1 and not texts[0][0]
    named = wanted
    for path, value in texts:
        named = wanted or _kind_of(value)
        for problem in _check(value, named, path):
            if len(problems) >= MAX_PROBLEMS:
                break
            problems.append(problem)
    plural = {"index": "indexes", "summary": "summaries"}.get(named, named + "s")
    return Verdict(
        kind=named if single else plural if named else "nothing", records=len(texts), problems=tuple(problems)
    )


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
    raise ValueError(f"{name} is no number of JSON")


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
    yield from apply(value, schema(kind), path)
    yield from _times(value, path)


def _times(value: Any, path: str) -> Iterator[Problem]:
    """Tell of a time that has the right form and no place in the calendar."""
    if not isinstance(value, dict):
        return
    when = value.get("scanned_at")
    if isinstance(when, str) and re.fullmatch(r"[0-9T:.Z-]{24}", when):
        try:
            datetime.fromisoformat(when)
        except ValueError:
            yield Problem(joined(path, "scanned_at"), f"{shown(when)} is no time of the calendar.")
    for name in ("ranked", "unreachable"):
        rows = value.get(name)
        for number, row in enumerate(rows if isinstance(rows, list) else ()):
            yield from _times(row, f"{joined(path, name)}[{number}]")
