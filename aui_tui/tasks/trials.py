"""What was tried on a page while nothing could leave, and what came of it: kept for all tasks of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from aui_tui.tasks.fence import Held
from aui_tui.tasks.outline import Outline


class Spot(NamedTuple):
    """What a mouse may be pointed at: its start tag and text, its path in the document, and whether it reacts."""

    tag: str
    path: str
    live: bool


class Trial(NamedTuple):
    """What a mouse brought about on the spot ``tag``: the page where it showed something else, and what was held.

    ``filled``: what the place says, and is called, that counts one more since the spot was dragged into it.
    """

    tag: str
    shown: tuple[Outline, ...]
    held: tuple[Held, ...]
    filled: str = ""

    def shows(self, shows: Callable[[Outline], bool]) -> bool:
        """Say whether the page ``shows`` what is looked for."""
        return any(map(shows, self.shown))

    def asks(self, leads: Callable[[str], bool]) -> bool:
        """Say whether it asked for a page of the site whose address ``leads`` where something is looked for."""
        return any(leads(held.url) for held in self.held if held.document and held.own)


class Trail(NamedTuple):
    """What the controls of a page brought about one after the other: the page where it showed something else, what was
    held, and what scripts had drawn in the end.

    ``searching``: the page after controls of a search, which come last.
    """

    shown: list[Outline]
    searching: list[Outline]
    held: tuple[Held, ...] = ()
    painted: str = ""
