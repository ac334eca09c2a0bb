"""The query line: which typed words are good, which are wrong, what may come next; and the widget that shows it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec
from rich.highlighter import Highlighter
from rich.text import Text
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import Reactive
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from aui_tui.errors import BadValue
from aui_tui.text import clean, fit
from aui_tui.tui.bindings import QUERY

WORD: Final = r'(?:"[^"]*"?|[^\s"])+'
SHOWN: Final = 8
"""Choices that a drop-down shows."""


class QueryReading(msgspec.Struct, frozen=True):
    """``good``: the line without its wrong words. ``spans``: where those are. ``problem``: what is wrong, or empty.

    ``open_end``: only the last word is wrong, and it may become a term while it is typed on.
    """

    good: str
    spans: tuple[tuple[int, int], ...] = ()
    problem: str = ""
    open_end: bool = False


class Completion(msgspec.Struct, frozen=True):
    """One way to go on: the whole line with it, its own words, and what it means."""

    line: str
    text: str
    meaning: str = ""


def read_line(text: str) -> QueryReading:
    """Return what of ``text`` can be searched for."""
    if not text:
        return QueryReading(text)
    from aui_tui.model.query_line import OPERATORS  # a first frame has no line to read

    fault = _problem(text)
    if not fault:
        return QueryReading(text)
    words = list(re.finditer(WORD, text))
    problems = {match.span(): _problem(match[0]) for match in words if match[0].upper() not in OPERATORS}
    bad = tuple(span for span, problem in problems.items() if problem)
    good = [match[0] for match in words if match.span() not in bad]
    line = " ".join(good)
    if _problem(line):
        line = " ".join(word for word in good if word.upper() not in OPERATORS)
    return QueryReading(line, bad, problems[bad[0]] if bad else fault, _unfinished(text, bad))


def _unfinished(text: str, bad: Sequence[tuple[int, int]]) -> bool:
    """Whether only the last word is wrong, and it may become a term while it is typed on."""
    from aui_tui.model.query_line import OPERATORS

    if not bad:
        return text.split()[-1].upper() in OPERATORS
    return len(bad) == 1 and bad[0][1] == len(text) and bool(choices(text))


def _problem(line: str) -> str:
    """Return why ``line`` cannot be searched for, empty when it can."""
    from aui_tui.model.query_line import parse

    try:
        parse(line)
    except BadValue as error:
        return clean(str(error), 300)
    return ""


def choices(text: str) -> tuple[Completion, ...]:
    """Return how the last word of ``text`` may go on: names of terms, then their values."""
    from aui_tui.model.query_line import fields

    start = max((match.start() for match in re.finditer(WORD, text) if match.end() == len(text)), default=len(text))
    head, word = text[:start], text[start:]
    body = word.lstrip("-(")
    sign = word[: len(word) - len(body)]
    name, colon, value = body.lower().partition(":")
    field = fields().get(name)
    if not colon:
        offered = [
            (f"{option}:", f"{option}:", term.about) for option, term in fields().items() if option.startswith(name)
        ]
    elif field is None:
        offered = []
    else:
        tail = "=" if field.then else ""
        who, equals, fate = value.partition("=")
        named = equals or value == "any" or any(value == option.lower() for option, _ in field.values)
        fates = field.then if named else ()
        offered = [
            (f"{name}:{who}={option}", option, "") for option in fates if option.startswith(fate) and option != fate
        ]
        offered += [
            (f"{name}:{option}{tail}", option, meaning)
            for option, meaning in ((value.lower(), meaning) for value, meaning in field.values)
            if option.strip('"').startswith(value.strip('"')) and option != value
        ]
    return tuple(Completion(head + sign + line, words, meaning) for line, words, meaning in offered)


ROOM: Final = 16
"""Cells of a choice's own words."""
WIDTH: Final = 42
"""Cells of a choice."""


class Wrong(Highlighter):
    """Underlines the words of a query line that cannot be read."""

    def highlight(self, text: Text) -> None:
        """Mark what is wrong, unless it is still being typed."""
        reading = read_line(text.plain)
        if not reading.open_end:
            for start, end in reading.spans:
                text.stylize("underline bold", start, end)


class DropDown(OptionList):
    """The ways in which the last word may go on, over the list; drawn after the rows that a letter asks for."""

    can_focus = False

    def __init__(self) -> None:
        super().__init__(id="choices", markup=False)
        self.completions: tuple[Completion, ...] = ()
        self.counts: dict[str, str] = {}
        """By line, how many hosts a choice would leave."""
        self.entered = False
        """Whether the user has moved into it."""
        self._place = 0

    def offer(self, completions: Sequence[Completion]) -> None:
        """Replace the choices, with the cursor on the first, and drop the old counts."""
        self.completions, self.counts, self.entered, self._place = tuple(completions), {}, False, 0

    def draw(self) -> None:
        """Draw the choices with their counts."""
        if self.is_attached and (self.completions or self.visible):
            self.visible = bool(self.completions)
            self.set_options([Option(self._row(choice)) for choice in self.completions])
            self.highlighted = self._place if self.completions else None

    def _row(self, choice: Completion) -> Content:
        count = self.counts.get(choice.line, "")
        words = fit(f"{fit(choice.text, ROOM)} {choice.meaning}", WIDTH - len(count) - 1)
        return Content(" ".join((words, count)))

    def step(self, step: int) -> None:
        """Go to another choice."""
        if self.completions:
            self._place = (self._place + step) % len(self.completions) if self.entered or step < 0 else self._place
            self.highlighted, self.entered = self._place, True

    @property
    def chosen(self) -> Completion | None:
        """The choice under the cursor."""
        return self.completions[self._place] if self.completions else None


NO_CHOICE: Final = "No term goes on like this: there is no choice to take."


class QueryLine(Input):
    """An input of one line without a frame."""

    BINDINGS = QUERY
    virtual_size: Reactive[Size] = Reactive(Size(0, 0))
    """Its width comes from the style sheet, so a letter, unlike Textual's own, does not lay out the screen again."""

    class Left(Message):
        """The user leaves the line; ``keep`` says whether the search stays."""

        def __init__(self, keep: bool) -> None:
            super().__init__()
            self.keep = keep

    def __init__(self, value: str, drop_down: DropDown) -> None:
        super().__init__(
            value,
            placeholder="/ host or name",
            highlighter=Wrong(),
            max_length=500,
            select_on_focus=False,
            id="query",
        )
        self.drop_down = drop_down
        """The choices, which lie over the screen from the first visit on: the first frame needs none."""

    class Entered(Message):
        """The user went into the line."""

    async def on_focus(self) -> None:
        if not self.drop_down.is_attached:
            await self.screen.mount(self.drop_down)
        self.screen.add_class("-searching")
        self.cursor_position = len(self.value)
        self._offer(() if self.value else choices(""))
        self.post_message(self.Entered())

    def on_blur(self) -> None:
        self.screen.remove_class("-searching")
        self._offer(())

    def _offer(self, completions: Sequence[Completion]) -> None:
        self.drop_down.offer(completions)
        self.drop_down.draw()

    def action_leave(self, keep: bool) -> None:
        entered = self.drop_down.entered
        self._offer(())
        if keep or not entered:
            self.post_message(self.Left(keep))

    def action_step(self, step: int) -> None:
        if self.drop_down.completions:
            self.drop_down.step(step)
        else:
            self.notify(NO_CHOICE, markup=False)

    def action_complete(self) -> None:
        completion = self.drop_down.chosen
        if completion is None:
            self.notify(NO_CHOICE, markup=False)
        else:
            self.value = completion.line
            self.cursor_position = len(completion.line)
