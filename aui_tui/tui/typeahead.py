"""Type-ahead: a key waits until what was typed before it has taken effect, on whichever screen that led to."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from textual import events
from textual.command import CommandPalette
from textual.widget import Widget

from aui_tui.tui.bindings import ON_ANSWER
from aui_tui.tui.context import reading, start_beside

if TYPE_CHECKING:
    from textual.app import App
    from textual.message_pump import MessagePump

ANSWER_TIMEOUT: Final = 5.0
"""Seconds that a key waits for an answer of the source at most."""
NAP: Final = 0.002
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
            start_beside(self._app, "keys", self._hand_out)
        return True

    async def _hand_out(self) -> None:
        while self._kept:
            event = self._kept[0]
            end = time.monotonic() + ANSWER_TIMEOUT
            while not at_rest(self._app) or self._early(event):
                if time.monotonic() > end:
                    break
                await asyncio.sleep(NAP)
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
    return not _busy(app) and all(widget.is_mounted and not _busy(widget) for widget in widgets)


def _busy(pump: MessagePump) -> bool:
    return pump.message_queue_size > 0 or pump._pending_message is not None
