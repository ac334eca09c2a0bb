"""Keys typed ahead of what they act on: they wait until the screen is complete and its answer has come."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import Any, Final

from textual import events
from textual.app import App
from textual.command import CommandPalette
from textual.dom import DOMNode
from textual.widget import Widget

from aui_tui.tui.bindings import ANSWER, needs
from aui_tui.tui.context import run_concurrently

READING: Final = frozenset({"list", "card", "other", "overview", "compare"})
"""Groups of the workers that bring what a screen shows."""
ANSWER_TIMEOUT: Final = 5.0
"""Seconds that a key waits for an answer of the source at most."""
POLL_INTERVAL: Final = 0.002
"""Seconds between two looks at a screen that is not at rest."""


class TypeAhead:
    """The keys that were typed and not yet acted on, in order."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._queue: deque[events.Key | events.Paste] = deque()
        self._turn: events.Event | None = None

    def keeps(self, event: events.Event) -> bool:
        """Whether ``event`` is a key that has to wait; the application gets it again when its turn has come."""
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            return False
        if event is self._turn:
            self._turn = None
            return False
        if not self._queue and self._turn is None and at_rest(self._app) and not self._early(event):
            return False
        self._queue.append(event)
        if len(self._queue) == 1:
            run_concurrently(self._app, "keys", self._hand_out)
        return True

    async def _hand_out(self) -> None:
        while self._queue:
            event = self._queue[0]
            end = time.monotonic() + ANSWER_TIMEOUT
            while not at_rest(self._app) or self._early(event):
                if time.monotonic() > end:
                    break
                await asyncio.sleep(POLL_INTERVAL)
            self._turn = self._queue.popleft()
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
        return active is not None and ANSWER in needs([active.binding], active.binding.action)


def at_rest(app: App[Any]) -> bool:
    """Whether the screen is complete, and no message waits for it or for the application."""
    widgets = app.screen.walk_children(Widget, with_self=True)
    complete = all(widget.is_mounted and not widget.message_queue_size for widget in widgets)
    return complete and not app.message_queue_size


def reading(app: App[Any], node: DOMNode) -> bool:
    """Whether what ``node`` shows is still on its way from the source."""
    return any(worker.node is node and worker.group in READING and not worker.is_finished for worker in app.workers)
