"""The query line: which typed words are good, which are wrong, what may come next; and the widget that shows it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

from rich.highlighter import Highlighter
from rich.text import Text
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from aui_tui.errors import BadValue
from aui_tui.model.query import FIELDS, OPERATORS, parse
from aui_tui.text import clean, fit
from aui_tui.tui.bindings import QUERY
from aui_tui.tui.words import nearest

WORD: Final = re.compile(r'(?:"[^"]*"?|[^\s"])+')
SHOWN: Final = 8
"""Choices that a drop-down shows."""


class QueryReading(NamedTuple):
    """``good``: the line without its wrong words. ``spans``: where those are. ``problem``: what is wrong, or empty.

    ``open_end``: only the last word is wrong, and it may become a term while it is typed on.
    """

    good: str
    spans: tuple[tuple[int, int], ...] = ()
    problem: str = ""
    open_end: bool = False


class Completion(NamedTuple):
    """One way to go on: the whole line with it, its own words, and what it means."""

    line: str
    text: str
    meaning: str = ""


def read_line(text: str) -> QueryReading:
    """Return what of ``text`` can be searched for."""
    whole = _problem(text)
    if not whole:
        return QueryReading(text)
    words = list(WORD.finditer(text))
    problems = {found.span(): _problem(found[0]) for found in words if found[0].upper() not in OPERATORS}
    bad = tuple(span for span, problem in problems.items() if problem)
    good = [found[0] for found in words if found.span() not in bad]
    line = " ".join(good)
    if _problem(line):
        line = " ".join(word for word in good if word.upper() not in OPERATORS)
    return QueryReading(line, bad, problems[bad[0]] if bad else whole, _unfinished(text, bad))


def _unfinished(text: str, bad: Sequence[tuple[int, int]]) -> bool:
    """Whether only the last word is wrong, and it may become a term while it is typed on."""
    if not bad:
        return text.split()[-1].upper() in OPERATORS
    return len(bad) == 1 and bad[0][1] == len(text) and bool(choices(text))


def _problem(line: str) -> str:
    """Return why ``line`` cannot be searched for, empty when it can."""
    try:
        parse(line)
    except BadValue as error:
        found = clean(str(error), 300)
        near = _nearest(line, error.allowed)
        head, rest, tail = found.partition("; allowed are: ")
        return f"{head}; did you mean {near}? Allowed are: {tail}" if near and rest else found
    return ""


def _nearest(word: str, allowed: Sequence[str]) -> str:
    """Return which of ``allowed`` the value of a mistyped word is most like, empty when it is like none."""
    return nearest(re.split("[:=]", word)[-1].strip('"').lower(), allowed)


def choices(text: str) -> tuple[Completion, ...]:
    """Return how the last word of ``text`` may go on: names of terms, then their values."""
    start = max((found.start() for found in WORD.finditer(text) if found.end() == len(text)), default=len(text))
    head, word = text[:start], text[start:]
    body = word.lstrip("-(")
    sign = word[: len(word) - len(body)]
    name, colon, value = body.lower().partition(":")
    field = FIELDS.get(name)
    if not colon:
        offered = [(f"{one}:", f"{one}:", known.about) for one, known in FIELDS.items() if one.startswith(name)]
    elif field is None:
        offered = []
    else:
        tail = "=" if field.then else ""
        who, equals, fate = value.partition("=")
        named = equals or value == "any" or any(value == one.lower() for one, _ in field.values)
        fates = field.then if named else ()
        offered = [(f"{name}:{who}={one}", one, "") for one in fates if one.startswith(fate) and one != fate]
        offered += [
            (f"{name}:{one}{tail}", one, meaning)
            for one, meaning in ((value.lower(), meaning) for value, meaning in field.values)
            if one.strip('"').startswith(value.strip('"')) and one != value
        ]
    return tuple(Completion(head + sign + line, words, meaning) for line, words, meaning in offered)


ROOM: Final = 15
"""Cells of a choice's own words."""
WIDTH: Final = 42
"""Cells of a choice."""


class Wrong(Highlighter):
    """Underlines the words of a query line that cannot be read."""

    def highlight(self, text: Text) -> None:
        """Mark what is wrong, unless it is still being typed."""
        found = read_line(text.plain)
        if not found.open_end:
            for start, end in found.spans:
                text.stylize("underline bold", start, end)


class DropDown(OptionList):
    """The ways in which the last word may go on, over the list."""

    can_focus = False

    def __init__(self) -> None:
        super().__init__(id="choices", markup=False)
        self.found: tuple[Completion, ...] = ()
        self.counts: dict[str, str] = {}
        self.entered = False
        """Whether the user has moved into it."""

    def offer(self, found: Sequence[Completion]) -> None:
        """Show other choices, the first of them under the cursor; what is counted of others goes."""
        self.entered = False
        if found or self.found:
            self.found, self.counts, self.visible = tuple(found), {}, bool(found)
            self._fill(0)

    def count(self, counts: dict[str, str]) -> None:
        """Show how many hosts each choice would leave."""
        self.counts = counts
        self._fill(self.highlighted or 0)

    def _fill(self, place: int) -> None:
        self.clear_options()
        self.add_options([Option(self._row(choice)) for choice in self.found])
        self.highlighted = place if self.found else None

    def _row(self, choice: Completion) -> Content:
        count = self.counts.get(choice.line, "")
        words = fit(f"{fit(choice.text, ROOM)} {choice.meaning}", WIDTH - len(count) - 1)
        return Content(" ".join((words, count)))

    def step(self, step: int) -> None:
        """Go to another choice."""
        if self.found:
            here = self.highlighted or 0
            self.highlighted = (here + step) % len(self.found) if self.entered or step < 0 else here
            self.entered = True

    @property
    def chosen(self) -> Completion | None:
        """The choice under the cursor."""
        return self.found[self.highlighted or 0] if self.found else None


class QueryLine(Input):
    """An input of one line without a frame."""

    BINDINGS: ClassVar[list[BindingType]] = [*QUERY]

    @dataclass
    class Left(Message):
        """The user leaves the line; ``keep`` says whether the search stays."""

        keep: bool

    def __init__(self, value: str = "") -> None:
        super().__init__(
            value,
            placeholder="/ host or name",
            highlighter=Wrong(),
            max_length=500,
            select_on_focus=False,
            compact=True,
            id="query",
        )

    class Entered(Message):
        """The user went into the line."""

    def on_focus(self) -> None:
        self._give_room(True)
        self.cursor_position = len(self.value)
        self.drop_down.offer(() if self.value else choices(""))
        self.post_message(self.Entered())

    def on_blur(self) -> None:
        self._give_room(False)
        self.drop_down.offer(())

    def _give_room(self, all_of_it: bool) -> None:
        """Take the room of what stands beside the line, or give it back."""
        if isinstance(self.parent, Widget):
            self.parent.set_class(all_of_it, "-searching")

    @property
    def drop_down(self) -> DropDown:
        """The choices, which lie over the screen."""
        return self.screen.query_one(DropDown)

    def action_leave(self, keep: bool) -> None:
        entered = self.drop_down.entered
        self.drop_down.offer(())
        if keep or not entered:
            self.post_message(self.Left(keep))

    def action_step(self, step: int) -> None:
        self.drop_down.step(step)

    def action_complete(self) -> None:
        found = self.drop_down.chosen
        if found is not None:
            self.value = found.line
            self.cursor_position = len(found.line)
