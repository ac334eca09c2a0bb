"""A small window with a list to choose from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from aui_tui.records.view import Facets, HistoryPoint
from aui_tui.records.vocabulary import CATEGORIES
from aui_tui.text import fit
from aui_tui.tui.bindings import CHOOSE
from aui_tui.tui.words import ago, day


class Choice(NamedTuple):
    """One line: its value, its text, and a figure or word at its right end; a ``dim`` one has nothing behind it."""

    value: str
    text: str
    note: str = ""
    dim: bool = False


class ChooseScreen(ModalScreen[str | None]):
    """Answers with the chosen value, None when the person leaves without choosing."""

    BINDINGS: ClassVar[list[BindingType]] = [*CHOOSE]

    def __init__(self, title: str, choices: Sequence[Choice], current: str = "") -> None:
        super().__init__()
        self._title = title
        self.choices = choices
        self._current = current
        self._lit = 0

    def compose(self) -> ComposeResult:
        """Lay the list into a window."""
        with Vertical(classes="window") as window:
            window.border_title = Content(self._title)
            window.styles.width = 46
            yield OptionList(*(Option(_prompt(choice, lit=False)) for choice in self.choices), markup=False)

    def on_mount(self) -> None:
        """Stand on the value that holds now."""
        values = [choice.value for choice in self.choices]
        self.query_one(OptionList).highlighted = values.index(self._current) if self._current in values else 0

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Draw a dimmed choice under the cursor as any other: grey could not be read there."""
        for index in {self._lit, event.option_index}:
            if self.choices[index].dim:
                prompt = _prompt(self.choices[index], lit=index == event.option_index)
                event.option_list.replace_option_prompt_at_index(index, prompt)
        self._lit = event.option_index

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answer with the chosen value."""
        self.dismiss(self.choices[event.option_index].value)

    def action_close(self) -> None:
        """Leave without choosing."""
        self.dismiss(None)


def _prompt(choice: Choice, *, lit: bool) -> Content:
    text = Content(fit(choice.text, 28) + choice.note.rjust(10))
    return text.stylize("$role-muted") if choice.dim and not lit else text


def history_choices(points: Sequence[HistoryPoint], now: float) -> list[Choice]:
    """Return one choice per kept scan: its day and age, its score and grade."""
    return [
        Choice(
            point.scanned_at,
            " ".join((day(point.scanned_at, now), point.scanned_at[11:16], "  " + ago(point.scanned_at, now))),
            "no answer" if point.unreachable else " ".join((str(point.score), point.grade)),
        )
        for point in points
    ]


def category_choices(facets: Facets) -> list[Choice]:
    """Return all categories with the hosts that each would give, one without any dimmed."""
    found = facets.category
    every = Choice("", "All categories", format(sum(found.values()), ","))
    return [
        every,
        *(Choice(name, name, format(found.get(name, 0), ","), dim=not found.get(name)) for name in CATEGORIES),
    ]
