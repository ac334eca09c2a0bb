"""The application: its screens, its keys, and a terminal that is restored however it ends."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual import events
from textual.binding import Binding
from textual.command import CommandPalette
from textual.filter import LineFilter
from textual.screen import Screen

from aui_tui.model.query import Query
from aui_tui.tui import terminal
from aui_tui.tui.bindings import APP, bindings, checked, written
from aui_tui.tui.context import Context, start
from aui_tui.tui.dashboard import Dashboard, DashboardScreen
from aui_tui.tui.glyphs import WARN
from aui_tui.tui.screens.index import IndexScreen
from aui_tui.tui.state import ListState, list_left
from aui_tui.tui.themes import UNUSABLE
from aui_tui.tui.typeahead import TypeAhead

if TYPE_CHECKING:
    from textual.command import Provider
    from textual.driver import Driver

AGING: Final = 60.0
"""Seconds between two looks at the clock: ages grow, and a scan of the hour may have come free."""
LOOK_EVERY: Final = 3.0
"""Seconds between two looks whether another program has changed the index."""


def _palette() -> type[Provider]:
    from aui_tui.tui.commands import Palette

    return Palette


def _filters(*, no_color: bool, ascii_only: bool) -> Sequence[LineFilter]:
    """Return what everything that reaches the terminal passes."""
    if not (no_color or ascii_only):
        return ()
    from aui_tui.tui.widgets.filters import AsciiFilter, NoColorFilter

    return [*([NoColorFilter()] if no_color else ()), *([AsciiFilter()] if ascii_only else ())]


class AuiApp(Dashboard):
    """Begins with the list of ``query``, or with the card of ``start_host`` over it.

    What is opened with a key is imported then: the first frame waits for nothing but the list.
    """

    CSS_PATH = "app.tcss"
    TITLE = "aui-tui"
    BINDINGS = bindings(APP)
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (66, "-narrow"), (110, "-wide")]  # noqa: RUF012  # declared by Textual
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {_palette}

    def __init__(
        self,
        context: Context,
        folders: Sequence[Path] = (),
        *,
        theme: str = "",
        ascii: bool = False,  # noqa: A002  # the name of the option
        start_host: str = "",
        query: Query | None = None,
    ) -> None:
        no_color = bool(os.environ.get("NO_COLOR"))
        self._own_filters = _filters(no_color=no_color, ascii_only=ascii)
        super().__init__(context, folders, theme, no_color=no_color)
        self.no_color = no_color
        self._query = query
        self._list: IndexScreen | None = None
        self._start_host = start_host
        self._typed = TypeAhead(self)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._leaving = False

    def get_driver_class(self) -> type[Driver]:
        """Return Textual's driver; that of a terminal with one input thread, and no error when that has gone."""
        return terminal.driver(super().get_driver_class())

    def leave(self, status: int) -> None:
        """End with ``status``, asked for by any thread."""
        self._leaving = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(partial(self.exit, return_code=status))

    def _handle_exception(self, error: Exception) -> None:
        """Pass over what a screen lacks that was about to open when the program was told to end."""
        if not self._leaving:
            super()._handle_exception(error)

    def get_key_display(self, binding: Binding) -> str:
        """Return how the key of a binding is written."""
        return binding.key_display or written(binding.key)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return the filters that were asked for, without NO_COLOR also Textual's."""
        return self._own_filters if self.no_color else [*super().get_line_filters(), *self._own_filters]

    def get_default_screen(self) -> Screen[None]:
        """Return the index, which lies under every other screen, styled for the width from the first layout on."""
        width = next(name for least, name in self.HORIZONTAL_BREAKPOINTS[::-1] if self.size.width >= least)
        left = self.context.preferences.left
        state, host = list_left(left) if self._query is None else (ListState(query=self._query), "")
        self._list = IndexScreen(state, host, offer=not self._start_host, classes=width)
        return self._list

    def keep_list(self) -> None:
        """Remember the list as it was left, unless it began with a query."""
        leave = self.context.preferences.leave
        if leave is not None and self._list is not None and self._query is None:
            leave(self._list.left())

    async def on_event(self, event: events.Event) -> None:
        """Handle a key only after the keys before it; esc removes the notices."""
        if not self._typed.keeps(event):
            if isinstance(event, events.Key) and event.key == "escape":
                self.clear_notifications()
            await super().on_event(event)

    async def on_mount(self) -> None:
        await self.look_for_changes()  # before the list is read: what is written from now on is a change
        self._loop = asyncio.get_running_loop()
        self.app_resume_signal.subscribe(self, lambda _app: self.call_later(self.screen.refresh, layout=True))
        self.call_after_refresh(self._after_first_frame)
        if self._start_host:
            from aui_tui.tui.screens.card import CardScreen

            await self.push_screen(CardScreen(self._start_host))
        if self.theme_problems:
            words = "\n".join((f"{WARN} {UNUSABLE}", *self.theme_problems))
            self.notify(words, severity="warning", markup=False, timeout=30)

    def _after_first_frame(self) -> None:
        self.check_contrast()
        self.read_quota()
        self.set_interval(AGING, self._age)
        self.set_interval(LOOK_EVERY, partial(start, self, "stamp", self.look_for_changes))
        self.fill_from(self.feed)

    def _age(self) -> None:
        """Let ages grow, and ask again for the scans left once the next one has come free."""
        self.aged += 1
        if self.quota is not None and 0 < self.quota.next_slot <= self.context.clock():
            self.read_quota()

    def on_key(self, event: events.Key) -> None:
        """Say why a key does nothing here."""
        screen = self.screen
        active = screen.active_bindings.get(event.key)
        if active is None or not active.enabled:
            why_not = screen.why_not if isinstance(screen, DashboardScreen) else lambda _: ""
            held = (b for b in type(screen).BINDINGS if isinstance(b, Binding) and event.key in b.key.split(","))
            reasons = (why_not(b.action.partition("(")[0]) for b in held)
            typed = event.character.strip() if event.character is not None and event.is_printable else ""
            unknown = f"{typed or written(event.key)} does nothing here. ? lists the keys that do."
            self.notice(next(filter(None, reasons), unknown))

    def show_list(self, state: ListState) -> None:
        """Show another list, leaving the screens over it."""
        while len(self.screen_stack) > 1 and not isinstance(self.screen, IndexScreen):
            self.pop_screen()
        if isinstance(self.screen, IndexScreen):
            self.screen.view(state)

    def action_command_palette(self) -> None:
        if not CommandPalette.is_open(self):
            self.push_screen(CommandPalette(placeholder="Search for commands, hosts, lists, themes, words"))

    def action_window(self, name: str) -> None:
        from aui_tui.tui.screens.settings import WINDOWS

        WINDOWS[name](self)


