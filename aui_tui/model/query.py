"""A query of the index: the query line, filters beside it, and the order of rows."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from aui_tui.model.surfaces import SLUGS
from aui_tui.model.terms import Term, all_of
from aui_tui.model.vocabulary import CATEGORIES, STANCES, choose
from aui_tui.text import clean

SORTS: Final = ("rank", "score", "change", "grade", "stance", "host", "name", "category", "age")
"""Columns a list can be ordered by; ``matrix.<slug>`` orders by the verdict of one surface."""


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """An index request: every filter must hold; filters apply to both lists.

    ``line`` is the query line as typed, ``terms`` what it means (see ``model.query_line``). An empty string means no
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
            terms=_read(line),
            sort=_sort(sort),
            descending=descending,
        )

    @property
    def fields(self) -> frozenset[str]:
        """The fields that its terms name."""
        return all_of(self.terms).fields

    def narrowed(self, terms: str) -> Query:
        """Return this query with more ``terms``; a category or a stance alone becomes the filter of that name."""
        if filters := re.fullmatch(_FILTER, terms):
            field, value = filters.groups()
            allowed = STANCES if field == "stance" else CATEGORIES
            return msgspec.structs.replace(self, **{field: choose(field, value, allowed)})
        return self.with_line(f"{self.line} {terms}".strip())

    def with_line(self, line: str) -> Query:
        """Return this query with another ``line``. Raises BadValue naming the term at fault."""
        return msgspec.structs.replace(self, line=clean(line, 500), terms=_read(line))

    def words(self) -> str:
        """Return the filters in words for a title, such as ``Walled in Retail matching "shop"``; may be empty."""
        parts = [self.stance] if self.stance else []
        if self.category:
            parts.append("in " + self.category)
        if self.line:
            parts.append('matching "' + self.line + '"')
        return " ".join(parts)


_FILTER: Final = r'(category|stance):"?([^":]+)"?'


def _read(line: str) -> tuple[Term, ...]:
    """Return what ``line`` means. Raises BadValue."""
    if not line:
        return ()
    from aui_tui.model.query_line import parse  # a first frame has no line to read

    return parse(line)


def _sort(name: str) -> str:
    head, dot, word = name.partition(".")
    if dot and head.casefold() == "matrix":
        from aui_tui.model.registry import registry  # a first frame sorts by no name of an assistant

        matching = registry().surfaces_of(word)
        if len(matching) == 1:
            return "matrix." + matching[0].slug
    return choose("sort column", name or "rank", (*SORTS, *("matrix." + slug for slug in SLUGS)))
