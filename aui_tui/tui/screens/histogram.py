"""The histogram: how many hosts have each value of a column; enter narrows the list to one."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content

from aui_tui.model.agents import SHUT
from aui_tui.model.query import CHANGES, NEW, Query
from aui_tui.model.registry import Surface, surfaces
from aui_tui.model.view import PAGE, Overview, Row
from aui_tui.model.vocabulary import STANCES
from aui_tui.text import count
from aui_tui.tui.bindings import HISTOGRAM
from aui_tui.tui.columns import Column, cell
from aui_tui.tui.context import Context, attempt, start
from aui_tui.tui.figures import bar_row, decade, fates_of, figure, narrowed, of_agent
from aui_tui.tui.rows import paragraph
from aui_tui.tui.screens.windows import Window
from aui_tui.tui.widgets.listing import Listing

FILTERS: Final = "enter filters by the row · esc closes"


class HistogramScreen(Window[Query | None]):
    """Counts the values of one column of the list; answers with the query narrowed to the chosen one."""

    BINDINGS: ClassVar[list[BindingType]] = [*HISTOGRAM]
    AUTO_FOCUS = "Listing"

    def __init__(self, context: Context, query: Query, column: Column) -> None:
        super().__init__(f"Histogram of {SPOKEN.get(column.key, column.label or column.key)}", FILTERS)
        self.context = context
        self._asked = query
        self._column = column

    def inside(self) -> ComposeResult:
        yield Listing(id="histogram")

    def on_mount(self) -> None:
        start(self, "overview", self._read)

    async def _read(self) -> None:
        key = self._column.key
        if key in ASKED:
            self._show(await self._answers(*ASKED[key]))
        elif key in OF_ROW:
            await self._count(OF_ROW[key])
        else:
            figures, problem = await attempt(self.context.service.overview(self._asked))
            if figures is None:
                self._say(problem)
            else:
                self._show(values_of(self._column, figures))

    async def _answers(self, term: str, values: Sequence[str]) -> list[Value]:
        """Return the hosts that the list would have with each value of a term."""
        found: list[Value] = []
        for value in values:
            view, problem = await attempt(self.context.service.index(narrowed(self._asked, term, value)))
            if view is None:
                self._say(problem)
                return []
            found.append((value, len(view.ranked), figure(term, value)))
        return found

    async def _count(self, value_of: Callable[[Row], tuple[str, str]]) -> None:
        """Read the rows of the list and count their values, showing how far it is."""
        view, problem = await attempt(self.context.service.index(self._asked))
        if view is None:
            self._say(problem)
            return
        found: Counter[tuple[str, str]] = Counter()
        window, total = view.ranked, len(view.ranked)
        for start_at in range(0, total, PAGE):
            found.update(map(value_of, window[start_at : start_at + PAGE]))
            self._say(f"{min(start_at + PAGE, total):,} of {total:,} hosts counted")
            await asyncio.sleep(0)
        most = found.most_common(MOST)
        rest = total - sum(number for _, number in most)
        shown = [(words, number, key) for (words, key), number in most]
        self._show([*shown, *([("other values", rest, "")] if rest else [])])

    def _say(self, words: str) -> None:
        self.query_one(".window").border_subtitle = Content(words)

    def _show(self, found: Sequence[Value]) -> None:
        block = self.query_one(Listing)
        whole = max(sum(number for _, number, _ in found), 1)
        self._say(FILTERS if any(key for *_, key in found) else "no term filters by this column · esc closes")
        if not found:
            block.show(lambda size: [paragraph("This list has no hosts to count.", size, "muted")])
            return
        block.show(lambda size: [bar_row(name, number, whole, size, key, 24) for name, number, key in found], top=True)

    def on_listing_chosen(self, message: Listing.Chosen) -> None:
        kind, _, value = message.key.partition(" ")
        self.dismiss(narrowed(self._asked, kind, value))


SPOKEN: Final = {"rank": "rank", "change": "change", "grade": "grade", "by": "who turns away"}
"""Names of columns whose heading is a sign or a fragment."""
Value = tuple[str, int, str]
"""A value in words, the hosts that have it, and the key of the figure that narrows the list to them, empty for none."""
MOST: Final = 40
"""Different values that are shown at most; the others are one row."""
ASKED: Final = {
    "age": ("fresh", ("<1d", "1d..7d", "7d..30d", ">30d")),
    "change": ("change", (*CHANGES, NEW)),
}
"""Columns that are counted by asking for each value of a term."""


def values_of(column: Column, figures: Overview) -> list[Value]:
    """Return the values of a column that the figures of a list count."""
    surface = next((one for one in surfaces() if column.key == "matrix." + one.slug), None)
    return _fates(figures, surface) if surface is not None else _VALUES[column.key](figures)


def _scores(figures: Overview) -> list[Value]:
    spans = [(decade(place), number) for place, number in enumerate(figures.scores)]
    return [(span.replace("..", " to "), number, figure("score", span)) for span, number in spans]


def _edges(figures: Overview) -> list[Value]:
    return [
        (name or "none recognised", number, figure("edge", name.split(" ")[0]) if name else "")
        for name, number in figures.edges.items()
    ]


def _out(figures: Overview) -> list[Value]:
    return [
        (f"{surface.short} out", sum(fates_of(figures, surface)[word] for word in SHUT), of_agent(surface, "out"))
        for surface in surfaces()
    ]


def _fates(figures: Overview, surface: Surface) -> list[Value]:
    return [(word, number, of_agent(surface, word)) for word, number in fates_of(figures, surface).most_common()]


_VALUES: Final[dict[str, Callable[[Overview], list[Value]]]] = {
    "rank": _scores,
    "score": _scores,
    "grade": lambda figures: [(name, n, figure("grade", name.lower())) for name, n in figures.grades.items()],
    "stance": lambda figures: [
        (name, sum(shares.get(name, 0) for shares in figures.stances.values()), figure("stance", name))
        for name in STANCES
    ],
    "category": lambda figures: [
        (name, sum(shares.values()), figure("category", name)) for name, shares in figures.stances.items()
    ],
    "edge": _edges,
    "out": _out,
}


def _by(row: Row) -> tuple[str, str]:
    return cell(BY, row, 0.0).text or "nobody is turned away", ""


BY: Final = Column("by", "by", 10)
OF_ROW: Final[dict[str, Callable[[Row], tuple[str, str]]]] = {
    "by": _by,
    "host": lambda row: (f".{row.summary.host.rpartition('.')[2]}", ""),
    "name": lambda row: (row.summary.name, figure("host", row.summary.name)),
    "next": lambda row: (row.best_fix or "nothing left to fix", ""),
    "points": lambda row: (f"+{row.best_points}", ""),
    "scans": lambda row: (count(row.scans, "scan"), ""),
    "finding": lambda row: (row.summary.top_evidence, ""),
    "method": lambda row: (row.method, figure("method", row.method) if row.method else ""),
}
"""Columns that are counted row by row: the value in words, and the key of the figure that narrows the list to it."""
