"""The query line: filters as you type, completes terms and their values."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input

from aui_tui.records.query import FIELDS, HAS
from aui_tui.records.registry import registry
from aui_tui.records.vocabulary import CATEGORIES, FIXES, GRADES, STANCES, VERDICTS
from aui_tui.tui.bindings import QUERY
from aui_tui.tui.draw import Line, line

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
    return bool(colon) and field.lower() in FIELDS and (word.endswith((":", "=")) or completion(text) is not None)


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

    class Left(Message):
        """The person leaves the line; ``keep`` says whether the search stays."""

        def __init__(self, keep: bool) -> None:
            super().__init__()
            self.keep = keep

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
