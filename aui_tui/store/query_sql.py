"""From a query to SQL over the table ``site``: conditions and orders, every value a bound parameter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from aui_tui.records.codec import names_of
from aui_tui.records.match import BEST_VERDICT_FIRST
from aui_tui.records.query import ALL as ALL_OF
from aui_tui.records.query import CONTRADICTIONS, HAS, Query, Term
from aui_tui.records.registry import surfaces
from aui_tui.records.vocabulary import FIXES
from aui_tui.store import columns

Value = str | int | float | bytes | None


class Condition(NamedTuple):
    """An SQL expression over ``site`` and its bound values, in order."""

    sql: str
    values: tuple[Value, ...] = ()

    def __and__(self, other: Condition) -> Condition:
        if other.sql == "1":
            return self
        if self.sql == "1":
            return other
        return Condition(f"{self.sql} AND {other.sql}", self.values + other.values)


ALL: Final = Condition("1")


def conditions(query: Query, now: float) -> Condition:
    """Return what every row of ``query`` satisfies; ``now`` is in epoch seconds."""
    return category(query.category) & stance(query.stance) & terms(query, now)


def category(word: str) -> Condition:
    """Return the condition of the category filter; ``ALL`` for an empty word."""
    return Condition("category = ?", (columns.CATEGORY.get(word, columns.OTHER),)) if word else ALL


def stance(word: str) -> Condition:
    """Return the condition of the stance filter; ``ALL`` for an empty word."""
    return Condition("stance = ?", (columns.STANCE[word],)) if word else ALL


def terms(query: Query, now: float) -> Condition:
    """Return the conditions of the query line alone."""
    found = ALL
    for term in query.terms:
        found &= of_term(term, now)
    return found


def of_term(term: Term, now: float) -> Condition:
    """Return the condition of one term, its negation included."""
    plain = _compound(term, now) if term.parts else _WRITERS[term.field](term, now)
    return Condition(f"NOT ({plain.sql})", plain.values) if term.negated else Condition(f"({plain.sql})", plain.values)


def _compound(term: Term, now: float) -> Condition:
    parts = [of_term(part, now) for part in term.parts]
    joined = (" AND " if term.field == ALL_OF else " OR ").join(part.sql for part in parts)
    return Condition(joined, tuple(value for part in parts for value in part.values))


def _contradiction(term: Term, now: float) -> Condition:
    """Return the condition of one direction, or of either.

    Rows without directions, which a program before them wrote, are judged by the verdicts of the live agents.
    """
    if not term.value:
        return _bit(columns.CONTRADICTION_AT)
    shut = ("blocked", "walled") if term.value == "out" else ("disallowed",)
    places = [place for place, surface in enumerate(surfaces()) if surface.live]
    verdicts = [_verdict(place, word) for place in places for word in shut]
    known = _bit(columns.DIRECTION_AT + CONTRADICTIONS.index(term.value))
    contradiction, directions = 1 << columns.CONTRADICTION_AT, 3 << columns.DIRECTION_AT
    return Condition(
        f"{known.sql} OR (bits & ? = ? AND ({' OR '.join(one.sql for one in verdicts)}))",
        (
            *known.values,
            contradiction | directions,
            contradiction,
            *(value for one in verdicts for value in one.values),
        ),
    )


def _verdict(place: int, word: str) -> Condition:
    return _field(columns.VERDICT_WIDTH * place, columns.VERDICT_WIDTH, columns.VERDICT[word])


def _bit(position: int, *, wanted: bool = True) -> Condition:
    mask = 1 << position
    return Condition("bits & ? = ?", (mask, mask if wanted else 0))


def _field(position: int, width: int, value: int) -> Condition:
    return Condition("bits & ? = ?", (((1 << width) - 1) << position, value << position))


def _agent(term: Term, now: float) -> Condition:
    return _verdict(names_of("matrix").index(term.key), term.value)


def _edge(term: Term, now: float) -> Condition:
    return Condition("edge IN (SELECT id FROM edge WHERE instr(text, ?))", (term.value,))


def _score(term: Term, now: float) -> Condition:
    return Condition(f"score {_COMPARE[term.op]} ?", (term.number,))


def _fresh(term: Term, now: float) -> Condition:
    return Condition(f"max(? - at, 0) {_COMPARE[term.op]} ?", (now * 1000, term.number * 1000))


def _method(term: Term, now: float) -> Condition:
    code = columns.METHOD.get(term.value)
    return _field(columns.METHOD_AT, 2, code) if code is not None else Condition("0")


def _text(term: Term, now: float) -> Condition:
    return Condition("instr(host, ?) OR instr(name, ?)", (term.value, term.value))


TRIGRAM: Final = 3
"""Shortest text in characters that the trigram index can find."""


def phrase(text: str) -> str:
    """Return ``text`` as one FTS5 string (FTS5 3.1): a substring for the trigram tokenizer."""
    return '"' + text.replace('"', '""') + '"'


_COMPARE: Final = MappingProxyType({"=": "=", "<": "<", "<=": "<=", ">": ">", ">=": ">="})
_WRITERS: Final[MappingProxyType[str, Callable[[Term, float], Condition]]] = MappingProxyType(
    {
        "stance": lambda term, now: stance(term.value),
        "category": lambda term, now: category(term.value),
        "agent": _agent,
        "edge": _edge,
        "score": _score,
        "grade": lambda term, now: _field(columns.GRADE_AT, 3, columns.GRADE[term.value]),
        "has": lambda term, now: _bit(columns.HAS_AT + HAS.index(term.value)),
        "signal": lambda term, now: _bit(columns.HAS_AT + HAS.index("signal"), wanted=term.value == "yes"),
        "fresh": _fresh,
        "method": _method,
        "fix": lambda term, now: _bit(columns.FIX_AT + FIXES.index(term.value)),
        "contradiction": _contradiction,
        "tasks": lambda term, now: _bit(columns.TASKS_AT, wanted=term.value == "yes"),
        "text": _text,
    }
)


def order(query: Query) -> str:
    """Return the ORDER BY expression of ``query``, as ``records.order`` defines it."""
    keys = [*_KEYS[query.sort], ("score", True), ("host", False)] if query.sort in _KEYS else _matrix(query.sort)
    if query.sort == "host":
        keys = [("host", False)]
    written = [f"{sql}{' DESC' if down != query.descending else ''}" for sql, down in keys]
    if query.sort == "change":
        written.insert(0, "change IS NULL")
    elif query.sort not in _KEYS:
        written.insert(0, f"{keys[0][0]} = {len(BEST_VERDICT_FIRST)}")
    return ", ".join(written)


_KEYS: Final[MappingProxyType[str, Sequence[tuple[str, bool]]]] = MappingProxyType(
    {
        "rank": (),
        "score": (),
        "change": (("change", True),),
        "grade": ((f"bits >> {columns.GRADE_AT} & 7", False),),
        "stance": (("stance", False),),
        "host": (),
        "name": (("name", False),),
        "category": (("category", False),),
        "age": (("at", True),),
    }
)


def _matrix(sort: str) -> list[tuple[str, bool]]:
    place = columns.VERDICT_WIDTH * names_of("matrix").index(sort.removeprefix("matrix."))
    cases = " ".join(f"WHEN {columns.VERDICT[word]} THEN {n}" for n, word in enumerate(BEST_VERDICT_FIRST))
    return [
        (f"CASE bits >> {place} & 7 {cases} ELSE {len(BEST_VERDICT_FIRST)} END", False),
        ("score", True),
        ("host", False),
    ]
