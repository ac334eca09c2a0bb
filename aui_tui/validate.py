"""Validation of JSON texts as records of the schemas."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import msgspec

from aui_tui.errors import require
from aui_tui.model.methods import METHODS
from aui_tui.packaged import read_text
from aui_tui.text import clean

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

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
    rules: dict[str, Any] = json.loads(read_text(f"model/schemas/{kind}.schema.json"))
    return rules


def validate(data: bytes) -> Verdict:
    """Return whether ``data`` is a record: a card, an index, an index row, an array of these, or NDJSON of them."""
    problems: list[Problem] = []
    places = []
    kind = ""
    for place, value in _records(data):
        if isinstance(value, Problem):
            problems.append(value)
            continue
        places.append(place)
        kind = _kind_of(value)
        problems += islice(_problems(value, kind, place), MAX_PROBLEMS - len(problems))
    plural = {"index": "indexes", "summary": "summaries", "": "records"}.get(kind, kind + "s")
    return Verdict(kind=kind if places == [""] else plural, records=len(places), problems=tuple(problems))


def _records(data: bytes) -> Iterator[tuple[str, Any]]:
    """Yield each record of ``data`` with its place, a Problem for what cannot be read."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    document = _decoded(data, "")
    lines = [(number, line) for number, line in enumerate(data.splitlines(), 1) if line.strip()]
    if isinstance(document, Problem) and len(lines) > 1 and lines[0][1].rstrip().endswith(b"}"):
        yield from ((f"line {number}", _decoded(line, f"line {number}")) for number, line in lines)
    elif isinstance(document, list):
        yield from ((f"[{number}]", value) for number, value in enumerate(document))
    else:
        yield "", document


def _decoded(data: bytes, place: str) -> Any:
    """Return ``data`` as JSON, without the field that tabular exports add to a record; a Problem where it is none."""
    try:
        value = msgspec.json.decode(data)
    except RecursionError:
        return Problem(place, "not JSON that can be read: nested too deep.")
    except ValueError as error:
        return Problem(place, f"not JSON: {clean(error, 160)}.")
    if isinstance(value, dict) and value.get("list") in ("ranked", "unreachable"):
        del value["list"]
    return value


def _kind_of(value: object) -> str:
    if isinstance(value, dict):
        if "ranked" in value or "unreachable" in value:
            return "index"
        if "top_evidence" in value and "evidence" not in value:
            return "summary"
    return "card"


METHOD_RULES: Final = {"type": "object", "required": ["method"], "properties": {"method": {"enum": list(METHODS)}}}
"""What is asked of a card whose method is unknown."""


def _problems(value: Any, kind: str, place: str) -> Iterator[Problem]:
    """Yield what is wrong with a record in the library's own words, of alternatives the nearest one."""
    from jsonschema.exceptions import best_match

    rules = schema(kind)
    if "oneOf" in rules:
        branches = {branch["properties"]["method"]["const"]: branch for branch in rules["oneOf"]}
        method = value.get("method") if isinstance(value, dict) else None
        rules = branches[method] if isinstance(method, str) and method in branches else METHOD_RULES
    errors = (best_match([error]) or error for error in _validator(json.dumps(rules)).iter_errors(value))
    problems = [
        (error.json_path.removeprefix("$").removeprefix("."), f"{clean(error.message, 160)}.") for error in errors
    ]
    for path, why in dict.fromkeys((*problems, *_times(value))):
        yield Problem(": ".join(filter(None, (place, clean(path, 200)))), why)


@cache
def _validator(rules: str) -> Draft202012Validator:
    require("aui-tui validate", "validate", "jsonschema")
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(rules))


def _times(value: Any) -> Iterator[tuple[str, str]]:
    """Yield path and problem of each time that has the right form but is not in the calendar."""
    records = [("", value)]
    for name in ("ranked", "unreachable"):
        rows = value.get(name) if isinstance(value, dict) else None
        records += [(f"{name}[{number}].", row) for number, row in enumerate(rows if isinstance(rows, list) else ())]
    for where, record in records:
        when = record.get("scanned_at") if isinstance(record, dict) else None
        try:
            if isinstance(when, str) and re.fullmatch(r"[0-9T:.Z-]{24}", when):
                datetime.fromisoformat(when)
        except ValueError:
            yield f"{where}scanned_at", f"{when!r} is not a date and time of the calendar."