def run(
    context: Context,
    *,
    theme: str = "",
    ascii: bool = False,  # noqa: A002  # the name of the option
    mouse: bool = True,
    start_host: str = "",
    query: Query | None = None,
    theme_folders: Iterable[Path] = (),
) -> int | str:
    """Run the dashboard and return the exit status; the terminal is restored however it ends.

    0 after quitting, 1 after a crash, 128 and the number of the signal after SIGINT, SIGTERM, SIGHUP or SIGQUIT, that
    of SIGHUP when the terminal has gone, DEMO when the user left for the demo, its address for another index.
    ``theme``: a name, empty for the default. ``theme_folders``: more themes, the later folder wins.

    Raises ConfigError, before the screen is touched, for an unknown theme, binding id or key.
    """
    keys = checked(context.preferences.keys)
    folders = tuple(theme_folders)
    app = AuiApp(context, folders, theme=theme, ascii=ascii, start_host=start_host, query=query)
    app.set_keymap(keys)
    error = sys.__stderr__
    try:
        if error is not None:
            sys.__stderr__ = terminal.Output(error)  # type: ignore[misc, assignment]
        status: Any = None
        with terminal.Guard(app.leave) if os.name == "posix" else nullcontext() as guard:
            status = app.run(mouse=mouse)
    finally:
        sys.__stderr__ = error  # type: ignore[misc]
    app.keep_list()
    if guard is not None and guard.gone:
        return 128 + signal.SIGHUP
    return status if status is not None else app.return_code or 0
