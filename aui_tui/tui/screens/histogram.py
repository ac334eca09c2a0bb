"""The histogram: how many hosts have each value of a column; enter narrows the list to one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import ClassVar, Final

from msgspec.structs import replace as with_fields
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from aui_tui.records.agents import SHUT, word_of
from aui_tui.records.query import Query, parse
from aui_tui.records.registry import Surface, surfaces
from aui_tui.records.view import Overview
from aui_tui.records.vocabulary import STANCES
from aui_tui.tui import messages
from aui_tui.tui.bindings import HISTOGRAM
from aui_tui.tui.columns import Column
from aui_tui.tui.context import Context, attempt, start
from aui_tui.tui.draw import paragraph
from aui_tui.tui.screens.overview import bar_row, narrowed, of_agent
from aui_tui.tui.widgets.lines import FigureList


class HistogramScreen(ModalScreen[Query | None]):
    """Counts the values of one column of the list; answers with the query narrowed to the chosen one."""

    BINDINGS: ClassVar[list[BindingType]] = [*HISTOGRAM]
    AUTO_FOCUS = "FigureList"

    def __init__(self, context: Context, query: Query, column: Column) -> None:
        super().__init__()
        self.context = context
        self._asked = query
        self._column = column

    def compose(self) -> ComposeResult:
        """Lay the bars into a window."""
        with Vertical(classes="window") as window:
            window.border_title = Content("Histogram of " + (self._column.label or self._column.key))
            window.border_subtitle = Content("enter filters by the line · esc closes")
            yield FigureList(id="histogram")

    def on_mount(self) -> None:
        """Count."""
        start(self, "overview", self._read)

    async def _read(self) -> None:
        figures, problem = await attempt(self.context.service.overview(self._asked))
        if figures is None:
            self.post_message(messages.Notification(problem, "error"))
            return
        ages: list[int] = []
        for age in AGES if self._column.key == "age" else ():
            text = " ".join((self._asked.line, "fresh:" + age)).strip()
            view, _ = await attempt(self.context.service.index(with_fields(self._asked, line=text, terms=parse(text))))
            ages.append(len(view.ranked) if view is not None else 0)
        self._show(figures, ages)

    def _show(self, figures: Overview, ages: Sequence[int]) -> None:
        found = values_of(self._column, figures, ages)
        block = self.query_one(FigureList)
        if not found:
            words = "This column is not counted; score, Δ, grade, stance, category, by, age and the assistants are."
            block.show(lambda size: paragraph(words, size, "muted"))
            return
        whole = max(sum(number for _, number, _ in found), 1)
        block.show(
            lambda size: [bar_row(name, number, whole, size, "bar", action, 24) for name, number, action in found],
            top=True,
        )

    def action_choose_figure(self, kind: str, value: str) -> None:
        """Answer with the query narrowed to a value."""
        self.dismiss(narrowed(self._asked, kind, value))

    def action_close(self) -> None:
        """Leave the list as it was."""
        self.dismiss(None)


Value = tuple[str, int, str]
AGES: Final = ("<1d", "1d..7d", "7d..30d", ">30d")


def values_of(column: Column, figures: Overview, ages: Sequence[int]) -> list[Value]:
    """Return the values of a column: in words, how many hosts have it, and the action that narrows the list to it."""
    surface = next((one for one in surfaces() if column.key == "matrix." + one.slug), None)
    if surface is not None:
        return _fates(figures, surface)
    if column.key == "age":
        return [(age, number, _narrow_to("fresh", age)) for age, number in zip(AGES, ages, strict=True)]
    maker = _VALUES.get(column.key)
    return maker(figures) if maker is not None else []


def _scores(figures: Overview) -> list[Value]:
    spans = [(10 * place, 100 if place == 9 else 10 * place + 9) for place in range(len(figures.scores))]
    return [
        (f"{low} to {high}", number, _narrow_to("score", f"{low}..{high}"))
        for (low, high), number in zip(spans, figures.scores, strict=True)
    ]


def _grades(figures: Overview) -> list[Value]:
    return [(name, number, _narrow_to("grade", name.lower())) for name, number in figures.grades.items()]


def _stances(figures: Overview) -> list[Value]:
    sums = {stance: sum(shares.get(stance, 0) for shares in figures.stances.values()) for stance in STANCES}
    return [(name, number, _narrow_to("stance", name)) for name, number in sums.items()]


def _categories(figures: Overview) -> list[Value]:
    return [(name, sum(shares.values()), _narrow_to("category", name)) for name, shares in figures.stances.items()]


def _edges(figures: Overview) -> list[Value]:
    return [
        (name or "none recognised", number, _narrow_to("edge", name.split(" ")[0]) if name else "")
        for name, number in figures.edges.items()
    ]


def _changes(figures: Overview) -> list[Value]:
    same = figures.hosts - figures.risen - figures.fallen
    return [("up", figures.risen, ""), ("down", figures.fallen, ""), ("same or new", same, "")]


def _out(figures: Overview) -> list[Value]:
    return [
        (surface.short + " out", _turned_away(figures, surface), of_agent(surface, "out")) for surface in surfaces()
    ]


def _fates(figures: Overview, surface: Surface) -> list[Value]:
    found = Counter[str]()
    for verdict, number in figures.verdicts.get(surface.slug, {}).items():
        found[word_of(verdict, surface.source)] += number
    return [(word, number, of_agent(surface, word)) for word, number in found.most_common()]


_VALUES: Final[dict[str, Callable[[Overview], list[Value]]]] = {
    "score": _scores,
    "grade": _grades,
    "stance": _stances,
    "category": _categories,
    "by": _edges,
    "edge": _edges,
    "change": _changes,
    "out": _out,
}


def _turned_away(figures: Overview, surface: Surface) -> int:
    verdicts = figures.verdicts.get(surface.slug, {})
    return sum(number for verdict, number in verdicts.items() if word_of(verdict, surface.source) in SHUT)


def _narrow_to(kind: str, value: str) -> str:
    plain = "'" not in value and '"' not in value
    return "screen.choose_figure('" + kind + "', '" + value + "')" if plain else ""
