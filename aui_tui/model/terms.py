"""A term of a query: a condition over the table ``site`` of ``index/schema.sql``. Every value in it is bound."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec


class Term(msgspec.Struct, frozen=True):
    """A condition: SQL over the table ``site`` that is true or false, never NULL, and its bound values.

    ``fields``: the fields of the query language that it names. ``among`` and ``among_values``: SQL that gives ids by an
    index, those of all hosts for which the condition holds among them; empty where no index has them.
    """

    sql: str
    values: tuple[str | int, ...] = ()
    fields: frozenset[str] = frozenset()
    among: str = ""
    among_values: tuple[str | int, ...] = ()


def any_of(terms: Iterable[Term]) -> Term:
    """Return the condition that one of ``terms`` holds."""
    unique = tuple(dict.fromkeys(terms))
    return _joined(" OR ", unique, unique if all(term.among for term in unique) else ())


def all_of(terms: Iterable[Term]) -> Term:
    """Return the condition that each of ``terms`` holds; true without any."""
    unique = tuple(dict.fromkeys(terms))
    return _joined(" AND ", unique, [term for term in unique if term.among][:1])


def _joined(word: str, terms: Sequence[Term], among: Sequence[Term]) -> Term:
    if len(terms) == 1:
        return terms[0]
    return Term(
        f"({word.join(term.sql for term in terms)})" if terms else "1",
        tuple(value for term in terms for value in term.values),
        frozenset().union(*(term.fields for term in terms)),
        " UNION ALL ".join(term.among for term in among),
        tuple(value for term in among for value in term.among_values),
    )


def opposite(term: Term) -> Term:
    """Return the condition that ``term`` does not hold."""
    return Term(f"NOT ({term.sql})", term.values, term.fields)
