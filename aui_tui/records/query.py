"""What an index is asked for: filters, the query line, and the order of rows.

The query line is free text plus terms, all of which must hold::

    stance:walled category:travel agent:claude=blocked edge:akamai score:<40 grade:f
    has:llms signal:no fresh:<7d contradiction

A leading ``-`` turns a term round; ``"double quotes"`` keep a value with spaces together.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final

import msgspec

from aui_tui.errors import BadValue
from aui_tui.records.registry import registry
from aui_tui.records.vocabulary import CATEGORIES, FIXES, GRADES, STANCES, VERDICTS, choose
from aui_tui.text import clean

SORTS: Final = ("rank", "score", "change", "grade", "stance", "host", "name", "category", "age")
"""Columns a list can be ordered by; ``matrix.<slug>`` orders by the verdict of one surface."""

FIELDS: Final = MappingProxyType(
    {
        "stance": "stance:walled",
        "category": "category:travel",
        "agent": "agent:claude=blocked",
        "edge": "edge:akamai",
        "score": "score:<40",
        "grade": "grade:f",
        "has": "has:llms",
        "signal": "signal:no",
        "fresh": "fresh:<7d",
        "method": "method:v0.2",
        "fix": "fix:llms",
        "tasks": "tasks:yes",
        "contradiction": "contradiction",
    }
)
"""Every term's name and an example of it."""

HAS: Final = ("llms", "ai-plugin", "jsonld", "main", "nav", "forms", "signal", "wildcard", "shell")
AGES: Final = MappingProxyType({"m": 60, "h": 3600, "d": 86400, "w": 604800})
_COMPARE = re.compile(r"^(<=|>=|<|>|=)?(\d{1,9})([mhdw]?)$")


class Term(msgspec.Struct, frozen=True, kw_only=True):
    """One condition: ``field`` (a key of FIELDS or ``text``), ``op`` (``=``, ``<``, ``<=``, ``>``, ``>=``), ``value``.

    ``key`` is the surface slug of an ``agent`` term; ``number`` the value of a comparison (``fresh``: seconds);
    ``negated`` turns the condition round.
    """

    field: str
    value: str
    op: str = "="
    key: str = ""
    number: int = 0
    negated: bool = False


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """An index request: every filter must hold; filters apply to both lists (specification 4.1).

    ``line`` is the query line as typed, ``terms`` what it means (see :func:`parse`). An empty string means no
    filter. ``sort`` is one of SORTS or ``matrix.<slug>``; ``descending`` reverses its natural direction.
    """

    category: str = ""
    stance: str = ""
    line: str = ""
    terms: tuple[Term, ...] = ()
    sort: str = "rank"
    descending: bool = False

    @classmethod
    def of(
        cls, *, category: str = "", stance: str = "", line: str = "", sort: str = "rank", descending: bool = False
    ) -> Query:
        """Return a checked query. Raises BadValue naming what was wrong and what is allowed."""
        return cls(
            category=choose("category", category, CATEGORIES) if category else "",
            stance=choose("stance", stance, STANCES) if stance else "",
            line=clean(line, 500),
            terms=parse(line),
            sort=_sort(sort),
            descending=descending,
        )

    def words(self) -> str:
        """Return the filters in words for a title, such as ``Walled in Retail matching "shop"``; may be empty."""
        parts = [self.stance] if self.stance else []
        if self.category:
            parts.append("in " + self.category)
        if self.line:
            parts.append('matching "' + self.line + '"')
        return " ".join(parts)


def _sort(name: str) -> str:
    head, dot, word = name.partition(".")
    found = registry().surfaces_of(word) if dot and head.casefold() == "matrix" else ()
    if len(found) == 1:
        return "matrix." + found[0].slug
    slugs = tuple("matrix." + surface.slug for surface in registry().surfaces)
    return choose("sort column", name or "rank", (*SORTS, *slugs))


def parse(line: str) -> tuple[Term, ...]:
    """Return the terms of a query line. Raises BadValue with one sentence that names the term at fault."""
    return tuple(_term(word) for word in _split(line))


