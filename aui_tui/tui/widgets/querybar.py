"""The query line, and the chips beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input

from aui_tui.records.query import CONTRADICTIONS, FIELDS, HAS, OPERATORS
from aui_tui.records.registry import registry
from aui_tui.records.vocabulary import CATEGORIES, FIXES, GRADES, STANCES, VERDICTS
from aui_tui.tui.bindings import QUERY
from aui_tui.tui.draw import Line, line
from aui_tui.tui.widgets.bars import Bar, Layout

HINT = "host, name, or terms such as stance:walled agent:claude=blocked score:<40 fresh:<7d"


def values_of(field: str) -> tuple[str, ...]:
    """Return the values that complete a term; empty for one with numbers or free words."""
    surfaces = tuple(surface.slug for surface in registry().surfaces)
    return {
        "stance": tuple(word.lower() for word in STANCES),
        "category": tuple(_quoted(word.lower()) for word in CATEGORIES),
        "agent": tuple(slug + "=" + verdict for slug in surfaces for verdict in VERDICTS),
        "grade": tuple(word.lower() for word in GRADES),
        "has": HAS,
        "signal": ("yes", "no"),
        "fresh": ("<7d", "<24h", ">30d"),
        "score": ("<40", ">=70"),
        "method": ("v0.1", "v0.2"),
        "fix": FIXES,
        "tasks": ("yes", "no"),
        "contradiction": CONTRADICTIONS,
    }.get(field, ())


def _quoted(word: str) -> str:
    return '"' + word + '"' if " " in word else word


def completion(text: str) -> str | None:
    """Return ``text`` with its last word completed, None when nothing fits."""
    head, blank, word = text.rpartition(" ")
    if not word:
        return None
    sign, body = ("-", word[1:]) if word.startswith("-") else ("", word)
    field, colon, value = body.partition(":")
    if not colon:
        hits = [name if name == "contradiction" else name + ":" for name in FIELDS if name.startswith(body.lower())]
    else:
        hits = [field + ":" + known for known in values_of(field.lower()) if known.startswith(value.lower())]
    full = hits[0] if body and hits else ""
    return head + blank + sign + full if full and full.lower() != body.lower() else None


def unfinished(text: str) -> bool:
    """Whether the last word of ``text`` is a term that is still being typed."""
    word = text.rpartition(" ")[2].removeprefix("-")
    field, colon, _ = word.partition(":")
    if (word or text.rstrip().rpartition(" ")[2]).upper() in OPERATORS:
        return True
    return (
        bool(colon)
        and field.lower() in FIELDS
        and (word.endswith((":", "=", ",", "..")) or completion(text) is not None)
    )


def choices(text: str) -> Line:
    """Return the values that the last word of ``text`` may take, as a line for the foot of the screen."""
    word = text.rpartition(" ")[2].removeprefix("-")
    field, colon, value = word.partition(":")
    if colon and field.lower() in FIELDS:
        known = [v for v in values_of(field.lower()) if v.startswith(value.lower())] or list(values_of(field.lower()))
        if field.lower() == "agent":
            name, equals, verdict = value.partition("=")
            known = (
                [v for v in VERDICTS if v.startswith(verdict)]
                if equals
                else [s.slug for s in registry().surfaces if s.slug.startswith(name)]
            )
        example = FIELDS[field.lower()]
        return line(" ", (field + ":", "accent"), " ", ("  ".join(known[:12]) or "for example " + example, "muted"))
    names = [name for name in FIELDS if word and name.startswith(word.lower())]
    if names:
        return line(" ", ("terms ", "muted"), ("  ".join(FIELDS[name] for name in names), "accent"))
    return line(" ", (HINT, "muted"))


class Terms(Suggester):
    """Completes the last word of the query line."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        """Return the completed line."""
        return completion(value)


class QueryLine(Input):
    """An input of one line without a frame."""

    BINDINGS: ClassVar[list[BindingType]] = [*QUERY]

    @dataclass
    class Left(Message):
        """The person leaves the line; ``keep`` says whether the search stays."""

        keep: bool

    def __init__(self, value: str = "") -> None:
        super().__init__(
            value,
            placeholder="/ host or name",
            suggester=Terms(),
            max_length=500,
            select_on_focus=False,
            compact=True,
            id="query",
        )

    def action_leave(self, keep: bool) -> None:
        """Leave the line."""
        self.post_message(self.Left(keep))

    def action_complete(self) -> None:
        """Take the completion."""
        found = completion(self.value)
        if found is not None:
            self.value = found
            self.cursor_position = len(found)


SEARCHING: Final = "-searching"


class FilterBar(Horizontal):
    """While the query line has the focus it takes the room of the chips on a narrow screen."""

    class Entered(Message):
        """The user went into the query line."""

    @dataclass
    class Typed(Message):
        """The query line reads ``text`` now."""

        text: str

    @dataclass
    class Left(Message):
        """The user left the query line; ``keep`` says whether the search stays."""

        keep: bool

    def __init__(self, line: str, chips: Layout, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._line = QueryLine(line)
        self._chips = Bar(chips, id="chips")

    def compose(self) -> ComposeResult:
        """Lay out line and chips."""
        yield self._line
        yield self._chips

    @property
    def searching(self) -> bool:
        """Whether the query line has the focus."""
        return self.has_class(SEARCHING)

    @property
    def text(self) -> str:
        """What the query line reads."""
        return self._line.value

    def enter(self) -> None:
        """Go into the query line, the cursor behind its last character."""
        self._line.focus()
        self._line.cursor_position = len(self._line.value)

    def write(self, text: str) -> None:
        """Change the query line without telling."""
        with self._line.prevent(Input.Changed):
            self._line.value = text

    def redraw(self) -> None:
        """Draw the chips again."""
        self._chips.refresh()

    def on_descendant_focus(self, _event: events.DescendantFocus) -> None:
        """Give the line its room, and tell."""
        if not self.searching:
            self.add_class(SEARCHING)
            self.post_message(self.Entered())

    def on_descendant_blur(self, _event: events.DescendantBlur) -> None:
        """Give the chips their room again."""
        self.remove_class(SEARCHING)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Tell what is typed."""
        event.stop()
        self.post_message(self.Typed(event.value))

    def on_query_line_left(self, message: QueryLine.Left) -> None:
        """Tell that the person leaves."""
        message.stop()
        self.remove_class(SEARCHING)
        self.post_message(self.Left(message.keep))
