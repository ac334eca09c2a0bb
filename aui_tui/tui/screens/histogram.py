"""The histogram: how many hosts have each value of a column; enter narrows the list to one."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from textual.app import ComposeResult
from textual.content import Content

from aui_tui.model.agents import NOT_ASKED
from aui_tui.model.listing import PAGE, Row, Window
from aui_tui.model.query import CHANGES, NEW, Query
from aui_tui.model.registry import surfaces
from aui_tui.model.vocabulary import CATEGORIES, GRADES, STANCES
from aui_tui.text import count
from aui_tui.tui.columns import RANKED, Column, cell
from aui_tui.tui.context import Context, attempt, start
from aui_tui.tui.figures import COUNTED, bar_row, decade, figure, narrowed, of_agent, served_by
from aui_tui.tui.rows import paragraph
from aui_tui.tui.screens.windows import Dialog
from aui_tui.tui.widgets.listing import RowList

FILTERS: Final = "enter filters by the row · esc closes"
MOST: Final = 40
"""Different values that are shown at most; the others are one row."""
SPOKEN: Final = {
    "rank": "score",
    "change": "change",
    "grade": "grade",
    "by": "who turns away",
    "disagree": "robots.txt and the answers",
}
"""Names of columns whose heading is a sign or a fragment."""
Value = tuple[str, int, str]
"""A value in words, the hosts that have it, and the key of the figure that narrows the list to them, empty for none."""


class HistogramScreen(Dialog[Query | None]):
    """Counts the values of one column of the list; answers with the query narrowed to the chosen one."""

    AUTO_FOCUS = "RowList"

    def __init__(self, context: Context, query: Query, column: Column) -> None:
        super().__init__(f"Count by {SPOKEN.get(column.key, column.label or column.key)}", FILTERS)
        self.context = context
        self._asked = query
        self._column = column

    def inside(self) -> ComposeResult:
        yield RowList(opens="List", id="histogram")

    def on_mount(self) -> None:
        start(self, "overview", self._read)

    async def _read(self) -> None:
        found, problem = await attempt(self._count())
        if found is None:
            self._say("esc closes")
            self.query_one(RowList).show(lambda size: [paragraph(problem, size, "warn")])
        else:
            self._show(*found)

    async def _count(self) -> tuple[list[Value], int]:
        """Return the values with their hosts, last the hosts that have none of them, and the hosts of the list."""
        key, window = self._column.key, (await self.context.service.index(self._asked)).ranked
        found = await (self._by_row(OF_ROW[key], window) if key in OF_ROW else self._by_term())
        rest = len(window) - sum(number for _, number, _ in found)
        if rest and key != "out":  # a host that turns several assistants away counts for each
            found.append(("no grade" if key == "grade" else "other values", rest, ""))
        return found, len(window)

    async def _by_term(self) -> list[Value]:
        """Ask for the list that each value would leave."""
        found: list[Value] = []
        for words, key in values_of(self._column):
            kind, _, value = key.partition(" ")
            view = await self.context.service.index(narrowed(self._asked, kind, value))
            found.append((words, len(view.ranked), key))
        return found

    async def _by_row(self, value_of: Callable[[Row], tuple[str, str]], window: Window) -> list[Value]:
        """Read the rows of the list and count their values, showing how far it is."""
        found: Counter[tuple[str, str]] = Counter()
        for start_at in range(0, len(window), PAGE):
            found.update(map(value_of, window[start_at : start_at + PAGE]))
            self._say(f"{min(start_at + PAGE, len(window)):,} of {len(window):,} hosts counted")
            await asyncio.sleep(0)
        return [(words, number, key) for (words, key), number in found.most_common(MOST)]

    def _say(self, words: str) -> None:
        self.query_one(".window").border_subtitle = Content(words)

    def _show(self, found: Sequence[Value], whole: int) -> None:
        block = self.query_one(RowList)
        self._say(FILTERS if any(key for *_, key in found) else "no term filters by this column · esc closes")
        if not whole:
            block.show(lambda size: [paragraph("This list has no hosts to count.", size, "muted")])
            return
        block.show(
            lambda size: [bar_row(name, number, whole, size, key if number else "", 24) for name, number, key in found],
            top=True,
        )

    def on_row_list_chosen(self, message: RowList.Chosen) -> None:
        kind, _, value = message.key.partition(" ")
        self.dismiss(narrowed(self._asked, kind, value))


def values_of(column: Column) -> Iterator[tuple[str, str]]:
    """Yield the values of a column that a term asks for: in words, and the key of their figure."""
    key = column.key
    if key in ("rank", "score"):
        yield from ((decade(place).replace("..", " to "), figure("score", decade(place))) for place in range(10))
    elif key == "out":
        yield from ((f"{surface.label} out", of_agent(surface, "out")) for surface in surfaces())
    elif key in VALUES:
        yield from ((value, figure(TERMS.get(key, key), value)) for value in VALUES[key])
    else:
        surface = next(one for one in surfaces() if key == "matrix." + one.slug)
        yield from ((word, of_agent(surface, word)) for word in (*COUNTED, NOT_ASKED))


TERMS: Final = {"age": "fresh"}
"""The term that asks for a column, where it has another name."""
VALUES: Final[dict[str, Sequence[str]]] = {
    "grade": [grade.lower() for grade in GRADES],
    "stance": STANCES,
    "category": CATEGORIES,
    "age": ("<1d", "1d..7d", "7d..30d", ">30d"),
    "change": (*CHANGES, NEW),
}
BY: Final = next(column for column in RANKED if column.key == "by")


OF_ROW: Final[dict[str, Callable[[Row], tuple[str, str]]]] = {
    "disagree": lambda row: ("they disagree", figure("contradiction", "")) if row.disagree else ("they agree", ""),
    "by": lambda row: (cell(BY, row, 0.0).text or "nobody is turned away", ""),
    "host": lambda row: (f".{row.summary.host.rpartition('.')[2]}", ""),
    "name": lambda row: (row.summary.name, figure("host", row.summary.name)),
    "next": lambda row: (row.best_fix or "nothing left to fix", ""),
    "scans": lambda row: (count(row.scans, "scan"), ""),
    "finding": lambda row: (row.summary.top_evidence, ""),
    "method": lambda row: (row.method, figure("method", row.method) if row.method else ""),
    "edge": lambda row: (row.edge or "none recognised", served_by(row.edge)),
}
"""Columns that are counted row by row: the value in words, and the key of the figure that narrows the list to it."""
