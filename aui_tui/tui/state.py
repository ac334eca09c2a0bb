"""What the index screen shows, as frozen data, and how each key changes it."""

from __future__ import annotations

from shlex import quote
from typing import Final

import msgspec
from msgspec.structs import replace

from aui_tui.records.query import Query, parse
from aui_tui.records.registry import registry
from aui_tui.records.view import IndexView, Window
from aui_tui.text import clean
from aui_tui.tui.columns import Mode

SORT_ORDER: Final = ("rank", "score", "change", "grade", "stance", "host", "category", "age")
"""Sort keys in the order of the columns."""


class ListState(msgspec.Struct, frozen=True):
    """The query, which of the two lists is shown, whether as a matrix, the marked hosts, and the last answer."""

    query: Query = msgspec.field(default_factory=Query)
    unreachable: bool = False
    matrix: bool = False
    marks: frozenset[str] = frozenset()
    view: IndexView | None = None

    @property
    def mode(self) -> Mode:
        """Which columns the list has."""
        return "unreachable" if self.unreachable else "matrix" if self.matrix else "ranked"

    @property
    def window(self) -> Window | None:
        """The list that is shown, None before the first answer."""
        if self.view is None:
            return None
        return self.view.unreachable if self.unreachable else self.view.ranked

    @property
    def filtered(self) -> bool:
        """Whether any filter holds rows back."""
        return bool(self.query.stance or self.query.category or self.query.terms)

    def with_query(self, query: Query) -> ListState:
        """Return the state with another query."""
        return replace(self, query=query)

    def with_line(self, text: str) -> ListState:
        """Return the state with another query line. Raises BadValue naming the term at fault."""
        return self.with_query(replace(self.query, line=clean(text, 500), terms=parse(text)))

    def with_stance(self, stance: str) -> ListState:
        """Return the state with this stance alone; the same stance again, or none, shows all."""
        return self.with_query(replace(self.query, stance="" if stance == self.query.stance else stance))

    def with_category(self, category: str) -> ListState:
        """Return the state with one category, or all."""
        return self.with_query(replace(self.query, category=category))

    def sorted_by(self, key: str) -> ListState:
        """Return the state sorted by ``key``; the same key again turns the order round.

        A surface of the matrix begins with the hosts that shut it out.
        """
        if key == self.query.sort:
            return self.turned()
        return self.with_query(replace(self.query, sort=key, descending=key.startswith("matrix.")))

    def turned(self) -> ListState:
        """Return the state with its order turned round."""
        return self.with_query(replace(self.query, descending=not self.query.descending))

    def sorted_beside(self, step: int) -> ListState:
        """Return the state sorted by the column ``step`` columns further."""
        keys = self.sort_keys
        place = keys.index(self.query.sort) if self.query.sort in keys else 0
        return self.sorted_by(keys[(place + step) % len(keys)])

    @property
    def sort_keys(self) -> tuple[str, ...]:
        """The sort keys of the columns on show, from left to right."""
        if self.unreachable:
            return ("host", "category", "age")
        if self.matrix:
            return ("rank", "score", "stance", "host", *("matrix." + s.slug for s in registry().surfaces))
        return SORT_ORDER

    def cleared(self) -> ListState | None:
        """Return the state without its search, else without its filters, else without marks; None when all are off."""
        if self.query.line:
            return self.with_line("")
        if self.query.stance or self.query.category:
            return self.with_query(replace(self.query, stance="", category=""))
        return replace(self, marks=frozenset()) if self.marks else None

    def marked(self, host: str) -> ListState:
        """Return the state with ``host`` marked, or no longer."""
        return replace(self, marks=self.marks ^ {host})

    def command(self) -> str:
        """Return the shell command that prints this list."""
        parts = ["aui-tui", "index"]
        if self.query.category:
            parts += ["--category", quote(self.query.category)]
        if self.query.stance:
            parts += ["--stance", quote(self.query.stance)]
        if self.query.line:
            parts += ["--query", quote(self.query.line)]
        if self.query.sort != "rank":
            parts += ["--sort", quote(self.query.sort)]
        if self.query.descending:
            parts.append("--reverse")
        return " ".join(parts)