def _split(line: str) -> list[str]:
    lexer = shlex.shlex(clean(line, 500), posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    lexer.escape = ""
    lexer.quotes = '"'
    try:
        return list(lexer)
    except ValueError:
        raise BadValue('The query has a double quote (") that is not closed.') from None


def _term(word: str) -> Term:
    negated = word.startswith("-") and len(word) > 1
    body = word[1:] if negated else word
    if body.casefold() == "contradiction":
        return Term(field="contradiction", value="", negated=negated)
    name, colon, value = body.partition(":")
    name = name.casefold()
    if not colon or not name.isalpha() or (name not in FIELDS and value.isdigit()):
        return Term(field="text", value=body.casefold(), negated=negated)
    if name not in FIELDS or name == "contradiction":
        near = get_close_matches(name, FIELDS, n=1)
        hint = f"did you mean {near[0]}:?" if near else f"allowed are: {', '.join(FIELDS)}."
        raise BadValue(f"Unknown query term {name}: in {clean(word, 60)!r}; {hint}", allowed=tuple(FIELDS))
    if not value:
        raise BadValue(f"The query term {name}: needs a value, for example {FIELDS[name]}.")
    return _READERS[name](value, negated)


def _stance(value: str, negated: bool) -> Term:
    return Term(field="stance", value=choose("stance", value, STANCES), negated=negated)


def _category(value: str, negated: bool) -> Term:
    wanted = value.casefold()
    hits = [word for word in CATEGORIES if word.casefold().startswith(wanted)]
    return Term(field="category", value=hits[0] if hits else choose("category", value, CATEGORIES), negated=negated)


def _agent(value: str, negated: bool) -> Term:
    name, _, verdict = value.partition("=")
    found = registry().surfaces_of(name)
    slug = found[0].slug if found else choose("agent", name, tuple(s.slug for s in registry().surfaces))
    if not verdict:
        raise BadValue(f"agent:{slug} needs a verdict, for example agent:{slug}=blocked.", allowed=VERDICTS)
    return Term(field="agent", key=slug, value=choose("verdict", verdict, VERDICTS), negated=negated)


def _grade(value: str, negated: bool) -> Term:
    return Term(field="grade", value=choose("grade", value, GRADES), negated=negated)


def _has(value: str, negated: bool) -> Term:
    return Term(field="has", value=choose("has: word", value, HAS), negated=negated)


def _signal(value: str, negated: bool) -> Term:
    return Term(field="signal", value=choose("signal: word", value, ("yes", "no")), negated=negated)


def _tasks(value: str, negated: bool) -> Term:
    return Term(field="tasks", value=choose("tasks: word", value, ("yes", "no")), negated=negated)


def _score(value: str, negated: bool) -> Term:
    found = _COMPARE.match(value)
    if found is None or found[3]:
        raise BadValue(f"score: takes a number such as score:<40, not {clean(value, 40)!r}.")
    return Term(field="score", value=value, op=found[1] or "=", number=int(found[2]), negated=negated)


def _fresh(value: str, negated: bool) -> Term:
    found = _COMPARE.match(value)
    if found is None or not found[3]:
        raise BadValue(f"fresh: takes an age such as fresh:<7d (m, h, d or w), not {clean(value, 40)!r}.")
    return Term(field="fresh", value=value, op=found[1] or "<=", number=int(found[2]) * AGES[found[3]], negated=negated)


def _plain(field: str, value: str, negated: bool) -> Term:
    return Term(field=field, value=value.casefold(), negated=negated)


def _edge(value: str, negated: bool) -> Term:
    return Term(field="edge", value=value.casefold(), negated=negated)


def _method(value: str, negated: bool) -> Term:
    return Term(field="method", value=value.casefold(), negated=negated)


def _fix(value: str, negated: bool) -> Term:
    return Term(field="fix", value=choose("fix", value, FIXES), negated=negated)


_READERS: Final[MappingProxyType[str, Callable[[str, bool], Term]]] = MappingProxyType(
    {
        "stance": _stance,
        "category": _category,
        "agent": _agent,
        "edge": _edge,
        "score": _score,
        "grade": _grade,
        "has": _has,
        "signal": _signal,
        "tasks": _tasks,
        "fresh": _fresh,
        "method": _method,
        "fix": _fix,
    }
)
