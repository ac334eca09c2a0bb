"""A term of a query: a condition over the table ``site`` of ``index/schema.sql``. Every value in it is bound."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec


class Term(msgspec.Struct, frozen=True):
    """A condition: SQL over the table ``site`` that is true or false, never NULL, and its bound values.

    ``fields``: the fields of the query language that it names. ``text``: what host or name must hold, for a term of
    free text that is not negated.
    """

    sql: str
    values: tuple[str | int, ...] = ()
    fields: frozenset[str] = frozenset()
    text: str = ""


def any_of(terms: Iterable[Term]) -> Term:
    """Return the condition that one of ``terms`` holds."""
    return _joined(" OR ", terms)


def all_of(terms: Iterable[Term]) -> Term:
    """Return the condition that each of ``terms`` holds; true without any."""
    return _joined(" AND ", terms)


def _joined(word: str, terms: Iterable[Term]) -> Term:
    unique = tuple(dict.fromkeys(terms))
    if len(unique) == 1:
        return unique[0]
    return Term(
        f"({word.join(term.sql for term in unique)})" if unique else "1",
        tuple(value for term in unique for value in term.values),
        frozenset().union(*(term.fields for term in unique)),
    )


def opposite(term: Term) -> Term:
    """Return the condition that ``term`` does not hold."""
    return Term(f"NOT ({term.sql})", term.values, term.fields)
