"""The context of every screen: a service, a clock, a writer of files; and the workers that a screen starts.

No worker may end the application. The dashboard knows no file format: it asks its ``exporter``.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from shlex import quote
from typing import Any, Final, Literal, ParamSpec, Protocol, TypeVar

import msgspec
from textual import events
from textual.app import App
from textual.command import CommandPalette
from textual.dom import DOMNode
from textual.widget import Widget
from textual.worker import Worker

from aui_tui.errors import AuiError
from aui_tui.model.query import Query
from aui_tui.service.protocol import Service
from aui_tui.text import clean
from aui_tui.tui.bindings import ON_ANSWER

Kind = Literal["list", "card", "snippet"]
ENDINGS: Final = {"list": (".json", ".ndjson", ".csv"), "card": (".json", ".md"), "snippet": ()}
"""Endings that choose a format, the first being the proposal; a snippet is written as it is."""
MAX_NAME: Final = 60
MAX_LINE: Final = 500
"""Characters that a query line has at most."""


class ExportJob(msgspec.Struct, frozen=True):
    """Something to write to ``path``, whose ending chooses the format.

    A list: the ranked or ``unreachable`` hosts of ``query``, or only ``hosts`` when there are any. A card: the one
    of ``host`` under ``method`` scanned ``at`` (empty: as stored, the newest). A snippet: ``text``. ``replace``: a file
    of that name goes.
    """

    kind: Kind
    path: str
    query: Query = msgspec.field(default_factory=Query)
    unreachable: bool = False
    hosts: tuple[str, ...] = ()
    host: str = ""
    method: str = ""
    at: str = ""
    text: str = ""
    replace: bool = False

    def command(self) -> str:
        """Return the command line that writes the same."""
        if self.kind == "list":
            marked = " OR ".join(f'"{host}"' for host in self.hosts)
            query = Query(line=marked) if 0 < len(marked) <= MAX_LINE else self.query
            return " ".join(["aui-tui export", *query_options(query), "-o", quote(self.path)])
        if self.kind == "card":
            at = [self.at] if self.at else []
            return " ".join(["aui-tui site", quote(self.host), *at, "-o", quote(self.path)])
        return f"aui-tui site {quote(self.host)} --details"


def query_options(query: Query) -> list[str]:
    """Return the options with which ``aui-tui index`` asks ``query``."""
    found = {"category": query.category, "stance": query.stance, "query": query.line}
    options = [f"--{name} {quote(text)}" for name, text in found.items() if text]
    if query.sort != "rank" or query.descending:
        options.append(f"--sort {'-' if query.descending else ''}{quote(query.sort)}")
    return options


class Exporter(Protocol):
    """Writes a job and returns one sentence on what was written. Raises AuiError, also for a path that is taken."""

    async def __call__(self, job: ExportJob, /) -> str:
        """Write ``job``."""
        ...


def file_name(words: str, ending: str) -> str:
    """Return a name for a file made from ``words``: lower-case letters, digits, dots and hyphens only."""
    kept = "".join(char if char.isascii() and (char.isalnum() or char in ".-") else "-" for char in words.lower())
    stem = "-".join(part for part in kept.split("-") if part).strip(".-")[:MAX_NAME].rstrip(".-")
    return f"{stem or 'aui'}.{ending}"


def list_name(query: Query, *, unreachable: bool, marked: bool) -> str:
    """Return the proposal for a list: ``walled-travel.json``."""
    parts = ["marked"] if marked else [query.stance, query.category, query.line]
    if unreachable and not marked:
        parts.insert(0, "unreachable")
    return file_name("-".join(part for part in parts if part) or "index", "json")


def hint(kind: Kind) -> str:
    """Return what the ending of the name means."""
    endings = ENDINGS[kind]
    what = f"The ending chooses the format: {', '.join(endings)}. " if endings else ""
    return f"{what}enter writes the file, esc leaves."


T = TypeVar("T")


class Feed(msgspec.Struct, frozen=True):
    """Scans that fill the index while the dashboard is open: what they are called, and how many there are.

    ``run`` makes them and calls its argument after each. ``ready`` returns why they cannot begin, such as a machine
    without a network; empty when they can.
    """

    name: str
    total: int
    run: Callable[[Callable[[object], None]], Awaitable[None]]
    ready: Callable[[], Awaitable[str]] | None = None


SETTINGS: Final = {
    "theme": "Theme",
    "ascii": "ASCII characters only",
    "mouse": "Mouse",
    "columns": "Columns of the list",
    "keys": "Keys",
    "views": "Saved lists",
}
"""What can be set in the dashboard, by name."""


class Preferences(msgspec.Struct):
    """What the user chose before, and what remembers a choice.

    ``columns``: keys of the columns of the list, empty for the usual ones. ``keys``: keys by binding id. ``views``:
    saved lists by name. ``write`` puts a value (None: nothing) under a name, given after those of its tables, into the
    settings file ``path``; raises AuiError. ``stronger``: by setting, the flag or variable that overrides it.
    ``read_log`` reads an access log of a host and returns a sentence on it.
    """

    columns: tuple[str, ...] = ()
    keys: dict[str, str] = msgspec.field(default_factory=dict)
    views: dict[str, dict[str, str]] = msgspec.field(default_factory=dict)
    ascii: bool = False
    mouse: bool = True
    path: str = ""
    stronger: dict[str, str] = msgspec.field(default_factory=dict)
    write: Callable[[Sequence[str], Any], None] | None = None
    read_log: Callable[[str, str], Awaitable[str]] | None = None


class Context(msgspec.Struct, frozen=True):
    """Handed to every screen. ``clock`` returns epoch seconds; without ``exporter`` nothing is written.

    ``feed`` fills the index while it is looked at. ``starter``: scans of the packaged list of known sites, for an empty
    index. ``demo``: leaving for the demo is possible. ``open_source`` takes the address of another index, for which the
    dashboard is then left with OTHER.
    """

    service: Service
    clock: Callable[[], float] = time.time
    exporter: Exporter | None = None
    feed: Feed | None = None
    starter: Feed | None = None
    demo: bool = False
    open_source: Callable[[str], None] | None = None
    preferences: Preferences = msgspec.field(default_factory=Preferences)


def sentence(error: BaseException) -> str:
    """Return what went wrong in one sentence without anything that could steer a terminal.

    An error of a library may fail to give its own words; then its kind alone is reported.
    """
    try:
        words = str(error)
    except Exception:  # an error whose own words fail
        words = ""
    if isinstance(error, AuiError):
        return clean(words, 300).strip() or f"{error.title}."
    words = clean(words, 200).strip()
    return clean(f"Unexpected problem: {type(error).__name__}{f': {words}' if words else '.'}", 300)


async def attempt(work: Awaitable[T]) -> tuple[T | None, str]:
    """Return the result of ``work`` and an empty string, or None and what went wrong in one sentence.

    Cancelling passes through.
    """
    try:
        return await work, ""
    except Exception as error:  # a source may fail in any way: the screen says so and stays
        return None, sentence(error)


P = ParamSpec("P")

DEMO: Final = -1
"""Result of an application that was left for the demo."""
OTHER: Final = -2
"""Result of an application that was left for another index."""
READING: Final = frozenset({"list", "card", "other", "overview", "compare"})
"""Groups of the workers that bring what a screen shows."""


def start(
    node: DOMNode, group: str, job: Callable[P, Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs
) -> Worker[T]:
    """Run ``job`` for ``node``; what the same node still runs in ``group`` is cancelled first."""
    return node.run_worker(partial(job, *args, **kwargs), group=group, exclusive=True, exit_on_error=False)


def run_concurrently(
    node: DOMNode, group: str, job: Callable[P, Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs
) -> Worker[T]:
    """Run ``job`` for ``node`` beside what it runs already."""
    return node.run_worker(partial(job, *args, **kwargs), group=group, exit_on_error=False)


def reading(app: App[Any], node: DOMNode) -> bool:
    """Whether what ``node`` shows is still on its way from the source."""
    return any(worker.node is node and worker.group in READING and not worker.is_finished for worker in app.workers)


# Type-ahead

ANSWER_TIMEOUT: Final = 5.0
"""Seconds that a key waits for an answer of the source at most."""
POLL_INTERVAL: Final = 0.002
"""Seconds between two looks at a screen that is not at rest."""


class TypeAhead:
    """The keys that were typed and not yet acted on, in order."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._kept: deque[events.Key | events.Paste] = deque()
        self._turn: events.Event | None = None

    def keeps(self, event: events.Event) -> bool:
        """Whether ``event`` is a key that has to wait; the application gets it again when its turn has come."""
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            return False
        if event is self._turn:
            self._turn = None
            return False
        if not self._kept and self._turn is None and at_rest(self._app) and not self._early(event):
            return False
        self._kept.append(event)
        if len(self._kept) == 1:
            run_concurrently(self._app, "keys", self._hand_out)
        return True

    async def _hand_out(self) -> None:
        while self._kept:
            event = self._kept[0]
            end = time.monotonic() + ANSWER_TIMEOUT
            while not at_rest(self._app) or self._early(event):
                if time.monotonic() > end:
                    break
                await asyncio.sleep(POLL_INTERVAL)
            self._turn = self._kept.popleft()
            self._app.post_message(self._turn)

    def _early(self, event: events.Key | events.Paste) -> bool:
        """Whether ``event`` acts on an answer that has not come yet."""
        screen = self._app.screen
        if not isinstance(event, events.Key):
            return False
        if isinstance(screen, CommandPalette):
            return not event.is_printable and any(w.node is screen and not w.is_finished for w in self._app.workers)
        if not reading(self._app, screen) or not getattr(screen, "stale", True):
            return False
        active = screen.active_bindings.get(event.key)
        return active is not None and active.binding.id in ON_ANSWER


def at_rest(app: App[Any]) -> bool:
    """Whether the screen is complete, and no message waits for it or for the application."""
    widgets = app.screen.walk_children(Widget, with_self=True)
    complete = all(widget.is_mounted and not widget.message_queue_size for widget in widgets)
    return complete and not app.message_queue_size
